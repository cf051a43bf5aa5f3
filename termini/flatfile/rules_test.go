package flatfile_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/termini"
)

var families = []string{"yaml", "json", "msgpack"}

// answer is an instance or an error in one line, with dir for the directory.
func answer(dir string, inst indirector.Instance, err error) string {
	raw, isRaw := inst.(*model.Raw)
	switch {
	case errors.Is(err, indirector.ErrNotFound):
		return "nil"
	case err != nil:
		return "error: " + strings.ReplaceAll(indirector.Message(err), dir, "DIR")
	case inst == indirector.False:
		return "false"
	case isRaw:
		return raw.Value.Inspect()
	}
	return model.ClassOf(inst).Ruby + " " + inst.Key()
}

// TestFindRules finds the node n1 in files with each content; a final … of an
// answer stands for words of Ruby.
func TestFindRules(t *testing.T) {
	t.Parallel()
	const directory = "(a directory)"
	for _, tt := range []struct{ name, terminus, content, want string }{
		{"TERM-FILE-02 unreadable", "yaml", directory, "error: Is a directory @ …"},
		{"TERM-FILE-02 unreadable", "json", directory, "error: Could not read JSON data for node n1: Is a directory @ io_fread - DIR/node/n1.json"},
		{"TERM-FILE-02 unreadable", "msgpack", directory, "error: Could not read MessagePack data for node n1: Is a directory @ io_fread - DIR/node/n1.msgpack"},
		{"TERM-FILE-03 malformed", "yaml", "a: [", "error: Could not parse YAML data for node n1: (DIR/node/n1.yaml): …"},
		{"TERM-FILE-03 malformed", "json", "{", "error: Could not parse JSON data for node n1: Could not intern from json: …"},
		{"TERM-FILE-03 malformed", "msgpack", "\xc1", "error: Could not parse MessagePack data for node n1: Could not intern from msgpack: …"},
		{"TERM-FILE-04 empty", "yaml", "", "false"},
		{"TERM-FILE-04 empty", "json", "", "error: Could not parse JSON data for node n1: Could not intern from json: …"},
		{"TERM-FILE-04 empty", "msgpack", "", "error: Could not parse MessagePack data for node n1: Could not intern from msgpack: end of buffer reached"},
		{"TERM-FILE-05 a mapping stays one", "yaml", "name: n1\n", `{"name"=>"n1"}`},
		{"TERM-FILE-05 any object is made an instance", "json", `{"name":"x","more":1}`, "Puppet::Node x"},
		{"TERM-FILE-05 any object is made an instance", "msgpack", "\x81\xa4name\xa1x", "Puppet::Node x"},
		{"TERM-FILE-06 the model", "yaml", "--- !ruby/object:Puppet::Node\nname: n1\n", "Puppet::Node n1"},
		{"TERM-FILE-06 symbols", "yaml", "--- !ruby/object:Puppet::Node\nname: n1\nenvironment: :staging\n", "Puppet::Node n1"},
		{"TERM-FILE-06 a time", "yaml", "--- !ruby/object:Puppet::Node\nname: n1\ntime: 2012-01-01 00:00:00 Z\n", "error: Could not parse YAML data for node n1: (DIR/node/n1.yaml): Tried to load unspecified class: Time"},
		{"TERM-FILE-06 another model", "yaml", "--- !ruby/object:Puppet::Node::Facts\nname: n1\n", "error: Could not parse YAML data for node n1: (DIR/node/n1.yaml): Tried to load unspecified class: Puppet::Node::Facts"},
	} {
		t.Run(tt.name+" "+tt.terminus, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path := filepath.Join(dir, "node", "n1."+tt.terminus)
			if tt.content == directory {
				path = filepath.Join(path, "x")
			}
			write(t, path, []byte(tt.content))
			inst, err := newTerminus(t, "node", tt.terminus, everywhere(dir)).find(t.Context(), "n1")
			got := answer(dir, inst, err)
			if want, open := strings.CutSuffix(tt.want, "…"); got != want && !(open && strings.HasPrefix(got, want)) {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
	for _, terminus := range families {
		t.Run("TERM-FILE-01 absent "+terminus, func(t *testing.T) {
			t.Parallel()
			inst, err := newTerminus(t, "node", terminus, everywhere(t.TempDir())).find(t.Context(), "n1")
			if got := answer("", inst, err); got != "nil" {
				t.Errorf("got %s", got)
			}
		})
	}
}

func TestSaveRules(t *testing.T) {
	t.Parallel()
	for terminus, want := range map[string]string{
		"yaml": "No such file or directory @ dir_s_mkdir - DIR/base/node", "json": "", "msgpack": "",
	} {
		t.Run("TERM-FILE-07 base directory is absent "+terminus, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			_, err := newTerminus(t, "node", terminus, everywhere(dir+"/base")).save(t.Context(), "n1", node)
			if got := strings.ReplaceAll(indirector.Message(err), dir, "DIR"); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
		})
	}
	for _, terminus := range families {
		t.Run("TERM-FILE-08 another file takes the place "+terminus, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			path, old := filepath.Join(dir, "node", "n1."+terminus), filepath.Join(dir, "old")
			write(t, path, []byte("before"))
			if err := os.Link(path, old); err != nil {
				t.Fatal(err)
			}
			saved, err := newTerminus(t, "node", terminus, everywhere(dir)).save(t.Context(), "n1", node)
			if err != nil || saved != 0 {
				t.Errorf("TERM-FILE-10: got %v, %v, want 0", saved, err)
			}
			if b, err := os.ReadFile(old); string(b) != "before" {
				t.Errorf("the old file was written to: %q, %v", b, err)
			}
			if info, err := os.Stat(path); err != nil || info.Mode() != 0o660 {
				t.Errorf("mode %v, %v", info.Mode(), err)
			}
			if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
}

// TestNoHead is about all that this package describes. Rule TERM-FILE-13.
func TestNoHead(t *testing.T) {
	t.Parallel()
	for _, d := range termini.All() {
		if d.Name == "yaml" || d.Name == "json" || d.Name == "msgpack" {
			if can := indirector.VerbsOf(d.Type); can[indirector.Head] != nil || can[indirector.Find] == nil {
				t.Errorf("%s/%s has head", d.Indirection, d.Name)
			}
		}
	}
}

// TestKeys is about what becomes a path. Rule IND-KEY-01.
func TestKeys(t *testing.T) {
	t.Parallel()
	for key, safe := range map[string]bool{
		"..": false, "../x": false, "..x": false, "x\n..y": false, "a/b": false, `a\b`: false, "a\x00": false, "c:x": false, "x\nC:y": false,
		".": true, "": true, "a..b": true, "ab:c": true, "1:x": true, "x..": true,
	} {
		for _, terminus := range families {
			m := newTerminus(t, "node", terminus, everywhere(t.TempDir()))
			_, err := m.find(t.Context(), key)
			log := "crit directory traversal detected in Puppet::Node::" + indirector.Constant(terminus) + ": " + data.InspectString(key)
			switch {
			case safe && (!errors.Is(err, indirector.ErrNotFound) || m.logs.String() != ""):
				t.Errorf("%s %q: got %v", terminus, key, err)
			case !safe && (indirector.Message(err) != "invalid key" || m.logs.String() != log):
				t.Errorf("%s %q: got %v, log %q", terminus, key, err, m.logs.String())
			}
		}
	}
}

// TestExpirationInFiles is about what a file gives back. Rule IND-EXP-05.
func TestExpirationInFiles(t *testing.T) {
	t.Parallel()
	until := time.Date(2199, 1, 2, 3, 4, 5, 0, time.UTC)
	instances := map[string]indirector.Expirer{
		"facts": &model.Facts{Name: "n1", Values: data.OfHash(nil)}, "node": node,
		"catalog": &model.Catalog{Name: "n1", Environment: "e"}, "report": &model.Report{Host: "n1"},
	}
	for _, d := range termini.All() {
		inst, known := instances[d.Indirection]
		if !known || d.Name != "yaml" && d.Name != "json" && d.Name != "msgpack" {
			continue
		}
		t.Run(d.Indirection+"/"+d.Name, func(t *testing.T) {
			t.Parallel()
			m := newTerminus(t, d.Indirection, d.Name, everywhere(t.TempDir()))
			if _, err := m.save(t.Context(), "n1", inst.WithExpiration(until)); err != nil {
				t.Fatal(err)
			}
			back, err := m.find(t.Context(), "n1")
			if err != nil {
				t.Fatal(err)
			}
			kept := back.(indirector.Expirer).Expiration().Equal(until)
			if want := d.Indirection == "facts"; kept != want || d.KeepsExpiry != want {
				t.Errorf("kept: got %v, described as %v, want %v", kept, d.KeepsExpiry, want)
			}
		})
	}
}

// TestFactQueryRules searches the facts of three nodes, of which the last has
// none.
func TestFactQueryRules(t *testing.T) {
	t.Parallel()
	timestamp, err := model.ParseTime("2021-02-01T00:00:00Z")
	if err != nil {
		t.Fatal(err)
	}
	family := data.OfHash([]data.Pair{data.P("family", data.OfString("Debian"))})
	stored := []*model.Facts{
		{Name: "a", Timestamp: timestamp, Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Linux")), data.P("cpus", data.OfInt(4)), data.P("os", family), data.P("up", data.OfString("10 days"))})},
		{Name: "b", Timestamp: timestamp, Values: data.OfHash([]data.Pair{data.P("kernel", data.OfString("Darwin")), data.P("cpus", data.OfInt(16)), data.P("virtual", data.OfBool(false))})},
		{Name: "c", Timestamp: timestamp, Values: data.OfHash(nil)},
	}
	for _, tt := range []struct{ name, options, want string }{
		{"TERM-FQ-01 eq if there is no operator", "facts.kernel=Linux", "a"},
		{"TERM-FQ-01 what comes fourth is ignored", "facts.kernel.ne.eq=Linux", "b"},
		{"TERM-FQ-02 equal as texts", "facts.cpus=4", "a"},
		{"TERM-FQ-02 not equal as texts", "facts.cpus.eq=4.0", ""},
		{"TERM-FQ-02 ordered as numbers", "facts.cpus.gt=9", "b"},
		{"TERM-FQ-02 at most", "facts.cpus.le=4", "a"},
		{"TERM-FQ-02 the number at the beginning", "facts.up.ge=10", "a"},
		{"TERM-FQ-02 what is no number is zero", "facts.kernel.lt=1", "a b"},
		{"TERM-FQ-02 what is missing meets nothing", "facts.up.ne=x", "a"},
		{"TERM-FQ-02 what is neither text nor number has no order", "facts.os.gt=1", "error: undefined method `to_f' for {\"family\"=>\"Debian\"}"},
		{"TERM-FQ-02 what is false meets nothing", "facts.virtual.ne=x", ""},
		{"TERM-FQ-03 the time", "meta.timestamp.le=2021-02-01 01:00:00 +0100", "a b c"},
		{"TERM-FQ-03 later", "meta.timestamp.gt=2021-02-01T00:00:00Z", ""},
		{"TERM-FQ-03 no time", "meta.timestamp=soon", `error: no time information in "soon"`},
		{"TERM-FQ-04 a type that is unknown", "fact.kernel=Linux", ""},
		{"TERM-FQ-04 a meta name that is unknown", "meta.name=a", ""},
		{"TERM-FQ-04 a nested fact is an operator that is unknown", "facts.os.family.eq=Debian", ""},
		{"TERM-FQ-05 no options are all nodes", "", "a b c"},
		{"all options must hold", "facts.cpus.gt=1&facts.kernel=Linux", "a"},
	} {
		for _, terminus := range []string{"yaml", "json"} {
			t.Run(tt.name+" "+terminus, func(t *testing.T) {
				t.Parallel()
				m := newTerminus(t, "facts", terminus, everywhere(t.TempDir()))
				for _, f := range stored {
					if _, err := m.save(t.Context(), f.Name, f); err != nil {
						t.Fatal(err)
					}
				}
				var options []indirector.Option
				for o := range strings.SplitSeq(tt.options, "&") {
					if name, value, ok := strings.Cut(o, "="); ok {
						options = append(options, indirector.Option{Name: name, Value: value})
					}
				}
				if got := names(m.search(t.Context(), "whatever", options...)); got != tt.want {
					t.Errorf("got %q, want %q", got, tt.want)
				}
			})
		}
	}
}

// What Puppet 7.23 writes and warns of for each value of rich_data.
func TestRichData(t *testing.T) {
	t.Parallel()
	const rich = `{"tags":[],"name":"n","version":1,"code_id":null,"catalog_uuid":"u","catalog_format":2,"environment":"production","resources":[` +
		`{"type":"Rich","title":"r","tags":["rich"],"exported":false,"parameters":{"x":{"__ptype":"Regexp","__pvalue":"a/b"},"s":{"__ptype":"Sensitive","__pvalue":"pw"},"d":[{"__ptype":"Default"}]}}],"edges":[],"classes":[]}`
	for _, tt := range []struct{ value, want, logs string }{
		{"true", rich, ""},
		{
			"false", strings.NewReplacer(`{"__ptype":"Regexp","__pvalue":"a/b"}`, `"/a\\/b/"`, `{"__ptype":"Default"}`, `"default"`).Replace(rich),
			`warning Rich[r]['x'] contains a Regexp value. It will be converted to the String '/a\/b/'` + "\n" +
				`warning Rich[r]['x']['d'][0] contains the special value default. It will be converted to the String 'default'`,
		},
	} {
		t.Run(tt.value, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			s := everywhere(dir)
			s["rich_data"] = tt.value
			m := newTerminus(t, "catalog", "json", s)
			f, _ := format.ByName("rich_data_json")
			inst, _, err := format.Intern(f, "catalog", []byte(rich), format.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if _, err := m.save(t.Context(), "n", inst); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(filepath.Join(dir, "catalog", "n.json"))
			if string(got) != tt.want {
				t.Errorf("%v\ngot  %s\nwant %s", err, got, tt.want)
			}
			if got := m.logs.String(); got != tt.logs {
				t.Errorf("logs:\ngot  %s\nwant %s", got, tt.logs)
			}
		})
	}
}

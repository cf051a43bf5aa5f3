package format_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/model"
)

var sample = &model.Facts{
	Name:      "n1",
	Values:    data.OfHash([]data.Pair{data.P("kernel", data.OfSymbol("Linux")), data.P("load", data.OfFloat(1.5)), data.P("none", data.Value{})}),
	Timestamp: model.At(time.Date(2024, 5, 6, 7, 8, 9, 123456789, time.FixedZone("", 7200))),
}

func rendered(t *testing.T, name string, i indirector.Instance) string {
	t.Helper()
	b, err := format.Render(mustFormat(t, name), i)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestWriterRules writes one instance, and compares every byte.
func TestWriterRules(t *testing.T) {
	t.Parallel()
	node := &model.Node{Name: "n1", Environment: "e"}
	catalog := &model.Catalog{Name: "n1", Environment: "e", Resources: []model.Resource{{Type: "Class", Title: "A"}, {Type: "Class", Title: "B"}}, Edges: []model.Edge{{Source: "Class[A]", Target: "Class[B]"}}}
	for _, tt := range []struct {
		name, format string
		instance     indirector.Instance
		want         string // a final … stands for the rest
	}{
		{"FMT-02 compact, symbols are strings", "json", sample, `{"name":"n1","values":{"kernel":"Linux","load":1.5,"none":null},"timestamp":"2024-05-06T07:08:09.123456789+02:00"}`},
		{"FMT-03 the same, with bytes that are no UTF-8", "pson", &model.Facts{Name: "a\xff", Values: data.OfHash(nil)}, "{\"name\":\"a\xff\",\"values\":{}}"},
		{
			"FMT-04 keys and times are strings", "msgpack", &model.Facts{Name: "a", Values: data.OfHash(nil), Timestamp: sample.Timestamp},
			"\x83\xa4name\xa1a\xa6values\x80\xa9timestamp\xd9\x232024-05-06T07:08:09.123456789+02:00",
		},
		{
			"FMT-05 tag, nothing for nil, lists as deep as their key", "yaml", &model.Node{Name: "n1", Environment: "e", Classes: data.OfStrings([]string{"a", "0123", "", "y", "b: c", "yes"}), Parameters: data.OfHash([]data.Pair{data.P("x", data.Value{})})},
			"--- !ruby/object:Puppet::Node\nname: n1\nenvironment: e\nclasses:\n- a\n- '0123'\n- ''\n- \"y\"\n- 'b: c'\n- 'yes'\nparameters:\n  x:\n",
		},
		{"FMT-NODE-05 tag", "yaml", node, "--- !ruby/object:Puppet::Node\n…"},
		{"FMT-CAT-08 tag over the same hash", "yaml", catalog, "--- !ruby/object:Puppet::Resource::Catalog\ntags: []\nname: n1\n…"},
		{"FMT-CAT-09 a graph", "dot", catalog, "digraph Puppet__Resource__Catalog {\n    label = \"Puppet__Resource__Catalog\"\n    \"Class[A]\" [\n        fontsize = 8,\n        label = \"Class[A]\"\n    ]\n\n    \"Class[B]\" [\n        fontsize = 8,\n        label = \"Class[B]\"\n    ]\n\n    \"Class[A]\" -> \"Class[B]\" [\n        fontsize = 8\n    ]\n\n}\n"},
		{"FMT-REP-07 tag, times in single quotes", "yaml", &model.Report{Host: "h", Time: sample.Timestamp}, "--- !ruby/object:Puppet::Transaction::Report\nhost: h\ntime: '2024-05-06T07:08:09.123456789+02:00'\n…"},
		{"FMT-REP-09 the data hash", "json", &model.Report{Host: "h", Time: sample.Timestamp}, `{"host":"h","time":"2024-05-06T07:08:09.123456789+02:00",…`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := rendered(t, tt.format, tt.instance)
			if want, open := strings.CutSuffix(tt.want, "…"); got != want && !(open && strings.HasPrefix(got, want)) {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
	t.Run("FMT-01 one data hash for all", func(t *testing.T) {
		t.Parallel()
		read := map[string]func([]byte) (data.Value, error){
			"json":    func(b []byte) (data.Value, error) { return format.DecodeJSON(b, format.Limits{}) },
			"pson":    func(b []byte) (data.Value, error) { return format.DecodePSON(b, format.Limits{}) },
			"msgpack": func(b []byte) (data.Value, error) { return format.DecodeMsgpack(b, format.Limits{}) },
			"yaml": func(b []byte) (data.Value, error) {
				doc, err := psych.Decode(b, psych.Limits{})
				if err != nil || doc.Tag != "Puppet::Node" {
					return data.Value{}, fmt.Errorf("tag %q: %w", doc.Tag, err)
				}
				return doc.Value, nil
			},
		}
		want, _ := model.ToData(node)
		for name, decode := range read {
			if got, err := decode([]byte(rendered(t, name, node))); err != nil || !data.Equal(got, want) {
				t.Errorf("%s: got %s, %v, want %s", name, got, err, want)
			}
		}
	})
	t.Run("FMT-FACT-04 colons are quoted on the screen, not in files", func(t *testing.T) {
		t.Parallel()
		facts := &model.Facts{Name: "n1", Values: data.OfHash([]data.Pair{data.P("mac", data.OfString("00:11:22")), data.P("path", data.OfString("/a:/b"))})}
		file, err := format.RenderFile(mustFormat(t, "yaml"), facts)
		if got, want := string(file), "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues:\n  mac: '00:11:22'\n  path: \"/a:/b\"\n"; err != nil || got != want {
			t.Errorf("file: got %q, %v, want %q", got, err, want)
		}
		if got, want := rendered(t, "yaml", facts), "--- !ruby/object:Puppet::Node::Facts\nname: n1\nvalues:\n  mac: \"00:11:22\"\n  path: \"/a:/b\"\n"; got != want {
			t.Errorf("screen: got %q, want %q", got, want)
		}
	})
	t.Run("FMT-10 what cannot be written", func(t *testing.T) {
		t.Parallel()
		_, err := format.Render(mustFormat(t, "json"), &model.Node{Name: "a\xff", Environment: "e"})
		if err == nil || !strings.HasPrefix(err.Error(), "Could not render to json: ") {
			t.Errorf("got %v", err)
		}
	})
}

// TestReaderRules reads a node called n, or fails in the words that are given;
// a final … stands for words of Ruby.
func TestReaderRules(t *testing.T) {
	t.Parallel()
	const wrapped = `{"document_type":"Node","data":{"name":"n"},"metadata":{}}`
	for _, tt := range []struct{ name, format, text, err string }{
		{"FMT-03 the envelope of Puppet 3 is taken off", "pson", wrapped, ""},
		{"FMT-03 JSON has none", "json", wrapped, "Could not intern from json: No name provided in serialized data"},
		{"FMT-03 an empty envelope is none", "pson", `{"name":"n","data":null}`, ""},
		{"FMT-04 nothing may follow", "msgpack", "\x81\xa4name\xa1n\xc0", "Could not intern from msgpack: 1 extra bytes after the deserialized object"},
		{"FMT-08 what is unknown is no error", "json", `{"name":"n","future":[1]}`, ""},
		{"FMT-10 what is no JSON", "json", `{`, "Could not intern from json: …"},
		{"FMT-10 what is no YAML", "yaml", "a: [", "Could not intern from yaml: …"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i, _, err := format.Intern(mustFormat(t, tt.format), "node", []byte(tt.text), format.Options{})
			words, open := strings.CutSuffix(tt.err, "…")
			switch {
			case tt.err == "" && (err != nil || i.Key() != "n"):
				t.Errorf("got %v, %v", i, err)
			case tt.err != "" && (err == nil || err.Error() != words && !(open && strings.HasPrefix(err.Error(), words))):
				t.Errorf("got error %v, want %s", err, tt.err)
			}
		})
	}
	facts := "name: n\nvalues: {a: 1}\n"
	for _, tt := range []struct {
		name, text string
		puppet     bool // real Puppet makes an instance of it too
	}{
		{"FMT-06 the tag", "--- !ruby/object:Puppet::Node::Facts\n" + facts, true},
		{"FMT-06 a blank after the start", "--- !ruby/object:Puppet::Node::Facts \n" + facts, true},
		{"FMT-06 a byte order mark", "\ufeff--- !ruby/object:Puppet::Node::Facts\n" + facts, true},
		{"FMT-06 symbols", "--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues:\n  :a: !ruby/sym b\n", true},
		{"FMT-06 aliases", "--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues: {a: &x [1], b: *x}\n", true},
		{"FMT-06 no tag", facts, false},
		{"FMT-06 an older class", "--- !ruby/object:Puppet::Facts\n" + facts, false},
		{"FMT-06 FMT-FACT-05 a time without quotes", "--- !ruby/object:Puppet::Node::Facts\n" + facts + "expiration: 2012-01-01 00:30:00.5 +00:00\n", false},
		{"FMT-06 an object within", "--- !ruby/object:Puppet::Node::Facts\nname: n\nvalues: {a: !ruby/object:Puppet::Util::Log {level: info}}\n", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			i, notes, err := format.InternFile(mustFormat(t, "yaml"), "facts", "x", []byte(tt.text), format.Options{Lenient: true})
			if err != nil || i.Key() != "n" || (len(notes) == 0) != tt.puppet {
				t.Errorf("got %v, notes %q, error %v", i, notes, err)
			}
			i, _, err = format.InternFile(mustFormat(t, "yaml"), "facts", "x", []byte(tt.text), format.Options{})
			if made := err == nil && model.ClassOf(i) != nil; made != tt.puppet {
				t.Errorf("as Puppet: got %T, %v", i, err)
			}
		})
	}
}

package flatfile_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
)

// recorded returns what was recorded from real Puppet.
func recorded(t testing.TB, name ...string) data.Value {
	t.Helper()
	v, err := format.DecodeJSON(goldenFile(t, name...), format.Limits{})
	if err != nil {
		t.Fatalf("%v: %v", name, err)
	}
	return v
}

func goldenFile(t testing.TB, name ...string) []byte {
	t.Helper()
	b, err := os.ReadFile(golden.Path(t, name...))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

type settings map[string]string

func (s settings) Get(name string) (value, source string) { return s[name], "test" }

// everywhere makes all file termini use dir.
func everywhere(dir string) settings {
	return settings{
		"run_mode": "server", "yamldir": dir, "server_datadir": dir, "rich_data": "true",
		"lastrunreport": filepath.Join(dir, "state", "last_run_report.yaml"),
	}
}

// made is a terminus and what it logs.
type made struct {
	indirector.Terminus
	indirection string
	logs        terminustest.Log
}

func newTerminus(t testing.TB, indirection, name string, s indirector.Settings) *made {
	t.Helper()
	m := &made{indirection: indirection}
	for _, d := range termini.All() {
		if d.Indirection != indirection || d.Name != name {
			continue
		}
		terminus, err := d.New(indirector.Env{
			Indirection: indirection, Terminus: name, Settings: s, Log: slog.New(&m.logs), Now: time.Now,
		})
		if err != nil {
			t.Fatal(err)
		}
		m.Terminus = terminus
		return m
	}
	t.Fatalf("there is no terminus %s/%s", indirection, name)
	return nil
}

func (m *made) find(ctx context.Context, key string) (indirector.Instance, error) {
	return m.Terminus.(indirector.Finder).Find(ctx, &indirector.Request{Indirection: m.indirection, Verb: indirector.Find, Key: key})
}

func (m *made) save(ctx context.Context, key string, inst indirector.Instance) (any, error) {
	return m.Terminus.(indirector.Saver).Save(ctx, &indirector.Request{Indirection: m.indirection, Verb: indirector.Save, Key: key, Instance: inst})
}

func (m *made) destroy(ctx context.Context, key string) (any, error) {
	return m.Terminus.(indirector.Destroyer).Destroy(ctx, &indirector.Request{Indirection: m.indirection, Verb: indirector.Destroy, Key: key})
}

func (m *made) search(ctx context.Context, key string, o ...indirector.Option) ([]indirector.Instance, error) {
	return m.Terminus.(indirector.Searcher).Search(ctx, &indirector.Request{Indirection: m.indirection, Verb: indirector.Search, Key: key, Options: o})
}

// TestGoldenKeys asks for each key, and for the file that it stands for. The
// records about names of nodes and environments are not about termini. Rule
// IND-KEY-01.
func TestGoldenKeys(t *testing.T) {
	t.Parallel()
	for _, c := range recorded(t, "dispatch", "keys.json").List() {
		if c.Get("terminus").IsNil() {
			continue
		}
		t.Run(c.Get("id").Str(), func(t *testing.T) {
			t.Parallel()
			key, base := c.Get("key").Str(), t.TempDir()
			m := newTerminus(t, c.Get("indirection").Str(), c.Get("terminus").Str(), everywhere(base))
			var err error
			var got string
			switch verb := c.Get("verb").Str(); verb {
			case "path":
				got, err = pathOf(t, m, key)
			case "find":
				_, err = m.find(t.Context(), key)
			case "destroy":
				var v any
				if v, err = m.destroy(t.Context(), key); err == nil {
					if returned := c.Get("returns").Text(); returned != "" && fmt.Sprint(v) != returned {
						t.Errorf("destroy: got %v, want %s", v, returned)
					}
					err = indirector.ErrNotFound // there was no such file, and that is no error
				}
			default:
				t.Fatalf("what is recorded of %s cannot be compared", verb)
			}
			switch want := c.Get("error").Str(); {
			case want != "":
				if err == nil || err.Error() != want || !errors.Is(err, indirector.ErrInvalid) {
					t.Errorf("error: got %v, want %s", err, want)
				}
				var lines []string
				for _, l := range c.Get("logs").List() {
					lines = append(lines, l.Get("level").Str()+" "+l.Get("message").Str())
				}
				if got, want := m.logs.String(), strings.Join(lines, "\n"); got != want {
					t.Errorf("logs: got %q, want %q", got, want)
				}
			case c.Get("verb").Str() == "path":
				if want := c.Get("path").Str(); strings.Replace(got, base, "<BASE>", 1) != want || err != nil {
					t.Errorf("path: got %s, %v; want %s", got, err, want)
				}
			case !errors.Is(err, indirector.ErrNotFound):
				t.Errorf("%s: got %v, want ErrNotFound", c.Get("verb").Str(), err)
			}
		})
	}
}

// pathOf returns the file that a save makes.
func pathOf(t *testing.T, m *made, key string) (string, error) {
	t.Helper()
	class, _ := model.Lookup(m.indirection)
	inst, err := class.FromData(data.OfHash([]data.Pair{
		data.P("name", data.OfString("x")), data.P("values", data.OfHash(nil)),
		// what a report and a catalog need
		data.P("host", data.OfString("x")), data.P("time", data.OfString("2021-01-01T00:00:00Z")), data.P("logs", data.OfList(nil)),
		data.P("metrics", data.OfHash(nil)), data.P("resource_statuses", data.OfHash(nil)), data.P("resources", data.OfList(nil)),
	}))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := m.save(t.Context(), key, inst); err != nil {
		return "", err
	}
	e, err := m.Terminus.(indirector.Peeker).Peek(t.Context(), key)
	return e.Path, err
}

// TestGoldenFactSearch asks the recorded questions. Rules TERM-FQ-01 to
// TERM-FQ-05.
func TestGoldenFactSearch(t *testing.T) {
	t.Parallel()
	facts := recorded(t, "formats", "fact_search.json")
	class, _ := model.Lookup("facts")
	for i, c := range facts.Get("results").List() {
		t.Run(fmt.Sprint(i, c.Get("terminus"), c.Get("options")), func(t *testing.T) {
			t.Parallel()
			m := newTerminus(t, "facts", c.Get("terminus").Str(), everywhere(t.TempDir()))
			for _, n := range facts.Get("nodes").List() {
				facts, err := class.FromData(n)
				if err != nil {
					t.Fatal(err)
				}
				if _, err := m.save(t.Context(), facts.Key(), facts); err != nil {
					t.Fatal(err)
				}
			}
			var options []indirector.Option
			for _, p := range c.Get("options").Hash() {
				options = append(options, indirector.Option{Name: p.Key.Str(), Value: p.Value})
			}
			found, err := m.search(t.Context(), "anything", options...)
			if want := c.Get("error").Str(); want != "" {
				if err == nil || !c.Get("ruby_error").Bool() && err.Error() != want {
					t.Errorf("error: got %v, want %s", err, want)
				}
				return
			}
			names := make([]string, len(found))
			for i, inst := range found {
				names[i] = inst.Key()
			}
			if got, want := data.OfStrings(names), c.Get("value"); err != nil || !data.Equal(got, want) {
				t.Errorf("got %s, %v; want %s", got, err, want)
			}
		})
	}
}

// TestGoldenHostile finds files that are damaged or malicious.
func TestGoldenHostile(t *testing.T) {
	t.Parallel()
	for _, c := range recorded(t, "formats", "hostile.json").List() {
		name, ok := strings.CutPrefix(c.Get("via").Str(), "terminus:")
		if !ok {
			continue
		}
		t.Run(c.Get("id").Str(), func(t *testing.T) {
			t.Parallel()
			b, err := base64.StdEncoding.DecodeString(c.Get("base64").Str())
			if err != nil {
				t.Fatal(err)
			}
			tmp, indirection := t.TempDir(), c.Get("model").Str()
			base := filepath.Join(tmp, map[string]string{"yaml": "yamldir", "json": "datadir", "msgpack": "datadir"}[name])
			victim := filepath.Join(base, indirection, "victim."+name)
			if indirection == "report" {
				victim = filepath.Join(base, "state", "last_run_report.yaml")
			}
			write(t, victim, b)
			inst, err := newTerminus(t, indirection, name, everywhere(base)).find(t.Context(), "victim")
			if want := c.Get("error").Str(); want != "" {
				switch node, ok := inst.(*model.Node); {
				case err == nil && ok && strings.Contains(want, "environment named '"+node.Environment+"'"):
					return // Puppet looks for the environment when it writes the node
				case err == nil && strings.Contains(want, "`iso8601' for nil"):
					return // Puppet reads a report without times and cannot write it
				case err != nil && c.Get("exception").Str() == "IndexError" && strings.HasSuffix(err.Error(), ": "+want):
					return // Puppet reads a node whose parameters are a text and cannot write it
				case err != nil && strings.Contains(err.Error(), "`iso8601' for"):
					return // Puppet reads other times than texts, too, and may meet another error first
				}
				checkError(t, err, strings.NewReplacer("<TMP>/var/state", filepath.Join(base, "state"), "<TMP>", tmp).Replace(want), c.Get("ruby_error").Bool())
				return
			}
			if wanted := c.Get("value"); indirection == "catalog" && name == "yaml" && wanted.Kind() == data.Hash && wanted.Get("name").IsNil() && wanted.Get("resources").Len() == 0 {
				return // Puppet reads nothing of it; we read its contents
			}
			if err != nil {
				t.Fatalf("got error %v, want %s", err, c.Get("value"))
			}
			v, wanted := valueOf(inst), c.Get("value")
			if wanted.Get("catalog_uuid").Str() == "<UUID>" { // invented, or maybe invented
				wanted = wanted.With("catalog_uuid", v.Get("catalog_uuid"))
			}
			want := text(wanted)
			if got := text(v); got != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
			if ruby := strings.HasPrefix(c.Get("ruby_class").Str(), "Puppet::"); ruby != (model.ClassOf(inst) != nil) {
				t.Errorf("got a %T, want a %s", inst, c.Get("ruby_class"))
			}
		})
	}
}

func checkError(t *testing.T, err error, want string, free bool) {
	t.Helper()
	failure := (*indirector.Failure)(nil)
	switch {
	case !errors.As(err, &failure):
		t.Errorf("error: got %v, want a Failure %q", err, want)
	case !free && failure.Message != want:
		t.Errorf("error:\ngot  %s\nwant %s", failure.Message, want)
	case failure.Path == "" || failure.Origin != "decode" || failure.Hidden == "":
		t.Errorf("the failure does not say where and why: %+v", failure)
	}
}

func valueOf(inst indirector.Instance) data.Value {
	if inst == indirector.False {
		return data.OfBool(false)
	}
	golden.DropExtra(inst) // Puppet ignores what it does not know; we keep it
	v, _ := model.ToData(inst)
	return v
}

// text writes v so that records and instances can be compared: without the
// expiration that find sets, with infinities and bytes that are no UTF-8 as the
// records have them.
func text(v data.Value) string {
	if v.Get("expiration").Str() == "<NOW+TTL>" {
		v = v.Without("expiration")
	}
	b, _ := format.AppendPSON(nil, v)
	s := strings.NewReplacer(`{"__ptype":"GoldenFloat","__pvalue":"Infinity"}`, "Infinity", `{"__ptype":"GoldenFloat","__pvalue":"-Infinity"}`, "-Infinity").Replace(string(b))
	return string([]rune(s))
}

func write(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o666); err != nil {
		t.Fatal(err)
	}
}

// TestGoldenFiles reads the files that Puppet's termini wrote, and writes them
// again: the same bytes in the same file with the same mode. Rules
// TERM-FILE-07, TERM-FILE-08.
func TestGoldenFiles(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(golden.Path(t, "formats", "out"))
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d cases, %v", len(entries), err)
	}
	for _, e := range entries {
		expected := recorded(t, "formats", "out", e.Name(), "expected.json")
		for _, p := range expected.Get("termini").Hash() {
			name := p.Key.Str()
			t.Run(e.Name()+"/"+name, func(t *testing.T) {
				t.Parallel()
				checkFile(t, e.Name(), name, expected, p.Value)
			})
		}
	}
}

func checkFile(t *testing.T, dir, name string, expected, terminus data.Value) {
	base := t.TempDir()
	m := newTerminus(t, expected.Get("model").Str(), name, everywhere(base))
	key := expected.Get("name").Text()
	given := givenTo(t, dir)
	if k := given.Get("key"); !k.IsNil() {
		key = k.Text()
	}
	inst := given.instance(t, expected)
	if want := terminus.Get("error").Str(); want != "" {
		if _, err := m.save(t.Context(), key, inst); err == nil || !terminus.Get("ruby_error").Bool() && err.Error() != want {
			t.Errorf("error: got %v, want %s", err, want)
		}
		return
	}
	b := goldenFile(t, "formats", "out", dir, terminus.Get("file").Str())
	relative := strings.Replace(terminus.Get("relative_path").Str(), "<TMP>/var", base, 1)
	if !strings.HasPrefix(relative, "/") {
		relative = filepath.Join(base, relative)
	}
	write(t, relative, b)
	if _, err := m.find(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if _, err := m.destroy(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if _, err := m.save(t.Context(), key, inst); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(relative)
	if err != nil {
		t.Fatal(err)
	}
	if got = invented.ReplaceAll(got, nil); !bytes.Equal(got, invented.ReplaceAll(b, nil)) {
		t.Errorf("bytes:\ngot  %s\nwant %s", got, b)
	}
	info, err := os.Stat(relative)
	if err != nil {
		t.Fatal(err)
	}
	if mode := fmt.Sprintf("%04o", info.Mode().Perm()); mode != terminus.Get("mode").Str() {
		t.Errorf("mode: got %s, want %s", mode, terminus.Get("mode"))
	}
}

// invented is what Puppet writes for a catalog that has no name of its own.
var invented = regexp.MustCompile(`[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}`)

// What the recorder was given: nothing is known of it if the set has no inputs.
type recorderInput struct{ data.Value }

func givenTo(t *testing.T, dir string) recorderInput {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(golden.Path(t, "formats"), "inputs", dir+".yaml"))
	if err != nil {
		return recorderInput{}
	}
	doc, err := psych.Decode(b, psych.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return recorderInput{doc.Value}
}

// instance returns what was saved, from the data hash if nothing else is
// known.
func (r recorderInput) instance(t *testing.T, expected data.Value) indirector.Instance {
	t.Helper()
	class, _ := model.Lookup(expected.Get("model").Str())
	v := expected.Get("data_hash")
	if given := r.Get("data"); !given.IsNil() {
		id := v.Get("catalog_uuid")
		if v = given; v.Get("catalog_uuid").IsNil() && !id.IsNil() {
			v = v.With("catalog_uuid", id)
		}
	}
	inst, err := class.FromData(v)
	if err != nil {
		t.Fatal(err)
	}
	return inst
}

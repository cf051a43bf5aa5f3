package hiera_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// start lays out a site and returns an engine over it, and the path of its recording.
func start(t *testing.T, files map[string]string) (e *engine.Engine, recording string) {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.ReplaceAll(text, "DIR", dir)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	recording = filepath.Join(dir, "rec.jsonl")
	e, err := engine.New(engine.Options{
		Specs: termini.Specs(), Termini: termini.All(), ConfDir: filepath.Join(dir, "conf"), VarDir: filepath.Join(dir, "var"),
		Application: "lookup", Recording: recording,
		Set: []settings.Override{
			{Name: "codedir", Value: filepath.Join(dir, "code")},
			{Name: "certname", Value: "web01.example.com"},
			{Name: "facts_terminus", Value: "memory"},
			{Name: "node_terminus", Value: "plain"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e, recording
}

const environment = "code/environments/production/"

var levels = map[string]string{
	environment + "hiera.yaml": `version: 5
hierarchy:
  - {name: node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: high, path: high.yaml}
  - {name: low, paths: [low.yaml, lowest.yaml]}
`,
	environment + "data/high.yaml":   "lookup_options:\n  merged:\n    merge: unique\nonly: high\nmerged: [1]\n",
	environment + "data/low.yaml":    "only: low\nmerged: [2]\nempty: ~\n",
	environment + "data/lowest.yaml": "merged: [3]\n",
}

func find(t *testing.T, e *engine.Engine, key string, options ...indirector.Option) (*model.Binding, *traces.Trace, error) {
	t.Helper()
	resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "data_binding", Verb: indirector.Find, Key: key, Options: options})
	var id uint64
	b := (*model.Binding)(nil)
	if err == nil {
		b, id = resp.Instance().(*model.Binding), resp.Trace
	} else if w := (*indirector.Error)(nil); errors.As(err, &w) {
		id = w.Trace
	}
	if err := e.Store.Flush(); err != nil {
		t.Fatal(err)
	}
	tr, lost := e.Store.Trace(id)
	if lost != nil {
		t.Fatal(lost)
	}
	return b, tr, err
}

// spans are the spans of a trace as lines: name, answer, reason and facts.
func spans(tr *traces.Trace, of string) string {
	var out strings.Builder
	below := false
	for _, s := range tr.Spans {
		if s.Parent == 0 {
			below = s.Name == "look up "+of
		}
		if !below {
			continue
		}
		out.WriteString(filepath.Base(s.Name) + ": " + s.Answer)
		if s.Because.About != "" {
			out.WriteString(" (" + s.Because.About + ")")
		}
		for _, a := range s.Attrs {
			if a.Key != "configuration" && a.Key != "function" {
				out.WriteString(" " + a.Key + "=" + filepath.Base(a.Value))
			}
		}
		out.WriteString("\n")
	}
	return out.String()
}

// Every level is a span in its order, those that were not asked included. Rules
// HIERA-TRACE-01, HIERA-TRACE-04.
func TestSpans(t *testing.T) {
	t.Parallel()
	e, _ := start(t, levels)
	for _, tt := range []struct{ name, key, want string }{
		{"HIERA-TRACE-01 a higher level has it", "only", `look up only: found
global layer: no such key
environment layer: found
level node: no such key
.yaml: path not found written=%{trusted.certname}.yaml %{trusted.certname}=undefined
level high: found
high.yaml: found line=4
level low: not asked (a higher one had the key)
`},
		{"HIERA-TRACE-01 a location of a level", "empty", `look up empty: found
global layer: no such key
environment layer: found
level node: no such key
.yaml: path not found written=%{trusted.certname}.yaml %{trusted.certname}=undefined
level high: no such key
high.yaml: no such key
level low: found
low.yaml: found line=3
lowest.yaml: not asked (a higher one had the key)
`},
		{"HIERA-TRACE-04 what decided the merge", "merged", `look up merged: found
merge unique: found decided=high.yaml:2 merged
global layer: no such key
environment layer: found
merge unique: found decided=high.yaml:2 merged
level node: no such key
.yaml: path not found written=%{trusted.certname}.yaml %{trusted.certname}=undefined
level high: found
high.yaml: found line=5
level low: found
merge unique: found decided=high.yaml:2 merged
low.yaml: found line=2
lowest.yaml: found line=1
`},
		{"HIERA-TRACE-01 no level has it", "none", `look up none: no such key
global layer: no such key
environment layer: no such key
level node: no such key
.yaml: path not found written=%{trusted.certname}.yaml %{trusted.certname}=undefined
level high: no such key
high.yaml: no such key
level low: no such key
low.yaml: no such key
lowest.yaml: no such key
`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, tr, err := find(t, e, tt.key)
			if (err == nil) == (tt.key == "none") {
				t.Errorf("error %v", err)
			}
			if d := cmp.Diff(tt.want, inOrder(tr, tt.key)); d != "" {
				t.Error(d)
			}
		})
	}
}

// inOrder are the spans by their numbers: those that end first are kept first.
func inOrder(tr *traces.Trace, of string) string {
	slices.SortFunc(tr.Spans, func(a, b traces.Span) int { return a.ID - b.ID })
	return spans(tr, of)
}

// A key may have the value nil, which is not the same as none.
func TestFound(t *testing.T) {
	t.Parallel()
	e, _ := start(t, levels)
	if b, _, err := find(t, e, "empty"); err != nil || !b.Value.IsNil() {
		t.Errorf("got %v, %v", b, err)
	}
	if _, _, err := find(t, e, "none"); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("got %v", err)
	}
	merged := indirector.Option{Name: "merge", Value: "first"}
	if b, _, err := find(t, e, "merged", merged); err != nil || b.Value.Inspect() != "[1]" {
		t.Errorf("got %v, %v", b, err)
	}
	_, _, err := find(t, e, "merged", indirector.Option{Name: "merge", Value: "none"})
	if f := (*indirector.Failure)(nil); !errors.As(err, &f) || f.Class != "ArgumentError" || f.Message != "Unknown merge strategy: 'none'" {
		t.Errorf("got %v", err)
	}
}

// What was decrypted, and what the name of its key makes a secret, is in no
// recording. Rule HIERA-DATA-03.
func TestSecrets(t *testing.T) {
	t.Parallel()
	keys := filepath.Join("..", "..", "indirector", "hiera", "testdata", "hiera", "037-eyaml")
	data, err := os.ReadFile(filepath.Join(keys, "data", "secret.eyaml"))
	if err != nil {
		t.Fatal(err)
	}
	private, err := os.ReadFile(filepath.Join(keys, "keys", "private_key.pkcs7.pem"))
	if err != nil {
		t.Fatal(err)
	}
	e, recording := start(t, map[string]string{
		environment + "hiera.yaml": `version: 5
hierarchy:
  - {name: secret, path: secret.eyaml, lookup_key: eyaml_lookup_key, options: {pkcs7_private_key: DIR/key.pem}}
  - {name: plain, path: plain.yaml}
`,
		environment + "data/secret.eyaml": string(data), "key.pem": string(private),
		environment + "data/plain.yaml": "db::password: swordfish\nharmless: trout\n",
	})
	for _, tt := range []struct {
		key    string
		secret bool
	}{{"one_line", true}, {"db::password", false}, {"harmless", false}} {
		b, _, err := find(t, e, tt.key)
		if err != nil || b.Secret != tt.secret {
			t.Fatalf("%s: got %v, %v", tt.key, b, err)
		}
		text, err := os.ReadFile(recording)
		if err != nil {
			t.Fatal(err)
		}
		if hidden := tt.key != "harmless"; strings.Contains(string(text), b.Value.Text()) == hidden {
			t.Errorf("%s: its value %q is in the recording: %t", tt.key, b.Value.Text(), !hidden)
		}
	}
}

// The first line of a lookup names the file and the line, or what was merged.
func TestStory(t *testing.T) {
	t.Parallel()
	e, _ := start(t, levels)
	for key, want := range map[string]string{
		"only":   "level high has it: DIR/high.yaml:4",
		"empty":  "level low has it: DIR/low.yaml:3",
		"merged": "3 files have it, merged (unique): level high, level low",
	} {
		_, tr, err := find(t, e, key)
		got, ok := strings.CutSuffix(traces.Story(tr), "; no catalog was compiled for that, so variables of manifests do not count")
		if !ok {
			t.Errorf("%s: got %q, which does not have that nothing was compiled", key, got)
		}
		if at := strings.Index(got, "/"); at >= 0 {
			got = got[:at] + "DIR/" + filepath.Base(got)
		}
		if err != nil || got != want {
			t.Errorf("%s: %v: got %q, want %q", key, err, got, want)
		}
	}
}

// An agent has no node of its own: as in puppet lookup, its server is not asked.
func TestForAgents(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	e, err := engine.New(engine.Options{
		Specs: termini.Specs(), Termini: termini.All(), ConfDir: dir, VarDir: filepath.Join(dir, "var"), Application: "agent",
		Set: []settings.Override{{Name: "certname", Value: "web01.example.com"}, {Name: "facts_terminus", Value: "memory"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	if _, tr, err := find(t, e, "nothing"); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("got %v: %s", err, traces.Story(tr))
	}
}

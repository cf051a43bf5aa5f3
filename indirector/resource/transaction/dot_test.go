package transaction_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

const graphed = `
class web($x = 1) {
  notify { "a b\"c": } -> notify { 'second': notify => Notify['third'] }
  notify { 'third': require => Notify["a b\"c"] }
}
class base { contain web }
class empty { }
define d() { notify { "in ${title}": before => Class['web'] } }
stage { 'pre': before => Stage['main'] }
class early { notify { 'early': } }
class { 'early': stage => 'pre' }
include base
include empty
d { ['[q]', 'two words', "new\nline"]: subscribe => Class['empty'] }
@notify { 'virtual': }
`

// TestGraphsOfRun compares the files that a run writes with the graphs of a view.
func TestGraphsOfRun(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings(map[string]any{"graph": true}))
	c := probes("a", "b:a")
	container(c, "Web", "Probe[b]")
	got := transaction.Run(t.Context(), c, transaction.Options{Settings: agent(m), System: m, Types: allTypes()})
	if got.Err != nil {
		t.Fatal(got.Err)
	}
	v, err := transaction.NewView(c, m, allTypes())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range transaction.Kinds {
		text, err := os.ReadFile(p.dir + "/var/state/graphs/" + kind + ".dot")
		if d := cmp.Diff(string(v.Dot(kind)), string(text)); err != nil || d != "" {
			t.Errorf("%s: %v\n%s", kind, err, d)
		}
	}
	if got := transaction.Run(t.Context(), probes("a:b", "b:a"), transaction.Options{Settings: agent(m), System: m, Types: allTypes()}); got.Err == nil {
		t.Error("cycles were applied")
	}
	text, err := os.ReadFile(p.dir + "/var/state/graphs/cycles.dot")
	want := "digraph Resource_Cycles {\n  label = \"Resource Cycles\"\n\"Probe[a]\" -> \"Probe[b]\" -> \"Probe[a]\"\n}\n"
	if d := cmp.Diff(want, string(text)); err != nil || d != "" {
		t.Errorf("cycles: %v\n%s", err, d)
	}
}

// TestDotAsPuppet compares the three graphs with those of real Puppet.
func TestDotAsPuppet(t *testing.T) {
	golden.NeedsPuppet(t)
	t.Parallel()
	dir := t.TempDir()
	manifest := filepath.Join(dir, "site.pp")
	if err := os.WriteFile(manifest, []byte(graphed), 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), "puppet", "apply", "--graph", "--graphdir", dir+"/graphs", "--vardir", dir+"/var", "--confdir", dir+"/conf",
		"--rundir", dir+"/run", "--logdir", dir+"/log", "--publicdir", dir+"/public", "--certname", "node1.example.test",
		"--catalog_cache_terminus", "json", manifest)
	if err := os.Mkdir(dir+"/graphs", 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	text, err := os.ReadFile(dir + "/var/client_data/catalog/node1.example.test.json")
	if err != nil {
		t.Fatal(err)
	}
	p := place{dir}
	v, err := transaction.NewView(catalogOf(t, text), p.system(systemtest.Case{}, p.settings()), allTypes())
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range transaction.Kinds {
		want, err := os.ReadFile(dir + "/graphs/" + kind + ".dot")
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(string(want), string(v.Dot(kind))); d != "" {
			t.Errorf("%s: want -, got +\n%s", kind, d)
		}
	}
}

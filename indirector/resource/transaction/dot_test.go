package transaction_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/golden"
	"indirtui/indirector/model"
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
	catalog := appliedByPuppet(t, dir, graphed, "--graph", "--graphdir", dir+"/graphs")
	p := place{dir}
	v, err := transaction.NewView(catalog, p.system(systemtest.Case{}, p.settings()), allTypes())
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

// TestCyclesAsPuppet compares the ways around cycles with those that real Puppet writes.
func TestCyclesAsPuppet(t *testing.T) {
	golden.NeedsPuppet(t)
	t.Parallel()
	const cycles = `
		notify { 'a': require => [Notify['b'], Notify['c']] }
		notify { 'b': require => [Notify['c'], Notify['d'], Notify['a']] }
		notify { 'c': require => Notify['d'] }
		notify { 'd': require => [Notify['a'], Notify['b']], notify => Class['k'] }
		class k { notify { "in \"k\"": before => Notify['e'] } }
		include k
		notify { 'e': before => [Notify['a'], Class['k']] }
		notify { 'x': require => Notify['y'] }
		notify { 'y': require => Notify['x'] }`
	dir := t.TempDir()
	catalog := appliedByPuppet(t, dir, cycles, "--graph", "--graphdir", dir+"/graphs")
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings(map[string]any{"graph": true}))
	if got := transaction.Run(t.Context(), catalog, transaction.Options{Settings: agent(m), System: m, Types: allTypes()}); got.Err == nil {
		t.Fatal("cycles were applied")
	}
	want, err := os.ReadFile(dir + "/graphs/cycles.dot")
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(p.dir + "/var/state/graphs/cycles.dot")
	if d := cmp.Diff(string(want), string(got)); err != nil || d != "" {
		t.Errorf("%v: want -, got +\n%s", err, d)
	}
}

// appliedByPuppet lets real Puppet apply a manifest, whatever comes of it, and returns the
// catalog.
func appliedByPuppet(t *testing.T, dir, manifest string, args ...string) *model.Catalog {
	t.Helper()
	file := filepath.Join(dir, "site.pp")
	if err := os.WriteFile(file, []byte(manifest), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(dir+"/graphs", 0o755); err != nil {
		t.Fatal(err)
	}
	args = append([]string{
		"apply", "--vardir", dir + "/var", "--confdir", dir + "/conf", "--rundir", dir + "/run", "--logdir", dir + "/log", "--publicdir", dir + "/public",
		"--certname", "node1.example.test", "--catalog_cache_terminus", "json", "--color=false",
	}, append(args, file)...)
	out, _ := exec.CommandContext(t.Context(), "puppet", args...).CombinedOutput()
	text, err := os.ReadFile(dir + "/var/client_data/catalog/node1.example.test.json")
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return catalogOf(t, text)
}

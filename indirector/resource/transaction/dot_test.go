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

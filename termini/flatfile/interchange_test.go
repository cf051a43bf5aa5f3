package flatfile_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
)

// reader finds what we saved in the directories below ARGV[0] with Puppet's
// own indirection, saves that below ARGV[1], and prints what it found.
const reader = `
require 'puppet'
require 'json'
from, to = ARGV
Puppet.initialize_settings(['--confdir', "#{to}/conf", '--vardir', "#{to}/var", '--log_level', 'err'])
def dirs(base)
  Puppet[:clientyamldir] = base; Puppet[:client_datadir] = base
  Puppet[:lastrunreport] = "#{base}/state/last_run_report.yaml"
end
environments = Puppet::Environments::Static.new(Puppet::Node::Environment.create(:production, []))
Puppet.override(environments: environments, current_environment: environments.get!(:production),
                loaders: Puppet::Pops::Loaders.new(environments.get!(:production))) do
  classes = {facts: Puppet::Node::Facts, node: Puppet::Node, catalog: Puppet::Resource::Catalog, report: Puppet::Transaction::Report}
  found = JSON.parse(STDIN.read).map do |name, terminus|
    indirection = classes[name.to_sym].indirection
    at = indirection.terminus(terminus.to_sym)
    dirs("#{from}/#{terminus}")
    instance = at.find(Puppet::Indirector::Request.new(indirection.name, :find, 'web01', nil))
    hash = instance.to_data_hash
    dirs("#{to}/#{terminus}")
    at.save(Puppet::Indirector::Request.new(indirection.name, :save, 'web01', instance))
    hash
  rescue StandardError => e
    {'error' => e.message}
  end
  puts JSON.generate(found)
end
`

// TestInterchange lets real Puppet read what we wrote, and reads what real
// Puppet wrote. Reports are one file for all formats, so each format has a
// directory of its own. Catalogs in YAML are left out: Puppet cannot read its
// own.
func TestInterchange(t *testing.T) {
	t.Parallel()
	if out, err := exec.CommandContext(t.Context(), "ruby", "-e", "require 'puppet'; Puppet.features.msgpack? or abort 'no msgpack'").CombinedOutput(); err != nil {
		t.Skipf("real Puppet is not on this machine (ruby with puppet and msgpack): %v %s", err, out)
	}
	instances := map[string]indirector.Instance{
		"facts":   sized("facts", 20),
		"node":    withClasses(sized("node", 20).(*model.Node)),
		"catalog": catalogOf(t),
	}
	entries, err := filepath.Glob(golden.Path(t, "formats", "out", "report-*"))
	if err != nil || len(entries) == 0 {
		t.Fatalf("no reports: %v", err)
	}
	class, _ := model.Lookup("report")
	report, err := class.FromData(recorded(t, "formats", "out", filepath.Base(entries[0]), "expected.json").Get("data_hash"))
	if err != nil {
		t.Fatal(err)
	}
	instances["report"] = report

	ours, theirs := t.TempDir(), t.TempDir()
	var pairs [][2]string
	for _, p := range [][2]string{
		{"facts", "yaml"},
		{"facts", "json"},
		{"node", "yaml"},
		{"node", "json"},
		{"node", "msgpack"},
		{"catalog", "json"},
		{"catalog", "msgpack"},
		{"report", "yaml"},
		{"report", "json"},
		{"report", "msgpack"},
	} {
		pairs = append(pairs, p)
		for _, dir := range []string{ours, theirs} {
			if err := os.MkdirAll(filepath.Join(dir, p[1]), 0o777); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := newTerminus(t, p[0], p[1], everywhere(filepath.Join(ours, p[1]))).save(t.Context(), "web01", instances[p[0]]); err != nil {
			t.Fatal(err)
		}
	}
	found := puppetReads(t, pairs, ours, theirs)
	for i, p := range pairs {
		t.Run(p[0]+"/"+p[1], func(t *testing.T) {
			want, _ := model.ToData(instances[p[0]])
			if got := found.List()[i]; !data.Equal(got, plain(t, want)) {
				t.Errorf("Puppet reads\n%s\nwant\n%s", got, plain(t, want))
			}
			inst, err := newTerminus(t, p[0], p[1], everywhere(filepath.Join(theirs, p[1]))).find(t.Context(), "web01")
			if err != nil {
				t.Fatal(err)
			}
			if got, _ := model.ToData(inst); !data.Equal(plain(t, got), plain(t, want)) {
				t.Errorf("we read\n%s\nwant\n%s", got, want)
			}
		})
	}
}

func withClasses(n *model.Node) *model.Node {
	c := *n
	c.Classes = data.OfHash([]data.Pair{data.P("ntp", data.OfHash([]data.Pair{data.P("servers", data.OfStrings([]string{"a", "b"}))})), data.P("web::front", data.Value{})})
	return &c
}

func catalogOf(t *testing.T) indirector.Instance {
	t.Helper()
	class, _ := model.Lookup("catalog")
	c, err := class.FromData(recorded(t, "formats", "out", "catalog-small", "expected.json").Get("data_hash"))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// plain is v as JSON has it: without symbols.
func plain(t *testing.T, v data.Value) data.Value {
	t.Helper()
	b, err := format.AppendJSON(nil, v)
	if err != nil {
		t.Fatal(err)
	}
	v, err = format.DecodeJSON(b, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func puppetReads(t *testing.T, pairs [][2]string, from, to string) data.Value {
	t.Helper()
	input, err := json.Marshal(pairs)
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), "ruby", "-e", reader, from, to)
	c.Env = append(os.Environ(), "HOME="+t.TempDir()) // Puppet makes directories there
	c.Stdin = strings.NewReader(string(input))
	out, err := c.Output()
	if err != nil {
		t.Fatalf("ruby: %v\n%s", err, errorOf(err))
	}
	v, err := format.DecodeJSON(out, format.Limits{})
	if err != nil || v.Len() != len(pairs) {
		t.Fatalf("ruby printed %s: %v", out, err)
	}
	return v
}

func errorOf(err error) string {
	if e, ok := err.(*exec.ExitError); ok {
		return string(e.Stderr)
	}
	return ""
}

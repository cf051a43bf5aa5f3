package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"indirtui/termini"
	"indirtui/ui/cli"
)

// agentRun applies a catalog as Puppet's agent does, and prints what came of it; with a
// fourth word it reads a report first.
const agentRun = `require 'json'
require 'puppet'
require 'puppet/configurer'
Puppet.initialize_settings(['--confdir', ARGV[0], '--vardir', ARGV[1]])
Puppet.settings.preferred_run_mode = :agent
Puppet.settings.use(:main, :agent)
env = Puppet::Node::Environment.create(:production, Puppet[:basemodulepath].split(':') + Puppet[:vendormoduledir].to_s.split(':'))
Puppet.override(current_environment: env, loaders: nil) do
  read = ARGV[3] && Puppet::Transaction::Report.convert_from(:yaml, File.read(ARGV[3]))
  catalog = Puppet::Resource::Catalog.convert_from(:rich_data_json, File.read(ARGV[2])).to_ral
  catalog.finalize
  catalog.host_config = true
  report = Puppet::Transaction::Report.new(nil, 'production', 'x')
  Puppet::Configurer.new.apply_catalog(catalog, report: report, network_device: nil)
  report.finalize_report
  Puppet::Util::Yaml.dump(report, Puppet[:lastrunreport])
  events = report.resource_statuses.values.flat_map do |s|
    s.events.map { |e| { resource: s.resource, property: e.property, status: e.status, corrective: e.corrective_change } }
  end
  puts JSON.generate(status: report.status, corrective: report.corrective_change, events: events,
                     read: read && { status: read.status, corrective: read.corrective_change, resources: read.resource_statuses.keys })
end
`

// A puppetRun is what agentRun prints.
type puppetRun struct {
	Status     string
	Corrective bool
	Events     []struct {
		Resource, Property, Status string
		Corrective                 bool
	}
	Read *struct {
		Status     string
		Corrective bool
		Resources  []string
	}
}

// A shared place is directories that real Puppet and this program share.
type shared struct{ dir, ruby string }

// newPlaceToShare skips the test where there is no Puppet.
func newPlaceToShare(t *testing.T) shared {
	t.Helper()
	ruby, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("there is no ruby here, so no real Puppet to compare with")
	}
	if err := exec.CommandContext(t.Context(), ruby, "-e", "require 'puppet'; require 'puppet/configurer'").Run(); err != nil {
		t.Skip("ruby has no Puppet here to compare with")
	}
	s := shared{t.TempDir(), ruby}
	for _, sub := range []string{"conf", "var/state", "public", "run", "log"} {
		if err := os.MkdirAll(s.path(sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	conf := "[main]\ncertname = n1\nreports = none\n"
	for setting, sub := range map[string]string{"publicdir": "public", "rundir": "run", "logdir": "log", "ssldir": "var/ssl"} {
		conf += setting + " = " + s.path(sub) + "\n"
	}
	s.write(t, "conf/puppet.conf", conf)
	s.write(t, "agent.rb", agentRun)
	return s
}

func (s shared) path(name string) string { return filepath.Join(s.dir, name) }

func (s shared) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(s.path(name), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// command runs a program, and returns what it printed. Puppet exits 0 or 2.
func (s shared) command(t *testing.T, argv ...string) string {
	t.Helper()
	c := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	c.Env = append(os.Environ(), "HOME="+s.dir)
	var stderr bytes.Buffer
	c.Stderr = &stderr
	out, err := c.Output()
	if failed := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &failed) || failed.ExitCode() != 2) {
		t.Fatalf("%q: %v\n%s%s", argv, err, out, &stderr)
	}
	return string(out)
}

// puppet is a run of real Puppet's agent. read is a report to read before; it may be "".
func (s shared) puppet(t *testing.T, read string) puppetRun {
	t.Helper()
	argv := []string{s.ruby, s.path("agent.rb"), s.path("conf"), s.path("var"), s.path("catalog.json")}
	if read != "" {
		argv = append(argv, read)
	}
	out := strings.TrimSpace(s.command(t, argv...))
	var run puppetRun
	if err := json.Unmarshal([]byte(out[strings.LastIndexByte(out, '\n')+1:]), &run); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return run
}

// ours is a run of this program. Want is its exit code.
func (s shared) ours(t *testing.T, want int) string {
	t.Helper()
	var out, stderr bytes.Buffer
	args := []string{"apply", s.path("catalog.json"), "--route", "report=yaml", "--really", "--write", "--detailed-exitcodes", "--confdir", s.path("conf"), "--vardir", s.path("var")}
	if code := cli.Main(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &stderr}, termini.Specs(), termini.All()); code != want {
		t.Fatalf("exit %d, want %d\n%s%s", code, want, &out, &stderr)
	}
	return out.String()
}

// catalog writes one with these resources: as JSON, without what all have.
func (s shared) catalog(t *testing.T, resources ...string) {
	t.Helper()
	common := `"tags": [], "exported": false, "kind": "compilable_type"}`
	for i, r := range resources {
		resources[i] = strings.TrimSuffix(r, "}") + ", " + common
	}
	s.write(t, "catalog.json", strings.ReplaceAll(
		`{"name": "n1", "version": 1, "catalog_format": 2, "environment": "production", "classes": [], "edges": [], "resources": [`+strings.Join(resources, ",\n")+"]}",
		"@DIR@", s.dir))
}

func (s shared) mixed(t *testing.T) {
	t.Helper()
	s.catalog(t,
		`{"type": "Stage", "title": "main"}`,
		`{"type": "File", "title": "@DIR@/d", "parameters": {"ensure": "directory", "mode": "0750"}}`,
		`{"type": "File", "title": "@DIR@/d/f", "parameters": {"content": "grüße\n", "mode": "0640"}}`,
		`{"type": "File", "title": "@DIR@/d/l", "parameters": {"ensure": "link", "target": "f"}}`,
		`{"type": "Exec", "title": "/bin/sh -c 'echo x > @DIR@/made'", "parameters": {"creates": "@DIR@/made"}}`,
		`{"type": "Notify", "title": "always"}`,
		`{"type": "Host", "title": "web.example.com", "parameters": {"ip": "192.0.2.1", "host_aliases": ["web"], "target": "@DIR@/hosts"}}`,
		`{"type": "Sshkey", "title": "web.example.com", "parameters": {"type": "ssh-ed25519", "key": "AAAAC3Nz", "target": "@DIR@/known_hosts"}}`)
}

// others are the resources that events are of, but for the one that is never in sync.
func (r *puppetRun) others() (refs []string) {
	for _, e := range r.Events {
		if e.Resource != "Notify[always]" {
			refs = append(refs, e.Resource+"/"+e.Property+" "+e.Status)
		}
	}
	return refs
}

// TestPuppetFindsOursInSync: what this program has applied is in sync for real Puppet, as
// its agent and as puppet apply.
func TestPuppetFindsOursInSync(t *testing.T) {
	t.Parallel()
	s := newPlaceToShare(t)
	s.mixed(t)
	s.ours(t, 2)
	if run := s.puppet(t, ""); len(run.others()) > 0 || run.Status != "changed" {
		t.Errorf("real Puppet has %v, %s", run.others(), run.Status)
	}
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Skip("there is no command puppet here")
	}
	out := s.command(t, "puppet", "apply", "--catalog", s.path("catalog.json"), "--confdir", s.path("conf"), "--vardir", s.path("var"), "--color=false")
	for line := range strings.Lines(out) {
		if !strings.Contains(line, "always") && !strings.Contains(line, "Applied catalog") {
			t.Errorf("puppet apply: %s", line)
		}
	}
}

// TestPuppetsIsInSyncForUs is the reverse.
func TestPuppetsIsInSyncForUs(t *testing.T) {
	t.Parallel()
	s := newPlaceToShare(t)
	s.mixed(t)
	if run := s.puppet(t, ""); len(run.others()) != 6 {
		t.Fatalf("real Puppet has changed %v", run.others())
	}
	for line := range strings.Lines(s.ours(t, 2)) {
		if !strings.Contains(line, "always") && !strings.Contains(line, "Applied catalog") {
			t.Errorf("got %s", line)
		}
	}
}

// TestPuppetReadsOurState: its next run knows by our transaction store what was changed
// behind its back, and reads our report; and ours by theirs. Rule RES-COR-01.
func TestPuppetReadsOurState(t *testing.T) {
	t.Parallel()
	s := newPlaceToShare(t)
	s.mixed(t)
	s.ours(t, 2)
	drift := func() {
		t.Helper()
		if err := os.Chmod(s.path("d/f"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	report := s.path("var/state/last_run_report.yaml")
	drift()
	run := s.puppet(t, report)
	if got := run.others(); !slices.Equal(got, []string{"File[" + s.path("d/f") + "]/mode success"}) || !run.Corrective {
		t.Errorf("real Puppet has %v, corrective %t", got, run.Corrective)
	}
	if run.Read == nil || run.Read.Status != "changed" || run.Read.Corrective || !slices.Contains(run.Read.Resources, "Host[web.example.com]") {
		t.Errorf("real Puppet reads our report as %+v", run.Read)
	}
	drift()
	if out := s.ours(t, 2); !strings.Contains(out, "mode changed '0600' to '0640' (corrective)") {
		t.Errorf("ours has\n%s", out)
	}
	if run := s.puppet(t, report); len(run.others()) > 0 || !run.Read.Corrective {
		t.Errorf("real Puppet has %v, and reads our report as %+v", run.others(), run.Read)
	}
}

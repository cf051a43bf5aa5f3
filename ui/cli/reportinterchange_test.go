package cli_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/termini"
	"indirtui/ui/cli"
)

// configurerRun is the run of an agent that has its catalog in the cache, as "puppet agent"
// makes it, but for certificates and the server.
const configurerRun = `require 'puppet'
require 'puppet/configurer'
Puppet.initialize_settings(['--confdir', ARGV[0], '--vardir', ARGV[1], '--use_cached_catalog'])
Puppet.settings.preferred_run_mode = :agent
Puppet.settings.use(:main, :agent)
Puppet::Resource::Catalog.indirection.terminus_class = :rest
Puppet::Resource::Catalog.indirection.cache_class = :json
Puppet::Transaction::Report.indirection.terminus_class = :yaml
Puppet::Transaction::Report.indirection.cache_class = :yaml
Puppet::Node::Facts.indirection.terminus_class = :memory
Puppet::Node::Facts.indirection.save(Puppet::Node::Facts.new('n1', {}))
Puppet::Util::Log.level = :info
exit(Puppet::Configurer.new.run(start_time: Time.now) || 1)
`

// plainYAML prints files of YAML as JSON, whatever their objects are.
const plainYAML = `require 'yaml'
require 'json'
puts JSON.generate(ARGV.map { |f| File.exist?(f) ? YAML.unsafe_load(File.read(f).gsub(/^((?:\s*- |.*: |--- ?)?)!ruby\S*/, '\1')) : nil })
`

// notFound has a file that cannot be made, and one that waits for it.
const notFound = `{"type": "File", "title": "@DIR@/made/none/x", "parameters": {"content": "x"}}
{"type": "File", "title": "@DIR@/made/y", "parameters": {"content": "y", "require": "File[@DIR@/made/none/x]"}}
{"type": "Notify", "title": "n"}`

const changing = `{"type": "File", "title": "@DIR@/made/f", "parameters": {"content": "x", "mode": "0640"}}
{"type": "File", "title": "@DIR@/made", "parameters": {"mode": "0755", "audit": "owner"}}
{"type": "Exec", "title": "/bin/true", "parameters": {"refreshonly": true, "subscribe": "File[@DIR@/made/f]"}}
{"type": "Notify", "title": "n", "parameters": {"noop": true}}`

// reportCases are runs by Puppet and by this program, whose reports are compared.
var reportCases = []struct {
	name, how string // "apply" a manifest, "file" with a catalog, or "agent"
	code      string
	conf      string // more settings
	flags     []string
}{
	{name: "RES-REP-01 a manifest", how: "apply", code: "file { '@DIR@/made/f': content => 'x' }\nnotify { 'n': }"},
	{name: "RES-REP-02 a manifest in noop", how: "apply", code: "file { '@DIR@/made/f': content => 'x' }\nnotify { 'n': }", flags: []string{"--noop"}},
	{name: "RES-REP-02 a manifest that fails", how: "apply", code: "file { '@DIR@/made/none/f': content => 'x' } -> notify { 'n': }"},
	{name: "RES-REP-07 a manifest whose run does not begin", how: "apply", code: "notify { 'n': }", conf: "prerun_command = /bin/false"},
	{name: "RES-REP-03 only what has changed", how: "apply", code: "file { '@DIR@/made': ensure => directory }\nnotify { 'n': }", conf: "exclude_unchanged_resources = true"},
	{name: "RES-REP-07 no report", how: "apply", code: "notify { 'n': }", conf: "report = false"},
	{name: "RES-REP-04 the catalog of a file", how: "file", code: changing},
	{name: "RES-REP-01 a cached catalog", how: "agent", code: changing},
	{name: "RES-REP-02 a cached catalog in noop", how: "agent", code: changing, conf: "noop = true"},
	{name: "RES-REP-02 a cached catalog that fails", how: "agent", code: notFound},
	{name: "RES-REP-05 tags that nothing has", how: "agent", code: changing, conf: "tags = other"},
	{name: "RES-REP-04 a catalog that cannot be converted", how: "agent", code: `{"type": "File", "title": "@DIR@/made/f", "parameters": {"mode": "rw"}}`},
	{name: "RES-REP-04 a cycle", how: "agent", code: `{"type": "Notify", "title": "a", "parameters": {"before": "Notify[b]"}}
{"type": "Notify", "title": "b", "parameters": {"before": "Notify[a]"}}`},
	{name: "RES-REP-09 an agent whose run does not begin", how: "agent", code: changing, conf: "prerun_command = /bin/false"},
	{name: "RES-REP-01 a catalog of another environment", how: "agent", code: changing, conf: "environment = qa"},
}

// TestReportsLikePuppets compares the report, the summary and the exit code of a run with
// those of real Puppet, for the same catalog and settings. Rules RES-REP-01 to RES-REP-07.
func TestReportsLikePuppets(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Skip("there is no command puppet here")
	}
	for _, tt := range reportCases {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newPlaceToShare(t)
			conf, err := os.ReadFile(s.path("conf/puppet.conf"))
			if err != nil {
				t.Fatal(err)
			}
			s.write(t, "conf/puppet.conf", string(conf)+"facts_terminus = yaml\ncodedir = "+s.path("code")+"\n"+tt.conf+"\n")
			run := func(argv func() []string, do func(...string) int) ran {
				t.Helper()
				s.prepare(t, tt.how, tt.code)
				code := do(append(argv(), tt.flags...)...)
				return s.ran(t, code)
			}
			want := run(func() []string { return s.puppetArgs(tt.how) }, func(argv ...string) int { return s.exit(t, argv...) })
			got := run(func() []string { return s.ourArgs(tt.how, tt.flags) }, func(argv ...string) int { return s.main(t, argv...) })
			if tt.how == "file" {
				want.Exit = got.Exit // Puppet's is 0 whatever happens
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Errorf("real Puppet -, ours +\n%s", d)
			}
		})
	}
}

// prepare makes the place as it is before a run.
func (s shared) prepare(t *testing.T, how, code string) {
	t.Helper()
	for _, sub := range []string{"var", "public", "run", "log", "made"} {
		if err := os.RemoveAll(s.path(sub)); err != nil {
			t.Fatal(err)
		}
	}
	for _, sub := range []string{"var/client_data/catalog", "var/yaml/facts", "public", "run", "log", "made", "code/environments/production"} {
		if err := os.MkdirAll(s.path(sub), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	s.write(t, "var/yaml/facts/n1.yaml", "---\nname: n1\nvalues: {}\n") // to look for them takes Puppet seconds
	switch how {
	case "apply":
		s.write(t, "site.pp", strings.ReplaceAll(code, "@DIR@", s.dir))
		return
	case "agent":
		s.write(t, "configurer.rb", configurerRun)
	}
	s.write(t, "plain.rb", plainYAML)
	s.catalog(t, strings.Split(code, "\n")...)
	text, err := os.ReadFile(s.path("catalog.json"))
	if err != nil {
		t.Fatal(err)
	}
	s.write(t, "var/client_data/catalog/n1.json", strings.Replace(string(text), "{", `{"catalog_uuid": "c4", "code_id": "urn:1", `, 1))
}

func (s shared) puppetArgs(how string) []string {
	dirs := []string{"--confdir", s.path("conf"), "--vardir", s.path("var")}
	switch how {
	case "agent":
		return []string{s.ruby, s.path("configurer.rb"), s.path("conf"), s.path("var")}
	case "file":
		return append([]string{"puppet", "apply", "--catalog", s.path("catalog.json")}, dirs...)
	}
	return append([]string{"puppet", "apply", s.path("site.pp"), "--detailed-exitcodes"}, dirs...)
}

func (s shared) ourArgs(how string, flags []string) []string {
	args := []string{"apply", "--write", "--detailed-exitcodes", "--confdir", s.path("conf"), "--vardir", s.path("var")}
	if !slices.Contains(flags, "--noop") {
		args = append(args, "--really")
	}
	switch how {
	case "agent":
		return append(args, "n1", "--route", "report=yaml", "--set", "log_level=info", "--host", "n1")
	case "file":
		return append(args, s.path("catalog.json"), "--application", "apply")
	}
	return append(args, s.path("site.pp"))
}

// exit runs a program, and returns its exit code.
func (s shared) exit(t *testing.T, argv ...string) int {
	t.Helper()
	c := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
	c.Env = append(os.Environ(), "HOME="+s.dir)
	out, err := c.CombinedOutput()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatalf("%q: %v\n%s", argv, err, out)
	}
	t.Logf("%s", out)
	return c.ProcessState.ExitCode()
}

// main runs this program, and returns its exit code.
func (s shared) main(t *testing.T, args ...string) int {
	t.Helper()
	var out bytes.Buffer
	code := cli.Main(args, cli.Streams{In: strings.NewReader(""), Out: &out, Err: &out}, termini.Specs(), termini.All())
	t.Logf("%s", &out)
	return code
}

// A ran is what there is of a run, without what differs from one to the next.
type ran struct {
	Exit            int
	Report, Summary any
}

func (s shared) ran(t *testing.T, exit int) ran {
	t.Helper()
	s.write(t, "plain.rb", plainYAML)
	text := s.command(t, s.ruby, s.path("plain.rb"), s.path("var/state/last_run_report.yaml"), s.path("public/last_run_summary.yaml"))
	text = temporary.ReplaceAllString(strings.ReplaceAll(text, s.dir, "@DIR@"), "<TEMP>")
	var all []any
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if report, is := all[0].(map[string]any); is {
		for i, l := range report["logs"].([]any) {
			report["logs"].([]any)[i].(map[string]any)["message"] = calm(l.(map[string]any)["message"].(string))
		}
		report["logs"] = slices.DeleteFunc(report["logs"].([]any), func(l any) bool {
			return strings.HasPrefix(l.(map[string]any)["message"].(string), "Facter: ") // of what this machine lacks
		})
	}
	return ran{exit, settled("", all[0]), settled("", all[1])}
}

// temporary is the end of the name of a file that another one is made of.
var temporary = regexp.MustCompile(`20\d{6}-\d+-\w+(\.lock)?`)

// moments are the keys whose values differ from run to run.
var moments = regexp.MustCompile(`^(time|evaluation_time|transaction_uuid|catalog_uuid|config|configuration_version|last_run)$`)

// settled is a value without what differs from run to run.
func settled(key string, v any) any {
	switch x := v.(type) {
	case map[string]any:
		for k, v := range x {
			x[k] = settled(k, v)
			if _, number := v.(float64); key == "time" && number {
				x[k] = "<N>"
			}
		}
	case []any:
		if len(x) == 3 { // of a metric: name, label, number
			if n, is := x[2].(float64); is && n != float64(int64(n)) {
				x[2] = "<N>"
			}
		}
		for i := range x {
			x[i] = settled("", x[i])
		}
	case string:
		if moments.MatchString(key) && x != "c4" {
			return "<" + filepath.Base(key) + ">"
		}
	case float64:
		if moments.MatchString(key) && x != 1 {
			return "<N>"
		}
	}
	return v
}

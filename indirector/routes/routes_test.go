package routes_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/routes"
	"indirtui/indirector/settings"
	"indirtui/traces"
)

// shown writes a slot as one line for each choice, strongest first.
func shown(s traces.Slot) []string {
	var lines []string
	for _, c := range s {
		line := fmt.Sprintf("%s | %s | %s", c.Terminus, c.Kind, c.Source)
		if c.Symbol {
			line = ":" + line
		}
		if c.Why != "" {
			line += " | not: " + c.Why
		}
		lines = append(lines, line)
	}
	return lines
}

// The order of sources, weakest to strongest, is that of the specification.
func TestPrecedence(t *testing.T) {
	t.Parallel()
	const offStoreconfigs = "storeconfigs is false"
	tests := []struct {
		name    string
		setup   setup
		slot    string // "catalog terminus"
		want    []string
		winner  string
		problem string
		fails   bool
	}{
		{
			name: "declaration", setup: setup{application: "apply"}, slot: "report terminus", winner: "processor",
			want: []string{":processor | default in code | indirection report"},
		},
		{
			name: "IND-SEL-01 default of a setting", setup: setup{application: "apply"}, slot: "node terminus", winner: "plain",
			want: []string{":plain | setting | setting node_terminus, default"},
		},
		{
			name: "default of the application", setup: setup{application: "agent"}, slot: "node terminus", winner: "rest",
			want: []string{
				":rest | application | application agent, setting node_terminus",
				":plain | setting | setting node_terminus, default",
			},
		},
		{
			name: "puppet.conf beats the application", slot: "node terminus", winner: "exec",
			setup: setup{application: "agent", conf: "[main]\nnode_terminus = yaml\n[agent]\nnode_terminus = exec\n"},
			want: []string{
				":exec | setting | setting node_terminus, puppet.conf:4 [agent]",
				":yaml | setting | setting node_terminus, puppet.conf:2 [main]",
				":rest | application | application agent, setting node_terminus",
				":plain | setting | setting node_terminus, default",
			},
		},
		{
			name: "--set beats puppet.conf; the section of another run mode is not applied", slot: "node terminus", winner: "memory",
			setup: setup{application: "agent", conf: "[server]\nnode_terminus = exec\n", set: []settings.Override{{Name: "node_terminus", Value: "memory"}}},
			want: []string{
				":memory | setting | setting node_terminus, --set",
				":exec | setting | setting node_terminus, puppet.conf:2 [server] | not: section [server] is not for run mode agent",
				":rest | application | application agent, setting node_terminus",
				":plain | setting | setting node_terminus, default",
			},
		},
		{
			name: "IND-SEL-10 storeconfigs", slot: "resource terminus", winner: "store_configs",
			setup: setup{application: "apply", conf: "storeconfigs = true\n"},
			want: []string{
				":store_configs | storeconfigs | setting storeconfigs, puppet.conf:1 [main]",
				":ral | default in code | indirection resource",
			},
		},
		{
			name: "storeconfigs off", slot: "facts cache", winner: "",
			setup: setup{application: "apply"},
			want:  []string{":store_configs | storeconfigs | setting storeconfigs, default | not: " + offStoreconfigs},
		},
		{
			name: "application code beats storeconfigs", slot: "catalog cache", winner: "json",
			setup: setup{application: "agent", conf: "storeconfigs = true\n"},
			want: []string{
				":json | application | application agent, setting catalog_cache_terminus",
				":store_configs | storeconfigs | setting catalog_cache_terminus, storeconfigs",
				":store_configs | storeconfigs | setting storeconfigs, puppet.conf:1 [main]",
			},
		},
		{
			name: "IND-SEL-07 the agent copies catalog_cache_terminus", slot: "catalog cache", winner: "yaml",
			setup: setup{application: "agent", conf: "[agent]\ncatalog_cache_terminus = yaml\n"},
			want: []string{
				":yaml | application | application agent, setting catalog_cache_terminus, puppet.conf:2 [agent]",
				":json | application | application agent, setting catalog_cache_terminus",
				":store_configs | storeconfigs | setting storeconfigs, default | not: " + offStoreconfigs,
			},
		},
		{
			name: "IND-SEL-07 nobody reads node_cache_terminus", slot: "node cache", winner: "",
			setup: setup{application: "agent", conf: "node_cache_terminus = yaml\n"},
			want:  []string{":yaml | setting | setting node_cache_terminus, puppet.conf:1 [main] | not: application agent does not read node_cache_terminus"},
		},
		{
			name: "IND-SEL-07 the server reads node_cache_terminus", slot: "node cache", winner: "yaml",
			setup: setup{application: "server", conf: "node_cache_terminus = yaml\n"},
			want:  []string{":yaml | application | application server, setting node_cache_terminus, puppet.conf:1 [main]"},
		},
		{
			name: "routes.yaml beats application code", slot: "report cache", winner: "json",
			setup: setup{application: "agent", routes: "agent:\n  report:\n    cache: json\n"},
			want: []string{
				"json | routes file | routes.yaml:3",
				":yaml | application | application agent",
			},
		},
		{
			name: "IND-ROUTE-01 the section of another application", slot: "node terminus", winner: "plain",
			setup: setup{application: "apply", routes: "agent:\n  node:\n    terminus: :exec\napply: {}\n"},
			want: []string{
				":exec | routes file | routes.yaml:3 | not: section 'agent' is not for application 'apply'",
				":plain | setting | setting node_terminus, default",
			},
		},
		{
			name: "IND-ROUTE-05 a route cannot disable a cache", slot: "report cache", winner: "yaml",
			setup: setup{application: "agent", routes: "agent:\n  report:\n    terminus: rest\n    cache: false\n"},
			want: []string{
				" | routes file | routes.yaml:4 | not: a route cannot disable a cache",
				":yaml | application | application agent",
			},
		},
		{
			name: "IND-ROUTE-04 symbols stay symbols, texts stay texts", slot: "report terminus", winner: "yaml",
			setup: setup{application: "apply", routes: "apply:\n  report:\n    terminus: :yaml\n    cache: \":json\"\n"}, fails: true,
			want: []string{
				":yaml | routes file | routes.yaml:3",
				":processor | default in code | indirection report",
			},
		},
		{
			name: "IND-ROUTE-08 an empty section", slot: "report terminus", winner: "processor",
			setup: setup{application: "apply", routes: "apply:\n"},
			want:  []string{":processor | default in code | indirection report"},
		},
		{
			name: "a version that Psych reads", slot: "report terminus", winner: "yaml",
			setup: setup{application: "apply", routes: "# routes\n%YAML 1.2\n---\napply:\n  report: {terminus: yaml}\n"},
			want: []string{
				"yaml | routes file | routes.yaml:5",
				":processor | default in code | indirection report",
			},
		},
		{
			name: "IND-ROUTE-02 master stands in for server", slot: "report terminus", winner: "yaml",
			setup: setup{application: "server", routes: "master:\n  report:\n    terminus: yaml\n"},
			want: []string{
				"yaml | routes file | routes.yaml:3",
				":processor | default in code | indirection report",
			},
		},
		{
			name: "a face beats routes.yaml", slot: "catalog terminus", winner: "rest",
			setup: setup{application: "catalog", action: "download", routes: "catalog: {catalog: {terminus: yaml}}\n"},
			want: []string{
				":rest | face | catalog download",
				"yaml | routes file | routes.yaml:1",
				":compiler | setting | setting catalog_terminus, default",
			},
		},
		{
			name: "code switches a cache off", slot: "report cache", winner: indirector.Off,
			setup: setup{application: "script"},
			want:  []string{":off | application | application script"},
		},
		{
			name: "device --apply", slot: "catalog terminus", winner: "compiler",
			setup: setup{application: "device", action: "--apply", conf: "catalog_terminus = yaml\n"},
			want: []string{
				":compiler | setting | setting catalog_terminus, device --apply",
				":yaml | setting | setting catalog_terminus, puppet.conf:1 [main]",
				":rest | application | application device, setting catalog_terminus",
				":compiler | setting | setting catalog_terminus, default",
			},
		},
		{
			name: "IND-TERM-09 facts_terminus is a string", slot: "facts terminus", winner: "yaml",
			setup: setup{application: "lookup"},
			want: []string{
				"yaml | application | application lookup, setting facts_terminus",
				"facter | setting | setting facts_terminus, default",
			},
		},
		{
			name: "IND-SEL-08 an empty setting is nothing, and nothing below it counts", slot: "node terminus", winner: "",
			setup: setup{application: "agent", conf: "node_terminus =\n"}, problem: "Invalid terminus name nil",
			want: []string{
				": | setting | setting node_terminus, puppet.conf:1 [main]",
				":rest | application | application agent, setting node_terminus | not: node_terminus is empty in puppet.conf:1 [main], and that counts",
				":plain | setting | setting node_terminus, default | not: node_terminus is empty in puppet.conf:1 [main], and that counts",
			},
		},
		{
			name: "IND-SEL-05 a setting names no terminus", slot: "node terminus", winner: "floppy",
			setup: setup{application: "apply", conf: "node_terminus = floppy\n"}, problem: "Could not find terminus floppy for indirection node",
			want: []string{
				":floppy | setting | setting node_terminus, puppet.conf:1 [main]",
				":plain | setting | setting node_terminus, default",
			},
		},
		{
			name: "IND-SEL-08 a setting that is true", slot: "node terminus", winner: "true",
			setup: setup{application: "apply", conf: "node_terminus = true\n"}, problem: "Invalid terminus setting: true",
			want: []string{
				":true | setting | setting node_terminus, puppet.conf:1 [main]",
				":plain | setting | setting node_terminus, default",
			},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result, err := tt.setup.load(t)
			if (err != nil) != tt.fails {
				t.Fatal(err)
			}
			name, kind, _ := strings.Cut(tt.slot, " ")
			slot := result.Routes[name].Primary
			if kind == indirector.SlotCache {
				slot = result.Routes[name].Cache
			}
			if diff := cmp.Diff(tt.want, shown(slot)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", tt.slot, diff)
			}
			if got := slot.Winner().Terminus; got != tt.winner {
				t.Errorf("winner is %q, want %q", got, tt.winner)
			}
			if tt.problem != "" {
				wantDiagnostic(t, result, routes.BadTerminus, tt.problem)
			}
		})
	}
}

func wantDiagnostic(t *testing.T, result routes.Result, id, text string) routes.Diagnostic {
	t.Helper()
	i := slices.IndexFunc(result.Warnings, func(d routes.Diagnostic) bool { return d.ID == id && d.Text == text })
	if i < 0 {
		t.Fatalf("no %s %q in:\n%s", id, text, diagnostics(result))
	}
	return result.Warnings[i]
}

func diagnostics(result routes.Result) string {
	var b strings.Builder
	for _, d := range result.Warnings {
		fmt.Fprintf(&b, "%s %s\n", d.ID, d)
	}
	return b.String()
}

func TestDiagnostics(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name     string
		setup    setup
		id, text string
		line     int
	}{
		{
			name: "S-10 no section", id: routes.NoSection,
			setup: setup{application: "apply", routes: "agent: {}\n"},
			text:  "routes.yaml has no section for application 'apply'; sections present: agent",
		},
		{
			name: "S-10 server block on an agent", id: routes.NoSection,
			setup: setup{application: "agent", routes: "master: {}\napply:\n"},
			text:  "routes.yaml has no section for application 'agent'; sections present: master, apply",
		},
		{
			name: "S-10 misspelt", id: routes.UnknownSection, line: 1,
			setup: setup{application: "agent", routes: "agnet: {facts: {terminus: yaml}}\n"},
			text:  "no application is called 'agnet'; did you mean 'agent'?",
		},
		{
			name: "S-10 a symbol", id: routes.UnknownSection, line: 2,
			setup: setup{application: "agent", routes: "---\n:agent: {facts: {terminus: yaml}}\n"},
			text:  "section :agent is never found: its name is the symbol :agent, not a text",
		},
		{
			name: "S-11 IND-ROUTE-09", id: routes.StringRest,
			setup: setup{application: "agent", routes: "agent: {catalog: {terminus: rest}}\n"},
			text:  `no facts are sent: the terminus of catalog is the string "rest", and the agent looks for the symbol :rest`,
		},
		{
			name: "S-12 cache: false", id: routes.NotGiven, line: 4,
			setup: setup{application: "server", routes: "server:\n  node:\n    terminus: plain\n    cache: false\n"},
			text:  "cache: false of node changes nothing; a route cannot disable a cache",
		},
		{
			name: "S-12 cache: ~", id: routes.NotGiven, line: 1,
			setup: setup{application: "server", routes: "server: {node: {terminus: plain, cache: ~}}\n"},
			text:  "cache: ~ of node changes nothing; a route cannot disable a cache",
		},
		{
			name: "S-33", id: routes.NoReportCache,
			setup: setup{application: "device"},
			text:  "puppet device keeps no last report: it has no cache for reports",
		},
		{
			name: "S-42", id: routes.Storeconfigs,
			setup: setup{application: "apply", conf: "storeconfigs = true\n"},
			text:  "storeconfigs is on: it replaced the catalog cache by store_configs",
		},
		{
			name: "IND-ROUTE-02", id: routes.BothSections, line: 2,
			setup: setup{application: "server", routes: "server: {facts: {terminus: yaml}}\nmaster: {facts: {terminus: json}}\n"},
		},
		{
			name: "IND-ROUTE-07", id: routes.IgnoredKey, line: 4,
			setup: setup{application: "agent", routes: "agent:\n  facts:\n    terminus: yaml\n    cahce: json\n"},
			text:  "key 'cahce' is ignored; did you mean 'cache'?",
		},
		{
			name: "E3 text", id: routes.NotSections, line: 1,
			setup: setup{application: "agent", routes: "just text\n"},
			text:  `routes.yaml is the text "just text", not sections by application; Puppet ignores it`,
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result, err := tt.setup.load(t)
			if err != nil {
				t.Fatal(err)
			}
			if tt.text == "" {
				tt.text = fmt.Sprintf("Route file %s contains both server and master route settings.", result.File)
			}
			d := wantDiagnostic(t, result, tt.id, tt.text)
			if d.Line != tt.line {
				t.Errorf("line %d, want %d", d.Line, tt.line)
			}
		})
	}
}

// Storeconfigs is a surprise only where an application's own cache is gone. Rule
// IND-SEL-10.
func TestStoreconfigsExpected(t *testing.T) {
	t.Parallel()
	for application, want := range map[string]map[string]bool{
		"apply":  {"catalog cache": false, "facts cache": true, "resource terminus": true},
		"server": {"catalog cache": true, "facts cache": true, "resource terminus": true},
		"agent":  {"facts cache": true, "resource terminus": true},
	} {
		result, err := setup{application: application, conf: "storeconfigs = true\n"}.load(t)
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[string]bool)
		for _, d := range result.Warnings {
			if d.ID == routes.Storeconfigs {
				got[d.Indirection+" "+d.Slot] = d.Expected
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: %s", application, diff)
		}
	}
}

// Correct routes give no diagnostics.
func TestNoDiagnostics(t *testing.T) {
	t.Parallel()
	for _, s := range []setup{
		{application: "agent"},
		{application: "agent", routes: "agent:\n  catalog:\n    terminus: :rest\n    cache: :json\n"},
		{application: "apply", routes: "agent:\napply: {facts: {terminus: yaml}}\n"},
		{application: "apply", conf: "catalog_cache_terminus = json\n"},
		{application: "server", routes: "master: {facts: {terminus: yaml}}\n"},
	} {
		result, err := s.load(t)
		if err != nil || len(result.Warnings) > 0 {
			t.Errorf("%+v: %v\n%s", s, err, diagnostics(result))
		}
	}
}

// Rule IND-ROUTE-06: the words before every message.
func TestErrors(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, routes, want string }{
		{"E1 S-13 empty", "# only a comment\n", "routes.yaml is empty"},
		{"E1 nothing", "---\n", "routes.yaml is empty"},
		{"E2 list", "- agent\n", "routes.yaml is a list, not sections by application (routes.yaml:1)"},
		{"E3 text with the name", "agent is here\n", `routes.yaml is the text "agent is here", not sections by application (routes.yaml:1)`},
		{"E4 syntax", "agent: {catalog: \n", "(PATH): did not find expected node content while parsing a flow node at line 2 column 1 (routes.yaml:2)"},
		{"E5 foreign tag", "a: 1\nagent: !ruby/object:Object {}\n", "(PATH): Tried to load unspecified class: Object (routes.yaml:2)"},
		{"E5 date", "agent: 2020-01-01\n", "(PATH): Tried to load unspecified class: Date (routes.yaml:1)"},
		{"E6 section is text", "agent: yaml\n", `section 'agent' is the text "yaml", not entries by indirection (routes.yaml:1)`},
		{"E6 section is a list", "agent:\n- facts\n", "entry 'facts' is empty; it needs a terminus or a cache, as in {terminus: yaml} (routes.yaml:2)"},
		{"E7 empty entry", "agent:\n  facts: {}\n", "entry 'facts' has neither a terminus nor a cache (routes.yaml:2)"},
		{"E7 text", "agent:\n  facts: yaml\n", `entry 'facts' is the text "yaml"; it needs a terminus or a cache, as in {terminus: yaml} (routes.yaml:2)`},
		{"E7 misspelt", "agent:\n  facts:\n    terminii: yaml\n", "entry 'facts' has neither a terminus nor a cache (routes.yaml:2)"},
		{"E8 null", "agent:\n  facts:\n", "entry 'facts' is empty; it needs a terminus or a cache, as in {terminus: yaml} (routes.yaml:2)"},
		{"E9 indirection", "agent:\n  fatcs:\n    terminus: yaml\n", "Indirection fatcs does not exist (routes.yaml:2: did you mean facts?)"},
		{"E9 before E10", "agent:\n  gizmo:\n    terminus: nothing\n", "Indirection gizmo does not exist (routes.yaml:2)"},
		{"E10 terminus", "agent:\n  facts:\n    terminus: jason\n", "Could not find terminus jason for indirection facts (routes.yaml:3: did you mean json?)"},
		{"E10 S-12 none", "agent:\n  node:\n    terminus: plain\n    cache: none\n", "Could not find terminus none for indirection node (routes.yaml:4: none is not a terminus of node; a route cannot disable a cache)"},
		{"E11 empty text", "agent:\n  facts:\n    cache: ''\n", `Invalid terminus name "" (routes.yaml:3)`},
		{"E12 number", "agent:\n  facts:\n    terminus: 3\n", "the terminus of facts is 3, not the name of a terminus (routes.yaml:3)"},
		{"E12 true", "agent:\n  node:\n    terminus: yaml\n    cache: yes\n", "the cache of node is yes, not the name of a terminus (routes.yaml:4)"},
		{"key is a number", "agent:\n  5: {terminus: yaml}\n", "the name of an indirection is 5, not a text (routes.yaml:2)"},
		{"merged too deeply", "agent:\n  facts: &f\n    <<: *f\n", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			result, err := setup{application: "agent", routes: tt.routes}.load(t)
			var bad *routes.Error
			if !errors.As(err, &bad) {
				t.Fatalf("error is %v", err)
			}
			want := "Could not configure routes from " + result.File + ": " + strings.ReplaceAll(tt.want, "PATH", result.File)
			if tt.want != "" && err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
			if !result.Found || result.Routes["facts"].Primary.Winner().Terminus != "facter" {
				t.Errorf("result is not usable: %+v", result.Routes["facts"])
			}
		})
	}
}

// Rule IND-ROUTE-03: what came before the entry that failed stays.
func TestPartial(t *testing.T) {
	t.Parallel()
	result, err := setup{application: "agent", routes: `
agent:
  facts:
    terminus: yaml
  report:
    terminus: json
    cache: floppy
  node:
    terminus: memory
`}.load(t)
	var bad *routes.Error
	if !errors.As(err, &bad) || bad.Line != 7 || bad.Indirection != "report" {
		t.Fatalf("error is %+v", err)
	}
	for name, want := range map[string]string{"facts": "yaml", "report": "json", "node": "rest"} {
		if got := result.Routes[name].Primary.Winner().Terminus; got != want {
			t.Errorf("%s is %s, want %s", name, got, want)
		}
	}
	if got := result.Routes["report"].Cache[0].Why; got != "Could not find terminus floppy for indirection report" {
		t.Errorf("cache of report was not applied because %q", got)
	}
	if got := result.Routes["node"].Primary[0].Why; got != "an entry above failed (routes.yaml:7)" {
		t.Errorf("node was not applied because %q", got)
	}
}

func TestFileNotReadable(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "routes.yaml"), 0o755); err != nil {
		t.Fatal(err)
	}
	conf, err := settings.Load(settings.Options{ConfDir: dir})
	if err != nil {
		t.Fatal(err)
	}
	result, err := routes.Load(routes.Input{Registry: registry(t), Settings: conf, Application: "agent"})
	if err == nil || !strings.HasPrefix(err.Error(), "Could not configure routes from "+result.File+": read it: ") {
		t.Errorf("error is %v", err)
	}
}

// Merge keys, aliases and repeated keys are what Ruby makes of them.
func TestMerge(t *testing.T) {
	t.Parallel()
	result, err := setup{application: "agent", routes: `
base: &base {terminus: memory, cache: json}
agent:
  facts:
    <<: *base
    cache: yaml
  node: *base
  report: {terminus: yaml}
  report: {terminus: json}
`}.load(t)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][2]string{"facts": {"memory", "yaml"}, "node": {"memory", "json"}, "report": {"json", "yaml"}}
	for name, w := range want {
		r := result.Routes[name]
		if got := [2]string{r.Primary.Winner().Terminus, r.Cache.Winner().Terminus}; got != w {
			t.Errorf("%s is %v, want %v", name, got, w)
		}
	}
	if got := result.Sections; !slices.Equal(got, []string{"base", "agent"}) {
		t.Errorf("sections are %v", got)
	}
}

// Loading what Export wrote gives the same winners.
func TestExport(t *testing.T) {
	t.Parallel()
	agent := setup{application: "agent", routes: "agent:\n  facts:\n    terminus: yaml\n    cache: :memory\n"}
	loaded := func(s setup) indirector.Routes {
		result, err := s.load(t)
		if err != nil {
			t.Fatal(err)
		}
		return result.Routes
	}
	table := loaded(agent)
	you := func(terminus string) traces.Slot {
		return traces.Slot{{Terminus: terminus, Kind: traces.FromYou}}
	}
	table["catalog"] = indirector.Route{Primary: you("rest"), Cache: you(indirector.Off), TTL: you("60")}
	got := routes.Export(table, "agent")
	want := `---
agent:
  # the cache of catalog is off, which a route cannot say
  # the ttl of catalog is 60 s, which routes.yaml cannot set
  catalog:
    terminus: :rest
  facts:
    terminus: yaml
    cache: :memory
`
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	again := loaded(setup{application: "agent", routes: got})
	for name, r := range table {
		if got, want := again[name].Primary.Winner().Terminus, r.Primary.Winner().Terminus; got != want {
			t.Errorf("%s is %s after export, was %s", name, got, want)
		}
	}
	if got := routes.Export(loaded(setup{application: "apply"}), "apply"); got != "---\napply:\n" {
		t.Errorf("export of a table without choices is %q", got)
	}
}

// Every choice in code names an indirection and a slot that exist, or its
// application is of an old release; and every name is listed once.
func TestApplications(t *testing.T) {
	t.Parallel()
	known := registry(t)
	names := map[string]bool{}
	for _, a := range routes.Applications() {
		if names[a.Name] || a.Doc == "" {
			t.Errorf("%s: twice, or without a description", a.Name)
		}
		names[a.Name] = true
		assigns := slices.Clone(a.Assigns)
		for _, act := range a.Actions {
			assigns = append(assigns, act.Assigns...)
		}
		for _, as := range assigns {
			if a.Legacy == "" && known.Spec(as.Indirection) == nil {
				t.Errorf("%s: no indirection %s", a.Name, as.Indirection)
			}
			if as.Slot != indirector.SlotTerminus && as.Slot != indirector.SlotCache {
				t.Errorf("%s: no slot %s", a.Name, as.Slot)
			}
			if a.Legacy == "" && as.Terminus != "" && as.Terminus != indirector.Off && known.Descriptor(as.Indirection, as.Terminus) == nil {
				t.Errorf("%s: no terminus %s of %s", a.Name, as.Terminus, as.Indirection)
			}
		}
		if _, err := settings.Load(a.Options(settings.Options{ConfDir: t.TempDir()}, "")); err != nil {
			t.Errorf("%s: %v", a.Name, err)
		}
	}
	for _, name := range []string{"agent", "apply", "server", "device", "lookup", "script", "catalog", "facts", "node", "report", "resource", "filebucket", "ssl"} {
		if !names[name] {
			t.Errorf("no application %s", name)
		}
	}
}

func FuzzRoutes(f *testing.F) {
	for _, seed := range []string{
		"", "---\n", "- a", "text", "agent: {facts: {terminus: yaml, cache: :json}}",
		"server: {node: {cache: none}}\nmaster: {}", "agent: &a {facts: *a, <<: *a}", "agent: [[facts, {terminus: yaml}]]",
		"agent:\n  ? [a]\n  : {terminus: 3}", "agent: !ruby/object:X {}", "a: &a [*a]", "\xff", "agent: {facts: {terminus: !!binary aGk=}}",
	} {
		f.Add([]byte(seed), uint8(0))
	}
	known := registry(f)
	dir := f.TempDir()
	conf, err := settings.Load(settings.Options{ConfDir: dir})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text []byte, number uint8) {
		application := []string{"agent", "server", "master", "apply", "none such"}[number%5]
		file := filepath.Join(t.TempDir(), "routes.yaml")
		if err := os.WriteFile(file, text, 0o600); err != nil {
			t.Fatal(err)
		}
		in := routes.Input{Registry: known, Settings: conf, Application: application, File: file}
		result, err := routes.Load(in)
		var bad *routes.Error
		if err != nil && !errors.As(err, &bad) {
			t.Fatalf("error is %T: %v", err, err)
		}
		if err != nil {
			return
		}
		// What was understood can be written down and means the same then.
		if err := os.WriteFile(file, []byte(routes.Export(result.Routes, application)), 0o600); err != nil {
			t.Fatal(err)
		}
		again, err := routes.Load(in)
		if err != nil {
			t.Fatalf("load what Export wrote: %v\n%s", err, routes.Export(result.Routes, application))
		}
		for name, r := range result.Routes {
			if got, want := again.Routes[name].Primary.Winner(), r.Primary.Winner(); got.Terminus != want.Terminus {
				t.Errorf("%s is %+v after export, was %+v", name, got, want)
			}
		}
	})
}

func BenchmarkLoad(b *testing.B) {
	file := filepath.Join(b.TempDir(), "routes.yaml")
	write(b, file, "agent:\n  facts:\n    terminus: facter\n    cache: yaml\n  catalog:\n    terminus: :rest\n    cache: json\n")
	conf, err := settings.Load(settings.Options{ConfDir: filepath.Dir(file)})
	if err != nil {
		b.Fatal(err)
	}
	in := routes.Input{Registry: registry(b), Settings: conf, Application: "agent"}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := routes.Load(in); err != nil {
			b.Fatal(err)
		}
	}
}

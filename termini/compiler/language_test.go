package compiler

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/engine"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/model"
	"indirtui/indirector/settings"
	"indirtui/traces"
)

// start lays out an environment and returns an engine whose compiler sees it.
func start(t *testing.T, files map[string]string) *engine.Engine {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, "code/environments/production", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	specs := []indirector.Spec{
		{Name: "catalog", Setting: "catalog_terminus"}, {Name: "node", Setting: "node_terminus"}, {Name: "data_binding", Setting: "data_binding_terminus"},
	}
	e, err := engine.New(engine.Options{
		Specs: specs, Termini: []indirector.Descriptor{Catalog, knownNode, fewData}, ConfDir: filepath.Join(dir, "conf"), VarDir: filepath.Join(dir, "var"),
		Application: "server", Recording: filepath.Join(dir, "rec.jsonl"),
		Set: []settings.Override{
			{Name: "codedir", Value: filepath.Join(dir, "code")}, {Name: "node_terminus", Value: "known"}, {Name: "data_binding_terminus", Value: "few"},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { e.Close() })
	return e
}

// A finder answers from a function.
type finder func(req *indirector.Request) (indirector.Instance, error)

func (f finder) Find(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
	return f(req)
}

func describe(indirection, name string, f finder) indirector.Descriptor {
	return indirector.Descriptor{
		Indirection: indirection, Name: name, Doc: "For tests.", Type: f,
		New: func(indirector.Env) (indirector.Terminus, error) { return f, nil },
	}
}

var knownNode = describe("node", "known", func(req *indirector.Request) (indirector.Instance, error) {
	facts := data.OfHash([]data.Pair{data.P("os", data.OfString("Debian"))})
	return &model.Node{Name: req.Key, Environment: "production", Parameters: facts, Facts: &model.Facts{Name: req.Key, Values: facts}}, nil
})

var fewData = describe("data_binding", "few", func(req *indirector.Request) (indirector.Instance, error) {
	if req.Key != "ntp::servers" {
		return nil, indirector.NotFound(traces.NotFound, "")
	}
	return &model.Binding{Name: req.Key, Value: data.OfStrings([]string{"a"})}, nil
})

// A compile is a request, and so is every key of data that it asks for. Rule LANG-TRACE-03.
func TestCompile(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{
		"manifests/site.pp":             `node default { include ntp }`,
		"modules/ntp/manifests/init.pp": `class ntp(Array $servers, $port = 123) { notify { "${servers[0]}:${port} ${facts['os']}": } }`,
	})
	resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
	if err != nil {
		t.Fatal(err)
	}
	if c := resp.Instance().(*model.Catalog); c.Resource("Notify[a:123 Debian]") == nil {
		t.Errorf("the catalog has %v", c.Resources)
	}
	tr := traceOf(t, e, resp.Trace)
	var asked []string
	for _, s := range tr.Spans {
		if s.Kind == traces.Nested {
			asked = append(asked, s.Name+": "+s.Answer)
		}
	}
	if got, want := strings.Join(asked, ", "), "find node web01: found, find data_binding ntp::servers: found, find data_binding ntp::port: nil"; got != want {
		t.Errorf("asked for %s, want %s", got, want)
	}
}

func traceOf(t *testing.T, e *engine.Engine, id uint64) *traces.Trace {
	t.Helper()
	if err := e.Store.Flush(); err != nil {
		t.Fatal(err)
	}
	tr, err := e.Store.Trace(id)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// A compile that fails names the place, what contains it, and where a class was looked for.
func TestCompileFails(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{
		"manifests/site.pp":                 "node default {\n  include profile::bse\n}",
		"modules/profile/manifests/base.pp": "class profile::base { }",
	})
	_, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
	if err == nil || !strings.Contains(err.Error(), "Could not find class ::profile::bse for web01") {
		t.Fatalf("got %v", err)
	}
	tr := traceOf(t, e, 1)
	if len(tr.Faults) != 1 || !strings.HasSuffix(tr.Faults[0].Path, "manifests/site.pp:2") {
		t.Errorf("the failure is at %+v", tr.Faults)
	}
	var notes []string
	for _, n := range tr.Notes {
		notes = append(notes, n.Text)
	}
	got := strings.Join(notes, "\n")
	for _, want := range []string{"within Node[default]", "profile::bse was looked for in ", "modules/profile/manifests/bse.pp", "modules/profile/manifests/init.pp"} {
		if !strings.Contains(got, want) {
			t.Errorf("the notes are %s, want %s", got, want)
		}
	}
}

// To look at a catalog runs no command that a manifest names.
func TestCommands(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{"manifests/site.pp": `notify { generate('/bin/echo', 'ran'): }`})
	for _, tt := range []struct {
		name    string
		remote  *indirector.Remote
		options []indirector.Option
		want    string // of the error; "" means that it runs
	}{
		{"looked at", nil, nil, "programs may not run commands here"},
		{"allowed", nil, []indirector.Option{option(compile.OptionCommands, true)}, ""},
		{"of a node on the network", &indirector.Remote{Node: "web01", Authenticated: true}, nil, ""},
	} {
		_, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01", Remote: tt.remote, Options: tt.options})
		if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
			t.Errorf("%s: got %v, want %q", tt.name, err, tt.want)
		}
	}
}

// The version of a catalog is what config_version of its environment prints, for nodes on the
// network; what fails is in Puppet's words. Rule LANG-LOAD-13.
func TestConfigVersion(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, command, manifest string
		local                   bool
		want                    string // of the error; or the version
	}{
		{"a command", "/bin/echo ' v1' $environment", "", false, "v1 production"},
		{"a command for the shell", "/bin/echo a; echo b >&2", "", false, "a\nb"},
		{"a command that prints nothing", "/bin/true", "", false, ""},
		{"looked at", "/bin/echo v1", "", true, "time"},
		{
			"a failure", "/bin/echo bad && exit 3", "", false,
			"Execution of config_version command `/bin/echo bad && exit 3` failed: Execution of '/bin/echo bad && exit 3' returned 3: bad on node web01",
		},
		{
			"no such command", "/nonexistent/x", "", false,
			"Execution of config_version command `/nonexistent/x` failed: Could not execute posix command: fork/exec /nonexistent/x: no such file or directory on node web01",
		},
		{"before the manifest", "/bin/false", "fail('later')", false, "Execution of config_version command `/bin/false` failed: Execution of '/bin/false' returned 1:  on node web01"},
		{"behind the parser", "/bin/false", "$a = =", false, "Could not parse for environment production: Syntax error at '='"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := start(t, map[string]string{"manifests/site.pp": tt.manifest, "environment.conf": "config_version = " + tt.command + "\n"})
			req := &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01", Remote: &indirector.Remote{Node: "web01", Authenticated: true}}
			if tt.local {
				req.Remote = nil
			}
			resp, err := e.Once(t.Context(), req)
			if err != nil {
				if !strings.Contains(err.Error(), tt.want) || tt.want == "" {
					t.Errorf("got %v, want %s", err, tt.want)
				}
				return
			}
			version := resp.Instance().(*model.Catalog).Version
			if got := version.Text(); version.Kind() == data.Int && tt.want != "time" || version.Kind() != data.Int && got != tt.want {
				t.Errorf("the version is %s, want %s", version.Inspect(), tt.want)
			}
		})
	}
}

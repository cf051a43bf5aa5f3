package compiler

import (
	stdcmp "cmp"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/files"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
	"indirtui/indirector/settings"
	"indirtui/traces"
)

// start lays out an environment and returns an engine whose compiler sees it.
func start(t *testing.T, files map[string]string) *engine.Engine {
	t.Helper()
	return startWith(t, files, indirector.Ruby{})
}

// startWith does that for an engine that may run Ruby.
func startWith(t *testing.T, files map[string]string, ruby indirector.Ruby) *engine.Engine {
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
		Application: "server", Recording: filepath.Join(dir, "rec.jsonl"), Debug: &debugger.Options{}, Ruby: ruby,
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

// The class settings has all settings, with those of the environment. Rule LANG-SC-04.
func TestSettings(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{
		"environment.conf":  "modulepath = site\n",
		"manifests/site.pp": `notify { "${settings::vardir} ${settings::statedir} ${settings::modulepath} ${$settings::runinterval + 1} ${type($settings::noop)} ${settings::all_local['vardir']}": }`,
	})
	vardir, _ := e.Settings.Get("vardir")
	codedir, _ := e.Settings.Get("codedir")
	want := fmt.Sprintf("Notify[%[1]s %[1]s/state %[2]s/environments/production/site 1801 Boolean[false] %[1]s]", vardir, codedir)
	for range 2 {
		resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
		if err != nil {
			t.Fatal(err)
		}
		if c := resp.Instance().(*model.Catalog); c.Resource(want) == nil {
			t.Errorf("the catalog has %v, not %s", c.Resources, want)
		}
	}
}

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
	// It is no failure that a name is looked for in several files.
	if !slices.ContainsFunc(tr.Spans, func(s traces.Span) bool { return s.Name == "parse bse.pp" && s.Answer == "no such file" && s.Err == "" }) {
		t.Errorf("the search for the class is not shown: %+v", tr.Spans)
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

// What modules have in Ruby runs only where it is allowed, for agents only if it is for
// them, and not where this program has it itself. Each use is a span. Rules LANG-ERB-02,
// LANG-ERB-10, LANG-STD-03.
func TestRuby(t *testing.T) {
	t.Parallel()
	path, err := exec.LookPath("ruby")
	if err != nil {
		t.Skip("ruby is not installed, so no function in Ruby is run")
	}
	files := map[string]string{
		"manifests/site.pp": `node fun { notify { r::f('x'): } }
node tpl { notify { template('r/t.erb'): } }
node nat { notify { mysql::password('x'): } }`,
		"modules/r/lib/puppet/functions/r/f.rb":                "Puppet::Functions.create_function(:'r::f') do\n  def f(x)\n    x * 2\n  end\nend\n",
		"modules/r/templates/t.erb":                            `<%= [1, 2].send(:sum) %>`,
		"modules/mysql/lib/puppet/functions/mysql/password.rb": "Puppet::Functions.create_function(:'mysql::password') do\nend\n",
	}
	agent := &indirector.Remote{Node: "web01", Authenticated: true}
	const refused = "is written in Ruby (…/modules/r/lib/puppet/functions/r/f.rb) and cannot be run here; set ruby=… to use a helper"
	for _, tt := range []struct {
		name, node  string
		ruby        indirector.Ruby
		remote      *indirector.Remote
		want, fails string
		spans       []string
	}{
		{"a function", "fun", indirector.Ruby{Path: path}, nil, "Notify[xx]", "", []string{"read r::f by " + path, "run r::f by " + path}},
		{"a template", "tpl", indirector.Ruby{Path: path}, nil, "Notify[3]", "", []string{"render template r/t.erb by " + path}},
		{"off", "fun", indirector.Ruby{}, nil, "", refused, nil},
		{"a template, off", "tpl", indirector.Ruby{}, nil, "", "line 1: the method send of Array is not supported without Ruby", nil},
		{"an agent", "fun", indirector.Ruby{Path: path}, agent, "", refused, nil},
		{"an agent, allowed", "fun", indirector.Ruby{Path: path, Remote: true}, agent, "Notify[xx]", "", []string{"read r::f by " + path, "run r::f by " + path}},
		{"native", "nat", indirector.Ruby{Path: "/nowhere/ruby"}, nil, "Notify[*B69027D44F6E5EDC07F1AEAD1477967B16F28227]", "", nil},
		{"no Ruby there", "fun", indirector.Ruby{Path: "/nowhere/ruby"}, nil, "", "start /nowhere/ruby: fork/exec /nowhere/ruby: no such file or directory", []string{"read r::f by /nowhere/ruby"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := startWith(t, files, tt.ruby)
			resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: tt.node, Remote: tt.remote})
			switch {
			case tt.fails != "":
				if err == nil || !strings.Contains(regexp.MustCompile(`\(/\S+?/modules`).ReplaceAllString(err.Error(), "(…/modules"), tt.fails) {
					t.Errorf("got %v, want %s", err, tt.fails)
				}
			case err != nil:
				t.Fatal(err)
			case resp.Instance().(*model.Catalog).Resource(tt.want) == nil:
				t.Errorf("the catalog has %v, want %s", resp.Instance().(*model.Catalog).Resources, tt.want)
			}
			var spans []string
			for _, s := range traceOf(t, e, 1).Spans {
				if s.Kind == traces.Exec {
					spans = append(spans, s.Name)
				}
			}
			if !slices.Equal(spans, tt.spans) {
				t.Errorf("got the spans %q, want %q", spans, tt.spans)
			}
		})
	}
}

// The trace of a compile has what was evaluated within what, what was asked meanwhile, and
// how many resources came of it. Of parts that fail, the innermost has the message. Rules
// LANG-TRACE-01, LANG-TRACE-02.
func TestParts(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"manifests/site.pp":             "node web01 { include ntp }\nnode bad01 { include bad }\nnode late01 { include ntp::late }\nnode big01 { Integer[1, 10001].each |$i| { ntp::peer { \"p${i}\": } } }",
		"modules/ntp/manifests/init.pp": "class ntp($servers) {\n  include ntp::end\n  @ntp::peer { $servers: }\n  Ntp::Peer <| title == 'a' |>\n  User <| |>\n}",
		"modules/ntp/manifests/end.pp":  `class ntp::end { notify { template('ntp/t.erb'): } }`,
		"modules/ntp/manifests/peer.pp": `define ntp::peer { notify { "peer ${title}": } }`,
		"modules/ntp/templates/t.erb":   `<%= 1 + 1 %>`,
		"modules/bad/manifests/init.pp": "class bad {\n  include bad::deep\n}",
		"modules/bad/manifests/deep.pp": "class bad::deep {\n  fail('no')\n}",
		"modules/ntp/templates/bad.erb": `<% raise 'inner' %>`,
		"modules/ntp/manifests/late.pp": "class ntp::late {\n  $a = inline_template(\"<% begin; scope.function_template(['ntp/bad.erb']); rescue => e; end; raise 'later' %>\")\n}",
	}
	for node, want := range map[string]string{
		"web01": `nested find node web01: found
code parse site.pp: 157 bytes
code manifest site.pp: 0 resources
code node web01: 4 resources
  code parse init.pp: 113 bytes
  code class ntp: 3 resources
    nested find data_binding ntp::servers: found
    code parse end.pp: 52 bytes
    code class ntp::end: 1 resource
      code template t.erb: 1 bytes
    code parse peer.pp: 48 bytes
code collector Ntp::Peer <| title == 'a' |>: 1 collected
code define Ntp::Peer[a]: 1 resource
code collector User <| |>: 0 collected
code catalog web01: 0 resources
`,
		"bad01": `nested find node bad01: found
code parse site.pp: 157 bytes
code manifest site.pp: 0 resources
code node bad01: failed (class bad failed)
  code parse init.pp: 33 bytes
  code class bad: failed (class bad::deep failed)
    code parse deep.pp: 32 bytes
    code class bad::deep: failed (Evaluation Error: Error while evaluating a Function Call, no (file: deep.pp, line: 2, column: 3))
`,
		// What a template rescued is not why it fails later.
		"late01": `nested find node late01: found
code parse site.pp: 157 bytes
code manifest site.pp: 0 resources
code node late01: failed (class ntp::late failed)
  code parse init.pp: 113 bytes
  code parse late.pp: 132 bytes
  code class ntp::late: failed (template inline_template failed)
    code template inline_template: failed (later)
      code template bad.erb: failed (inner)
`,
		"big01": "code more of the kind catalog: 1\ncode more of the kind define: 3\n",
	} {
		t.Run(node, func(t *testing.T) {
			t.Parallel()
			e := start(t, files)
			_, _ = e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: node})
			tr := traceOf(t, e, 1)
			var b strings.Builder
			depth := map[int]int{}
			for _, s := range tr.Spans {
				depth[s.ID] = depth[s.Parent] + 1
				if s.Kind != traces.Code && s.Kind != traces.Nested || node == "big01" && !strings.HasPrefix(s.Name, "more ") {
					continue
				}
				fmt.Fprintf(&b, "%s%s %s: %s", strings.Repeat("  ", depth[s.ID]-1), s.Kind, s.Name, s.Answer)
				if s.Err != "" {
					fmt.Fprintf(&b, " (%s)", regexp.MustCompile(`/\S+/`).ReplaceAllString(s.Err, ""))
				}
				b.WriteString("\n")
			}
			if d := cmp.Diff(want, b.String()); d != "" {
				t.Error(d)
			}
			if node != "web01" {
				return
			}
			resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: node})
			if err != nil {
				t.Fatal(err)
			}
			again := traceOf(t, e, resp.Trace)
			if !slices.ContainsFunc(again.Spans, func(s traces.Span) bool { return s.Name == "parse peer.pp" && s.Answer == "48 bytes, as before" }) {
				t.Errorf("files were parsed again: %+v", again.Spans)
			}
		})
	}
}

// A compile is held at places of its manifests, with what is around and what is visible
// there, and goes on statement by statement.
func TestHeldCompile(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"manifests/site.pp": "node default {\n  $a = 1\n  include ntp\n  notify { 'end': }\n}",
		"modules/ntp/manifests/init.pp": "class ntp($servers) {\n  $n = 2\n  $servers.each |$s| {\n    ntp::peer { $s:\n      port => $n,\n    }\n  }\n" +
			"  notify { upcase('done'): }\n}",
		"modules/ntp/manifests/peer.pp": "define ntp::peer($port) {\n  notify { \"${title} ${port}\": }\n}",
	}
	for _, tt := range []struct {
		name string
		at   string        // the breakpoint
		ways []debugger.Go // how it goes on; the last one is Continue
		want string
	}{
		{"a line", "ntp/manifests/init.pp:4", nil, "at init.pp:4 within node, ntp, each: s=a servers=[a] n=2"},
		{"a class", "class ntp", nil, "at class ntp within node, ntp: servers=[a]"},
		{"a define", "define ntp::peer", nil, "at define ntp::peer within ntp::peer: title=a port=2"},
		{"a function", "function upcase", nil, "at function upcase within node, ntp: servers=[a] n=2"},
		{"a resource", "resource Ntp::Peer[a]", nil, "at resource Ntp::Peer[a] within node, ntp, each: servers=[a] n=2"},
		{"a node", "node default", nil, "at node default within node:"},
		{
			"over", "site.pp:2",
			[]debugger.Go{debugger.Over, debugger.Over, debugger.Over},
			"at site.pp:2; at site.pp:3; at site.pp:4; at peer.pp:2",
		},
		{
			"step", "init.pp:2",
			[]debugger.Go{debugger.Step, debugger.Step, debugger.Step, debugger.Step, debugger.Step},
			"at init.pp:2; at init.pp:3; at init.pp:4; at init.pp:8; at site.pp:4; at peer.pp:2",
		},
		{
			"finish", "init.pp:4",
			[]debugger.Go{debugger.Finish, debugger.Finish},
			"at init.pp:4; at init.pp:8; at site.pp:4",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := start(t, files)
			b, err := debugger.Parse("ind=catalog at " + tt.at + " once")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Debugger.Add(b); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() {
				_, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
				ended <- err
			}()
			var got []string
			for _, how := range append(tt.ways, debugger.Continue) {
				h := waitHeld(t, e)
				if got = append(got, h.State.Code.String()); tt.ways == nil {
					got = []string{seen(h.State.Code)}
				}
				if err := e.Debugger.Resume(h.ID, how); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(got, "; "); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// Where a compile is held, variables may get other values: of lambdas, classes, defines and
// of the top scope. What the language sets itself stays. The trace has who changed what.
func TestHeldVariables(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"manifests/site.pp": "$top = 1\nnode default {\n  include ntp\n}",
		"modules/ntp/manifests/init.pp": "class ntp($servers = ['a'], $key = Sensitive('hunter2')) {\n  $n = 2\n  $servers.each |$s| {\n    ntp::peer { $s: port => $n }\n  }\n" +
			"  notify { \"top ${top}\": }\n  notify { \"key ${key.unwrap}\": }\n}",
		"modules/ntp/manifests/peer.pp": "define ntp::peer($port) {\n  notify { \"${title} ${port}\": }\n}",
	}
	for _, tt := range []struct {
		name, at string
		edits    []string
		fails    string // of the last edit
		want     string // a resource of the catalog
		touched  string
	}{
		{"of a lambda", "ntp/manifests/init.pp:4", []string{"$s=b"}, "", "Ntp::Peer[b]", `you changed $s: "a" -> "b" at init.pp:4`},
		{"of a class", "ntp/manifests/init.pp:4", []string{"$n=7"}, "", "Notify[a 7]", "you changed $n: 2 -> 7 at init.pp:4"},
		{"a parameter", "class ntp", []string{`$servers=["x", "y"]`}, "", "Ntp::Peer[y]", `you changed $servers: ["a"] -> ["x", "y"] at class ntp`},
		{"of a define", "define ntp::peer", []string{"$port='the port'"}, "", "Notify[a the port]", `you changed $port: 2 -> "the port" at define ntp::peer`},
		{"of the top scope", "class ntp", []string{"$top=9"}, "", "Notify[top 9]", "you changed $top: 1 -> 9 at class ntp"},
		{"a secret", "class ntp", []string{"$key=new"}, "", "Notify[key new]", "you changed $key: Sensitive [value redacted] -> yours, not shown at class ntp"},
		{"the last one counts", "class ntp", []string{"$top=9", "$top=8"}, "", "Notify[top 8]", "you changed $top: 1 -> 8 at class ntp"},
		{"unknown", "class ntp", []string{"$n=3"}, "edit $n: it has no value here", "Notify[a 2]", ""},
		{"reserved", "class ntp", []string{"$facts={}"}, "edit $facts: the language itself sets it", "Notify[a 2]", ""},
		{"a title", "define ntp::peer", []string{"$title=x"}, "edit $title: the language itself sets it", "Notify[a 2]", ""},
		{"by a breakpoint", "ntp/manifests/init.pp:4 do set $n=5", nil, "", "Notify[a 5]", "breakpoint b1 changed $n: 2 -> 5 at init.pp:4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			e := start(t, files)
			b, err := debugger.Parse("ind=catalog at " + tt.at + " once")
			if err != nil {
				t.Fatal(err)
			}
			if _, err := e.Debugger.Add(b); err != nil {
				t.Fatal(err)
			}
			var resp indirector.Response
			ended := make(chan error, 1)
			go func() {
				var err error
				resp, err = e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
				ended <- err
			}()
			if b.Do == debugger.Hold {
				h, failed := waitHeld(t, e), ""
				for _, text := range tt.edits {
					edit, err := debugger.ParseEdit(text)
					if err != nil {
						t.Fatal(err)
					}
					if _, err := e.Debugger.Edit(h.ID, edit); err != nil {
						failed = err.Error()
					}
				}
				if failed != tt.fails {
					t.Errorf("got the error %q, want %q", failed, tt.fails)
				}
				if err := e.Debugger.Resume(h.ID, debugger.Continue); err != nil {
					t.Fatal(err)
				}
			}
			if err := <-ended; err != nil {
				t.Fatal(err)
			}
			if c := resp.Instance().(*model.Catalog); c.Resource(tt.want) == nil {
				t.Errorf("the catalog has %v, want %s", c.Resources, tt.want)
			}
			if got := strings.Join(traceOf(t, e, resp.Trace).Touched, "; "); got != tt.touched {
				t.Errorf("got  %s\nwant %s", got, tt.touched)
			}
		})
	}
}

// waitHeld returns the request that is held next.
func waitHeld(t *testing.T, e *engine.Engine) debugger.Held {
	t.Helper()
	for {
		if all := e.Debugger.Held(); len(all) > 0 {
			return all[0]
		}
		select {
		case <-e.Debugger.Changed():
		case <-time.After(30 * time.Second):
			t.Fatal("nothing is held")
		}
	}
}

// seen is a place with what is around it, and the variables of manifests there.
func seen(at *indirector.Code) string {
	var calls []string
	for _, c := range at.Calls {
		calls = append(calls, stdcmp.Or(c.Name, "node"))
	}
	text := at.String() + " within " + strings.Join(calls, ", ") + ":"
	for _, p := range at.Variables {
		switch name := p.Key.Str(); name {
		case "s", "n", "servers", "port":
			text += " " + name + "=" + eval.Text(p.Value)
		case "title":
			if p.Value.Str() == "a" {
				text += " title=a"
			}
		}
	}
	return text
}

// A statement fails as a breakpoint wants it to, and a compile that is held goes away with its
// caller.
func TestFailedInCode(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{"manifests/site.pp": "$a = 1\nnotify { 'x': }"})
	b, err := debugger.Parse("at site.pp:2 do fail 'no more' once")
	if err == nil {
		_, err = e.Debugger.Add(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	find := &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"}
	if _, err := e.Once(t.Context(), find); err == nil || !strings.Contains(err.Error(), "no more") || !strings.Contains(err.Error(), "site.pp, line: 2") {
		t.Errorf("got %v", err)
	}
	if b, err = debugger.Parse("at site.pp:1"); err == nil {
		_, err = e.Debugger.Add(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := e.Once(ctx, find)
		ended <- err
	}()
	if err := e.Debugger.Inject(waitHeld(t, e).ID, debugger.Action{Do: debugger.Nil}, debugger.Continue); err == nil {
		t.Error("a program gave an answer")
	}
	cancel()
	if err := <-ended; err == nil {
		t.Error("the compile went on")
	}
	if held := e.Debugger.Held(); len(held) > 0 {
		t.Errorf("left behind: %v", held)
	}
}

// Compiles of one environment go on beside each other while its files change; some are
// cancelled, held, stepped, aborted or let fail at any statement. Nothing is left behind,
// and what is compiled at the end is what the files have then.
func TestParallelCompiles(t *testing.T) {
	t.Parallel()
	class := func(n int) string {
		return fmt.Sprintf("class app {\n  $n = %d\n%s  range(1, 5).each |$i| {\n    app::part { \"p${i}\": n => $n }\n  }\n}\n", n, strings.Repeat("  # grows\n", n))
	}
	e := start(t, map[string]string{
		"manifests/site.pp":             "node default {\n  include app\n  App::Part <| |>\n}",
		"modules/app/manifests/init.pp": class(1),
		"modules/app/manifests/part.pp": "define app::part($n) {\n  notify { \"${title} ${n}\": message => template('app/t.erb') }\n}",
		"modules/app/templates/t.erb":   "<%= @title %> <%= @n %>",
	})
	b, err := debugger.Parse("ind=catalog at define app::part do hold 20%")
	if err == nil {
		_, err = e.Debugger.Add(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	codedir, _ := e.Settings.Get("codedir")
	file := filepath.Join(codedir, "environments/production/modules/app/manifests/init.pp")
	ended := make(chan struct{})
	var user, all sync.WaitGroup
	user.Go(func() { // lets go, in one way or another, of what is held
		for n := 0; ; n++ {
			for _, h := range e.Debugger.Held() {
				switch n++; n % 5 {
				case 0:
					_ = e.Debugger.Abort(h.ID)
				case 1:
					_ = e.Debugger.Inject(h.ID, debugger.Action{Do: debugger.Fail, Text: "by the test"}, debugger.Continue)
				default:
					_ = e.Debugger.Resume(h.ID, debugger.Go(n%5-1)) // step, over, finish
				}
			}
			select {
			case <-ended:
				return
			case <-e.Debugger.Changed():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	find := func(ctx context.Context) (*model.Catalog, error) {
		resp, err := e.Once(ctx, &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
		if err != nil {
			return nil, err
		}
		return resp.Instance().(*model.Catalog), nil
	}
	for i := range 4 {
		all.Go(func() {
			for n := range 15 {
				ctx, cancel := context.WithCancel(t.Context())
				if n%4 == i {
					stop := time.AfterFunc(time.Duration(n)*200*time.Microsecond, cancel)
					defer stop.Stop()
				}
				c, err := find(ctx)
				cancel()
				if err == nil && len(c.Resources) != 15 {
					t.Errorf("a catalog has %d resources", len(c.Resources))
				}
				if err != nil && !regexp.MustCompile("by the test|aborted by you|context canceled|Syntax error").MatchString(err.Error()) {
					t.Error(err)
				}
			}
		})
	}
	for n := range 20 {
		text := class(n + 2)
		if n%7 == 3 {
			text = "class app {" // broken meanwhile
		}
		if err := files.Write(file, []byte(text), files.Options{Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
	}
	all.Wait()
	close(ended)
	user.Wait()
	e.Debugger.SetOff(true)
	c, err := find(t.Context())
	if err != nil || c.Resource("Notify[p3 21]") == nil {
		t.Errorf("the last compile has not what the files have: %v", err)
	}
	if held := e.Debugger.Held(); len(held) > 0 {
		t.Errorf("%d requests are left", len(held))
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
			"Execution of config_version command `/nonexistent/x` failed: Execution of '/nonexistent/x' returned 1:  on node web01",
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

// The trace of a compile has the facts that it read, what was unknown, and how many keys had
// data, each once, where it was first. Rule LANG-TRACE-06.
func TestReads(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{
		"manifests/site.pp": "$a = $facts['os']\n$b = $::facts['os']\n$c = \"${facts['none']} ${::os} ${trusted['certname']} ${server_facts['x']}\"\n" +
			"include ntp\nnotify { \"x${nothing}\": }\n$g = lookup('no', undef, undef, 'd')\n" +
			"$d = inline_template('<%= @os %><%= scope[\"facts\"].size %>')\n[{}].each |$facts| { $e = $facts['x'] }",
		"modules/ntp/manifests/init.pp": "class ntp($servers, $more = $facts['late'], $port = 123) { $f = $nothing }",
	})
	_, _ = e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
	var b strings.Builder
	for _, s := range traceOf(t, e, 1).Spans {
		if strings.HasSuffix(s.Name, "read") || s.Name == "unknown variables" || s.Name == "keys of data" {
			fmt.Fprintf(&b, "%s: %s", s.Name, s.Answer)
			for _, a := range s.Attrs {
				fmt.Fprintf(&b, " [%s %s]", a.Key, a.Value)
			}
			b.WriteString("\n")
		}
	}
	const want = `facts read: 5 [os manifests/site.pp:1] [none manifests/site.pp:3] [os manifests/site.pp:3] [late modules/ntp/manifests/init.pp:1] [facts manifests/site.pp:7]
trusted facts read: 1 [certname manifests/site.pp:3]
unknown variables: 1 [nothing modules/ntp/manifests/init.pp:1]
keys of data: 1 found, 3 without a value
`
	if d := cmp.Diff(want, b.String()); d != "" {
		t.Error(d)
	}
}

// An attribute whose data is of no level of hiera is from what answered in its place.
func TestDataElsewhere(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{
		"manifests/site.pp":             "include ntp",
		"modules/ntp/manifests/init.pp": "class ntp($servers, $port = 123) { }",
	})
	resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
	if err != nil {
		t.Fatal(err)
	}
	class := resp.Instance().(*model.Catalog).Origins.Document(func(s string) string { return s }).Find("Class[Ntp]")
	if d := cmp.Diff([]origins.Source{{From: "data", Level: "terminus few"}}, class.Sources("servers")); d != "" {
		t.Error(d)
	}
	for served, want := range map[traces.Served]string{traces.ByInjection: "injected", traces.ByCache: "cache yaml", traces.ByTerminus: "terminus yaml"} {
		if got := elsewhere(indirector.Response{Served: served, From: "yaml"}); got != want {
			t.Errorf("%v: got %q, want %q", served, got, want)
		}
	}
}

// A define with many parameters sees its title among them.
func TestManyParameters(t *testing.T) {
	t.Parallel()
	var params []string
	for i := range 20 {
		params = append(params, fmt.Sprintf("$p%d = \"%d of ${title}\"", i, i))
	}
	e := start(t, map[string]string{
		"manifests/site.pp":              "many { 'x': p3 => 'three' }",
		"modules/many/manifests/init.pp": "define many(" + strings.Join(params, ", ") + ") { notify { \"${title} ${name} ${p3} ${p19}\": } }",
	})
	resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
	if err != nil {
		t.Fatal(err)
	}
	if c := resp.Instance().(*model.Catalog); c.Resource("Notify[x x three 19 of x]") == nil {
		t.Errorf("the catalog has %v", c.Resources)
	}
}

// Calls of templates are counted and timed like those of manifests.
func TestTemplateCalls(t *testing.T) {
	t.Parallel()
	e := start(t, map[string]string{
		"manifests/site.pp":             "include ntp",
		"modules/ntp/manifests/init.pp": "class ntp { notify { template('ntp/t.erb'): } notify { epp('ntp/t.epp'): } }",
		"modules/ntp/templates/t.erb":   `<%= scope.call_function('upcase', ['a']) %>`,
		"modules/ntp/templates/t.epp":   `<%= downcase('B') %>`,
	})
	resp, err := e.Once(t.Context(), &indirector.Request{Indirection: "catalog", Verb: indirector.Find, Key: "web01"})
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]string{}
	for _, s := range traceOf(t, e, resp.Trace).Spans {
		got[s.Name] = s.Answer
	}
	for _, name := range []string{"call template", "call upcase", "call epp", "call downcase"} {
		if !regexp.MustCompile(`^1 time, \d+\.\d\d ms$`).MatchString(got[name]) {
			t.Errorf("%s: got %q, want once, with its time", name, got[name])
		}
	}
}

// The time of a function is that of its calls, of those within each other once.
func TestCallTimes(t *testing.T) {
	t.Parallel()
	at := time.Unix(0, 0)
	u := &uses{calls: map[string]*calls{}, now: func() time.Time { at = at.Add(time.Millisecond); return at }}
	for range 2 {
		u.call("each")
		u.Began("each")
		u.call("each")
		u.Began("each")
		u.call("size")
		u.Began("size")
		u.Ended("size")
		u.Ended("each")
		u.Ended("each")
	}
	if got := *u.calls["each"]; got.times != 4 || got.took != 6*time.Millisecond || got.open != 0 {
		t.Errorf("each: %+v", got)
	}
	if got := *u.calls["size"]; got.times != 2 || got.took != 2*time.Millisecond {
		t.Errorf("size: %+v", got)
	}
}

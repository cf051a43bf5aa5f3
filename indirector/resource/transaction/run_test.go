package transaction_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

// with gives the nth resource of a catalog a parameter.
func with(c *model.Catalog, n int, name string, v any) *model.Catalog {
	r := &c.Resources[n]
	r.Parameters = data.OfHash(append(r.Parameters.Hash(), data.P(name, data.OfAny(v))))
	return c
}

// A watcher writes down the steps of a run, and fails one of them.
type watcher struct {
	steps []string
	fail  string
}

func (w *watcher) Before(_ context.Context, r *transaction.Resource, step transaction.Step, property string) error {
	if what := fmt.Sprint(r, " ", step, property); what == w.fail {
		return errors.New("stopped there")
	}
	return nil
}

func (w *watcher) After(_ context.Context, r *transaction.Resource, a transaction.Answer) {
	if r.Type != "Probe" {
		return
	}
	var chain []string
	for _, x := range a.Chain {
		chain = append(chain, x.String())
	}
	w.steps = append(w.steps, strings.Join(strings.Fields(fmt.Sprint(r, " ", a.Step, " ", a.Property, " ", a.Because, " ", a.Detail, " ", strings.Join(chain, ","))), " "))
}

func observed(t *testing.T, w *watcher, settings map[string]any, c *model.Catalog) *transaction.Result {
	t.Helper()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings(settings))
	world := &probetest.World{Root: p.dir + "/root"}
	return transaction.Run(t.Context(), c, transaction.Options{
		Settings: agent(m), System: m, Types: allTypes(), Provider: world.Provider, Observer: w,
	})
}

// TestObserver sees each step with its reason.
func TestObserver(t *testing.T) {
	t.Parallel()
	chain := func() *model.Catalog {
		c := with(probes("a", "b:a", "c"), 0, "one", "x")
		return with(c, 2, "subscribe", "Probe[a]")
	}
	for _, tt := range []struct {
		name, fail string
		settings   map[string]any
		want       []string
	}{
		{"a run", "", nil, []string{
			"Probe[a] retrieve", "Probe[a] compare one out-of-sync", "Probe[a] change one", "Probe[a] flush",
			"Probe[b] retrieve", "Probe[b] compare in-sync",
			"Probe[c] retrieve", "Probe[c] compare in-sync", "Probe[c] refresh refreshed-by Probe[a]",
		}},
		{"noop", "", map[string]any{"noop": true}, []string{
			"Probe[a] retrieve", "Probe[a] compare one out-of-sync", "Probe[a] change one noop setting",
			"Probe[b] retrieve", "Probe[b] compare in-sync",
			"Probe[c] retrieve", "Probe[c] compare in-sync", "Probe[c] refresh noop setting Probe[a]",
		}},
		{"a failure", "Probe[a] changeone", nil, []string{
			"Probe[a] retrieve", "Probe[a] compare one out-of-sync", "Probe[a] change one",
			"Probe[b] dependencies dependency-failed Probe[a]", "Probe[c] dependencies dependency-failed Probe[a]",
		}},
		{"a refresh that is lost", "Probe[c] refresh", nil, []string{
			"Probe[a] retrieve", "Probe[a] compare one out-of-sync", "Probe[a] change one", "Probe[a] flush",
			"Probe[b] retrieve", "Probe[b] compare in-sync",
			"Probe[c] retrieve", "Probe[c] compare in-sync", "Probe[c] refresh refresh-lost Probe[a]",
		}},
		{"tags", "", map[string]any{"tags": "other"}, []string{
			"Probe[a] schedule and tags tags other", "Probe[b] schedule and tags tags other", "Probe[c] schedule and tags tags other",
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := &watcher{fail: tt.fail}
			observed(t, w, tt.settings, chain())
			if d := cmp.Diff(tt.want, w.steps); d != "" {
				t.Errorf("want -, got +\n%s", d)
			}
		})
	}
}

// TestDeferred computes deferred values before the run, or before each resource. Rule
// RES-CONV-03.
func TestDeferred(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, function, preprocess, want string
		statuses                         int
	}{
		{"before the run", "upcase", "true", "defined 'one' as 'X'", 9},
		{"before the resource", "upcase", "false", "defined 'one' as 'X'", 9},
		{"a function that there is not, before the run", "nosuch", "true", "Failed to apply catalog: Unknown function: 'nosuch'", 0},
		{"a function that there is not, before the resource", "nosuch", "false", "Failed to apply catalog: Unknown function: 'nosuch'", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			m := p.system(systemtest.Case{}, p.settings(map[string]any{"preprocess_deferred": tt.preprocess}))
			world := &probetest.World{Root: p.dir + "/root"}
			c := with(probes("a", "b"), 1, "one", data.OfHash([]data.Pair{
				data.P("__ptype", data.OfString("Deferred")), data.P("name", data.OfString(tt.function)),
				data.P("arguments", data.OfStrings([]string{"x"})),
			}))
			got := transaction.Run(t.Context(), c, transaction.Options{
				Settings: agent(m), System: m, Types: allTypes(), Provider: world.Provider,
				Resolve: func(_ context.Context, v data.Value) (data.Value, error) {
					if v.Get("name").Str() != "upcase" {
						return v, fmt.Errorf("Unknown function: '%s'", v.Get("name").Str())
					}
					return data.OfString(strings.ToUpper(v.Get("arguments").List()[0].Str())), nil
				},
			})
			found := false
			for _, l := range got.Report.Logs {
				found = found || l.Message == tt.want
			}
			if !found || tt.statuses > 0 && len(got.Report.Statuses) != tt.statuses {
				t.Errorf("%v, %d statuses: %v", got.Report.Logs, len(got.Report.Statuses), got.Err)
			}
		})
	}
}

// TestInterrupt skips what is left, and writes state and report all the same. Rules
// RES-TX-10 and RES-SAFE-04.
func TestInterrupt(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings())
	world := &probetest.World{Root: p.dir + "/root"}
	o := transaction.Options{Settings: agent(m), System: m, Types: allTypes(), Provider: world.Provider}
	o.Stop = func() bool { return len(world.Calls) > 0 }
	got := transaction.Run(t.Context(), with(probes("a", "b:a"), 0, "one", "x"), o)
	skipped := 0
	for _, s := range got.Report.Statuses {
		if s.Skipped {
			skipped++
		}
	}
	if got.Err != nil || got.Report.Status != "changed" || skipped != 8 {
		t.Errorf("%v, %s, %d skipped", got.Err, got.Report.Status, skipped)
	}
	if _, err := os.Stat(p.dir + "/var/state/state.yaml"); err != nil {
		t.Error(err)
	}
}

// TestStateForRuby reads the files of state as Puppet does.
func TestStateForRuby(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("ruby"); err != nil {
		t.Skip("ruby is not installed")
	}
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings())
	world := &probetest.World{Root: p.dir + "/root"}
	c := with(with(probes("a", "b"), 0, "one", "x"), 1, "audit", "all")
	for range 2 { // the second run reads what the first has written
		got := transaction.Run(t.Context(), c, transaction.Options{Settings: agent(m), System: m, Types: allTypes(), Provider: world.Provider})
		if got.Err != nil {
			t.Fatal(got.Err)
		}
	}
	out, err := exec.CommandContext(t.Context(), "ruby", "-ryaml", "-rtime", "-e", `
state = YAML.safe_load(File.read(ARGV[0]), permitted_classes: [Symbol, Time])
puts state['Probe[a]'].map { |k, v| [k.inspect, v.class, (Time.now - v).abs < 3600].join(' ') }
puts state['Probe[b]'].keys.inspect
puts YAML.safe_load(File.read(ARGV[1]), permitted_classes: [Symbol]).inspect`,
		p.dir+"/var/state/state.yaml", p.dir+"/var/state/transactionstore.yaml").CombinedOutput()
	want := `:checked Time true
:synced Time true
[:checked, :ensure, :one, :two, :many, :secret]
{"resources"=>{"Probe[a]"=>{"parameters"=>{"one"=>{"system_value"=>["x"]}, "ensure"=>{"system_value"=>nil}}}, "Probe[b]"=>{"parameters"=>{"ensure"=>{"system_value"=>nil}, "one"=>{"system_value"=>nil}, "two"=>{"system_value"=>nil}, "many"=>{"system_value"=>nil}}}}}
`
	if d := cmp.Diff(want, string(out)); err != nil || d != "" {
		t.Errorf("%v\n%s", err, d)
	}
}

// TestPlanChangesNothing makes a plan where a run would change files and run commands.
// Rule RES-SAFE-01.
func TestPlanChangesNothing(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.system(systemtest.Case{Commands: []systemtest.Rule{}}, p.settings())
	root := p.dir + "/root/"
	if err := os.WriteFile(root+"old", []byte("old\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	state := p.dir + "/var/state/state.yaml"
	if err := os.WriteFile(state, []byte("{["), 0o644); err != nil {
		t.Fatal(err)
	}
	c := catalogOf(t, []byte(`{"name": "n", "catalog_format": 2, "resources": [
		{"type": "File", "title": "`+root+`new", "kind": "compilable_type", "parameters": {"content": "x", "noop": false}},
		{"type": "File", "title": "`+root+`old", "kind": "compilable_type", "parameters": {"ensure": "absent", "noop": false}},
		{"type": "Host", "title": "h", "kind": "compilable_type", "parameters": {"ip": "192.0.2.1"}},
		{"type": "Exec", "title": "/bin/touch `+root+`touched", "kind": "compilable_type", "parameters": {"noop": false}},
		{"type": "Notify", "title": "later", "kind": "compilable_type", "parameters": {"message": {"__ptype": "Deferred", "name": "upcase", "arguments": ["x"]}}},
		{"type": "Service", "title": "s", "kind": "compilable_type", "parameters": {"ensure": "running", "status": "/bin/touch `+root+`touched", "provider": "base"}},
		{"type": "Exec", "title": "checked", "kind": "compilable_type", "parameters": {"command": "/bin/true", "onlyif": "/bin/touch `+root+`touched"}}]}`))
	before := p.tree(t)
	plan, err := transaction.MakePlan(t.Context(), c, transaction.Options{Settings: agent(m), System: m, Types: allTypes()}, false)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(before, p.tree(t)); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
	if text, err := os.ReadFile(state); err != nil || !bytes.Equal(text, []byte("{[")) {
		t.Errorf("the state file has %q, %v", text, err)
	}
	for _, call := range m.Calls() {
		if !call.Looks {
			t.Errorf("%s was run", call.Line())
		}
	}
	if got := plan.Totals.String(); got != "4 to change, 3 cannot be known, 0 in sync" || plan.Totals.Exit() != 2 {
		t.Errorf("%s\n%s", got, plan.Text())
	}
}

func TestConsoleLine(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		level, source, want string
		stderr              bool
	}{
		{"debug", "Puppet", "Debug: x", false},
		{"notice", "/Stage[main]/Main/File[/x]/mode", "Notice: /Stage[main]/Main/File[/x]/mode: x", false},
		{"warning", "", "Warning: x", true},
		{"err", "Puppet", "Error: x", true},
		{"crit", "Puppet", "Critical: x", true},
		{"emerg", "Puppet", "Emergency: x", true},
	} {
		got, stderr := transaction.ConsoleLine(model.Log{Level: tt.level, Source: tt.source, Message: "x"})
		if got != tt.want || stderr != tt.stderr {
			t.Errorf("%s: got %q, %t", tt.level, got, stderr)
		}
	}
}

func TestReadSettings(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]time.Duration{"32d": 32 * 24 * time.Hour, "3600": time.Hour, "5m": 5 * time.Minute, "0": 0, "": 32 * 24 * time.Hour} {
		s := transaction.ReadSettings(transaction.Offline{Settings: func(name string) (string, bool) {
			return map[string]string{"statettl": text, "tags": " Web, a::b ,"}[name], true
		}})
		if s.StateTTL != want || strings.Join(s.Tags, "|") != "web|a::b" {
			t.Errorf("%q: got %v, %q", text, s.StateTTL, s.Tags)
		}
	}
}

// The content of a file that would change is a unified diff, from nothing if it would be
// made; what is secret, long or no text has none.
func TestPlanDiff(t *testing.T) {
	t.Parallel()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings())
	systemtest.Tree{"old": {Content: "a\nb\n"}, "bytes": {Base64: "AAECAw=="}}.Plant(t, p.dir+"/root")
	root := p.dir + "/root/"
	for _, tt := range []struct{ name, parameters, want string }{
		{"old", `"content": "a\nc\n"`, "--- " + root + "old\n+++ " + root + "old\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n"},
		{"new", `"content": "a\n"`, "--- /dev/null\n+++ " + root + "new\n@@ -0,0 +1 @@\n+a\n"},
		{"same mode", `"content": "x", "ensure": "absent"`, ""},
		{"old", `"content": {"__ptype": "Sensitive", "__pvalue": "hunter2"}`, "the diff is [redacted]\n"},
		{"old", `"content": "a\nc\n", "show_diff": false`, "the diff is [redacted]\n"},
		{"bytes", `"content": "a\n"`, "no diff: a content is not text\n"},
		{"old", `"source": "puppet:///modules/web/x"`, ""},
	} {
		c := catalogOf(t, []byte(`{"name": "n", "catalog_format": 2, "resources": [
			{"type": "File", "title": "`+root+tt.name+`", "kind": "compilable_type", "parameters": {`+tt.parameters+`}}]}`))
		plan, err := transaction.MakePlan(t.Context(), c, transaction.Options{Settings: agent(m), System: m, Types: allTypes()}, false)
		if err != nil {
			t.Fatal(err)
		}
		if got := plan.Resources[0].Diff; got != tt.want {
			t.Errorf("%s with %s: got %q, want %q", tt.name, tt.parameters, got, tt.want)
		}
		if is, should := plan.Sides(); is.Len() > 0 && is.Inspect() == should.Inspect() {
			t.Errorf("%s with %s: what is and what should be look alike: %s", tt.name, tt.parameters, is.Inspect())
		}
		if strings.Contains(plan.Text()+plan.Diffs(), "hunter2") {
			t.Errorf("a secret is in %s", plan.Text())
		}
	}
}

package plan_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	resource "indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/command"
	"indirtui/ui/console"
	"indirtui/ui/plan"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

const catalog = `{"name": "web01", "catalog_format": 2, "classes": [], "resources": [
	{"type": "Class", "title": "Web", "kind": "class"},
	{"type": "File", "title": "@ROOT@/a.conf", "file": "web.pp", "line": 3, "kind": "compilable_type", "parameters": {"content": "one\ntwo\n"}},
	{"type": "File", "title": "@ROOT@/secret", "kind": "compilable_type", "parameters": {"content": "(masked pass, 7 B, tag d03a)"}},
	{"type": "Package", "title": "nginx", "kind": "compilable_type", "parameters": {"ensure": "installed"}},
	{"type": "Service", "title": "nginx", "file": "web.pp", "line": 9, "kind": "compilable_type",
	 "parameters": {"ensure": "running", "enable": true, "subscribe": "File[@ROOT@/a.conf]"}},
	{"type": "Exec", "title": "/bin/touch @ROOT@/made", "kind": "compilable_type", "parameters": {"unless": "/bin/touch @ROOT@/asked", "path": "/bin"}}],
	"edges": [{"source": "Class[Web]", "target": "File[@ROOT@/a.conf]"}]}`

// machine is a recorded system with one file that is not as it should be.
func machine(t *testing.T) (*systemtest.System, string) {
	t.Helper()
	root := t.TempDir()
	systemtest.Tree{"a.conf": {Content: "one\n2\n"}}.Plant(t, root)
	return systemtest.New(systemtest.Case{Commands: []systemtest.Rule{
		{Run: "~/usr/bin/dpkg-query .*", Out: "install ok installed nginx 1.22.1-9\n"},
		{Run: "~/usr/bin/systemctl is-active .*", Out: "active\n"},
		{Run: "~/usr/bin/systemctl is-enabled .*", Out: "enabled\n"},
		{Run: "~/usr/bin/systemctl show .*", Out: "no\n"},
	}}, root, resource.New(data.OfHash(nil), func(name string) (string, bool) {
		value, is := map[string]string{"clientbucketdir": root + "/bucket", "digest_algorithm": "sha256"}[name]
		return value, is
	})), root
}

// answered is a log of one find of a catalog.
func answered(t *testing.T, body string) *store.Store {
	t.Helper()
	s, err := store.Open(store.Options{Render: func(string, any) traces.Value {
		return traces.Value{Model: "catalog", Format: "json", Size: len(body), Body: []byte(body)}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	tr := &traces.Trace{Verb: traces.Find, Indirection: "catalog", Key: "web01", Start: uitest.Began, Outcome: traces.Good, Served: traces.ByTerminus}
	tr.ID = s.Begin(tr)
	s.End(tr, uitest.Instance(body))
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	return s
}

func play(t *testing.T, log *store.Store, o console.Options) *uitest.Player {
	t.Helper()
	save := func(name, _ string) (string, int, error) { return name, 0, nil }
	return uitest.New(t, ui.Config{
		Log: log, Asker: new(uitest.Engine), Writable: o.Apply != nil, Save: save,
		Commands: func(env *session.Env) session.Commander { return console.New(t.Context(), env, o) },
	}, 80, 24)
}

// on makes plans for a system.
func on(m *systemtest.System) func(context.Context, *model.Catalog, plan.Want) (plan.Result, error) {
	return func(ctx context.Context, c *model.Catalog, want plan.Want) (plan.Result, error) {
		made, err := transaction.MakePlan(ctx, c, transaction.Options{Settings: transaction.ReadSettings(m), System: m, Types: types.All(), Unknown: want.Unknown}, want.Checks)
		if err != nil {
			return plan.Result{}, err
		}
		view, err := transaction.NewView(c, m, types.All())
		return plan.Result{Plan: made, View: view}, err
	}
}

// A plan runs only commands that look, and leaves every file as it was. Rule RES-SAFE-01.
func TestPlanChangesNothing(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	p := play(t, answered(t, strings.ReplaceAll(catalog, "@ROOT@", root)), console.Options{Plan: on(m)})
	p.Keys("p").Want("plan of #1", "1 to change, 1 restart, 2 cannot be known, 1 in sync")
	calls := m.Calls()
	if len(calls) == 0 {
		t.Error("no command was run")
	}
	for _, call := range calls {
		if !call.Looks {
			t.Errorf("%s was run", call.Line())
		}
	}
	left, err := filepath.Glob(root + "/*")
	text, rerr := os.ReadFile(root + "/a.conf")
	if err != nil || rerr != nil || len(left) != 1 || string(text) != "one\n2\n" {
		t.Errorf("got %q with %q, %v, %v", left, text, err, rerr)
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	p := play(t, answered(t, strings.ReplaceAll(catalog, "@ROOT@", root)), console.Options{Plan: on(m)})
	cursor := func(want string) {
		t.Helper()
		if line := p.Cursor(); !strings.Contains(line, want) {
			t.Errorf("cursor: got %q, want %q\n%s", line, want, p.Frame())
		}
	}
	p.Keys("p")
	cursor("change")
	p.Keys("}")
	cursor("unknown")
	p.Want("cannot be known: content was redacted when")
	p.Keys("{")
	cursor("content differs")
	p.Keys("f", "t").Want("type=File", "2 of 5")
	p.Keys("esc").Want("5 of 5")
	p.Keys("/", "outcome=refresh", "enter").Want("1 of 5")
	cursor("Service[nginx]")
	p.Keys("enter").Want("plan > Service[nginx]", "waits for", "refreshed by")
	p.Keys("j", "enter").Want("plan > File[", "diff", "waited for by").Not("plan > Service")
	p.Keys("v").Want("plan > diff of File[", "-2", "+two")
	p.Keys("esc", "esc").Want("plan > Service[nginx]")
	p.Keys("esc").Want("1 of 5").Keys("esc").Want("5 of 5").Keys("esc").Want("Requests")
	p.Keys(":", "plan #1 checks=maybe", "enter").Want("checks=yes or checks=no?")
}

// A plan is kept: what it was made of leads to it again, until it is made anew.
func TestKept(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	made := on(m)
	runs := make(chan string, 2)
	p := play(t, answered(t, strings.ReplaceAll(catalog, "@ROOT@", root)), console.Options{Plan: func(ctx context.Context, c *model.Catalog, want plan.Want) (plan.Result, error) {
		runs <- want.Run
		return made(ctx, c, want)
	}})
	p.Keys("p", "/", "nginx", "enter").Want("plan of #1", "2 of 5")
	first, looked := <-runs, len(m.Calls())
	if looked == 0 || !strings.HasPrefix(first, traces.PlanRun) {
		t.Errorf("run %q: %d commands", first, looked)
	}
	p.Keys("esc", "esc", "p").Want("plan of #1", "5 of 5", "this plan was made", "ago; p plans anew")
	if calls := m.Calls(); len(calls) > 0 {
		t.Errorf("it was made anew: %v", calls)
	}
	p.Keys("p").Want("1 to change", "planning anew")
	if second := <-runs; second == first || len(m.Calls()) == 0 {
		t.Errorf("it was not made anew: run %s", second)
	}
	p.Keys("esc", ":", "plan #1 checks=no", "enter").Want("plan of #1").Not("this plan was made")
}

// A plan that takes long can be given up, and the screen goes on meanwhile.
func TestCancel(t *testing.T) {
	t.Parallel()
	wants := make(chan plan.Want, 1)
	p := play(t, answered(t, `{"name": "web01", "resources": [], "edges": [], "classes": []}`), console.Options{
		Plan: func(ctx context.Context, _ *model.Catalog, want plan.Want) (plan.Result, error) {
			wants <- want
			<-ctx.Done()
			return plan.Result{}, errors.New("too late")
		},
	})
	p.Patience = time.Second / 10
	p.Keys(":", "plan checks=yes tags=a,b", "enter").Want("esc cancels")
	if want := <-wants; !want.Checks || len(want.Tags) != 2 {
		t.Errorf("got %+v", want)
	}
	p.Keys("esc").Want("no plan was made: stopped by you").Not("too late")
}

// A plan is compared with a marked one, with a plan and a report in files, and what is with
// what should be.
func TestCompare(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	body := strings.ReplaceAll(catalog, "@ROOT@", root)
	kept := map[string]string{
		root + "/plan.json":   `{"catalog": "web01", "totals": {}, "resources": [{"resource": "Package[nginx]", "outcome": "same"}]}`,
		root + "/report.json": `{"host": "web01", "report_format": 12, "logs": [], "metrics": {}, "resource_statuses": {"Package[nginx]": {"resource": "Package[nginx]", "failed": true, "events": []}}}`,
	}
	for name, text := range kept {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	p := play(t, answered(t, body), console.Options{Plan: on(m), Kept: func(path string) (command.Kept, error) {
		return command.ReadKept(path, "", []byte(kept[path]))
	}})
	p.Keys("p", "d").Want("no plan is marked yet: m marks one")
	p.Keys("m").Want("marked: d on another plan compares that with this one")
	p.Keys("d").Want("Compare  plan of #1, marked : plan of #1", "Equal: 0 differences").Keys("tab").Want("only answers to requests have more than a value").Keys("esc")
	p.Keys("D").Want("#1: what is", "#1: what should be", "content", "~").Keys("s").Want("A #1: what should be").Keys("esc")
	p.Keys("w", "json", "enter").Want("plan-web01.json")
	p.Keys("esc", ":", "plan #1 against="+root+"/plan.json", "enter").Want("Compare  plan of #1 : ", "- ").Keys("esc").Want("plan of #1", "1 to change")
	p.Keys("esc", ":", "plan #1 against="+root+"/report.json", "enter").Want("Compare").Keys("G").Want("Service[nginx]").Keys("[", "[").Want(`"fail"`)
	p.Keys("esc", "esc", ":", "plan "+root+"/plan.json", "enter").Want("0 to change, 1 in sync").Keys("enter").Want("plan > Package[nginx]", "is in sync").Keys("esc")
	p.Keys("A").Want("this plan was kept: plan its catalog to apply it")
	p.Keys("esc", ":", "plan "+root+"/report.json", "enter").Want("it is a report, which is no plan")
}

// Puppet looks at what is written in Ruby once that is allowed.
func TestAskHelper(t *testing.T) {
	t.Parallel()
	o := console.Options{Plan: func(_ context.Context, _ *model.Catalog, want plan.Want) (plan.Result, error) {
		r := plan.Result{Plan: &transaction.Plan{Resources: []transaction.Planned{{Resource: "Brick[a]", Outcome: transaction.CannotBeKnown, Detail: "asks"}}}, Foreign: 1}
		if want.Helper {
			r.Plan.Resources[0].Outcome = transaction.Same
		}
		return r, nil
	}}
	p := play(t, answered(t, `{"name": "web01", "resources": [], "edges": [], "classes": []}`), o)
	p.Keys("p").Want("let Puppet look at 1 resource written in Ruby?").Keys("n").Want("cannot be known: asks")
	p.Keys("esc", "p").Want("cannot be known: asks").Not("let Puppet look").Keys("p", "y").Want("is in sync").Not("let Puppet look")
	p.Keys("esc", ":", "plan #1 helper=yes", "enter").Want("is in sync").Not("let Puppet look")
}

// What is planned is applied once the name of the host was typed, and that of the one that
// the catalog is of; then it is planned anew. Rule RES-SAFE-02.
func TestApply(t *testing.T) {
	t.Parallel()
	m, root := machine(t)
	applied := make(chan plan.Confirmed, 1)
	o := console.Options{
		Plan: on(m), Here: func() (user, host string) { return "root", "here" },
		Apply: func(_ context.Context, r *plan.Result, yes plan.Confirmed) ([]string, error) {
			applied <- yes
			return []string{"Notice: of " + r.Catalog.Name + "\n", "Error: not all\n"}, nil
		},
		Kept: func(string) (command.Kept, error) {
			return command.ReadKept("", "json", []byte(strings.Replace(strings.ReplaceAll(catalog, "@ROOT@", root), "(masked pass", "(pass", 1)))
		},
	}
	p := play(t, answered(t, strings.ReplaceAll(catalog, "@ROOT@", root)), o)
	p.Keys("p", "A").Want("its secrets were redacted when it was recorded")
	p.Keys("esc", ":", "plan "+root+"/a.conf", "enter").Want("2 to change")
	p.Keys("A").Want("type here to apply it", "as root on here: 2 to change").Keys("there", "enter").Want("refused: that is another name").Keys("esc")
	p.Keys("A", "here", "enter").Want("the catalog is of web01, and this is here").Keys("here", "enter").Want("refused")
	p.Keys("esc", "A", "here", "enter", "web01", "enter").Want("log of the run", "Notice: of web01", "Error: not all")
	if got := <-applied; got.Host != "here" || got.Of != "web01" || got.Noop || got.Stop() {
		t.Errorf("got %+v", got)
	}
	p.Keys("esc").Want("2 to change")

	// One resource by itself.
	p.Keys("enter").Want("plan > File[" + root + "/a.conf]").Keys("A").Want("this only, without refreshing Service[nginx]")
	p.Keys("here", "enter", "web01", "enter").Want("log of the run").Keys("esc").Want("plan > File["+root+"/a.conf]", "content")
	if got := <-applied; got.Only != "File["+root+"/a.conf]" || got.Host != "here" || got.Of != "web01" {
		t.Errorf("got %+v", got)
	}
	p.Keys("esc", "/", "outcome=refresh", "enter", "enter").Want("plan > Service[nginx]").Keys("A").Want("it is in sync, and is refreshed only with what refreshes it")
}

// A run that goes on is stopped by a key; without leave to write there is none.
func TestApplyStops(t *testing.T) {
	t.Parallel()
	o := console.Options{
		Plan: func(_ context.Context, c *model.Catalog, _ plan.Want) (plan.Result, error) {
			changing := []transaction.Planned{{Resource: "Notify[a]", Outcome: transaction.WouldChange}}
			return plan.Result{Plan: &transaction.Plan{Resources: changing, Totals: transaction.Totals{Change: 1}}}, nil
		},
		Here: func() (user, host string) { return "root", "web01" },
		Apply: func(ctx context.Context, _ *plan.Result, yes plan.Confirmed) ([]string, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("stopped: %t", yes.Stop())
		},
	}
	text := `{"name": "web01", "resources": [{"type": "Notify", "title": "a", "kind": "compilable_type"}], "edges": [], "classes": []}`
	p := play(t, answered(t, text), o)
	p.Patience = time.Second / 10
	p.Keys("p", "A", "web01", "enter").Want("esc stops it before the next resource").Keys("A").Want("it is being applied")
	p.Keys("esc").Want("the resource in hand is finished, the rest is skipped", "ends after this resource")
	p.Keys("esc").Rest(10 * time.Second)
	p.Want("apply: stopped: true", "Notify[a]")
	o.Apply = nil
	play(t, answered(t, text), o).Keys("p", "A").Want("nothing is applied to this machine from here")
}

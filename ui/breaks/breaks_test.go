package breaks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/indirector/terminustest"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/breaks"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// A testEngine answers everything, and stops where its debugger stops it.
type testEngine struct {
	*indirector.Indirector
	debugger *debugger.Debugger
	log      *store.Store
	asked    sync.WaitGroup
}

func newTestEngine(t *testing.T) *testEngine {
	t.Helper()
	d, err := debugger.New(debugger.Options{HoldLimit: -1, Now: store.Options{}.Now})
	if err != nil {
		t.Fatal(err)
	}
	script := terminustest.NewScript(t, "find * → nil", nil)
	reg, err := indirector.NewRegistry([]indirector.Spec{{Name: "facts", Class: "Puppet::Node::Facts", Model: func(indirector.Instance) bool { return true }, Default: "script"}},
		[]indirector.Descriptor{script.Descriptor("facts", "script")})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	x, err := indirector.New(indirector.Config{
		Registry: reg, Recorder: log, Debugger: d, Routes: indirector.Routes{"facts": {Primary: traces.Slot{{Terminus: "script", Kind: traces.FromSetting}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	h := &testEngine{Indirector: x, debugger: d, log: log}
	t.Cleanup(func() {
		d.Close()
		h.asked.Wait()
		_ = x.Close()
		_ = log.Close()
	})
	return h
}

func (h *testEngine) add(t *testing.T, text string) {
	t.Helper()
	b, err := debugger.Parse(text)
	if err == nil {
		_, err = h.debugger.Add(b)
	}
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// hold asks for a key, and waits until that is held.
func (h *testEngine) hold(key string) {
	before := len(h.debugger.Held())
	h.asked.Go(func() {
		_, _ = h.Do(context.Background(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: key}) // which is nothing
	})
	for len(h.debugger.Held()) == before {
		<-h.debugger.Changed()
	}
}

func place(t *testing.T, h *testEngine) *uitest.Player {
	t.Helper()
	cfg := ui.Config{Log: uitest.Site(t), Places: func(env *session.Env) []ui.Place {
		return []ui.Place{{Key: "5", Name: "Breaks", Screen: breaks.New(env)}}
	}}
	if h != nil {
		cfg.Log, cfg.Debugger = h.log, h.debugger
	}
	return uitest.New(t, cfg, 80, 24).Keys("5")
}

// keys are all that do something here, but what lets requests go.
var keys = strings.Fields("j k G g ctrl+d pgup space space e esc a esc L esc y esc u 5 enter esc B esc O O ? esc 3j")

func TestNothing(t *testing.T) {
	t.Parallel()
	place(t, nil).Want("- Breaks ", "This is a recording").Try(keys...)
	p := place(t, newTestEngine(t))
	p.Want("No breakpoints", "0 breakpoints · 0 armed")
	p.Keys("space").Want("not now: this is no breakpoint").Keys("c").Want("not now: nothing is held")
	p.Keys("L").Want("not now: no breakpoint has logged anything")
	p.Try(keys...)
}

func TestOneBreakpoint(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t)
	h.add(t, "ind=facts key=web* before terminus do hold")
	p := place(t, h)
	p.Want("1 breakpoint · 1 armed", "b1", "ind=facts", "before terminus", "hold")
	p.Keys("space").Want("0 armed", "did :break b1 off").Keys("z").Want("1 armed")
	p.Keys("x").Want("No breakpoints", "did :break remove b1").Keys("z").Want("1 breakpoint · 1 armed")
	p.Keys("Z").Want("No breakpoints").Keys("z").Want("1 armed")
	p.Keys("O").Want("everything is off").Keys("O").Not("everything is off")
	p.Keys("u").Want("- Requests ", "  ind=facts key=web* ")
	p.Keys("5").Try(keys...)
}

// What is held is shown below the breakpoints, and can be let go, one or all.
func TestHeld(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t)
	h.add(t, "before terminus do hold")
	for _, key := range []string{"web01", "db\x1b[2J07", strings.Repeat("very-long-", 100)} {
		h.hold(key)
	}
	p := place(t, h)
	p.Want("3 held", "HELD 3", "find facts web01", `db\x1b[2J07`, "before 5 terminus", "others keep running")
	for _, size := range [][2]int{{60, 16}, {140, 40}, {20, 5}, {80, 24}} {
		p.Size(size[0], size[1]).Exact()
	}
	p.Keys("G").Want("very-long-")
	p.Keys("enter").Want("HELD before 5 terminus").Keys("esc")
	p.Keys("g", "j", "c") // the oldest
	p.Sync().Want("2 held").Not("find facts web01")
	p.Keys("C").Want("2 requests go on")
	for h.log.Stats().Held > 0 || len(h.debugger.Held()) > 0 {
		<-h.debugger.Changed()
	}
	p.Sync().Not("HELD 3")
}

// A value that is injected has lines, as one that is edited: what is wrong with it
// is shown where it is written, and it may be written in an editor.
func TestInjectValue(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t)
	h.add(t, "before terminus do hold")
	h.hold("web01")
	p := place(t, h).Keys("G", "enter").Want("HELD before 5 terminus").Keys("i", "v")
	p.Want("answer this", "line 1 of 1", "ctrl+d takes it", "ctrl+o in your editor", "or @FILE")
	p.Keys("ctrl+d").Want("which value?")
	p.Paste("{\"name\": \"web01\",\n \"values\":\n")
	p.Keys("ctrl+d").Want("line 3 of 3", "Could not intern")
	p.Paste(" {\"role\": \"a b\"}}").Want("line 3 of 3").Keys("ctrl+d")
	p.Sync().Want("#1 injected value").Not("line 3 of 3")
	h.debugger.SetOff(true)
	h.asked.Wait()
	tr, err := h.log.Trace(1)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Served != traces.ByInjection {
		t.Errorf("it was answered by %v: %s", tr.Served, traces.Story(tr))
	}
}

// The rest of what can be injected is one line, or none.
func TestInject(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		keys []string
		want string
	}{
		{[]string{"n"}, "#1 injected nil"},
		{[]string{"e", "enter"}, `#1 injected error "connection refused"`},
		{[]string{"4", "enter"}, "#1 injected http code 404"},
		{[]string{"v", "@", "/nowhere.json yaml", "ctrl+d"}, "read the value: stat /nowhere.json: no such file"},
		{[]string{"v", "@", "/nowhere.json latin", "ctrl+d"}, `"latin" is not understood`},
	} {
		h := newTestEngine(t)
		h.add(t, "before terminus do hold")
		h.hold("web01")
		p := place(t, h).Keys("G", "enter", "i").Keys(tt.keys...)
		p.Sync().Want(tt.want)
	}
}

func TestHundreds(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t)
	for i := range 700 {
		h.add(t, fmt.Sprintf("key=web%03d before terminus do log key", i))
	}
	p := place(t, h)
	p.Want("700 breakpoints · 700 armed", "web000").Keys("G").Want("web699").Keys("g", "33j").Want("web033")
	p.Try("G", "k", "pgup", "space", "g")
}

func TestHostileBreakpoints(t *testing.T) {
	t.Parallel()
	h := newTestEngine(t)
	r := rand.New(rand.NewPCG(5, 5))
	for range 40 {
		for _, text := range []string{
			"key=" + query.Quote(uitest.HostileText(r)) + " before terminus do log", "do fail 503 " + query.Quote(uitest.HostileText(r)), "after terminus do value " + query.Quote(uitest.HostileText(r)),
		} {
			if b, err := debugger.Parse(text); err == nil {
				_, _ = h.debugger.Add(b) // what is refused is not shown
			}
		}
	}
	h.debugger.SetOff(false)
	place(t, h).Try(keys...)
}

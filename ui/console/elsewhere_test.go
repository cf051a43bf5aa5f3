package console_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"testing"
	"time"

	"indirtui/indirector/debugger"
	"indirtui/indirector/probe"
	"indirtui/indirector/probe/hold"
	"indirtui/traces"
	"indirtui/ui"
	"indirtui/ui/console"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// An agent is a process that is attached. It makes every swap but those to "no".
type agent struct {
	h     *fake
	d     *debugger.Debugger
	hold  *hold.Holder
	of    probe.Process
	armed chan struct{} // has one slot

	mu    sync.Mutex
	lines []string // that were sent to it
}

func (a *agent) Arm([]probe.Arm) {
	select {
	case a.armed <- struct{}{}:
	default:
	}
}

func (a *agent) Send(_ string, line any) error {
	if s, is := line.(probe.Swap); is {
		a.Swap(s)
	}
	return nil
}

func (a *agent) Swap(s probe.Swap) {
	a.note("swap %s %s=%s for %s %d", s.Ind, s.Slot, s.To, s.For, s.Thread)
	go a.hold.Swapped(a.of, s.ID, "made", s.To == "no")
}

func (a *agent) Unswap(int)                           { a.note("unswap") }
func (a *agent) Processes() []probe.Process           { return []probe.Process{a.of} }
func (a *agent) Number(uint64) (string, uint64, bool) { return "", 0, false }

func (a *agent) note(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.lines = append(a.lines, fmt.Sprintf(format, args...))
}

func (a *agent) last() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.lines) == 0 {
		return ""
	}
	return a.lines[len(a.lines)-1]
}

func newAgent(t *testing.T) *agent {
	t.Helper()
	h := newEngine(t, quiet)
	now := func() time.Time { return noon }
	d, err := debugger.New(debugger.Options{Now: now, Recorder: h.log})
	if err != nil {
		t.Fatal(err)
	}
	a := &agent{h: h, d: d, hold: hold.New(d, now), armed: make(chan struct{}, 1)}
	a.of.Attach = probe.Attach{PID: 4711, App: "agent", Conn: "a", Can: []string{"hold", "swap", "edit.key"}}
	ctx, cancel := context.WithCancel(t.Context())
	var done sync.WaitGroup
	done.Go(func() { a.hold.Follow(ctx, a) })
	<-a.armed
	t.Cleanup(func() { cancel(); d.Close(); done.Wait() })
	return a
}

// holds lets a find of node be held.
func (a *agent) holds(t *testing.T, answers chan<- probe.Go) {
	t.Helper()
	b, err := debugger.Parse("before terminus do hold")
	if err == nil {
		_, err = a.d.Add(b)
	}
	if err != nil {
		t.Fatal(err)
	}
	tr := &traces.Trace{Verb: traces.Find, Indirection: "node", Key: "web01", Start: noon, Primary: traces.Slot{{Terminus: "exec", Kind: traces.FromSetting}}}
	tr.ID = a.h.log.Begin(tr)
	var held probe.Held
	if err := json.Unmarshal([]byte(`{"held":7,"step":"terminus","thread":3,"key":"web01"}`), &held); err != nil {
		t.Fatal(err)
	}
	held.Trace, held.Process = tr, a.of
	go func() { answers <- a.hold.Held(context.Background(), &held) }()
	for len(a.d.Held()) == 0 {
		<-a.d.Changed()
	}
}

func (a *agent) play(t *testing.T) *uitest.Player {
	o := options(a.h)
	return uitest.New(t, ui.Config{
		Log: a.h.log, Debugger: a.d, Processes: a.hold, Now: func() time.Time { return noon },
		Commands: func(env *session.Env) session.Commander { return console.New(t.Context(), env, o) },
	}, 140, 40)
}

// Routes of other processes change for one request, for a thread, or for all, and back.
func TestRoutesElsewhere(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	answers := make(chan probe.Go, 1)
	a.holds(t, answers)
	p := a.play(t)
	for _, tt := range []struct{ line, sent, want string }{
		{"route node terminus=plain for=process", "swap node terminus=plain for process 0", "puppet agent (pid 4711): made"},
		{"swap node yaml for=thread", "swap node terminus=yaml for thread 3", "did :route node terminus=yaml for=thread"},
		{"route node cache=off for=process", "swap node cache=off for process 0", "did :route node cache=off for=process"},
		{"swap", "", "node terminus=yaml for=thread"},
	} {
		p.Command(tt.line)
		p.Sync().Keys("~").Want(tt.want).Keys("esc")
		if got := a.last(); tt.sent != "" && got != tt.sent {
			t.Errorf("%s: sent %q, want %q", tt.line, got, tt.sent)
		}
	}
	p.Keys("z")
	if got := a.last(); got != "unswap" {
		t.Errorf("undone by %q", got)
	}
	for line, want := range map[string]string{
		"route facts terminus=yaml for=thread": "#1 asks for node, not for facts",
		"route node terminus=yaml for=me":      "there are: request, thread, process",
		"route node for=process":               "swap what?",
		"route node ttl=60 for=process":        "write terminus=T or cache=C",
	} {
		p.Command(line).Want(want)
	}
	p.Command("route node terminus=no for=process")
	p.Sync().Keys("~").Want("puppet agent (pid 4711): made").Keys("esc")
	p.Command("swap node plain for=request")
	p.Command("continue")
	if g := <-answers; g.Terminus != "plain" {
		t.Errorf("went on with %+v", g)
	}
}

// What a breakpoint cannot do there is printed when it is set.
func TestBreakElsewhere(t *testing.T) {
	t.Parallel()
	a := newAgent(t)
	p := a.play(t)
	p.Command("break ind=node out=nil after terminus do log").Keys("~").Want("other processes cannot test out=nil").Keys("esc")
	p.Command("break at class ntp do hold").Keys("~").Want("nothing stops at class ntp in other processes")
}

package breaks_test

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/indirector/engine"
	"indirtui/indirector/probe"
	"indirtui/indirector/probe/hold"
	"indirtui/indirector/redact"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/breaks"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

// A server is a Puppet Server with one instance, that holds a request.
type server struct {
	t        *testing.T
	debugger *debugger.Debugger
	holder   *hold.Holder
	log      *store.Store
	process  probe.Process
	answers  chan probe.Go
	armed    chan struct{} // has one slot
	sent     sync.WaitGroup
}

func (s *server) Arm([]probe.Arm) {
	select {
	case s.armed <- struct{}{}:
	default:
	}
}
func (s *server) Send(string, any) error               { return nil }
func (s *server) Swap(probe.Swap)                      {}
func (s *server) Unswap(int)                           {}
func (s *server) Processes() []probe.Process           { return []probe.Process{s.process} }
func (s *server) Number(uint64) (string, uint64, bool) { return "", 0, false }

// newServer has a probe that can do some things.
func newServer(t *testing.T, can ...string) *server {
	t.Helper()
	now := func() time.Time { return noon }
	log, err := store.Open(store.Options{Now: now})
	if err != nil {
		t.Fatal(err)
	}
	d, err := debugger.New(debugger.Options{Now: now, Recorder: log})
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, debugger: d, log: log, holder: hold.New(d, now), answers: make(chan probe.Go, 1), armed: make(chan struct{}, 1)}
	s.process.Attach = probe.Attach{PID: 815, App: "server", Conn: "a", Can: append([]string{"hold"}, can...), Instances: 1}
	ctx, cancel := context.WithCancel(t.Context())
	s.sent.Go(func() { s.holder.Follow(ctx, s) })
	<-s.armed // it knows the process
	t.Cleanup(func() {
		cancel()
		d.Close()
		s.sent.Wait()
		_ = log.Close()
	})
	return s
}

func (s *server) add(text string) {
	s.t.Helper()
	b, err := debugger.Parse(text)
	if err == nil {
		_, err = s.debugger.Add(b)
	}
	if err != nil {
		s.t.Fatal(err)
	}
}

// hold holds a find of facts before its cache is read, and waits until it is.
func (s *server) hold() {
	s.t.Helper()
	s.holdAt(traces.Find, `"step":"cache read"`)
}

// holdAt holds a request about facts. More is what its line has.
func (s *server) holdAt(verb traces.Verb, more string) {
	s.t.Helper()
	tr := &traces.Trace{
		Verb: verb, Indirection: "facts", Key: "web01", Environment: "production", Start: noon.Add(-time.Second), Caller: "agent web01",
		Primary: traces.Slot{{Terminus: "puppetdb", Kind: traces.FromRoutesFile, Source: "routes.yaml:4"}},
		Cache:   traces.Slot{{Terminus: "yaml", Kind: traces.FromApplication, Source: "puppet/server/puppet_config.rb:95"}},
	}
	tr.From = &traces.Instance{Name: "puppetserver-815", Number: 7}
	tr.Steps[traces.Route] = traces.Question{Answer: traces.Chosen, Because: traces.Because{Reason: traces.ByRoutesFile, About: "routes.yaml:4"}}
	tr.ID = s.log.Begin(tr)
	var held probe.Held
	line := `{"held":7,` + more + `,"thread":3,"key":"web01","env":"production","options":[{"name":"transaction_uuid","value":"0c9e"}],
		"behind":[["http_read_timeout",600000000000],["borrow-timeout",1200000000000]]}`
	if err := json.Unmarshal([]byte(line), &held); err != nil {
		s.t.Fatal(err)
	}
	held.Trace, held.Process = tr, s.process
	s.sent.Go(func() { s.answers <- s.holder.Held(context.Background(), &held) })
	for len(s.debugger.Held()) == 0 {
		<-s.debugger.Changed()
	}
}

// silent answers nothing.
type silent struct{}

func (silent) Do(context.Context, *indirector.Request) (indirector.Response, error) {
	return indirector.Response{}, indirector.ErrNotFound
}

func (s *server) play(width, height int) *uitest.Player {
	render := engine.NewRenderer(redact.New(redact.Rules{})).Render
	return uitest.New(s.t, ui.Config{
		Log: s.log, Debugger: s.debugger, Render: func(inst indirector.Instance) traces.Value { return render("facts", inst) }, Processes: s.holder, Asker: silent{}, Now: func() time.Time { return noon },
		Places: func(env *session.Env) []ui.Place {
			return []ui.Place{{Key: "5", Name: "Breaks", Screen: breaks.New(env)}}
		},
	}, width, height).Keys("5")
}

// A request of another process shows who waits, its plan from what was announced, and
// the reason why a key does not work.
func TestElsewhere(t *testing.T) {
	t.Parallel()
	uitest.Sizes(t, func(t *testing.T, name string, width, height int) {
		s := newServer(t, "edit.key", "fail")
		s.add("ind=facts out=run before cache-read do hold")
		s.hold()
		p := s.play(width, height)
		p.Golden("elsewhere-breaks-" + name)
		p.Keys("G", "enter").Golden("elsewhere-" + name)
	})
}

func TestElsewhereKeys(t *testing.T) {
	t.Parallel()
	for _, size := range [][2]int{{80, 24}, {140, 40}} {
		s := newServer(t, "edit.key", "fail")
		s.add("ind=facts before cache-read do hold")
		s.hold()
		p := s.play(size[0], size[1])
		p.Keys("G", "enter").Want("HELD before 4 cache read", "IN  puppetserver (pid 815", "stops the whole server (1 JRuby instance)", "http_read_timeout in 10:00, borrow-timeout in 20:00", "not looked into")
		p.Keys("e", "j", "enter").Want("not now: the probe in puppetserver (pid 815) cannot do that")
		p.Keys("k", "enter", "ctrl+u", "web02", "enter").Want("web01 -> web02")
		p.Keys("e", "r").Want("not now: puppetserver-815 asked it, which is not asked from here")
		p.Keys("i", "n").Want("not there: the probe in puppetserver (pid 815) cannot do that")
		p.Keys("i", "e", "enter").Sync().Want("injected error")
		g := <-s.answers
		if g.Key == nil || *g.Key != "web02" || g.Fail == nil || g.Fail.Message != "connection refused" || g.Do != "step" {
			t.Errorf("got %+v", g)
		}
	}
}

// What is saved is shown, and can be edited.
func TestElsewhereSave(t *testing.T) {
	t.Parallel()
	s := newServer(t, "value")
	s.add("ind=facts verb=save before terminus do hold")
	s.holdAt(traces.Save, `"step":"terminus","answer":{"model":"facts","format":"json","text":"{\"name\":\"web01\",\"values\":{\"kernel\":\"Linux\"}}","redacted":0}`)
	p := s.play(140, 40)
	p.Keys("G", "enter").Want("(what is saved)")
	p.Keys("e", "j", "j", "j", "j", "enter").Want(`"kernel": "Linux"`)
}

// A breakpoint that the other process cannot test is marked.
func TestElsewhereNote(t *testing.T) {
	t.Parallel()
	s := newServer(t)
	s.add("ind=facts out=nil after terminus do log")
	s.play(140, 40).Want("other processes cannot test out=nil", "see below")
}

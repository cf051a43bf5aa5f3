package hold_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/debugger"
	"indirtui/indirector/probe"
	"indirtui/indirector/probe/hold"
	"indirtui/traces"
	"indirtui/traces/leaktest"
	"indirtui/traces/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A site is a debugger that holds requests of processes.
type site struct {
	*debugger.Debugger
	*hold.Holder
	*probe.Listener
	store *store.Store
	path  string
}

func newSite(t testing.TB, o debugger.Options) *site {
	t.Helper()
	log, err := store.Open(store.Options{Body: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	o.Recorder = log
	d, err := debugger.New(o)
	if err != nil {
		t.Fatal(err)
	}
	dir, err := os.MkdirTemp("", "hold") // a path of a socket is short
	if err != nil {
		t.Fatal(err)
	}
	s := &site{Debugger: d, Holder: hold.New(d, nil), store: log, path: filepath.Join(dir, "attach")}
	if s.Listener, err = probe.Listen(probe.Options{Store: log, Path: s.path, Holder: s.Holder}); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	followed := make(chan struct{})
	go func() { s.Follow(ctx, s.Listener); close(followed) }()
	t.Cleanup(func() {
		cancel()
		<-followed
		d.Close()
		if err := s.Listener.Close(); err != nil {
			t.Error(err)
		}
		if err := log.Close(); err != nil {
			t.Error(err)
		}
		_ = os.RemoveAll(dir)
	})
	return s
}

func (s *site) add(t testing.TB, text string) debugger.Info {
	t.Helper()
	b, err := debugger.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	info, err := s.Add(b)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// one waits for a held request.
func (s *site) one(t testing.TB) debugger.Held {
	t.Helper()
	var all []debugger.Held
	s.until(t, "a held request", func() bool { all = s.Debugger.Held(); return len(all) == 1 })
	return all[0]
}

// until waits for something that happens on other goroutines.
func (s *site) until(t testing.TB, what string, yes func() bool) {
	t.Helper()
	limit := time.After(10 * time.Second)
	for tick := time.NewTicker(time.Millisecond); !yes(); {
		select {
		case <-tick.C:
		case <-limit:
			t.Fatalf("waited for %s", what)
		}
	}
}

// ended waits for a request that has ended, and returns it.
func (s *site) ended(t testing.TB, id uint64) *traces.Trace {
	t.Helper()
	s.until(t, "the end of a request", func() bool {
		row, ok := s.store.Row(id)
		return ok && row.Outcome != traces.Run && row.Outcome != traces.HeldOutcome
	})
	if err := s.store.Flush(); err != nil {
		t.Fatal(err)
	}
	tr, err := s.store.Trace(id)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

// A process is the other side: it does what a probe would.
type process struct {
	t   testing.TB
	out net.Conn
	in  *bufio.Reader
}

const allCan = `"hold","edit.key","edit.flags","edit.env","edit.options","value","fail","swap"`

// attach lets a process come. More are fields of its first line.
func (s *site) attach(t testing.TB, n int, can, more string) *process {
	t.Helper()
	dial := func(first string) net.Conn {
		c, err := net.Dial("unix", s.path)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = c.Close() })
		if _, err := fmt.Fprintln(c, first); err != nil {
			t.Fatal(err)
		}
		return c
	}
	app := "agent"
	if strings.HasPrefix(more, `,"instances"`) {
		app = "server"
	}
	p := &process{t: t, out: dial(fmt.Sprintf(`{"attach":1,"conn":"%032x","pid":%d,"app":%q,"puppet":"7.23.0","can":[%s]%s}`, n, 4710+n, app, can, more))}
	p.in = bufio.NewReader(dial(fmt.Sprintf(`{"listen":1,"conn":"%032x","pid":%d}`, n, 4710+n)))
	return p
}

func (p *process) write(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := fmt.Fprintln(p.out, l); err != nil {
			p.t.Fatal(err)
		}
	}
}

// next returns the next line that is no ping.
func (p *process) next() string {
	p.t.Helper()
	for {
		line, err := p.in.ReadString('\n')
		if err != nil {
			p.t.Fatal(err)
		}
		if line = strings.TrimSpace(line); line != `{"ping":1}` {
			return line
		}
	}
}

// wants reads a line that has to be as a text, whose numbers of arms do not count.
func (p *process) wants(want string) (arm int) {
	p.t.Helper()
	line := p.next()
	var got map[string]any
	if err := json.Unmarshal([]byte(line), &got); err != nil {
		p.t.Fatal(err)
	}
	delete(got, "limit")
	for _, name := range []string{"arm", "disarm"} {
		if n, is := got[name].(float64); is {
			arm, got[name] = int(n), 0
		}
	}
	b, err := json.Marshal(got)
	if err != nil {
		p.t.Fatal(err)
	}
	if string(b) != want {
		p.t.Errorf("got  %s\nwant %s", b, want)
	}
	return arm
}

const begin = `{"route":1,"ind":"facts","primary":[{"terminus":"yaml","by":"application","place":"apply.rb:2"}],"caches":[{"terminus":"json","by":"routes file","place":"routes.yaml:4"}]}
{"begin":12,"at":1,"verb":"find","ind":"facts","key":"web01","env":"production","thread":7,"route":1}`

// heldLine is a request that is held before or after a step.
func heldLine(step, more string) string {
	return fmt.Sprintf(`{"held":12,"step":%q,"arm":1,"at":5,"thread":7,"key":"web01","flags":["ignore_cache"],"env":"production","options":[{"name":"server","value":"a"}],"steps":[{"step":"route","is":"chosen","why":"application"}]%s}`, step, more)
}

func traceLine(out string) string {
	return fmt.Sprintf(`{"trace":12,"t":"2026-11-28T00:00:00Z","took":5000,"verb":"find","ind":"facts","key":"web01","env":"production","out":%q,"route":1,"steps":[{"step":"route","is":"chosen"}]}`, out)
}

// A request is held, edited and goes on; what was done is part of it.
func TestHeldAndEdited(t *testing.T) {
	t.Parallel()
	s := newSite(t, debugger.Options{})
	s.add(t, "ind=facts key=web* before terminus do hold")
	p := s.attach(t, 1, allCan, "")
	p.wants(`{"arm":0,"do":"hold","ind":"facts","key":"web*","step":"terminus"}`)
	p.write(begin, heldLine("terminus", `,"behind":[["runtimeout",3600000000000],["http_read_timeout",600000000000]]`))
	h := s.one(t)
	if got := h.State.Home.String(); got != "puppet agent (pid 4711)" {
		t.Errorf("held in %q", got)
	}
	if got := h.Where().String(); got != "before terminus" || h.By != "b1" {
		t.Errorf("held %s by %s", got, h.By)
	}
	if len(h.Waiters) != 1 || h.Waiters[0].Name != "runtimeout" {
		t.Errorf("waiters: %v", h.Waiters)
	}
	plan, err := s.Plan(t.Context(), h.ID)
	if err != nil {
		t.Fatal(err)
	}
	if plan.Why != "terminus yaml would be asked" || plan.Unseen != "not looked into: that lies in puppet agent (pid 4711)" || plan.Cache != "json" {
		t.Errorf("plan: %+v", plan)
	}
	for _, e := range []debugger.Edit{
		{Name: "key", Value: "web02"},
		{Name: "env", Value: "qa"},
		{Name: "ignore_cache", Value: "false"},
		{Name: "ignore_cache_save", Value: "true"},
		{Name: "opt.server", Value: ""},
		{Name: "opt.port", Value: "1"},
		{Name: "terminus", Value: "memory"},
	} {
		if _, err := s.Edit(h.ID, e); err != nil && e.Name != "ignore_cache" {
			t.Errorf("%s: %v", e, err)
		}
	}
	if err := s.Resume(h.ID, debugger.Continue); err != nil {
		t.Fatal(err)
	}
	p.wants(`{"do":"continue","env":"qa","flags":{"ignore_cache_save":true},"go":12,"key":"web02","options":{"port":"1","server":null},"terminus":"memory"}`)
	p.write(`{"went":12,"why":"go"}`, traceLine("ok"))
	tr := s.ended(t, h.ID)
	if len(tr.Touched) != 1 || !strings.HasPrefix(tr.Touched[0], "you changed key: web01 -> web02, env: production -> qa") {
		t.Errorf("touched: %q", tr.Touched)
	}
	if len(tr.Spans) != 1 || tr.Spans[0].Kind != traces.Held || tr.Spans[0].Name != "held by b1" || tr.Held == 0 {
		t.Errorf("spans: %+v, held %s", tr.Spans, tr.Held)
	}
}

// What a breakpoint does is done in the process.
func TestActions(t *testing.T) {
	t.Parallel()
	const facts = `,"done":true,"answer":{"model":"facts","text":"{\"name\":\"web01\",\"values\":{\"os\":\"Debian\"}}"}`
	for _, tt := range []struct{ name, action, held, want string }{
		{"fail", "before terminus do fail 'connection refused'", heldLine("terminus", ""), `{"do":"continue","fail":{"message":"connection refused"},"go":12}`},
		{"fail with a status", "before terminus do fail 503", heldLine("terminus", ""), `{"do":"continue","fail":{"class":"Net::HTTPError","message":"Error 503 on SERVER: Service Unavailable"},"go":12}`},
		{"nil", "before terminus do nil", heldLine("terminus", ""), `{"do":"continue","go":12,"nil":true}`},
		{"a 404 is nil", "before terminus do fail 404", heldLine("terminus", ""), `{"do":"continue","go":12,"nil":true}`},
		{"skip", "before cache-write do skip", heldLine("cache write", ""), `{"do":"continue","go":12,"skip":true}`},
		{"set", "before terminus do set key=web02 ignore_cache=true", heldLine("terminus", ""), `{"do":"continue","go":12,"key":"web02"}`},
		{"value", `before terminus do value {"name":"web01","values":{"os":"BSD"}}`, heldLine("terminus", ""), `{"do":"continue","go":12,"value":{"format":"json","model":"facts","text":"{\"name\":\"web01\",\"values\":{\"os\":\"BSD\"}}"}}`},
		{"truncate", "after terminus do truncate 10", heldLine("terminus", facts), `{"do":"continue","fail":{"message":"Could not intern from json: unexpected end at line 1 column 11"},"go":12}`},
		{"delay", "before terminus do delay 1ms", heldLine("terminus", ""), `{"do":"continue","go":12}`},
		{"none that is meant", "out=err before terminus do hold", heldLine("terminus", ""), `{"do":"continue","go":12}`},
		{"an answer that is meant", "out=ok after terminus do nil", heldLine("terminus", facts), `{"do":"continue","go":12,"nil":true}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, debugger.Options{})
			s.add(t, tt.action)
			p := s.attach(t, 1, allCan, "")
			p.next()
			p.write(begin, tt.held)
			p.wants(tt.want)
		})
	}
}

// A value that is too long for a line comes before it, in pieces.
func TestLongValue(t *testing.T) {
	t.Parallel()
	s := newSite(t, debugger.Options{})
	s.add(t, "before terminus do hold")
	p := s.attach(t, 1, allCan, "")
	p.next()
	p.write(begin, heldLine("terminus", ""))
	text := `{"name":"web01","values":{"long":"` + strings.Repeat("ü\\u0001", 20000) + `"}}`
	if err := s.Inject(s.one(t).ID, debugger.Action{Do: debugger.Value, Text: text}, debugger.Continue); err != nil {
		t.Fatal(err)
	}
	var whole string
	for {
		line := p.next()
		var piece probe.Piece
		if err := json.Unmarshal([]byte(line), &piece); err != nil {
			t.Fatal(err)
		}
		if len(line) > 64<<10 {
			t.Fatalf("a line has %d bytes", len(line))
		}
		if whole += piece.Text; piece.Number == 0 {
			if want := `{"go":12,"do":"continue","value":{"model":"facts","format":"json","text":""}}`; line != want {
				t.Errorf("got %s, want %s", line, want)
			}
			break
		}
	}
	if whole != text {
		t.Errorf("the value has %d bytes, want %d", len(whole), len(text))
	}
}

// Steps are stops of one request and of what it asks.
func TestStepping(t *testing.T) {
	t.Parallel()
	s := newSite(t, debugger.Options{})
	s.add(t, "ind=facts before cache-read do hold once")
	p := s.attach(t, 1, allCan, "")
	p.wants(`{"arm":0,"do":"hold","ind":"facts","step":"cache read"}`)
	p.write(begin, heldLine("cache read", ""))
	h := s.one(t)
	p.wants(`{"disarm":0}`) // it was for once
	if err := s.Resume(h.ID, debugger.Step); err != nil {
		t.Fatal(err)
	}
	only := p.wants(`{"arm":0,"do":"hold","nested":true,"only":12}`)
	p.wants(`{"do":"step","go":12}`)
	p.write(`{"went":12,"why":"go"}`, heldLine("terminus", ""))
	if h = s.one(t); h.By != "step" || h.Where().String() != "before terminus" {
		t.Errorf("held %s by %s", h.Where(), h.By)
	}
	if err := s.Resume(h.ID, debugger.Continue); err != nil {
		t.Fatal(err)
	}
	if off := p.wants(`{"disarm":0}`); off != only {
		t.Errorf("disarmed %d, want %d", off, only)
	}
	p.wants(`{"do":"continue","go":12}`)
	p.write(`{"went":12,"why":"go"}`, traceLine("ok"))
	if tr := s.ended(t, h.ID); len(tr.Spans) != 2 || tr.Spans[0].ID == tr.Spans[1].ID {
		t.Errorf("spans: %+v", tr.Spans)
	}
}

// A request that runs is held at its next step; an injection that needs the answer waits
// for that.
func TestRunningRequest(t *testing.T) {
	t.Parallel()
	s := newSite(t, debugger.Options{})
	p := s.attach(t, 1, allCan, "")
	p.write(begin)
	s.until(t, "the request", func() bool { row, ok := s.store.Row(1); return ok && row.Key == "web01" })
	s.HoldNext(1)
	p.wants(`{"arm":0,"do":"hold","nested":true,"only":12}`)
	p.write(heldLine("terminus", ""))
	if err := s.Inject(s.one(t).ID, debugger.Action{Do: debugger.Truncate, Bytes: 3}, debugger.Continue); err != nil {
		t.Fatal(err)
	}
	later := p.wants(`{"arm":0,"do":"hold","done":true,"only":12,"step":"terminus"}`)
	p.wants(`{"disarm":0}`)
	p.wants(`{"do":"continue","go":12}`)
	p.write(`{"went":12,"why":"go"}`, heldLine("terminus", `,"done":true,"answer":{"model":"facts","redacted":2}`))
	if off := p.wants(`{"disarm":0}`); off != later {
		t.Errorf("disarmed %d, want %d", off, later)
	}
	p.wants(`{"do":"continue","go":12}`)
	p.write(`{"went":12,"why":"go"}`, traceLine("ok"))
	const want = "you: truncate: the answer is not here: it lies in puppet agent (pid 4711)"
	if tr := s.ended(t, 1); len(tr.Spans) != 2 || tr.Spans[1].Name != want {
		t.Errorf("spans: %+v", tr.Spans)
	}
}

// A request that goes on without us is not held any more, and its trace has the reason.
func TestGone(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, line, want string }{
		{"by its limit", `{"went":12,"why":"limit"}`, "in puppet agent (pid 4711) it went on by itself in the process: limit"},
		{"the process ends", "", "in puppet agent (pid 4711) the process has gone"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, debugger.Options{})
			s.add(t, "before terminus do hold")
			p := s.attach(t, 1, allCan, "")
			p.next()
			p.write(begin, heldLine("terminus", ""))
			id := s.one(t).ID
			if tt.line == "" {
				_ = p.out.Close()
			} else {
				p.write(tt.line, traceLine("ok"))
			}
			tr := s.ended(t, id)
			if len(s.Debugger.Held()) != 0 || len(tr.Touched) != 1 || tr.Touched[0] != tt.want {
				t.Errorf("held %d, touched %q", len(s.Debugger.Held()), tr.Touched)
			}
		})
	}
}

// What a probe cannot do is refused with a reason.
func TestDisabled(t *testing.T) {
	t.Parallel()
	s := newSite(t, debugger.Options{})
	s.add(t, "before terminus do hold")
	p := s.attach(t, 1, `"hold","edit.key"`, `,"instances":1`)
	p.next()
	p.write(begin, heldLine("terminus", `,"behind":[["http_read_timeout",600000000000]]`))
	h := s.one(t)
	const cannot = "the probe in puppetserver (pid 4711) cannot do that"
	for name, want := range map[string]string{
		"key": "", "env": cannot, "opt.server": cannot, "terminus": cannot, "ignore_cache_save": cannot,
		"ignore_cache": "the cache read step is done",
	} {
		if got := h.Disabled(name); got != want {
			t.Errorf("%s: got %q, want %q", name, got, want)
		}
	}
	if err := s.Inject(h.ID, debugger.Action{Do: debugger.Fail}, debugger.Continue); err == nil || err.Error() != "inject fail: "+cannot {
		t.Errorf("got %v", err)
	}
	var names []string
	for _, w := range h.Waiters {
		names = append(names, w.Name)
	}
	if got, want := strings.Join(names, ", "), "http_read_timeout, borrow-timeout (not known; by default), the whole server (1 JRuby instance)"; got != want {
		t.Errorf("waits %s, want %s", got, want)
	}
}

func TestSwaps(t *testing.T) {
	t.Parallel()
	s := newSite(t, debugger.Options{})
	s.add(t, "before terminus do hold")
	p := s.attach(t, 1, allCan, "")
	p.next()
	id, err := s.Holder.Swap("node", "terminus", "exec")
	if err != nil {
		t.Fatal(err)
	}
	p.wants(fmt.Sprintf(`{"for":"process","ind":"node","slot":"terminus","swap":%d,"to":"exec"}`, id))
	p.write(fmt.Sprintf(`{"swapped":%d,"ind":"node","slot":"terminus","to":"exec","was":"plain","for":"process"}`, id))
	texts, refused := s.Await(t.Context(), id)
	if want := "puppet agent (pid 4711): the terminus of node is exec now, for this process; it was plain"; refused || len(texts) != 1 || texts[0] != want {
		t.Errorf("answered %q, %v", texts, refused)
	}
	late := s.attach(t, 2, allCan, "")
	late.next()
	late.wants(fmt.Sprintf(`{"for":"process","ind":"node","slot":"terminus","swap":%d,"to":"exec"}`, id))
	if !s.Undo(id) || s.Undo(id) {
		t.Error("it can be undone once")
	}
	p.wants(fmt.Sprintf(`{"unswap":%d}`, id))
	p.write(begin, heldLine("terminus", ""))
	if id, err = s.SwapThread(s.one(t).ID, "terminus", "memory"); err != nil {
		t.Fatal(err)
	}
	p.wants(fmt.Sprintf(`{"for":"thread","ind":"facts","slot":"terminus","swap":%d,"thread":7,"to":"memory"}`, id))
	p.write(fmt.Sprintf(`{"refused":"swap","id":%d,"why":"Could not find terminus memory"}`, id))
	if texts, refused := s.Await(t.Context(), id); !refused || len(texts) != 1 || !strings.HasSuffix(texts[0], "is refused: Could not find terminus memory") {
		t.Errorf("answered %q, %v", texts, refused)
	}
}

func TestCompile(t *testing.T) {
	t.Parallel()
	s := newSite(t, debugger.Options{})
	s.attach(t, 1, allCan, "")
	s.until(t, "the process", func() bool { return len(s.Processes()) > 0 })
	for _, tt := range []struct{ text, arms, note string }{
		{"before route do hold", `[{"arm":0,"step":"route","do":"hold"}]`, ""},
		{"ind=facts key=web* verb=find after cache-read do hold", `[{"arm":0,"step":"cache read","done":true,"verb":"find","ind":"facts","key":"web*","do":"hold"}]`, ""},
		{"ind in (facts, node) terminus=yaml do fail", `[{"arm":0,"step":"terminus","ind":"facts","terminus":"yaml","do":"hold"},{"arm":0,"step":"terminus","ind":"node","terminus":"yaml","do":"hold"}]`, ""},
		{"key=a[1] ind=f* do hold", `[{"arm":0,"step":"terminus","do":"hold"}]`, ""},
		{"ind=catalog out=nil prev(ind=node) after terminus do hold", `[{"arm":0,"step":"terminus","done":true,"ind":"catalog","do":"hold"}]`, "other processes cannot test out=nil, prev(ind=node): each request that gets there waits for a moment until this program has"},
		{"at class ntp do hold", "null", "nothing stops at class ntp in other processes: only their requests can be held, not their programs"},
		{"before expiry-set do hold", "null", "nothing stops before expiry-set in other processes: Puppet dates an answer on its way from the terminus to the cache"},
	} {
		t.Run(tt.text, func(t *testing.T) {
			b, err := debugger.Parse(tt.text)
			if err != nil {
				t.Fatal(err)
			}
			arms, _ := hold.Compile(&b)
			if got, _ := json.Marshal(arms); string(got) != tt.arms {
				t.Errorf("got  %s\nwant %s", got, tt.arms)
			}
			if got := s.Note(&b); got != tt.note {
				t.Errorf("got %q, want %q", got, tt.note)
			}
		})
	}
}

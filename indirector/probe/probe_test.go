package probe_test

import (
	"bufio"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/probe"
	"indirtui/traces"
	"indirtui/traces/leaktest"
	"indirtui/traces/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A site is a listener with its store.
type site struct {
	*probe.Listener
	store *store.Store
}

func newSite(t testing.TB, change func(*probe.Options)) *site {
	t.Helper()
	s, err := store.Open(store.Options{Body: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	o := probe.Options{Store: s, Path: filepath.Join(private(t), "attach")}
	if change != nil {
		change(&o)
	}
	l, err := probe.Listen(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return &site{l, s}
}

// private is a directory that only this user may enter, with a short path.
func private(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "probe")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

// A process is the other side: it writes lines as a probe would.
type process struct {
	t    testing.TB
	name string
	out  net.Conn
	in   *bufio.Reader
}

// names are names of connections.
func connName(n int) string { return fmt.Sprintf("%032x", n) }

func attachLine(name, app string, pid int) string {
	return fmt.Sprintf(`{"attach":1,"conn":%q,"pid":%d,"ruby":"ruby 3.1.2","puppet":"7.23.0","app":%q,"mono":1000,"wall":1700000000000001000,"can":["hold"]}`, name, pid, app)
}

func (s *site) attach(t testing.TB, name, app string, pid int) *process {
	t.Helper()
	p := &process{t: t, name: name, out: s.dial(t)}
	p.write(attachLine(name, app, pid))
	in := s.dial(t)
	if _, err := fmt.Fprintf(in, `{"listen":1,"conn":%q,"pid":%d}`+"\n", name, pid); err != nil {
		t.Fatal(err)
	}
	p.in = bufio.NewReader(in)
	return p
}

// attachTwo attaches the connections 0xa and 0xb of the processes 1 and 2, in that order.
func (s *site) attachTwo(t testing.TB, first, second string) (a, b *process) {
	t.Helper()
	a = s.attach(t, connName(0xa), first, 1)
	s.until(t, "the first", func() bool { return len(s.Processes()) == 1 })
	b = s.attach(t, connName(0xb), second, 2)
	s.until(t, "both", func() bool { return len(s.Processes()) == 2 })
	return a, b
}

func (s *site) dial(t testing.TB) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", s.Path())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func (p *process) write(lines ...string) {
	p.t.Helper()
	for _, l := range lines {
		if _, err := fmt.Fprintln(p.out, l); err != nil {
			p.t.Fatal(err)
		}
	}
}

// next is the next line that is no ping.
func (p *process) next() string {
	p.t.Helper()
	for {
		line := p.read()
		if line != `{"ping":1}` {
			return line
		}
	}
}

func (p *process) read() string {
	p.t.Helper()
	line, err := p.in.ReadString('\n')
	if err != nil {
		p.t.Fatal(err)
	}
	return strings.TrimSpace(line)
}

// until waits for something that the listener does meanwhile.
func (s *site) until(t testing.TB, what string, done func() bool) {
	t.Helper()
	for late := time.After(10 * time.Second); !done(); {
		select {
		case <-s.store.Changed():
		case <-time.After(10 * time.Millisecond): // what is no change of the store
		case <-late:
			t.Fatalf("waited for %s; the events are %v", what, s.store.Events())
		}
	}
}

func (s *site) rows() []store.Row {
	rows := make([]store.Row, 100)
	return rows[:s.store.Rows(0, rows)]
}

func (s *site) ended(t testing.TB, n uint64) {
	t.Helper()
	s.until(t, fmt.Sprintf("%d requests", n), func() bool {
		var all uint64
		for _, p := range s.Processes() {
			all += p.Requests
		}
		return all >= n
	})
}

func traceLine(number, parent int, ind, rest string) string {
	above := ""
	if parent > 0 {
		above = fmt.Sprintf(`,"parent":%d,"pstep":"terminus"`, parent)
	}
	return fmt.Sprintf(`{"trace":%d,"t":"2026-11-28T00:00:00.%09dZ","took":1000,"verb":"find","ind":%q,"key":"web01"%s%s,"served":"terminus","steps":[{"step":"terminus","is":"ok","why":"returned"}]}`, number, number, ind, above, rest)
}

// Numbers are those of the store, whatever the order in which requests end.
func TestNumbers(t *testing.T) {
	t.Parallel()
	lines := map[string]string{
		"begin parent": `{"begin":1,"at":2000,"verb":"find","ind":"catalog","key":"web01","caller":"puppet/configurer.rb:10"}`,
		"begin child":  `{"begin":2,"at":3000,"verb":"find","ind":"node","key":"web01","parent":1,"pstep":"terminus"}`,
		"child":        traceLine(2, 1, "node", ""),
		"parent":       traceLine(1, 0, "catalog", `,"spans":[{"id":1,"step":"terminus","kind":"nested","name":"find node","request":2}]`),
	}
	for _, order := range [][]string{
		{"begin parent", "begin child", "child", "parent"},
		{"begin parent", "begin child", "parent", "child"},
		{"child", "parent"},
		{"begin child", "child", "parent"},
		{"begin child", "begin parent", "parent", "child"},
		{"begin parent", "child", "parent"},
	} {
		t.Run(strings.Join(order, ", "), func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			p := s.attach(t, connName(1), "agent", 4711)
			for _, l := range order {
				p.write(lines[l])
			}
			s.ended(t, 2)
			rows := s.rows()
			if len(rows) != 2 {
				t.Fatalf("got %d rows, want 2", len(rows))
			}
			parent, child := rows[0], rows[1]
			if parent.Indirection != "catalog" || child.Parent != parent.ID || child.ID < parent.ID {
				t.Errorf("got #%d %s below #%d, and #%d %s", child.ID, child.Indirection, child.Parent, parent.ID, parent.Indirection)
			}
			if l := s.store.Links(parent.ID); len(l.Children) != 1 || l.Children[0] != child.ID {
				t.Errorf("the children of #%d are %v", parent.ID, l.Children)
			}
			for _, r := range rows {
				if r.Outcome != traces.Good || r.Instance != "agent-4711" || r.Run == "" || r.Run != parent.Run {
					t.Errorf("got %+v", r)
				}
			}
			tr, err := s.store.Trace(parent.ID)
			if err != nil {
				t.Fatal(err)
			}
			if got := tr.Spans[0].Request; got != child.ID {
				t.Errorf("the span names #%d, want #%d", got, child.ID)
			}
			v := s.store.View(nil)
			for !v.Extend(0) {
			}
			if v.Len() != 2 {
				t.Errorf("a view has %d requests, want 2", v.Len())
			}
		})
	}
}

// A process that stands still, as one that is stopped or whose machine has gone, keeps
// its sockets open: it is cut off when it has not read for a while, with what it has
// begun, and others are not held up.
func TestStandsStill(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	still, other := s.attachTwo(t, "agent", "apply")
	still.write(`{"begin":1,"at":2000,"verb":"find","ind":"catalog","key":"web01"}`)
	s.until(t, "both to be asked", func() bool { return s.There("agent-1") && s.There("apply-2") && len(s.rows()) == 1 })
	asked := make(chan error, 1)
	go func() {
		_, err := s.Open(t.Context(), "agent-1", 1)
		asked <- err
	}()
	for s.Processes()[0].Why == "" {
		s.Values(true) // each is a line for every process
		if got := other.next(); got != `{"values":"on"}` {
			t.Fatalf("the other process got %s", got)
		}
	}
	if err := <-asked; err == nil {
		t.Error("who has asked it for a value waits no longer, and got no error")
	}
	tr, err := s.store.Trace(1)
	if err != nil {
		t.Fatal(err)
	}
	all := s.Processes()
	if tr.Outcome != traces.Err || !strings.Contains(all[0].Why, "be read") || !all[0].Gone || all[1].Gone {
		t.Errorf("the request is %v, and the processes are %+v", tr.Outcome, all)
	}
}

// A request that runs is a row, and ends with its connection.
func TestRunning(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	p := s.attach(t, connName(1), "apply", 7)
	p.write(`{"begin":1,"at":2000,"verb":"find","ind":"catalog","key":"web01"}`, `{"log":"warning","message":"old","count":18,"trace":1}`)
	s.until(t, "a row", func() bool { return len(s.rows()) == 1 })
	if r := s.rows()[0]; r.Outcome != traces.Run || !r.Start.Equal(time.Unix(0, 1700000000000002000)) {
		t.Errorf("got %v since %v", r.Outcome, r.Start)
	}
	_ = p.out.Close()
	s.until(t, "its end", func() bool { return s.Processes()[0].Gone })
	tr, err := s.store.Trace(1)
	if err != nil {
		t.Fatal(err)
	}
	if tr.Outcome != traces.Err || !strings.Contains(tr.Error, "connection to the process ended") {
		t.Errorf("got %v, %q", tr.Outcome, tr.Error)
	}
	if len(tr.Notes) != 1 || tr.Notes[0].Text != "log warning: old (18 times)" {
		t.Errorf("got notes %v", tr.Notes)
	}
}

// What an agent asks of a server is below the request that sent it, also if the
// agent's own line comes later.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	agent, server := s.attachTwo(t, "agent", "server")
	sent := fmt.Sprintf("00-%s-%012x%04x-01", connName(0xa), 5, 1)
	server.write(`{"begin":1,"at":1,"verb":"find","ind":"catalog","key":"web01","traceparent":"` + sent + `"}`)
	s.until(t, "the server's", func() bool { return len(s.rows()) == 1 })
	agent.write(`{"begin":5,"at":1,"verb":"find","ind":"catalog","key":"web01"}`)
	s.until(t, "the agent's", func() bool { return len(s.rows()) == 2 })
	server.write(traceLine(1, 0, "catalog", `,"run":"0c9a2f1e-0000-4000-8000-000000000001","traceparent":"`+sent+`"`))
	agent.write(traceLine(5, 0, "catalog", `,"run":"0c9a2f1e-0000-4000-8000-000000000001"`))
	s.ended(t, 2)
	rows := s.rows()
	if rows[0].Instance != "agent-1" || rows[1].Instance != "puppetserver-2" || rows[1].Parent != rows[0].ID {
		t.Errorf("got %+v\nand %+v", rows[0], rows[1])
	}
	for _, r := range rows {
		if r.Transaction != "0c9a2f1e-0000-4000-8000-000000000001" && r.Run != "0c9a2f1e-0000-4000-8000-000000000001" {
			t.Errorf("#%d has the run %q, %q", r.ID, r.Run, r.Transaction)
		}
	}
	if got, want := probe.Titles(s.Processes()), "puppet agent (pid 1), puppetserver (pid 2)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// What is asked below an exchange, and nested before what asked it has begun, is in the
// run of the agent.
func TestTraceparentEarly(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	agent, server := s.attachTwo(t, "agent", "server")
	sent := func(number, exchange int) string {
		return fmt.Sprintf(`,"run":"0c9a2f1e-0000-4000-8000-000000000001","traceparent":"00-%s-%012x%04x-01"`, connName(0xa), number, exchange)
	}
	server.write(traceLine(2, 1, "node", sent(5, 1)), traceLine(1, 0, "catalog", sent(5, 1)), traceLine(3, 0, "file_content", sent(0, 7)))
	s.ended(t, 3)
	agent.write(traceLine(5, 0, "catalog", ""), `{"exchange":7,"at":5,"took":7,"method":"GET","url":"https://puppet:8140/puppet/v3/file_content/modules/a/b","status":200}`)
	s.ended(t, 5)
	below := map[string]string{}
	names := map[uint64]string{}
	for _, r := range s.rows() {
		names[r.ID] = r.Instance + " " + r.Indirection
		below[names[r.ID]] = names[r.Parent]
		if r.Run != "0000000000000000000000000000000a"[:8] {
			t.Errorf("%s has the run %q", names[r.ID], r.Run)
		}
	}
	for what, want := range map[string]string{
		"puppetserver-2 node": "puppetserver-2 catalog", "puppetserver-2 catalog": "agent-1 catalog", "puppetserver-2 file_content": "agent-1 http",
	} {
		if below[what] != want {
			t.Errorf("%s is below %q, want %q", what, below[what], want)
		}
	}
}

// A line that is none ends its connection with a message, and no other one.
func TestBadLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, line, want string }{
		{"no JSON", "hello", "no object of JSON"},
		{"another kind", `{"shell":"rm"}`, `no line of the kind "shell"`},
		{"broken", `{"trace":1,"t":`, "unexpected end of JSON"},
		{"no number", `{"trace":0,"verb":"find"}`, "needs a number"},
		{"negative", `{"begin":-1}`, "cannot unmarshal"},
		{"step", `{"trace":1,"steps":[{"step":"dance","is":"ok"}]}`, `no step "dance"`},
		{"long", `{"trace":1,"key":"` + strings.Repeat("x", 70_000) + `"}`, "longer than 65536 bytes"},
		{"value", `{"value":1,"name":"secret"}`, `no value "secret"`},
		{"part", `{"value":1,"name":"value","part":2,"parts":2}`, "where part 1 is due"},
		{"held", `{"held":4,"step":"route"}`, "request 4 does not run"},
		{"again", `{"begin":9}` + "\n" + `{"begin":9}`, "request 9 has begun before"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			other := s.attach(t, connName(2), "apply", 2)
			p := s.attach(t, connName(1), "apply", 1)
			p.write(tt.line)
			s.until(t, "the end", func() bool {
				for _, e := range s.store.Events() {
					if strings.Contains(e.Text, "its connection was ended") && strings.Contains(e.Text, tt.want) {
						return true
					}
				}
				return false
			})
			other.write(traceLine(1, 0, "facts", ""))
			s.until(t, "the other one", func() bool {
				for _, r := range s.rows() {
					if r.Instance == "apply-2" {
						return true
					}
				}
				return false
			})
		})
	}
}

func TestFirstLines(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, line, want string }{
		{"version", `{"attach":2,"conn":"` + connName(1) + `"}`, "has version 2"},
		{"name", `{"attach":1,"conn":"x"}`, "not 32 hexadecimal digits"},
		{"zeros", `{"attach":1,"conn":"` + connName(0) + `"}`, "not 32 hexadecimal digits"},
		{"neither", `{"trace":1}`, "did not begin with"},
		{"no process", `{"listen":1,"conn":"short"}`, "no name of one that waits"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newSite(t, nil)
			c := s.dial(t)
			if _, err := fmt.Fprintln(c, tt.line); err != nil {
				t.Fatal(err)
			}
			s.until(t, tt.want, func() bool {
				e := s.store.Events()
				return len(e) > 0 && strings.Contains(e[0].Text, tt.want)
			})
		})
	}
}

// What is in force comes first, then a ping.
func TestArms(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	s.Arm([]probe.Arm{{ID: 3, Step: "route", Ind: "facts", Do: "hold"}})
	s.Values(true)
	s.Swap(probe.Swap{ID: 1, Ind: "node", Slot: "terminus", To: "plain", For: "process"})
	p := s.attach(t, connName(1), "apply", 1)
	for _, want := range []string{
		`{"arm":3,"step":"route","ind":"facts","do":"hold"}`, `{"swap":1,"ind":"node","slot":"terminus","to":"plain","for":"process"}`,
		`{"values":"on"}`, `{"ping":1}`,
	} {
		if got := p.read(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	s.Arm([]probe.Arm{{ID: 4, Step: "caller", Do: "hold"}})
	for _, want := range []string{`{"arm":4,"step":"caller","do":"hold"}`, `{"disarm":3}`} {
		if got := p.next(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A holder is a Holder that is a function.
type holder func(context.Context, *probe.Held) probe.Go

func (f holder) Held(ctx context.Context, h *probe.Held) probe.Go { return f(ctx, h) }

func (holder) Swapped(probe.Process, int, string, bool) {}
func (holder) Ended(*traces.Trace)                      {}

func TestHeld(t *testing.T) {
	t.Parallel()
	begin, held := `{"begin":1,"at":1,"verb":"find","ind":"facts","key":"web01"}`,
		`{"held":1,"step":"terminus","key":"web01","limit":1000,"steps":[{"step":"route","is":"chosen"}],"behind":[["runtimeout",5]],"answer":null,"error":null}`
	t.Run("without a holder", func(t *testing.T) {
		t.Parallel()
		p := newSite(t, nil).attach(t, connName(1), "apply", 1)
		p.write(begin, held)
		if got := p.next(); got != `{"go":1,"do":"continue"}` {
			t.Errorf("got %s", got)
		}
	})
	t.Run("with one", func(t *testing.T) {
		t.Parallel()
		decide := make(chan probe.Go)
		s := newSite(t, func(o *probe.Options) {
			o.Holder = holder(func(_ context.Context, h *probe.Held) probe.Go {
				if h.Trace.Steps[traces.Route].Answer != traces.Chosen || h.Trace.Indirection != "facts" || h.Behind[0] != (probe.Limit{Name: "runtimeout", Left: 5}) || h.Process.PID != 1 {
					t.Errorf("got %+v of %+v", h, h.Trace)
				}
				return <-decide
			})
		})
		p := s.attach(t, connName(1), "apply", 1)
		p.write(begin, held)
		s.until(t, "the hold", func() bool { return len(s.rows()) == 1 && s.rows()[0].Outcome == traces.HeldOutcome })
		key := "web02"
		if conn, number, ok := s.Number(s.rows()[0].ID); conn != connName(1) || number != 1 || !ok {
			t.Errorf("got request %d of %s", number, conn)
		}
		decide <- probe.Go{Do: "step", Key: &key}
		if got := p.next(); got != `{"go":1,"do":"step","key":"web02"}` {
			t.Errorf("got %s", got)
		}
		p.write(`{"went":1,"why":"go"}`)
		s.until(t, "its going on", func() bool { return s.rows()[0].Outcome == traces.Run })
	})
	t.Run("without a begin", func(t *testing.T) {
		t.Parallel()
		s := newSite(t, nil)
		p := s.attach(t, connName(1), "apply", 1)
		p.write(`{"held":7,"step":"route","verb":"find","ind":"facts","key":"web01","began":5,"steps":[],"flags":["ignore_cache"]}`)
		if got := p.next(); got != `{"go":7,"do":"continue"}` {
			t.Errorf("got %s", got)
		}
		if r := s.rows()[0]; r.Indirection != "facts" || r.Verb != traces.Find || r.Flags != traces.IgnoreCache {
			t.Errorf("got %+v", r)
		}
	})
	t.Run("gone", func(t *testing.T) {
		t.Parallel()
		over := make(chan struct{})
		s := newSite(t, func(o *probe.Options) {
			o.Holder = holder(func(ctx context.Context, _ *probe.Held) probe.Go {
				<-ctx.Done()
				if cause := context.Cause(ctx); cause.Error() != "the process has gone" {
					t.Errorf("got %v", cause)
				}
				close(over)
				return probe.Go{}
			})
		})
		p := s.attach(t, connName(1), "apply", 1)
		p.write(begin, held)
		s.until(t, "the hold", func() bool { return len(s.Processes()) == 1 && s.Processes()[0].Held == 1 })
		_ = p.out.Close()
		<-over
	})
}

func TestValues(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	p := s.attach(t, connName(1), "apply", 1)
	p.write(`{"value":1,"name":"value","model":"facts","part":1,"parts":2,"text":"{\"a\":"}`, `{"value":1,"name":"value","model":"facts","part":2,"parts":2,"text":"1}"}`, traceLine(1, 0, "facts", ""))
	s.ended(t, 1)
	if err := s.store.Flush(); err != nil {
		t.Fatal(err)
	}
	tr, err := s.store.Trace(1)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := s.store.Body(tr.Value()); err != nil || string(b) != `{"a":1}` || tr.Value().Model != "facts" {
		t.Errorf("got %q of %q, %v", b, tr.Value().Model, err)
	}
}

// Routes are named by numbers; an exchange without a request is a row of its own.
func TestRoutesAndExchanges(t *testing.T) {
	t.Parallel()
	s := newSite(t, nil)
	p := s.attach(t, connName(1), "agent", 1)
	p.write(`{"route":7,"ind":"catalog","terminus":"rest","primary":[{"terminus":"rest","by":"application","place":"puppet/application/agent.rb:12"},{"terminus":"compiler","by":"default in code"}],"caches":[{"terminus":"json","by":"application","place":"x.rb:1"}]}`,
		traceLine(1, 0, "catalog", `,"route":7`),
		`{"exchange":1,"at":5,"took":7,"method":"GET","url":"https://puppet:8140/puppet/v3/file_content/modules/a/b?environment=production","status":404,"reason":"Not Found","place":"puppet/type/file/source.rb:9"}`,
		`{"log":"err","message":"bad"}`, `{"dropped":17}`, `{"bye":1,"faults":2,"last":"NoMethodError: x","requests":1,"exit":4}`)
	s.ended(t, 2)
	r := s.rows()
	if r[0].Terminus != "rest" || r[0].Cache != "json" || r[0].SetBy != traces.FromApplication {
		t.Errorf("got %+v", r[0])
	}
	if r[1].Indirection != "http" || r[1].Key != "/puppet/v3/file_content/modules/a/b" || r[1].Outcome != traces.NilHidden || r[1].Run != r[0].Run {
		t.Errorf("got %+v", r[1])
	}
	if table := s.Routes("agent-1"); len(table) != 1 || table[0].Primary[1].Terminus != "compiler" {
		t.Errorf("got %+v", table)
	}
	s.until(t, "the end", func() bool { return s.Processes()[0].Faults == 2 })
	if got := s.Processes()[0]; got.Dropped != 17 || got.Fault != "NoMethodError: x" {
		t.Errorf("got %+v", got)
	}
}

func TestSocket(t *testing.T) {
	t.Parallel()
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	dir := private(t)
	path := filepath.Join(dir, "indirtui", "attach")
	open := func(path string) (*probe.Listener, error) { return probe.Listen(probe.Options{Store: s, Path: path}) }
	first, err := open(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]os.FileMode{path: 0o600, filepath.Dir(path): 0o700} {
		if info, err := os.Stat(name); err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: got %v, %v, want %v", name, info.Mode(), err, want)
		}
	}
	if _, err := open(path); err == nil || !strings.Contains(err.Error(), "another program listens there") {
		t.Errorf("a second listener: got %v", err)
	}
	if err := first.Close(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(path); !os.IsNotExist(err) {
		t.Errorf("after Close: got %v", err)
	}
	shared := filepath.Join(dir, "shared")
	if err := os.Mkdir(shared, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		filepath.Join(shared, "attach"):              "its mode must be 700",
		filepath.Join(dir, "file"):                   "there is something else",
		filepath.Join(dir, strings.Repeat("x", 120)): "longer than 103 bytes",
	} {
		if _, err := open(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", path, err, want)
		}
	}
	if _, err := probe.Listen(probe.Options{Store: s, Path: path, For: "no-such-user"}); err == nil {
		t.Error("a user who is not there was admitted")
	}
	other, err := user.Lookup("daemon")
	if os.Getuid() != 0 || err != nil {
		return // only root can give the socket away
	}
	if _, err := probe.Listen(probe.Options{Store: s, Path: filepath.Join(private(t), "attach"), For: "daemon"}); err == nil || !strings.Contains(err.Error(), "user "+other.Uid+" cannot enter") {
		t.Errorf("a directory of another user: got %v", err)
	}
	given, err := probe.Listen(probe.Options{Store: s, Path: path, For: "daemon"})
	if err != nil {
		t.Fatal(err)
	}
	defer given.Close()
	if out, err := exec.Command("stat", "-c", "%u %a", path, filepath.Dir(path)).Output(); err != nil || string(out) != other.Uid+" 600\n"+other.Uid+" 700\n" {
		t.Errorf("got %q, %v", out, err)
	}
}

func FuzzLine(f *testing.F) {
	f.Add([]byte(`{"begin":1,"at":2000,"verb":"find","ind":"catalog","key":"web01"}` + "\n" + traceLine(1, 0, "catalog", "")))
	f.Add([]byte(`{"route":7,"ind":"node","primary":[{"terminus":"exec"}]}` + "\n" + traceLine(2, 1, "node", `,"route":7`)))
	f.Add([]byte(`{"begin":1}` + "\n" + `{"held":1,"step":"route","spans":[{}]}` + "\n" + `{"went":1}`))
	f.Add([]byte(`{"value":1,"name":"sent","part":1,"parts":1,"text":"\u001b[2J"}` + "\n" + `{"exchange":1,"url":"::"}` + "\n" + `{"log":"x","trace":1}`))
	f.Add([]byte(`{"dropped":1}` + "\n" + `{"bye":1,"faults":1}` + "\n" + `{"swapped":1}` + "\n" + `{"refused":"swap"}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		s, err := store.Open(store.Options{Details: 16, Rows: 1 << 17})
		if err != nil {
			t.Fatal(err)
		}
		line, leave, err := probe.NewDecoder(&probe.Options{Store: s}, []byte(attachLine(connName(1), "apply", 1)))
		if err != nil {
			t.Fatal(err)
		}
		for l := range strings.SplitSeq(string(b), "\n") {
			if err = line([]byte(l)); err != nil {
				break
			}
		}
		leave(err)
		for id := uint64(1); id < 8; id++ {
			if row, ok := s.Row(id); ok && (row.Outcome == traces.Run || row.Parent >= id) {
				t.Errorf("#%d is %v below #%d", id, row.Outcome, row.Parent)
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
}

// BenchmarkLines is how many lines a second four processes may write.
func BenchmarkLines(b *testing.B) {
	s := newSite(b, nil)
	const processes = 4
	line := traceLine(1, 0, "file_metadata", `,"route":7,"spans":[{"id":1,"step":"terminus","kind":"network","name":"GET https://puppet:8140/puppet/v3/file_metadata/modules/a/b","is":"200 OK","took":100}]`)
	_, rest, _ := strings.Cut(line, ",")
	var all []*process
	for i := range processes {
		all = append(all, s.attach(b, connName(i+1), "agent", i+1))
		all[i].write(`{"route":7,"ind":"file_metadata","terminus":"rest","primary":[{"terminus":"rest","by":"application","place":"x.rb:1"}]}`)
	}
	b.ResetTimer()
	n := b.N/processes + 1
	failed := make(chan error, processes)
	for _, p := range all {
		go func() {
			w := bufio.NewWriterSize(p.out, 1<<15)
			for i := range n {
				fmt.Fprintf(w, `{"begin":%d,"at":%d,"verb":"find","ind":"file_metadata","key":"modules/a/b"}`+"\n"+`{"trace":%d,%s`+"\n", i+1, i, i+1, rest)
			}
			failed <- w.Flush()
		}()
	}
	for range all {
		if err := <-failed; err != nil {
			b.Fatal(err)
		}
	}
	s.until(b, "all", func() bool {
		for _, p := range s.Processes() {
			if p.Requests < uint64(n) {
				return false
			}
		}
		return true
	})
	b.ReportMetric(float64(2*n*processes)/b.Elapsed().Seconds(), "lines/s")
	if got := s.store.Stats(); got.Total != uint64(n*processes) {
		b.Errorf("got %d requests, want %d", got.Total, n*processes)
	}
}

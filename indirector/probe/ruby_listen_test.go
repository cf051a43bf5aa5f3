package probe_test

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A message is a line of a probe, as it came and read, with its connection.
type message struct {
	conn string
	raw  string
	of   map[string]any
}

// is reports whether the message is of a kind: "trace", "held".
func (m *message) is(kind string) bool { return strings.HasPrefix(m.raw, `{"`+kind+`":`) }

func (m *message) text(name string) string { s, _ := m.of[name].(string); return s }

func (m *message) num(name string) int { n, _ := m.of[name].(float64); return int(n) }

// step returns what a trace or a held request has of a step: its answer and its
// reason.
func (m *message) step(name string) string {
	steps, _ := m.of["steps"].([]any)
	for _, s := range steps {
		if s := s.(map[string]any); s["step"] == name {
			about := ""
			if s["about"] != nil {
				about = fmt.Sprintf("(%v)", s["about"])
			}
			return fmt.Sprintf("%v %v%s", s["is"], s["why"], about)
		}
	}
	return ""
}

// A listener is a small indirtui: it keeps all lines, and answers held requests if
// it is given what with.
type listener struct {
	path  string
	deaf  bool // nothing is read until awake is called
	quiet bool // what is read is thrown away

	ready func(send func(line string)) // before the first ping of each connection
	held  func(m *message) string      // what a held request goes on with; "" leaves it held

	ln    net.Listener
	done  sync.WaitGroup
	awake func()

	mu       sync.Mutex
	news     chan struct{} // closed when something came
	messages []message
	ins      map[string]net.Conn
	open     []net.Conn
	closed   bool
	problems []string
}

// listenHere starts a listener on a socket in a directory of its own.
func listenHere(t testing.TB, l *listener) *listener {
	t.Helper()
	if l.path == "" {
		dir, err := os.MkdirTemp("", "probe")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = os.RemoveAll(dir) })
		l.path = filepath.Join(dir, "s")
	}
	var err error
	_ = os.Remove(l.path)
	if l.ln, err = net.Listen("unix", l.path); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(l.path, 0o777); err != nil { // Puppet Server is another user
		t.Fatal(err)
	}
	l.news, l.ins = make(chan struct{}), map[string]net.Conn{}
	woken := make(chan struct{})
	l.awake = sync.OnceFunc(func() { close(woken) })
	l.done.Go(func() {
		for {
			c, err := l.ln.Accept()
			if err != nil {
				return
			}
			l.mu.Lock()
			if l.closed {
				_ = c.Close()
			}
			l.open = append(l.open, c)
			l.mu.Unlock()
			l.done.Go(func() { l.serve(c, woken) })
		}
	})
	t.Cleanup(l.close)
	return l
}

// close ends all connections at once, as the death of indirtui does.
func (l *listener) close() {
	_ = l.ln.Close()
	l.mu.Lock()
	l.closed = true
	for _, c := range l.open {
		_ = c.Close()
	}
	l.mu.Unlock()
	l.awake()
	l.done.Wait()
}

func (l *listener) serve(c net.Conn, woken <-chan struct{}) {
	r := bufio.NewReaderSize(c, 64<<10)
	if l.deaf {
		b, err := r.Peek(len(`{"listen"`))
		if err != nil || string(b) != `{"listen"` {
			<-woken // until then it stays open, and is not read
		}
	}
	for {
		b, err := r.ReadSlice('\n')
		if err != nil {
			if errors.Is(err, bufio.ErrBufferFull) {
				l.problem("a line is longer than 64 KiB: %.100s", b)
			}
			return
		}
		if l.quiet && !strings.HasPrefix(string(b), `{"listen"`) {
			continue
		}
		m := message{raw: string(b)}
		if err := json.Unmarshal(b, &m.of); err != nil {
			l.problem("%v in %s", err, b)
			continue
		}
		l.took(c, m)
	}
}

func (l *listener) problem(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.problems = append(l.problems, fmt.Sprintf(format, args...))
}

// took notes a message. The first of a connection names it.
func (l *listener) took(c net.Conn, m message) {
	if m.is("listen") {
		send := func(line string) { _, _ = fmt.Fprintln(c, line) }
		if l.ready != nil {
			l.ready(send)
		}
		send(`{"ping":1}`)
		l.mu.Lock()
		l.ins[m.text("conn")] = c
		l.mu.Unlock()
		l.done.Go(func() { // goes on until the connection is closed
			for {
				time.Sleep(100 * time.Millisecond)
				if _, err := fmt.Fprintln(c, `{"ping":1}`); err != nil {
					return
				}
			}
		})
	}
	l.mu.Lock()
	if m.is("attach") {
		m.conn = m.text("conn")
	}
	for i := len(l.messages) - 1; i >= 0 && m.conn == ""; i-- {
		if l.messages[i].of["on"] == c {
			m.conn = l.messages[i].conn
		}
	}
	m.of["on"] = c
	l.messages = append(l.messages, m)
	close(l.news)
	l.news = make(chan struct{})
	l.mu.Unlock()
	if m.is("held") && l.held != nil {
		if verdict := l.held(&m); verdict != "" {
			l.send(m.conn, verdict)
		}
	}
}

// send writes a line to a process.
func (l *listener) send(conn, line string) {
	l.mu.Lock()
	c := l.ins[conn]
	l.mu.Unlock()
	if c != nil {
		_, _ = fmt.Fprintln(c, line)
	}
}

// all returns the messages of a kind.
func (l *listener) all(kind string) []message {
	l.mu.Lock()
	defer l.mu.Unlock()
	var found []message
	for _, m := range l.messages {
		if m.is(kind) {
			found = append(found, m)
		}
	}
	return found
}

// wait returns the first message that is as wanted.
func (l *listener) wait(t testing.TB, what string, is func(m *message) bool) message {
	t.Helper()
	late := time.After(10 * time.Minute) // a machine may be busy
	for {
		l.mu.Lock()
		for i := range l.messages {
			if is(&l.messages[i]) {
				m := l.messages[i]
				l.mu.Unlock()
				return m
			}
		}
		news := l.news
		l.mu.Unlock()
		select {
		case <-news:
		case <-late:
			t.Fatalf("there is no %s in %s", what, l.raw())
		}
	}
}

// raw returns all that came.
func (l *listener) raw() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	var b strings.Builder
	for _, m := range l.messages {
		b.WriteString(m.raw)
	}
	return b.String()
}

// check waits for the end of n processes and fails for what went wrong in the
// probe, or is no line.
func (l *listener) check(t testing.TB, n int) {
	t.Helper()
	count := map[string]bool{}
	l.wait(t, fmt.Sprintf("bye of %d processes", n), func(m *message) bool {
		if m.is("bye") {
			count[m.conn] = true
		}
		return len(count) >= n
	})
	for _, m := range l.all("bye") {
		if m.num("faults") != 0 {
			t.Errorf("the probe had %d faults: %s", m.num("faults"), m.text("last"))
		}
	}
	for _, m := range l.all("dropped") {
		t.Errorf("dropped: %s", m.raw)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, p := range l.problems {
		t.Error(p)
	}
}

// cases returns the messages of a kind by the case that they belong to, in the order
// of their numbers.
func (l *listener) cases(kind string) map[string][]message {
	messages := l.all(kind)
	slices.SortStableFunc(messages, func(a, b message) int { return cmp.Compare(a.num(kind), b.num(kind)) })
	cases := map[string][]message{}
	name := ""
	for _, m := range messages {
		if of, ok := strings.CutPrefix(m.text("key"), "== "); ok {
			name = of
			continue
		}
		cases[name] = append(cases[name], m)
	}
	return cases
}

// tree returns requests, each as "key < key of the one that asked: outcome".
func tree(requests []message) string {
	keys := map[string]string{}
	for _, m := range requests {
		keys[fmt.Sprint(m.conn, m.num("trace"))] = m.text("key")
	}
	var b strings.Builder
	for _, m := range requests {
		b.WriteString(m.text("key"))
		if p := m.num("parent"); p != 0 {
			b.WriteString(" < " + keys[fmt.Sprint(m.conn, p)])
		}
		b.WriteString(": " + m.text("out") + "\n")
	}
	return b.String()
}

// puppetRuby returns a Ruby that has Puppet, or skips.
func puppetRuby(t testing.TB) string {
	t.Helper()
	if testing.Short() {
		t.Skip("real Puppet takes its time")
	}
	path := ruby(t)
	if err := exec.Command(path, "-e", "require 'puppet'").Run(); err != nil {
		t.Skip("this ruby has no puppet")
	}
	return path
}

// with returns the environment of a process with the probe.
func (l *listener) with(t testing.TB, more ...string) []string {
	return append(append(os.Environ(), "INDIRTUI_ATTACH="+l.path, "INDIRTUI_WAIT=1", "RUBYOPT=-r"+filepath.Join(probeDir(t), "probe.rb")), more...)
}

// prelude lets scripts ask a model of their own: termini do what a script defines.
const prelude = `
require 'puppet'
dir = ENV.fetch('DIR')
Puppet.initialize_settings(['--confdir', dir + '/conf', '--vardir', dir + '/var'])
Puppet.push_context(Puppet.base_context(Puppet.settings), 'test')
class Puppet::Probed
  extend Puppet::Indirector
  indirects :probed
  attr_reader :name, :text
  def initialize(name, text = '')
    @name = name
    @text = text
  end
  def self.from_data_hash(h)
    new(h['name'], h['text'])
  end
  def to_data_hash
    { 'name' => @name, 'text' => @text }
  end
end
class Puppet::Probed::Script < Puppet::Indirector::Code
  DOES = {}
  def find(request)
    does = DOES[request.key]
    does ? does.call(request) : Puppet::Probed.new(request.key)
  end
  def save(request)
    find(request)
  end
  def search(request)
    [find(request)]
  end
  def destroy(request)
    find(request)
  end
end
class Puppet::Probed::Store < Puppet::Indirector::Code
  def find(request)
    does = Puppet::Probed::Script::DOES['cached ' + request.key.to_s]
    does ? does.call(request) : (@kept ||= {})[request.key]
  end
  def save(request)
    does = Puppet::Probed::Script::DOES['write ' + request.key.to_s]
    does ? does.call(request) : (@kept ||= {})[request.key] = request.instance
  end
  def destroy(request)
    (@kept ||= {}).delete(request.key)
  end
end
Puppet::Probed.indirection.set_global_setting(:terminus_class, :script)
def on(key, &block) Puppet::Probed::Script::DOES[key] = block end
def find(key, options = {}) Puppet::Probed.indirection.find(key, options) end
# Each case begins with everything as it was, and with a request of its name.
def one(name)
  indirection = Puppet::Probed.indirection
  Puppet::Probed::Script::DOES.clear
  indirection.set_global_setting(:cache_class, nil)
  indirection.set_global_setting(:terminus_class, :script)
  indirection.termini.clear
  find('== ' + name)
  yield
  [:authorized?, :filter].each { |m| Puppet::Probed::Script.send(:remove_method, m) if Puppet::Probed::Script.public_instance_methods(false).include?(m) }
end
`

// script runs Ruby with Puppet and the probe. It returns what it printed.
func (l *listener) script(t testing.TB, text string, more ...string) string {
	t.Helper()
	out, err := l.command(t, text, more...).CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return string(out)
}

func (l *listener) command(t testing.TB, text string, more ...string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(puppetRuby(t), "-W0", "-e", prelude+text)
	cmd.Env = l.with(t, append(more, "DIR="+t.TempDir())...)
	return cmd
}

package probe_test

import (
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

	"indirtui/indirector/probe"
)

// A stack is a real Puppet Server with the probe in front of its load path.
type stack struct {
	dir, socket, probe string
	port               string
}

// newStack starts Puppet Server with two instances of JRuby, or skips.
func newStack(t *testing.T) *stack {
	t.Helper()
	if testing.Short() {
		t.Skip("Puppet Server takes a minute to start")
	}
	if _, err := exec.LookPath("puppetserver"); err != nil {
		t.Skip("there is no puppetserver here")
	}
	dir, err := os.MkdirTemp("", "peers") // short: there is a socket in it, which another user opens
	if err != nil {
		t.Fatal(err)
	}
	s := &stack{dir: dir, socket: filepath.Join(dir, "s"), probe: filepath.Join(dir, "probe")}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := probe.WriteFiles(s.probe); err != nil {
		t.Fatal(err)
	}
	free, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, s.port, _ = net.SplitHostPort(free.Addr().String())
	if err := free.Close(); err != nil {
		t.Fatal(err)
	}
	return s
}

func (s *stack) up(t *testing.T) {
	t.Helper()
	t.Cleanup(func() {
		if out, err := s.command("down", "--purge").CombinedOutput(); err != nil {
			t.Errorf("stop Puppet Server: %v\n%s", err, out)
		}
	})
	if out, err := s.command("up", "lite").CombinedOutput(); err != nil {
		t.Fatalf("start Puppet Server: %v\n%s", err, out)
	}
}

func (s *stack) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join("..", "..", ".ci", "peers", "stack.sh"), args...)
	cmd.Env = append(os.Environ(), "PEERS_DIR="+filepath.Join(s.dir, "p"), "PEERS_PUPPETSERVER_PORT="+s.port, "PEERS_JRUBIES=2", "PEERS_START_TIMEOUT=900",
		"PEERS_FRONT="+filepath.Join(s.probe, "server"), "PEERS_ATTACH="+s.socket, "PEERS_PROBE="+filepath.Join(s.probe, "probe.rb"))
	return cmd
}

// get asks for a path with the agent's certificate and returns the status.
func (s *stack) get(path string) string {
	out, err := s.command("curl", path, "-s", "-o", "/dev/null", "-w", "%{http_code}", "-H", "Accept: application/json").CombinedOutput()
	if err != nil {
		return fmt.Sprintf("%v %s", err, out)
	}
	return string(out)
}

const nodePath = "/puppet/v3/node/agent01.example.com?environment=production"

// Puppet Server is watched from its load path: one run of a real agent and what the
// server does for it are one tree, a held request of one instance leaves the other
// at work, and no answer is lost whatever becomes of the listener.
func TestRubyInPuppetServer(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	l := listenHere(t, &listener{path: s.socket})
	s.up(t)
	servers := func(m *message) bool { return m.is("attach") && m.text("app") == "server" }
	first := l.wait(t, "first instance", servers)
	second := l.wait(t, "second instance", func(m *message) bool { return servers(m) && m.conn != first.conn })
	if first.num("pid") != second.num("pid") || !strings.HasPrefix(first.text("ruby"), "jruby ") {
		t.Errorf("two instances of one process: %s%s", first.raw, second.raw)
	}

	t.Run("one tree", func(t *testing.T) {
		out, err := s.command("agent", "--http_read_timeout", "300").CombinedOutput()
		if err == nil || !strings.Contains(err.Error(), "exit status 2") {
			t.Fatalf("the agent: %v\n%s", err, out)
		}
		byHeader := map[string]message{}
		for _, m := range l.all("trace") {
			if h := m.text("traceparent"); h != "" && m.num("parent") == 0 {
				byHeader[h] = m
			}
		}
		for _, m := range l.all("trace") {
			if m.text("app") != "agent" || !strings.Contains(m.raw, `"kind":"network"`) {
				continue
			}
			header := fmt.Sprintf("00-%s-%012x%04x-01", m.conn, m.num("trace"), 1)
			of := l.wait(t, "request of the server for "+m.raw, func(of *message) bool {
				return of.is("trace") && of.text("traceparent") == header && of.num("parent") == 0
			})
			if of.text("caller") != "agent agent01.example.com" {
				t.Errorf("it is asked by the agent: %s", of.raw)
			}
		}
		files := 0
		for _, m := range l.all("exchange") {
			if _, ok := byHeader[fmt.Sprintf("00-%s-%012x%04x-01", m.conn, 0, m.num("exchange"))]; ok {
				files++
			}
		}
		if files < 100 {
			t.Errorf("%d files of the agent are joined, want those of all plugins", files)
		}
		nested := slices.ContainsFunc(l.all("trace"), func(m message) bool {
			return m.text("app") == "server" && m.text("ind") == "facts" && m.num("parent") != 0
		})
		if !nested {
			t.Error("no request of the server is asked by another")
		}
	})

	t.Run("what is known of the pool", func(t *testing.T) {
		l.wait(t, "number of instances", func(m *message) bool {
			return servers(m) && m.conn == first.conn && m.num("instances") == 2 && m.num("borrow") == int(20*time.Minute)
		})
	})

	t.Run("held in one instance", func(t *testing.T) {
		before := len(l.all("held"))
		l.send(first.conn, `{"arm":1,"do":"hold","step":"terminus","ind":"node","limit":600000}`)
		status := make(chan string, 2)
		var held message
		for range 2 { // one of the two instances has it
			go func() { status <- s.get(nodePath) }()
		}
		held = l.wait(t, "held request", func(m *message) bool { return m.is("held") && m.conn == first.conn })
		if got := <-status; got != "200" {
			t.Errorf("the other instance answered %s", got)
		}
		if n := len(l.all("held")) - before; n != 1 {
			t.Errorf("%d are held", n)
		}
		l.send(first.conn, `{"disarm":"all"}`)
		l.send(first.conn, fmt.Sprintf(`{"go":%d,"fail":{"message":"injected"}}`, held.num("held")))
		if got := <-status; got != "500" {
			t.Errorf("what was failed answered %s", got)
		}
	})

	t.Run("killed while requests are held", func(t *testing.T) {
		for _, conn := range []string{first.conn, second.conn} {
			l.send(conn, `{"arm":2,"do":"hold","step":"terminus","ind":"node","limit":600000}`)
		}
		before := len(l.all("held"))
		status := make(chan string, 2)
		for range 2 {
			go func() { status <- s.get(nodePath) }()
		}
		l.wait(t, "two held requests", func(*message) bool { return count(l, "held") >= before+2 })
		l.close()
		began := time.Now()
		for range 2 {
			if got := <-status; got != "200" {
				t.Errorf("held when the listener died: %s", got)
			}
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("they went on after %s", took)
		}
	})

	t.Run("under load", func(t *testing.T) {
		load := func(n int) {
			var done sync.WaitGroup
			for range 4 {
				done.Go(func() {
					for range n / 4 {
						if got := s.get("/puppet/v3/file_metadata/modules/demo/tree/plain.txt?environment=production"); got != "200" && got != "404" {
							t.Errorf("an answer is lost: %s", got)
							return
						}
					}
				})
			}
			done.Wait()
		}
		load(40) // without a listener
		deaf := listenHere(t, &listener{path: s.socket, deaf: true})
		load(200)
		deaf.close()
		again := listenHere(t, &listener{path: s.socket})
		load(100)
		again.wait(t, "request of the server", func(m *message) bool { return m.is("trace") && m.text("ind") == "file_metadata" })
		again.close()
		load(20)
	})
}

func count(l *listener, kind string) int {
	n := 0
	for i := range l.messages { // called with the lock held
		if l.messages[i].is(kind) {
			n++
		}
	}
	return n
}

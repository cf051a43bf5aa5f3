package probe_test

import (
	"bufio"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
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
	reports            *httptest.Server // which the server sends reports to
	client             *http.Client     // with the certificate of the agent
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
	s := &stack{dir: dir, socket: filepath.Join(dir, "indirtui", "s"), probe: filepath.Join(dir, "probe")}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	for _, d := range []string{dir, filepath.Dir(s.socket)} {
		if err := errors.Join(os.MkdirAll(d, 0o755), os.Chmod(d, 0o755)); err != nil {
			t.Fatal(err)
		}
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
	certs := filepath.Join(s.dir, "p", "certs")
	pair, err := tls.LoadX509KeyPair(filepath.Join(certs, "agent01.example.com.crt"), filepath.Join(certs, "agent01.example.com.key"))
	if err != nil {
		t.Fatal(err)
	}
	ca, err := os.ReadFile(filepath.Join(certs, "ca.pem"))
	if err != nil {
		t.Fatal(err)
	}
	authorities := x509.NewCertPool()
	authorities.AppendCertsFromPEM(ca)
	transport := &http.Transport{TLSClientConfig: &tls.Config{Certificates: []tls.Certificate{pair}, RootCAs: authorities}, MaxIdleConnsPerHost: loaders}
	t.Cleanup(transport.CloseIdleConnections)
	s.client = &http.Client{Transport: transport}
}

func (s *stack) command(args ...string) *exec.Cmd {
	cmd := exec.Command(filepath.Join("..", "..", ".ci", "peers", "stack.sh"), args...)
	cmd.Env = append(os.Environ(), "PEERS_DIR="+filepath.Join(s.dir, "p"), "PEERS_PUPPETSERVER_PORT="+s.port, "PEERS_JRUBIES=2", "PEERS_START_TIMEOUT=900",
		"PEERS_FRONT="+filepath.Join(s.probe, "server"), "PEERS_ATTACH="+s.socket, "PEERS_PROBE="+filepath.Join(s.probe, "probe.rb"), "PEERS_REPORT_URL="+s.reports.URL)
	return cmd
}

// get asks for a path with the agent's certificate and returns the status and the
// body, or the error.
func (s *stack) get(path string) (status, body string) {
	req, err := http.NewRequest(http.MethodGet, "https://localhost:"+s.port+path, nil)
	if err != nil {
		return err.Error(), ""
	}
	req.Header.Set("Accept", "application/json")
	resp, err := s.client.Do(req)
	if err != nil {
		return err.Error(), ""
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error(), ""
	}
	return strconv.Itoa(resp.StatusCode), string(b)
}

// node asks for a node, and sends the status.
func (s *stack) node(status chan<- string) {
	got, _ := s.get("/puppet/v3/node/agent01.example.com?environment=production")
	status <- got
}

const (
	loaders = 4    // that ask at the same time
	load    = 1000 // requests, at the least
)

// Puppet Server is watched from its load path: one run of a real agent and what the
// server does for it are one tree, a held request of one instance leaves the other
// at work, and no answer is lost whatever becomes of the listener.
func TestRubyInPuppetServer(t *testing.T) {
	t.Parallel()
	s := newStack(t)
	reported := make(chan string, 10) // the traceparent of reports
	s.reports = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { reported <- r.Header.Get("Traceparent") }))
	t.Cleanup(s.reports.Close)
	l := s.listen(t, &listener{})
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

	t.Run("exchange of the server's own client", func(t *testing.T) {
		saved := l.wait(t, "report in the server", func(m *message) bool {
			return m.is("trace") && m.text("app") == "server" && m.text("ind") == "report" && m.text("verb") == "save"
		})
		if want := `"name":"POST ` + s.reports.URL; !strings.Contains(saved.raw, want) || !strings.Contains(saved.raw, `"is":"200 OK"`) {
			t.Errorf("there is no %s in %s", want, saved.raw)
		}
		if got, want := <-reported, fmt.Sprintf("00-%s-%012x%04x-01", saved.conn, saved.num("trace"), 1); got != want {
			t.Errorf("the header was %s, want %s", got, want)
		}
	})

	t.Run("held in one instance", func(t *testing.T) {
		before := len(l.all("held"))
		l.send(first.conn, `{"arm":1,"do":"hold","step":"terminus","ind":"node","limit":600000}`)
		status := make(chan string, 2)
		var held message
		for range 2 { // one of the two instances has it
			go s.node(status)
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

	l.close()
	t.Run("killed while requests are held", func(t *testing.T) { s.killed(t) })
	t.Run("under load", func(t *testing.T) { s.underLoad(t) })
}

// killed kills the program while it holds a request in each instance: both are
// answered at once.
func (s *stack) killed(t *testing.T) {
	program := filepath.Join(t.TempDir(), "indirtui")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "indirtui").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	_ = os.RemoveAll(filepath.Dir(s.socket)) // the program makes it
	args := []string{"attach", "--plain", "--break", "ind=node@before terminus", "--record", filepath.Join(s.dir, "recording"), "--listen", s.socket}
	if os.Getuid() == 0 {
		args = append(args, "--for", "puppet")
	}
	cmd := exec.Command(program, args...)
	cmd.Env = append(os.Environ(), "HOME="+t.TempDir(), "XDG_STATE_HOME="+t.TempDir())
	in, err := cmd.StdinPipe() // it goes on as long as this is open
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	cmd.Stderr = cmd.Stdout
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill() //nolint:errcheck // it was killed before
	lines := make(chan string)
	go func() {
		defer close(lines)
		for r := bufio.NewScanner(out); r.Scan(); {
			lines <- r.Text()
		}
	}()
	status := make(chan string, 2)
	var printed []string
	for held, asked := 0, 0; held < 2; {
		for ; asked < 2; asked++ {
			go s.node(status)
		}
		select {
		case got := <-status: // of an instance that did not know yet
			if asked--; got != "200" {
				t.Fatalf("got %s: %q", got, printed)
			}
		case line, ok := <-lines:
			if printed = append(printed, line); !ok {
				t.Fatalf("the program has ended: %q", printed)
			}
			if strings.Contains(line, "held by") {
				held++
			}
		}
	}
	began := time.Now()
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if got := <-status; got != "200" {
			t.Errorf("held when the program was killed: %s", got)
		}
	}
	if took := time.Since(began); took > 10*time.Second {
		t.Errorf("they went on after %s", took)
	}
	for range lines {
		continue // to the end
	}
	_ = cmd.Wait() // it was killed
}

// underLoad lets listeners come and go while the server is asked: first none, then
// one that reads nothing until it is awake, then it is killed, then one that
// reads. Each answer is as the first.
func (s *stack) underLoad(t *testing.T) {
	answers, over := make(chan string), make(chan struct{})
	var loading sync.WaitGroup
	defer loading.Wait()
	defer close(over)
	for range loaders {
		loading.Go(func() {
			for {
				status, body := s.get("/puppet/v3/file_metadata/modules/demo/hello.txt?environment=production")
				select {
				case answers <- status + " " + body:
				case <-over:
					return
				}
			}
		})
	}
	first, n := <-answers, 1
	if !strings.HasPrefix(first, "200 ") {
		t.Fatalf("got %s", first)
	}
	// until goes on until there were so many answers, and something more has happened.
	until := func(most int, more func() bool) {
		for ; n < most || !more(); n++ {
			if n > 20*load {
				t.Fatalf("after %d answers what is waited for has not come", n)
			}
			if got := <-answers; got != first {
				t.Fatalf("answer %d is lost: got %s, want %s", n, got, first)
			}
		}
	}
	always := func() bool { return true }
	until(load/10, always)
	deaf := s.listen(t, &listener{deaf: true})
	until(load/2, func() bool { return deaf.both("listen") })
	full := n + load
	until(full, always)
	deaf.awake()
	until(n+load/10, func() bool { return deaf.both("dropped") })
	deaf.close()
	until(n+load/10, always)
	again := s.listen(t, &listener{})
	until(n+load/10, func() bool { return again.both("trace") })
	again.close()
	until(n+load/10, always)
	t.Logf("%d answers, none lost", n)
}

// listen starts a listener where the server looks for one.
func (s *stack) listen(t *testing.T, l *listener) *listener {
	t.Helper()
	if err := os.Chmod(filepath.Dir(s.socket), 0o755); err != nil { // the program was here
		t.Fatal(err)
	}
	l.path = s.socket
	return listenHere(t, l)
}

// both reports whether a message of a kind has come from two connections.
func (l *listener) both(kind string) bool {
	conns := map[string]bool{}
	for _, m := range l.all(kind) {
		conns[m.conn+m.text("conn")] = true
	}
	return len(conns) >= 2
}

//go:build unix

package probe_test

import (
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// An agent that runs as a daemon forks for each of its runs: each is a process of
// its own for those who watch, and none writes to the socket of another.
func TestRubyDaemon(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		args []string
	}{
		{"in the foreground", []string{"agent", "--no-daemonize", "--runinterval", "1s"}},
		{"in the background", []string{"agent", "--daemonize", "--runinterval", "1h"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			l := listenHere(t, &listener{ready: func(send func(string)) { send(`{"arm":1,"do":"hold","step":"route","once":true,"limit":1}`) }})
			rundir := filepath.Join(w.dir, "run")
			cmd := w.command(t, l, append(tt.args, "--rundir", rundir, "--logdest", filepath.Join(w.dir, "log"), "--no-splay")...)
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			l.wait(t, "first run", func(*message) bool { return len(l.runs()) >= 1 })
			b, err := os.ReadFile(filepath.Join(rundir, "agent.pid"))
			if err != nil {
				t.Fatal(err)
			}
			daemon, err := strconv.Atoi(strings.TrimSpace(string(b)))
			if err != nil {
				t.Fatal(err)
			}
			if err := syscall.Kill(daemon, syscall.SIGUSR1); err != nil { // a run now
				t.Fatal(err)
			}
			l.wait(t, "run because of the signal", func(*message) bool { return len(l.runs()) >= 2 })
			if err := syscall.Kill(daemon, syscall.SIGTERM); err != nil {
				t.Fatal(err)
			}
			l.wait(t, "end of the daemon", func(m *message) bool { return m.is("bye") && l.pid(m.conn) == daemon })
			_ = cmd.Wait() // whatever Puppet makes of the signal
			l.daemon(t, daemon)
		})
	}
}

// runs are the connections that have ended after a report was saved. L.mu is held.
func (l *listener) runs() (conns []string) {
	reports := map[string]bool{}
	for i := range l.messages {
		m := &l.messages[i]
		if m.is("trace") && m.text("ind") == "report" && m.text("verb") == "save" {
			reports[m.conn] = true
		}
		if m.is("bye") && reports[m.conn] {
			conns = append(conns, m.conn)
		}
	}
	return conns
}

// pid is the process of a connection. L.mu is held.
func (l *listener) pid(conn string) int {
	i := slices.IndexFunc(l.messages, func(m message) bool { return m.is("attach") && m.conn == conn })
	return l.messages[i].num("pid")
}

// daemon checks what a daemon and its runs have written.
func (l *listener) daemon(t *testing.T, daemon int) {
	t.Helper()
	byes := l.all("bye")
	l.check(t, len(byes))
	l.mu.Lock()
	defer l.mu.Unlock()
	pids := map[int]bool{}
	for _, bye := range byes {
		pid := l.pid(bye.conn)
		if pids[pid] {
			t.Errorf("process %d has two connections", pid)
		}
		pids[pid] = true
		numbers, caught, named := map[int]bool{}, false, false
		for i := range l.messages {
			m := &l.messages[i]
			switch {
			case m.conn != bye.conn:
			case m.is("attach") && m.text("app") != "agent":
				t.Errorf("the process is not named as it was started: %s", m.raw)
			case m.is("attach"): // the arguments come when there is a request
				named = named || strings.Contains(m.text("argv"), "puppet agent --")
			case m.is("trace") && (numbers[m.num("trace")] || m.text("app") != "agent"):
				t.Errorf("the request is of another process: %s", m.raw)
			case m.is("trace") && m.num("trace") == 1 && m.num("held") == 0:
				t.Errorf("the first request was not held: %s", m.raw)
				fallthrough
			case m.is("trace"):
				numbers[m.num("trace")] = true
			case m.is("log"):
				caught = caught || strings.Contains(m.text("message"), "Caught USR1")
			}
		}
		if len(numbers) > 0 && !named {
			t.Errorf("process %d has not written how it was started", pid)
		}
		if len(numbers) != bye.num("requests") {
			t.Errorf("process %d has written %d requests of %d", pid, len(numbers), bye.num("requests"))
		}
		if caught != (pid == daemon) {
			t.Errorf("process %d, where the daemon is %d, has logged the signal: %v", pid, daemon, caught)
		}
	}
}

// What Puppet logs in a handler of a signal, where no lock can be taken, is not lost,
// and nor is what waits to be written then.
func TestRubyTraps(t *testing.T) {
	t.Parallel()
	l := listenHere(t, &listener{})
	l.script(t, `
trap('USR1') { Puppet.notice 'in a handler' }
5.times { |i| Puppet.notice "before #{i}" ; Process.kill(:USR1, Process.pid) ; Puppet.notice "after #{i}" }
find('after')
`)
	l.check(t, 1)
	var got []string
	for _, m := range l.all("log") {
		got = append(got, m.text("message"))
	}
	if len(got) != 15 || strings.Count(strings.Join(got, ", "), "in a handler") != 5 {
		t.Errorf("got %q", got)
	}
}

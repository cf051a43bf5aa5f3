//go:build unix

package cli

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/termini"
	"indirtui/ui/uitest"
)

// attachTrip starts indirtui attach over a command of the shell.
func attachTrip(t *testing.T, size, script string, journey func(*trip)) {
	t.Helper()
	tr := &trip{t: t}
	p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
	dir := t.TempDir()
	p.confDir, p.varDir = filepath.Join(dir, "conf"), filepath.Join(dir, "var")
	configure(t, p, "")
	tr.program = p
	c := &attachCommand{p: p, words: []string{"sh", "-c", script}}
	c.display = interactive{ascii: true, record: filepath.Join(dir, "recording.jsonl")}
	p.ui = c.display
	s, err := c.session()
	if err != nil {
		t.Fatal(err)
	}
	tr.show(s, sizes[size][0], sizes[size][1])
	journey(tr)
}

// A watchedProcess writes what a probe would.
func watchedProcess(t *testing.T, socket string, pid int, lines ...string) net.Conn {
	t.Helper()
	c, err := net.Dial("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	fmt.Fprintf(c, `{"attach":1,"conn":"%032x","pid":%d,"ruby":"ruby 3.1.2","puppet":"7.23.0","app":"agent"}`+"\n", pid, pid)
	for _, l := range lines {
		fmt.Fprintln(c, l)
	}
	return c
}

// until lets the program take news until something is on the screen.
func (tr *trip) until(what string, want ...string) *trip {
	tr.t.Helper()
	for late := time.Now().Add(20 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		tr.Sync()
		missing := ""
		for _, w := range want {
			if !strings.Contains(tr.Frame(), w) {
				missing = w
			}
		}
		if missing == "" {
			return tr
		}
		if time.Now().After(late) {
			tr.t.Fatalf("%s: %q is not on the screen:\n%s", what, missing, tr.Frame())
		}
	}
}

func TestAttachByKeys(t *testing.T) {
	t.Parallel()
	for size := range sizes {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			attachTrip(t, size, `printf '\033[1mname?\033[0m '; read name; echo "hello $name"; exit 3`, func(tr *trip) {
				socket := tr.session.attached.listener.Path()
				tr.until("the command", "WAITING").key("6", "Attached")
				tr.until("what it prints", "name?", "the command runs, pid ", "waiting for a process")
				conn := watchedProcess(t, socket, 4711,
					`{"route":1,"ind":"catalog","terminus":"rest","primary":[{"terminus":"rest","by":"application","place":"puppet/application/agent.rb:444"}]}`,
					`{"begin":1,"at":1,"verb":"find","ind":"catalog","key":"web01","route":1}`,
					`{"trace":2,"t":"2026-11-28T00:00:00Z","took":1000,"verb":"find","ind":"node","key":"web01","parent":1,"served":"terminus","steps":[{"step":"terminus","is":"ok","why":"returned"}]}`)
				tr.until("the process", "agent-4711", "1 ended, 1 running", "puppet agent (pid 4711)")
				// Keys go to the command only while it is typed into.
				tr.key("enter", "keys go to the command; ctrl+] leaves")
				tr.Keys("w", "e", "b", "1", "enter")
				tr.until("what was typed", "hello web1", "the command has ended, exit code 3")
				tr.key("1", "Requests", "catalog", "node")
				tr.until("the source", "gent (pid 4711)")
				tr.key("3", "Routes", "puppet agent (pid 4711)", "catalog", "puppet/application/agent.rb:444")
				tr.key("enter", "not now: these are of a process")
				tr.key("tab", "application agent")
				tr.key("1", "Requests")
				other := watchedProcess(t, socket, 815, `{"trace":1,"t":"2026-11-28T00:00:00Z","took":1000,"verb":"find","ind":"facts","key":"web02","served":"terminus","steps":[]}`)
				tr.until("a column", "PROC", "agent-815")
				tr.Keys("/")
				tr.Paste("proc=agent-4711").Keys("enter")
				tr.until("the filter", "proc=agent-4711", "2 of 3")
				tr.Not("web02")
				_ = other.Close()
				_ = conn.Close()
				tr.key("6", "Attached").until("its end", "gone")
				tr.key("enter", "not now: the command has ended")
			})
		})
	}
}

// Processes are watched beside what a session shows, and no longer.
func TestAttachHere(t *testing.T) {
	t.Parallel()
	visit(t, sizes["140x40"], nil, nil, func(tr *trip) {
		dir := filepath.Join(t.TempDir(), "private")
		socket := filepath.Join(dir, "attach")
		tr.Command("attach " + socket)
		tr.sees("waiting for a process", "RUBYOPT=-r", "ruby-load-path")
		watchedProcess(t, socket, 815, `{"trace":2,"t":"2026-11-28T00:00:00Z","took":1000,"verb":"find","ind":"node","key":"attached","served":"terminus","steps":[]}`)
		tr.until("the process", "agent-815", "1 ended")
		tr.Command("attach " + socket)
		tr.sees("processes are watched already")
		tr.Keys("esc", "esc")
		tr.Command("values on")
		tr.until("values", "did :values on")
		tr.Command("detach")
		tr.until("the end", "did :detach")
		tr.Command("detach")
		tr.sees("no processes are watched")
	})
}

// A value that was not rendered is asked of the process that may still have it.
func TestAttachOpensValue(t *testing.T) {
	t.Parallel()
	attachTrip(t, "140x40", `read wait`, func(tr *trip) {
		socket := tr.session.attached.listener.Path()
		conn := watchedProcess(t, socket, 4711,
			`{"trace":1,"t":"2026-11-28T00:00:00Z","took":1000,"verb":"find","ind":"facts","key":"kept","out":"ok","served":"terminus","steps":[{"step":"terminus","is":"ok","why":"returned"}]}`,
			`{"trace":2,"t":"2026-11-28T00:00:01Z","took":1000,"verb":"find","ind":"facts","key":"gone","out":"ok","served":"terminus","steps":[{"step":"terminus","is":"ok","why":"returned"}]}`,
			`{"trace":3,"t":"2026-11-28T00:00:02Z","took":1000,"verb":"find","ind":"facts","key":"none","out":"nil","served":"none","steps":[{"step":"terminus","is":"nil","why":"nil"}]}`)
		in, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(in, `{"listen":1,"conn":"%032x","pid":4711}`+"\n", 4711)
		answered := make(chan struct{})
		go func() {
			defer close(answered)
			for lines := bufio.NewScanner(in); lines.Scan(); {
				switch lines.Text() {
				case `{"open":1}`:
					fmt.Fprintln(conn, `{"value":1,"name":"value","model":"facts","part":1,"parts":1,"text":"{\"name\":\"kept\",\"values\":{\"kernel\":\"Linux\"}}"}`)
				case `{"open":2}`:
					fmt.Fprintln(conn, `{"refused":"open","id":2,"why":"Puppet has let go of it"}`)
				}
			}
		}()
		tr.until("requests", "kept", "gone", "none")
		tr.Keys("g", "g", "v")
		tr.until("the value", "kernel", "Linux")
		tr.Keys("esc", "j", "v")
		tr.until("the reason", "no value: Puppet has let go of it")
		tr.Keys("j", "v")
		tr.until("nothing", "not now: there is no value")
		tr.Keys("k", "k", "enter", "v")
		tr.until("the value from the steps", "kernel", "Linux")
		_, _ = in.Close(), conn.Close()
		<-answered
		tr.Keys("esc", "esc", "j")
		tr.until("the end of the process", "(pid 4711) has gone")
		tr.Keys("v")
		tr.until("the reason", "not now: it was not rendered, and agent-4711 has gone")
	})
}

// BenchmarkAttach is how many lines a second four processes may write while they are
// redacted, recorded, and shown thirty times a second.
func BenchmarkAttach(b *testing.B) {
	p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
	dir := b.TempDir()
	p.confDir, p.varDir = filepath.Join(dir, "conf"), filepath.Join(dir, "var")
	c := &attachCommand{p: p, listen: true, socket: filepath.Join(dir, "private", "attach")}
	c.display = interactive{ascii: true, record: filepath.Join(dir, "recording.jsonl")}
	p.ui = c.display
	s, err := c.session()
	if err != nil {
		b.Fatal(err)
	}
	defer s.close()
	player := uitest.New(b, viewer{p}.config(b.Context(), s, nil), 140, 40)
	const processes = 4
	n := b.N/processes + 1
	failed := make(chan error, processes)
	b.ResetTimer()
	for pid := 1; pid <= processes; pid++ {
		go func() {
			conn, err := net.Dial("unix", c.socket)
			if err != nil {
				failed <- err
				return
			}
			defer conn.Close()
			w := bufio.NewWriterSize(conn, 1<<15)
			fmt.Fprintf(w, `{"attach":1,"conn":"%032x","pid":%d,"ruby":"ruby 3.1.2","puppet":"7.23.0","app":"agent"}`+"\n", pid, pid)
			for i := 1; i <= n; i++ {
				fmt.Fprintf(w, `{"trace":%d,"t":"2026-11-28T00:00:00.%09dZ","took":1000,"verb":"find","ind":"file_metadata","key":"modules/a/%d","served":"terminus","terminus":"rest",`+
					`"steps":[{"step":"route","is":"chosen","why":"application","about":"puppet/application/agent.rb:444"},{"step":"terminus","is":"ok","why":"returned","took":900}],`+
					`"spans":[{"id":1,"step":"terminus","kind":"network","name":"GET https://puppet:8140/puppet/v3/file_metadata/modules/a/%d","is":"200 OK","took":800}]}`+"\n", i, i, i, i)
			}
			failed <- w.Flush()
		}()
	}
	ended := func() (all uint64) {
		for _, p := range s.attached.Processes() {
			all += p.Requests
		}
		return all
	}
	for written := 0; written < processes || ended() < uint64(n*processes); {
		select {
		case err := <-failed:
			if err != nil {
				b.Fatal(err)
			}
			written++
		case <-time.After(time.Second / 30):
			player.Sync()
			_ = player.Frame()
		}
	}
	b.ReportMetric(float64(n*processes)/b.Elapsed().Seconds(), "lines/s")
	b.ReportMetric(float64(s.log.Stats().DroppedDetails), "dropped")
	if st := s.log.Stats(); st.Total != uint64(n*processes) {
		b.Errorf("got %d requests, want %d", st.Total, n*processes)
	}
}

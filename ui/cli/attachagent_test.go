//go:build unix

package cli_test

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/probe"
	"indirtui/traces"
	"indirtui/traces/export"
	"indirtui/traces/store"
)

// recordedIn opens a recording and returns its requests, in order.
func recordedIn(t *testing.T, path string) (*store.Store, []*traces.Trace) {
	t.Helper()
	s, err := store.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	if err := export.Loaded(s); err != nil {
		t.Fatal(err)
	}
	var all []*traces.Trace
	rows := make([]store.Row, 5000)
	for _, r := range rows[:s.Rows(0, rows)] {
		tr, err := s.Trace(r.ID)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, tr)
	}
	return s, all
}

// placed is who set a terminus: a line of Ruby, or a setting with its place.
var placed = regexp.MustCompile(`\.rb:\d+|^setting \w+, .`)

// Journey 3 of the UI design, on a live process: an agent whose server has gone uses
// its old catalog.
func TestAttachAgent(t *testing.T) {
	t.Parallel()
	needAgent(t)
	s := newSite(t)
	l := s.run("serve", "--confdir", s.path("srv"))
	const name = "web03.example.com"
	s.write("srv/var/server_data/catalog/"+name+".json", s.catalog(name, l.port, "production"))
	watch := func(recording string) {
		s.watched = []string{s.program, "attach", "--headless", "--record", s.path(recording), "--confdir", s.path("srv"), "--"}
	}
	watch("first.jsonl")
	if out, code := s.agent(name, l.port); code != 2 {
		t.Fatalf("the first run: exit %d\n%s", code, out)
	}
	l.end()
	watch("second.jsonl")
	out, _ := s.puppet(name, l.port, "agent", "--onetime", "--no-daemonize", "--verbose", "--no-splay", "--waitforcert", "0")
	if !strings.Contains(out, "Using cached catalog") {
		t.Errorf("the second run has no old catalog:\n%s", out)
	}

	_, first := recordedIn(t, s.path("first.jsonl"))
	hidden := false
	for _, tr := range first {
		w := tr.Primary.Winner()
		if w.Terminus == "" && tr.Outcome != traces.Err {
			t.Errorf("#%d %s %s has no terminus", tr.ID, tr.Verb, tr.Indirection)
		}
		if w.Terminus != "" && !placed.MatchString(w.Source) {
			t.Errorf("the terminus %s of %s was set by %q, which names no line", w.Terminus, tr.Indirection, w.Source)
		}
		hidden = hidden || tr.Outcome == traces.NilHidden && tr.Steps[traces.Terminus].Because.Reason == traces.NilFrom404
	}
	if !hidden {
		for _, tr := range first {
			t.Logf("#%d %s %s %s: %s", tr.ID, tr.Verb, tr.Indirection, tr.Key, tr.Outcome)
		}
		t.Error("no 404 has become nil, as that of a source which is not there does")
	}
	_, second := recordedIn(t, s.path("second.jsonl"))
	var failed uint64
	linked, refused := false, false
	for _, tr := range second {
		if tr.Indirection != "catalog" || tr.Verb != traces.Find {
			continue
		}
		switch tr.Outcome {
		case traces.Err:
			failed = tr.ID
			refused = slices.ContainsFunc(tr.Spans, func(s traces.Span) bool {
				return s.Kind == traces.Network && strings.Contains(s.Name, ":"+l.port+"/") && strings.Contains(s.Err, "Connection refused")
			}) && slices.ContainsFunc(tr.Faults, func(f traces.Fault) bool { return f.Shown && strings.Contains(f.Hidden, "Connection refused") })
			if !refused {
				t.Logf("%q, %+v, %+v", tr.Error, tr.Spans, tr.Faults)
			}
		case traces.Stale:
			linked = tr.Failed == failed && failed != 0
		}
	}
	if !refused {
		t.Error("that the port of the server is closed is not shown as the cause")
	}
	if !linked {
		for _, tr := range second {
			t.Logf("#%d %s %s %s: %s %v", tr.ID, tr.Verb, tr.Indirection, tr.Key, tr.Outcome, tr.Flags.Names())
		}
		t.Error("the old catalog is not linked with the failure")
	}
}

// What a watched agent asks of a serve that shows it is below the request that sent
// it. Without the header both have the run that Puppet names.
func TestAttachBesideServe(t *testing.T) {
	t.Parallel()
	needAgent(t)
	for _, tt := range []struct {
		name, env string
		check     func(*testing.T, []*traces.Trace)
	}{
		{"by the header", "INDIRTUI_TRACEPARENT=", joinedByHeader},
		{"by the run", "INDIRTUI_TRACEPARENT=no", joinedByRun},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := newSite(t)
			in, lines, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			defer in.Close()
			recording, socket := s.path("both.jsonl"), filepath.Join(privateDir(t), "attach")
			l := s.runWith(in, "serve", "--plain", "--confdir", s.path("srv"), "--record", recording)
			fmt.Fprintln(lines, "attach "+socket)
			l.waitFor(socket)
			const name = "web04.example.com"
			s.write("srv/var/server_data/catalog/"+name+".json", s.catalog(name, l.port, "production"))
			if err := probe.WriteFiles(s.path("probe")); err != nil {
				t.Fatal(err)
			}
			s.env = []string{"RUBYOPT=-r" + s.path("probe/probe.rb"), "INDIRTUI_ATTACH=" + socket, tt.env}
			if out, code := s.agent(name, l.port); code != 2 {
				t.Fatalf("exit %d\n%s", code, out)
			}
			l.waitFor("save report " + name)
			if _, err := io.WriteString(lines, "wait\n"); err != nil {
				t.Fatal(err)
			}
			_ = lines.Close()
			l.end()
			_, all := recordedIn(t, recording)
			tt.check(t, all)
		})
	}
}

// joinedByHeader checks that requests of the server are below those of the agent.
func joinedByHeader(t *testing.T, all []*traces.Trace) {
	t.Helper()
	byID := map[uint64]*traces.Trace{}
	joined, alone := 0, 0
	for _, tr := range all {
		byID[tr.ID] = tr
	}
	for _, tr := range all {
		if tr.From != nil || tr.Traceparent == nil {
			continue
		}
		asker := byID[tr.Parent]
		switch {
		case asker == nil:
			alone++
		case asker.From == nil:
		case asker.Indirection != tr.Indirection && !strings.Contains(asker.Key, "/"+tr.Indirection): // else it is an exchange
			t.Errorf("#%d %s %s is below #%d %s %s", tr.ID, tr.Indirection, tr.Key, asker.ID, asker.Indirection, asker.Key)
		default:
			joined++
		}
	}
	if joined < 10 {
		t.Errorf("%d requests of the server are below those of the agent, %d are not", joined, alone)
	}
}

// joinedByRun checks that no request of the server is below one of the agent, and that
// the one for the catalog is in the run of which the agent's are.
func joinedByRun(t *testing.T, all []*traces.Trace) {
	t.Helper()
	ofAgent := map[uint64]bool{}
	runs := map[string]int{} // of the agent, by the transaction_uuid
	for _, tr := range all {
		if ofAgent[tr.ID] = tr.From != nil; ofAgent[tr.ID] && tr.Transaction != "" {
			runs[tr.Transaction]++
		}
	}
	joined := false
	for _, tr := range all {
		if tr.From != nil {
			continue
		}
		if tr.Traceparent != nil || ofAgent[tr.Parent] {
			t.Errorf("#%d %s %s is below #%d, and has the header %v", tr.ID, tr.Indirection, tr.Key, tr.Parent, tr.Traceparent)
		}
		joined = joined || tr.Verb == traces.Find && tr.Indirection == "catalog" && runs[tr.Run] > 5
	}
	if !joined {
		t.Errorf("the catalog of the server is in no run of the agent: %v", runs)
	}
}

// privateDir is a directory that only this user may enter, with a short path.
func privateDir(t *testing.T) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "attach")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	return dir
}

package cli

import (
	"path/filepath"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
)

// A recording that cannot be read leaves the session as it is.
func TestMistypedOpenStays(t *testing.T) {
	t.Parallel()
	switched := false
	msg := openHere(filepath.Join(t.TempDir(), "incidnet.ind"), func(opener) tea.Cmd {
		switched = true
		return tea.Quit
	})()
	if toast, is := msg.(screen.Toast); !is || !toast.Bad || toast.Text == "" || switched {
		t.Errorf("got %#v, switched %v", msg, switched)
	}
}

// Commands of a session listen on the loopback address unless they name one.
func TestHereListensNearby(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{nil, "127.0.0.1:8140"},
		{[]string{"--legacy"}, "127.0.0.1:8140"},
		{[]string{"--listen", ":8141"}, ":8141"},
		{[]string{"--listen=:8142"}, ":8142"},
	} {
		c := newServe(new(program))
		if _, err := c.here(tt.words, func(opener) tea.Cmd { return nil }); err != nil || c.listen != tt.want {
			t.Errorf("%q: listens on %q, %v; want %q", tt.words, c.listen, err, tt.want)
		}
	}
}

// A session with requests is not replaced without a question; one that is only
// looked at, and one without requests, is.
func TestReplacingASessionAsks(t *testing.T) {
	t.Parallel()
	travel(t, nil, func(tr *trip) {
		missing := filepath.Join(filepath.Dir(tr.program.site.Dir), "incidnet.ind")
		tr.command("open "+missing, "no such file").Not("end this session")
		for _, line := range []string{"demo", "demo S-08", "serve --listen 127.0.0.1:0", "proxy https://localhost:1", "open " + tr.program.ui.record} {
			tr.command(line, "end this session for ", "1 047 requests kept in ", "n  stay")
			tr.Keys("n")
			tr.sees("- Requests ")
			tr.command(line, "end this session for ").Keys("esc")
			if tr.Quit || tr.next != nil {
				tr.t.Fatalf(":%s ended the session", line)
			}
		}
		tr.command("route node terminus=yaml", "node")
		tr.command("demo", "1 changed route would be forgotten").Keys("y")
		if !tr.Quit || tr.next == nil {
			tr.t.Fatal("y did not open the demo")
		}

		// Nothing of a recording is lost, and nothing is asked.
		tr.close()
		tr.next = nil
		s, err := openSession(tr.program.ui.record)
		if err != nil {
			tr.t.Fatal(err)
		}
		tr.show(s, sizes[tr.size][0], sizes[tr.size][1])
		tr.Keys(":", "demo", "enter")
		if !tr.Quit || tr.next == nil {
			tr.t.Errorf("a recording asks:\n%s", tr.Frame())
		}
	})
}

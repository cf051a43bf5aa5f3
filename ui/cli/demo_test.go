package cli

import (
	"io"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/termini"
	"indirtui/traces"
)

// :demo S-08 opens the situation instead of what is shown, and plays it there.
func TestDemoOfASituation(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
	p.ui.record = filepath.Join(dir, "situation.jsonl")
	var open func() (*workspace, error)
	cmd, err := (&demoCommand{listing: listing{p: p}}).open("s-8", func(f func() (*workspace, error)) tea.Cmd {
		open = f
		return tea.Quit
	})
	if err != nil || cmd == nil || open != nil {
		t.Fatalf("got %v; opened before the command ran: %v", err, open != nil)
	}
	cmd()
	s, err := open()
	if err != nil {
		t.Fatal(err)
	}
	if err := s.play(t.Context()); err != nil {
		t.Error(err)
	}
	if err := s.log.Flush(); err != nil {
		t.Error(err)
	}
	_, last := s.log.Range()
	tr, err := s.log.Trace(last)
	if err != nil {
		t.Fatal(err)
	}
	if got := traces.Story(tr); got != "the classifier (ENC) printed nothing, so Puppet has no node" || s.source() != "S-08" || s.hello != "S-08 ENC prints nothing" {
		t.Errorf("got %q of %q, %q", got, s.source(), s.hello)
	}
	for range 2 {
		if err := s.close(); err != nil {
			t.Error(err)
		}
	}
	for name, want := range map[string]string{"S-77": "there is no situation", "S-43": "cannot be played"} {
		if _, err := (&demoCommand{listing: listing{p: p}}).open(name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

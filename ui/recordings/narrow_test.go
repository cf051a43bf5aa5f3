package recordings_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/recordings"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// The list of recordings is narrowed by letters of their names; what was narrowed
// is what keys mean.
func TestRecordingsNarrow(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, name := range []string{"monday.jsonl", "tuesday.jsonl", "agent.jsonl"} {
		s, err := store.Open(store.Options{Path: filepath.Join(dir, name)})
		if err == nil {
			err = s.Close()
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "none"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	var opened []string
	log := uitest.Site(t)
	p := uitest.New(t, ui.Config{Log: log, Places: func(env *session.Env) []ui.Place {
		list, load := recordings.New(t.Context(), env, recordings.Options{Log: log, Dir: dir, Open: func(path string) tea.Cmd {
			opened = append(opened, filepath.Base(path))
			return nil
		}})
		return []ui.Place{{Key: "3", Name: "Recordings", Screen: &loading{list, load}}}
	}}, 80, 24)
	p.Keys("3").Sync()
	p.Want("monday", "tuesday", "agent", "(shown now)")
	p.Keys("/", "day").Want("monday", "tuesday").Not("agent.jsonl", "(shown now)")
	p.Keys("enter").Want("/ day").Keys("G", "enter")
	if got := strings.Join(opened, " "); got != "monday.jsonl" && got != "tuesday.jsonl" {
		t.Errorf("opened %q", got)
	}
	p.Keys("esc").Want("agent", "(shown now)")
	p.Keys("/", "xyz").Not("monday").Keys("esc").Want("monday")
	p.Try("/", "a", "enter", "down", "esc")
}

// loading runs the command that reads the list when the place is shown first.
type loading struct {
	*recordings.Recordings
	load tea.Cmd
}

func (l *loading) Update(msg tea.Msg) tea.Cmd {
	cmd := l.Recordings.Update(msg)
	if _, news := msg.(session.Snapshot); news && l.load != nil {
		cmd, l.load = tea.Batch(cmd, l.load), nil
	}
	return cmd
}

var _ screen.Lister = (*loading)(nil)

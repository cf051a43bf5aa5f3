package screen_test

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
)

func TestUndo(t *testing.T) {
	t.Parallel()
	var u screen.Undos
	var log string
	add := func(name string) {
		u.Add(screen.Change{
			Command: name,
			Undo:    func() tea.Cmd { log += "-" + name; return nil },
			Redo:    func() tea.Cmd { log += "+" + name; return nil },
		})
	}
	add("a")
	add("b")
	for range 3 {
		u.Undo()
	}
	u.Redo()
	add("c")
	if command, _ := u.Redo(); command != "" {
		t.Errorf("redo after a new change: got %q, want nothing", command)
	}
	u.Undo()
	if want := "-b-a+a-c"; log != want {
		t.Errorf("got %s, want %s", log, want)
	}
}

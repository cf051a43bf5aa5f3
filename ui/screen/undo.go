package screen

import (
	"slices"
	"time"

	tea "github.com/charmbracelet/bubbletea"
)

// A Change is something that was done and can be undone.
type Change struct {
	Command string // its text form: ":route node terminus=plain"
	Undo    func() tea.Cmd
	Redo    func() tea.Cmd
}

// maxUndo is how many changes are kept.
const maxUndo = 200

// Undos are the changes that were made, and those that were undone. The zero
// Undos is empty. It belongs to the goroutine of the user interface.
type Undos struct{ done, undone []Change }

// Add remembers a change. What had been undone can then not be redone.
func (u *Undos) Add(c Change) {
	u.done = append(u.done, c)
	if len(u.done) > maxUndo {
		u.done = slices.Delete(u.done, 0, len(u.done)-maxUndo)
	}
	u.undone = nil
}

// Undo takes the last change back, and returns its text; "" if there is none.
func (u *Undos) Undo() (command string, cmd tea.Cmd) {
	c, ok := move(&u.done, &u.undone)
	if !ok {
		return "", nil
	}
	return c.Command, c.Undo()
}

// Redo does again what was undone last.
func (u *Undos) Redo() (command string, cmd tea.Cmd) {
	c, ok := move(&u.undone, &u.done)
	if !ok {
		return "", nil
	}
	return c.Command, c.Redo()
}

func move(from, to *[]Change) (Change, bool) {
	if len(*from) == 0 {
		return Change{}, false
	}
	c := (*from)[len(*from)-1]
	*from = (*from)[:len(*from)-1]
	*to = append(*to, c)
	return c, true
}

// An Event is one line of the event log.
type Event struct {
	At   time.Time
	Text string
	Bad  bool
}

// maxEvents is how many events are kept.
const maxEvents = 1000

// Events is the event log: the messages that were shown, the latest
// last. It belongs to the goroutine of the user interface.
type Events struct{ all []Event }

// Add adds an event.
func (l *Events) Add(e Event) {
	if len(l.all) == maxEvents {
		l.all = slices.Delete(l.all, 0, maxEvents/10)
	}
	l.all = append(l.all, e)
}

// All returns the events, oldest first. Read only.
func (l *Events) All() []Event { return l.all }

// Package screen is what the root of the user interface and its screens agree
// on: what a screen is, the messages between them, what the keys are, and
// how a change is undone.
//
// A screen fills the space between the context line and the line for messages.
// It returns [term.Lines], made of [term.Text]; only the root turns them into what a
// terminal understands. Keys are looked up by the root in one table, see
// [Keys], and reach the screen as a [Command].
package screen

import (
	"context"
	"os/exec"
	"time"

	"indirtui/ui/term"

	tea "github.com/charmbracelet/bubbletea"
)

// A Screen fills the space between the context line and the line for messages.
// All methods are called on the goroutine of the user interface and must not
// wait: what can wait is a command that they return. Nothing they do may grow
// with the number of requests.
//
// What else a screen can do are interfaces of one method, see [Abilities].
type Screen interface {
	// Scope returns which keys work here.
	Scope() Scope
	// Resize gives the space in cells: before the first View and after each change.
	Resize(width, height int)
	// Update takes a message: news, the answers to its own commands, and a
	// tea.KeyMsg while it Captures keys.
	Update(tea.Msg) tea.Cmd
	// Handle runs a command that is not Disabled.
	Handle(Command) tea.Cmd
	// View returns at most height lines. The root cuts what is too much.
	View() term.Lines
}

// What a screen may do besides.
type (
	// A Disabler has commands. Disabled returns the reason why one does not work
	// now, in a few words: "nothing is masked here". It is "" if it works, and
	// Unknown if the screen has nothing to do with it.
	Disabler interface{ Disabled(Action) (reason string) }
	// A Hinter returns the five to seven most useful actions now, the best first.
	// The root adds help.
	Hinter interface{ Hints() []Action }
	// A Contexter returns what stands in the border above the screen: what this is
	// and how much of it at the left, in what state it is at the right.
	Contexter interface {
		Context() (left, right term.Line)
	}
	// A Footer returns what stands first in the border below the screen.
	Footer interface{ Foot() term.Line }
	// A Capturer reads letters as text, not as keys.
	Capturer interface{ Captures() bool }
	// A Popup covers only the lower lines of the screen below it. It gets as many
	// rows as it wants, if there are so many.
	Popup interface{ Rows() int }
	// A Floater lies over the middle of the screen below it, as large as its lines.
	Floater interface{ Floats() }
	// A Loader has a command that runs when it is pushed.
	Loader interface{ Load() tea.Cmd }
	// A Shower shows one request, and can change to another.
	Shower interface{ Show(request uint64) tea.Cmd }
	// A Lister has a list: the root moves in it by keys and the mouse. Nil is none.
	Lister interface{ List() List }
	// A Mover has a command that runs when the root has moved in its list.
	Mover interface{ Moved() tea.Cmd }
	// A Clicker takes the mouse itself. X and y are cells from its upper left
	// corner.
	Clicker interface {
		Click(x, y int) tea.Cmd
		Wheel(lines int) tea.Cmd
	}
)

// A List is what the root moves in. See widget.Table.
type List interface {
	// Handle moves, if the command is to move, and reports whether it is.
	Handle(Command) bool
	// Click goes to what is at a cell of the screen, and reports whether it did.
	Click(x, y int) bool
	Wheel(lines int)
}

// Covers reports whether nothing is seen of the screen below it.
func (a *Abilities) Covers() bool { return a.Rows == nil && !a.Floats }

// Abilities are a screen with what it can do, which is found once. A function
// that the screen has no method for does nothing, but for those that may be nil.
type Abilities struct {
	Screen
	Disabled func(Action) string
	Hints    func() []Action
	Context  func() (left, right term.Line)
	Foot     func() term.Line
	Captures func() bool
	Load     func() tea.Cmd
	List     func() List
	Moved    func() tea.Cmd
	Rows     func() int              // nil if it is no popup
	Show     func(id uint64) tea.Cmd // nil if it is not one request
	Mouse    Clicker                 // nil if it is not one
	Floats   bool
}

// AbilitiesOf returns what a screen can do.
func AbilitiesOf(s Screen) *Abilities {
	nothing := func() tea.Cmd { return nil }
	a := &Abilities{
		Screen:   s,
		Disabled: func(Action) string { return Unknown },
		Hints:    func() []Action { return nil },
		Context:  func() (left, right term.Line) { return left, right },
		Foot:     func() term.Line { return term.Line{} },
		Captures: func() bool { return false },
		Load:     nothing, Moved: nothing,
		List: func() List { return nil },
	}
	if s, ok := s.(Disabler); ok {
		a.Disabled = s.Disabled
	}
	if s, ok := s.(Hinter); ok {
		a.Hints = s.Hints
	}
	if s, ok := s.(Contexter); ok {
		a.Context = s.Context
	}
	if s, ok := s.(Footer); ok {
		a.Foot = s.Foot
	}
	if s, ok := s.(Capturer); ok {
		a.Captures = s.Captures
	}
	if s, ok := s.(Loader); ok {
		a.Load = s.Load
	}
	if s, ok := s.(Lister); ok {
		a.List = s.List
	}
	if s, ok := s.(Mover); ok {
		a.Moved = s.Moved
	}
	if s, ok := s.(Popup); ok {
		a.Rows = s.Rows
	}
	if s, ok := s.(Shower); ok {
		a.Show = s.Show
	}
	a.Mouse, _ = s.(Clicker)
	_, a.Floats = s.(Floater)
	return a
}

// Now returns a binding as it is on this screen now: if it does not work it is
// disabled, with the reason.
func (a *Abilities) Now(b *Binding) Binding {
	now := *b
	now.Why = a.Disabled(b.Do)
	if now.Why == Unknown && b.Do.OfRoot() {
		now.Why = ""
	}
	now.SetEnabled(now.Why == "")
	return now
}

// Wide is the width from which there is room for a second pane, Broad that from
// which there is room for a third one.
const (
	Wide  = 110
	Broad = 158
)

// Unknown is the reason of an action that a screen has nothing to do with.
const Unknown = "not here"

// ReasonIf returns why if is, and "" otherwise.
func ReasonIf(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

// A Command is an action, with what was typed before and after its key.
type Command struct {
	Action Action
	Count  int  // as in 5j; zero if none was given
	Arg    rune // the letter after m and ', the digit of a place
}

// Times returns how often to do it: Count, and once if none was given.
func (a Command) Times() int { return max(a.Count, 1) }

// A Completion is one way to go on with a line.
type Completion struct {
	Text string // the whole line after it
	Name string // what is completed: "facts"
	Kind string // "indirection", "recent key"
	Note string // "terminus facter"
}

// Messages of screens to the root.
type (
	// Push shows another screen on top; esc closes it.
	Push struct{ Screen Screen }
	// Pop closes a screen and what is above it, and then runs a command, if there
	// is one. No screen is the one on top.
	Pop struct {
		Screen Screen
		Then   tea.Cmd
	}
	// Go shows a place by its name: "Requests".
	Go struct{ Place string }
	// Open shows the steps of a request on top of where we are. If steps are
	// shown already they change to that request, unless New is set.
	Open struct {
		Request uint64
		New     bool
	}
	// Filter goes to the place Requests, filtered by an expression; "" is all.
	Filter struct{ Text string }
	// Group groups the list of requests; "" not at all.
	Group struct{ By string }
	// Sort sorts the list of requests by the title of a column.
	Sort struct {
		Column  string
		Reverse bool
	}
	// Do does what a key would do on the screen on top.
	Do struct{ Handle Command }
	// Run does what a line of the command prompt would do.
	Run struct{ Text string }
	// Ask opens the command prompt with text in it, and the reason why that was
	// refused, if it was.
	Ask struct{ Text, Problem string }
	// For is the answer of a command to the screen that asked, wherever that is
	// now.
	For struct {
		Screen Screen
		Msg    tea.Msg
	}
	// Replace shows another session instead of this one by Then, and asks first if
	// this one has anything to lose. With names the other one: "the demo".
	Replace struct {
		With string
		Then tea.Cmd
	}
	// Copy puts text on the clipboard of the terminal. What names it in the
	// message about it.
	Copy struct{ What, Text string }
	// Work runs what takes long and has no screen of its own: a command runs Do,
	// and its message follows. Words name it on the screen, with how much of it is
	// done, or for how long it has gone on. Progress may be called by Do at any time,
	// with a total of zero while that is unknown. Ctx ends when the user stops it.
	Work struct {
		Words string
		Do    func(ctx context.Context, progress func(done, total int64)) tea.Msg
	}
	// Background runs a command for which keys need not wait. See Later.
	Background struct{ Cmd tea.Cmd }
	// Tour asks which way to lead through the program.
	Tour struct{}
	// BeginTour begins one of the journeys.
	BeginTour struct{ Number int }
	// Leave ends the program, after asking what must be asked.
	Leave struct{}
)

// A Toast is one line above the status bar, for three seconds. It is repeated
// in the event log.
type Toast struct {
	Text   string // one sentence: what
	Advice string // one sentence: what to do; "" if nothing
	Bad    bool
	// Again opens the prompt whose text was refused, with that text. Nil if none was.
	Again tea.Cmd
}

// Done reports what was done, by the text of the command that would do
// the same. With a Change it can be undone.
type Done struct {
	Command string
	Change  *Change
}

// Shared is what every screen and widget may use. It belongs to the goroutine of
// the user interface.
type Shared struct {
	Theme  *term.Theme
	Keys   *Keys
	Undo   *Undos
	Events *Events
	Now    func() time.Time
	Zone   *time.Location
	// After sends a message some time later. Tests send it when they like.
	After func(time.Duration, tea.Msg) tea.Cmd
	// Save writes a file for the user: it returns the path, and how many values
	// were redacted in the text. Nil if files cannot be written.
	Save func(name, text string) (path string, redacted int, err error)
	// Keep writes a part of what is kept for this project, by its name. Nil if
	// nothing is kept.
	Keep func(name string, v any) error
	// Exec gives the terminal to another program until that ends. Nil if there is
	// no terminal to give.
	Exec func(*exec.Cmd, tea.ExecCallback) tea.Cmd
	// Still is set if nothing is to move by itself.
	Still bool
	// Splits are how the user has divided screens into panes, by what is divided.
	Splits map[string]*Split
}

// A Split is how the panes of a screen share its width.
type Split struct {
	Moved  []int // by how many cells each wall was moved to the right
	Zoomed bool  // one pane has the whole width
}

// Split returns how the panes of a kind of screen are divided, for as long as the
// program runs.
func (s *Shared) Split(name string) *Split {
	if s.Splits == nil {
		s.Splits = make(map[string]*Split)
	}
	if s.Splits[name] == nil {
		s.Splits[name] = new(Split)
	}
	return s.Splits[name]
}

// Clock formats a time of day, to the second.
func (s *Shared) Clock(t time.Time) string { return t.In(s.Zone).Format("15:04:05") }

// ClockMillis formats a time of day, to the millisecond.
func (s *Shared) ClockMillis(t time.Time) string { return t.In(s.Zone).Format("15:04:05.000") }

// Show is the command that shows another screen on top.
func Show(s Screen) tea.Cmd { return Send(Push{Screen: s}) }

// Close is the command that closes a screen and what is above it, and then runs
// a command, if there is one.
func Close(s Screen, then tea.Cmd) tea.Cmd { return Send(Pop{s, then}) }

// Send is the command that sends a message.
func Send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// Later is the command that runs another one, which may take long. A key that
// is pressed waits for the commands of the key before it, so that what it means
// does not depend on how fast the user types; it does not wait for these.
func Later(cmd tea.Cmd) tea.Cmd { return Send(Background{cmd}) }

// Did is the command that reports a change by the text of the command that would
// do the same, and how to undo it.
func Did(command string, undo, redo func() tea.Cmd) tea.Cmd {
	return Send(Done{Command: command, Change: &Change{Command: command, Undo: undo, Redo: redo}})
}

// Changed is Did for what was one value, is another now, and is changed by set.
func Changed[T any](command string, old, now T, set func(T) tea.Cmd) tea.Cmd {
	return Did(command, func() tea.Cmd { return set(old) }, func() tea.Cmd { return set(now) })
}

// Notify is the command that shows a toast.
func Notify(text string) tea.Cmd { return Send(Toast{Text: text}) }

// Warn is the command that shows a toast about something that went wrong.
func Warn(text, advice string) tea.Cmd { return Send(Toast{Text: text, Advice: advice, Bad: true}) }

// Package screen is what the root of the user interface and its screens agree
// on: what a screen is, what they say to each other, how text becomes safe to
// show, what the keys are, and where the data comes from.
//
// A screen fills the space between the context line and the line for messages.
// It returns [Lines], made of [Text]; only the root turns them into what a
// terminal understands. Keys are looked up by the root in one table, see
// [Keys], and reach the screen as an [Act].
package screen

import (
	"time"

	"indirtui/ui/term"

	tea "github.com/charmbracelet/bubbletea"
)

// A Screen fills the space between the context line and the line for messages.
// All methods are called on the goroutine of the user interface and must not
// wait; what can wait is a command that they return. Nothing they do may grow
// with the number of requests.
type Screen interface {
	// Scope says which keys work here.
	Scope() Scope
	// Resize tells the space there is, in cells; before the first View and after
	// each change.
	Resize(width, height int)
	// Act does what a key says. It is called only if Can says that it works.
	Handle(Command) tea.Cmd
	// Can returns "" if the action works now, and otherwise why it does not, in a
	// few words: "nothing is masked here". What the screen does not know at all
	// is Unknown.
	Disabled(Action) string
	// Update takes a message: a Snapshot when there is news, the answers to its
	// own commands, and a tea.KeyMsg or tea.MouseMsg while it Captures them.
	Update(tea.Msg) tea.Cmd
	// View returns exactly height lines of at most width cells. The root cuts
	// what is too much.
	View() term.Lines
	// Context is the line above the screen: the way here at the left; filter,
	// group, count and follow at the right.
	Context() (left, right term.Line)
	// Hints are the five to seven most useful actions now, the best first. Help is
	// added by the root.
	Hints() []Action
	// Captures reports whether letters are text now, not keys.
	Captures() bool
}

// Unknown is what Can says of an action that a screen has nothing to do with.
const Unknown = "not here"

// ReasonIf returns why if is, and "" otherwise: what Can says.
func ReasonIf(is bool, why string) string {
	if is {
		return why
	}
	return ""
}

// A Popup is a Screen that covers only the lower lines of the one below it: a
// prompt, a menu.
type Popup interface {
	Screen
	// Rows returns how many lines it wants; it gets at most all there are.
	Rows() int
}

// A Clicker is a Screen that knows what to do with the mouse. X and Y are cells
// from the upper left corner of the screen.
type Clicker interface {
	Click(x, y int) tea.Cmd
	Wheel(lines int) tea.Cmd
}

// An Act is what a key said.
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

// What screens say to the root, as messages.
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
	// Ask opens the command prompt with text in it.
	Ask struct{ Text string }
	// For is the answer of a command to the screen that asked, wherever that is
	// now.
	For struct {
		Screen Screen
		Msg    tea.Msg
	}
	// Copy puts text on the clipboard of the terminal. What names it in the
	// message that says so.
	Copy struct{ What, Text string }
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
}

// Done says that something was done, by the text of the command that would do
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
	// were masked in the text. Nil if files cannot be written.
	Save func(name, text string) (path string, masked int, err error)
	// Keep writes a part of what is kept for this project, by its name. Nil if
	// nothing is kept.
	Keep func(name string, v any) error
}

// Clock formats a time of day, to the second.
func (s *Shared) Clock(t time.Time) string { return t.In(s.Zone).Format("15:04:05") }

// ClockMillis formats a time of day, to the millisecond.
func (s *Shared) ClockMillis(t time.Time) string { return t.In(s.Zone).Format("15:04:05.000") }

// Close is the command that closes a screen and what is above it, and then runs
// a command, if there is one.
func Close(s Screen, then tea.Cmd) tea.Cmd { return Send(Pop{s, then}) }

// Send is the command that sends a message.
func Send(msg tea.Msg) tea.Cmd { return func() tea.Msg { return msg } }

// Later is the command that runs another one, which may take long. A key that
// is pressed waits for the commands of the key before it, so that what it means
// does not depend on how fast a person types; it does not wait for these.
func Later(cmd tea.Cmd) tea.Cmd { return Send(Background{cmd}) }

// Say is the command that shows a toast.
func Say(text string) tea.Cmd { return Send(Toast{Text: text}) }

// Warn is the command that shows a toast about something that went wrong.
func Warn(text, advice string) tea.Cmd { return Send(Toast{Text: text, Advice: advice, Bad: true}) }

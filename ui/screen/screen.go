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
	"context"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/debugger"
	"indirtui/traces"
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
	Act(Act) tea.Cmd
	// Can returns "" if the action works now, and otherwise why it does not, in a
	// few words: "nothing is masked here". What the screen does not know at all
	// is Unknown.
	Can(Action) string
	// Update takes a message: a Snapshot when there is news, the answers to its
	// own commands, and a tea.KeyMsg or tea.MouseMsg while it Captures them.
	Update(tea.Msg) tea.Cmd
	// View returns exactly height lines of at most width cells. The root cuts
	// what is too much.
	View() Lines
	// Context is the line above the screen: the way here at the left; filter,
	// group, count and follow at the right.
	Context() (left, right Line)
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
type Act struct {
	Do    Action
	Count int  // as in 5j; zero if none was given
	Arg   rune // the letter after m and ', the digit of a place
}

// Times returns how often to do it: Count, and once if none was given.
func (a Act) Times() int { return max(a.Count, 1) }

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
	Do struct{ Act Act }
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

// A Snapshot says that there is news in the log. It is sent at most 30 times a
// second, and when a screen comes to the top.
type Snapshot struct {
	Stats       Stats
	First, Last uint64 // the numbers of the requests that are kept; zero if none
	At          time.Time
}

// An Env is what every screen may use. It belongs to the goroutine of the user
// interface; what it points to is safe for the commands too.
type Env struct {
	Log      Log
	Routes   Routes    // nil if routes cannot be seen, as in a recording
	Asker    Asker     // nil if nothing can be asked
	Commands Commander // nil if there are no commands
	// Debugger holds requests; nil if nothing can be held, as in a recording.
	Debugger *debugger.Debugger
	Watches  []string // expressions that are watched while a request is held
	Theme    *Theme
	Keys     *Keys
	Undo     *Undos
	Events   *Events
	Now      func() time.Time
	Zone     *time.Location
	// After sends a message some time later. Tests send it when they like.
	After func(time.Duration, tea.Msg) tea.Cmd
	// Save writes a file for a person: it returns the path, and how many values
	// were masked in the text. Nil if files cannot be written.
	Save func(name, text string) (path string, masked int, err error)
	// Clear returns a live instance as data, in the clear. Nil if nothing can be
	// revealed.
	Clear func(instance any) (data.Value, bool)
	// Render returns a live instance as it is recorded, masked. Nil if nothing is
	// live.
	Render func(inst indirector.Instance) traces.Value
	// MaskText masks secrets in a text, and counts them. Nil masks nothing.
	MaskText func(text string) (string, int)
	// Probe asks a server, "puppet:8140", how it is, and returns that in a few
	// words. Nil if no server can be asked.
	Probe func(ctx context.Context, address string) string
	// Ignored are the rules of what does not count in comparisons, see
	// traces/diff.Options. They are changed by SetIgnored.
	Ignored []string
	// Keep writes a part of what is kept for this project, by its name; nil if
	// nothing is kept.
	Keep func(name string, v any) error
	// Shown is the filter of the list of requests, and At the request that its
	// cursor is on; 0 is none.
	Shown    string
	At       uint64
	Writable bool // save, destroy and expire are allowed towards what is real
	Redact   bool // masked values stay masked
	Ages     bool // times in lists are how long ago, at the start
}

// Clock formats a time of day, to the second.
func (e *Env) Clock(t time.Time) string { return t.In(e.Zone).Format("15:04:05") }

// ClockMillis formats a time of day, to the millisecond.
func (e *Env) ClockMillis(t time.Time) string { return t.In(e.Zone).Format("15:04:05.000") }

// StyleOf returns how an outcome looks. Good is not coloured.
func StyleOf(o traces.Outcome) Style {
	switch {
	case o == traces.Err:
		return Failed
	case o.Hidden():
		return Attention
	case o == traces.Hit:
		return Cached
	case o == traces.HeldOutcome, o == traces.Sim:
		return Touched
	case o == traces.Run, o == traces.Nil:
		return Quiet
	}
	return Plain
}

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

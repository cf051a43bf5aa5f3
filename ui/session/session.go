// Package session is what the places of the program share about what they look
// at: the log of requests, the routes, the debugger, and what may be asked.
package session

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/debugger"
	"indirtui/indirector/probe/hold"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Snapshot is news of the log. It is sent at most 30 times a
// second, and when a screen comes to the top.
type Snapshot struct {
	Stats       Stats
	First, Last uint64 // the numbers of the requests that are kept; zero if none
	At          time.Time
}

// A State is what is set for all screens. The root owns it: screens read it, and
// change it by [Env.Set].
type State struct {
	Watches  []string // expressions that are watched while a request is held
	Ignored  []string // rules of what does not count in comparisons, see traces/diff.Options
	Writable bool     // save, destroy and expire are allowed towards what is real
	Marked   Marked
}

// Marked is the plan that others are compared with. Without a name there is none.
type Marked struct {
	Name string
	JSON []byte // as it is compared
}

// Set is the message that changes the state. Then, which may be nil, returns what
// to do afterwards.
type Set struct {
	Change func(*State)
	Then   func() tea.Cmd
}

// A Table is the routes that a process has announced.
type Table struct {
	Process string // "agent-4711", as in proc=
	Title   string // "puppet agent (pid 4711)"
	Routes  indirector.Routes
}

// Values asks processes for values that they have not rendered. It is safe for
// concurrent use.
type Values interface {
	// There reports whether a process is there, by the name that its requests have.
	There(process string) bool
	// Open returns what a request was answered, or has saved, by its number in the
	// process. The error is why there is nothing.
	Open(ctx context.Context, process string, number uint64) (*traces.Values, error)
}

// An Env is the services that every screen may use. It belongs to the goroutine of
// the user interface; what it points to is safe for commands too.
type Env struct {
	screen.Shared
	State
	Log      Log
	Routes   Routes    // nil if routes cannot be seen, as in a recording
	Asker    Asker     // nil if nothing can be asked
	Commands Commander // nil if there are no commands
	// Debugger holds requests; nil if nothing can be held, as in a recording.
	Debugger *debugger.Debugger
	// Processes are other processes, whose requests the Debugger holds, too. Nil if
	// none can be attached.
	Processes *hold.Holder
	// Problems returns what is wrong with the configuration, the worst first. It may
	// hold secrets. Nil if there is none to read, as in a recording.
	Problems func() []string
	// Clear returns a live instance as data, in the clear. Nil if nothing can be
	// revealed.
	Clear func(instance any) (data.Value, bool)
	// Render returns a live instance as it is recorded, redacted. Nil if nothing is
	// live.
	Render func(inst indirector.Instance) traces.Value
	// RedactText redacts secrets in a text, and counts them. Nil redacts nothing.
	RedactText func(text string) (string, int)
	// Probe asks a server, "puppet:8140", how it is, and returns that in a few
	// words. Nil if no server can be asked.
	Probe func(ctx context.Context, address string) string
	// Tables returns the routes that processes have announced which are watched. Nil is
	// none.
	Tables func() []Table
	// Values returns what asks the processes that are watched for values, or nil. It may
	// be nil.
	Values func() Values
	// Several reports whether requests of several processes are watched, so that each
	// names its own. Nil is never.
	Several func() bool
	// Selection returns the filter of the list of requests and the request that its
	// cursor is on. Nil if there is no list.
	Selection func() (filter string, request uint64)
	Ages      bool // times in lists are how long ago, at the start
}

// Redacted returns a text without secrets.
func (e *Env) Redacted(text string) string {
	if e.RedactText != nil {
		text, _ = e.RedactText(text)
	}
	return text
}

// RedactedAs returns the value of a name, which may mark it as a secret, without
// secrets.
func (e *Env) RedactedAs(name, value string) string {
	if value, ok := strings.CutPrefix(e.Redacted(name+": "+value), name+": "); ok {
		return value
	}
	return e.Redacted(value)
}

// ListProblems returns what is wrong with the configuration, without secrets,
// the worst first.
func (e *Env) ListProblems() []string {
	if e.Problems == nil {
		return nil
	}
	var out []string
	for _, text := range e.Problems() {
		out = append(out, e.Redacted(text))
	}
	return out
}

// Set is the command that sends a [Set].
func (e *Env) Set(change func(*State), then func() tea.Cmd) tea.Cmd {
	return screen.Send(Set{change, then})
}

// Apply changes the state. Only its owner calls it.
func (e *Env) Apply(m Set) tea.Cmd {
	m.Change(&e.State)
	if m.Then == nil {
		return nil
	}
	return m.Then()
}

// StyleOf returns how an outcome looks. Good is not coloured.
func StyleOf(o traces.Outcome) term.Style {
	switch {
	case o == traces.Err:
		return term.Failed
	case o.Hidden():
		return term.Attention
	case o == traces.Hit:
		return term.Cached
	case o == traces.HeldOutcome, o == traces.Sim, o == traces.Planned:
		return term.Touched
	case o == traces.Run, o == traces.Nil, o == traces.Same, o == traces.Skipped:
		return term.Quiet
	}
	return term.Plain
}

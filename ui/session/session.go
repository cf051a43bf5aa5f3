// Package session is what the places of the program share about what they look
// at: the log of requests, the routes, the debugger, and what may be asked.
package session

import (
	"context"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

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
	screen.Shared
	Log      Log
	Routes   Routes    // nil if routes cannot be seen, as in a recording
	Asker    Asker     // nil if nothing can be asked
	Commands Commander // nil if there are no commands
	// Debugger holds requests; nil if nothing can be held, as in a recording.
	Debugger *debugger.Debugger
	Watches  []string // expressions that are watched while a request is held
	// Clear returns a live instance as data, in the clear. Nil if nothing can be
	// revealed.
	Clear func(instance any) (data.Value, bool)
	// Render returns a live instance as it is recorded, masked. Nil if nothing is
	// live.
	Render func(inst indirector.Instance) traces.Value
	// RedactText masks secrets in a text, and counts them. Nil masks nothing.
	RedactText func(text string) (string, int)
	// Probe asks a server, "puppet:8140", how it is, and returns that in a few
	// words. Nil if no server can be asked.
	Probe func(ctx context.Context, address string) string
	// Ignored are the rules of what does not count in comparisons, see
	// traces/diff.Options. They are changed by SetIgnored.
	Ignored []string
	// Shown is the filter of the list of requests, and At the request that its
	// cursor is on; 0 is none.
	Shown    string
	At       uint64
	Writable bool // save, destroy and expire are allowed towards what is real
	Redact   bool // masked values stay masked
	Ages     bool // times in lists are how long ago, at the start
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
	case o == traces.HeldOutcome, o == traces.Sim:
		return term.Touched
	case o == traces.Run, o == traces.Nil:
		return term.Quiet
	}
	return term.Plain
}

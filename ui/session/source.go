package session

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/screen"
)

// Row and Stats are what is known of requests, of one and of all.
type (
	Row   = store.Row
	Stats = store.Stats
)

// Log is where requests are kept: a *store.Store, live or of a recording.
type Log interface {
	Range() (first, last uint64)
	Rows(from uint64, dst []Row) int
	Row(id uint64) (Row, bool)
	Trace(id uint64) (*traces.Trace, error)
	Instance(id uint64) (any, bool)
	Asked(id uint64) (key string, ok bool)
	Body(traces.Value) ([]byte, error)
	Links(id uint64) store.Links
	Changed() <-chan struct{}
	Stats() Stats
	View(*query.Expr) *store.View
	Traffic(indirection string) store.Traffic
	Rates() [60]uint32
	SetMark(id uint64, mark byte) error
	Path() string
	Loading() (done, total int64)
}

// Routes is the table of routes of a running engine: an *indirector.Indirector.
type Routes interface {
	Registry() *indirector.Registry
	Routes() indirector.Routes
	Explain(indirection string) (indirector.Route, bool)
	Assign(indirection, slot string, c traces.Choice) error
	Withdraw(indirection string, source traces.SourceKind)
	SwapRoutes(next indirector.Routes, why string) (previous indirector.Routes)
	Journal() []indirector.Change
}

// Asker answers requests: an *indirector.Indirector.
type Asker interface {
	Do(context.Context, *indirector.Request) (indirector.Response, error)
}

// A Fleet is the log of many programs, of which not all is loaded.
type Fleet interface {
	// Want has what an expression means loaded; nil is everything.
	Want(*query.Expr)
	// About is what the user should know of what is loaded; may be "".
	About() string
}

var (
	_ Log    = (*store.Store)(nil)
	_ Routes = (*indirector.Indirector)(nil)
	_ Asker  = (*indirector.Indirector)(nil)
)

// Commander understands the lines of the command prompt.
type Commander interface {
	// Run runs a line. Its results are messages: Push, Toast, Done. The error is why
	// the line is refused: it was not run.
	Run(text string) (tea.Cmd, error)
	// Complete returns how the line may go on, the best first, and one or two
	// lines of help about what has been written.
	Complete(text string) (next []screen.Completion, help []string)
	// Names lists the commands with one line of help each, for the palette.
	Names() []screen.Completion
	// Screen is the console, which shows what was asked and answered.
	Screen() screen.Screen
}

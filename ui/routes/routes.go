// Package routes is the place Routes: which terminus and which cache answer for
// each indirection, who decided that, what else they could be, and what another
// choice would have made of the requests that were recorded.
package routes

import (
	"context"
	"strconv"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// An Engine is the running engine whose routes are shown and changed: an
// *engine.Engine. It is safe for concurrent use.
type Engine interface {
	session.Routes
	// Plan returns what would become of a request, without asking a terminus.
	Plan(context.Context, *indirector.Request, indirector.Routes) indirector.Forecast
	// Configured returns the table as it was at the start.
	Configured() indirector.Routes
	// WrapperCounts returns what the faults and delays of a slot have done.
	WrapperCounts(indirection, slot string) []indirector.WrapperCount
	// Passed returns the terminus to which another one passes requests on, and what
	// named it; zero if that one answers itself.
	Passed(indirection, terminus string, r *indirector.Request) traces.Choice
	// Overrides returns the indirections whose route is another now.
	Overrides() []string
}

// A Problem is something that is wrong with the configuration.
type Problem struct {
	Fatal  bool   // Puppet would not have started
	Source string // "routes.yaml:4"; "" if unknown
	Text   string // one sentence
}

// About is what is shown of an engine beside its routes.
type About struct {
	Source      string // "in process"
	Application string // "agent": whose section in routes.yaml counts
	Environment string
	Sections    []string // of routes.yaml, in order
	Found       bool     // whether there is a routes.yaml
	Problems    []Problem
}

// A Routes is the place.
type Routes struct {
	env           *session.Env
	own           Engine       // nil in a recording
	engine        Engine       // own; nil while the table of a process is shown
	process       string       // whose table that is
	chosen        bool         // the user has chosen whose table is shown
	about         func() About // as it is now
	width, height int
	list          widget.Table
	recorded      recorded
}

var _ screen.Screen = (*Routes)(nil)

// List returns the indirections.
func (r *Routes) List() screen.List { return &r.list }

// New shows the routes of an engine. A nil engine is a recording: its routes are
// those that its newest requests went by, and cannot be changed.
func New(env *session.Env, engine Engine, about func() About) *Routes {
	r := &Routes{env: env, own: engine, engine: engine, about: about, list: widget.Table{Gutter: gutter, Drags: true}}
	r.list.SetLen(len(r.rows()))
	return r
}

// Overridden returns how many indirections have a route that is not the
// configured one, for the tab and the status bar.
func (r *Routes) Overridden() int {
	if r.own == nil {
		return 0
	}
	return len(r.own.Overrides())
}

// Badge is what stands behind the name of the place: "*1".
func (r *Routes) Badge() (string, term.Style) {
	n := r.Overridden()
	if n == 0 {
		return "", term.Plain
	}
	return "*" + strconv.Itoa(n), term.Touched
}

func (r *Routes) Scope() screen.Scope { return screen.InRoutes }

func (r *Routes) Resize(width, height int) {
	r.width, r.height = width, height
	r.list.Columns = narrow
	if width >= screen.Wide {
		r.list.Columns = wide
	}
	r.layout()
}

// layout gives the list half of the lines if it needs them, and the rest to the
// detail.
func (r *Routes) layout() {
	r.list.SetHeight(min(r.list.Len, max((r.height-2)/2, 3), max(r.height-1, 0)))
}

func (r *Routes) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case session.Snapshot:
		if r.takeProcess() {
			break
		}
		return r.recorded.look(r, msg.Last)
	case recordedRoutes:
		r.recorded.take(msg)
	case slotChosen:
		return r.apply(msg)
	case whatIfChosen:
		return r.look(slotChosen(msg))
	}
	r.list.SetLen(len(r.rows()))
	r.layout()
	return nil
}

// A row is one indirection.
type row struct {
	name     string
	route    indirector.Route
	override bool // not as configured
	traffic  store.Traffic
}

// rows are the indirections in the order of their declaration; in a recording
// by name. There are a dozen.
func (r *Routes) rows() []row {
	if r.engine == nil {
		return r.recorded.rows(r.env.Log)
	}
	table := r.engine.Routes()
	other := make(map[string]bool)
	for _, name := range r.engine.Overrides() {
		other[name] = true
	}
	names := r.engine.Registry().Names()
	rows := make([]row, len(names))
	for i, name := range names {
		rows[i] = row{name, table[name], other[name], r.env.Log.Traffic(name)}
	}
	return rows
}

// focus returns the row under the cursor, and whether there is one.
func (r *Routes) focus() (row, bool) {
	rows := r.rows()
	if r.list.Cursor >= len(rows) {
		return row{}, false
	}
	return rows[r.list.Cursor], true
}

const (
	isRecording = "cannot be changed here: recording"
	isNothing   = "no route is known yet"
)

func (r *Routes) Disabled(do screen.Action) string {
	f, ok := r.focus()
	switch do {
	case screen.Reload:
		return screen.ReasonIf(r.engine == nil, r.fixed())
	case screen.NextTable:
		return screen.ReasonIf(len(r.tables()) == 0, "no process is watched that has routes")
	case screen.History, screen.UsedBy, screen.CopyMenu:
		return screen.ReasonIf(!ok, isNothing)
	case screen.Enter, screen.SwapCache, screen.WhatIf:
		switch {
		case r.engine == nil:
			return r.fixed()
		case len(r.engine.Registry().Termini(f.name)) == 0:
			return "this program has no terminus of " + f.name
		}
		return ""
	case screen.Reset:
		switch {
		case r.engine == nil:
			return r.fixed()
		case !touched(r.engine, f.name):
			return f.name + " is as configured"
		}
		return ""
	}
	return screen.ReasonIf(!widget.Moves(do), screen.Unknown)
}

func (r *Routes) Hints() []screen.Action {
	if r.engine == nil {
		return []screen.Action{screen.History, screen.UsedBy, screen.NextTable, screen.CopyMenu, screen.Enter}
	}
	return []screen.Action{screen.Enter, screen.SwapCache, screen.WhatIf, screen.History, screen.Reset, screen.UsedBy, screen.CopyMenu, screen.CommandLine}
}

func (r *Routes) Handle(a screen.Command) tea.Cmd {
	if a.Action == screen.NextTable {
		r.nextProcess()
		return nil
	}
	f, ok := r.focus()
	if !ok {
		return nil
	}
	switch a.Action {
	case screen.Reload:
		return screen.Send(screen.Run{Text: "reload"})
	case screen.Enter:
		return r.pick(f, indirector.SlotTerminus)
	case screen.SwapCache:
		return r.pick(f, indirector.SlotCache)
	case screen.WhatIf:
		return r.pickWhatIf(f)
	case screen.Reset:
		return Reset(r.engine, f.name)
	case screen.History:
		return screen.Show(widget.NewPager(&r.env.Shared, r.page(f)))
	case screen.UsedBy:
		filter := served(f)
		if r.process != "" {
			filter += " proc=" + r.process
		}
		return screen.Send(screen.Filter{Text: filter})
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&r.env.Shared, "copy", r.copies(f)))
	}
	return nil
}

// clock is the time of day of a change.
func (r *Routes) clock(t time.Time) string { return r.env.Clock(t) }

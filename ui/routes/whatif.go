package routes

import (
	"context"
	"fmt"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// most is how many recorded requests a what-if looks at, the newest.
const most = 500

// A fate is what would become of a request.
type fate uint8

const (
	answered fate = iota
	isNil
	expired
	fails
	noVerb
	depends
	fates
)

var fateWords = [fates]string{"would be answered", "nil", "expired, then nil", "would fail", "verb missing", "depends on the answer"}

// fateOf reads a forecast.
func fateOf(f *indirector.Forecast) fate {
	switch {
	case f.Steps[traces.Terminus].Because.Reason == traces.VerbMissing:
		return noVerb
	case f.Outcome.Failed():
		return fails
	case f.Outcome.Well():
		return answered
	case f.Outcome == traces.Nil && f.Steps[traces.Expiry].Answer == traces.Expired:
		return expired
	case f.Outcome == traces.Nil:
		return isNil
	}
	return depends
}

// A WhatIf counts what would have become of the recorded requests of an
// indirection under another route. Nothing is executed. It is used by one
// goroutine at a time.
type WhatIf struct {
	Indirection, Slot, Terminus string
	Lose, Gain                  int // answered then and not now, and the other way round

	engine Engine
	table  indirector.Routes
	log    session.Log
	at     uint64 // what was looked at begins here
	counts [fates][indirector.Expire]int
	first  [fates]uint64 // the newest request of each fate
	total  int
}

// NewWhatIf begins to count. See Step.
func NewWhatIf(log session.Log, engine Engine, indirection, slot, terminus string) *WhatIf {
	table := engine.Routes().With(indirection, slot, traces.Choice{Terminus: terminus, Kind: traces.FromYou, Source: "what-if"})
	_, last := log.Range()
	return &WhatIf{
		Indirection: indirection, Slot: slot, Terminus: terminus,
		engine: engine, table: table, log: log, at: last + 1,
	}
}

// patience is how long a step takes at most.
const patience = 20 * time.Millisecond

// Step counts for a short while, and reports whether it is done.
func (w *WhatIf) Step(ctx context.Context) (done bool) {
	began := time.Now()
	for row := range session.Backward(w.log, w.at) {
		switch {
		case w.total == most || ctx.Err() != nil:
			return true
		case time.Since(began) >= patience:
			return false
		}
		if w.at = row.ID; about(row, w.Indirection) && !own(row, w.table[w.Indirection], w.Slot) {
			w.count(ctx, row)
		}
	}
	return true
}

func (w *WhatIf) count(ctx context.Context, r *session.Row) {
	f := w.engine.Plan(ctx, &indirector.Request{
		Indirection: r.Indirection, Verb: r.Verb, Key: r.Key, Flags: r.Flags, Environment: r.Environment,
	}, w.table)
	is := fateOf(&f)
	w.total++
	w.counts[is][r.Verb]++
	if w.first[is] == 0 {
		w.first[is] = r.ID
	}
	was := r.Outcome.Well() || r.Outcome == traces.Stale || r.Outcome == traces.ErrHidden
	switch {
	case is == depends || r.Outcome == traces.Run || r.Outcome == traces.HeldOutcome:
	case was && is != answered:
		w.Lose++
	case !was && is == answered:
		w.Gain++
	}
}

// of returns how many requests share a fate.
func (w *WhatIf) of(is fate) int {
	n := 0
	for _, c := range w.counts[is] {
		n += c
	}
	return n
}

// String returns it in one line: "31 requests, nothing is executed: 2 would be
// answered, 29 nil".
func (w *WhatIf) String() string {
	if w.total == 0 {
		return "no recorded request of " + w.Indirection + " to tell from"
	}
	var parts []string
	for is := range fates {
		if n := w.of(is); n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, strings.Replace(fateWords[is], "depends", "depending", 1)))
		}
	}
	return term.Plural(w.total, "request") + ", nothing is executed: " + strings.Join(parts, ", ")
}

// pickWhatIf lets the user choose what to look at.
func (r *Routes) pickWhatIf(f row) tea.Cmd {
	of := func(slot string) []widget.Item {
		return r.candidates(f, slot, func(name string) tea.Cmd { return r.whatIf(slotChosen{f.name, slot, name}) })
	}
	items := of(indirector.SlotTerminus)
	for _, it := range of(indirector.SlotCache) {
		it.Name = "cache " + it.Name
		items = append(items, it)
	}
	return screen.Show(widget.NewMenu(&r.env.Shared, "what if "+f.name+" went to ...  nothing is executed", items))
}

// whatIfChosen is a choice that the user wants to see first.
type whatIfChosen slotChosen

// whatIf asks for a what-if.
func (r *Routes) whatIf(c slotChosen) tea.Cmd {
	return screen.Send(screen.For{Screen: r, Msg: whatIfChosen(c)})
}

// look shows a what-if and begins to count.
func (r *Routes) look(c slotChosen) tea.Cmd {
	return screen.Show(newPanel(r, c))
}

// A panel shows a what-if, on top of the lower lines of Routes.
type panel struct {
	widget.Popup
	r      *Routes
	c      slotChosen
	ctx    context.Context // ends with the panel: there is no other way to stop counting
	forget context.CancelFunc
	next   *WhatIf // being counted by a command
	shown  WhatIf  // a copy of what was counted last
	done   bool
	lacks  string
}

var _ screen.Screen = (*panel)(nil)

func newPanel(r *Routes, c slotChosen) *panel {
	p := &panel{r: r, c: c, next: NewWhatIf(r.env.Log, r.engine, c.indirection, c.slot, c.terminus)}
	p.ctx, p.forget = context.WithCancel(context.Background())
	return p
}

type counted struct {
	shown WhatIf
	done  bool
	lacks string
}

// Load counts for a while.
func (p *panel) Load() tea.Cmd {
	return screen.Later(func() tea.Msg {
		m := counted{done: p.next.Step(p.ctx)}
		m.shown = *p.next
		if m.done && p.ctx.Err() == nil {
			m.lacks = Lacking(p.r.env.Log, p.r.engine, p.c.indirection, p.c.slot, p.c.terminus)
		}
		return screen.For{Screen: p, Msg: m}
	})
}

func (p *panel) Hints() []screen.Action { return []screen.Action{screen.Enter, screen.Back} }

func (p *panel) Rows() int { return len(p.lines()) }

func (p *panel) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case counted:
		p.shown, p.done, p.lacks = msg.shown, msg.done, msg.lacks
		if !p.done {
			return p.Load()
		}
	case tea.KeyMsg:
		switch msg.String() {
		case "enter":
			p.forget()
			return screen.Close(p, screen.Send(screen.For{Screen: p.r, Msg: p.c}))
		case "esc", "q", "ctrl+c":
			p.forget()
			return screen.Close(p, nil)
		case "x":
			p.forget()
			return screen.Close(p, screen.Send(screen.Filter{Text: "ind=" + p.c.indirection}))
		}
	}
	return nil
}

func (p *panel) View() term.Lines { return p.lines() }

func (p *panel) lines() term.Lines {
	w := &p.shown
	var head term.Line
	head.Put(term.Bold, fmt.Sprintf(" WHAT IF  %s %s=%s", p.c.indirection, p.c.slot, p.owners()))
	switch {
	case !p.done:
		head.Put(term.Quiet, fmt.Sprintf("   so far %s, nothing is executed", term.Plural(w.total, "recorded request")))
	case w.total == most:
		head.Put(term.Quiet, fmt.Sprintf("   the newest %s, nothing is executed", term.Plural(w.total, "recorded request")))
	default:
		head.Put(term.Quiet, fmt.Sprintf("   %s, nothing is executed", term.Plural(w.total, "recorded request")))
	}
	lines := term.Lines{p.r.env.Theme.HRule(p.Width), head}
	if w.total > 0 {
		lines = append(lines, p.table()...)
		lines = append(lines, p.compared())
	} else if p.done {
		lines = append(lines, term.Of(term.Quiet, "   no request of "+p.c.indirection+" was recorded: there is nothing to tell from"))
	}
	if p.lacks != "" {
		var l term.Line
		l.Put(term.Attention, "   warning: ")
		l.Put(term.Plain, p.lacks)
		lines = append(lines, l)
	}
	var keys term.Line
	for _, k := range [][2]string{{"enter", "apply"}, {"x", "requests"}, {"esc", "forget"}} {
		keys.Put(term.Bold, "   "+k[0])
		keys.Put(term.Plain, " "+k[1])
	}
	return append(lines, keys)
}

// owners is what was chosen, and to which terminus it would pass requests on.
func (p *panel) owners() string {
	return traces.Owners(p.c.terminus, p.r.engine.Passed(p.c.indirection, p.c.terminus, nil).Terminus)
}

func (p *panel) table() term.Lines {
	w := &p.shown
	var seen []indirector.Verb
	for _, v := range verbs {
		for is := range fates {
			if w.counts[is][v] > 0 {
				seen = append(seen, v)
				break
			}
		}
	}
	columns := []widget.Column{{Min: 21, Priority: 3}}
	for _, v := range seen {
		columns = append(columns, widget.Column{Title: v.String(), Min: 7, Priority: 2, Right: true})
	}
	columns = append(columns, widget.Column{Title: "  newest", Min: 10, Priority: 1, Grow: 1})
	var shown []fate
	for is := range fates {
		if w.of(is) > 0 || is == answered || is == isNil {
			shown = append(shown, is)
		}
	}
	return widget.Block(columns, 3, len(shown)).Lines(p.r.env.Theme, p.Width, func(i int, r *widget.Row) { p.fateLine(shown[i], seen, r) })
}

func (p *panel) fateLine(is fate, seen []indirector.Verb, r *widget.Row) {
	w := &p.shown
	style := term.Plain
	switch {
	case w.of(is) == 0:
		style = term.Quiet
	case is == fails || is == noVerb:
		style = term.Failed
	case is == expired || is == isNil:
		style = term.Attention
	}
	r.Next(style, fateWords[is])
	for _, v := range seen {
		r.Next(style, term.Grouped(int64(w.counts[is][v])))
	}
	if row, ok := p.r.env.Log.Row(w.first[is]); ok {
		r.Put(term.Quiet, fmt.Sprintf("  #%d %s", row.ID, row.Key))
	}
}

// compared holds the forecast against what happened.
func (p *panel) compared() term.Line {
	w := &p.shown
	if w.Lose+w.Gain == 0 {
		return term.Of(term.Quiet, "   as far as can be said, the same requests are answered as before")
	}
	var l term.Line
	style := term.Plain
	if w.Lose > 0 {
		style = term.Attention
	}
	l.Put(style, fmt.Sprintf("   %d lose their answer, %d get one that had none", w.Lose, w.Gain))
	return l
}

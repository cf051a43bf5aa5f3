// Package breaks shows the breakpoints, and the requests that they hold.
package breaks

import (
	"fmt"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/debugger"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/steps"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A Breaks is the list of breakpoints, and below it that of held requests.
type Breaks struct {
	env           *session.Env
	width, height int
	breaks        []debugger.Info
	held          []debugger.Held
	list          widget.Table // of both, breakpoints first
	ticking       bool
	now           time.Time
}

var _ screen.Screen = (*Breaks)(nil)

// New returns the place.
func New(env *session.Env) *Breaks {
	return &Breaks{env: env, list: widget.Table{Columns: columns, Gutter: 2}}
}

type tick struct{}

func (b *Breaks) Scope() screen.Scope { return screen.InBreaks }

func (b *Breaks) Resize(width, height int) {
	b.width, b.height = width, height
	b.lay()
}

func (b *Breaks) lay() {
	b.list.SetHeight(max(b.height-5, 1))
	b.list.SetLen(len(b.breaks) + len(b.held))
}

func (b *Breaks) Update(msg tea.Msg) tea.Cmd {
	if b.env.Debugger == nil {
		return nil
	}
	switch msg := msg.(type) {
	case session.Snapshot:
		b.now = msg.At
	case tick:
		b.ticking = false
		b.now = b.env.Now()
	default:
		return nil
	}
	b.read()
	return b.tick()
}

func (b *Breaks) read() {
	b.breaks, b.held = b.env.Debugger.Breaks(), b.env.Debugger.Held()
	b.lay()
}

// tick lets the times of held requests go on.
func (b *Breaks) tick() tea.Cmd {
	if b.ticking || len(b.held) == 0 {
		return nil
	}
	b.ticking = true
	return b.env.After(time.Second, screen.For{Screen: b, Msg: tick{}})
}

// focus is what the cursor is on: a breakpoint, a held request, or neither.
func (b *Breaks) focus() (*debugger.Info, *debugger.Held) {
	switch i := b.list.Cursor; {
	case i < len(b.breaks):
		return &b.breaks[i], nil
	case i < len(b.breaks)+len(b.held):
		return nil, &b.held[i-len(b.breaks)]
	}
	return nil, nil
}

// toOpen is the held request that enter opens: the one in focus, or the oldest
// that the breakpoint in focus holds, or the oldest of all.
func (b *Breaks) toOpen() *debugger.Held {
	info, held := b.focus()
	if held != nil {
		return held
	}
	for i := range b.held {
		if info != nil && b.held[i].By == info.ID {
			return &b.held[i]
		}
	}
	if len(b.held) > 0 {
		return &b.held[0]
	}
	return nil
}

func (b *Breaks) Disabled(do screen.Action) string {
	if b.env.Debugger == nil {
		return screen.Unknown
	}
	info, _ := b.focus()
	switch {
	case widget.Moves(do), do == screen.AddBreak, do == screen.AllOff:
		return ""
	case do == screen.Enter:
		return screen.ReasonIf(b.toOpen() == nil && info == nil, "nothing is held")
	}
	switch do {
	case screen.OnOff, screen.EditBreak, screen.Remove, screen.UsedBy, screen.CopyMenu:
		return screen.ReasonIf(info == nil, "this is no breakpoint")
	case screen.Continue:
		return screen.ReasonIf(b.toOpen() == nil, "nothing is held")
	case screen.ContinueAll:
		return screen.ReasonIf(len(b.held) == 0, "nothing is held")
	case screen.LogOf:
		return screen.ReasonIf(len(b.env.Debugger.Lines()) == 0, "no breakpoint has logged anything")
	}
	return screen.Unknown
}

func (b *Breaks) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.OnOff, screen.EditBreak, screen.AddBreak, screen.Remove, screen.Continue, screen.ContinueAll, screen.LogOf, screen.UsedBy, screen.AllOff, screen.CommandLine}
}

func (b *Breaks) Handle(a screen.Command) tea.Cmd {
	d := b.env.Debugger
	info, _ := b.focus()
	switch a.Action {
	case screen.Enter:
		if h := b.toOpen(); h != nil {
			return screen.Send(screen.Open{Request: h.ID, New: true})
		}
		return steps.EditBreak(b.env, *info)
	case screen.AddBreak:
		return steps.AddBreak(b.env, "", "")
	case screen.EditBreak:
		return steps.EditBreak(b.env, *info)
	case screen.OnOff:
		return b.arm(info.ID, !info.On)
	case screen.Remove:
		return b.remove(*info)
	case screen.UsedBy:
		return screen.Send(screen.Filter{Text: info.When.String()})
	case screen.Continue:
		return b.done(d.Resume(b.toOpen().ID, debugger.Continue))
	case screen.ContinueAll:
		return screen.Notify(fmt.Sprintf("%s go on", term.Plural(d.ContinueAll(), "request")))
	case screen.AllOff:
		return b.allOff(!d.Off())
	case screen.LogOf:
		return screen.Show(widget.NewPager(&b.env.Shared, b.logPage()))
	case screen.CopyMenu:
		return screen.Send(screen.Copy{What: "breakpoint", Text: info.String()})
	}
	return nil
}

// done reads what has changed, or warns of an error.
func (b *Breaks) done(err error) tea.Cmd {
	b.read()
	if err != nil {
		return screen.Warn(err.Error(), "")
	}
	return nil
}

func (b *Breaks) arm(id string, on bool) tea.Cmd {
	d := b.env.Debugger
	set := func(on bool) tea.Cmd { return b.done(d.Arm(id, on)) }
	word := map[bool]string{true: "on", false: "off"}[on]
	command := ":break " + id + " " + word
	if cmd := set(on); cmd != nil {
		return cmd
	}
	return screen.Changed(command, !on, on, set)
}

func (b *Breaks) remove(info debugger.Info) tea.Cmd {
	d := b.env.Debugger
	if err := d.Remove(info.ID); err != nil {
		return screen.Warn(err.Error(), "")
	}
	b.read()
	command, id := ":break remove "+info.ID, info.ID
	undo := func() tea.Cmd {
		again, err := d.Add(info.Breakpoint)
		if err != nil {
			return screen.Warn(err.Error(), "")
		}
		id = again.ID
		if !info.On {
			err = d.Arm(id, false)
		}
		return b.done(err)
	}
	return screen.Did(command, undo, func() tea.Cmd { return b.done(d.Remove(id)) })
}

func (b *Breaks) allOff(off bool) tea.Cmd {
	b.env.Debugger.SetOff(off)
	b.read()
	if off {
		return screen.Send(screen.Done{Command: ":breaks off"})
	}
	return screen.Send(screen.Done{Command: ":breaks on"})
}

func (b *Breaks) logPage() widget.Page {
	p := widget.Page{Title: "Breaks > log"}
	for _, l := range b.env.Debugger.Lines() {
		p.Add(b.env.Clock(l.At), fmt.Sprintf("%s  #%d  %s", l.By, l.Request, l.Text), term.Plain)
	}
	return p
}

func (b *Breaks) Context() (left, right term.Line) {
	armed := 0
	for _, i := range b.breaks {
		if i.On {
			armed++
		}
	}
	left.Put(term.Bold, "Breaks")
	left.Put(term.Quiet, fmt.Sprintf("  %s · %d armed", term.Plural(len(b.breaks), "breakpoint"), armed))
	if n := len(b.held); n > 0 {
		left.Put(term.Touched, fmt.Sprintf(" · %d held", n))
	}
	if b.env.Debugger == nil {
		return left, right
	}
	if b.env.Debugger.Off() {
		right.Put(term.Attention, "everything is off")
		right.Put(term.Quiet, " · ")
	}
	limit := "no hold limit"
	if d := b.env.Debugger.HoldLimit(); d > 0 {
		text := d.String()
		if minutes, whole := strings.CutSuffix(text, "m0s"); whole {
			text = minutes + "m"
		}
		limit = "held at most " + text + ", then they continue"
	}
	right.Put(term.Quiet, limit)
	return left, right
}

var columns = []widget.Column{
	{Title: "ID", Min: 4, Want: 4, Priority: 9},
	{Title: "ON", Min: 3, Want: 3, Priority: 8},
	{Title: "WHEN", Min: 16, Want: 40, Priority: 7, Grow: 3},
	{Title: "WHERE", Min: 18, Want: 19, Priority: 6},
	{Title: "DO", Min: 10, Want: 24, Priority: 5, Grow: 1},
	{Title: "HITS", Min: 5, Want: 6, Priority: 4, Right: true},
	{Title: "LAST", Min: 8, Want: 8, Priority: 2, Right: true},
	{Title: "NOTE", Min: 10, Want: 20, Priority: 1},
}

func (b *Breaks) View() term.Lines {
	if b.env.Debugger == nil {
		return term.Lines{{}, term.Of(term.Plain, "   This is a recording: nothing can be held here.")}
	}
	if len(b.breaks)+len(b.held) == 0 {
		return term.Lines{
			{},
			term.Of(term.Plain, "   No breakpoints. On a request press b to stop requests like it."),
			{},
			term.Of(term.Plain, "   a                                          a new one, in a form"),
			term.Of(term.Plain, "   :break ind=catalog key=db07* before cache-read do hold"),
			term.Of(term.Plain, "   :break ind=facts verb=save at terminus do fail \"connection refused\" once"),
			term.Of(term.Plain, "   :break ind=catalog at ntp/manifests/init.pp:12"),
		}
	}
	lines := b.list.Lines(b.env.Theme, b.width, b.row)
	if from, to := b.list.Visible(); from <= len(b.breaks) && len(b.breaks) < to {
		lines = slices.Insert(lines, 1+len(b.breaks)-from, b.env.Theme.HRule(b.width), b.heldTitle())
	}
	restored := 0
	for _, i := range b.breaks {
		if i.Restored {
			restored++
		}
	}
	var below term.Lines
	if info, _ := b.focus(); info != nil {
		var l term.Line
		l.Put(term.Plain, " "+info.ID+" ")
		l.Add(term.Plain, term.Clean(info.String()))
		hits := term.Of(term.Plain, "  hits "+info.Count()+" ")
		l = l.Cut(max(b.width-hits.Width(), 20))
		l.Append(hits)
		below = append(below, l.Cut(b.width))
		if note := b.noteOf(info); note != "" {
			below = append(below, term.Of(term.Attention, "  "+note).Cut(b.width))
		}
	}
	if restored > 0 {
		below = append(below, term.Of(term.Quiet, fmt.Sprintf(" restored from last time, disarmed: %d   space arms one", restored)))
	}
	return append(lines.Fill(b.width, max(b.height-len(below), 0)), below...).Fill(b.width, b.height)
}

func (b *Breaks) row(i int, r *widget.Row) {
	if i >= len(b.breaks) {
		b.heldRow(&b.held[i-len(b.breaks)], r)
		return
	}
	info := &b.breaks[i]
	style, on := term.Plain, "on"
	if !info.On {
		style, on = term.Quiet, "off"
	}
	when := "always"
	if info.When != nil {
		when = info.When.String()
	}
	do := info.Action.String()
	if limit := info.Limit.String(); limit != "" {
		do += ", " + limit
	}
	last, note := "-", ""
	if !info.Last.IsZero() {
		last = b.env.Clock(info.Last)
	}
	hits := fmt.Sprint(info.Hits)
	if info.First > 0 {
		hits += "/" + fmt.Sprint(info.First)
	}
	switch {
	case info.Restored:
		note = "restored, disarmed"
	case info.Spent():
		note = "spent"
	case b.noteOf(info) != "":
		note = "see below"
	}
	for n, text := range []string{info.ID, on, when, info.Where.String(), do, hits, last, note} {
		own := style
		if n == 5 && info.Hits > 0 {
			own = term.Touched
		}
		r.Next(own, text)
	}
}

// noteOf is what the user should know of a breakpoint in other processes.
func (b *Breaks) noteOf(info *debugger.Info) string {
	if b.env.Processes == nil || !info.On {
		return ""
	}
	return b.env.Processes.Note(&info.Breakpoint)
}

func (b *Breaks) heldTitle() term.Line {
	var l term.Line
	l.Put(term.Touched|term.Bold, fmt.Sprintf(" HELD %d", len(b.held)))
	right := term.Of(term.Quiet, "others keep running ")
	l.To(b.width - right.Width())
	l.Append(right)
	return l
}

func (b *Breaks) heldRow(h *debugger.Held, l *widget.Row) {
	l.To(2)
	l.Put(term.Touched, fmt.Sprintf("#%d %s %s ", h.ID, h.Request.Verb, h.Request.Indirection))
	right := term.Of(term.Touched, steps.HeldAt(h)+"  "+steps.Clocks(h, b.now)+" ")
	if process := h.State.Home.String(); process != "" {
		in := term.Of(term.Quiet, "in "+process+"  ")
		if l.Width()+in.Width()+right.Width()+24 <= b.width { // the key is more
			in.Append(right)
			right = in
		}
	}
	l.Add(term.Plain, term.Clean(b.env.Redacted(h.Request.Key)).Cut(max(b.width-l.Width()-right.Width()-1, 8)))
	l.To(b.width - right.Width())
	l.Append(right)
}

// List returns breakpoints and held requests.
func (b *Breaks) List() screen.List { return &both{&b.list, len(b.breaks)} }

// both is the table with the title of held requests between its rows.
type both struct {
	*widget.Table
	breaks int
}

// Click leaves out the title.
func (t *both) Click(x, y int) bool {
	if t.Offset+y > t.breaks {
		y = max(y-2, 0)
	}
	return t.Table.Click(x, y)
}

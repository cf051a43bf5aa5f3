package ui

import (
	"slices"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/help"
	"github.com/charmbracelet/bubbles/key"
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// hintLines are last lines of frames, as they were drawn. To draw one takes a fifth
// of a frame, and moving up and down in a list goes to and fro between a few.
type hintLines []hintLine

type hintLine struct {
	offered []key.Help
	palette term.Palette
	bar     bool
	line    term.Line
}

// maxHintLines is how many are kept.
const maxHintLines = 8

// draw returns the line with the given keys.
func (h *hintLines) draw(th *term.Theme, offered []key.Binding) term.Line {
	same := func(b key.Binding, was key.Help) bool { return b.Help() == was }
	for _, l := range *h {
		if l.palette == th.Palette && l.bar == th.Bar && slices.EqualFunc(offered, l.offered, same) {
			return l.line
		}
	}
	l := hintLine{palette: th.Palette, bar: th.Bar}
	for _, b := range offered {
		l.offered = append(l.offered, b.Help())
	}
	component := help.Model{ShortSeparator: between, Styles: help.Styles{
		ShortKey: th.Lip(term.Accent | term.Bold), ShortDesc: th.Lip(term.Quiet), ShortSeparator: th.Lip(term.Quiet),
	}}
	l.line.Space(1)
	l.line.Append(th.Drawn(component.ShortHelpView(offered))[0])
	if len(*h) == maxHintLines {
		*h = (*h)[1:]
	}
	*h = append(*h, l)
	return l.line
}

// aroundHint are the cells that a hint must leave free.
const aroundHint = 8

// hints are the most useful keys now, as many as there is room for; the last is
// always help.
func (r *Model) hints(width int) term.Line {
	if b := r.waiting; b != nil {
		l := term.Of(term.Plain, " ")
		l.Put(term.Accent|term.Bold, b.Key())
		l.Put(term.Plain, " and a letter: "+b.About)
		return l
	}
	bindings := r.offered(width)
	offered := make([]key.Binding, len(bindings))
	for i, b := range bindings {
		offered[i] = b.Binding
	}
	return r.drawn.draw(r.env.Theme, offered)
}

// offered are the bindings that there is room for.
func (r *Model) offered(width int) []*screen.Binding {
	top := r.shown()
	room := width - 2 // a blank at each end
	last := r.env.Keys.Of(screen.Help, top.Scope())
	if top.Rows != nil {
		last = nil
	}
	if last != nil {
		room -= hintWidth(last)
	}
	offered := make([]*screen.Binding, 0, 12)
	for _, do := range top.Hints() {
		b := r.env.Keys.Of(do, top.Scope())
		if b == nil || !do.OfRoot() && !top.Captures() && !top.Now(b).Enabled() {
			continue
		}
		w := hintWidth(b)
		if w+aroundHint > room {
			continue
		}
		if len(offered) > 0 {
			w += utf8.RuneCountInString(between)
		}
		room -= w
		offered = append(offered, b)
	}
	if last != nil {
		offered = append(offered, last)
	}
	return offered
}

// clickHint does what the hint at a cell names.
func (r *Model) clickHint(x int) tea.Cmd {
	top := r.shown()
	if top.Captures() || r.waiting != nil {
		return nil
	}
	at := 1
	for _, b := range r.offered(r.width) {
		if x >= at && x < at+hintWidth(b) && !b.Arg {
			return r.command(screen.Command{Action: b.Do})
		}
		at += hintWidth(b) + utf8.RuneCountInString(between)
	}
	return nil
}

func hintWidth(b *screen.Binding) int {
	return term.Clean(b.Key()).Width() + 1 + term.Clean(b.Hint()).Width()
}

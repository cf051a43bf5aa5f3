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
	hints := r.offered(width)
	offered := make([]key.Binding, len(hints))
	for i, h := range hints {
		offered[i] = h[0].Binding
		if len(h) > 1 {
			offered[i].SetHelp(h.keys(), h[0].Hint())
		}
	}
	return r.drawn.draw(r.env.Theme, offered)
}

// A hint is one word about one key, or about several that have the same word:
// "{ } run".
type hint []*screen.Binding

func (h hint) keys() string {
	text := h[0].Key()
	for _, b := range h[1:] {
		text += " " + b.Key()
	}
	return text
}

func (h hint) width() int {
	return term.Clean(h.keys()).Width() + 1 + term.Clean(h[0].Hint()).Width()
}

// offered are the hints that there is room for.
func (r *Model) offered(width int) []hint {
	top := r.shown()
	room := width - 2 // a blank at each end
	last := r.env.Keys.Of(screen.Help, top.Scope())
	if top.Rows != nil {
		last = nil
	}
	if last != nil {
		room -= hint{last}.width()
	}
	offered := make([]hint, 0, 12)
	for _, do := range top.Hints() {
		b := r.env.Keys.Of(do, top.Scope())
		if b == nil || !do.OfRoot() && !top.Captures() && !top.Now(b).Enabled() {
			continue
		}
		if n := len(offered) - 1; n >= 0 && offered[n][0].Hint() == b.Hint() {
			if w := 1 + term.Clean(b.Key()).Width(); w+aroundHint <= room {
				room -= w
				offered[n] = append(offered[n], b)
			}
			continue
		}
		w := hint{b}.width()
		if w+aroundHint > room {
			continue
		}
		if len(offered) > 0 {
			w += utf8.RuneCountInString(between)
		}
		room -= w
		offered = append(offered, hint{b})
	}
	if last != nil {
		offered = append(offered, hint{last})
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
	for _, h := range r.offered(r.width) {
		if x >= at && x < at+h.width() {
			if b := h.at(x - at); !b.Arg {
				return r.command(screen.Command{Action: b.Do})
			}
			return nil
		}
		at += h.width() + utf8.RuneCountInString(between)
	}
	return nil
}

// at is the binding at a cell of a hint. The word is that of the last key.
func (h hint) at(x int) *screen.Binding {
	for _, b := range h[:len(h)-1] {
		if x -= term.Clean(b.Key()).Width() + 1; x < 0 {
			return b
		}
	}
	return h[len(h)-1]
}

package widget

import (
	"slices"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Pane is a part of a screen that stands beside others.
type Pane struct {
	Least int // cells that it needs to be of use
	Share int // its share of what is left over
}

// Panes stand side by side. One of them has the keys; the walls between them can be
// moved, and one of them can have the whole width. What the user has made of
// them is kept in a [screen.Split], so that it is the same on the next screen of
// this kind. The first pane moves by itself; the others are texts, which scroll.
type Panes struct {
	All   []Pane
	Split *screen.Split
	Focus int

	width   int
	shown   int // how many of them there is room for
	scrolls [maxPanes]Table
}

// maxPanes is how many stand side by side at most.
const maxPanes = 3

// moveBy is by how many cells a wall moves at once.
const moveBy = 4

// NewPanes returns panes that share what the user has made of them with others of
// this name.
func NewPanes(env *screen.Shared, name string, all ...Pane) Panes {
	return Panes{All: all, Split: env.Split(name), shown: 1}
}

// Resize takes the width, and how many of the panes are shown in it.
func (p *Panes) Resize(width, shown int) {
	p.width, p.shown = width, shown
	if p.Focus >= shown {
		p.Focus = 0
	}
}

// Several reports whether more than one pane can be shown.
func (p *Panes) Several() bool { return p.shown > 1 }

// Zoomed reports whether the pane with the keys has the whole width.
func (p *Panes) Zoomed() bool { return p.Several() && p.Split.Zoomed }

// Width returns how many cells a pane has; zero if it is not seen.
func (p *Panes) Width(pane int) int { return p.widths()[pane] }

// beside are the cells between two panes: a wall and a blank.
const beside = 2

// widths returns the cells of each pane.
func (p *Panes) widths() (w [maxPanes]int) {
	switch {
	case !p.Several():
		w[0] = p.width
		return w
	case p.Split.Zoomed:
		w[p.Focus] = p.width
		return w
	}
	spare, shares := p.width-beside*(p.shown-1), 0
	for i, pane := range p.All[:p.shown] {
		w[i] = pane.Least
		spare, shares = spare-pane.Least, shares+pane.Share
	}
	left := spare
	for i, pane := range p.All[:p.shown] {
		w[i] += spare * pane.Share / shares
		left -= spare * pane.Share / shares
	}
	w[0] += left
	for i := range min(len(p.Split.Moved), p.shown-1) {
		by := p.bounded(w, i, p.Split.Moved[i])
		w[i], w[i+1] = w[i]+by, w[i+1]-by
	}
	return w
}

// bounded returns by how many cells a wall can move when it ought to move by so
// many: both panes keep half of what they need.
func (p *Panes) bounded(w [maxPanes]int, wall, by int) int {
	least := func(pane int) int { return p.All[pane].Least / 2 }
	return max(min(by, w[wall+1]-least(wall+1)), least(wall)-w[wall])
}

// Disabled returns why an action on the panes does not work; it is
// [screen.Unknown] if it is none.
func (p *Panes) Disabled(do screen.Action) string {
	if !p.Several() {
		return screen.Unknown
	}
	switch do {
	case screen.Zoom, screen.Tab, screen.BackTab:
		return ""
	case screen.WallLeft, screen.WallRight:
		return screen.ReasonIf(p.Zoomed(), "one pane has the whole width")
	case screen.Back:
		return screen.ReasonIf(p.Focus == 0, screen.Unknown)
	}
	return screen.Unknown
}

// Handle does what is for the panes, and reports whether it was.
func (p *Panes) Handle(a screen.Command) bool {
	if !p.Several() {
		return false
	}
	switch a.Action {
	case screen.Tab:
		p.Focus = (p.Focus + 1) % p.shown
	case screen.BackTab:
		p.Focus = (p.Focus + p.shown - 1) % p.shown
	case screen.Zoom:
		p.Split.Zoomed = !p.Split.Zoomed
	case screen.WallLeft:
		p.moveWall(-moveBy * a.Times())
	case screen.WallRight:
		p.moveWall(moveBy * a.Times())
	case screen.Back:
		if p.Focus == 0 {
			return false
		}
		p.Focus, p.Split.Zoomed = 0, false
	default:
		return p.Focus > 0 && p.scrolls[p.Focus].Handle(a)
	}
	return true
}

// moveWall moves the wall at the right of the pane with the keys; of the last one
// that at its left.
func (p *Panes) moveWall(by int) {
	wall := min(p.Focus, p.shown-2)
	moved := slices.Clone(p.Split.Moved)
	for len(moved) <= wall {
		moved = append(moved, 0)
	}
	before := moved[wall]
	moved[wall] = 0
	p.Split.Moved = moved
	moved[wall] = p.bounded(p.widths(), wall, before+by)
}

// Start shows the beginning of every text again.
func (p *Panes) Start() {
	for i := range p.scrolls {
		p.scrolls[i].Offset = 0
	}
}

// At returns the pane at a cell.
func (p *Panes) At(x int) int {
	w := p.widths()
	for i := range p.shown {
		if x < w[i] && w[i] > 0 {
			return i
		}
		if w[i] > 0 {
			x -= w[i] + beside
		}
	}
	return p.shown - 1
}

// Wheel scrolls the pane with the keys, and reports whether that is a text.
func (p *Panes) Wheel(lines int) bool {
	if p.Focus == 0 {
		return false
	}
	p.scrolls[p.Focus].Scroll(lines)
	return true
}

// Lines returns the panes side by side. Draw returns all lines of a pane in the
// given cells, and what stands above it.
func (p *Panes) Lines(th *term.Theme, height int, draw func(pane, width int) (term.Lines, term.Title)) term.Lines {
	widths := p.widths()
	var out term.Lines
	at := 0
	for i := range p.shown {
		w := widths[i]
		if w == 0 {
			continue
		}
		lines, title := draw(i, w)
		if i > 0 {
			lines = p.seen(i, height, lines)
		}
		if at == 0 {
			if i > 0 {
				lines = indented(lines)
			}
			out, at = lines.Fill(w, height), w
			continue
		}
		lines = lines.Fill(w, height)
		title.Focus = i == p.Focus
		out = term.Beside(out, lines, at, th, title)
		at += beside + w
	}
	return out
}

// indented returns the lines of a text behind the wall of the screen.
func indented(lines term.Lines) term.Lines {
	out := make(term.Lines, len(lines))
	for i, l := range lines {
		if out[i] = l; !l.Rule() {
			out[i] = term.Of(term.Plain, " ")
			out[i].Append(l)
		}
	}
	return out
}

// seen returns the lines of a text that can be seen.
func (p *Panes) seen(pane, height int, lines term.Lines) term.Lines {
	t := &p.scrolls[pane]
	t.Paged, t.Len, t.Height = true, len(lines), height
	t.Scroll(0)
	from, to := t.Visible()
	return lines[from:to]
}

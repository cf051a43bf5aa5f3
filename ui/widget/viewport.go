package widget

import (
	"github.com/charmbracelet/bubbles/viewport"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Viewport is a text that fits into memory, of which a part is seen: what that
// is, Bubbles knows. It is drawn by us: the component would measure and break
// every line again, with another idea of cells and in fifteen times as long, and
// would ask the one renderer of the whole process. The zero Viewport is empty.
type Viewport struct {
	model viewport.Model
	lines term.Lines
	found int // the line that was searched last
}

var _ screen.List = (*Viewport)(nil)

// SetLines replaces the text. What is seen stays where it was, if it can.
func (v *Viewport) SetLines(lines term.Lines) {
	v.lines = lines
	v.model.SetContent(lines.Text())
	v.Scroll(0)
}

// Len returns how many lines there are.
func (v *Viewport) Len() int { return len(v.lines) }

// Resize sets how many lines of how many cells are seen.
func (v *Viewport) Resize(width, height int) {
	v.model.Width, v.model.Height = width, max(height, 0)
	v.Scroll(0)
}

// Height returns how many lines there is room for.
func (v *Viewport) Height() int { return v.model.Height }

// Visible returns the lines that are seen: from, and up to but not to.
func (v *Viewport) Visible() (from, to int) {
	return v.model.YOffset, min(v.model.YOffset+v.model.Height, len(v.lines))
}

// Scroll moves what is seen by n lines.
func (v *Viewport) Scroll(n int) { v.ScrollTo(v.model.YOffset + n) }

// ScrollTo has a line be the first that is seen, or the nearest that can be.
func (v *Viewport) ScrollTo(line int) { v.model.SetYOffset(line) }

// Handle moves what is seen, if the command is to move.
func (v *Viewport) Handle(a screen.Command) bool {
	n, moves := steps(a, len(v.lines), v.model.Height)
	v.Scroll(n)
	return moves
}

// Click does nothing: there is no cursor.
func (v *Viewport) Click(_, _ int) bool { return false }

// Wheel moves what is seen.
func (v *Viewport) Wheel(lines int) { v.Scroll(lines) }

// Lines returns what is seen.
func (v *Viewport) Lines() term.Lines {
	from, to := v.Visible()
	return v.lines[from:to]
}

// Find scrolls to the nearest line for which has is true, and reports whether
// there is one. It goes on behind the line it found last, as long as that is
// seen: the end of a text cannot be scrolled to the top. See Search.Find.
func (v *Viewport) Find(step int, has func(line int) bool) bool {
	from, to := v.Visible()
	if v.found < from || v.found >= to {
		v.found = from
	}
	at := Around(len(v.lines), v.found, step, has)
	if at >= 0 {
		v.found = at
		v.ScrollTo(at)
	}
	return at >= 0
}

package term

import (
	"slices"
	"strings"
)

// A Title stands in a border: Left behind its first corner, Right in front of the
// other one. Focus is set if the part below it has the keys of the panel.
type Title struct {
	Left, Right Line
	Focus       bool
}

// A seam is a wall inside of a panel: at which cell, and the title of the part at
// its right. More walls may be at its left.
type seam struct {
	at    int
	title Title
	left  *seam
}

// focus reports whether a part at the right of a wall has the keys.
func (s *seam) focus() bool { return s != nil && (s.title.Focus || s.left.focus()) }

// A Frame is what surrounds a panel.
type Frame struct {
	Top, Bottom Title
	Focus       bool // the panel has the keys
}

// Panel returns a box of exactly the given size around the lines. What reaches
// from wall to wall is joined to them: see [Theme.HRule] and [Beside].
func (th *Theme) Panel(width, height int, f Frame, lines Lines) Lines {
	inner := max(width-2, 0)
	lines = lines.Fill(inner, height-2)
	b := &th.Glyphs.Border
	out := make(Lines, 0, height)
	var first, last *seam
	if len(lines) > 0 {
		first, last = lines[0].seam, lines[len(lines)-1].seam
	}
	f.Top.Focus = f.Focus && !first.focus()
	out = append(out, th.border(inner, f.Top, first, f.Focus, [...]string{b.TopLeft, b.MiddleTop, b.TopRight}))
	for i := range lines {
		out = append(out, th.walled(th.joined(lines, i), inner, f.Focus))
	}
	bottom := f.Bottom
	bottom.Focus = f.Focus && !last.focus()
	if last != nil { // what is at the end of the lower border stays there
		all := &seam{at: last.at, left: last.left.untitled()}
		all.title.Right, all.title.Focus, bottom.Right = bottom.Right, last.title.Focus, Line{}
		last = all
	}
	return append(out, th.border(inner, bottom, last, f.Focus, [...]string{b.BottomLeft, b.MiddleBottom, b.BottomRight}))
}

// edgeOf is the style of the border of a part.
func edgeOf(focus bool) Style {
	if focus {
		return Accent
	}
	return Edge
}

// untitled returns the same walls without the titles of the parts between them.
func (s *seam) untitled() *seam {
	if s == nil {
		return nil
	}
	return &seam{at: s.at, left: s.left.untitled(), title: Title{Focus: s.title.Focus}}
}

// border returns the upper or the lower border. Each part has its piece of it.
func (th *Theme) border(inner int, t Title, s *seam, focus bool, corners [3]string) Line {
	for s != nil && s.at >= inner {
		s = s.left
	}
	var l Line
	l.Grow(12)
	l.Put(edgeOf(t.Focus), corners[0])
	th.borderOf(&l, inner, t, s, focus, corners[1])
	last := t.Focus
	if s != nil {
		last = focus && s.title.Focus
	}
	l.Put(edgeOf(last), corners[2])
	return l
}

// borderOf puts the pieces of all parts up to the given cell.
func (th *Theme) borderOf(l *Line, end int, t Title, s *seam, focus bool, joint string) {
	if s == nil {
		l.Append(th.across(t, end, edgeOf(t.Focus)))
		return
	}
	th.borderOf(l, s.at, t, s.left, focus, joint)
	before := t.Focus
	if s.left != nil {
		before = focus && s.left.title.Focus
	}
	l.Put(edgeOf(before), joint)
	l.Append(th.across(s.title, end-s.at-1, edgeOf(focus && s.title.Focus)))
}

// joined returns a line of a panel. A rule meets the walls that begin or end at
// it.
func (th *Theme) joined(lines Lines, i int) *Line {
	l := &lines[i]
	if !l.starts || !l.ends || l.seam != nil {
		return l
	}
	b := &th.Glyphs.Border
	for _, next := range []struct {
		line  int
		glyph string
	}{{i - 1, b.MiddleBottom}, {i + 1, b.MiddleTop}} {
		if next.line < 0 || next.line >= len(lines) {
			continue
		}
		for s := lines[next.line].seam; s != nil; s = s.left {
			if was := l.cells(s.at, s.at+1); was.String() != b.Top {
				continue // the title stands there
			}
			joint := Line{starts: true, ends: true}
			joint.Append(l.cells(0, s.at))
			joint.Put(Edge, next.glyph)
			joint.Append(l.cells(s.at+1, l.w))
			l = &joint
		}
	}
	return l
}

// walled returns a line between two walls: each belongs to the part beside it.
func (th *Theme) walled(l *Line, inner int, focus bool) Line {
	b := &th.Glyphs.Border
	left, right := b.Left, b.Right
	near, far := edgeOf(focus && !l.seam.focus()), edgeOf(focus && (l.seam == nil || l.seam.title.Focus))
	if l.starts {
		left = b.MiddleLeft
	}
	var out Line
	if l.reserved(2) {
		wall := Clean(left)
		out.spans, out.w = l.spans, l.w+wall.w
		out.spans[0] = span{wall, near}
	} else {
		out.Grow(len(l.spans) + 3)
		out.Put(near, left)
		out.Append(*l)
	}
	if l.ends {
		right = b.MiddleRight
		out.Put(Edge, strings.Repeat(b.Top, max(inner+1-out.w, 0)))
	} else {
		out.To(inner + 1)
	}
	out.Put(far, right)
	return out
}

// across returns a line across, with a title in it.
func (th *Theme) across(t Title, width int, edge Style) Line {
	rule := th.Glyphs.Border.Top
	var l Line
	if t.Left.w == 0 && t.Right.w == 0 {
		l.Put(edge, strings.Repeat(rule, max(width, 0)))
		return l
	}
	l.Grow(len(t.Left.spans) + len(t.Right.spans) + 6)
	room := width - 1 // for a rule at the end
	if t.Right.w > 0 {
		room -= t.Right.w + 3
	}
	if t.Left.w > 0 && room > 5 {
		l.Put(edge, rule)
		l.Space(1)
		l.Append(t.Left.Cut(room - 3))
		l.Space(1)
	}
	end := Line{}
	if t.Right.w > 0 {
		end.Space(1)
		end.Append(t.Right.Cut(max(width-3, 0)))
		end.Space(1)
		end.Put(edge, rule)
	}
	l.Put(edge, strings.Repeat(rule, max(width-l.w-end.w, 0)))
	l.Append(end)
	return l
}

// HRule returns a line across. A panel joins it to its walls.
func (th *Theme) HRule(width int) Line { return th.Titled(width, Title{}) }

// Titled returns a line across with a title in it.
func (th *Theme) Titled(width int, t Title) Line {
	l := th.across(t, width, Edge)
	l.starts, l.ends = true, true
	return l
}

// Above returns the rule above parts that stand beside each other, with their titles.
// The title is that of the first one.
func (th *Theme) Above(lines Lines, width int, t Title) Line {
	if len(lines) == 0 || lines[0].seam == nil {
		return th.Titled(width, t)
	}
	l := Line{starts: true, ends: true}
	th.borderOf(&l, width, t, lines[0].seam, true, th.Glyphs.Border.MiddleTop)
	return l
}

// Beside puts right to the right of left, with a wall between them. Left takes the
// given cells; both have the same height. The title is that of the part at the
// right, for the border of the panel. Left is not to be written to afterwards.
func Beside(left, right Lines, cells int, th *Theme, title ...Title) Lines {
	b := &th.Glyphs.Border
	s := &seam{at: cells}
	if len(left) > 0 {
		s.left = left[0].seam
	}
	if len(title) > 0 {
		s.title = title[0]
	}
	out := make(Lines, max(len(left), len(right)))
	for i := range out {
		var a, z Line
		if i < len(left) {
			a = left[i].Cut(cells)
		}
		if i < len(right) {
			z = right[i]
		}
		l := a
		l.ends, l.seam = z.ends, s
		l.Grow(len(z.spans) + 3) // a row of a table has that much room
		wall, joint := b.Left, 0
		if a.ends {
			l.Put(Edge, strings.Repeat(b.Top, cells-l.w))
			joint++
		} else {
			l.To(cells)
		}
		if z.starts {
			joint += 2
		}
		if joint > 0 {
			wall = [...]string{b.MiddleRight, b.MiddleLeft, b.Middle}[joint-1]
		}
		l.Put(Edge, wall)
		if !z.starts {
			l.Space(1)
		}
		l.Append(z)
		out[i] = l
	}
	return out
}

// Over lays a block over the middle of another, which is dimmed.
func Over(under, over Lines, width int) Lines {
	out := slices.Clone(under)
	for i := range out {
		out[i] = out[i].dimmed()
	}
	if len(over) == 0 {
		return out
	}
	w := over[0].w
	x, y := Middle(over, width, len(under))
	for i, l := range over {
		if y+i >= len(out) {
			break
		}
		below := &out[y+i]
		line := Line{starts: below.starts && x > 0, ends: below.ends, seam: below.seam}
		line.Append(below.cells(0, x))
		line.To(x)
		line.Append(l)
		line.To(x + w)
		line.Append(below.cells(x+w, below.w))
		out[y+i] = line
	}
	return out
}

// Middle is where [Over] lays a block over another one of the given size.
func Middle(over Lines, width, height int) (x, y int) {
	if len(over) == 0 {
		return 0, 0
	}
	return max(width-over[0].w, 0) / 2, max(height-len(over), 0) / 2
}

// dimmed returns the line without its colours.
func (l Line) dimmed() Line {
	out := l
	out.spans = slices.Clone(l.spans)
	for i := range out.spans {
		out.spans[i].style = Quiet
	}
	return out
}

// cells returns what is in the cells from and up to, but not to.
func (l *Line) cells(from, to int) Line {
	var out Line
	at := 0
	for _, s := range l.spans {
		begin, end := max(from-at, 0), min(to-at, s.w)
		if begin < end {
			t := s.Skip(begin)
			out.To(at + s.w - t.w - from) // a wide rune was cut in two
			out.Add(s.style, t.First(end-begin))
		}
		at += s.w
	}
	return out
}

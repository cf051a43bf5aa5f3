package term

import (
	"slices"
	"strings"
)

// A Title stands in a border: Left behind its first corner, Right in front of the
// other one.
type Title struct{ Left, Right Line }

// A seam is a wall inside of a panel: at which cell, and the title of the part at
// its right.
type seam struct {
	at    int
	title Title
}

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
	edge := Edge
	if f.Focus {
		edge = Accent
	}
	b := &th.Glyphs.Border
	out := make(Lines, 0, height)
	var first, last *seam
	if len(lines) > 0 {
		first, last = lines[0].seam, lines[len(lines)-1].seam
	}
	top, bottom := f.Top, f.Bottom
	var right Title
	if first != nil {
		right = first.title
	}
	out = append(out, th.border(inner, top, right, first, edge, [...]string{b.TopLeft, b.MiddleTop, b.TopRight}))
	for i := range lines {
		out = append(out, th.walled(th.joined(lines, i), inner, edge))
	}
	right = Title{}
	if last != nil { // what is at the end of the lower border stays there
		right.Right, bottom.Right = bottom.Right, Line{}
	}
	return append(out, th.border(inner, bottom, right, last, edge, [...]string{b.BottomLeft, b.MiddleBottom, b.BottomRight}))
}

// border returns the upper or the lower border. Beyond a seam it belongs to the
// part at the right, which never has the keys.
func (th *Theme) border(inner int, t, right Title, s *seam, edge Style, corners [3]string) Line {
	var l Line
	l.Grow(12)
	l.Put(edge, corners[0])
	if s == nil || s.at >= inner {
		l.Append(th.across(t, inner, edge))
		l.Put(edge, corners[2])
		return l
	}
	l.Append(th.across(t, s.at, edge))
	l.Put(edge, corners[1])
	l.Append(th.across(right, inner-s.at-1, Edge))
	l.Put(Edge, corners[2])
	return l
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
		if next.line < 0 || next.line >= len(lines) || lines[next.line].seam == nil {
			continue
		}
		at := lines[next.line].seam.at
		if was := l.cells(at, at+1); was.String() != b.Top {
			continue // the title stands there
		}
		joint := Line{starts: true, ends: true}
		joint.Append(l.cells(0, at))
		joint.Put(Edge, next.glyph)
		joint.Append(l.cells(at+1, l.w))
		l = &joint
	}
	return l
}

// walled returns a line between two walls.
func (th *Theme) walled(l *Line, inner int, edge Style) Line {
	b := &th.Glyphs.Border
	var out Line
	out.Grow(len(l.spans) + 3)
	left, right, far := b.Left, b.Right, edge
	if l.starts {
		left = b.MiddleLeft
	}
	if l.seam != nil {
		far = Edge
	}
	out.Put(edge, left)
	out.Append(*l)
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

// Beside puts right to the right of left, with a wall between them. Left takes the
// given cells; both have the same height. The title is that of the part at the
// right, for the border of the panel.
func Beside(left, right Lines, cells int, th *Theme, title ...Title) Lines {
	b := &th.Glyphs.Border
	s := &seam{at: cells}
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
		l := Line{starts: a.starts, ends: z.ends, seam: s}
		l.Grow(len(a.spans) + len(z.spans) + 3)
		l.Append(a)
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

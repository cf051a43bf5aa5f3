package term

import (
	"slices"
	"strings"
)

// A Style is how a piece of text looks: one of six roles, and attributes.
type Style uint16

// The roles. Rule: UI design, section 8. Good is Plain: nothing is green.
const (
	Plain     Style = iota
	Cached          // came from a cache
	Attention       // hidden, stale, partial, redacted
	Failed          // an error
	Touched         // overridden, injected, held, sent by the user
	Quiet           // not reached, planned, help
	Edge            // borders
	roles     Style = 7
)

// Accent is what has the keys, and what can be pressed.
const Accent = Cached

// The attributes.
const (
	Bold Style = 8 << iota
	Under
	Reverse
	Selected // the row with the cursor
	styles   // how many styles there are
)

// role returns the role of s without attributes.
func (s Style) role() Style { return s & roles }

type span struct {
	Text
	style Style
}

// A Line is one line of the screen: pieces of text with styles. The zero Line
// is empty. A Line is built by adding to it, from left to right.
type Line struct {
	spans        []span
	w            int
	starts, ends bool  // it is a rule there, which meets the wall of the panel
	seam         *seam // the wall in it; nil if there is none
}

// Lines is a block of them.
type Lines []Line

// Grow makes room for n pieces of text.
func (l *Line) Grow(n int) { l.spans = slices.Grow(l.spans, n) }

// Reserve leaves room in an empty line for what Panel puts in front of it and
// behind it: the line is then not copied, and must not be shown twice.
func (l *Line) Reserve() { l.spans = append(l.spans, span{}) }

// reserved reports whether there is room for so many pieces behind the line, too.
func (l *Line) reserved(behind int) bool {
	return len(l.spans) > 0 && l.spans[0] == (span{}) && cap(l.spans)-len(l.spans) >= behind
}

// Add adds text.
func (l *Line) Add(style Style, t Text) {
	if t.w == 0 {
		return
	}
	l.spans = append(l.spans, span{t, style})
	l.w += t.w
}

// Put adds our own words, or a string that has not been cleaned: it is.
func (l *Line) Put(style Style, s string) { l.Add(style, Clean(s)) }

// Cell adds text in exactly the given cells, at the left, cut if need be.
func (l *Line) Cell(style Style, t Text, cells int) {
	t = t.Cut(cells)
	l.Add(style, t)
	l.Space(cells - t.w)
}

// Right adds text in exactly the given cells, at the right, cut if need be.
func (l *Line) Right(style Style, t Text, cells int) {
	t = t.Cut(cells)
	l.Space(cells - t.w)
	l.Add(style, t)
}

// Space adds n empty cells; none if n is not positive.
func (l *Line) Space(n int) {
	if n > 0 {
		l.Add(Plain, Text{blanks(n), n})
	}
}

// To adds empty cells up to the given column.
func (l *Line) To(column int) { l.Space(column - l.w) }

// Append adds the pieces of another line.
func (l *Line) Append(other Line) {
	if other.reserved(0) {
		other.spans = other.spans[1:]
	}
	l.spans = append(l.spans, other.spans...)
	l.w += other.w
}

// Width returns how many cells the line takes.
func (l *Line) Width() int { return l.w }

// Cut returns the line in at most the given cells.
func (l Line) Cut(cells int) Line {
	if l.w <= cells {
		return l
	}
	out := Line{starts: l.starts, ends: l.ends, seam: l.seam}
	for _, s := range l.spans {
		if out.w+s.w > cells || out.w+s.w == cells && l.w > cells {
			out.Add(s.style, s.marked(cells-out.w))
			return out
		}
		out.Add(s.style, s.Text)
	}
	return out
}

// Rule reports whether the line is a rule from wall to wall.
func (l *Line) Rule() bool { return l.starts && l.ends }

// Trim returns the line without the blanks around it.
func (l Line) Trim() Line {
	out := l
	out.spans = slices.Clone(l.spans)
	for n := len(out.spans); n > 0; n = len(out.spans) {
		last := &out.spans[n-1]
		cut := Text{strings.TrimRight(last.s, " "), 0}
		cut.w = last.w - (len(last.s) - len(cut.s))
		out.w -= last.w - cut.w
		last.Text = cut
		if cut.w > 0 {
			break
		}
		out.spans = out.spans[:n-1]
	}
	for len(out.spans) > 0 {
		first := &out.spans[0]
		cut := Text{strings.TrimLeft(first.s, " "), 0}
		cut.w = first.w - (len(first.s) - len(cut.s))
		out.w -= first.w - cut.w
		first.Text = cut
		if cut.w > 0 {
			break
		}
		out.spans = out.spans[1:]
	}
	return out
}

// With returns the line with attributes added to all of it.
func (l Line) With(attributes Style) Line {
	out := l
	out.spans = make([]span, len(l.spans))
	for i, s := range l.spans {
		if s.w > 0 {
			s.style |= attributes
		}
		out.spans[i] = s
	}
	return out
}

// String returns the line as plain text, without the blanks at its end.
func (l Line) String() string {
	var b strings.Builder
	for _, s := range l.spans {
		b.WriteString(s.s)
	}
	return strings.TrimRight(b.String(), " ")
}

// Of returns a Line of one piece.
func Of(style Style, s string) Line {
	var l Line
	l.Put(style, s)
	return l
}

// Fill returns exactly height lines of at most width cells: what is too much is
// cut off, what is missing is empty.
func (ls Lines) Fill(width, height int) Lines {
	if len(ls) == height && !slices.ContainsFunc(ls, func(l Line) bool { return l.w > width }) {
		return ls
	}
	out := make(Lines, max(height, 0))
	for i := range min(len(ls), len(out)) {
		out[i] = ls[i].Cut(width)
	}
	return out
}

// blank reports whether a piece is nothing but blanks.
func (s *span) blank() bool {
	return len(s.s) == s.w && s.s[0] == ' ' && strings.TrimLeft(s.s, " ") == ""
}

const blank64 = "                                                                "

func blanks(n int) string {
	if n <= len(blank64) {
		return blank64[:n]
	}
	return strings.Repeat(" ", n)
}

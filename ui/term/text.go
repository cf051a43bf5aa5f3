package term

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/mattn/go-runewidth"
)

// A Text is text that is safe to put on a terminal: it has no control
// character, no bidirectional override and nothing of zero width, all of which
// are written out as escapes such as \x1b. It knows how many cells it takes.
// It is the only text that a [Line] accepts. The zero Text is empty.
type Text struct {
	s string
	w int
}

// Clean returns s as a Text. What a terminal might obey, or show as nothing,
// is written out: "\x1b", "\n", "\u202e", "\xff" for a byte that is no UTF-8.
func Clean(s string) Text {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return clean(s, i, int(^uint(0)>>1))
		}
	}
	return Text{s, len(s)}
}

// CleanTo is Clean for text that may be very long: it reads no more of s than
// fills the given cells, and one more so that [Text.Cut] sees that it was cut.
func CleanTo(s string, cells int) Text {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' {
			return clean(s, i, cells)
		}
		if i > cells {
			return Text{s[:i], i}
		}
	}
	return Text{s, len(s)}
}

// clean is Clean from the first byte on that is not plain.
func clean(s string, from, cells int) Text {
	var b strings.Builder
	b.Grow(min(len(s)+8, from+4*min(cells, 1<<20)+16))
	b.WriteString(s[:from])
	w := from
	for i := from; i < len(s) && w <= cells; {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			w += hex(&b, 'x', rune(s[i]), 2)
		case ' ' <= r && r <= '~':
			b.WriteByte(byte(r))
			w++
		default:
			w += write(&b, r)
		}
		i += n
	}
	return Text{b.String(), w}
}

// write writes one rune that is not plain ASCII, and returns its cells.
func write(b *strings.Builder, r rune) int {
	if w := cellsOf(r); w > 0 {
		b.WriteRune(r)
		return w
	}
	switch r {
	case '\n':
		b.WriteString(`\n`)
	case '\r':
		b.WriteString(`\r`)
	case '\t':
		b.WriteString(`\t`)
	default:
		switch {
		case r < 0x100:
			return hex(b, 'x', r, 2)
		case r < 0x10000:
			return hex(b, 'u', r, 4)
		}
		return hex(b, 'U', r, 8)
	}
	return 2
}

func hex(b *strings.Builder, letter byte, r rune, digits int) int {
	b.WriteByte('\\')
	b.WriteByte(letter)
	for i := digits - 1; i >= 0; i-- {
		b.WriteByte("0123456789abcdef"[r>>(4*i)&15])
	}
	return digits + 2
}

var widths = &runewidth.Condition{}

// joins are the runes that a terminal may draw together with a neighbour, so
// that two of them do not take the sum of their cells: Hangul jamo, flags, skin
// tones.
var joins = &unicode.RangeTable{
	R16: []unicode.Range16{
		{Lo: 0x1100, Hi: 0x11ff, Stride: 1},
		{Lo: 0x3164, Hi: 0x3164, Stride: 1},
		{Lo: 0xa960, Hi: 0xa97f, Stride: 1},
		{Lo: 0xd7b0, Hi: 0xd7ff, Stride: 1},
		{Lo: 0xffa0, Hi: 0xffa0, Stride: 1},
	},
	R32: []unicode.Range32{
		{Lo: 0x1f1e6, Hi: 0x1f1ff, Stride: 1},
		{Lo: 0x1f3fb, Hi: 0x1f3ff, Stride: 1},
		{Lo: 0xe0000, Hi: 0xe0fff, Stride: 1},
	},
}

// cellsOf returns how many cells r takes for itself; zero if it must be
// escaped.
func cellsOf(r rune) int {
	switch {
	case r < 0x7f:
		if r < ' ' {
			return 0
		}
		return 1
	case r < 0xa1, r == 0xad:
		return 0
	case r < 0x300:
		return 1
	case !unicode.IsGraphic(r), unicode.IsMark(r), unicode.Is(unicode.Zs, r) && r != 0x3000, unicode.Is(joins, r):
		return 0
	}
	return widths.RuneWidth(r)
}

// String returns the text, escapes and all.
func (t Text) String() string { return t.s }

// Width returns how many cells the text takes.
func (t Text) Width() int { return t.w }

// Cut returns the text in at most the given cells. If it had to be cut, its
// last cell is the mark of it, "…".
func (t Text) Cut(cells int) Text {
	if t.w <= cells {
		return t
	}
	return t.marked(cells)
}

// marked returns what of the text fits before the mark of a cut.
func (t Text) marked(cells int) Text {
	if cells <= 0 {
		return Text{}
	}
	head, w := t.split(cells - 1)
	return Text{t.s[:head] + "…", w + 1}
}

// CutMiddle is Cut for names and paths, whose end matters more than their middle.
func (t Text) CutMiddle(cells int) Text {
	if t.w <= cells || cells < 5 {
		return t.Cut(cells)
	}
	head := t.marked((cells + 1) / 2)
	tail := t.Skip(t.w - (cells - head.w))
	return Text{head.s + tail.s, head.w + tail.w}
}

// Skip returns the text without its first cells.
func (t Text) Skip(cells int) Text {
	at, w := t.split(cells)
	return Text{t.s[at:], t.w - w}
}

// First returns what of the text fits into the given cells, without a mark.
func (t Text) First(cells int) Text {
	at, w := t.split(cells)
	return Text{t.s[:at], w}
}

// split returns the number of bytes that take at most the given cells, and how
// many they take.
func (t Text) split(cells int) (at, w int) {
	if t.w <= cells {
		return len(t.s), t.w
	}
	if len(t.s) == t.w {
		return max(cells, 0), max(cells, 0)
	}
	for at < len(t.s) {
		r, n := utf8.DecodeRuneInString(t.s[at:])
		c := cellsOf(r)
		if w+c > cells {
			break
		}
		at, w = at+n, w+c
	}
	return at, w
}

// Index returns at which cell part begins in t, without regard to case; -1 if
// it is not there.
func (t Text) Index(part string) int {
	i := IndexFold(t.s, part)
	if i < 0 {
		return -1
	}
	w := 0
	for _, r := range t.s[:i] {
		w += cellsOf(r)
	}
	return w
}

// IndexFold is strings.Index without regard to case.
func IndexFold(s, part string) int {
	for i := 0; i+len(part) <= len(s); i++ {
		if strings.EqualFold(s[i:i+len(part)], part) {
			return i
		}
	}
	return -1
}

// Wrap breaks the text between words into lines of at most the given cells. A
// word that is longer than a line is broken. There are at most max lines; the
// last one is cut if there is more.
func (t Text) Wrap(cells, max int) []Text {
	var lines []Text
	for t.w > 0 && cells > 0 {
		if t.w <= cells {
			return append(lines, t)
		}
		if len(lines) == max-1 {
			return append(lines, t.Cut(cells))
		}
		at, w := t.split(cells)
		if space := strings.LastIndexByte(t.s[:min(at+1, len(t.s))], ' '); space > 0 {
			head := Text{t.s[:space], 0}
			for _, r := range head.s {
				head.w += cellsOf(r)
			}
			lines = append(lines, head)
			t = Text{t.s[space+1:], t.w - head.w - 1}
			continue
		}
		if at == 0 {
			return append(lines, t.Cut(cells))
		}
		lines = append(lines, Text{t.s[:at], w})
		t = Text{t.s[at:], t.w - w}
	}
	return lines
}

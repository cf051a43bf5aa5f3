package term

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A Screen remembers what a terminal shows, so that only what has changed is
// sent. Bubble Tea writes each line that has changed whole, which beside a list is
// a pane of its own in every line. The zero Screen knows nothing.
//
// Forgetting is safe: a line that is not known is sent whole.
type Screen struct {
	rows   [][]cell // by row, then by column; nil if it is not known
	styles []ink    // the first is plain
	texts  []string // of characters that are joined of several

	line   []cell // being drawn
	style  int32  // of what is drawn next
	erased bool   // the rest of the line is blank
	runs   []run  // of the line
	row    int    // of the line
	reach  int    // the column where the cursor would be in the row
	frame  bool   // a frame is being drawn

	out    []byte
	sent   int32 // the style that the terminal writes with
	at     int   // the row of its cursor; -1 if it is not known
	column int   // of its cursor
	blanks int   // that are to be written next
}

// A cell is what stands in a column: a character, or one of those that have no
// number of their own.
type cell struct {
	char  rune
	style int32
}

// What stands in a column if it is no character: the right half of one, and from
// joined on those of several code points, by their place among the texts.
const (
	half   rune = -1
	joined rune = -2
)

// An ink is a pen, and which ones follow from it.
type ink struct {
	pen
	next map[string]int32 // by the parameters of SGR
	from map[int32]string // what makes it of another
}

// known is how many styles and joined characters are known at most, far more than a
// screen has.
const known = 1000

// Forget forgets what the terminal shows, as when its size has changed.
func (s *Screen) Forget() { s.rows = nil }

// Draw returns what makes the terminal show what drawn does, which begins and ends
// in plain style. It is valid until the next call.
func (s *Screen) Draw(drawn []byte) []byte {
	if len(s.styles) == 0 || len(s.styles) > known || len(s.texts) > known {
		s.styles, s.texts = append(s.styles[:0], ink{}), s.texts[:0]
		s.Forget()
	}
	s.out, s.style, s.sent, s.column, s.blanks = s.out[:0], 0, 0, 0, 0
	s.at, s.frame = -1, false
	state := byte(0)
	for text := string(drawn); len(text) > 0; {
		if n := letters(text); n > 0 && s.frame && state == ansi.NormalState {
			for i := range n {
				s.line = append(s.line, cell{rune(text[i]), s.style})
			}
			text = text[n:]
			continue
		}
		seq, width, n, next := ansi.DecodeSequence(text, state, nil)
		s.take(seq, width)
		text, state = text[n:], next
	}
	s.end()
	s.pen(0)
	return s.out
}

// letters is how many bytes at the beginning of text are a character each.
func letters(text string) int {
	for i := range len(text) {
		if text[i] < ' ' || text[i] > '~' {
			return i
		}
	}
	return len(text)
}

// take takes a character or a control sequence.
func (s *Screen) take(seq string, width int) {
	switch {
	case seq == ansi.CursorHomePosition:
		s.end()
		s.frame, s.row, s.reach = true, 0, 0
	case !s.frame:
		s.pass(seq)
	case width > 0:
		s.line = append(s.line, cell{s.char(seq), s.style})
		for range width - 1 {
			s.line = append(s.line, cell{half, s.style})
		}
	case seq[0] >= utf8.RuneSelf && s.join(seq):
	case seq == "\r":
	case seq == "\n":
		s.end()
		s.row, s.reach = s.row+1, 0
	case seq == ansi.EraseLineRight:
		s.erased = true
	default:
		if codes, ok := styling(seq); ok {
			s.style = s.styled(codes)
			return
		}
		s.end()
		s.frame = false
		if seq[len(seq)-1] == 'H' { // the frame ends with that; it changes nothing
			s.out = append(s.out, seq...)
			s.at = -1
			return
		}
		s.move(s.reach)
		s.pen(s.style)
		s.pass(seq)
	}
}

// char returns the character that a text is.
func (s *Screen) char(text string) rune {
	if r, size := utf8.DecodeRuneInString(text); size == len(text) {
		return r
	}
	at := slices.Index(s.texts, text)
	if at < 0 {
		at = len(s.texts)
		s.texts = append(s.texts, text)
	}
	return joined - rune(at)
}

// appendChar appends the text of a character.
func (s *Screen) appendChar(b []byte, char rune) []byte {
	switch {
	case char >= 0:
		return utf8.AppendRune(b, char)
	case char <= joined:
		return append(b, s.texts[joined-char]...)
	}
	return b
}

// join adds what takes no column to the character before it, if there is one.
func (s *Screen) join(seq string) bool {
	for c := len(s.line) - 1; c >= 0; c-- {
		if x := &s.line[c]; x.char != half {
			x.char = s.char(string(s.appendChar(nil, x.char)) + seq)
			return true
		}
	}
	return false
}

// pass sends what is no frame as it is.
func (s *Screen) pass(seq string) {
	s.out = append(s.out, seq...)
	s.at = -1
	s.Forget()
}

// styled returns the style that the parameters of SGR make of the present one.
func (s *Screen) styled(codes string) int32 {
	now := &s.styles[s.style]
	if n, known := now.next[codes]; known {
		return n
	}
	p := now.pen
	p.take(codes)
	n := int32(slices.IndexFunc(s.styles, func(o ink) bool { return o.pen == p }))
	if n < 0 {
		n = int32(len(s.styles))
		s.styles = append(s.styles, ink{pen: p})
		now = &s.styles[s.style]
	}
	if now.next == nil {
		now.next = make(map[string]int32)
	}
	now.next[codes] = n
	return n
}

// end sends what differs in the line, which becomes what the terminal shows.
func (s *Screen) end() {
	if len(s.line) == 0 && !s.erased {
		return
	}
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	s.reach = len(s.line)
	was := s.rows[s.row]
	first := s.first(was)
	if first < max(len(was), len(s.line)) || was == nil {
		s.shorter(func() { s.differences(was, first) }, func() { s.afresh(first) }, was != nil)
	}
	s.rows[s.row], s.line, s.erased = s.line, was[:0], false
	if s.rows[s.row] == nil {
		s.rows[s.row] = []cell{}
	}
}

// first is the first column that differs.
func (s *Screen) first(was []cell) int {
	c := 0
	for was != nil && c < max(len(was), len(s.line)) && s.same(cellAt(was, c), cellAt(s.line, c)) {
		c++
	}
	return c
}

// shorter sends what takes fewer bytes. One is not possible if what the terminal
// shows is not known.
func (s *Screen) shorter(one, other func(), known bool) {
	if !known {
		other()
		return
	}
	const short = 32 // bytes; too few to look for less
	begin := len(s.out)
	sent, row, column := s.sent, s.at, s.column
	if one(); len(s.out)-begin < short {
		return
	}
	end := len(s.out)
	oneSent, oneRow, oneColumn := s.sent, s.at, s.column
	s.sent, s.at, s.column = sent, row, column
	if other(); len(s.out)-end < end-begin {
		s.out = append(s.out[:begin], s.out[end:]...)
		return
	}
	s.out = s.out[:end]
	s.sent, s.at, s.column = oneSent, oneRow, oneColumn
}

// A run is a part of a line in one style.
type run struct {
	begin, end int
	style      int32
}

// afresh erases the line from a column on and writes what is not blank, style by
// style: to change the colour takes more bytes than to move.
func (s *Screen) afresh(first int) {
	s.move(first)
	if s.styles[s.sent].solid() {
		s.pen(0)
	}
	s.out = append(s.out, ansi.EraseLineRight...)
	s.cut(first)
	for i := range s.runs {
		if s.runs[i].end == 0 {
			continue // written
		}
		for k := i; k < len(s.runs); k++ {
			if r := &s.runs[k]; r.style == s.runs[i].style && r.end > 0 {
				s.write(r.begin, r.end)
				r.end = 0
			}
		}
	}
}

// cut finds the runs of the line from a column on.
func (s *Screen) cut(first int) {
	s.runs = s.runs[:0]
	for c := first; c < len(s.line); c++ {
		x := s.line[c]
		if s.blank(x) {
			continue
		}
		if n := len(s.runs) - 1; n >= 0 && s.runs[n].style == x.style && c-s.runs[n].end <= nearby {
			s.runs[n].end = c + 1
		} else {
			s.runs = append(s.runs, run{c, c + 1, x.style})
		}
	}
}

// nearby is how many columns that have not changed are rather written than skipped.
const nearby = 4

// differences sends the parts of the line that are not what was there. A line is
// as wide as the terminal, or blank behind its end.
func (s *Screen) differences(was []cell, first int) {
	n := max(len(was), len(s.line))
	for c := first; c < n; c++ {
		if s.same(cellAt(was, c), cellAt(s.line, c)) {
			continue
		}
		last := c
		for d := c + 1; d < n && d-last <= nearby; d++ {
			x := cellAt(s.line, d)
			if !s.same(cellAt(was, d), x) {
				last = d
			} else if x.style != cellAt(s.line, last).style && !s.blank(x) {
				break // another style takes more bytes than to skip it
			}
		}
		s.write(c, last+1)
		c = last
	}
}

func cellAt(line []cell, c int) cell {
	if c < len(line) {
		return line[c]
	}
	return cell{char: ' '}
}

func (s *Screen) same(a, b cell) bool { return a == b || s.blank(a) && s.blank(b) }

// blank reports whether c looks like an erased cell.
func (s *Screen) blank(c cell) bool { return c.char == ' ' && !s.styles[c.style].solid() }

// write writes the columns from begin to end.
func (s *Screen) write(begin, end int) {
	s.move(begin)
	for c := begin; c < end; c++ {
		x := cellAt(s.line, c)
		if s.blank(x) {
			s.blanks++
			continue
		}
		s.leave(true)
		s.pen(x.style)
		s.out = s.appendChar(s.out, x.char)
		s.column++
	}
	s.leave(false)
}

// leave writes the blanks that wait. The cursor need not move behind them unless
// more is written there.
func (s *Screen) leave(moves bool) {
	const most, few = "          ", 4 // more take more bytes than to be erased, and moved over
	n := s.blanks
	if s.blanks = 0; n == 0 {
		return
	}
	if s.styles[s.sent].solid() {
		s.pen(0)
	}
	if n <= few || moves && n <= len(most) {
		s.out = append(s.out, most[:n]...)
		s.column += n
		return
	}
	s.out = append(s.out, ansi.EraseCharacter(n)...)
	if moves {
		s.out = append(s.out, ansi.CursorForward(n)...)
		s.column += n
	}
}

// move moves the cursor to a column of the row.
func (s *Screen) move(column int) {
	switch {
	case s.at >= 0 && s.row == s.at+1 && column < s.column:
		s.out = append(s.out, "\r\n"...)
		if column > 0 {
			s.out = append(s.out, ansi.CursorForward(column)...)
		}
	case s.row == s.at && s.column == column:
	case s.row == s.at && s.column < column:
		s.out = append(s.out, ansi.CursorForward(column-s.column)...)
	case s.row == s.at:
		s.out = append(s.out, ansi.CursorHorizontalAbsolute(column+1)...)
	default:
		s.out = append(s.out, ansi.CursorPosition(column+1, s.row+1)...)
	}
	s.at, s.column = s.row, column
}

// pen makes the terminal write in a style.
func (s *Screen) pen(style int32) {
	if style == s.sent {
		return
	}
	x := &s.styles[style]
	change, known := x.from[s.sent]
	if !known {
		change = x.pen.after(&s.styles[s.sent].pen).String()
		if x.from == nil {
			x.from = make(map[int32]string)
		}
		x.from[s.sent] = change
	}
	s.out = append(s.out, change...)
	s.sent = style
}

// styling returns the parameters of a sequence that is SGR.
func styling(seq string) (codes string, ok bool) {
	if len(seq) < 3 || seq[1] != '[' || seq[len(seq)-1] != 'm' {
		return "", false
	}
	codes = seq[2 : len(seq)-1]
	return codes, strings.Trim(codes, "0123456789;") == ""
}

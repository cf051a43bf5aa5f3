package term

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"
)

// A fake is a terminal, as far as frames need one.
type fake struct {
	width, height, row, column int
	full                       bool // the last column was written: the next character would begin a line
	pen                        pen
	cells                      [][]inked
	unknown                    []string
}

type inked struct {
	text string
	pen  pen
}

var nothing = inked{text: " "}

func newFake(width, height int) *fake {
	f := &fake{width: width, height: height, cells: make([][]inked, height)}
	for i := range f.cells {
		f.cells[i] = make([]inked, width)
		f.erase(i, 0, width)
	}
	return f
}

func (f *fake) erase(row, from, to int) {
	for c := from; c < min(to, f.width); c++ {
		f.cells[row][c] = inked{" ", pen{ground: f.pen.ground}}
	}
}

func (f *fake) write(b []byte) {
	var state byte
	for text := string(b); len(text) > 0; {
		seq, width, n, next := ansi.DecodeSequence(text, state, nil)
		text, state = text[n:], next
		if width > 0 {
			f.put(seq, width)
			continue
		}
		if seq[0] >= utf8.RuneSelf {
			f.join(seq)
			continue
		}
		f.control(seq)
	}
}

func (f *fake) put(text string, width int) {
	if f.full || f.column+width > f.width {
		f.row, f.column = min(f.row+1, f.height-1), 0
	}
	cells := f.cells[f.row]
	if cells[f.column].text == "" { // half of a wide character is none
		cells[f.column-1] = nothing
	}
	p := f.pen
	if text == " " && !p.solid() {
		p = pen{}
	}
	cells[f.column] = inked{text, p}
	for i := 1; i < width; i++ {
		cells[f.column+i] = inked{"", p}
	}
	if end := f.column + width; end < f.width && cells[end].text == "" {
		cells[end] = nothing
	}
	f.column += width
	if f.full = f.column == f.width; f.full {
		f.column--
	}
}

// join adds what takes no column to the character before the cursor.
func (f *fake) join(text string) {
	c := f.column - 1
	if f.full {
		c = f.column
	}
	for c > 0 && f.cells[f.row][c].text == "" {
		c--
	}
	if c >= 0 {
		f.cells[f.row][c].text += text
	}
}

func (f *fake) control(seq string) {
	f.full = f.full && strings.HasSuffix(seq, "m")
	if codes, ok := styling(seq); ok {
		f.pen.take(codes)
		return
	}
	if seq == "\r" {
		f.column = 0
		return
	}
	if seq == "\n" {
		f.row = min(f.row+1, f.height-1)
		return
	}
	if !strings.HasPrefix(seq, "\x1b[") {
		f.unknown = append(f.unknown, seq)
		return
	}
	first, second, _ := strings.Cut(seq[2:len(seq)-1], ";")
	n, _ := strconv.Atoi(first)
	m, _ := strconv.Atoi(second)
	switch seq[len(seq)-1] {
	case 'H':
		f.row, f.column = min(max(n-1, 0), f.height-1), min(max(m-1, 0), f.width-1)
	case 'G':
		f.column = min(max(n, 1)-1, f.width-1)
	case 'C':
		f.column = min(f.column+max(n, 1), f.width-1)
	case 'X':
		f.erase(f.row, f.column, f.column+max(n, 1))
	case 'K':
		f.erase(f.row, f.column, f.width)
	case 'J':
		from := f.row + 1
		if n == 2 {
			from = 0
		} else {
			f.erase(f.row, f.column, f.width)
		}
		for r := from; r < f.height; r++ {
			f.erase(r, 0, f.width)
		}
	default:
		f.unknown = append(f.unknown, seq)
	}
}

// A bubble draws frames as Bubble Tea does.
type bubble struct {
	width int
	last  []string
}

func (b *bubble) frame(lines []string) []byte {
	out := []byte(ansi.CursorHomePosition)
	for i, line := range lines {
		if i >= len(b.last) || b.last[i] != line {
			out = append(out, line...)
			if ansi.StringWidth(line) < b.width {
				out = append(out, ansi.EraseLineRight...)
			}
			if i < len(lines)-1 {
				out = append(out, '\r')
			}
		}
		if i < len(lines)-1 {
			out = append(out, '\n')
		}
	}
	if len(b.last) > len(lines) {
		out = append(out, ansi.EraseScreenBelow...)
	}
	b.last = lines
	return append(out, ansi.CursorPosition(0, len(lines))...)
}

// A twin is two terminals: one is sent frames as they are, the other what a
// Screen makes of them.
type twin struct {
	t            *testing.T
	bubble       bubble
	screen       Screen
	plain, lean  *fake
	drawn, wrote int
}

func newTwin(t *testing.T, width, height int) *twin {
	return &twin{t: t, bubble: bubble{width: width}, plain: newFake(width, height), lean: newFake(width, height)}
}

func (s *twin) write(b []byte) {
	s.t.Helper()
	out := s.screen.Draw(b)
	s.plain.write(b)
	s.lean.write(out)
	s.drawn, s.wrote = s.drawn+len(b), s.wrote+len(out)
	for r := range s.plain.cells {
		for c, want := range s.plain.cells[r] {
			if got := s.lean.cells[r][c]; got != want {
				s.t.Fatalf("row %d, column %d is %v, want %v\ndrawn %q\nsent  %q", r, c, got, want, b, out)
			}
		}
	}
	if s.plain.pen != s.lean.pen {
		s.t.Fatalf("the pen is %v, want %v after %q", s.lean.pen, s.plain.pen, b)
	}
	if fmt.Sprint(s.plain.unknown) != fmt.Sprint(s.lean.unknown) {
		s.t.Fatalf("other sequences are %q, want %q", s.lean.unknown, s.plain.unknown)
	}
}

// TestScreen: what is sent shows what was drawn.
func TestScreen(t *testing.T) {
	t.Parallel()
	const wall, reset = "\x1b[38;2;73;86;105m│", "\x1b[0m"
	for _, tt := range []struct {
		name   string
		frames []string
		most   int // bytes sent for the last one
	}{
		{"the same", []string{"abc\ndef", "abc\ndef"}, len("\x1b[2;H")},
		{"one letter", []string{"abcdefghij\nx", "abcdefghiJ\nx"}, len("\x1b[1;10HJ\x1b[2;H")},
		{"far apart", []string{"a" + strings.Repeat(".", 20) + "b", "A" + strings.Repeat(".", 20) + "B"}, len("\x1b[HA\x1b[20CB\x1b[1H")},
		{"the end is gone", []string{"a long line", "a"}, len("\x1b[1;2H\x1b[K\x1b[1H")},
		{"a style alone", []string{"abc def", "abc \x1b[1mdef" + reset}, len("\x1b[1;5H\x1b[1mdef\x1b[m\x1b[1H")},
		{"a style of blanks", []string{"\x1b[31ma  " + reset + "b", "\x1b[32ma  " + reset + "b"}, 30},
		{"a bar", []string{"  abc   ", "\x1b[7m  abc   " + reset}, 30},
		{"no bar any longer", []string{"\x1b[7m  abc                    " + reset, "  abc                    "}, 30},
		{"walls", []string{wall + "  a   " + wall + reset, wall + "  b   " + wall + reset}, 30},
		{"wide", []string{"a世界b", "a世x b", "aéx b", "a世界b"}, 30},
		{"half of a wide one", []string{"x世界b", "世界xb", "x世界b"}, 30},
		{"joined", []string{"e\u0301a👩\u200d🚀b", "ea👩\u200d🚀b", "e\u0301ab"}, 30},
		{"cleared in between", []string{"abc", "\x1b[2J", "abc"}, 30},
		{"fewer lines", []string{"a\nb\nc", "a"}, 30},
		{"not ours", []string{"abc", "\x1b]52;c;YWJj  ZGVm\a", "abd"}, 30},
		{"colours of the background", []string{"\x1b[48;5;4m ab " + reset + "  c", "\x1b[48;5;4m aB   c" + reset}, 30},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := newTwin(t, 40, 5)
			for _, frame := range tt.frames {
				s.wrote = 0
				if strings.HasPrefix(frame, "\x1b]") || frame == "\x1b[2J" {
					s.write([]byte(frame))
					s.bubble.last = nil
					continue
				}
				s.write(s.bubble.frame(strings.Split(frame, "\n")))
			}
			if s.wrote > tt.most {
				t.Errorf("%d bytes were sent, more than %d", s.wrote, tt.most)
			}
		})
	}
}

// TestScreenForgets: after the size has changed every line is sent whole.
func TestScreenForgets(t *testing.T) {
	t.Parallel()
	var s Screen
	b := bubble{width: 10}
	s.Draw(b.frame([]string{"abcdefghij"}))
	b.last = nil
	if out := s.Draw(b.frame([]string{"abcdefghij"})); bytes.Contains(out, []byte("abc")) {
		t.Errorf("what is known was sent: %q", out)
	}
	s.Forget()
	b.last = nil
	if out := s.Draw(b.frame([]string{"abcdefghij"})); !bytes.Contains(out, []byte("abcdefghij")) {
		t.Errorf("got %q", out)
	}
}

// randomFrame changes lines at random places into random texts of random styles.
func randomFrame(r *rand.Rand, width int, lines []string) []string {
	styles := []string{"", "\x1b[0m", "\x1b[m", "\x1b[1m", "\x1b[7m", "\x1b[31m", "\x1b[38;5;245m", "\x1b[38;2;1;2;3m", "\x1b[48;5;7m", "\x1b[1;4;32m", "\x1b[22;39m"}
	texts := []string{"a", "bc", " ", "    ", "            ", "─", "│", "世", "e\u0301", "…", "0.1"}
	out := append([]string(nil), lines...)
	for i := range out {
		if r.IntN(3) == 0 {
			continue
		}
		text := ""
		if at := r.IntN(width + 1); r.IntN(2) == 0 {
			text = ansi.Truncate(out[i], at, "") + "\x1b[0m"
		}
		for ansi.StringWidth(text) < width && r.IntN(40) > 0 {
			text += styles[r.IntN(len(styles))] + texts[r.IntN(len(texts))]
		}
		if text = ansi.Truncate(text, width, ""); strings.Contains(text, "\x1b") {
			text += "\x1b[0m"
		}
		out[i] = text
	}
	return out
}

// TestScreenRandom: random frames look the same.
func TestScreenRandom(t *testing.T) {
	t.Parallel()
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		s := newTwin(t, 10+r.IntN(60), 1+r.IntN(8))
		lines := make([]string, s.plain.height)
		for range 12 {
			if lines = randomFrame(r, s.plain.width, lines); r.IntN(4) == 0 {
				lines = lines[:1+r.IntN(len(lines))]
			}
			s.write(s.bubble.frame(lines))
		}
		if s.wrote > s.drawn {
			t.Errorf("seed %d: %d bytes became %d", seed, s.drawn, s.wrote)
		}
	}
}

// FuzzScreen: nothing is lost of what is written, whatever it is.
func FuzzScreen(f *testing.F) {
	f.Add("\x1b[Habc\r\nd\x1b[Ke\n\x1b[3H", "\x1b[Habd\r\n\x1b[31mx\x1b[0m\x1b[2H")
	f.Add("\x1b[H世\r\n", "\x1b[Hx\x1b[7m \x1b[m\r\n\x1b[J")
	f.Fuzz(func(t *testing.T, one, two string) {
		if !utf8.ValidString(one + two) {
			return // what is drawn was cleaned
		}
		var s Screen
		for _, drawn := range []string{one, two, one} {
			s.Draw([]byte(drawn))
			s.Forget()
			out := string(s.Draw([]byte(drawn)))
			if got, want := visible(out), visible(drawn); got != want {
				t.Errorf("%q became %q", drawn, out)
			}
		}
	})
}

// visible is what of a text is more than blanks and commands to the terminal, each
// character as often as it is there.
func visible(s string) string {
	counts := make(map[string]int)
	var state byte
	for len(s) > 0 {
		seq, width, n, next := ansi.DecodeSequence(s, state, nil)
		if s, state = s[n:], next; width > 0 && strings.TrimSpace(seq) != "" {
			counts[seq]++
		}
	}
	return fmt.Sprint(counts)
}

// BenchmarkScreen is one frame of 140x40 in which every line has changed.
func BenchmarkScreen(b *testing.B) {
	var frames [2][]byte
	for i := range frames {
		lines := make([]string, 40)
		for l := range lines {
			lines[l] = fmt.Sprintf("\x1b[38;2;86;179;233m│\x1b[0m %5d \x1b[38;5;245m08:44:28.0%02d\x1b[0m find %-30s \x1b[38;2;86;179;233mC json\x1b[0m%80s", l+i, l, "web01.example.com", "│")
		}
		frames[i] = (&bubble{width: 140}).frame(lines)
	}
	var s Screen
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		s.Draw(frames[i%2])
	}
}

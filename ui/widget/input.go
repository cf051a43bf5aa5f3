package widget

import (
	"unicode"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/term"
)

// maxInput is how many characters a line may have: what is pasted beyond is
// dropped.
const maxInput = 4096

// An Input is a line to write on. The zero Input is empty.
type Input struct {
	text []rune
	at   int
}

// Set replaces the text and puts the caret behind it.
func (in *Input) Set(s string) {
	in.text = []rune(s)
	if len(in.text) > maxInput {
		in.text = in.text[:maxInput]
	}
	in.at = len(in.text)
}

// String returns the text.
func (in *Input) String() string { return string(in.text) }

// Key lets a key have its effect on the line, and reports whether it has one.
func (in *Input) Key(msg tea.KeyMsg) bool {
	switch msg.String() {
	case "left", "ctrl+b":
		in.at = max(in.at-1, 0)
	case "right", "ctrl+f":
		in.at = min(in.at+1, len(in.text))
	case "home", "ctrl+a":
		in.at = 0
	case "end", "ctrl+e":
		in.at = len(in.text)
	case "backspace", "ctrl+h":
		in.cut(in.at-1, in.at)
	case "delete", "ctrl+d":
		in.cut(in.at, in.at+1)
	case "ctrl+u":
		in.cut(0, in.at)
	case "ctrl+k":
		in.cut(in.at, len(in.text))
	case "ctrl+w", "alt+backspace":
		in.cut(in.wordStart(), in.at)
	case "alt+d":
		in.cut(in.at, in.wordEnd())
	case "alt+left", "ctrl+left", "alt+b":
		in.at = in.wordStart()
	case "alt+right", "ctrl+right", "alt+f":
		in.at = in.wordEnd()
	default:
		if msg.Type != tea.KeyRunes && msg.Type != tea.KeySpace || msg.Alt {
			return false
		}
		in.insert(msg.Runes)
	}
	return true
}

// Edits reports whether a key with alt changes a line, so that it is not an
// escape that was typed before another key.
func Edits(msg tea.KeyMsg) bool {
	switch msg.String() {
	case "alt+backspace", "alt+d", "alt+left", "alt+b", "alt+right", "alt+f":
		return true
	}
	return false
}

func (in *Input) insert(runes []rune) {
	room := maxInput - len(in.text)
	for _, r := range runes {
		if room == 0 {
			return
		}
		if r == '\n' || r == '\t' || r == '\r' {
			r = ' ' // a line that was pasted is still one line
		}
		in.text = append(in.text[:in.at], append([]rune{r}, in.text[in.at:]...)...)
		in.at++
		room--
	}
}

func (in *Input) cut(from, to int) {
	from, to = max(from, 0), min(to, len(in.text))
	if from < to {
		in.text = append(in.text[:from], in.text[to:]...)
		in.at = from
	}
}

func (in *Input) wordStart() int {
	i := in.at
	for i > 0 && unicode.IsSpace(in.text[i-1]) {
		i--
	}
	for i > 0 && !unicode.IsSpace(in.text[i-1]) {
		i--
	}
	return i
}

func (in *Input) wordEnd() int {
	i := in.at
	for i < len(in.text) && unicode.IsSpace(in.text[i]) {
		i++
	}
	for i < len(in.text) && !unicode.IsSpace(in.text[i]) {
		i++
	}
	return i
}

// Line returns the text with the caret in at most the given cells; what is far
// from the caret is left out. Shift is how many cells are left out at the left.
func (in *Input) Line(th *term.Theme, cells int) (l term.Line, shift int) {
	before, after := term.Clean(string(in.text[:in.at])), term.Clean(string(in.text[in.at:]))
	shift = max(before.Width()-cells+2, 0)
	shown := before.Skip(shift)
	shift = before.Width() - shown.Width()
	l.Add(term.Plain, shown)
	if after.Width() == 0 {
		l.Put(term.Quiet, th.Glyphs.Caret)
		return l, shift
	}
	// The caret stands on a character: that one is turned around.
	on := term.Clean(string(in.text[in.at : in.at+1]))
	l.Add(term.Reverse, on)
	l.Add(term.Plain, after.Skip(on.Width()).First(cells-l.Width()))
	return l, shift
}

// Column returns the cell at which the byte at offset of the text begins.
func (in *Input) Column(offset int) int {
	s := in.String()
	return term.Clean(s[:min(max(offset, 0), len(s))]).Width()
}

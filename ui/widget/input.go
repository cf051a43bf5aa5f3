package widget

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textinput"
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/term"
)

// maxInput is how many characters a line may have: what is pasted beyond is
// dropped.
const maxInput = 4096

// An Input is a line to write on. The zero Input is empty. Text, caret and keys
// are those of Bubbles.
type Input struct {
	model textinput.Model
	made  bool
}

// edits are the keys that change a line or move in it. The key that reads the
// clipboard of the machine is not one of them: a terminal pastes by itself. There
// are no suggestions either: prompts have their own.
var edits = func() textinput.KeyMap {
	m := textinput.DefaultKeyMap
	for _, b := range []*key.Binding{&m.Paste, &m.AcceptSuggestion, &m.NextSuggestion, &m.PrevSuggestion} {
		b.Unbind()
	}
	return m
}()

// Edits reports whether a key changes a line or moves in it. A key with alt that
// does not is an escape that was typed before another key.
func Edits(msg tea.KeyMsg) bool {
	return key.Matches(msg, edits.CharacterForward, edits.CharacterBackward, edits.WordForward, edits.WordBackward,
		edits.DeleteWordBackward, edits.DeleteWordForward, edits.DeleteAfterCursor, edits.DeleteBeforeCursor,
		edits.DeleteCharacterBackward, edits.DeleteCharacterForward, edits.LineStart, edits.LineEnd)
}

// edit returns what edits the line.
func (in *Input) edit() *textinput.Model {
	if !in.made {
		in.model, in.made = textinput.New(), true
		in.model.CharLimit, in.model.KeyMap = maxInput, edits
		in.model.Cursor.SetMode(cursor.CursorStatic) // nothing ticks
		in.model.Focus()
	}
	return &in.model
}

// Set replaces the text and puts the caret behind it.
func (in *Input) Set(s string) {
	in.put([]rune(s))
	in.model.CursorEnd()
}

func (in *Input) put(text []rune) { in.edit().SetValue(string(standing(text))) }

// String returns the text.
func (in *Input) String() string { return string(in.text()) }

func (in *Input) text() []rune { return []rune(meant([]rune(in.model.Value()))) }

// meant returns a text with the characters that others stand in for.
func meant(text []rune) string {
	for i, r := range text {
		if r >= standIn && r <= standIn+unicode.MaxLatin1 {
			text[i] = r - standIn
		} else if r == standInBroken {
			text[i] = utf8.RuneError
		}
	}
	return string(text)
}

// The component drops characters that control something, and those that stand for
// bytes that are none. A key or a value that is edited may have them, and keeps
// them: there others stand in for them, from the end of what is for private use.
const (
	standIn       = 0x10fe00
	standInBroken = 0x10fffd
)

func standing(text []rune) []rune {
	out := make([]rune, len(text))
	for i, r := range text {
		switch {
		case r == utf8.RuneError:
			r = standInBroken
		case unicode.IsControl(r):
			r += standIn
		}
		out[i] = r
	}
	return out
}

// Key lets a key have its effect on the line, and reports whether it has one.
func (in *Input) Key(msg tea.KeyMsg) bool {
	m := in.edit()
	switch {
	case key.Matches(msg, edits.DeleteWordForward):
		in.deleteWord()
		return true
	case Edits(msg):
	case msg.Alt || msg.Type != tea.KeyRunes && msg.Type != tea.KeySpace:
		return false
	default:
		line := oneLine.Replace(string(msg.Runes))
		msg.Runes = standing([]rune(line))
	}
	*m, _ = m.Update(msg)
	return true
}

// oneLine makes one line of lines that are pasted.
var oneLine = strings.NewReplacer("\n", " ", "\t", " ", "\r", " ")

// deleteWord deletes the word behind the caret. The component finds its end; what
// it would delete by itself is the next word as well, if this one is a letter, and
// on the last character it panics.
func (in *Input) deleteWord() {
	m := in.edit()
	from := m.Position()
	*m, _ = m.Update(tea.KeyMsg{Type: tea.KeyCtrlRight})
	text := in.text()
	in.put(append(text[:from:from], text[m.Position():]...))
	m.SetCursor(from)
}

// Line returns the text with the caret in at most the given cells; what is far
// from the caret is left out. Shift is how many cells are left out at the left.
//
// The component could not draw it: to what it shows belong characters that are
// written out in several cells, and a caret at the end that is no blank.
func (in *Input) Line(th *term.Theme, cells int) (l term.Line, shift int) {
	text, at := in.text(), in.model.Position()
	before := term.Clean(string(text[:at]))
	shift = before.Width() - before.Skip(max(before.Width()-cells+2, 0)).Width()
	return caretLine(th, text, at, cells), shift
}

// caretLine returns a text with the caret in front of one of its characters, in at
// most the given cells.
func caretLine(th *term.Theme, text []rune, at, cells int) (l term.Line) {
	at = min(at, len(text))
	before, after := term.Clean(string(text[:at])), term.Clean(string(text[at:]))
	l.Add(term.Plain, before.Skip(max(before.Width()-cells+2, 0)))
	if after.Width() == 0 {
		l.Put(term.Quiet, th.Glyphs.Caret)
		return l
	}
	// The caret stands on a character: that one is turned around.
	on := term.Clean(string(text[at : at+1]))
	l.Add(term.Reverse, on)
	l.Add(term.Plain, after.Skip(on.Width()).First(cells-l.Width()))
	return l
}

// Column returns the cell at which the byte at offset of the text begins.
func (in *Input) Column(offset int) int {
	s := in.String()
	return term.Clean(s[:min(max(offset, 0), len(s))]).Width()
}

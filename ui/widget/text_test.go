package widget_test

import (
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/uitest"
	"indirtui/ui/widget"
)

// written is a Text in the hands of a test, and what was taken.
type written struct {
	*widget.Text
	taken []string
	file  string
}

func newText(t *testing.T, text, editor string) *written {
	t.Helper()
	w, env := new(written), uitest.NewClock().Shared()
	env.Exec = func(c *exec.Cmd, done tea.ExecCallback) tea.Cmd {
		w.file = c.Args[len(c.Args)-1]
		if info, err := os.Stat(w.file); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("the file of the editor: %v, %v", info, err)
		}
		return func() tea.Msg { return done(c.Run()) }
	}
	w.Text = widget.NewText(&env, widget.Text{
		Label: "note",
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			if text == "refused" {
				return &widget.Problem{Offset: -1, Text: "not this"}, nil
			}
			w.taken = append(w.taken, text)
			return nil, nil
		},
		Getenv: func(name string) string { return map[string]string{"VISUAL": editor, "EDITOR": "false"}[name] },
	}, text)
	w.Resize(60, 12)
	return w
}

func (w *written) press(keys ...tea.KeyMsg) (last tea.Cmd) {
	for _, k := range keys {
		last = w.Update(k)
	}
	return last
}

func TestText(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, text string
		keys       []tea.KeyMsg
		want       string
	}{
		{"several lines", "", append(runes("one"), append([]tea.KeyMsg{key(tea.KeyEnter)}, runes("two")...)...), "one\ntwo"},
		{"in an upper line", "one\ntwo", append([]tea.KeyMsg{key(tea.KeyUp), key(tea.KeyHome)}, runes("x")...), "xone\ntwo"},
		{"a paste of lines", "", []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune("a\r\nb\tc"), Paste: true}}, "a\nb\tc"},
		{"what is no text stays", "a\x1b[1m\x00\n\xff日", runes("b"), "a\x1b[1m\x00\n\uFFFD日b"},
		{"the clipboard of the machine is not read", "a", []tea.KeyMsg{key(tea.KeyCtrlV)}, "a"},
		{"a long line", strings.Repeat("日", 3000), runes("x"), strings.Repeat("日", 3000) + "x"},
		{"many lines", strings.Repeat("a\n", 500), runes("x"), strings.Repeat("a\n", 500) + "x"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newText(t, tt.text, "")
			w.press(tt.keys...)
			if got := w.String(); got != tt.want {
				t.Fatalf("got %.200q, want %.200q", got, tt.want)
			}
			for _, l := range w.View() {
				if l.Width() > 60 {
					t.Errorf("a line of %d cells", l.Width())
				}
			}
			cmd := w.press(key(tea.KeyCtrlD))
			if _, closed := cmd().(screen.Pop); !closed || len(w.taken) != 1 || w.taken[0] != tt.want {
				t.Errorf("taken: %.200q, closed: %t", w.taken, closed)
			}
		})
	}
}

// What was written is not lost by one key, and a text that is refused stays.
func TestTextIsNotLost(t *testing.T) {
	t.Parallel()
	w := newText(t, "", "")
	w.press(runes("refused")...)
	if cmd := w.press(key(tea.KeyCtrlD)); cmd != nil || !strings.Contains(w.View().Text(), "not this") {
		t.Errorf("the text is not refused:\n%s", w.View().Text())
	}
	if cmd := w.press(key(tea.KeyEsc)); cmd != nil || !strings.Contains(w.View().Text(), "esc again drops") {
		t.Errorf("the first esc drops it:\n%s", w.View().Text())
	}
	if cmd := w.press(letter('x'), key(tea.KeyEsc)); cmd != nil {
		t.Error("an esc after another key drops it")
	}
	if _, closed := w.press(key(tea.KeyEsc))().(screen.Pop); !closed {
		t.Error("the second esc does not close it")
	}
}

// The editor gets the text in a file that only the user reads; the file is gone
// afterwards, and an editor that fails changes nothing.
func TestTextInAnEditor(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sed"); err != nil {
		t.Skip("there is no sed to edit with")
	}
	for _, tt := range []struct{ name, editor, want, problem string }{
		{"edits", "sed -i s/one/two/", "two\nlines", ""},
		{"adds the end of the last line", `printf 'a\nb\n' >`, "a\nb", ""},
		{"fails", "false", "one\nlines", "the text is as it was"},
		{"is not there", "/nonexistent/editor", "one\nlines", "the text is as it was"},
		{"removes the file", "rm -f", "one\nlines", "no such file"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			w := newText(t, "one\nlines", tt.editor)
			msg, ok := w.press(key(tea.KeyCtrlO))().(screen.For)
			if !ok || msg.Screen != w.Text {
				t.Fatalf("got %#v", msg)
			}
			w.Update(msg.Msg)
			if got := w.String(); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			if seen := w.View().Text(); !strings.Contains(seen, tt.problem) {
				t.Errorf("want %q in\n%s", tt.problem, seen)
			}
			if _, err := os.Stat(w.file); !os.IsNotExist(err) {
				t.Errorf("the file is still there: %v", err)
			}
		})
	}
}

// No order of keys breaks the component.
func TestTextTakesAnyKeys(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 11))
	all := append(runes("a b日\u0301."), key(tea.KeyEnter), key(tea.KeyUp), key(tea.KeyDown), key(tea.KeyLeft), key(tea.KeyRight),
		key(tea.KeyHome), key(tea.KeyEnd), key(tea.KeyBackspace), key(tea.KeyDelete), key(tea.KeyCtrlW), key(tea.KeyCtrlU), key(tea.KeyCtrlK),
		key(tea.KeyCtrlT), key(tea.KeyTab), key(tea.KeyPgUp), alt('b'), alt('f'), alt('d'), alt('c'), alt('<'), alt('>'), tea.KeyMsg{Type: tea.KeyBackspace, Alt: true})
	w := newText(t, "one\ntwo", "")
	for range 3000 {
		w.press(all[r.IntN(len(all))])
	}
	_ = w.View()
}

package widget

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/charmbracelet/bubbles/cursor"
	"github.com/charmbracelet/bubbles/key"
	"github.com/charmbracelet/bubbles/textarea"
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Text asks for a text of several lines, on top of the lower lines of another
// screen, or in the editor of the user. It closes itself. Lines, caret and keys are
// those of Bubbles.
type Text struct {
	Popup
	Label, Hint string
	Enter       func(text string) (*Problem, tea.Cmd) // nil Problem closes it
	// Env returns a variable of the environment. Nil is [os.Getenv].
	Getenv func(string) string

	model   textarea.Model
	was     string // before anything was written
	warned  bool   // that what was written would be dropped
	problem *Problem
	top     int // the first line that is seen
	height  int
}

// The keys that are not those of the text.
const (
	textDone   = "ctrl+d"
	textEditor = "ctrl+o"
)

// textRows is how many lines of the screen a Text covers at most.
const textRows = 16

// maxText is how many characters a text may have.
const maxText = 1 << 16

// maxLine is how many cells of a line the component takes for one: it measures each
// word anew with every letter of it.
const maxLine = 1 << 10

// textKeys are the keys that change a text or move in it. Those that read the
// clipboard of the machine or swap letters are not among them, nor is the one to the
// word before: at the beginning of a text the component never comes back from it.
var textKeys = func() textarea.KeyMap {
	m := textarea.DefaultKeyMap
	for _, b := range []*key.Binding{&m.Paste, &m.CapitalizeWordForward, &m.LowercaseWordForward, &m.UppercaseWordForward, &m.TransposeCharacterBackward, &m.WordBackward} {
		b.Unbind()
	}
	m.DeleteCharacterForward.SetKeys("delete")
	return m
}()

// NewText returns t with a text in it, ready to be pushed.
func NewText(env *screen.Shared, t Text, text string) *Text {
	t.Popup.Env = env
	t.model = textarea.New()
	t.model.CharLimit, t.model.MaxHeight, t.model.MaxWidth, t.model.KeyMap = maxText, 0, 0, textKeys
	t.model.Prompt, t.model.ShowLineNumbers = "", false
	t.model.SetWidth(maxLine)
	t.model.Cursor.SetMode(cursor.CursorStatic)
	t.model.Focus()
	t.set(text)
	t.was = t.String()
	if t.Getenv == nil {
		t.Getenv = os.Getenv
	}
	return &t
}

// String returns the text.
func (t *Text) String() string { return meant([]rune(t.model.Value())) }

func (t *Text) set(text string) { t.model.SetValue(standingLines(text)) }

// standingLines lets others stand in for characters that the component would drop,
// but for the ends of lines.
func standingLines(text string) string {
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = string(standing([]rune(line)))
	}
	return strings.Join(lines, "\n")
}

func (t *Text) Rows() int { return textRows }

func (t *Text) Hints() []screen.Action { return []screen.Action{screen.Back} }

// Resize takes the space: a line is the label, another the keys.
func (t *Text) Resize(width, height int) { t.Width, t.height = width, max(height-2, 1) }

// edited is the message of the editor.
type edited struct {
	text string
	err  error
}

func (t *Text) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case edited:
		if msg.err != nil {
			t.problem = &Problem{Offset: -1, Text: msg.err.Error()}
			return nil
		}
		t.set(msg.text)
		t.problem = nil
	case tea.KeyMsg:
		return t.key(msg)
	}
	return nil
}

func (t *Text) key(msg tea.KeyMsg) tea.Cmd {
	warned := t.warned
	t.warned = false
	switch msg.String() {
	case "esc", "ctrl+c":
		if t.String() == t.was || warned {
			return screen.Close(t, nil)
		}
		t.warned = true
		t.problem = &Problem{Offset: -1, Text: msg.String() + " again drops what was written"}
		return nil
	case textDone:
		problem, cmd := t.Enter(t.String())
		if problem != nil {
			t.problem = problem
			return cmd
		}
		return screen.Close(t, cmd)
	case textEditor:
		return t.edit()
	}
	t.problem = nil
	if msg.Type == tea.KeyRunes || msg.Type == tea.KeySpace {
		msg.Runes = []rune(standingLines(strings.ReplaceAll(string(msg.Runes), "\r\n", "\n")))
	}
	t.model, _ = t.model.Update(msg)
	return nil
}

// edit gives the text to the editor of the user, in a file that only the user can
// read and that is removed afterwards.
func (t *Text) edit() tea.Cmd {
	failed := func(err error) tea.Cmd {
		t.problem = &Problem{Offset: -1, Text: err.Error()}
		return nil
	}
	if t.Popup.Env.Exec == nil {
		return failed(errors.New("there is no terminal that an editor could have"))
	}
	dir, err := os.MkdirTemp("", "indirtui-")
	if err != nil {
		return failed(err)
	}
	path := filepath.Join(dir, "text")
	if err := os.WriteFile(path, []byte(t.String()), 0o600); err != nil {
		return failed(errors.Join(err, os.RemoveAll(dir)))
	}
	editor := "vi"
	for _, name := range []string{"EDITOR", "VISUAL"} {
		if s := strings.TrimSpace(t.Getenv(name)); s != "" {
			editor = s
		}
	}
	// The variable may have arguments: a shell reads it, as it does for git.
	return t.Popup.Env.Exec(exec.Command("sh", "-c", editor+` "$@"`, editor, path), func(err error) tea.Msg {
		m := edited{err: err}
		if err != nil {
			m.err = fmt.Errorf("%s: %w; the text is as it was", editor, err)
		} else {
			m.text, m.err = readEdited(path, t.was)
		}
		if err := os.RemoveAll(dir); m.err == nil {
			m.err = err
		}
		return screen.For{Screen: t, Msg: m}
	})
}

// readEdited reads what an editor has written, without the end of the last line that
// editors add.
func readEdited(path, was string) (string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return "", err
	}
	if info.Size() > maxText {
		return "", fmt.Errorf("the text is longer than %s", term.Bytes(maxText))
	}
	b, err := os.ReadFile(path)
	text := string(b)
	if !strings.HasSuffix(was, "\n") {
		text = strings.TrimSuffix(text, "\n")
	}
	return text, err
}

// View returns the label, the lines around the caret, and what is wrong or what
// the keys are.
func (t *Text) View() term.Lines {
	th := t.Popup.Env.Theme
	lines := strings.Split(t.model.Value(), "\n")
	row := t.model.Line()
	title := term.Title{Left: term.Of(term.Bold, t.Label)}
	title.Right.Put(term.Quiet, fmt.Sprintf("line %d of %d", row+1, len(lines)))
	out := term.Lines{th.Titled(t.Width, title)}
	t.top = min(max(min(t.top, row), row-t.height+1), max(len(lines)-1, 0))
	for i := t.top; i < min(t.top+t.height, len(lines)); i++ {
		var l term.Line
		l.Space(1)
		if i == row {
			at := t.model.LineInfo()
			l.Append(caretLine(th, []rune(meant([]rune(lines[i]))), at.StartColumn+at.ColumnOffset, t.Width-2))
		} else {
			l.Add(term.Plain, term.CleanTo(meant([]rune(lines[i])), t.Width-2))
		}
		out = append(out, l)
	}
	out = out.Fill(t.Width, t.height+1)
	foot := term.Of(term.Quiet, " "+textDone+" takes it · "+textEditor+" in your editor · esc drops it   "+t.Hint)
	if t.problem != nil {
		foot = term.Of(term.Attention, " "+t.problem.Text)
	}
	return append(out, foot)
}

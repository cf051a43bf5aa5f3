package widget

import (
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
)

// A Field is one line of a Form.
type Field struct {
	Label   string
	Hint    string   // what may stand here
	Choices []string // up and down go through them; nil is that there are none
	Input   Input
	choice  int
}

// A Form asks for several things at once, on top of the lower lines of another
// screen. It closes itself.
type Form struct {
	Title  string
	Fields []Field
	// Check says what is wrong with what is written, and in which field; a nil
	// Complaint is that nothing is. The text is what will come of it.
	Check func(values []string) (text string, wrong *Complaint, field int)
	Enter func(values []string) tea.Cmd

	env       *screen.Env
	width     int
	at        int
	text      string
	complaint *Complaint
	wrong     int
}

// NewForm returns f ready to be pushed.
func NewForm(env *screen.Env, f Form) *Form {
	f.env = env
	f.check()
	return &f
}

var _ screen.Popup = (*Form)(nil)

// Scope implements screen.Screen.
func (f *Form) Scope() screen.Scope { return screen.InMenu }

// Resize implements screen.Screen.
func (f *Form) Resize(width, _ int) { f.width = width }

// Captures implements screen.Screen.
func (f *Form) Captures() bool { return true }

// Can implements screen.Screen.
func (f *Form) Can(screen.Action) string { return screen.Unknown }

// Act implements screen.Screen.
func (f *Form) Act(screen.Act) tea.Cmd { return nil }

// Hints implements screen.Screen.
func (f *Form) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.Tab, screen.Up, screen.Down, screen.Back}
}

// Context implements screen.Screen.
func (f *Form) Context() (left, right screen.Line) { return left, right }

// Rows implements screen.Popup.
func (f *Form) Rows() int { return len(f.Fields) + 4 }

// Values returns what is written, field by field.
func (f *Form) Values() []string {
	out := make([]string, len(f.Fields))
	for i := range f.Fields {
		out[i] = f.Fields[i].Input.String()
	}
	return out
}

func (f *Form) check() {
	f.text, f.complaint, f.wrong = f.Check(f.Values())
}

// Update implements screen.Screen.
func (f *Form) Update(msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	field := &f.Fields[f.at]
	switch key.String() {
	case "esc", "ctrl+c":
		return screen.Close(f, nil)
	case "enter":
		if f.complaint != nil {
			f.at = f.wrong
			return nil
		}
		return screen.Close(f, f.Enter(f.Values()))
	case "tab":
		f.at = (f.at + 1) % len(f.Fields)
		return nil
	case "shift+tab":
		f.at = (f.at + len(f.Fields) - 1) % len(f.Fields)
		return nil
	case "down":
		field.choose(1)
	case "up":
		field.choose(-1)
	default:
		field.Input.Key(key)
	}
	f.check()
	return nil
}

// choose writes another choice into the field, beginning with the first.
func (f *Field) choose(step int) {
	n := len(f.Choices)
	if n == 0 {
		return
	}
	for i, c := range f.Choices {
		if c == f.Input.String() {
			f.choice = i
		}
	}
	f.choice = (f.choice + step + n) % n
	f.Input.Set(f.Choices[f.choice])
}

// View implements screen.Screen.
func (f *Form) View() screen.Lines {
	th := f.env.Theme
	lines := screen.Lines{th.HRule(f.width), screen.Of(screen.Bold, " "+f.Title)}
	labels := 0
	for i := range f.Fields {
		labels = max(labels, screen.Clean(f.Fields[i].Label).Width())
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		var l screen.Line
		style := screen.Plain
		if i == f.at {
			l.Put(screen.Bold, th.Glyphs.Cursor)
			style = screen.Bold
		}
		l.To(2)
		l.Cell(style, screen.Clean(field.Label), labels)
		l.Space(2)
		room := max(f.width-l.Width()-1, 10)
		if i == f.at {
			text, _ := field.Input.Line(th, room)
			l.Append(text)
		} else {
			l.Add(screen.Plain, screen.CleanTo(field.Input.String(), room))
		}
		if rest := f.width - l.Width() - 3; i == f.at && rest > 12 && field.Hint != "" {
			l.Space(2)
			l.Add(screen.Quiet, screen.Clean(field.Hint).Cut(rest))
		}
		lines = append(lines, l)
	}
	var below screen.Line
	if f.complaint != nil {
		below.Put(screen.Attention, "  "+f.Fields[f.wrong].Label+": "+f.complaint.Text)
	} else {
		below.Put(screen.Quiet, "  "+f.text)
	}
	return append(lines, below, screen.Of(screen.Quiet, "  tab next   up down choose   enter done   esc leaves it"))
}

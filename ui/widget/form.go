package widget

import (
	"context"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Field is one line of a Form.
type Field struct {
	Label   string
	Hint    string   // what may stand here
	Choices []string // up and down go through them; nil is that there are none
	Aside   bool     // what Form.About says does not depend on it
	Input   Input
	choice  int
}

// A Form asks for several things at once, on top of the lower lines of another
// screen. It closes itself.
type Form struct {
	Title  string
	Fields []Field
	// Check says what is wrong with what is written, and in which field; a nil
	// Problem is that nothing is. The text is what will come of it.
	Check func(values []string) (text string, wrong *Problem, field int)
	Enter func(values []string) tea.Cmd
	// About says more about what is written, in up to AboutRows lines. It may take
	// long, runs away from the goroutine of the screen, and ends with ctx; what it
	// says then is not shown. Nil is that there is no more to say.
	About     func(ctx context.Context, values []string) []string
	AboutRows int

	env       *screen.Shared
	width     int
	at        int
	text      string
	complaint *Problem
	wrong     int
	about     []string           // what About has said
	asked     []string           // about which values it was asked last
	stop      context.CancelFunc // ends About; nil if it does not run
}

// said is what About has to say.
type said struct{ lines []string }

// NewForm returns f ready to be pushed.
func NewForm(env *screen.Shared, f Form) *Form {
	f.env = env
	f.check()
	return &f
}

// Push opens f.
func (f *Form) Push() tea.Cmd {
	return tea.Batch(screen.Send(screen.Push{Screen: f}), f.ask())
}

// ask lets About look at what is written now, unless it has. It runs once at a
// time.
func (f *Form) ask() tea.Cmd {
	values := f.Values()
	if f.About == nil || f.complaint != nil || f.known() {
		return nil
	}
	if f.stop != nil {
		f.stop() // its end asks again
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	f.asked, f.stop = values, stop
	about := f.About
	return screen.Later(func() tea.Msg {
		return screen.For{Screen: f, Msg: said{about(ctx, values)}}
	})
}

// known reports whether About was asked about what is written now.
func (f *Form) known() bool {
	if f.asked == nil {
		return false
	}
	for i := range f.Fields {
		if !f.Fields[i].Aside && f.Fields[i].Input.String() != f.asked[i] {
			return false
		}
	}
	return true
}

// close closes f, and ends what goes on.
func (f *Form) close(cmd tea.Cmd) tea.Cmd {
	if f.stop != nil {
		f.stop()
	}
	f.About = nil
	return screen.Close(f, cmd)
}

var _ screen.Popup = (*Form)(nil)

// Scope implements screen.Screen.
func (f *Form) Scope() screen.Scope { return screen.InMenu }

// Resize implements screen.Screen.
func (f *Form) Resize(width, _ int) { f.width = width }

// Captures implements screen.Screen.
func (f *Form) Captures() bool { return true }

// Can implements screen.Screen.
func (f *Form) Disabled(screen.Action) string { return screen.Unknown }

// Act implements screen.Screen.
func (f *Form) Handle(screen.Command) tea.Cmd { return nil }

// Hints implements screen.Screen.
func (f *Form) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.Tab, screen.Up, screen.Down, screen.Back}
}

// Context implements screen.Screen.
func (f *Form) Context() (left, right term.Line) { return left, right }

// Rows implements screen.Popup.
func (f *Form) Rows() int { return len(f.Fields) + 4 + f.AboutRows }

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
	if m, ok := msg.(said); ok {
		f.stop()
		f.stop, f.about = nil, m.lines
		return f.ask()
	}
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	field := &f.Fields[f.at]
	switch key.String() {
	case "esc", "ctrl+c":
		return f.close(nil)
	case "enter":
		if f.complaint != nil {
			f.at = f.wrong
			return nil
		}
		return f.close(f.Enter(f.Values()))
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
	return f.ask()
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
func (f *Form) View() term.Lines {
	th := f.env.Theme
	lines := term.Lines{th.HRule(f.width), term.Of(term.Bold, " "+f.Title)}
	labels := 0
	for i := range f.Fields {
		labels = max(labels, term.Clean(f.Fields[i].Label).Width())
	}
	for i := range f.Fields {
		field := &f.Fields[i]
		var l term.Line
		style := term.Plain
		if i == f.at {
			l.Put(term.Bold, th.Glyphs.Cursor)
			style = term.Bold
		}
		l.To(2)
		l.Cell(style, term.Clean(field.Label), labels)
		l.Space(2)
		room := max(f.width-l.Width()-1, 10)
		if i == f.at {
			text, _ := field.Input.Line(th, room)
			l.Append(text)
		} else {
			l.Add(term.Plain, term.CleanTo(field.Input.String(), room))
		}
		if rest := f.width - l.Width() - 3; i == f.at && rest > 12 && field.Hint != "" {
			l.Space(2)
			l.Add(term.Quiet, term.Clean(field.Hint).Cut(rest))
		}
		lines = append(lines, l)
	}
	var below term.Line
	if f.complaint != nil {
		below.Put(term.Attention, "  "+f.Fields[f.wrong].Label+": "+f.complaint.Text)
	} else {
		below.Put(term.Quiet, "  "+f.text)
	}
	for i := range f.AboutRows {
		var l term.Line
		switch {
		case f.stop != nil || !f.known():
			if i == 0 && f.complaint == nil {
				l.Put(term.Quiet, "  counting")
			}
		case i < len(f.about):
			l.Add(term.Attention, term.CleanTo("  "+f.about[i], f.width))
		}
		lines = append(lines, l)
	}
	return append(lines, below, term.Of(term.Quiet, "  tab next   up down choose   enter done   esc leaves it"))
}

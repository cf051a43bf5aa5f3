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
	Aside   bool     // Form.Preview does not depend on it
	Input   Input
	choice  int
}

// A Form asks for several things at once, on top of the lower lines of another
// screen. It closes itself.
type Form struct {
	Popup
	Title  string
	Fields []Field
	// Check returns what will come of what is written, or what is wrong with it,
	// and in which field.
	Check func(values []string) (text string, wrong *Problem, field int)
	Enter func(values []string) tea.Cmd
	// Preview returns more about what is written, in up to PreviewRows lines. It may
	// take long, runs in a command, and ends with ctx. It may be nil.
	Preview     func(ctx context.Context, values []string) []string
	PreviewRows int

	list    Table
	text    string
	problem *Problem
	wrong   int
	preview []string           // what Preview returned last
	asked   []string           // the values that it was asked for last
	stop    context.CancelFunc // ends Preview; nil if it does not run
	wait    Wait
}

// previewed is what Preview returned.
type previewed struct{ lines []string }

// NewForm returns f ready to be pushed.
func NewForm(env *screen.Shared, f Form) *Form {
	f.Env, f.list.Gutter = env, 2
	f.list.SetHeight(len(f.Fields))
	f.list.SetLen(len(f.Fields))
	f.check()
	return &f
}

// Load asks Preview for what is written now, unless it has been. It runs once at
// a time.
func (f *Form) Load() tea.Cmd {
	values := f.Values()
	if f.Preview == nil || f.problem != nil || f.known() {
		return nil
	}
	if f.stop != nil {
		f.stop() // its end asks again
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	f.asked, f.stop = values, stop
	preview := f.Preview
	return tea.Batch(f.wait.Begin(f.Env, f), screen.Later(func() tea.Msg {
		return screen.For{Screen: f, Msg: previewed{preview(ctx, values)}}
	}))
}

// known reports whether Preview was asked for what is written now.
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

// close closes f, and ends Preview.
func (f *Form) close(cmd tea.Cmd) tea.Cmd {
	if f.stop != nil {
		f.stop()
	}
	f.Preview = nil
	return screen.Close(f, cmd)
}

func (f *Form) Hints() []screen.Action {
	return []screen.Action{screen.Enter, screen.Tab, screen.Up, screen.Down, screen.Back}
}

func (f *Form) Rows() int { return len(f.Fields) + 3 + f.PreviewRows }

// Values returns what is written, field by field.
func (f *Form) Values() []string {
	out := make([]string, len(f.Fields))
	for i := range f.Fields {
		out[i] = f.Fields[i].Input.String()
	}
	return out
}

func (f *Form) check() {
	f.text, f.problem, f.wrong = f.Check(f.Values())
}

func (f *Form) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := f.wait.Tick(msg); is {
		return cmd
	}
	if m, ok := msg.(previewed); ok {
		f.stop()
		f.wait.End()
		f.stop, f.preview = nil, m.lines
		return f.Load()
	}
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	field := &f.Fields[f.list.Cursor]
	switch key.String() {
	case "esc", "ctrl+c":
		return f.close(nil)
	case "enter":
		if f.problem != nil {
			f.list.To(f.wrong)
			return nil
		}
		return f.close(f.Enter(f.Values()))
	case "tab":
		f.list.To((f.list.Cursor + 1) % len(f.Fields))
		return nil
	case "shift+tab":
		f.list.To((f.list.Cursor + len(f.Fields) - 1) % len(f.Fields))
		return nil
	case "down":
		field.choose(1)
	case "up":
		field.choose(-1)
	default:
		field.Input.Key(key)
	}
	f.check()
	return f.Load()
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

func (f *Form) View() term.Lines {
	th := f.Env.Theme
	labels := 0
	for i := range f.Fields {
		labels = max(labels, term.Clean(f.Fields[i].Label).Width())
	}
	rows := f.list.Lines(th, f.Width, func(i int, r *Row) {
		field, style := &f.Fields[i], term.Plain
		if r.Focus {
			style = term.Bold
		}
		r.To(f.list.Gutter)
		r.Cell(style, term.Clean(field.Label), labels)
		r.Space(2)
		room := max(f.Width-r.Width()-1, 10)
		if !r.Focus {
			r.Add(term.Plain, term.CleanTo(field.Input.String(), room))
			return
		}
		r.Focus = false
		text, _ := field.Input.Line(th, room)
		r.Append(text)
		if rest := f.Width - r.Width() - 3; rest > 12 && field.Hint != "" {
			r.Space(2)
			r.Add(term.Quiet, term.Clean(field.Hint).Cut(rest))
		}
	})
	lines := append(term.Lines{th.Titled(f.Width, term.Title{Left: term.Of(term.Bold, f.Title)})}, rows...)
	var below term.Line
	if f.problem != nil {
		below.Put(term.Attention, "  "+f.Fields[f.wrong].Label+": "+f.problem.Text)
	} else {
		below.Put(term.Quiet, "  "+f.text)
	}
	for i := range f.PreviewRows {
		var l term.Line
		switch {
		case f.stop != nil || !f.known():
			if i == 0 && f.problem == nil {
				l.Space(2)
				f.wait.Put(&l, term.Quiet, "counting")
			}
		case i < len(f.preview):
			l.Add(term.Attention, term.CleanTo("  "+f.preview[i], f.Width))
		}
		lines = append(lines, l)
	}
	return append(lines, below, term.Of(term.Quiet, "  tab next   up down choose   enter done   esc leaves it"))
}

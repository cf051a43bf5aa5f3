// Package attached shows the processes that are watched, and the terminal of the
// command that was started here.
package attached

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/host/terminal"
	"indirtui/indirector/probe"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A Source is what is watched.
type Source interface {
	// Processes returns those that have come, in that order.
	Processes() []probe.Process
	// Terminal returns the one of the command that was started here; nil if none was.
	Terminal() *terminal.Terminal
	// Guide returns what to set so that processes come.
	Guide() string
}

// An Attached is the place. While it is typed into the command, keys are its own.
type Attached struct {
	env           *session.Env
	from          Source
	width, height int
	processes     []probe.Process
	lines         []string    // as they fit the width
	whole         int         // of these, without those of a line that is not complete
	taken         int         // lines of the terminal that these are from
	wrapped       int         // the width that they fit
	list          widget.List // of lines
	typing        bool
}

var _ screen.Screen = (*Attached)(nil)

// New returns the place.
func New(env *session.Env, from Source) *Attached {
	a := &Attached{env: env, from: from}
	a.read()
	return a
}

func (a *Attached) Scope() screen.Scope { return screen.InAttached }

func (a *Attached) Resize(width, height int) {
	a.width, a.height = width, height
	a.read()
	if t := a.from.Terminal(); t != nil {
		t.Resize(max(width, 20), max(a.list.Height, 5))
	}
}

// above is how many lines stand above the terminal.
func (a *Attached) above() int { return min(max(len(a.shown()), 1)+1, max(a.height/2, 2)) }

// shown are the processes that have a line: those that are there, and else the last
// ones.
func (a *Attached) shown() []probe.Process {
	const most = 8
	all := a.processes
	if len(all) > most {
		all = nil
		for _, p := range a.processes {
			if !p.Gone {
				all = append(all, p)
			}
		}
		if len(all) == 0 {
			all = a.processes
		}
	}
	return all[max(len(all)-most, 0):]
}

func (a *Attached) lay() {
	end := a.list.AtEnd()
	a.list.SetHeight(a.height - a.above())
	a.list.SetLen(len(a.lines))
	if end && a.from.Terminal() != nil {
		a.list.To(len(a.lines) - 1) // what is new is seen, unless the user looks at what was
	}
}

func (a *Attached) read() {
	a.processes = a.from.Processes()
	if t := a.from.Terminal(); t != nil {
		a.take(t)
	} else {
		a.lines = strings.Split(strings.TrimRight(a.from.Guide(), "\n"), "\n")
	}
	a.lay()
}

// maxLines is how many lines of the screen are kept.
const maxLines = 20_000

// take takes what is new on the terminal. With another width all is taken again.
func (a *Attached) take(t *terminal.Terminal) {
	if a.wrapped != a.width {
		a.wrapped, a.taken, a.whole = a.width, 0, 0
	}
	lines, first, last := t.Lines(a.taken)
	a.lines = a.lines[:a.whole]
	for _, text := range lines {
		a.wrap(text)
	}
	if n := len(a.lines) - maxLines; n > 0 {
		a.lines = slices.Clone(a.lines[n:])
	}
	a.taken, a.whole = first+len(lines), len(a.lines)
	if last != "" {
		a.wrap(last)
	}
}

// wrap adds a line as it fits the width.
func (a *Attached) wrap(text string) {
	const most = 200
	if text == "" {
		a.lines = append(a.lines, "")
	}
	for _, part := range term.Clean(text).Wrap(max(a.width, 20), most) {
		a.lines = append(a.lines, part.String())
	}
}

func (a *Attached) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case session.Snapshot:
		a.read()
	case tea.KeyMsg:
		return a.typed(msg)
	}
	return nil
}

// Captures reports whether keys are the command's.
func (a *Attached) Captures() bool {
	a.typing = a.typing && a.cannotType() == ""
	return a.typing
}

// leaveKey ends typing.
const leaveKey = "ctrl+]"

// typed gives a key to the command.
func (a *Attached) typed(msg tea.KeyMsg) tea.Cmd {
	if msg.String() == leaveKey {
		a.typing = false
		return nil
	}
	b := bytesOf(msg)
	t := a.from.Terminal()
	if len(b) == 0 || t == nil {
		return nil
	}
	return func() tea.Msg {
		_, _ = t.Write(b) // it may have ended
		return nil
	}
}

// cannotType is why nothing can be typed, or "".
func (a *Attached) cannotType() string {
	t := a.from.Terminal()
	if t == nil {
		return "no command was started here"
	}
	ended, _, _ := t.Ended()
	return screen.ReasonIf(ended, "the command has ended")
}

func (a *Attached) Disabled(do screen.Action) string {
	switch {
	case widget.Moves(do):
		return ""
	case do == screen.TypeInto:
		return a.cannotType()
	case do == screen.CopyMenu:
		return screen.ReasonIf(len(a.lines) == 0, "there is nothing to copy")
	}
	return screen.Unknown
}

func (a *Attached) Hints() []screen.Action {
	return []screen.Action{screen.TypeInto, screen.Bottom, screen.CopyMenu, screen.CommandLine}
}

func (a *Attached) List() screen.List { return lister{a} }

// A lister moves in the lines by keys and the mouse.
type lister struct{ *Attached }

func (l lister) Handle(c screen.Command) bool {
	n, page := c.Times(), max(l.list.Height-1, 1)
	switch c.Action {
	case screen.Down, screen.Up:
		l.list.Scroll(map[bool]int{true: n, false: -n}[c.Action == screen.Down])
	case screen.PageDown, screen.HalfDown:
		l.list.Scroll(n * page)
	case screen.PageUp, screen.HalfUp:
		l.list.Scroll(-n * page)
	case screen.Top:
		l.list.To(0)
	case screen.Bottom:
		l.list.To(l.list.Len - 1)
	default:
		return false
	}
	return true
}

func (lister) Click(int, int) bool { return false }

func (l lister) Wheel(lines int) { l.list.Scroll(lines) }

func (a *Attached) Handle(c screen.Command) tea.Cmd {
	switch c.Action {
	case screen.TypeInto:
		a.typing = true
		a.list.To(a.list.Len - 1)
	case screen.CopyMenu:
		return screen.Send(screen.Copy{What: "the terminal", Text: strings.Join(a.lines, "\n")})
	}
	return nil
}

func (a *Attached) Context() (left, right term.Line) {
	left.Put(term.Bold, "Attached")
	switch n := len(a.processes); n {
	case 0:
	case 1:
		left.Put(term.Quiet, "  1 process")
	default:
		left.Put(term.Quiet, fmt.Sprintf("  %d processes", n))
	}
	t := a.from.Terminal()
	if t == nil {
		return left, right
	}
	switch ended, code, err := t.Ended(); {
	case err != nil:
		right.Put(term.Failed, err.Error())
	case ended:
		right.Put(term.Plain, fmt.Sprintf("the command has ended, exit code %d", code))
	case a.typing:
		right.Put(term.Touched, "keys go to the command; "+leaveKey+" leaves")
	default:
		right.Put(term.Quiet, fmt.Sprintf("the command runs, pid %d", t.PID()))
	}
	return left, right
}

func (a *Attached) View() term.Lines {
	var out term.Lines
	for _, p := range a.shown() {
		out = append(out, line(&p))
	}
	if len(out) == 0 {
		out = append(out, term.Of(term.Quiet, "waiting for a process"))
	}
	out = out[:min(len(out), a.above()-1)]
	var rule term.Line
	rule.Put(term.Quiet, strings.Repeat(a.env.Theme.Glyphs.Border.Top, a.width))
	out = append(out, rule)
	for i, to := a.list.Visible(); i < to; i++ {
		out = append(out, term.Of(term.Plain, a.lines[i]))
	}
	return out
}

// line is a process in one line.
func line(p *probe.Process) (l term.Line) {
	style := term.Plain
	if p.Gone {
		style = term.Quiet
	}
	const name, state = 24, 46
	l.Cell(style|term.Bold, term.Clean(p.Name), name)
	l.Space(1)
	var words []string
	add := func(n int, text string) {
		if n > 0 {
			words = append(words, fmt.Sprintf("%d %s", n, text))
		}
	}
	add(int(p.Requests), "ended")
	add(p.Running, "running")
	add(p.Held, "held")
	add(int(p.Dropped), "lines dropped")
	add(p.Faults, "faults of the probe")
	switch {
	case p.Why != "":
		words = append([]string{"cut off: " + p.Why}, words...)
	case p.Gone:
		words = append(words, "gone")
	}
	text := term.Clean(strings.Join(words, ", "))
	if p.Why != "" || p.Dropped > 0 || p.Faults > 0 {
		style = term.Attention
	}
	l.Cell(style, text, min(max(text.Width(), 20), state))
	l.Space(1)
	about := p.Title() + "  Puppet " + p.Puppet + ", " + p.Ruby
	if pool := p.Pool(); pool != "" {
		about += ", " + pool
	}
	l.Add(term.Quiet, term.Clean(about))
	return l
}

// bytesOf is what a terminal sends for a key.
func bytesOf(msg tea.KeyMsg) (b []byte) {
	if msg.Alt {
		b = []byte{0x1b}
	}
	switch msg.Type {
	case tea.KeyRunes, tea.KeySpace:
		return append(b, string(msg.Runes)...)
	case tea.KeyUp:
		return append(b, "\x1b[A"...)
	case tea.KeyDown:
		return append(b, "\x1b[B"...)
	case tea.KeyRight:
		return append(b, "\x1b[C"...)
	case tea.KeyLeft:
		return append(b, "\x1b[D"...)
	case tea.KeyHome:
		return append(b, "\x1b[H"...)
	case tea.KeyEnd:
		return append(b, "\x1b[F"...)
	case tea.KeyDelete:
		return append(b, "\x1b[3~"...)
	}
	if msg.Type >= 0 && msg.Type < 0x20 || msg.Type == tea.KeyBackspace { // as ASCII has them
		return append(b, byte(msg.Type))
	}
	return nil
}

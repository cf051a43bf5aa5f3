// Package help explains the program inside the program: what the keys do here,
// what codes and reasons mean, everything by name, and what to do first. All of
// it is made from the tables that the program works by.
package help

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A Help shows what the keys do on the screen below it, and does it when one of
// them is pressed.
type Help struct {
	widget.Popup
	env     *session.Env
	on      *screen.Abilities
	width   int // of the lines
	seen    widget.Viewport
	waiting *screen.Binding // its letter comes next
	problem string
	search  search
}

var _ screen.Screen = (*Help)(nil)

// New returns help about the screen that it will be put on.
func New(env *session.Env, on screen.Screen) *Help {
	return &Help{env: env, on: screen.AbilitiesOf(on)}
}

// List returns the lines in the box.
func (h *Help) List() screen.List {
	if h.search.on {
		return &h.search.list
	}
	return &h.seen
}

// rows are the lines in the box.
func (h *Help) rows() int { return h.seen.Height() }

// Scope returns the scope of help.
func (h *Help) Scope() screen.Scope { return screen.InHelp }

func (h *Help) Hints() []screen.Action { return []screen.Action{screen.Back} }

// Floats reports that the screen below is seen around it.
func (h *Help) Floats() {}

// maxWidth is how wide a box is at most.
const maxWidth = 124

// inside is how wide the lines in a box are on a screen of the given width: two
// cells at both sides are left, and the walls have two more.
func inside(width int) int { return max(min(width-4, maxWidth)-4, 8) }

func (h *Help) Resize(width, height int) {
	h.width = inside(width)
	lines := h.content(h.width)
	h.seen.SetLines(lines)
	h.seen.Resize(h.width, min(height-2, len(lines)))
	h.search.list.SetHeight(max(h.rows()-1, 0))
}

func (h *Help) Update(msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	h.problem = ""
	if h.search.on {
		return h.typed(key)
	}
	name := screen.KeyOf(key)
	if b := h.waiting; b != nil {
		h.waiting = nil
		if letters := []rune(name); len(letters) == 1 {
			return h.do(screen.Command{Action: b.Do, Arg: letters[0]})
		}
		return nil
	}
	switch name {
	case "esc", "?", "q", "ctrl+c":
		return screen.Close(h, nil)
	case "/":
		h.begin()
	case "g":
		return h.topic("codes")
	case "k":
		return h.topic("keys")
	case "t":
		return screen.Close(h, screen.Send(screen.Tour{}))
	case "down":
		h.seen.Scroll(1)
	case "up":
		h.seen.Scroll(-1)
	case "pgdown", "ctrl+d", "ctrl+f":
		h.seen.Scroll(max(h.seen.Height()-2, 1))
	case "pgup", "ctrl+u", "ctrl+b":
		h.seen.Scroll(-max(h.seen.Height()-2, 1))
	case "home":
		h.seen.Scroll(-h.seen.Len())
	case "end":
		h.seen.Scroll(h.seen.Len())
	default:
		return h.press(name)
	}
	return nil
}

func (h *Help) topic(name string) tea.Cmd {
	p, _ := Page(h.env, name)
	return screen.Show(widget.NewPager(&h.env.Shared, p))
}

// press does what a key does on the screen below.
func (h *Help) press(name string) tea.Cmd {
	b := h.env.Keys.Find(name, h.on.Scope())
	if b == nil {
		return nil
	}
	if now := h.on.Now(b); !now.Enabled() {
		h.problem = "not now: " + b.Key() + " " + b.Hint() + " (" + now.Why + ")"
		return nil
	}
	if b.Arg {
		h.waiting = b
		return nil
	}
	command := screen.Command{Action: b.Do}
	if b.Do == screen.GoTo {
		command.Arg = rune(name[0])
	}
	return h.do(command)
}

func (h *Help) do(a screen.Command) tea.Cmd {
	return screen.Close(h, screen.Send(screen.Do{Handle: a}))
}

// pairs are actions that share a line.
var pairs = map[screen.Action]screen.Action{
	screen.Down: screen.Up, screen.Top: screen.Bottom, screen.HalfDown: screen.HalfUp, screen.PageDown: screen.PageUp,
	screen.Tab: screen.BackTab, screen.Undo: screen.Redo, screen.NextFailure: screen.PrevFailure,
	screen.NextInRun: screen.PrevInRun, screen.SearchNext: screen.SearchPrev, screen.FoldAll: screen.OpenAll,
	screen.Left: screen.Right, screen.SortNext: screen.SortBack, screen.SetMark: screen.JumpMark,
	screen.NextDiff: screen.PrevDiff, screen.WallLeft: screen.WallRight,
}

// A key is one line of help.
type key struct{ keys, text string }

// keys are what works here, what works everywhere, and what does not work now.
// Two actions share a line if that takes at most the given cells.
func (h *Help) keys(cells int) (here, everywhere, not []key) {
	scope := h.on.Scope()
	all := h.env.Keys.For(scope)
	second := make(map[screen.Action]bool)
	for i := range all {
		b := &all[i]
		now := h.on.Now(b)
		if b.About == "" || second[b.Do] || now.Why == screen.Unknown {
			continue
		}
		line := key{keysOf(b), b.About}
		o := h.env.Keys.Of(pairs[b.Do], scope)
		if o != nil && h.on.Now(o).Why == now.Why && o.About != "" && len(b.About)+len(o.About)+2 <= cells {
			second[o.Do] = true
			line = key{firstKey(b) + " " + firstKey(o), together(b.About, o.About)}
		}
		switch {
		case !now.Enabled():
			not = append(not, key{line.keys, b.Hint() + ": " + now.Why})
		case b.Where&scope != 0:
			here = append(here, line)
		default:
			everywhere = append(everywhere, line)
		}
	}
	return here, everywhere, not
}

// together joins two texts: "undo" and "redo; not always" are "undo,
// redo; not always".
func together(a, b string) string {
	a, more := cut(a)
	b, last := cut(b)
	comma := ", "
	if strings.Contains(a+b, ",") {
		comma = "; "
	}
	return a + comma + b + more + last
}

func cut(s string) (head, rest string) {
	if i := strings.Index(s, "; "); i >= 0 {
		return s[:i], s[i:]
	}
	return s, ""
}

func firstKey(b *screen.Binding) string {
	if b.Arg {
		return b.Key() + "a"
	}
	return b.Key()
}

// maxKeys is the width of the keys in front of what they do.
const maxKeys = 14

// twoColumns is the width of the box from which keys stand in two columns.
const twoColumns = 100

// content is what stands in the box.
func (h *Help) content(width int) term.Lines {
	n := 1
	if width >= twoColumns {
		n = 2
	}
	here, everywhere, not := h.keys(width/n - maxKeys - 4)
	cells := 0
	for _, list := range [][]key{here, everywhere, not} {
		for _, k := range list {
			cells = max(cells, term.Clean(k.keys).Width())
		}
	}
	cells = min(cells, maxKeys)
	var lines term.Lines
	section := func(title string, list []key, style term.Style) {
		if len(list) == 0 {
			return
		}
		if len(lines) > 0 {
			lines = append(lines, term.Line{})
		}
		if title != "" {
			lines = append(lines, term.Of(term.Quiet, title))
		}
		lines = append(lines, columns(list, n, cells, width, style)...)
	}
	section("", here, term.Plain)
	section("everywhere", everywhere, term.Plain)
	section("not now", not, term.Quiet)
	var l term.Line
	l.Put(term.Quiet, "codes  ")
	for _, o := range order {
		l.Put(session.StyleOf(o), o.String())
		l.Space(1)
	}
	l.Put(term.Quiet, "  ")
	l.Put(term.Bold, "g")
	l.Put(term.Quiet, " has what they mean")
	return append(lines, term.Line{}, l)
}

// columns writes keys in n columns. What is too long for its line goes on in
// the next one, if there is but one column.
func columns(list []key, n, cells, width int, style term.Style) term.Lines {
	put := func(l *term.Line, keys string, text term.Text) {
		l.Cell(style|term.Bold, term.Clean(keys), cells)
		l.Space(2)
		l.Add(style, text)
	}
	if n == 1 {
		var lines term.Lines
		for _, k := range list {
			keys := k.keys
			for _, t := range term.Clean(k.text).Wrap(width-cells-2, 3) {
				var l term.Line
				put(&l, keys, t)
				lines = append(lines, l)
				keys = ""
			}
		}
		return lines
	}
	return widget.Grid(len(list), n, width, func(i int, l *term.Line, each int) {
		put(l, list[i].keys, term.Clean(list[i].text).Cut(each-cells-4))
	})
}

func (h *Help) View() term.Lines {
	right := "press a key to do it"
	switch {
	case h.waiting != nil:
		right = h.waiting.Key() + " and a letter"
	case h.problem != "":
		right = h.problem
	}
	if h.search.on && h.problem == "" {
		right = fmt.Sprintf("%d of %d", len(h.search.found), len(h.search.all))
	}
	lines := h.seen.Lines()
	if h.search.on {
		lines = h.searched()
	}
	_, to := h.seen.Visible()
	frame := term.Frame{Focus: true}
	frame.Top.Left.Put(term.Bold, "Help")
	frame.Top.Left.Put(term.Quiet, "  "+nameOf(h.on.Scope()))
	frame.Top.Right.Put(term.Plain, right)
	if rest := h.seen.Len() - to; rest > 0 && !h.search.on {
		frame.Bottom.Left.Put(term.Plain, fmt.Sprintf("%d more below, pgdown", rest))
	}
	for i, k := range []struct{ key, what string }{{"/", "search"}, {"g", "codes"}, {"k", "all keys"}, {"t", "tour"}} {
		if i > 0 {
			frame.Bottom.Right.Put(term.Quiet, " · ")
		}
		frame.Bottom.Right.Put(term.Accent|term.Bold, k.key)
		frame.Bottom.Right.Put(term.Quiet, " "+k.what)
	}
	return box(h.env.Theme, frame, lines, h.width)
}

// box draws a frame around lines.
func box(th *term.Theme, frame term.Frame, lines term.Lines, width int) term.Lines {
	moved := make(term.Lines, len(lines))
	for i, l := range lines {
		moved[i].Space(1)
		moved[i].Append(l)
	}
	return th.Panel(width+4, len(lines)+2, frame, moved)
}

package widget

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Page is text that may be longer than the screen: paragraphs, each perhaps
// with a label in front.
type Page struct {
	Title string
	parts []part
}

type part struct {
	label, text string
	style       term.Style
}

// Add adds a paragraph. Line ends in the text are kept.
func (p *Page) Add(label, text string, style term.Style) {
	for i, line := range strings.Split(strings.TrimRight(text, "\n"), "\n") {
		if i > 0 {
			label = ""
		}
		p.parts = append(p.parts, part{label, line, style})
	}
}

// A Pager shows a Page. It is a screen.Screen.
type Pager struct {
	env    *screen.Shared
	page   Page
	list   List
	width  int
	labels int
	lines  term.Lines
	search string
}

// NewPager returns a screen that shows p.
func NewPager(env *screen.Shared, p Page) *Pager {
	g := &Pager{env: env, page: p}
	for _, part := range p.parts {
		g.labels = max(g.labels, term.Clean(part.label).Width())
	}
	g.labels = min(g.labels, 16)
	return g
}

var (
	_ screen.Screen  = (*Pager)(nil)
	_ screen.Clicker = (*Pager)(nil)
)

// Scope implements screen.Screen.
func (g *Pager) Scope() screen.Scope { return screen.InConsole }

// Captures implements screen.Screen.
func (g *Pager) Captures() bool { return false }

// Resize implements screen.Screen. The text is broken into lines here, once.
func (g *Pager) Resize(width, height int) {
	if width != g.width {
		g.width = width
		g.wrap()
	}
	g.list.SetHeight(height)
	g.list.SetLen(len(g.lines))
}

// maxPageLines bounds what is broken into lines: nobody reads further.
const maxPageLines = 200_000

func (g *Pager) wrap() {
	g.lines = nil
	indent := g.labels + 2
	if g.labels > 0 {
		indent++
	}
	cells := max(g.width-indent-1, 1)
	for _, p := range g.page.parts {
		texts := term.Clean(p.text).Wrap(cells, maxPageLines)
		if len(texts) == 0 {
			texts = []term.Text{{}}
		}
		for i, t := range texts {
			var l term.Line
			l.Space(2)
			if i == 0 {
				l.Cell(term.Quiet, term.Clean(p.label), g.labels)
			}
			l.To(indent)
			l.Add(p.style, t)
			g.lines = append(g.lines, l)
		}
		if len(g.lines) > maxPageLines {
			g.lines = append(g.lines, term.Of(term.Quiet, "  the rest is not shown"))
			return
		}
	}
}

// Update implements screen.Screen.
func (g *Pager) Update(tea.Msg) tea.Cmd { return nil }

// Context implements screen.Screen.
func (g *Pager) Context() (left, right term.Line) {
	left.Put(term.Bold, " "+g.page.Title)
	from, to := g.list.Visible()
	right.Put(term.Plain, fmt.Sprintf("lines %d to %d of %d ", min(from+1, to), to, len(g.lines)))
	return left, right
}

// Hints implements screen.Screen.
func (g *Pager) Hints() []screen.Action {
	return []screen.Action{screen.Down, screen.Up, screen.Search, screen.CopyMenu, screen.Back}
}

// Can implements screen.Screen.
func (g *Pager) Disabled(do screen.Action) string {
	switch do {
	case screen.Down, screen.Up, screen.Top, screen.Bottom, screen.HalfDown, screen.HalfUp, screen.PageDown, screen.PageUp, screen.Search, screen.CopyMenu:
		return ""
	case screen.SearchNext, screen.SearchPrev:
		if g.search == "" {
			return "nothing was searched"
		}
		return ""
	}
	return screen.Unknown
}

// Act implements screen.Screen.
func (g *Pager) Handle(a screen.Command) tea.Cmd {
	if g.list.ScrollBy(a) {
		return nil
	}
	switch a.Action {
	case screen.Search:
		return g.ask()
	case screen.SearchNext:
		g.find(g.list.Offset+1, 1)
	case screen.SearchPrev:
		g.find(g.list.Offset-1, -1)
	case screen.CopyMenu:
		return screen.Send(screen.Copy{What: "text", Text: g.text()})
	}
	return nil
}

func (g *Pager) text() string {
	var b strings.Builder
	for _, p := range g.page.parts {
		if p.label != "" {
			b.WriteString(p.label + ": ")
		}
		b.WriteString(p.text + "\n")
	}
	return b.String()
}

func (g *Pager) ask() tea.Cmd {
	return screen.Send(screen.Push{Screen: NewPrompt(g.env, Prompt{
		Label: "/", Hint: "text on this page",
		Enter: func(text string) (*Problem, tea.Cmd) {
			g.search = text
			if text != "" && !g.find(g.list.Offset, 1) {
				return &Problem{Offset: -1, Text: "not on this page"}, nil
			}
			return nil, nil
		},
	})})
}

// find scrolls to the next line with the text that is searched, and goes round
// at the ends.
func (g *Pager) find(from, step int) bool {
	n := len(g.lines)
	for i := range n {
		at := ((from+step*i)%n + n) % n
		if term.Clean(g.lines[at].String()).Index(g.search) >= 0 {
			g.list.Offset = max(min(at, n-g.list.Height), 0)
			g.list.Cursor = at
			return true
		}
	}
	return false
}

// View implements screen.Screen.
func (g *Pager) View() term.Lines {
	from, to := g.list.Visible()
	lines := make(term.Lines, 0, to-from)
	for i := from; i < to; i++ {
		l := g.lines[i]
		if g.search != "" && term.Clean(l.String()).Index(g.search) >= 0 {
			l = l.With(term.Bold | term.Under)
		}
		lines = append(lines, l)
	}
	return lines
}

// Click implements screen.Clicker.
func (g *Pager) Click(int, int) tea.Cmd { return nil }

// Wheel implements screen.Clicker.
func (g *Pager) Wheel(lines int) tea.Cmd {
	g.list.Scroll(lines)
	return nil
}

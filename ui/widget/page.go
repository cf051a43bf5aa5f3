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

// A Pager shows a Page.
type Pager struct {
	env    *screen.Shared
	page   Page
	list   Table
	width  int
	labels int
	lines  term.Lines
	search Search
}

// NewPager returns a screen that shows p.
func NewPager(env *screen.Shared, p Page) *Pager {
	g := &Pager{env: env, page: p, list: Table{Paged: true}}
	g.search = Search{Hint: "text on this page", None: "not on this page", Find: g.find}
	for _, part := range p.parts {
		g.labels = max(g.labels, term.Clean(part.label).Width())
	}
	g.labels = min(g.labels, 16)
	return g
}

var _ screen.Screen = (*Pager)(nil)

// List returns the lines.
func (g *Pager) List() screen.List { return &g.list }

func (g *Pager) Scope() screen.Scope { return screen.InConsole }

// Resize breaks the text into lines.
func (g *Pager) Resize(width, height int) {
	if width != g.width {
		g.width = width
		g.wrap()
	}
	g.list.SetHeight(height)
	g.list.SetLen(len(g.lines))
}

// maxPageLines bounds what is broken into lines.
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

func (g *Pager) Update(tea.Msg) tea.Cmd { return nil }

func (g *Pager) Context() (left, right term.Line) {
	left.Put(term.Bold, " "+g.page.Title)
	from, to := g.list.Visible()
	right.Put(term.Plain, fmt.Sprintf("lines %d to %d of %d ", min(from+1, to), to, len(g.lines)))
	return left, right
}

func (g *Pager) Hints() []screen.Action {
	return []screen.Action{screen.Down, screen.Up, screen.Search, screen.CopyMenu, screen.Back}
}

func (g *Pager) Disabled(do screen.Action) string {
	if Moves(do) || do == screen.CopyMenu {
		return ""
	}
	return g.search.Disabled(do)
}

func (g *Pager) Handle(a screen.Command) tea.Cmd {
	if a.Action == screen.CopyMenu {
		return screen.Send(screen.Copy{What: "text", Text: g.text()})
	}
	return g.search.Handle(g.env, a)
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

// find scrolls to the nearest line that has what is searched.
func (g *Pager) find(step int) bool {
	at := Around(len(g.lines), g.list.Offset, step, func(i int) bool { return g.search.In(g.lines[i].String()) })
	if at >= 0 {
		g.list.Offset = max(min(at, len(g.lines)-g.list.Height), 0)
		g.list.Cursor = at
	}
	return at >= 0
}

func (g *Pager) View() term.Lines {
	return g.list.Lines(g.env.Theme, g.width, func(i int, r *Row) {
		r.Line = g.lines[i]
		if g.search.Text() != "" && g.search.In(r.String()) {
			r.Line = r.With(term.Bold | term.Under)
		}
	})
}

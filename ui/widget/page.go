package widget

import (
	"fmt"
	"slices"
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
	seen   Viewport
	width  int
	labels int // cells of the longest
	search Search
}

// NewPager returns a screen that shows p.
func NewPager(env *screen.Shared, p Page) *Pager {
	g := &Pager{env: env, page: p}
	g.search = Search{Hint: "text on this page", None: "not on this page", Find: g.find}
	for _, part := range p.parts {
		g.labels = max(g.labels, term.Clean(part.label).Width())
	}
	return g
}

var _ screen.Screen = (*Pager)(nil)

// List returns the lines.
func (g *Pager) List() screen.List { return &g.seen }

func (g *Pager) Scope() screen.Scope { return screen.InConsole }

// Resize breaks the text into lines.
func (g *Pager) Resize(width, height int) {
	if width != g.width {
		g.width = width
		g.seen.SetLines(g.wrap())
	}
	g.seen.Resize(width, height)
}

// maxPageLines bounds what is broken into lines.
const maxPageLines = 200_000

func (g *Pager) wrap() (lines term.Lines) {
	labels := min(g.labels, max(g.width/3, 16))
	indent := labels + 2
	if labels > 0 {
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
				l.Cell(term.Quiet, term.Clean(p.label), labels)
			}
			l.To(indent)
			l.Add(p.style, t)
			lines = append(lines, l)
		}
		if len(lines) > maxPageLines {
			return append(lines, term.Of(term.Quiet, "  the rest is not shown"))
		}
	}
	return lines
}

func (g *Pager) Update(tea.Msg) tea.Cmd { return nil }

func (g *Pager) Context() (left, right term.Line) {
	left.Put(term.Bold, " "+g.page.Title)
	from, to := g.seen.Visible()
	right.Put(term.Plain, fmt.Sprintf("lines %d to %d of %d ", min(from+1, to), to, g.seen.Len()))
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
	return g.seen.Find(step, func(i int) bool { return g.search.In(g.seen.lines[i].String()) })
}

func (g *Pager) View() term.Lines {
	lines := slices.Clone(g.seen.Lines())
	for i, l := range lines {
		if g.search.Text() != "" && g.search.In(l.String()) {
			lines[i] = l.With(term.Bold | term.Under)
		}
	}
	return lines
}

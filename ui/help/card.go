package help

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// A Card stands in the place of an empty list of requests: what the program
// does, and what to do first.
type Card struct {
	env           *session.Env
	width, height int
}

var _ screen.Screen = (*Card)(nil)

// NewCard returns the card. It offers the demo and recordings if there are
// commands for them.
func NewCard(env *session.Env) *Card { return &Card{env: env} }

// has reports whether there is a command.
func (c *Card) has(name string) bool {
	return c.env.Commands != nil && slices.ContainsFunc(c.env.Commands.Names(), func(n screen.Completion) bool { return n.Name == name })
}

func (c *Card) Scope() screen.Scope { return screen.InFirstRun }

func (c *Card) Resize(width, height int) { c.width, c.height = width, height }

func (c *Card) Update(tea.Msg) tea.Cmd { return nil }

func (c *Card) Context() (left, right term.Line) {
	left.Put(term.Plain, " no requests yet")
	return left, right
}

func (c *Card) Hints() []screen.Action {
	return []screen.Action{screen.Demo, screen.OpenIt, screen.CommandLine, screen.Quit}
}

func (c *Card) Disabled(do screen.Action) string {
	switch {
	case do == screen.Demo && c.has("demo"), do == screen.OpenIt && c.has("open"):
		return ""
	}
	return screen.Unknown
}

func (c *Card) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Demo:
		return screen.Send(screen.Run{Text: "demo"})
	case screen.OpenIt:
		return screen.Send(screen.Ask{Text: "open "})
	}
	return nil
}

func (c *Card) View() term.Lines {
	var lines term.Lines
	text := func(style term.Style, text string) { lines = append(lines, term.Of(style, "   "+text)) }
	key := func(do screen.Action, text, example string) {
		b := c.env.Keys.Of(do, screen.InFirstRun)
		if b == nil {
			return
		}
		var l term.Line
		l.Space(3)
		l.Cell(term.Bold, term.Clean(b.Key()), 4)
		l.Put(term.Plain, text)
		if example != "" {
			l.To(50)
			l.Put(term.Plain, example)
		}
		lines = append(lines, l)
	}
	lines = append(lines, term.Line{})
	text(term.Bold, "Nothing has asked the indirector anything yet.")
	lines = append(lines, term.Line{})
	text(term.Plain, "indirtui shows, for every find, search, head, save and destroy,")
	text(term.Plain, "who answered, who was asked, who was not asked and why.")
	lines = append(lines, term.Line{})
	if c.has("demo") {
		key(screen.Demo, "play the built-in demo, with problems to find", "")
	}
	if c.has("open") {
		key(screen.OpenIt, "open a recording", "")
	}
	if c.env.Commands != nil {
		key(screen.CommandLine, "ask something yourself, for example", ":find facts localhost")
	}
	key(screen.Help, "help, at any time", "")
	lines = append(lines, term.Line{})
	text(term.Quiet, "Colours off? NO_COLOR.  Boxes broken? --ascii.")
	text(term.Quiet, "This card disappears with the first request.")
	return lines.Fill(c.width, c.height)
}

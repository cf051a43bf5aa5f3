package help

import (
	"slices"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
)

// A Card stands in the place of an empty list of requests: what the program
// does, and what to do first. It is a screen.Screen.
type Card struct {
	env           *screen.Env
	width, height int
}

var _ screen.Screen = (*Card)(nil)

// NewCard returns the card. It offers the demo and recordings if there are
// commands for them.
func NewCard(env *screen.Env) *Card { return &Card{env: env} }

// has reports whether there is a command.
func (c *Card) has(name string) bool {
	return c.env.Commands != nil && slices.ContainsFunc(c.env.Commands.Names(), func(n screen.Completion) bool { return n.Name == name })
}

// Scope implements screen.Screen.
func (c *Card) Scope() screen.Scope { return screen.InFirstRun }

// Captures implements screen.Screen.
func (c *Card) Captures() bool { return false }

// Resize implements screen.Screen.
func (c *Card) Resize(width, height int) { c.width, c.height = width, height }

// Update implements screen.Screen.
func (c *Card) Update(tea.Msg) tea.Cmd { return nil }

// Context implements screen.Screen.
func (c *Card) Context() (left, right screen.Line) {
	left.Put(screen.Plain, " no requests yet")
	return left, right
}

// Hints implements screen.Screen.
func (c *Card) Hints() []screen.Action {
	return []screen.Action{screen.Demo, screen.OpenIt, screen.Command, screen.Quit}
}

// Can implements screen.Screen.
func (c *Card) Can(do screen.Action) string {
	switch {
	case do == screen.Demo && c.has("demo"), do == screen.OpenIt && c.has("open"):
		return ""
	}
	return screen.Unknown
}

// Act implements screen.Screen.
func (c *Card) Act(a screen.Act) tea.Cmd {
	switch a.Do {
	case screen.Demo:
		return screen.Send(screen.Run{Text: "demo"})
	case screen.OpenIt:
		return screen.Send(screen.Ask{Text: "open "})
	}
	return nil
}

// View implements screen.Screen.
func (c *Card) View() screen.Lines {
	var lines screen.Lines
	say := func(style screen.Style, text string) { lines = append(lines, screen.Of(style, "   "+text)) }
	key := func(do screen.Action, text, example string) {
		b := c.env.Keys.Of(do, screen.InFirstRun)
		if b == nil {
			return
		}
		var l screen.Line
		l.Space(3)
		l.Cell(screen.Bold, screen.Clean(b.Key()), 4)
		l.Put(screen.Plain, text)
		if example != "" {
			l.To(50)
			l.Put(screen.Plain, example)
		}
		lines = append(lines, l)
	}
	lines = append(lines, screen.Line{})
	say(screen.Bold, "Nothing has asked the indirector anything yet.")
	lines = append(lines, screen.Line{})
	say(screen.Plain, "indirtui shows, for every find, search, head, save and destroy,")
	say(screen.Plain, "who answered, who was asked, who was not asked and why.")
	lines = append(lines, screen.Line{})
	if c.has("demo") {
		key(screen.Demo, "play the built-in demo, with problems to find", "")
	}
	if c.has("open") {
		key(screen.OpenIt, "open a recording", "")
	}
	if c.env.Commands != nil {
		key(screen.Command, "ask something yourself, for example", ":find facts localhost")
	}
	key(screen.Help, "help, at any time", "")
	lines = append(lines, screen.Line{})
	say(screen.Quiet, "Colours off? NO_COLOR.  Boxes broken? --ascii.")
	say(screen.Quiet, "This card disappears with the first request.")
	return lines.Fill(c.width, c.height)
}

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
	listens       bool // agents can ask
	width, height int
}

var _ screen.Screen = (*Card)(nil)

// NewCard returns the card. It offers the demo and recordings if there are
// commands for them. Listens is whether agents can ask.
func NewCard(env *session.Env, listens bool) *Card {
	return &Card{env: env, listens: listens}
}

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
	parts := []term.Lines{
		c.heading(), c.purpose(), c.keys(), c.agents(),
		{margin(term.Of(term.Quiet, "Colours off? NO_COLOR.  Boxes broken? --ascii."))},
	}
	spare := c.height
	for _, p := range parts {
		spare -= len(p)
	}
	apart := make([]bool, len(parts))
	for _, i := range [...]int{2, 3, 1, 4, 0} { // the most useful blank lines first
		apart[i] = len(parts[i]) > 0 && spare > 0
		if apart[i] {
			spare--
		}
	}
	var lines term.Lines
	for i, p := range parts {
		if apart[i] {
			lines = append(lines, term.Line{})
		}
		lines = append(lines, p...)
	}
	return lines.Fill(c.width, c.height)
}

// margin moves a line away from the border.
func margin(l term.Line) term.Line {
	var out term.Line
	out.Space(3)
	out.Append(l)
	return out
}

// readable is how wide a text is at most, in cells.
const readable = 76

// text wraps a sentence into at most max lines.
func (c *Card) text(style term.Style, text string, max int) term.Lines {
	var lines term.Lines
	for _, part := range term.Clean(text).Wrap(min(c.width-4, readable), max) {
		var l term.Line
		l.Add(style, part)
		lines = append(lines, margin(l))
	}
	return lines
}

// heading reports what is wrong with the configuration.
func (c *Card) heading() term.Lines {
	lines := c.text(term.Bold, "Nothing has asked the indirector anything yet.", 1)
	all := c.env.ListProblems()
	if len(all) == 0 {
		return lines
	}
	lines = append(lines, c.text(term.Attention, all[0], 3)...)
	if more := len(all) - 1; more > 0 {
		lines = append(lines, c.text(term.Attention, "and "+term.Plural(more, "more problem")+"; :problems lists all", 1)...)
	}
	return lines
}

func (c *Card) purpose() term.Lines {
	return c.text(term.Plain, "indirtui shows, for every find, search, head, save and destroy, who answered, who was asked, who was not asked and why.", 3)
}

// keys are what to do first.
func (c *Card) keys() term.Lines {
	var lines term.Lines
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
	return lines
}

// agents is what is not seen here, and how it is.
func (c *Card) agents() term.Lines {
	if c.listens {
		return c.text(term.Plain, "Waiting for agents: what they ask here is seen. puppet agent --test --server THIS-HOST --masterport PORT asks once.", 3)
	}
	if !c.has("serve") || !c.has("proxy") {
		return nil
	}
	lines := c.text(term.Plain, "Requests of other processes are not seen. To watch an agent, start it so:", 2)
	lines = append(lines, c.text(term.Bold, "indirtui attach -- puppet agent --test", 1)...)
	lines = append(lines, c.text(term.Plain, "Or answer it, or stand between it and its server; then start it:", 2)...)
	for _, l := range [...]string{":serve --listen :8140", ":proxy https://puppet:8140 --listen :8140", "puppet agent --test --server THIS-HOST"} {
		lines = append(lines, c.text(term.Bold, l, 1)...)
	}
	return lines
}

package help

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A Palette finds everything that can be done by name: places, keys, commands,
// keys that were asked for, help.
type Palette struct {
	widget.Popup
	env   *session.Env
	on    *screen.Abilities
	all   []thing
	names []string       // of all, as they are searched
	found []widget.Match // of all
	input widget.Input
	list  widget.Table
	width int // of the lines
}

// A thing is one line of the palette.
type thing struct {
	kind, name, note string
	line             string  // the command that does the same, without the colon; "" if there is none
	do               tea.Cmd // nil puts the line into the prompt: it wants more
}

var _ screen.Screen = (*Palette)(nil)

// List returns what was found.
func (p *Palette) List() screen.List { return &p.list }

// NewPalette returns the palette, for the screen that it will be put on and the
// names of the places in the order of their keys.
func NewPalette(env *session.Env, on screen.Screen, places []string) *Palette {
	p := &Palette{env: env, on: screen.AbilitiesOf(on), list: widget.Table{Top: 2, Drags: true}}
	p.addPlaces(places)
	p.addCommandsOfKeys()
	p.addFilters()
	p.addCommands()
	p.addRoutes()
	p.addRecent()
	p.addTopics()
	for _, t := range p.all {
		p.names = append(p.names, t.kind+" "+t.name)
	}
	p.search()
	return p
}

func (p *Palette) add(t thing) { p.all = append(p.all, t) }

func (p *Palette) addPlaces(places []string) {
	for i, name := range places {
		p.add(thing{kind: "go", name: fmt.Sprintf("%d %s", i+1, name), line: "show " + strings.ToLower(name), do: screen.Send(screen.Go{Place: name})})
	}
}

func (p *Palette) addCommandsOfKeys() {
	all := p.env.Keys.For(p.on.Scope())
	for i := range all {
		b := p.on.Now(&all[i])
		if !b.Enabled() || b.About == "" || b.Arg || b.Do == screen.GoTo || b.Do == screen.PaletteOpen || moves(b.Do) {
			continue
		}
		p.add(thing{kind: "do", name: b.About, note: keysOf(&b), do: screen.Send(screen.Do{Handle: screen.Command{Action: b.Do}})})
	}
}

// moves reports whether an action only moves the cursor: it is not looked up by
// name.
func moves(do screen.Action) bool {
	switch do {
	case screen.Down, screen.Up, screen.Left, screen.Right, screen.Top, screen.Bottom, screen.HalfDown, screen.HalfUp,
		screen.PageDown, screen.PageUp, screen.Tab, screen.BackTab, screen.Back:
		return true
	}
	return false
}

// addFilters offers what there is of each kind of outcome.
func (p *Palette) addFilters() {
	s := p.env.Log.Stats()
	filter := func(text string, n uint64) {
		if n > 0 {
			p.add(thing{kind: "filter", name: text, note: term.Plural(int(n), "request"), line: "filter " + text, do: screen.Send(screen.Filter{Text: text})})
		}
	}
	filter("hidden", s.Hidden)
	for _, o := range order {
		if o != traces.Run && o != traces.HeldOutcome {
			filter("out="+o.String(), s.By[o])
		}
	}
}

func (p *Palette) addCommands() {
	if p.env.Commands == nil {
		return
	}
	for _, n := range p.env.Commands.Names() {
		p.add(thing{kind: "command", name: n.Name, note: n.Note, line: n.Text})
	}
}

// addRoutes offers to look at every other terminus.
func (p *Palette) addRoutes() {
	if p.env.Routes == nil || p.env.Commands == nil {
		return
	}
	reg := p.env.Routes.Registry()
	for _, ind := range reg.Names() {
		r, _ := p.env.Routes.Explain(ind)
		now := r.Primary.Winner().Terminus
		for _, t := range reg.Termini(ind) {
			if t != now {
				line := "route " + ind + " terminus=" + t
				p.add(thing{kind: "route", name: fmt.Sprintf("%s terminus %s -> %s", ind, orNone(now), t), note: "what-if", line: line + " dry", do: screen.Send(screen.Run{Text: line + " dry"})})
			}
		}
	}
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// How many of the newest requests are looked at for keys, and how many keys are
// offered.
const (
	recentRows = 2048
	maxRecent  = 100
)

func (p *Palette) addRecent() {
	first, last := p.env.Log.Range()
	if last > recentRows {
		first = max(first, last-recentRows)
	}
	rows := make([]session.Row, recentRows+1)
	seen := make(map[[2]string]bool)
	for i := p.env.Log.Rows(first, rows) - 1; i >= 0 && len(seen) < maxRecent; i-- {
		r := &rows[i]
		if id := [2]string{r.Indirection, r.Key}; r.Key != "" && !seen[id] {
			seen[id] = true
			p.add(thing{
				kind: "open", name: r.Indirection + " " + r.Key, note: fmt.Sprintf("last #%d %s", r.ID, r.Outcome),
				line: "find " + command.Quote(r.Indirection) + " " + command.Quote(r.Key), do: screen.Send(screen.Open{Request: r.ID}),
			})
		}
	}
}

func (p *Palette) addTopics() {
	topic := func(name, title string) {
		page, ok := Page(p.env, name)
		if ok {
			p.add(thing{kind: "help", name: title, line: "help " + name, do: screen.Show(widget.NewPager(&p.env.Shared, page))})
		}
	}
	topic("codes", "what the codes mean")
	topic("reasons", "what the reasons mean")
	topic("keys", "all keys")
	topic("expressions", "how expressions are written")
	for _, g := range guides {
		topic(g.topic, g.title)
	}
}

// search finds what has the input in it.
func (p *Palette) search() {
	p.found = widget.Find(p.input.String(), p.names)
	p.list.SetLen(len(p.found))
	p.list.To(0)
}

func (p *Palette) Hints() []screen.Action { return []screen.Action{screen.Enter, screen.Back} }

// Floats reports that the screen below is seen around it.
func (p *Palette) Floats() {}

func (p *Palette) Resize(width, height int) {
	p.width = inside(width)
	p.list.SetHeight(max(height-3, 0)) // two edges, the input
}

func (p *Palette) Update(msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	switch key.String() {
	case "esc", "ctrl+c":
		return screen.Close(p, nil)
	case "down", "ctrl+n":
		p.list.Move(1)
	case "up", "ctrl+p":
		p.list.Move(-1)
	case "pgdown":
		p.list.Move(max(p.list.Height, 1))
	case "pgup":
		p.list.Move(-max(p.list.Height, 1))
	case "enter":
		return p.choose(false)
	case "tab":
		return p.choose(true)
	default:
		if before := p.input.String(); p.input.Key(key) && p.input.String() != before {
			p.search()
		}
	}
	return nil
}

// focus returns the line under the cursor, or nil.
func (p *Palette) focus() *thing {
	if p.list.Cursor >= len(p.found) {
		return nil
	}
	return &p.all[p.found[p.list.Cursor].Index]
}

// choose does what is in focus, or puts its command into the prompt.
func (p *Palette) choose(ask bool) tea.Cmd {
	t := p.focus()
	switch {
	case t == nil, ask && t.line == "":
		return nil
	case ask || t.do == nil:
		return screen.Close(p, screen.Send(screen.Ask{Text: t.line}))
	}
	return screen.Close(p, t.do)
}

func (p *Palette) View() term.Lines {
	th := p.env.Theme
	var input term.Line
	input.Put(term.Accent|term.Bold, "> ")
	text, _ := p.input.Line(th, max(p.width-2, 1))
	input.Append(text)
	rows := p.list.Lines(th, p.width, func(i int, r *widget.Row) { p.line(&p.found[i], r, p.width) })
	if len(p.found) == 0 {
		rows = append(term.Lines{term.Of(term.Quiet, "  nothing has these letters in this order")}, rows[min(1, len(rows)):]...)
	}
	frame := term.Frame{Focus: true}
	frame.Top.Left.Put(term.Bold, "everything by name")
	frame.Top.Right.Put(term.Quiet, fmt.Sprintf("%d of %d", len(p.found), len(p.all)))
	if t := p.focus(); t != nil && t.line != "" {
		frame.Bottom.Left.Put(term.Quiet, "same as  ")
		frame.Bottom.Left.Put(term.Plain, ":"+t.line)
	}
	frame.Bottom.Right.Put(term.Accent|term.Bold, "tab")
	frame.Bottom.Right.Put(term.Quiet, " into the command line")
	return box(th, frame, append(term.Lines{input}, rows...), p.width)
}

func (p *Palette) line(m *widget.Match, l *widget.Row, width int) {
	t, style := &p.all[m.Index], term.Plain
	if l.Focus {
		style = term.Bold
	}
	l.To(2)
	l.Append(m.Marked(term.Quiet, t.kind, 0).Cut(8))
	l.To(10)
	note := term.Clean(t.note).Cut(max(width/3, 0))
	l.Append(m.Marked(style, t.name, len(t.kind)+1).Cut(max(width-10-note.Width()-1, 1)))
	l.To(width - note.Width())
	l.Add(term.Quiet, note)
}

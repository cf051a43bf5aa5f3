package value

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/widget"
)

// A Comparison shows how the answers to two requests differ, and by what steps
// they came about. It is a screen.Screen.
type Comparison struct {
	env           *screen.Env
	a, b          side
	width, height int
	steps         bool // the tab of steps, not of values
	changes       []change
	places        int // that differ
	ignored       map[string]bool
	skipped       int
	note          string // instead of a comparison
	list          widget.List
}

// A side is one of the two.
type side struct {
	trace *traces.Trace
	root  *node
}

var (
	_ screen.Screen  = (*Comparison)(nil)
	_ screen.Clicker = (*Comparison)(nil)
)

// Compare is the command that reads two requests and shows how they differ.
func Compare(env *screen.Env, a, b uint64) tea.Cmd {
	return func() tea.Msg {
		c := &Comparison{env: env, ignored: make(map[string]bool)}
		for _, one := range []struct {
			id   uint64
			side *side
		}{{a, &c.a}, {b, &c.b}} {
			t, err := env.Log.Trace(one.id)
			if err != nil {
				return screen.Toast{Text: "compare: " + err.Error(), Bad: true}
			}
			one.side.trace = t
			body, err := env.Log.Body(valueOf(t))
			if err != nil {
				c.note = fmt.Sprintf("#%d has no value to compare: %v", t.ID, err)
				continue
			}
			if one.side.root, err = parse(body); err != nil {
				c.note = fmt.Sprintf("#%d: %v", t.ID, err)
			}
		}
		c.compare()
		c.steps = c.note != ""
		return screen.Push{Screen: c}
	}
}

func valueOf(t *traces.Trace) traces.Value {
	if t.Value.Model == "" {
		return t.Sent
	}
	return t.Value
}

func (c *Comparison) compare() {
	c.changes, c.places = nil, 0
	if c.note != "" {
		return
	}
	d := differ{ignored: c.ignored}
	d.compare("", "", c.a.root, c.b.root, 0)
	c.changes, c.skipped = d.out, d.skipped
	for i := range c.changes {
		if c.topmost(i) {
			c.places++
		}
	}
	c.list.SetLen(len(c.changes))
	if i := c.next(-1, 1); i >= 0 {
		c.list.To(i)
	}
}

// differs reports whether a line is a difference itself, not only above one.
func (ch *change) differs() bool { return ch.sign == '+' || ch.sign == '-' || ch.sign == '~' }

// topmost reports whether the i-th line is a difference that is not part of the
// one above it.
func (c *Comparison) topmost(i int) bool {
	ch := &c.changes[i]
	if !ch.differs() {
		return false
	}
	for j := i - 1; j >= 0; j-- {
		if c.changes[j].depth < ch.depth {
			return c.changes[j].sign != ch.sign || ch.sign == '~'
		}
	}
	return true
}

// next returns the next difference from a line on, or -1.
func (c *Comparison) next(from, step int) int {
	for i := from + step; i >= 0 && i < len(c.changes); i += step {
		if c.topmost(i) {
			return i
		}
	}
	return -1
}

// Scope implements screen.Screen.
func (c *Comparison) Scope() screen.Scope { return screen.InCompare }

// Captures implements screen.Screen.
func (c *Comparison) Captures() bool { return false }

// Resize implements screen.Screen.
func (c *Comparison) Resize(width, height int) {
	c.width, c.height = width, height
	c.list.SetHeight(height - compareHead - compareFoot)
}

// The lines above and below the differences.
const (
	compareHead = 4
	compareFoot = 4
)

// Update implements screen.Screen.
func (c *Comparison) Update(tea.Msg) tea.Cmd { return nil }

// Can implements screen.Screen.
func (c *Comparison) Can(do screen.Action) string {
	switch do {
	case screen.Down, screen.Up, screen.Top, screen.Bottom, screen.HalfDown, screen.HalfUp, screen.PageDown, screen.PageUp,
		screen.Tab, screen.BackTab, screen.Swap, screen.CopyMenu:
		return ""
	case screen.NextDiff, screen.PrevDiff:
		return reasonIf(c.steps || c.places == 0, "there is no difference")
	case screen.Ignore:
		return reasonIf(c.steps || len(c.changes) == 0 || c.changes[c.list.Cursor].path == "", "there is nothing to ignore")
	}
	return screen.Unknown
}

// Hints implements screen.Screen.
func (c *Comparison) Hints() []screen.Action {
	return []screen.Action{screen.NextDiff, screen.PrevDiff, screen.Tab, screen.Swap, screen.Ignore, screen.CopyMenu, screen.Back}
}

// Act implements screen.Screen.
func (c *Comparison) Act(a screen.Act) tea.Cmd {
	n := a.Times()
	switch a.Do {
	case screen.Down:
		c.list.Move(n)
	case screen.Up:
		c.list.Move(-n)
	case screen.Top:
		c.list.To(0)
	case screen.Bottom:
		c.list.To(c.list.Len - 1)
	case screen.HalfDown, screen.PageDown:
		c.list.Move(n * max(c.list.Height/2, 1))
	case screen.HalfUp, screen.PageUp:
		c.list.Move(-n * max(c.list.Height/2, 1))
	case screen.Tab, screen.BackTab:
		c.steps = !c.steps && c.note == "" || c.note != ""
	case screen.Swap:
		c.a, c.b = c.b, c.a
		c.compare()
	case screen.NextDiff:
		if i := c.next(c.list.Cursor, 1); i >= 0 {
			c.list.To(i)
		}
	case screen.PrevDiff:
		if i := c.next(c.list.Cursor, -1); i >= 0 {
			c.list.To(i)
		}
	case screen.Ignore:
		return c.ignore(c.changes[c.list.Cursor].path)
	case screen.CopyMenu:
		return screen.Send(screen.Copy{What: "comparison", Text: c.text()})
	}
	return nil
}

func (c *Comparison) ignore(path string) tea.Cmd {
	set := func(on bool) tea.Cmd {
		if on {
			c.ignored[path] = true
		} else {
			delete(c.ignored, path)
		}
		c.compare()
		return nil
	}
	set(true)
	command := ":ignore " + path
	return screen.Send(screen.Done{Command: command, Change: &screen.Change{
		Command: command,
		Undo:    func() tea.Cmd { return set(false) },
		Redo:    func() tea.Cmd { return set(true) },
	}})
}

// Context implements screen.Screen.
func (c *Comparison) Context() (left, right screen.Line) {
	left.Put(screen.Bold, fmt.Sprintf(" compare #%d : #%d", c.a.trace.ID, c.b.trace.ID))
	right.Put(screen.Plain, screen.Plural(c.places, "difference"))
	if len(c.ignored) > 0 {
		right.Put(screen.Attention, fmt.Sprintf(", ignored %s", screen.Plural(len(c.ignored), "rule")))
	}
	right.Space(1)
	return left, right
}

// View implements screen.Screen.
func (c *Comparison) View() screen.Lines {
	lines := screen.Lines{c.who("A", c.a.trace), c.who("B", c.b.trace), c.tabs(), c.env.Theme.HRule(c.width)}
	var body screen.Lines
	switch {
	case c.steps:
		body = c.stepLines()
		if c.note != "" {
			body = append(screen.Lines{screen.Of(screen.Attention, "   "+c.note), {}}, body...)
		}
	case c.places == 0:
		body = screen.Lines{{}, screen.Of(screen.Plain, "   Equal: 0 differences, "+screen.Plural(c.skipped, "place")+" ignored.")}
	default:
		from, to := c.list.Visible()
		for i := from; i < to; i++ {
			body = append(body, c.row(i))
		}
	}
	lines = append(lines, body.Fill(c.width, max(c.height-compareHead-compareFoot, 0))...)
	return append(lines, c.foot()...)
}

func (c *Comparison) who(name string, t *traces.Trace) screen.Line {
	var l screen.Line
	l.Put(screen.Bold, " "+name+" ")
	r, _ := c.env.Log.Row(t.ID)
	l.Put(screen.Plain, fmt.Sprintf("#%d %s %s %s  ", t.ID, t.Verb, t.Indirection, t.Key))
	l.Put(screen.Plain, screen.ServedBy(&r)+"  ")
	l.Put(screen.StyleOf(t.Outcome), t.Outcome.String())
	l.Put(screen.Plain, "  "+screen.Took(t.Took)+"  env "+t.Environment)
	return l
}

func (c *Comparison) tabs() screen.Line {
	var l screen.Line
	l.Space(1)
	for i, name := range []string{fmt.Sprintf("Value %d", c.places), "Steps"} {
		if (i == 1) == c.steps {
			l.Put(screen.Bold, "["+name+"]")
		} else {
			l.Put(screen.Quiet, " "+name+" ")
		}
		l.Space(1)
	}
	right := screen.Of(screen.Quiet, "keys sorted, resources by name ")
	l.To(c.width - right.Width())
	l.Append(right)
	return l
}

func (c *Comparison) row(i int) screen.Line {
	ch, g := &c.changes[i], &c.env.Theme.Glyphs
	var l screen.Line
	cursor := i == c.list.Cursor
	if cursor {
		l.Put(screen.Bold, g.Cursor)
	}
	l.To(2 + 2*min(max(ch.depth-1, 0), 12))
	label := max(c.width/4, 16)
	l.Cell(screen.Plain, screen.CleanTo(ch.label, c.width), max(label-l.Width(), 8))
	l.Space(1)
	style := screen.Plain
	if ch.differs() {
		style = screen.Attention
	}
	half := (c.width - l.Width() - 6) / 2
	l.Cell(style, screen.CleanTo(shown(ch.a), half), half)
	l.Put(screen.Quiet, g.Wall+" ")
	right := shown(ch.b)
	if ch.sign == ' ' {
		style, right = screen.Quiet, "same"
	}
	l.Cell(style, screen.CleanTo(right, half), half)
	if ch.differs() {
		l.Put(style, " "+string(rune(ch.sign)))
	}
	if cursor {
		l = l.With(screen.Bold)
	}
	return l
}

// shown is one side of a line.
func shown(n *node) string {
	if n == nil {
		return "-"
	}
	return n.summary()
}

// stepLines is the steps of both side by side.
func (c *Comparison) stepLines() screen.Lines {
	label, half := 14, max((c.width-14-16)/2, 8)
	var l screen.Line
	l.Space(1)
	l.Cell(screen.Quiet, screen.Clean("STEP"), label)
	l.Cell(screen.Quiet, screen.Clean("A"), half)
	l.Space(1)
	l.Cell(screen.Quiet, screen.Clean("B"), half)
	l.Right(screen.Quiet, screen.Clean("delta ms"), 12)
	lines := screen.Lines{l}
	for i := range c.a.trace.Steps {
		a, b := c.a.trace.Steps[i], c.b.trace.Steps[i]
		style := screen.Plain
		if a.Answer != b.Answer || a.Because.Reason != b.Because.Reason {
			style = screen.Attention
		}
		var l screen.Line
		l.Space(1)
		l.Cell(screen.Plain, screen.Clean(traces.Step(i).String()), label)
		l.Cell(style, screen.CleanTo(answer(c.a.trace, a, traces.Step(i)), half), half)
		l.Space(1)
		l.Cell(style, screen.CleanTo(answer(c.b.trace, b, traces.Step(i)), half), half)
		delta := ""
		if a.Took > 0 || b.Took > 0 {
			delta = signed(a, b)
		}
		l.Right(screen.Plain, screen.Clean(delta), 12)
		lines = append(lines, l)
	}
	return lines
}

func signed(a, b traces.Question) string {
	if d := b.Took - a.Took; d < 0 {
		return "-" + screen.Millis(-d)
	}
	return "+" + screen.Millis(b.Took-a.Took)
}

func answer(t *traces.Trace, q traces.Question, s traces.Step) string {
	text := q.Answer.String()
	if s == traces.Route && q.Answer == traces.Chosen {
		text = t.Primary.Winner().Terminus
	}
	if why := q.Because.String(); why != "" {
		text += ", " + why
	}
	return text
}

// foot says who decided on each side: two equally wrong sides look equal.
func (c *Comparison) foot() screen.Lines {
	path := ""
	if !c.steps && c.list.Cursor < len(c.changes) {
		path = " path " + c.changes[c.list.Cursor].path
	}
	return screen.Lines{
		c.env.Theme.HRule(c.width),
		screen.Of(screen.Quiet, path),
		screen.Of(screen.Plain, " provenance A: "+traces.HeadlineOf(c.a.trace).Decided),
		screen.Of(screen.Plain, " provenance B: "+traces.HeadlineOf(c.b.trace).Decided),
	}
}

func (c *Comparison) text() string {
	var b strings.Builder
	for _, ch := range c.changes {
		if ch.differs() {
			fmt.Fprintf(&b, "%c %s: %s | %s\n", ch.sign, ch.path, shown(ch.a), shown(ch.b))
		}
	}
	for path := range c.ignored {
		fmt.Fprintf(&b, "ignored %s\n", path)
	}
	lines := strings.SplitAfter(b.String(), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "")
}

// Click implements screen.Clicker.
func (c *Comparison) Click(_, y int) tea.Cmd {
	if row := c.list.Offset + y - compareHead; !c.steps && y >= compareHead && row < len(c.changes) {
		c.list.To(row)
	}
	return nil
}

// Wheel implements screen.Clicker.
func (c *Comparison) Wheel(lines int) tea.Cmd {
	c.list.Scroll(lines)
	return nil
}

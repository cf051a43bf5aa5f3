// Package compare shows how two answers differ, two plans, or two runs.
package compare

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/traces/tree"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// A Ref is one side: a request of a log.
type Ref struct {
	Log session.Log
	ID  uint64
}

// A Comparison shows how two values differ. Of answers to requests it shows by what steps
// they came about, too.
type Comparison struct {
	env           *session.Env
	sides         sides
	report        *diff.Report
	width, height int
	tab           int // of tabs
	unified       bool
	only          bool  // only what differs
	shown         []int // of the lines; ^i is where both sides of line i are from
	from          map[string][2]string
	list          widget.Table
	below         [tabs]widget.Table // of the other tabs: they scroll
}

const (
	ofValue = iota
	ofSteps
	ofHeaders
	ofTiming
	tabs
)

var _ screen.Screen = (*Comparison)(nil)

// sides are the two that are compared: requests, or documents.
type sides interface {
	compare(o diff.Options) (*diff.Report, map[string][2]string, error)
	swapped() sides
	apart() bool  // of two recordings
	name() string // of a file for the comparison
}

// refs are requests of any logs.
type refs [2]Ref

func (r refs) compare(o diff.Options) (*diff.Report, map[string][2]string, error) {
	return requests(r[0].Log, r[0].ID, r[1].Log, r[1].ID, o)
}
func (r refs) swapped() sides { return refs{r[1], r[0]} }
func (r refs) apart() bool    { return r[0].Log != r[1].Log }
func (r refs) name() string   { return fmt.Sprintf("diff-%d-%d", r[0].ID, r[1].ID) }

// documents are values of no requests.
type documents [2]diff.Document

func (d documents) compare(o diff.Options) (*diff.Report, map[string][2]string, error) {
	r, err := diff.Documents(d[0], d[1], o)
	return r, nil, err
}
func (d documents) swapped() sides { return documents{d[1], d[0]} }
func (documents) apart() bool      { return false }
func (documents) name() string     { return "diff-plans" }

// compared is what became of a comparison with other rules or sides.
type compared struct {
	sides  sides
	report *diff.Report
	from   map[string][2]string // where both sides of a line are from, by its path
	err    error
}

// Two is the command that reads two requests and shows how they differ.
func Two(env *session.Env, a, b uint64) tea.Cmd {
	return show(env, refs{{env.Log, a}, {env.Log, b}})
}

// Documents is the command that shows how two documents differ, whose secrets are redacted.
func Documents(env *session.Env, a, b diff.Document) tea.Cmd { return show(env, documents{a, b}) }

func show(env *session.Env, s sides) tea.Cmd {
	do := read(env, s)
	return func() tea.Msg {
		m := do()
		if m.err != nil {
			return screen.Toast{Text: m.err.Error(), Bad: true}
		}
		c := &Comparison{env: env, tab: ofValue, list: widget.Table{Top: compareHead}}
		c.take(m)
		if m.report.Values == nil {
			c.tab = ofSteps
		}
		return screen.Push{Screen: c}
	}
}

// read returns what compares two sides by the rules there are now.
func read(env *session.Env, s sides) func() compared {
	o := diff.Options{Ignore: slices.Clone(env.Ignored), Apart: s.apart()}
	return func() compared {
		r, from, err := s.compare(o)
		return compared{s, r, from, err}
	}
}

// again compares once more.
func (c *Comparison) again(s sides) tea.Cmd {
	do := read(c.env, s)
	return func() tea.Msg { return screen.For{Screen: c, Msg: do()} }
}

func (c *Comparison) take(m compared) {
	path := ""
	if l := c.focus(); l != nil {
		path = l.Path
	}
	first := c.report == nil
	c.sides, c.report, c.from = m.sides, m.report, m.from
	c.lay(path)
	if i := c.next(-1, 1); first && i >= 0 {
		c.list.To(i)
	}
	for i, n := range [tabs]int{ofSteps: len(c.report.Steps), ofHeaders: len(c.report.Headers), ofTiming: len(c.report.Timing)} {
		c.below[i].SetLen(n)
	}
}

// lay chooses the lines that are shown, with the cursor on the one of a path.
func (c *Comparison) lay(path string) {
	c.shown = c.shown[:0]
	for i := range c.lines() {
		l := &c.lines()[i]
		if c.only && l.Kind == diff.Same {
			continue
		}
		if _, known := c.from[l.Path]; known {
			c.shown = append(c.shown, ^i)
		}
		c.shown = append(c.shown, i)
	}
	c.list.SetLen(len(c.shown))
	c.list.Seek(func(i int) bool { return c.shown[i] >= 0 && c.line(i).Path == path })
}

// line is the line that a row belongs to.
func (c *Comparison) line(row int) *diff.Line {
	i := c.shown[row]
	if i < 0 {
		i = ^i
	}
	return &c.lines()[i]
}

func (c *Comparison) lines() []diff.Line {
	if c.report == nil || c.report.Values == nil {
		return nil
	}
	return c.report.Values.Lines
}

// focus is the line with the cursor, or nil.
func (c *Comparison) focus() *diff.Line {
	if c.tab != ofValue || c.list.Cursor >= len(c.shown) {
		return nil
	}
	return c.line(c.list.Cursor)
}

// next returns the next difference from a row on, or -1.
func (c *Comparison) next(from, step int) int {
	for i := from + step; i >= 0 && i < len(c.shown); i += step {
		if l := c.line(i); c.shown[i] >= 0 && l.Kind.Differs() && !l.Part {
			return i
		}
	}
	return -1
}

// asked reports whether the sides are requests, which have steps.
func (c *Comparison) asked() bool {
	_, is := c.sides.(refs)
	return is
}

func (c *Comparison) Scope() screen.Scope { return screen.InCompare }

func (c *Comparison) Resize(width, height int) {
	c.width, c.height = width, height
	c.list.SetHeight(height - compareHead - c.foots())
	c.below[ofSteps].Columns = stepColumns(width)
	c.below[ofHeaders].Columns = headerColumns(width)
	c.below[ofTiming].Columns = timeColumns(width)
	for i := range c.below {
		c.below[i].Gutter, c.below[i].Paged = 1, true
		c.below[i].SetHeight(c.list.Height - 1)
	}
}

// List returns the differences, or the lines of another tab.
func (c *Comparison) List() screen.List {
	if c.tab == ofValue {
		return &c.list
	}
	return &c.below[c.tab]
}

// compareHead is the lines above the differences.
const compareHead = 4

// foots is the lines below them.
func (c *Comparison) foots() int {
	if !c.asked() {
		return 2
	}
	if c.height >= 24 {
		return 6
	}
	return 4
}

func (c *Comparison) Update(msg tea.Msg) tea.Cmd {
	if m, ok := msg.(compared); ok {
		if m.err != nil {
			return screen.Warn(m.err.Error(), "")
		}
		c.take(m)
	}
	return nil
}

func (c *Comparison) Disabled(do screen.Action) string {
	if widget.Moves(do) {
		return ""
	}
	l := c.focus()
	switch do {
	case screen.Tab, screen.BackTab:
		return screen.ReasonIf(!c.asked(), "only answers to requests have more than a value")
	case screen.Swap, screen.CopyMenu:
		return ""
	case screen.Unified:
		return screen.ReasonIf(c.tab != ofValue, "only values have two ways to be shown")
	case screen.OnlyDiffs:
		return screen.ReasonIf(c.tab != ofValue, "only values can be narrowed down")
	case screen.NextDiff, screen.PrevDiff:
		return screen.ReasonIf(c.tab != ofValue || c.next(-1, 1) < 0, "there is no difference")
	case screen.Ignore:
		return screen.ReasonIf(l == nil || l.Path == "", "there is nothing to ignore")
	case screen.Enter:
		return screen.ReasonIf(l == nil, "there is nothing to open")
	case screen.Write:
		return screen.ReasonIf(c.env.Save == nil, "files cannot be written here")
	}
	return screen.Unknown
}

func (c *Comparison) Hints() []screen.Action {
	return []screen.Action{screen.NextDiff, screen.Tab, screen.Swap, screen.Ignore, screen.Unified, screen.Write, screen.OnlyDiffs, screen.Back, screen.Enter, screen.CopyMenu}
}

func (c *Comparison) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Tab:
		c.tab = (c.tab + 1) % tabs
	case screen.BackTab:
		c.tab = (c.tab + tabs - 1) % tabs
	case screen.Swap:
		return c.again(c.sides.swapped())
	case screen.Unified:
		c.unified = !c.unified
	case screen.OnlyDiffs:
		path := c.focus()
		c.only = !c.only
		if path != nil {
			c.lay(path.Path)
		}
	case screen.NextDiff:
		if i := c.next(c.list.Cursor, 1); i >= 0 {
			c.list.To(i)
		}
	case screen.PrevDiff:
		if i := c.next(c.list.Cursor, -1); i >= 0 {
			c.list.To(i)
		}
	case screen.Ignore:
		return Ignore(c.env, c.focus().Path, func() tea.Cmd { return c.again(c.sides) })
	case screen.Enter:
		return c.whole()
	case screen.Write:
		return write(c.env, c.report, c.sides.name())
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&c.env.Shared, "copy", c.copies()))
	}
	return nil
}

// whole shows both sides of a line in full.
func (c *Comparison) whole() tea.Cmd {
	l := c.focus()
	p := widget.Page{Title: "compare > " + l.Path}
	for _, s := range []struct {
		name string
		side *diff.Side
		node *tree.Node
	}{{"A", &c.report.A, l.A}, {"B", &c.report.B, l.B}} {
		p.Add("", s.name+"  "+s.side.String(), term.Bold)
		p.Add("", full(s.node), term.Plain)
		p.Add("", "", term.Plain)
	}
	return screen.Show(widget.NewPager(&c.env.Shared, p))
}

// full is a value as it is read best.
func full(n *tree.Node) string {
	switch {
	case n == nil:
		return "nothing is there"
	case n.Folds():
		return string(tree.AppendYAML(nil, n.Alone(), 0, 1<<20))
	}
	return n.Text()
}

func (c *Comparison) copies() []widget.Item {
	items := []widget.Item{widget.CopyItem('c', "comparison", c.report.Text())}
	items[0].Note = c.report.Summary()
	if l := c.focus(); l != nil {
		items = append(items, widget.CopyItem('p', "path", l.Path))
		for _, s := range []struct {
			key  rune
			name string
			node *tree.Node
		}{{'a', "side A", l.A}, {'b', "side B", l.B}} {
			if s.node != nil {
				items = append(items, widget.CopyItem(s.key, s.name, s.node.Text()))
			}
		}
	}
	return items
}

// Ignore adds a rule of what does not count, so that it can be undone; again is
// done after each change.
func Ignore(env *session.Env, path string, again func() tea.Cmd) tea.Cmd {
	rule := diff.Rule(path)
	if slices.Contains(env.Ignored, rule) {
		return screen.Notify("ignored already: " + rule)
	}
	return change(env, ":ignore "+rule, append(slices.Clone(env.Ignored), rule), again)
}

// Heed takes a rule away; "" takes all.
func Heed(env *session.Env, path string, again func() tea.Cmd) tea.Cmd {
	rule := diff.Rule(path)
	left := slices.DeleteFunc(slices.Clone(env.Ignored), func(r string) bool { return rule == "" || r == rule })
	if len(left) == len(env.Ignored) {
		return screen.Warn("no such rule: "+rule, ":ignore lists them")
	}
	return change(env, strings.TrimSpace(":ignore off "+rule), left, again)
}

func change(env *session.Env, command string, rules []string, again func() tea.Cmd) tea.Cmd {
	old := env.Ignored
	set := func(rules []string) tea.Cmd {
		return env.Set(func(s *session.State) { s.Ignored = rules }, func() tea.Cmd { return tea.Batch(keep(env, rules), again()) })
	}
	return tea.Batch(set(rules), screen.Changed(command, old, rules, set))
}

// keep writes the rules down for the next time.
func keep(env *session.Env, rules []string) tea.Cmd {
	if env.Keep == nil {
		return nil
	}
	return func() tea.Msg {
		if err := env.Keep("ignore", rules); err != nil {
			return screen.Toast{Text: "keep the rules: " + err.Error(), Bad: true}
		}
		return nil
	}
}

// write asks for the format and name of a file, and writes a report to it.
func write(env *session.Env, r *diff.Report, name string) tea.Cmd {
	return widget.AskFile(&env.Shared, widget.File{
		Hint: "json [FILE]   or   text [FILE]", Kinds: []string{"json", "text"},
		Name: func(kind string) string { return name + map[string]string{"json": ".json", "text": ".txt"}[kind] },
		Text: func(kind string) (string, int, error) {
			redacted := r.A.Redacted + r.B.Redacted
			if kind == "text" {
				return r.Text(), redacted, nil
			}
			var b strings.Builder
			err := r.Write(&b)
			return b.String(), redacted, err
		},
	})
}

// outcomeOf is the outcome of a side as a style.
func outcomeOf(s *diff.Side) term.Style {
	o, _ := traces.ParseOutcome(s.Outcome)
	return session.StyleOf(o)
}

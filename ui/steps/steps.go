// Package steps shows one request: every question that was asked about it, the
// answer, and the reason; below that, the work that was done for it.
package steps

import (
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/command"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/value"
	"indirtui/ui/widget"
)

// A Steps shows the steps of one request.
type Steps struct {
	env           *session.Env
	id            uint64
	width, height int

	trace *traces.Trace // nil until it is there
	links store.Links
	err   error
	tree  *tree

	open    map[key]bool
	lines   []line
	list    widget.Table
	search  widget.Search
	placed  bool // the cursor has been put where the interest is
	hold    stepper
	counts  map[string]string  // what is watched, see watch
	servers map[string]*server // that are watched, by address

	panes    widget.Panes
	previews map[uint64]*value.Preview // of this request, and of those that it asked
}

// New shows the steps of a request.
func New(env *session.Env, id uint64) *Steps {
	s := &Steps{env: env, id: id, open: make(map[key]bool), list: widget.Table{Columns: columns, Gutter: gutter}}
	s.panes = widget.NewPanes(&env.Shared, "steps", widget.Pane{Least: 96, Share: 1}, widget.Pane{Least: 50, Share: 1})
	s.previews = make(map[uint64]*value.Preview)
	s.search = widget.Search{Hint: "text in a step, an answer or a reason", None: "not on this screen", Find: s.find}
	return s
}

var (
	_ screen.Screen  = (*Steps)(nil)
	_ screen.Clicker = (*Steps)(nil)
	_ screen.Shower  = (*Steps)(nil)
)

// loaded is the answer of load.
type loaded struct {
	id    uint64
	trace *traces.Trace
	links store.Links
	err   error
	stay  *stay             // if it is held
	near  uint64            // a held request that was stepped into, or out to
	count map[string]string // what is watched
}

// Load reads the request. It is called once, when the screen is shown, and
// while the request runs at every snapshot.
func (s *Steps) Load() tea.Cmd {
	id, env, steps, watches := s.id, s.env, s.hold.steps, slices.Clone(s.env.Watches)
	return func() tea.Msg {
		m := loaded{id: id}
		m.links = env.Log.Links(id)
		if m.stay = held(env, id); m.stay != nil {
			m.trace, m.count = m.stay.trace(env), countAll(env.Log, watches)
		} else {
			m.trace, m.err = env.Log.Trace(id)
			if steps {
				run := ""
				if m.trace != nil {
					run = m.trace.Run
				}
				m.near = near(env, id, m.links.Parent, run)
			}
		}
		return screen.For{Screen: s, Msg: m}
	}
}

// Show changes to another request.
func (s *Steps) Show(id uint64) tea.Cmd {
	s.id, s.placed = id, false
	s.open = make(map[key]bool)
	s.panes.Start()
	s.hold.stay, s.hold.editing = nil, false
	return s.Load()
}

// Request returns the number of the request that is shown.
func (s *Steps) Request() uint64 { return s.id }

func (s *Steps) Scope() screen.Scope {
	switch {
	case s.hold.stay != nil:
		return screen.InHeld | screen.InSteps
	case s.panes.Several():
		return screen.InSteps | screen.InPanes
	}
	return screen.InSteps
}

func (s *Steps) Resize(width, height int) {
	s.width, s.height = width, height
	s.layout()
}

func (s *Steps) Update(msg tea.Msg) tea.Cmd {
	switch msg := msg.(type) {
	case loaded:
		if msg.id != s.id {
			return nil
		}
		if msg.near != 0 {
			return s.Show(msg.near)
		}
		s.take(msg)
		return tea.Batch(s.tick(), s.probe(), s.look())
	case previewed:
		s.previewed(msg)
	case heldTick:
		s.hold.ticking = false
		s.hold.now = s.env.Now()
		return tea.Batch(s.tick(), s.probe())
	case probed:
		if known := s.servers[msg.address]; known != nil {
			known.text, known.asking = msg.text, false
		}
	case actionChosen:
		return msg()
	case show:
		return s.Show(msg.id)
	case session.Snapshot:
		s.hold.now = msg.At
		if s.trace == nil || s.trace.Outcome == traces.Run || s.trace.Outcome == traces.HeldOutcome || s.links.NextInRun == 0 && s.trace.Run != "" {
			return s.Load()
		}
	}
	return nil
}

func (s *Steps) take(m loaded) {
	s.err = m.err
	was := s.hold.stay
	s.hold.stay, s.counts = m.stay, m.count
	if m.stay == nil {
		s.hold.editing = false
	}
	if m.trace == nil {
		s.trace, s.tree, s.lines = nil, nil, nil
		s.list.SetLen(0)
		return
	}
	s.trace, s.links = m.trace, m.links
	s.tree = newTree(m.trace)
	focus := traces.StepCount
	if !s.placed {
		focus = int(focusOf(m.trace))
		if interesting(m.trace, traces.Step(focus)) {
			s.open[key{step: traces.Step(focus)}] = len(s.tree.under[focus]) > 0
		}
	}
	s.fold()
	if st := m.stay; st != nil {
		if was == nil || was.State.Point != st.State.Point || was.State.Done != st.State.Done || was.State.Code != st.State.Code {
			s.toStep(st.State.Point.Step)
			s.hold.at = 0
		}
		s.placed = true
	}
	if !s.placed {
		s.placed = m.trace.Outcome != traces.Run
		s.toStep(traces.Step(focus))
	}
	s.layout()
}

// focusOf is the step that made the outcome what it is.
func focusOf(t *traces.Trace) traces.Step {
	for i, q := range t.Steps {
		if traces.Step(i) != traces.Caller && (q.Answer == traces.Raised || q.Answer == traces.Swallowed || q.Answer == traces.Denied || q.Answer == traces.Invalid) {
			return traces.Step(i)
		}
	}
	if len(t.Faults) > 0 {
		return t.Faults[0].Step
	}
	if t.Served == traces.ByCache {
		return traces.CacheRead
	}
	return traces.Terminus
}

// interesting reports whether what is below a step should be seen at once.
func interesting(t *traces.Trace, s traces.Step) bool {
	return s != traces.Route && (t.Outcome.Failed() || t.Outcome == traces.Nil)
}

// fold makes the rows anew and leaves the cursor on its row.
func (s *Steps) fold() {
	var at key
	if s.list.Cursor < len(s.lines) {
		at = s.lines[s.list.Cursor].key()
	}
	s.lines = s.tree.lines(s.trace, s.open)
	s.list.SetLen(len(s.lines))
	s.list.Columns = s.fitted()
	s.list.Seek(func(i int) bool { return s.lines[i].key() == at })
}

func (s *Steps) toStep(step traces.Step) {
	s.list.Seek(func(i int) bool { return s.lines[i].step == step && s.lines[i].span == nil && s.lines[i].choice == nil })
}

// focus returns the row under the cursor, or nil.
func (s *Steps) focus() *line {
	if s.trace == nil || s.list.Cursor >= len(s.lines) {
		return nil
	}
	return &s.lines[s.list.Cursor]
}

func (s *Steps) Disabled(do screen.Action) string {
	if s.trace == nil {
		switch do {
		case screen.NextFailure, screen.PrevFailure:
			return ""
		}
		return screen.Unknown
	}
	if s.hold.stay != nil && s.hold.editing && (do == screen.Back || do == screen.Tab || do == screen.BackTab) {
		return ""
	}
	switch do {
	case screen.Search, screen.SearchNext, screen.SearchPrev:
		return s.search.Disabled(do)
	case screen.Write:
		return screen.ReasonIf(s.env.Save == nil, "files cannot be written here")
	case screen.Left, screen.Right, screen.FoldAll, screen.OpenAll, screen.Enter, screen.CopyMenu,
		screen.NextFailure, screen.PrevFailure, screen.SetMark, screen.JumpMark:
		return ""
	}
	if widget.Moves(do) {
		return ""
	}
	if s.hold.stay == nil {
		if why := s.panes.Disabled(do); why != screen.Unknown {
			return why
		}
	}
	if why := s.request().Disabled(do); why != screen.Unknown {
		return why
	}
	return s.disabledHeld(do)
}

func (s *Steps) Hints() []screen.Action {
	if s.hold.stay != nil {
		if s.hold.editing { // what enter does stands above the pane
			return []screen.Action{screen.Up, screen.Down, screen.AsItWas, screen.EditHeld, screen.Back}
		}
		return []screen.Action{screen.StepOnce, screen.StepOver, screen.Finish, screen.Continue, screen.EditHeld, screen.Inject, screen.AsItWas, screen.Back, screen.ContinueAll, screen.AddBreak}
	}
	return []screen.Action{screen.Enter, screen.Right, screen.OpenValue, screen.PlanIt, screen.DiffGood, screen.PrevInRun, screen.NextInRun, screen.CopyMenu, screen.Back, screen.Write, screen.Zoom, screen.Tab}
}

func (s *Steps) Handle(a screen.Command) tea.Cmd {
	if cmd, done := s.handleHeld(a); done {
		return cmd
	}
	if s.panes.Handle(a) {
		return nil
	}
	if s.list.Handle(a) {
		s.panes.Start()
		return s.look()
	}
	switch a.Action {
	case screen.Break:
		return breakHere(s.env, s.trace, s.focusStep())
	case screen.BreakIf:
		return AddBreak(s.env, like(s.trace), s.focusStep().String())
	case screen.Right:
		s.unfold()
	case screen.Left:
		s.foldHere()
	case screen.OpenAll, screen.FoldAll:
		s.all(a.Action == screen.OpenAll)
	case screen.Enter:
		return s.enter()
	case screen.NextInRun:
		return s.Show(s.request().Next())
	case screen.PrevInRun:
		return s.Show(s.links.PrevInRun)
	case screen.NextFailure, screen.PrevFailure:
		return s.failure(a.Action == screen.NextFailure)
	case screen.SetMark:
		return SetMark(s.env, s.id, byte(a.Arg))
	case screen.JumpMark:
		return Jump(s.env, a.Arg, func(id uint64) tea.Cmd { return screen.Send(screen.For{Screen: s, Msg: show{id}}) })
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&s.env.Shared, "copy", s.copies()))
	case screen.Search, screen.SearchNext, screen.SearchPrev:
		return s.search.Handle(&s.env.Shared, a)
	}
	return s.request().Handle(a.Action)
}

func (s *Steps) request() *Request { return &Request{s.env, s.trace, s.links} }

// focusStep is the step that the cursor is on.
func (s *Steps) focusStep() traces.Step {
	if l := s.focus(); l != nil {
		return l.step
	}
	return traces.Terminus
}

type show struct{ id uint64 }

func (s *Steps) unfold() {
	if l := s.focus(); l != nil && l.kids {
		s.set(l, true)
	}
}

// foldHere folds the row, or goes to the one it is below.
func (s *Steps) foldHere() {
	l := s.focus()
	switch {
	case l == nil:
	case l.kids && l.open:
		s.set(l, false)
	default:
		for i := s.list.Cursor; i >= 0; i-- {
			if s.lines[i].depth < l.depth {
				s.list.To(i)
				return
			}
		}
	}
}

func (s *Steps) set(l *line, open bool) {
	if l.span != nil {
		s.open[key{step: l.step, span: -l.span.ID}] = !open
	} else {
		s.open[key{step: l.step}] = open
	}
	s.fold()
}

func (s *Steps) all(open bool) {
	s.open = make(map[key]bool)
	for i := range s.trace.Steps {
		s.open[key{step: traces.Step(i)}] = open
	}
	s.fold()
}

// enter goes where a row leads: to the request that was asked, or to all that
// is known about the row.
func (s *Steps) enter() tea.Cmd {
	l := s.focus()
	if l == nil {
		return nil
	}
	if l.span != nil && l.span.Request != 0 {
		return screen.Send(screen.Open{Request: l.span.Request, New: true})
	}
	var p widget.Page
	p.Title = fmt.Sprintf("#%d > %s", s.id, s.name(l))
	for _, f := range s.facts(l) {
		p.Add(f.Label, f.Text, f.Style)
	}
	return screen.Show(widget.NewPager(&s.env.Shared, p))
}

func (s *Steps) name(l *line) string {
	step, _, _, _ := s.cells(l)
	return strings.TrimSpace(l.number + " " + step)
}

func (s *Steps) failure(forward bool) tea.Cmd {
	id := s.id
	return screen.Later(func() tea.Msg {
		if next := NextFailure(s.env.Log, id, forward); next != 0 {
			return screen.For{Screen: s, Msg: show{next}}
		}
		return screen.Toast{Text: "no further failure in this direction"}
	})
}

// find goes to the nearest row with what is searched.
func (s *Steps) find(step int) bool {
	return s.list.Find(step, func(i int) bool { return s.has(&s.lines[i]) })
}

func (s *Steps) has(l *line) bool {
	a, b, c, _ := s.cells(l)
	if s.search.In(term.Clean(a + " " + b + " " + c).String()) {
		return true
	}
	return slices.ContainsFunc(s.facts(l), func(f widget.Fact) bool { return s.search.In(term.Clean(f.Text).String()) })
}

func (s *Steps) copies() []widget.Item {
	t, l := s.trace, s.focus()
	step, answer, because, took := s.cells(l)
	again := widget.CopyItem('c', "command", CommandOf(t))
	if l.span != nil {
		if x, ok := l.span.HTTP(); ok && x.URL != "" {
			again = widget.CopyItem('c', "curl", x.Curl())
		}
	}
	return []widget.Item{
		widget.CopyItem('r', "row", strings.Join(strings.Fields(strings.Join([]string{l.number, step, answer, because, took}, " ")), " ")),
		widget.CopyItem('k', "key", t.Key),
		widget.CopyItem('b', "because", because),
		widget.CopyItem('s', "story", traces.Story(t)),
		again,
	}
}

// CommandOf is the line of the command prompt that asks the same again.
func CommandOf(t *traces.Trace) string {
	parts := []string{t.Verb.String(), t.Indirection, command.Quote(t.Key)}
	if t.Environment != "" {
		parts = append(parts, "env="+command.Quote(t.Environment))
	}
	if c := t.Primary.Winner(); c.Kind == traces.FromRequest {
		parts = append(parts, "terminus="+c.Terminus)
	}
	if c := t.Cache.Winner(); c.Kind == traces.FromRequest {
		parts = append(parts, "cache="+c.Terminus)
	}
	return strings.Join(append(parts, t.Flags.Names()...), " ")
}

// Click puts the cursor on a row, or gives a pane the keys.
func (s *Steps) Click(x, y int) tea.Cmd {
	s.panes.Focus = s.panes.At(x)
	if s.panes.Focus > 0 {
		return nil
	}
	s.list.Top = s.head() - 1
	s.list.Click(x, y)
	return s.look()
}

// Wheel moves what is seen.
func (s *Steps) Wheel(lines int) tea.Cmd {
	if !s.panes.Wheel(lines) {
		s.list.Wheel(lines)
	}
	return s.look()
}

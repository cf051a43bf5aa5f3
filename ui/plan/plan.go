// Package plan shows what applying a catalog to this machine would do: each resource in the
// order of evaluation, and of one of them its properties, why, what it waits for, and how
// the content of its file would change.
package plan

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/model"
	"indirtui/indirector/resource/transaction"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// Want is what a plan is asked for besides a catalog.
type Want struct {
	Checks         bool              // run the checks of exec
	Helper         bool              // let Puppet look at what is written in Ruby
	Tags, SkipTags []string          // only, or not, resources with one of these
	Unknown        map[string]string // resources that cannot be known, by reference, and why
	Run            string            // of the requests that it asks; "" is none
}

// A Result is a plan, and what it was made of.
type Result struct {
	Plan     *transaction.Plan
	View     *transaction.View // the graph that gave it its order; nil if the plan was kept
	Catalog  *model.Catalog    // nil if the plan was kept
	Request  uint64            // whose answer the catalog is; 0 if it is from a file
	Made     time.Time
	Redacted bool // secrets of the catalog are lost: it can be planned, not applied
	Want     Want
	Foreign  int    // resources that are written in Ruby, which Puppet could look at
	Against  *Other // to be compared with it; may be nil
}

// An Other is what a plan is compared with.
type Other struct {
	Name   string // "report of web01"
	Plan   *transaction.Plan
	Report bool // it is a report, in the form of a plan
}

// Options are what a Screen does, and for whom.
type Options struct {
	// Make makes the plan; with helper, Puppet looks at what is written in Ruby. It is called
	// by another goroutine. Its context ends when the user wants no plan any more.
	Make func(ctx context.Context, helper bool) (Result, error)
	// Apply applies the catalog of a result, and returns the lines of its log. It is called
	// as Make is. If it is nil, nothing is applied.
	Apply func(ctx context.Context, r *Result, yes Confirmed) ([]string, error)
	// Here is as whom and where the catalog would be applied. It may be nil without Apply.
	Here func() (user, host string)
}

// Confirmed is what the user has typed to apply a catalog.
type Confirmed struct {
	Host string // the name of this one
	Of   string // that of the one that the catalog is of, if it is another
	Noop bool   // only what would be done, with checks, state and report
	Only string // this resource, by itself: its reference; "" is the catalog
	// Stop reports that the run is to end before the next resource. With the end of its
	// context the resource in hand ends, too. It may be nil.
	Stop func() bool
}

// A Screen shows a plan while it is made and then.
type Screen struct {
	env           *session.Env
	title         string
	o             Options
	ctx           context.Context // ends with the program
	cancel        func()          // ends what is waited for
	wait          widget.Wait
	applying      bool
	open          *resource    // on top of this; nil: none was opened
	stop          *atomic.Bool // of what is applied; it is to end
	helper        bool         // Puppet looks, too
	width, height int

	result Result // its Plan is nil until it is made
	byRef  map[string]*transaction.Planned
	err    error
	filter string
	shown  []*transaction.Planned
	list   widget.Table
	past   widget.History
}

var _ screen.Screen = (*Screen)(nil)

// New returns a screen that makes a plan when it is shown. What it waits for ends with ctx.
func New(ctx context.Context, env *session.Env, title string, o Options) *Screen {
	return &Screen{env: env, title: title, o: o, ctx: ctx, list: widget.Table{Columns: columns, Gutter: 2, Top: head}}
}

// made is the answer of Load.
type made struct {
	Result
	err error
}

// Of reports whether there is a plan of the catalog that a request was answered with, or if
// a run is not "", by whose making that was asked for.
func (s *Screen) Of(request uint64, run string) bool {
	r := &s.result
	return r.Plan != nil && (r.Request != 0 && r.Request == request || run != "" && r.Want.Run == run)
}

// Made is when the plan was made; zero if there is none.
func (s *Screen) Made() time.Time { return s.result.Made }

// Load begins to make the plan, unless it was made before.
func (s *Screen) Load() tea.Cmd {
	if s.result.Plan != nil {
		return nil
	}
	helper := s.helper
	return s.await(func(ctx context.Context) tea.Msg {
		r, err := s.o.Make(ctx, helper)
		return made{r, err}
	})
}

// await waits for what another goroutine does, until it is canceled.
func (s *Screen) await(do func(context.Context) tea.Msg) tea.Cmd {
	ctx, cancel := context.WithCancel(s.ctx)
	s.cancel = cancel
	return tea.Batch(s.wait.Begin(&s.env.Shared, s), screen.Later(func() tea.Msg {
		defer cancel()
		return screen.For{Screen: s, Msg: do(ctx)}
	}))
}

func (s *Screen) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := s.wait.Tick(msg); is {
		return cmd
	}
	switch m := msg.(type) {
	case made:
		s.wait.End()
		return s.show(m)
	case filterChosen:
		s.choose(string(m))
	case helped:
		s.helper, s.result = true, Result{}
		return s.Load()
	case Confirmed:
		return s.apply(m)
	case applied:
		return s.applied(m)
	}
	return nil
}

// show shows the plan that was made, and what it is to be compared with. Whether Puppet may
// look at what is written in Ruby is asked first.
func (s *Screen) show(m made) tea.Cmd {
	if s.err == nil { // else it was given up
		s.err = m.err
	}
	if s.err != nil {
		return nil
	}
	s.result, s.byRef = m.Result, make(map[string]*transaction.Planned)
	for i := range m.Plan.Resources {
		s.byRef[m.Plan.Resources[i].Resource] = &m.Plan.Resources[i]
	}
	s.choose(s.filter)
	if i := s.next(-1, 1); i >= 0 {
		s.list.To(i)
	}
	if s.open != nil {
		s.open.show(s.open.ref)
	}
	switch {
	case m.Foreign > 0 && !s.helper:
		return s.askHelper()
	case m.Against != nil:
		return s.compareWith(m.Against)
	}
	return nil
}

// makes reports whether the plan is still being made.
func (s *Screen) makes() bool { return s.result.Plan == nil && s.err == nil }

// noPlan is why there is nothing to do with the plan; "" if there is one.
func (s *Screen) noPlan() string {
	return screen.ReasonIf(s.result.Plan == nil || s.err != nil, "there is no plan yet")
}

// choose lists the resources that a filter means, with the cursor on the same one.
func (s *Screen) choose(filter string) {
	at := s.focus()
	s.filter, s.shown = filter, nil
	for i := range s.result.Plan.Resources {
		if n := &s.result.Plan.Resources[i]; matches(n, filter) {
			s.shown = append(s.shown, n)
		}
	}
	s.list.Columns = slices.Clone(columns)
	for _, n := range s.shown[:min(len(s.shown), most)] { // no column but that of the reasons is wider than what is in it
		for c, text := range map[int]string{1: n.Resource, 3: place(n.File, n.Line)} {
			col := &s.list.Columns[c]
			col.Want = min(max(col.Want, term.CleanTo(text, widest).Width()), widest)
		}
	}
	s.list.SetHeight(s.height - head - 1 - s.below())
	s.list.SetLen(len(s.shown))
	s.list.Seek(func(i int) bool { return s.shown[i] == at })
}

const (
	widest = 44   // cells of a reference, and of a place
	most   = 1000 // resources that the columns are measured by
)

// A field is what a filter may ask for by name.
type field struct {
	name string
	of   func(*transaction.Planned) string
}

var fields = []field{
	{"outcome", func(n *transaction.Planned) string { return string(n.Outcome) }},
	{"type", func(n *transaction.Planned) string { kind, _, _ := strings.Cut(n.Resource, "["); return kind }},
	{"class", func(n *transaction.Planned) string { return n.Class }},
}

// matches reports whether all words of a filter hold: outcome=change, type=file,
// class=ntp, or a part of the reference.
func matches(n *transaction.Planned, filter string) bool {
	for word := range strings.FieldsSeq(filter) {
		name, value, named := strings.Cut(word, "=")
		i := slices.IndexFunc(fields, func(f field) bool { return f.name == name })
		switch {
		case named && i >= 0 && !strings.EqualFold(fields[i].of(n), value):
			return false
		case (!named || i < 0) && !strings.Contains(strings.ToLower(n.Resource), strings.ToLower(word)):
			return false
		}
	}
	return true
}

// focus is the resource under the cursor, or nil.
func (s *Screen) focus() *transaction.Planned {
	if s.list.Cursor >= len(s.shown) {
		return nil
	}
	return s.shown[s.list.Cursor]
}

// next is the nearest row after or before one, whose resource is not as it should be; -1 if
// there is none.
func (s *Screen) next(from, step int) int {
	for i := from + step; i >= 0 && i < len(s.shown); i += step {
		if s.shown[i].Outcome != transaction.Same {
			return i
		}
	}
	return -1
}

// List returns the resources.
func (s *Screen) List() screen.List { return &s.list }

func (s *Screen) Scope() screen.Scope { return screen.InList | screen.InPlan }

func (s *Screen) Resize(width, height int) {
	s.width, s.height = width, height
	s.list.SetHeight(height - head - 1 - s.below())
}

func (s *Screen) Hints() []screen.Action {
	hints := []screen.Action{
		screen.Enter, screen.NextInRun, screen.FilterBy, screen.Pager, screen.ApplyPlan, screen.IsShould, screen.MarkPlan, screen.DiffTwo,
		screen.PrevInRun, screen.FilterCell, screen.Write, screen.CopyMenu, screen.Back, screen.PlanIt,
	}
	if s.env.Marked.Name == "" {
		return slices.DeleteFunc(hints, func(a screen.Action) bool { return a == screen.DiffTwo })
	}
	return hints
}

func (s *Screen) Disabled(do screen.Action) string {
	n := s.focus()
	switch do {
	case screen.Back:
		return screen.ReasonIf(!s.makes() && !s.applying && s.filter == "", screen.Unknown)
	case screen.FilterBy, screen.MarkPlan:
		return s.noPlan()
	case screen.PlanIt:
		return cmp.Or(screen.ReasonIf(s.makes() || s.applying, "it is being worked on"), screen.ReasonIf(s.err == nil && s.result.Catalog == nil, wasKept))
	case screen.Write:
		return screen.ReasonIf(s.noPlan() != "" || s.env.Save == nil, "there is nothing to write")
	case screen.DiffTwo:
		return cmp.Or(s.noPlan(), screen.ReasonIf(s.env.Marked.Name == "", "no plan is marked yet: m marks one"))
	case screen.IsShould:
		return cmp.Or(s.noPlan(), screen.ReasonIf(s.next(-1, 1) < 0, "everything is in sync"))
	case screen.ApplyPlan:
		return s.cannotApply()
	case screen.NextInRun, screen.PrevInRun:
		return screen.ReasonIf(s.next(-1, 1) < 0, "everything is in sync")
	case screen.Enter, screen.FilterCell, screen.CopyMenu:
		return screen.ReasonIf(n == nil, "there is no resource")
	case screen.Pager:
		return screen.ReasonIf(n == nil || n.Diff == "", "no content of a file would change here")
	}
	return screen.ReasonIf(!widget.Moves(do), screen.Unknown)
}

func (s *Screen) Handle(a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Back:
		return s.back()
	case screen.MarkPlan:
		return s.mark()
	case screen.DiffTwo:
		return s.compareMarked()
	case screen.IsShould:
		return s.compareSides()
	case screen.PlanIt:
		s.result, s.err = Result{}, nil
		return tea.Batch(s.Load(), screen.Notify("planning anew; nothing is changed"))
	case screen.ApplyPlan:
		return s.askApply("", s.result.Plan.Totals.String())
	case screen.Write:
		return s.write()
	case screen.FilterBy:
		return s.askFilter()
	case screen.FilterCell:
		return screen.Show(widget.NewMenu(&s.env.Shared, "only resources of the same", s.cells()))
	case screen.NextInRun, screen.PrevInRun:
		step := 1
		if a.Action == screen.PrevInRun {
			step = -1
		}
		if i := s.next(s.list.Cursor, step); i >= 0 {
			s.list.To(i)
			return nil
		}
		return screen.Notify("nothing more in this direction would change")
	case screen.Enter:
		s.open = newResource(s, s.focus().Resource)
		return screen.Show(s.open)
	case screen.Pager:
		return showDiff(s.env, s.focus())
	case screen.CopyMenu:
		return screen.Show(widget.NewMenu(&s.env.Shared, "copy", s.copies()))
	}
	return nil
}

// back cancels what is waited for, or clears the filter.
func (s *Screen) back() tea.Cmd {
	switch {
	case s.makes():
		s.cancel()
		s.err = errors.New("no plan was made: stopped by you")
		s.wait.End()
	case s.applying && !s.stop.Swap(true):
		return screen.Notify("the resource in hand is finished, the rest is skipped; esc again ends its commands, too")
	case s.applying:
		s.cancel()
	default:
		s.choose("")
	}
	return nil
}

type filterChosen string

func (s *Screen) askFilter() tea.Cmd {
	old := s.filter
	p := widget.Prompt{
		Label: "/", Hint: "outcome=change   type=file   class=profile::web   or a part of a title", History: &s.past,
		Change: func(text string) (*widget.Problem, tea.Cmd) { s.choose(text); return nil, nil },
		Enter:  func(text string) (*widget.Problem, tea.Cmd) { s.choose(strings.TrimSpace(text)); return nil, nil },
		Cancel: func() tea.Cmd { s.choose(old); return nil },
	}
	p.Input.Set(old)
	return screen.Show(widget.NewPrompt(&s.env.Shared, p))
}

// cells are the filters that the resource under the cursor offers.
func (s *Screen) cells() (items []widget.Item) {
	for _, f := range fields {
		if v := f.of(s.focus()); v != "" {
			text := f.name + "=" + v
			items = append(items, widget.Item{Key: rune(f.name[0]), Name: f.name, Note: text, Do: screen.Send(screen.For{Screen: s, Msg: filterChosen(text)})})
		}
	}
	return items
}

func (s *Screen) copies() []widget.Item {
	n := s.focus()
	items := []widget.Item{widget.CopyItem('r', "resource", n.Resource), widget.CopyItem('a', "plan", s.env.Redacted(s.result.Plan.Text()))}
	if logs := s.result.Plan.Logs; len(logs) > 0 {
		items = append(items, widget.CopyItem('l', "log", s.env.Redacted(strings.Join(logs, "\n")+"\n")))
	}
	if n.Diff != "" {
		items = append(items, widget.CopyItem('d', "diff", s.env.Redacted(n.Diff)))
	}
	return items
}

// showDiff shows how the content of a file would change.
func showDiff(env *session.Env, n *transaction.Planned) tea.Cmd {
	p := widget.Page{Title: "plan > diff of " + n.Resource}
	for line := range strings.Lines(env.Redacted(n.Diff)) {
		p.Add("", line, diffStyle(line))
	}
	return screen.Show(widget.NewPager(&env.Shared, p))
}

func diffStyle(line string) term.Style {
	switch {
	case strings.HasPrefix(line, "@@"), strings.HasPrefix(line, "---"), strings.HasPrefix(line, "+++"):
		return term.Quiet
	case strings.HasPrefix(line, "+"):
		return term.Touched
	case strings.HasPrefix(line, "-"):
		return term.Attention
	}
	return term.Plain
}

// Package requests shows the list of requests, live or recorded, and the groups
// of those that failed.
package requests

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/compare"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/steps"
	"indirtui/ui/term"
	"indirtui/ui/value"
	"indirtui/ui/widget"
)

// A Requests is the list of requests.
//
// The list is a view of the store, which a command extends while the screen
// goes on showing what there is. What is in focus is remembered by its number,
// not by its place.
type Requests struct {
	env           *session.Env
	width, height int

	all     *store.View // every request
	view    *store.View // those of the filter; all without one
	filter  string
	done    bool // the view is complete
	busy    bool // a command extends it
	again   bool // news came while it did
	sorted  *order
	groups  *groups
	list    widget.Table
	focus   uint64 // number of the request in focus
	follow  bool
	seen    uint64 // the last request when follow was switched off
	stats   session.Stats
	rates   [60]uint32
	history widget.History
	picked  []uint64
	sorting sorting
	ages    bool // times as ages
	panes   widget.Panes
	wait    widget.Wait // for a recording that is read, or a filter

	details map[uint64]*detail
	asked   uint64 // the detail that was asked for last
}

// A detail is what the pane beside the list shows.
type detail struct {
	trace *traces.Trace
	links store.Links
	err   error
	value *value.Preview // nil if there is no room for it
}

// New returns the list of all requests, which follows what is new.
func New(env *session.Env) *Requests {
	r := &Requests{env: env, all: env.Log.View(nil), follow: true, ages: env.Ages, details: make(map[uint64]*detail), list: widget.Table{Columns: columns}}
	r.view = r.all
	r.panes = widget.NewPanes(&env.Shared, "requests", widget.Pane{Least: 78, Share: 3}, widget.Pane{Least: 42, Share: 1}, widget.Pane{Least: 34, Share: 2})
	return r
}

var (
	_ screen.Screen  = (*Requests)(nil)
	_ screen.Clicker = (*Requests)(nil)
)

type (
	extended struct {
		view *store.View
		done bool
	}
	detailLoaded struct {
		id uint64
		detail
	}
	requestFound struct{ id uint64 }
)

func (r *Requests) Scope() screen.Scope {
	if r.panes.Several() {
		return screen.InList | screen.InRequests | screen.InPanes
	}
	return screen.InList | screen.InRequests
}

func (r *Requests) Resize(width, height int) {
	r.width, r.height = width, height
	shown := 1
	switch {
	case width >= screen.Broad:
		shown = 3
	case r.wide():
		shown = 2
	}
	r.panes.Resize(width, shown)
	r.list.SetHeight(r.rowsOnScreen())
}

func (r *Requests) Update(msg tea.Msg) tea.Cmd {
	if cmd, is := r.wait.Tick(msg); is {
		return tea.Batch(cmd, r.watch())
	}
	if r.groups != nil {
		if cmd, is := r.groups.wait.Tick(msg); is {
			return cmd
		}
	}
	switch msg := msg.(type) {
	case session.Snapshot:
		return r.news(msg)
	case extended:
		return r.extended(msg)
	case ordered:
		return r.ordered(msg)
	case breathed:
		return r.breathed(msg)
	case gathered:
		return r.gathered(msg)
	case regrouped:
		return r.regrouped(msg)
	case detailLoaded:
		if len(r.details) >= maxDetails {
			clear(r.details)
		}
		r.details[msg.id] = &msg.detail
	case requestFound:
		return r.goTo(msg.id)
	case filterChosen:
		return r.changeFilter(msg.filter)
	case groupChosen:
		return r.changeGroup(msg.by)
	case screen.Filter:
		return r.setFilter(msg.Text)
	case screen.Group:
		return r.changeGroup(msg.By)
	case screen.Sort:
		return r.setSort(msg.Column, msg.Reverse)
	}
	return nil
}

// maxDetails is how many details are kept so that going back is instant.
const maxDetails = 256

func (r *Requests) news(s session.Snapshot) tea.Cmd {
	r.stats, r.rates = s.Stats, r.env.Log.Rates()
	if d := r.details[r.focus]; d != nil && d.trace != nil && (d.trace.Outcome == traces.Run || d.trace.Outcome == traces.HeldOutcome) {
		delete(r.details, r.focus)
		r.asked = 0
	}
	return tea.Batch(r.extend(), r.resort(), r.regroup(), r.watch())
}

// work is what goes on that takes long where there are many requests: a filter
// looks at them, or they are still being read. The words are empty if nothing
// goes on.
func (r *Requests) work() (words string, done, total int64) {
	if n, of := r.view.Checked(); !r.done && n < of {
		shown := term.Grouped(int64(r.view.Len()))
		return fmt.Sprintf("so far %s of %s/%s checked", shown, term.Grouped(int64(n)), term.Grouped(int64(of))), int64(n), int64(of)
	}
	if done, total = r.env.Log.Loading(); done < total {
		return "reading, " + term.Bytes(done) + " of " + term.Bytes(total), done, total
	}
	return "", 0, 0
}

// watch has the screen show how long it takes while something goes on.
func (r *Requests) watch() tea.Cmd {
	if words, _, _ := r.work(); words != "" {
		return r.wait.Begin(&r.env.Shared, r)
	}
	r.wait.End()
	return nil
}

// extend lets the view grow in a command; one at a time.
func (r *Requests) extend() tea.Cmd {
	if r.busy {
		r.again = true
		return nil
	}
	r.busy = true
	view, all := r.view, r.all
	return screen.Later(func() tea.Msg {
		all.Extend(0)
		done := view.Extend(0)
		return screen.For{Screen: r, Msg: extended{view, done}}
	})
}

func (r *Requests) extended(m extended) tea.Cmd {
	r.busy = false
	if m.view == r.view {
		r.done = m.done
	}
	again := r.again || !r.done
	r.again = false
	r.place()
	cmd := tea.Batch(r.ask(), r.watch())
	if again {
		cmd = tea.Batch(cmd, r.extend())
	}
	return cmd
}

// place puts the cursor where it belongs after the list has changed.
func (r *Requests) place() {
	r.list.SetLen(r.len())
	switch {
	case r.groups != nil:
		return
	case r.follow:
		r.list.To(r.len() - 1)
	case r.focus != 0:
		if i := r.index(r.focus); i >= 0 {
			r.list.To(i)
		}
	}
	r.focus = r.at(r.list.Cursor)
}

// Selection returns the filter, and the request in focus.
func (r *Requests) Selection() (filter string, request uint64) { return r.filter, r.focus }

// len, at and index are the list as it is shown: by number, or sorted. Of what is
// not in it index may be -1.
func (r *Requests) len() int {
	switch {
	case r.groups != nil:
		return len(r.groups.list)
	case r.sorted != nil:
		return len(r.sorted.ids)
	}
	return r.view.Len()
}

func (r *Requests) at(i int) uint64 {
	switch {
	case r.groups != nil:
		return 0
	case r.sorted != nil:
		return r.sorted.at(i, r.sorting.reverse)
	case r.sorting.reverse:
		return r.view.At(r.view.Len() - 1 - i)
	}
	return r.view.At(i)
}

func (r *Requests) index(id uint64) int {
	switch {
	case r.sorted != nil:
		return r.sorted.index(id, r.list.Cursor, r.sorting.reverse)
	case r.sorting.reverse:
		return r.view.Len() - 1 - r.view.Index(id)
	}
	return r.view.Index(id)
}

// moved is called when the user has moved the cursor.
func (r *Requests) moved() tea.Cmd {
	if r.groups != nil {
		return nil
	}
	r.setFollow(r.follow && r.list.AtEnd())
	r.focus = r.at(r.list.Cursor)
	r.panes.Start()
	return r.ask()
}

func (r *Requests) setFollow(on bool) {
	if r.follow && !on {
		r.look()
	}
	r.follow = on
}

// look sets what has been seen: what comes later is new.
func (r *Requests) look() { _, r.seen = r.env.Log.Range() }

// fresh is how many requests of the list have come since.
func (r *Requests) fresh() int {
	n := r.view.Len()
	return n - sort.Search(n, func(i int) bool { return r.view.At(i) > r.seen })
}

// ask reads the detail of the request in focus, if it is not there.
func (r *Requests) ask() tea.Cmd {
	id, d, broad := r.focus, r.details[r.focus], r.width >= screen.Broad
	if d != nil && d.trace != nil && d.value == nil && broad {
		d, r.asked = nil, 0 // the screen has become wider
	}
	if id == 0 || id == r.asked && r.details[id] == nil || d != nil {
		return nil
	}
	r.asked = id
	return func() tea.Msg {
		m := detailLoaded{id: id}
		if m.trace = steps.HeldTrace(r.env, id); m.trace == nil {
			m.trace, m.err = r.env.Log.Trace(id)
		}
		m.links = r.env.Log.Links(id)
		if broad && m.trace != nil {
			m.value = value.PreviewOf(r.env.Log, m.trace)
		}
		return screen.For{Screen: r, Msg: m}
	}
}

// goTo puts the cursor on a request, if the list has it.
func (r *Requests) goTo(id uint64) tea.Cmd {
	r.follow = false
	r.look()
	r.focus = id
	r.place()
	if r.focus != id {
		return tea.Batch(r.ask(), screen.Notify(fmt.Sprintf("#%d is not in this list", id)))
	}
	return r.ask()
}

// setFilter shows only the requests that an expression means; "" is all. A text
// that is no expression changes nothing.
func (r *Requests) setFilter(text string) tea.Cmd {
	text = strings.TrimSpace(text)
	if text == "" {
		r.filter, r.view = "", r.all
		r.want(nil)
	} else {
		e, err := query.Parse(text)
		if err != nil {
			return screen.Warn("filter: "+err.Error(), "")
		}
		r.filter, r.view = text, r.env.Log.View(e)
		r.want(e)
	}
	r.done, r.sorted, r.groups = false, nil, nil
	r.sorting.stop()
	r.wait.End()
	r.place()
	return tea.Batch(r.extend(), r.ask())
}

// want has a fleet load what an expression means.
func (r *Requests) want(e *query.Expr) {
	if f, ok := r.env.Log.(session.Fleet); ok {
		f.Want(e)
	}
}

func (r *Requests) Disabled(do screen.Action) string {
	if why := r.panes.Disabled(do); why != screen.Unknown {
		return why
	}
	if widget.Moves(do) {
		return screen.ReasonIf(r.len() == 0, "there is no request")
	}
	switch do {
	case screen.FilterBy, screen.Follow, screen.GroupBy, screen.SortNext, screen.SortBack, screen.Times:
		return ""
	case screen.Back:
		return screen.ReasonIf(r.filter == "" && r.groups == nil && len(r.picked) == 0, screen.Unknown)
	case screen.Enter:
		return screen.ReasonIf(r.len() == 0, "there is no request")
	case screen.NextFailure, screen.PrevFailure, screen.JumpMark:
		return screen.ReasonIf(r.stats.Total == 0, "there is no request")
	}
	switch do {
	case screen.FilterCell, screen.Select, screen.SetMark, screen.CopyMenu:
		return screen.ReasonIf(r.focus == 0, "there is no request in focus")
	case screen.DiffTwo:
		return screen.ReasonIf(len(r.picked) != 2, "select two requests with space")
	}
	return r.disabledInFocus(do)
}

func (r *Requests) disabledInFocus(do screen.Action) string {
	q := r.request()
	if do == screen.Write {
		return screen.ReasonIf(r.env.Save == nil || q.Trace.ID == 0, "there is nothing to write")
	}
	return q.Disabled(do)
}

// request is the request in focus; its trace is empty while it is not known.
func (r *Requests) request() *steps.Request {
	d := r.details[r.focus]
	if d == nil || d.trace == nil {
		d = &detail{trace: new(traces.Trace)}
	}
	return &steps.Request{Env: r.env, Trace: d.trace, Links: d.links}
}

func (r *Requests) Hints() []screen.Action {
	if r.groups != nil {
		return []screen.Action{screen.Enter, screen.GroupBy, screen.FilterBy, screen.CommandLine}
	}
	if r.len() == 0 && r.filter != "" {
		return []screen.Action{screen.Back, screen.FilterBy, screen.CommandLine}
	}
	hints := []screen.Action{screen.Enter, screen.FilterBy, screen.FilterCell, screen.PlanIt}
	if len(r.picked) == 2 {
		hints = append([]screen.Action{screen.DiffTwo}, hints...)
	}
	if !r.follow {
		hints = append(hints, screen.Follow)
	}
	return append(hints, screen.NextFailure, screen.Select, screen.CommandLine, screen.DiffGood, screen.OpenValue, screen.GroupBy, screen.CopyMenu, screen.Zoom, screen.Tab)
}

func (r *Requests) Handle(a screen.Command) tea.Cmd {
	if r.panes.Handle(a) {
		return nil
	}
	if cmd, ok := r.move(a); ok {
		return cmd
	}
	switch a.Action {
	case screen.Enter:
		return r.enter()
	case screen.Back:
		return r.back()
	case screen.FilterBy:
		return r.askFilter()
	case screen.FilterCell:
		return r.filterCell()
	case screen.Select:
		r.pick()
		r.list.Move(1)
		return r.moved()
	case screen.GroupBy:
		return r.askGroup()
	case screen.SortNext, screen.SortBack:
		return r.sortBy(a.Action == screen.SortNext)
	case screen.Follow:
		r.follow = !r.follow
		r.look()
		r.place()
		return r.ask()
	case screen.Times:
		r.ages = !r.ages
	case screen.SetMark:
		return steps.SetMark(r.env, r.focus, byte(min(a.Arg, 255)))
	case screen.JumpMark:
		return steps.Jump(r.env, a.Arg, func(id uint64) tea.Cmd { return screen.Send(screen.For{Screen: r, Msg: requestFound{id}}) })
	case screen.NextFailure, screen.PrevFailure:
		return r.failure(a.Action == screen.NextFailure)
	case screen.DiffTwo:
		return compare.Two(r.env, min(r.picked[0], r.picked[1]), max(r.picked[0], r.picked[1]))
	}
	switch q := r.request(); {
	case a.Action == screen.CopyMenu:
		return screen.Show(widget.NewMenu(&r.env.Shared, "copy", r.copies()))
	case q.Trace.ID == 0:
		return nil
	case a.Action == screen.NextInRun:
		return r.goTo(q.Next())
	case a.Action == screen.PrevInRun:
		return r.goTo(q.Links.PrevInRun)
	default:
		return q.Handle(a.Action)
	}
}

// move moves the cursor, if the command is to move.
func (r *Requests) move(a screen.Command) (tea.Cmd, bool) {
	if !r.list.Handle(a) {
		return nil, false
	}
	if a.Action == screen.Bottom {
		r.follow = r.sorted == nil && !r.sorting.reverse && r.groups == nil
	}
	return r.moved(), true
}

// enter opens the request in focus, and stops following, so that its place in
// the list stays. On a group it lists its requests.
func (r *Requests) enter() tea.Cmd {
	if r.groups != nil {
		return r.enterGroup()
	}
	r.setFollow(false)
	return screen.Send(screen.Open{Request: r.focus})
}

// back takes away what was put on the list: first the selection, then the
// groups, then the filter.
func (r *Requests) back() tea.Cmd {
	switch {
	case len(r.picked) > 0:
		r.picked = nil
		return nil
	case r.groups != nil:
		return r.setGroup("")
	}
	r.setFollow(false)
	return r.changeFilter("")
}

// changeFilter sets a filter so that it can be undone.
func (r *Requests) changeFilter(text string) tea.Cmd {
	old := r.filter
	if text == old {
		return nil
	}
	return tea.Batch(r.setFilter(text), r.filtered(old, text))
}

// filtered reports that the filter was changed.
func (r *Requests) filtered(old, text string) tea.Cmd {
	command := strings.TrimSpace(":filter " + text)
	return screen.Changed(command, old, text, r.setFilter)
}

// askFilter opens the prompt. The list follows what is written, as far as it is
// an expression; what is not leaves it as it is.
func (r *Requests) askFilter() tea.Cmd {
	old, follow := r.filter, r.follow
	p := widget.Prompt{
		Label: "/", Hint: "web01   out=stale   took>5s   ind=facts served=cache   hidden t>-1h", History: &r.history,
		Change: func(text string) (*widget.Problem, tea.Cmd) {
			if c := problemOf(text); c != nil {
				return c, nil
			}
			return nil, r.setFilter(text)
		},
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			if c := problemOf(text); c != nil {
				return c, nil
			}
			text = strings.TrimSpace(text)
			switch {
			case text == old:
				return nil, nil
			case text == r.filter:
				return nil, r.filtered(old, text)
			}
			return nil, r.changeFilter(text)
		},
		Cancel: func() tea.Cmd {
			r.follow = follow
			return r.setFilter(old)
		},
		Complete: r.complete,
	}
	p.Input.Set(old)
	return screen.Show(widget.NewPrompt(&r.env.Shared, p))
}

// problemOf returns what is wrong with a filter, or nil.
func problemOf(text string) *widget.Problem {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	_, err := query.Parse(text)
	if err == nil {
		return nil
	}
	if s, ok := err.(*query.SyntaxError); ok {
		return &widget.Problem{Offset: s.Offset, Text: "want " + s.Want + ", got " + s.Got}
	}
	return &widget.Problem{Offset: -1, Text: err.Error()}
}

func (r *Requests) complete(text string) ([]screen.Completion, []string) {
	if text == "" {
		return nil, nil
	}
	if runs := r.env.CompleteRun(text); len(runs) > 0 {
		return runs, nil
	}
	var next []screen.Completion
	for _, s := range query.Complete(text, len(text)) {
		whole := text[:s.Start] + s.Text + text[s.End:]
		if whole != text {
			next = append(next, screen.Completion{Text: whole, Name: s.Text, Note: s.Doc})
		}
	}
	return next, nil
}

// filterCell offers a filter for each cell of the row in focus.
func (r *Requests) filterCell() tea.Cmd {
	row, ok := r.env.Log.Row(r.focus)
	if !ok {
		return nil
	}
	var items []widget.Item
	for i, c := range cellsOf(&row) {
		if c.value == "" {
			continue
		}
		expr := c.field + "=" + query.Quote(c.value)
		items = append(items, widget.Item{Key: rune('a' + i), Name: expr, Do: screen.Show(r.howToFilter(expr))})
	}
	return screen.Show(widget.NewMenu(&r.env.Shared, "filter by what this row says", items))
}

func (r *Requests) howToFilter(expr string) screen.Screen {
	set := func(text string) tea.Cmd {
		return func() tea.Msg { return screen.For{Screen: r, Msg: filterChosen{text}} }
	}
	items := []widget.Item{
		{Key: 'o', Name: "only", Note: expr, Do: set(expr)},
		{Key: 'n', Name: "not", Note: r.with("not " + expr), Do: set(r.with("not " + expr))},
	}
	if r.filter != "" {
		items = append(items, widget.Item{Key: 'a', Name: "also", Note: r.with(expr), Do: set(r.with(expr))})
	}
	return widget.NewMenu(&r.env.Shared, "filter", items)
}

// with is the filter and another term.
func (r *Requests) with(term string) string {
	if r.filter == "" {
		return term
	}
	return "(" + r.filter + ") " + term
}

type cell struct{ field, value string }

func cellsOf(row *session.Row) []cell {
	served := ""
	if row.Served != traces.ByNone {
		served = row.Served.String()
	}
	return []cell{
		{"ind", row.Indirection},
		{"key", row.Key},
		{"out", row.Outcome.String()},
		{"verb", row.Verb.String()},
		{"terminus", row.Terminus},
		{"cache", row.Cache},
		{"served", served},
		{"run", row.Run},
		{"env", row.Environment},
		{"caller", row.Caller},
		{"origin", row.Origin},
	}
}

// pick selects the row in focus, or not any more. Only two can be selected:
// that is what a comparison takes.
func (r *Requests) pick() {
	for i, id := range r.picked {
		if id == r.focus {
			r.picked = append(r.picked[:i], r.picked[i+1:]...)
			return
		}
	}
	if len(r.picked) == 2 {
		r.picked = r.picked[1:]
	}
	r.picked = append(r.picked, r.focus)
}

// failure goes to the next request that failed, among those of the filter.
func (r *Requests) failure(forward bool) tea.Cmd {
	id, filter := r.focus, r.filter
	return screen.Later(func() tea.Msg {
		next := uint64(0)
		if filter == "" {
			next = steps.NextFailure(r.env.Log, id, forward)
		} else if v, err := session.Find(r.env.Log, "("+filter+") failed"); err == nil {
			next = nextIn(v, id, forward)
		}
		if next == 0 {
			return screen.Toast{Text: "no further failure in this direction"}
		}
		return screen.For{Screen: r, Msg: requestFound{next}}
	})
}

func nextIn(v *store.View, id uint64, forward bool) uint64 {
	i := v.Index(id)
	if !forward {
		return v.At(i - 1)
	}
	if v.At(i) == id {
		i++
	}
	return v.At(i)
}

func (r *Requests) copies() []widget.Item {
	row, ok := r.env.Log.Row(r.focus)
	if !ok {
		return nil
	}
	items := []widget.Item{
		widget.CopyItem('r', "row", fmt.Sprintf("%s  %s  %s ms  %s", session.Name(&row), session.ServedBy(&row), term.Millis(row.Took), row.Outcome)),
		widget.CopyItem('k', "key", row.Key),
	}
	if d := r.details[r.focus]; d != nil && d.trace != nil {
		items = append(items, widget.CopyItem('s', "story", traces.Story(d.trace)), widget.CopyItem('c', "command", steps.CommandOf(d.trace)))
	}
	return items
}

// Click puts the cursor on a row. On the title of a column it sorts by that, and
// again the other way round. On another pane it gives that the keys.
func (r *Requests) Click(x, y int) tea.Cmd {
	r.panes.Focus = r.panes.At(x)
	if r.panes.Focus > 0 || r.len() == 0 {
		return nil
	}
	if column := r.list.TitleAt(x, y); column >= 0 && r.groups == nil {
		return r.clickTitle(r.list.Columns[column].Title)
	}
	if !r.list.Click(x, y) {
		return nil
	}
	r.follow = false
	r.look()
	return r.moved()
}

func (r *Requests) clickTitle(title string) tea.Cmd {
	name, _, _ := strings.Cut(strings.ToLower(title), " ")
	column := slices.Index(sortable, name)
	if column < 0 {
		return nil
	}
	return r.setSort(name, r.sorting.column == column && !r.sorting.reverse)
}

// Wheel moves what is seen.
func (r *Requests) Wheel(lines int) tea.Cmd {
	if r.panes.Wheel(lines) {
		return nil
	}
	r.list.Wheel(lines)
	return r.moved()
}

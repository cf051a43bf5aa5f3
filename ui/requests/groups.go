package requests

import (
	"cmp"
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/widget"
)

// byRun is the grouping whose groups are runs: each is one line.
const byRun = "run"

// groupings are what a list can be grouped by: a key of the menu, a name, and the field of
// the expression language that means one group.
var groupings = []struct {
	key         rune
	name, field string
	of          func(session.Log, *session.Row) string
}{
	{'r', byRun, "run", ofRow(func(r *session.Row) string { return r.Run })},
	{'i', "indirection", "ind", ofRow(func(r *session.Row) string { return r.Indirection })},
	{'n', "node", "node", ofRow(session.NodeOf)},
	{'o', "outcome", "out", ofRow(func(r *session.Row) string { return r.Outcome.String() })},
	{'t', "terminus", "terminus", ofRow(func(r *session.Row) string { return r.Terminus })},
	{'c', "caller", "caller", ofRow(func(r *session.Row) string { return r.Caller })},
	{'y', "type", "type", ofRow(typeOf)},
	{'l', "class", "opt.class", classOf},
}

func ofRow(of func(*session.Row) string) func(session.Log, *session.Row) string {
	return func(_ session.Log, r *session.Row) string { return of(r) }
}

// typeOf is the type of a resource; "" of other requests.
func typeOf(r *session.Row) string {
	if r.Indirection != "resource" {
		return ""
	}
	name, _, _ := strings.Cut(r.Key, "/")
	return name
}

// classOf is the class that a resource of a run is in; "" if it is in none.
func classOf(log session.Log, r *session.Row) string {
	if r.Indirection != "resource" || r.Verb != traces.Save {
		return ""
	}
	t, err := log.Trace(r.ID)
	if err != nil {
		return ""
	}
	at := slices.IndexFunc(t.Options, func(o traces.Option) bool { return o.Name == "class" })
	if at < 0 {
		return ""
	}
	return t.Options[at].Value
}

// A group is the requests that have something in common.
type group struct {
	name  string
	count int
	worst traces.Outcome
	took  time.Duration // of all together
	most  time.Duration // of the one that took longest
	last  uint64
	run   session.Run // if it is one
}

// groups is the list by groups.
type groups struct {
	by    string
	field string
	list  []group
	busy  bool
	wait  widget.Wait
	state state // of the log when it was gathered
}

// Messages of the commands that gather groups.
type (
	gathered struct {
		groups *groups
		state  state
		list   []group
	}
	regrouped struct{ groups *groups } // they may be gathered again
)

func (r *Requests) askGroup() tea.Cmd {
	set := func(by string) tea.Cmd {
		return func() tea.Msg { return screen.For{Screen: r, Msg: groupChosen{by}} }
	}
	items := []widget.Item{{Key: 'x', Name: "none", Do: set("")}}
	for _, g := range groupings {
		items = append(items, widget.Item{Key: g.key, Name: g.name, Do: set(g.name)})
	}
	return screen.Show(widget.NewMenu(&r.env.Shared, "group by", items))
}

type (
	groupChosen  struct{ by string }
	filterChosen struct{ filter string }
)

func (r *Requests) groupName() string {
	if r.groups == nil {
		return "none"
	}
	return r.groups.by
}

// changeGroup groups the list so that it can be undone.
func (r *Requests) changeGroup(by string) tea.Cmd {
	old := ""
	if r.groups != nil {
		old = r.groups.by
	}
	if by == old {
		return nil
	}
	command := ":group " + cmp.Or(by, "none")
	return tea.Batch(r.setGroup(by), screen.Changed(command, old, by, r.setGroup))
}

func (r *Requests) setGroup(by string) tea.Cmd {
	r.groups = nil
	for _, g := range groupings {
		if g.name == by {
			r.groups = &groups{by: by, field: g.field}
		}
	}
	if r.groups == nil {
		r.place()
		return r.ask()
	}
	r.list.To(0)
	return r.regroup()
}

// regroup gathers the groups again when there is news, on its own goroutine.
func (r *Requests) regroup() tea.Cmd {
	g, now := r.groups, stateOf(&r.stats)
	if g == nil || g.busy || g.state == now && g.list != nil {
		return nil
	}
	g.busy = true
	by, filter := g.by, r.filter
	var wait tea.Cmd
	if g.list == nil {
		wait = g.wait.Begin(&r.env.Shared, r)
	}
	return tea.Batch(wait, screen.Later(func() tea.Msg {
		return screen.For{Screen: r, Msg: gathered{g, now, gather(r.env.Log, by, filter)}}
	}))
}

func gather(log session.Log, by, filter string) []group {
	of := groupings[0].of
	for _, g := range groupings {
		if g.name == by {
			of = g.of
		}
	}
	v, err := session.Find(log, filter)
	if err != nil {
		return nil
	}
	byName := make(map[string]*group)
	eachRow(log, v, func(row *session.Row) {
		name := of(log, row)
		g := byName[name]
		if g == nil {
			g = &group{name: name}
			byName[name] = g
		}
		if g.count++; by == byRun && name != "" {
			g.run.Add(row)
		}
		g.took, g.most = g.took+row.Took, max(g.most, row.Took)
		g.last = row.ID
		if badness(row.Outcome) > badness(g.worst) {
			g.worst = row.Outcome
		}
	})
	list := make([]group, 0, len(byName))
	for _, g := range byName {
		list = append(list, *g)
	}
	slices.SortFunc(list, func(a, b group) int {
		if by == byRun {
			return cmp.Or(b.run.First.Compare(a.run.First), cmp.Compare(a.name, b.name)) // the newest first
		}
		return cmp.Or(cmp.Compare(b.count, a.count), cmp.Compare(a.name, b.name))
	})
	return list
}

// badness orders outcomes: what failed, then what is hidden, then the rest.
func badness(o traces.Outcome) int {
	switch {
	case o == traces.Err:
		return 5
	case o.Hidden():
		return 4
	case o == traces.Nil:
		return 3
	case o == traces.Run:
		return 0
	}
	return 2
}

func (r *Requests) gathered(m gathered) tea.Cmd {
	m.groups.wait.End()
	if r.groups != m.groups {
		return nil
	}
	r.groups.state, r.groups.list = m.state, m.list
	r.list.SetLen(len(m.list))
	if wait := breather(m.state.total); wait > 0 {
		return r.env.After(wait, screen.For{Screen: r, Msg: regrouped{m.groups}})
	}
	return r.regrouped(regrouped{m.groups})
}

// regrouped lets the groups be gathered again.
func (r *Requests) regrouped(m regrouped) tea.Cmd {
	m.groups.busy = false
	return r.regroup()
}

// enterGroup lists the requests of the group in focus.
func (r *Requests) enterGroup() tea.Cmd {
	if r.list.Cursor >= len(r.groups.list) {
		return nil
	}
	g := r.groups.list[r.list.Cursor]
	term := r.groups.field + "=" + query.Quote(g.name)
	if g.name == "" {
		term = "not " + r.groups.field
	}
	filter := r.with(term)
	r.groups = nil
	return r.changeFilter(filter)
}

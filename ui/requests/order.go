package requests

import (
	"slices"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces/store"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/widget"
)

// The columns that a list can be sorted by. The first is the number, which is
// the order of time.
var sortable = []string{"#", "verb", "ind", "key", "served", "ms", "out"}

// sorting is by what column the list is sorted.
type sorting struct {
	column  int // of sortable
	reverse bool
	asked   int // generation of the command that sorts
	busy    bool
	sorted  state // of the log when it was sorted last
}

// state is what of the log makes lists that are sorted or grouped other ones.
type state struct{ total, running, held uint64 }

func stateOf(s *session.Stats) state { return state{s.Total, s.Running, s.Held} }

// breather is how long a list of n rows that was made as a whole is good enough,
// while requests come in: about ten times what it takes to make it, so that it
// never keeps more than a tenth of a processor busy. Of few rows it is nothing.
func breather(n uint64) time.Duration {
	if n < 20_000 {
		return 0
	}
	return time.Duration(n) * 3 * time.Microsecond
}

func (s *sorting) stop() {
	s.column, s.reverse, s.busy = 0, false, false
	s.asked++
}

func (s *sorting) String() string {
	if s.reverse {
		return sortable[s.column] + " desc"
	}
	return sortable[s.column] + " asc"
}

// An order is a list that is not in the order of numbers.
type order struct{ ids []uint64 }

func (o *order) at(i int, reverse bool) uint64 {
	if reverse {
		i = len(o.ids) - 1 - i
	}
	if i < 0 || i >= len(o.ids) {
		return 0
	}
	return o.ids[i]
}

// index is where a request is, or -1. Near is where it was.
func (o *order) index(id uint64, near int, reverse bool) int {
	if o.at(near, reverse) == id {
		return near
	}
	i := slices.Index(o.ids, id)
	if i >= 0 && reverse {
		return len(o.ids) - 1 - i
	}
	return i
}

// Messages of the commands that sort.
type (
	ordered struct {
		asked int
		state state
		order *order
	}
	breathed struct{ asked int }
)

// sortBy goes to the next column, or reverses.
func (r *Requests) sortBy(next bool) tea.Cmd {
	r.setFollow(false)
	if !next {
		r.sorting.reverse = !r.sorting.reverse
		r.place()
		return r.ask()
	}
	return r.sortColumn((r.sorting.column + 1) % len(sortable))
}

func (r *Requests) sortColumn(column int) tea.Cmd {
	r.sorting.column = column
	r.sorting.asked++
	r.sorting.busy, r.sorting.sorted = false, state{}
	if column == 0 {
		r.sorted = nil
		r.place()
		return r.ask()
	}
	return r.resort()
}

// setSort sorts by the name of a column.
func (r *Requests) setSort(name string, reverse bool) tea.Cmd {
	column := slices.Index(sortable, strings.ToLower(name))
	if column < 0 {
		return screen.Warn("there is no column "+name, "there are: "+strings.Join(sortable, " "))
	}
	r.setFollow(false)
	r.sorting.reverse = reverse
	return r.sortColumn(column)
}

// resort sorts again when there is news. It has its own view, and its own
// goroutine: the screen shows the old order until the new one is there.
func (r *Requests) resort() tea.Cmd {
	now := stateOf(&r.stats)
	if r.sorting.column == 0 || r.sorting.busy || r.sorting.sorted == now && r.sorted != nil {
		return nil
	}
	r.sorting.busy = true
	column, asked, filter := sortable[r.sorting.column], r.sorting.asked, r.filter
	return screen.Later(func() tea.Msg {
		v, err := session.Find(r.env.Log, filter)
		if err != nil {
			return nil
		}
		return screen.For{Screen: r, Msg: ordered{asked, now, sortView(r.env.Log, v, column)}}
	})
}

func (r *Requests) ordered(m ordered) tea.Cmd {
	if m.asked != r.sorting.asked {
		return nil
	}
	r.sorting.sorted = m.state
	r.sorted = m.order
	r.place()
	if wait := breather(uint64(len(m.order.ids))); wait > 0 {
		return tea.Batch(r.ask(), r.env.After(wait, screen.For{Screen: r, Msg: breathed{m.asked}}))
	}
	return tea.Batch(r.ask(), r.breathed(breathed{m.asked}))
}

// breathed lets the list be sorted again.
func (r *Requests) breathed(m breathed) tea.Cmd {
	if m.asked != r.sorting.asked {
		return nil
	}
	r.sorting.busy = false
	return r.resort()
}

// sortView returns the requests of a view in the order of a column, those that
// are equal in the order of their numbers. What is compared is one number for
// each: of texts, the place of the text among all that there are.
func sortView(log session.Log, v *store.View, column string) *order {
	items := make([]widget.Keyed[uint64], 0, v.Len())
	texts := make(map[string]uint64)
	of := textOf(column)
	eachRow(log, v, func(row *session.Row) {
		key := numberOf(column, row)
		if of != nil {
			text := of(row)
			n, known := texts[text]
			if !known {
				n = uint64(len(texts))
				texts[text] = n
			}
			key = n
		}
		items = append(items, widget.Keyed[uint64]{Key: key, Of: row.ID})
	})
	if of != nil {
		place := make([]uint64, len(texts))
		list := make([]string, 0, len(texts))
		for text := range texts {
			list = append(list, text)
		}
		slices.Sort(list)
		for i, text := range list {
			place[texts[text]] = uint64(i)
		}
		for i := range items {
			items[i].Key = place[items[i].Key]
		}
	}
	items = widget.SortKeyed(items)
	o := &order{ids: make([]uint64, len(items))}
	for i := range items {
		o.ids[i] = items[i].Of
	}
	return o
}

// textOf returns the text of a row in a column; nil if it is a column of
// numbers.
func textOf(column string) func(*session.Row) string {
	switch column {
	case "ind":
		return func(r *session.Row) string { return r.Indirection }
	case "key":
		return func(r *session.Row) string { return r.Key }
	case "served":
		return session.ServedBy
	}
	return nil
}

func numberOf(column string, r *session.Row) uint64 {
	switch column {
	case "verb":
		return uint64(r.Verb)
	case "ms":
		return uint64(max(r.Took, 0))
	case "out":
		return uint64(r.Outcome)
	}
	return 0
}

// eachRow calls do with the rows of a view, in the order of their numbers. Where
// the view has most of the requests there are, they are read many at a time.
func eachRow(log session.Log, v *store.View, do func(*session.Row)) {
	var rows [256]session.Row
	n := v.Len()
	for i := 0; i < n; {
		id := v.At(i)
		k := 0
		if j := min(i+len(rows), n); v.At(j-1) < id+4*uint64(j-i) {
			k = log.Rows(id, rows[:j-i])
		}
		if k == 0 || rows[0].ID != id { // those that were kept when older ones were dropped are read alone
			if row, ok := log.Row(id); ok {
				do(&row)
			}
			i++
			continue
		}
		for r := range rows[:k] {
			for i < n && v.At(i) < rows[r].ID { // dropped meanwhile
				i++
			}
			if i < n && v.At(i) == rows[r].ID {
				do(&rows[r])
				i++
			}
		}
	}
}

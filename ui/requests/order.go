package requests

import (
	"cmp"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces/query"
	"indirtui/ui/screen"
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
	sorted  uint64 // requests there were when it was sorted last
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
type order struct {
	ids   []uint64
	where map[uint64]int
}

func (o *order) at(i int, reverse bool) uint64 {
	if reverse {
		i = len(o.ids) - 1 - i
	}
	if i < 0 || i >= len(o.ids) {
		return 0
	}
	return o.ids[i]
}

func (o *order) index(id uint64, reverse bool) int {
	i := o.where[id]
	if reverse {
		return len(o.ids) - 1 - i
	}
	return i
}

// ordered is the answer of the command that sorts.
type ordered struct {
	asked int
	total uint64
	order *order
}

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
	r.sorting.busy, r.sorting.sorted = false, 0
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
	if r.sorting.column == 0 || r.sorting.busy || r.sorting.sorted == r.stats.Total && r.sorted != nil {
		return nil
	}
	r.sorting.busy = true
	column, asked, total, filter := sortable[r.sorting.column], r.sorting.asked, r.stats.Total, r.filter
	return screen.Later(func() tea.Msg {
		var e *query.Expr
		if filter != "" {
			e, _ = query.Parse(filter)
		}
		v := r.env.Log.View(e)
		for !v.Extend(0) {
		}
		rows := make([]screen.Row, 0, v.Len())
		for i := range v.Len() {
			if row, ok := r.env.Log.Row(v.At(i)); ok {
				rows = append(rows, row)
			}
		}
		slices.SortStableFunc(rows, func(a, b screen.Row) int { return compareRows(column, &a, &b) })
		o := &order{ids: make([]uint64, len(rows)), where: make(map[uint64]int, len(rows))}
		for i := range rows {
			o.ids[i] = rows[i].ID
			o.where[rows[i].ID] = i
		}
		return screen.For{Screen: r, Msg: ordered{asked, total, o}}
	})
}

func compareRows(column string, a, b *screen.Row) int {
	switch column {
	case "verb":
		return cmp.Compare(a.Verb, b.Verb)
	case "ind":
		return strings.Compare(a.Indirection, b.Indirection)
	case "key":
		return strings.Compare(a.Key, b.Key)
	case "served":
		return strings.Compare(screen.ServedBy(a), screen.ServedBy(b))
	case "ms":
		return cmp.Compare(a.Took, b.Took)
	case "out":
		return cmp.Compare(a.Outcome, b.Outcome)
	}
	return cmp.Compare(a.ID, b.ID)
}

func (r *Requests) ordered(m ordered) tea.Cmd {
	if m.asked != r.sorting.asked {
		return nil
	}
	r.sorting.busy, r.sorting.sorted = false, m.total
	r.sorted = m.order
	r.place()
	return tea.Batch(r.ask(), r.resort())
}

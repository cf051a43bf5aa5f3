package session

import (
	"iter"

	"indirtui/traces/query"
	"indirtui/traces/store"
)

// Find returns the requests that an expression means; "" is all. It may look at
// every row.
func Find(log Log, expression string) (*store.View, error) {
	var e *query.Expr
	if expression != "" {
		var err error
		if e, err = query.Parse(expression); err != nil {
			return nil, err
		}
	}
	v := log.View(e)
	for !v.Extend(0) {
	}
	return v, nil
}

// block is how many rows are read at once.
const block = 1024

// Forward yields the rows from a request on, up to the newest that there is when
// it begins. A row is the caller's until the next one.
func Forward(log Log, from uint64) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		first, last := log.Range()
		rows := make([]Row, block)
		for from := max(from, first); first > 0 && from <= last; {
			n := log.Rows(from, rows)
			if n == 0 {
				return
			}
			for i := range n {
				if !yield(&rows[i]) {
					return
				}
			}
			from = rows[n-1].ID + 1
		}
	}
}

// Backward yields the rows before a request, the newest first. A row is the
// caller's until the next one.
func Backward(log Log, before uint64) iter.Seq[*Row] {
	return func(yield func(*Row) bool) {
		first, _ := log.Range()
		rows := make([]Row, block)
		for to := before; first > 0 && to > first; {
			from := max(first, to-min(to, block))
			n := log.Rows(from, rows[:to-from])
			for i := n - 1; i >= 0; i-- {
				if rows[i].ID < to && !yield(&rows[i]) {
					return
				}
			}
			to = from
		}
	}
}

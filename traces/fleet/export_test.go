package fleet

import (
	"context"

	"indirtui/traces/query"
)

// Count returns how many requests the condition of an expression means, and
// whether it is all of it.
func Count(ctx context.Context, f *Fleet, e *query.Expr) (n int, exact bool, err error) {
	p := pageOf(e, func(run string) []string { return nil })
	err = f.pool.QueryRow(ctx, "SELECT count(*) FROM indirtui.traces t WHERE "+p.where, p.args...).Scan(&n)
	return n, p.exact, err
}

// Read reads a recording as a shipper does.
func Read(path string) (rows, damaged int, err error) {
	q, err := openQueue(path)
	if err != nil {
		return 0, 0, err
	}
	defer q.close()
	if _, err := q.seek(place{part: q.header.Part}); err != nil {
		return 0, 0, err
	}
	b := newBatch(q.place, newPacker(), 0, func(string) int { return 1 })
	err = b.fill(q, maxRows)
	return len(b.rows), b.damaged, err
}

// Filtered is isFiltered.
func (f *Fleet) Filtered() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.isFiltered()
}

// Unpack is unpack, for a fuzz target.
var Unpack = unpack

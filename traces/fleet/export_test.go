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

// Unpack is unpack, for a fuzz target.
var Unpack = unpack

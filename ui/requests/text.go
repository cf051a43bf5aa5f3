package requests

import (
	"cmp"
	"fmt"
	"slices"

	"indirtui/ui/session"
	"indirtui/ui/term"
)

// Groups returns the requests that an expression means by groups, a line each:
// the name of the group, how many there are, and the worst outcome.
func Groups(log session.Log, by, expression string) []string {
	var lines []string
	for _, g := range gather(log, by, expression) {
		lines = append(lines, fmt.Sprintf("%s  %s  worst %s  last #%d", cmp.Or(g.name, "-"), term.Plural(g.count, "request"), g.worst, g.last))
	}
	return lines
}

// Sorted returns requests in the order of a column, those that are equal in the
// order of their numbers. It is for the few that are printed.
func Sorted(log session.Log, ids []uint64, column string, reverse bool) []uint64 {
	rows := make([]session.Row, 0, len(ids))
	for _, id := range ids {
		if row, ok := log.Row(id); ok {
			rows = append(rows, row)
		}
	}
	of := textOf(column)
	slices.SortStableFunc(rows, func(a, b session.Row) int {
		if of != nil {
			return cmp.Compare(of(&a), of(&b))
		}
		return cmp.Compare(numberOf(column, &a), numberOf(column, &b))
	})
	if reverse {
		slices.Reverse(rows)
	}
	ids = make([]uint64, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	return ids
}

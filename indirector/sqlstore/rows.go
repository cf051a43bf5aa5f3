package sqlstore

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
)

// A target is a table that rows are put into.
type target struct {
	table   string
	columns []string // each with its type in PostgreSQL: "node bigint"
	tail    string   // what comes behind the values
}

// put inserts rows of values, of which each is one of a column. Read, unless it is nil, is
// called for what the tail returns.
func (c *conn) put(ctx context.Context, t target, rows [][]any, read func(scan func(...any) error) error) error {
	names, types := named(t.columns)
	head := "INSERT INTO " + t.table + "(" + names + ") "
	for len(rows) > 0 {
		n := c.portion(len(rows))
		values, args := c.values(types, rows[:n])
		var err error
		if read != nil {
			err = c.each(ctx, read, head+values+t.tail, args...)
		} else {
			_, err = c.exec(ctx, head+values+t.tail, args...)
		}
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// remove deletes rows of a node by the rest of their keys, whose columns have their types.
func (c *conn) remove(ctx context.Context, table string, key []string, node int64, rows [][]any) error {
	names, types := named(key)
	for len(rows) > 0 {
		n := c.portion(len(rows))
		values, args := c.values(types, rows[:n])
		_, err := c.exec(ctx, "DELETE FROM "+table+" WHERE node = ? AND ("+names+") IN ("+values+")", append([]any{node}, args...)...)
		if err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}

// shared returns the ids of rows of a table by their hashes, and adds those that are new,
// in the order of their hashes: so two transactions never wait for each other. Rows begin
// with their hash. Rule STORE-SQL-10.
func (c *conn) shared(ctx context.Context, t target, rows map[string][]any) (map[string]int64, error) {
	hashes := slices.Sorted(maps.Keys(rows))
	ids := make(map[string]int64, len(hashes))
	missing := func() []string {
		return slices.DeleteFunc(slices.Clone(hashes), func(h string) bool { _, known := ids[h]; return known })
	}
	read := func(scan func(...any) error) error {
		var hash string
		var id int64
		err := scan(&hash, &id)
		ids[hash] = id
		return err
	}
	// Those that another transaction adds meanwhile are found in the second round.
	for round := range 2 {
		for condition, args := range c.among("hash", missing()) {
			if err := c.each(ctx, read, "SELECT hash, id FROM "+t.table+" WHERE "+condition, args...); err != nil {
				return nil, err
			}
		}
		left := missing()
		if len(left) == 0 {
			return ids, nil
		}
		if round == 1 {
			return nil, fmt.Errorf("row %s of %s does not stay", left[0], t.table)
		}
		added := make([][]any, len(left))
		for i, h := range left {
			added[i] = rows[h]
		}
		if err := c.put(ctx, t, added, read); err != nil {
			return nil, err
		}
		if len(missing()) == 0 {
			return ids, nil
		}
	}
	return ids, nil
}

// named returns the names of columns, and their types.
func named(columns []string) (names string, types []string) {
	all := make([]string, len(columns))
	types = make([]string, len(columns))
	for i, column := range columns {
		all[i], types[i], _ = strings.Cut(column, " ")
	}
	return strings.Join(all, ", "), types
}

// values returns rows as SQL has them: PostgreSQL takes an array for each column, so that
// there is one statement for any number of rows.
func (c *conn) values(types []string, rows [][]any) (text string, args []any) {
	if !c.s.d.arrays {
		for _, row := range rows {
			args = append(args, row...)
		}
		return "VALUES " + marks(len(rows), len(types)), args
	}
	for i := range types {
		column := make([]any, len(rows))
		for k, row := range rows {
			column[k] = row[i]
			if s, ok := row[i].(stamp); ok {
				column[k], _ = s.Value() // there is no error
			}
		}
		args = append(args, column)
	}
	return "SELECT * FROM unnest(?::" + strings.Join(types, "[], ?::") + "[])", args
}

// among yields conditions that a text is one of those of a list, with their values.
func (c *conn) among(column string, texts []string) iter.Seq2[string, []any] {
	return func(yield func(string, []any) bool) {
		for len(texts) > 0 {
			n := c.portion(len(texts))
			condition, args := column+" = ANY (?)", []any{texts[:n]}
			if !c.s.d.arrays {
				condition, args = column+" IN "+marks(1, n), make([]any, n)
				for i := range args {
					args[i] = texts[i]
				}
			}
			if !yield(condition, args) {
				return
			}
			texts = texts[n:]
		}
	}
}

// portion returns how many of n rows one statement takes. Where each has its placeholders
// there are few such numbers, so that statements can be kept.
func (c *conn) portion(n int) int {
	const most = 5000
	if c.s.d.arrays {
		return min(n, most)
	}
	for _, p := range []int{64, 16, 4} {
		if n >= p {
			return p
		}
	}
	return 1
}

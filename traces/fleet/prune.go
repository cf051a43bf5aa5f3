package fleet

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// Pruned is what Prune has removed.
type Pruned struct {
	Days     int   // partitions
	Requests int64 // of the partition of all other days
	Values   int64
	Runs     int64
}

// Prune removes what is older than a time: partitions whose last day is, and the
// values and runs that were not used since. It needs the role that owns the
// tables. Rule FLEET-06.
func Prune(ctx context.Context, url string, before time.Time) (p Pruned, err error) {
	err = withConn(ctx, url, func(c *pgx.Conn) error {
		days, err := partitions(ctx, c)
		if err != nil {
			return err
		}
		for name, day := range days {
			if day.AddDate(0, 0, 1).After(before) {
				continue
			}
			if _, err := c.Exec(ctx, "DROP TABLE indirtui."+pgx.Identifier{name}.Sanitize()); err != nil {
				return err
			}
			p.Days++
		}
		for _, x := range []struct {
			sql string
			n   *int64
		}{
			{"DELETE FROM indirtui.traces_other WHERE at < $1", &p.Requests},
			{`DELETE FROM indirtui."values" WHERE seen < $1::timestamptz::date`, &p.Values},
			{"DELETE FROM indirtui.runs WHERE last < $1", &p.Runs},
		} {
			tag, err := c.Exec(ctx, x.sql, before)
			if err != nil {
				return err
			}
			*x.n = tag.RowsAffected()
		}
		return nil
	})
	if err != nil {
		return p, fmt.Errorf("prune %s: %w", Place(url), err)
	}
	return p, nil
}

// partitions are those of one day, by their names.
func partitions(ctx context.Context, c conn) (map[string]time.Time, error) {
	const prefix = "traces_"
	r, err := c.Query(ctx, "SELECT c.relname FROM pg_inherits JOIN pg_class c ON c.oid = inhrelid WHERE inhparent = 'indirtui.traces'::regclass")
	if err != nil {
		return nil, err
	}
	names, err := pgx.CollectRows(r, pgx.RowTo[string])
	if err != nil {
		return nil, err
	}
	all := map[string]time.Time{}
	for _, name := range names {
		if day, err := time.Parse("20060102", strings.TrimPrefix(name, prefix)); err == nil {
			all[name] = day
		}
	}
	return all, nil
}

// withConn does something over one connection to a database that has our schema.
func withConn(ctx context.Context, url string, do func(*pgx.Conn) error) error {
	cfg, err := configOf(url)
	if err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, cfg.ConnConfig)
	if err != nil {
		return fmt.Errorf("connect: %w", err)
	}
	defer func() { _ = c.Close(context.Background()) }() // all that counts was committed
	if err := known(ctx, c); err != nil {
		return err
	}
	return do(c)
}

// An Instance is a run of a program that ships, as the database knows it.
type Instance struct {
	Name    string
	Source  string
	Seen    time.Time     // when it last shipped, or reported that it is alive
	Offset  time.Duration // how far its clock is ahead of the database's
	Shipped int64         // requests
	Bare    int64         // of these: without detail, dropped before they were recorded
	Damaged int64         // lines that could not be read
	Missing int64         // parts of its recording that were removed before they were shipped
	Ended   bool          // its recording was closed, and all of it was shipped
	Held    []Held

	id int32
}

// List returns the instances that have shipped, oldest first.
func List(ctx context.Context, url string) (all []*Instance, err error) {
	err = withConn(ctx, url, func(c *pgx.Conn) (err error) {
		all, err = instances(ctx, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list the instances of %s: %w", Place(url), err)
	}
	return all, nil
}

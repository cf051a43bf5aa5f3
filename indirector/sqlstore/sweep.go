package sqlstore

import (
	"context"
	"fmt"
	"time"
)

// A Retention is how long something is kept; zero is for ever. Rule PDB-SEM-07.
type Retention struct {
	Node   time.Duration // after its last command a node expires
	Purge  time.Duration // after it was deactivated or expired a node is removed
	Report time.Duration // after it was produced a report is removed
}

// sweepEvery is how often what is too old is looked for.
const sweepEvery = time.Hour

// breath is what a sweep beside other work leaves between two transactions.
const breath = 50 * time.Millisecond

// Swept is what a sweep did.
type Swept struct {
	Expired, Purged, Reports, Sets int // nodes, nodes, reports, sets of parameters
}

func (w Swept) String() string {
	return fmt.Sprintf("%d nodes expired, %d nodes removed, %d reports removed, %d sets of parameters removed", w.Expired, w.Purged, w.Reports, w.Sets)
}

// Sweep ends and removes what is older than its Retention, and sets of parameters that
// are not used any longer, in small transactions: others write between them. What was
// done before an error stays done. Rule STORE-SQL-09.
func (s *Store) Sweep(ctx context.Context) (Swept, error) {
	return s.sweep(ctx, func() error { return nil })
}

// sweepWhenDue starts a sweep beside what else is done, once in an hour.
func (s *Store) sweepWhenDue(ctx context.Context) {
	if s.o.Retention == (Retention{}) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.o.Now()
	if s.closed || now.Sub(s.swept) < sweepEvery {
		return
	}
	s.swept = now
	ctx, s.stop = context.WithCancel(context.WithoutCancel(ctx))
	stop := s.stop
	s.work.Go(func() {
		defer stop()
		if last, err := s.lastSweep(ctx); err != nil || now.Sub(last) < sweepEvery {
			return // another process does it; an error comes back with the next command
		}
		_, _ = s.sweep(ctx, func() error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(breath):
				return nil
			}
		})
	})
}

// lastSweep returns when the last sweep ended; zero if there was none.
func (s *Store) lastSweep(ctx context.Context) (time.Time, error) {
	var at stamp
	err := s.look(ctx, func(c *conn) error {
		_, err := c.one(ctx, []any{&at}, "SELECT max(at) FROM sweeps")
		return err
	})
	return at.time(), err
}

func (s *Store) sweep(ctx context.Context, pause func() error) (w Swept, err error) {
	now := s.o.Now()
	before := func(d time.Duration) stamp { return stamp(now.Add(-d)) }
	type task struct {
		keep  time.Duration
		count *int
		text  string
		args  []any
	}
	r := s.o.Retention
	tasks := []task{
		{
			r.Node, &w.Expired, `UPDATE nodes SET expired = ? WHERE id IN (SELECT n.id FROM nodes n WHERE n.deactivated IS NULL AND n.expired IS NULL
			AND NOT EXISTS (SELECT 1 FROM factsets x WHERE x.node = n.id AND x.stored >= ?)
			AND NOT EXISTS (SELECT 1 FROM catalogs x WHERE x.node = n.id AND x.stored >= ?)
			AND NOT EXISTS (SELECT 1 FROM reports x WHERE x.node = n.id AND x.stored >= ?) LIMIT 100)`,
			[]any{stamp(now), before(r.Node), before(r.Node), before(r.Node)},
		},
		{r.Purge, &w.Purged, "DELETE FROM nodes WHERE id IN (SELECT n.id FROM nodes n WHERE n.deactivated < ? OR n.expired < ? LIMIT 5)", []any{before(r.Purge), before(r.Purge)}},
		{r.Report, &w.Reports, "DELETE FROM reports WHERE id IN (SELECT r.id FROM reports r WHERE r.produced < ? LIMIT 100)", []any{before(r.Report)}},
		{r.Purge, new(int), "DELETE FROM commands WHERE id IN (SELECT c.id FROM commands c WHERE c.arrived < ? AND c.certname NOT IN (SELECT n.certname FROM nodes n) LIMIT 1000)", []any{before(r.Purge)}},
	}
	for _, t := range tasks {
		if t.keep <= 0 {
			continue
		}
		for done := -1; done != 0; *t.count += done {
			if done, err = s.small(ctx, pause, t.text, t.args...); err != nil {
				return w, s.failed("sweep", err)
			}
		}
	}
	if w.Sets, err = s.sweepShared(ctx, pause, parameterSets.table, "parameters"); err == nil {
		_, err = s.sweepShared(ctx, pause, declarations.table, "declaration")
	}
	if err != nil {
		return w, s.failed("sweep", err)
	}
	_, err = s.change(ctx, func(c *conn) error {
		if _, err := c.exec(ctx, "INSERT INTO sweeps(at, detail) VALUES (?, ?)", stamp(now), w.String()); err != nil {
			return err
		}
		_, err := c.exec(ctx, "DELETE FROM sweeps WHERE id <= (SELECT id FROM sweeps ORDER BY id DESC LIMIT 1 OFFSET 20)")
		return err
	})
	return w, s.failed("sweep", err)
}

// small runs one statement in a transaction of its own, and returns how many rows it
// changed.
func (s *Store) small(ctx context.Context, pause func() error, text string, args ...any) (n int, err error) {
	if err := pause(); err != nil {
		return 0, err
	}
	_, err = s.change(ctx, func(c *conn) error {
		rows, err := c.exec(ctx, text, args...)
		n = int(rows)
		return err
	})
	return n, err
}

// sweepShared removes the rows of a table that no resource has in a column.
func (s *Store) sweepShared(ctx context.Context, pause func() error, table, column string) (removed int, err error) {
	const window = 5000 // ids
	var last *int64
	err = s.look(ctx, func(c *conn) error {
		_, err := c.one(ctx, []any{&last}, "SELECT max(id) FROM "+table)
		return err
	})
	for id := int64(0); err == nil && id < or(last); id += window {
		var n int
		n, err = s.small(ctx, pause, "DELETE FROM "+table+` WHERE id > ? AND id <= ?
			AND NOT EXISTS (SELECT 1 FROM catalog_resources r WHERE r.`+column+" = "+table+".id)", id, id+window)
		if usedAgain(err) {
			err = nil // another sweep finds the rest of the window
		}
		removed += n
	}
	return removed, err
}

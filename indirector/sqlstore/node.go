package sqlstore

import (
	"context"
	"fmt"
	"time"
)

// A nodeRow is the row of a node, which no other transaction changes meanwhile.
type nodeRow struct {
	id                   int64
	deactivated, expired stamp
}

// inactive returns since when a node is deactivated or expired; zero if it is active.
func (n nodeRow) inactive() time.Time {
	if !n.deactivated.time().IsZero() {
		return n.deactivated.time()
	}
	return n.expired.time()
}

// node returns the row of a node, and makes it if there is none. Rule STORE-SQL-10.
func (c *conn) node(ctx context.Context, certname string) (n nodeRow, err error) {
	for range 2 {
		found, err := c.one(ctx, []any{&n.id, &n.deactivated, &n.expired}, "SELECT id, deactivated, expired FROM nodes WHERE certname = ?"+c.s.d.lock, certname)
		if found || err != nil {
			return n, err
		}
		if _, err := c.exec(ctx, "INSERT INTO nodes(certname) VALUES (?) ON CONFLICT DO NOTHING", certname); err != nil {
			return n, err
		}
	}
	return n, fmt.Errorf("the row of node %q does not stay", certname) // it was purged twice meanwhile
}

// activate ends that a node is inactive, if the command is newer than its end. Rule
// PDB-SEM-02.
func (c *conn) activate(ctx context.Context, n *nodeRow, o *Outcome) error {
	was := n.inactive()
	if was.IsZero() {
		return nil
	}
	if !o.Produced.After(was) {
		o.Inactive = was
		return nil
	}
	n.deactivated, n.expired = stamp{}, stamp{}
	_, err := c.exec(ctx, "UPDATE nodes SET deactivated = NULL, expired = NULL WHERE id = ?", n.id)
	return err
}

// deactivate ends what a store shows of a node, unless it has something newer. Rule
// PDB-SEM-02.
func (c *conn) deactivate(ctx context.Context, o *Outcome) error {
	n, err := c.node(ctx, valid(o.Certname))
	if err != nil {
		return err
	}
	var facts, catalog, report stamp
	_, err = c.one(ctx, []any{&facts, &catalog, &report}, `SELECT
		(SELECT produced FROM factsets WHERE node = ?), (SELECT produced FROM catalogs WHERE node = ?), (SELECT max(produced) FROM reports WHERE node = ?)`,
		n.id, n.id, n.id)
	if err != nil {
		return err
	}
	for _, s := range []stamp{facts, catalog, report, n.deactivated} {
		if s.time().After(o.Produced) && s.time().After(o.Newer) {
			o.Result, o.Newer = Older, s.time()
		}
	}
	o.Inactive = n.deactivated.time()
	if o.Result == Older {
		return nil
	}
	if n.deactivated.time().Equal(o.Produced) {
		o.Result = Unchanged
		return nil
	}
	o.Inactive = o.Produced
	_, err = c.exec(ctx, "UPDATE nodes SET deactivated = ? WHERE id = ?", stamp(o.Produced), n.id)
	return err
}

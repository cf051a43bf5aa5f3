package sqlstore

import (
	"context"
	"fmt"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/command"
)

// A Node is what the store has of a node.
type Node struct {
	Certname             string
	Deactivated, Expired time.Time // zero if it is not
	// What was stored last of each kind; nil if nothing was.
	Facts, Catalog *Made
	Report         *LatestReport
}

// Inactive returns since when the node is deactivated or expired; zero if it is active.
func (n *Node) Inactive() time.Time {
	if !n.Deactivated.IsZero() {
		return n.Deactivated
	}
	return n.Expired
}

// Made is when and by whom something was made.
type Made struct {
	Environment      string
	Produced, Stored time.Time
	Producer         string
}

// LatestReport is the newest report of a node.
type LatestReport struct {
	Made
	Hash, Status, CachedCatalogStatus, JobID string
	// Whether it was a noop run, a change was left for another run, and a change was made
	// to what had been changed by others; nil is unknown.
	Noop, NoopPending, CorrectiveChange *bool
}

const nodeColumns = `SELECT n.id, n.certname, n.deactivated, n.expired,
	f.environment, f.produced, f.stored, f.producer, c.environment, c.produced, c.stored, c.producer,
	r.environment, r.produced, r.stored, r.producer, r.hash, r.status, r.cached_catalog_status, r.job_id, r.noop, r.noop_pending, r.corrective_change
	FROM nodes n LEFT JOIN factsets f ON f.node = n.id LEFT JOIN catalogs c ON c.node = n.id
	LEFT JOIN reports r ON r.id = (SELECT x.id FROM reports x WHERE x.node = n.id ORDER BY x.produced DESC, x.id DESC LIMIT 1)`

// storedColumns are those that Made is read from.
type storedColumns struct {
	environment, producer *string
	produced, stored      stamp
}

func (c *storedColumns) made() *Made {
	if c.produced.time().IsZero() {
		return nil
	}
	return &Made{or(c.environment), c.produced.time(), c.stored.time(), or(c.producer)}
}

func readNode(scan func(...any) error) (id int64, n *Node, err error) {
	n = new(Node)
	var deactivated, expired stamp
	var f, c, r storedColumns
	var hash, status, cached, job *string
	var noop, pending, corrective *bool
	err = scan(&id, &n.Certname, &deactivated, &expired,
		&f.environment, &f.produced, &f.stored, &f.producer, &c.environment, &c.produced, &c.stored, &c.producer,
		&r.environment, &r.produced, &r.stored, &r.producer, &hash, &status, &cached, &job, &noop, &pending, &corrective)
	n.Deactivated, n.Expired = deactivated.time(), expired.time()
	n.Facts, n.Catalog = f.made(), c.made()
	if latest := r.made(); latest != nil {
		n.Report = &LatestReport{*latest, or(hash), or(status), or(cached), or(job), noop, pending, corrective}
	}
	return id, n, err
}

// Node returns what there is of a node, also of one that is not active; nil if nothing is
// known of it. Rule PDB-SEM-03.
func (s *Store) Node(ctx context.Context, certname string) (n *Node, err error) {
	err = s.look(ctx, func(c *conn) error {
		_, n, err = c.statusOf(ctx, certname)
		return err
	})
	return n, s.failed("look up node "+certname, err)
}

// statusOf returns the node of a name, or nil.
func (c *conn) statusOf(ctx context.Context, certname string) (id int64, n *Node, err error) {
	err = c.each(ctx, func(scan func(...any) error) error {
		id, n, err = readNode(scan)
		return err
	}, nodeColumns+" WHERE n.certname = ?", certname)
	return id, n, err
}

// Nodes calls yield for each node, by certname, until it returns false: for the active
// ones, or for all.
func (s *Store) Nodes(ctx context.Context, all bool, yield func(*Node) bool) error {
	text := nodeColumns + " WHERE n.deactivated IS NULL AND n.expired IS NULL ORDER BY n.certname"
	if all {
		text = nodeColumns + " ORDER BY n.certname"
	}
	return s.failed("list nodes", s.look(ctx, func(c *conn) error {
		return stopped(c.each(ctx, func(scan func(...any) error) error {
			_, n, err := readNode(scan)
			if err == nil && !yield(n) {
				err = errStop
			}
			return err
		}, text))
	}))
}

// A Factset are the facts of a node.
type Factset struct {
	*Made             // nil if the node has none
	Values data.Value // a hash, by name; empty if the node has none, or is not active
	Node   *Node
	// Ignored is what became of the facts that came last, if these are others: "ignored
	// as older: …", "refused: …". Else it is "".
	Ignored string
}

// Facts returns the facts of a node; nil if nothing is known of it. A node that is not
// active, or has only a catalog, has facts without values. Rule PDB-QRY-03.
func (s *Store) Facts(ctx context.Context, certname string) (f *Factset, err error) {
	ctx, end := s.asks(ctx, "facts of "+certname)
	defer func() {
		answer := "nothing"
		if f != nil {
			answer = fmt.Sprintf("%d facts", f.Values.Len())
		}
		end(answer, err)
	}()
	err = s.look(ctx, func(c *conn) error {
		id, n, err := c.statusOf(ctx, certname)
		if err != nil || n == nil {
			return err
		}
		f = &Factset{Made: n.Facts, Node: n, Values: data.OfHash(nil)}
		if n.Facts == nil || !n.Inactive().IsZero() {
			return nil
		}
		rows, err := c.facts(ctx, id)
		if err != nil {
			return err
		}
		if f.Values, err = valuesOf(rows); err != nil {
			return err
		}
		f.Ignored, err = c.ignored(ctx, certname, command.ReplaceFacts)
		return err
	})
	return f, s.failed("find facts of "+certname, err)
}

// ignored returns what became of the last command of a kind, if it was not stored.
func (c *conn) ignored(ctx context.Context, certname, kind string) (string, error) {
	var outcome, detail string
	_, err := c.one(ctx, []any{&outcome, &detail}, "SELECT outcome, detail FROM commands WHERE certname = ? AND kind = ? ORDER BY id DESC LIMIT 1", certname, kind)
	if outcome != Older.String() && outcome != Refused.String() {
		detail = ""
	}
	return detail, err
}

// valuesOf returns facts as one hash, whose JSON is read at once.
func valuesOf(rows []factRow) (data.Value, error) {
	size := 2
	for _, r := range rows {
		size += len(r.name) + len(r.value) + 8
	}
	b := make([]byte, 0, size)
	for i, r := range rows {
		b = append(b, map[bool]byte{true: '{', false: ','}[i == 0])
		b, _ = appendJSON(b, data.OfString(r.name)) // a text has no error
		b = append(append(b, ':'), r.value...)
	}
	if len(rows) == 0 {
		return data.OfHash(nil), nil
	}
	return decode(string(append(b, '}')))
}

// failed adds what was asked of which store.
func (s *Store) failed(op string, err error) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf("%s in %s: %w", op, s.name, err)
}

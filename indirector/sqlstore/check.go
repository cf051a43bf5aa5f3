package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// A Checked is what a check looked at, and what is wrong with it.
type Checked struct {
	Factsets int      `json:"factsets"`
	Catalogs int      `json:"catalogs"`
	Sets     int      `json:"parameter_sets"`
	Reports  int      `json:"reports"`
	Problems []string `json:"problems"` // one sentence each, at most 1000
}

// maxProblems is how many a check reports.
const maxProblems = 1000

// Check works out every hash anew and looks for what refers to nothing. It changes
// nothing, and reads the store as it was at one moment.
func (s *Store) Check(ctx context.Context) (ch Checked, err error) {
	ch.Problems = []string{}
	err = s.look(ctx, func(c *conn) error {
		for _, check := range []func(context.Context, *conn) error{ch.database, ch.sets, ch.declarations, ch.factsets, ch.catalogs, ch.tags, ch.reports} {
			if err := check(ctx, c); err != nil {
				return err
			}
		}
		return nil
	})
	return ch, s.failed("check", err)
}

func (ch *Checked) problem(format string, args ...any) {
	if len(ch.Problems) < maxProblems {
		ch.Problems = append(ch.Problems, fmt.Sprintf(format, args...))
	}
}

// database lets SQLite look at its own pages, and finds rows without what they refer to.
func (ch *Checked) database(ctx context.Context, c *conn) error {
	if c.s.writers != nil {
		err := c.each(ctx, func(scan func(...any) error) error {
			var text string
			err := scan(&text)
			if text != "ok" {
				ch.problem("the file: %s", text)
			}
			return err
		}, "PRAGMA quick_check(20)")
		if err != nil {
			return err
		}
	}
	for _, r := range []struct{ what, text string }{
		{"facts without a factset", "facts x WHERE NOT EXISTS (SELECT 1 FROM factsets f WHERE f.node = x.node)"},
		{"resources without a catalog", "catalog_resources x WHERE NOT EXISTS (SELECT 1 FROM catalogs f WHERE f.node = x.node)"},
		{"resources without parameters", "catalog_resources x WHERE NOT EXISTS (SELECT 1 FROM parameter_sets p WHERE p.id = x.parameters)"},
		{"resources without a declaration", "catalog_resources x WHERE NOT EXISTS (SELECT 1 FROM declarations d WHERE d.id = x.declaration)"},
		{"edges without a catalog", "catalog_edges x WHERE NOT EXISTS (SELECT 1 FROM catalogs f WHERE f.node = x.node)"},
		{"catalogs without a node", "catalogs x WHERE NOT EXISTS (SELECT 1 FROM nodes f WHERE f.id = x.node)"},
		{"factsets without a node", "factsets x WHERE NOT EXISTS (SELECT 1 FROM nodes f WHERE f.id = x.node)"},
		{"reports without a node", "reports x WHERE NOT EXISTS (SELECT 1 FROM nodes f WHERE f.id = x.node)"},
		{"events without a report", "events x WHERE NOT EXISTS (SELECT 1 FROM reports f WHERE f.id = x.report)"},
	} {
		var n int
		if _, err := c.one(ctx, []any{&n}, "SELECT count(*) FROM "+r.text); err != nil {
			return err
		}
		if n > 0 {
			ch.problem("%d %s", n, r.what)
		}
	}
	return nil
}

func (ch *Checked) sets(ctx context.Context, c *conn) error {
	return c.each(ctx, func(scan func(...any) error) error {
		var hash, value string
		err := scan(&hash, &value)
		ch.Sets++
		if is := (digest{[]byte(value)}).sum(); is != hash {
			ch.problem("the set of parameters %s has the hash %s", hash, is)
		}
		return err
	}, "SELECT hash, value FROM parameter_sets")
}

func (ch *Checked) declarations(ctx context.Context, c *conn) error {
	return c.each(ctx, func(scan func(...any) error) error {
		var r resourceRow
		var hash string
		err := scan(&hash, &r.tags, &r.file)
		if r.declaration() != hash {
			ch.problem("the declaration %s is to have the hash %s", hash, r.declaration())
		}
		return err
	}, "SELECT hash, tags, file FROM declarations")
}

// A hashed is a row with its hash.
type hashed struct {
	node            int64
	certname        string
	hash, edgesHash string
}

func (c *conn) hashes(ctx context.Context, columns, table string) (all []hashed, err error) {
	err = c.each(ctx, func(scan func(...any) error) error {
		var h hashed
		err := scan(&h.node, &h.certname, &h.hash, &h.edgesHash)
		all = append(all, h)
		return err
	}, "SELECT n.id, n.certname, "+columns+" FROM "+table+" x JOIN nodes n ON n.id = x.node ORDER BY n.certname")
	return all, err
}

func (ch *Checked) factsets(ctx context.Context, c *conn) error {
	all, err := c.hashes(ctx, "x.hash, ''", "factsets")
	for _, h := range all {
		ch.Factsets++
		rows, err := c.facts(ctx, h.node)
		if err != nil {
			return err
		}
		if is := hashOfFacts(rows); is != h.hash {
			ch.problem("the facts of %q have the hash %s, and are to have %s", h.certname, is, h.hash)
		}
	}
	return err
}

func (ch *Checked) catalogs(ctx context.Context, c *conn) error {
	all, err := c.hashes(ctx, "x.hash, x.edges_hash", "catalogs")
	for _, h := range all {
		ch.Catalogs++
		rows, err := c.resources(ctx, h.node)
		if err != nil {
			return err
		}
		edges, err := c.edges(ctx, h.node)
		if err != nil {
			return err
		}
		slices.SortFunc(rows, compareResources)
		if is := hashOfResources(rows); is != h.hash {
			ch.problem("the resources of %q have the hash %s, and are to have %s", h.certname, is, h.hash)
		}
		if is := hashOfEdges(edges); is != h.edgesHash {
			ch.problem("the edges of %q have the hash %s, and are to have %s", h.certname, is, h.edgesHash)
		}
	}
	return err
}

// tags compares exported_tags with the tags of exported resources, those of some nodes at a
// time: exported_tags has no index by nodes.
func (ch *Checked) tags(ctx context.Context, c *conn) error {
	const atOnce = 200
	var nodes []int64
	err := c.each(ctx, func(scan func(...any) error) error {
		var node int64
		err := scan(&node)
		nodes = append(nodes, node)
		return err
	}, "SELECT id FROM nodes UNION SELECT node FROM exported_tags ORDER BY 1")
	for some := range slices.Chunk(nodes, atOnce) {
		if err != nil {
			return err
		}
		err = ch.tagsOf(ctx, c, some[0], some[len(some)-1])
	}
	return err
}

// tagsOf does that for nodes by their ids.
func (ch *Checked) tagsOf(ctx context.Context, c *conn, first, last int64) error {
	type row struct {
		node int64
		tagRow
	}
	want := make(map[row]bool)
	err := c.each(ctx, func(scan func(...any) error) error {
		r := resourceRow{exported: true}
		var node int64
		err := scan(&node, &r.typ, &r.title, &r.tags)
		for _, t := range r.exportedTags() {
			want[row{node, t}] = true
		}
		return err
	}, "SELECT node, type, title, tags FROM resources WHERE exported AND node BETWEEN ? AND ?", first, last)
	if err != nil {
		return err
	}
	err = c.each(ctx, func(scan func(...any) error) error {
		var r row
		err := scan(&r.node, &r.tag, &r.typ, &r.title)
		if !want[r] {
			ch.problem("the tag %q of %s[%s] is not that of an exported resource", r.tag, r.typ, r.title)
		}
		delete(want, r)
		return err
	}, "SELECT node, tag, type, title FROM exported_tags WHERE node BETWEEN ? AND ?", first, last)
	for r := range want {
		ch.problem("the tag %q of the exported %s[%s] is not in exported_tags", r.tag, r.typ, r.title)
	}
	return err
}

func (ch *Checked) reports(ctx context.Context, c *conn) error {
	var ids []int64
	err := c.each(ctx, func(scan func(...any) error) error {
		var id int64
		err := scan(&id)
		ids = append(ids, id)
		return err
	}, "SELECT id FROM reports ORDER BY id")
	for i := 0; err == nil && i < len(ids); i++ {
		err = ch.report(ctx, c, ids[i])
	}
	return err
}

func (ch *Checked) report(ctx context.Context, c *conn, id int64) error {
	var r report
	var version, configuration, transaction *string
	var format *int64
	_, err := c.one(ctx, []any{&r.certname, &r.hash, &r.produced, &r.started, &r.ended, &version, &format, &configuration, &transaction},
		`SELECT n.certname, r.hash, r.produced, r.started, r.ended, r.puppet_version, r.format, r.configuration_version, r.transaction_uuid
		FROM reports r JOIN nodes n ON n.id = r.node WHERE r.id = ?`, id)
	if err != nil {
		return err
	}
	if r.events, err = c.eventRows(ctx, id); err != nil {
		return err
	}
	ch.Reports++
	r.identities = []string{text(version), number(format), text(configuration), text(transaction)}
	if is := r.identity(); is != r.hash {
		ch.problem("the report of %q of %s has the hash %s, and is to have %s", r.certname, strings.TrimSuffix(moment(r.produced), "Z"), is, r.hash)
	}
	return nil
}

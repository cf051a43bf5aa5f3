package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/command"
)

// A factset are the facts of a node that are to be stored.
type factset struct {
	certname              string
	environment, producer *string
	produced              stamp
	facts                 []factRow // by name
	hash                  string
}

// A factRow is a fact, its value as JSON.
type factRow struct{ name, value string }

// newFactset reads the payload of a command. Rule PDB-FACT-01.
func newFactset(c *command.Command, k *checker) *factset {
	f := &factset{
		certname: nameIn(c), produced: stamp(c.Produced),
		environment: optional(c.Payload, "environment"), producer: optional(c.Payload, "producer"),
	}
	k.key("certname", f.certname)
	values := c.Payload.Get("values")
	if values.Kind() != data.Hash {
		k.refuse("PuppetDB refuses facts that are no hash: they are %v", values.Kind())
	}
	f.facts = make([]factRow, values.Len())
	var scratch []byte
	for i, p := range values.Hash() {
		f.facts[i].name = k.key("fact", p.Key.Text())
		var err error
		if scratch, err = appendJSON(scratch[:0], p.Value); err != nil {
			k.refuse("the fact %q is no JSON: %v", p.Key.Text(), err)
		}
		f.facts[i].value = string(scratch)
	}
	slices.SortStableFunc(f.facts, func(a, b factRow) int { return cmp.Compare(a.name, b.name) })
	f.facts = slices.CompactFunc(f.facts, func(a, b factRow) bool { return a.name == b.name })
	f.hash = hashOfFacts(f.facts)
	return f
}

func hashOfFacts(all []factRow) string {
	var d digest
	for _, f := range all {
		d.add(f.name, f.value)
	}
	return d.sum()
}

// apply stores the facts. Rules PDB-SEM-01, STORE-SQL-05.
func (f *factset) apply(ctx context.Context, tx *conn, o *Outcome) error {
	node, err := tx.node(ctx, f.certname)
	if err != nil {
		return err
	}
	if err := tx.activate(ctx, &node, o); err != nil {
		return err
	}
	var produced stamp
	var hash string
	known, err := tx.one(ctx, []any{&produced, &hash}, "SELECT produced, hash FROM factsets WHERE node = ?", node.id)
	if err != nil {
		return err
	}
	if known && produced.time().After(f.produced.time()) {
		o.Result, o.Newer = Older, produced.time()
		return nil
	}
	o.What, o.Untouched = "facts", len(f.facts)
	if known && hash == f.hash {
		o.Result = Unchanged
	} else if err := f.put(ctx, tx, node.id, known, o); err != nil {
		return err
	}
	_, err = tx.exec(ctx, `INSERT INTO factsets(node, environment, produced, stored, producer, hash) VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (node) DO UPDATE SET
		environment = excluded.environment, produced = excluded.produced, stored = excluded.stored, producer = excluded.producer, hash = excluded.hash`,
		node.id, f.environment, f.produced, stamp(tx.s.o.Now()), f.producer, f.hash)
	return err
}

// put writes the facts that differ from those that are there.
func (f *factset) put(ctx context.Context, tx *conn, node int64, known bool, o *Outcome) error {
	old := map[string]string{}
	if known {
		rows, err := tx.facts(ctx, node)
		if err != nil {
			return err
		}
		for _, r := range rows {
			old[r.name] = r.value
		}
	}
	var rows, gone [][]any
	for _, r := range f.facts {
		was, there := old[r.name]
		delete(old, r.name)
		switch {
		case there && was == r.value:
			continue
		case there:
			o.Changed++
		default:
			o.New++
		}
		rows = append(rows, []any{node, r.name, r.value})
	}
	for name := range old {
		gone = append(gone, []any{name})
	}
	o.Gone, o.Untouched = len(gone), len(f.facts)-len(rows)
	if err := tx.remove(ctx, "facts", []string{"name text"}, node, gone); err != nil {
		return err
	}
	return tx.put(ctx, target{
		"facts", []string{"node bigint", "name text", "value json"}, " ON CONFLICT (node, name) DO UPDATE SET value = excluded.value",
	}, rows, nil)
}

// facts returns those of a node, by name.
func (c *conn) facts(ctx context.Context, node int64) (rows []factRow, err error) {
	err = c.each(ctx, func(scan func(...any) error) error {
		var r factRow
		err := scan(&r.name, &r.value)
		rows = append(rows, r)
		return err
	}, "SELECT name, value FROM facts WHERE node = ? ORDER BY name", node)
	return rows, err
}

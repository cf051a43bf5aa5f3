package sqlstore

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb/command"
)

// Export writes what the store has, node by node, as commands: a line of JSON each, with
// the name, version, certname and payload. Another store takes them in this order.
func (s *Store) Export(ctx context.Context, w io.Writer) error {
	out := bufio.NewWriter(w)
	var all []*Node
	err := s.Nodes(ctx, true, func(n *Node) bool {
		all = append(all, n)
		return true
	})
	for i := 0; err == nil && i < len(all); i++ {
		err = s.look(ctx, func(c *conn) error { return c.export(ctx, out, all[i]) })
	}
	if err != nil {
		return s.failed("export", err)
	}
	return out.Flush()
}

// export writes the commands of one node.
func (c *conn) export(ctx context.Context, w io.Writer, n *Node) error {
	var node int64
	if there, err := c.one(ctx, []any{&node}, "SELECT id FROM nodes WHERE certname = ?", n.Certname); err != nil || !there {
		return err // it has been purged meanwhile
	}
	write := func(name string, version int, payload data.Value) error {
		line, err := appendJSON(nil, data.OfHash([]data.Pair{
			data.P("command", data.OfString(name)), data.P("version", data.OfInt(int64(version))), data.P("certname", data.OfString(n.Certname)), data.P("payload", payload),
		}))
		if err == nil {
			_, err = w.Write(append(line, '\n'))
		}
		return err
	}
	if n.Facts != nil {
		rows, err := c.facts(ctx, node)
		if err != nil {
			return err
		}
		values, err := valuesOf(rows)
		if err == nil {
			err = write(command.ReplaceFacts, 5, data.OfHash(append([]data.Pair{data.P("certname", data.OfString(n.Certname)), data.P("values", values)}, n.Facts.pairs()...)))
		}
		if err != nil {
			return err
		}
	}
	if n.Catalog != nil {
		found, err := c.catalog(ctx, n.Certname)
		if err == nil {
			err = write(command.ReplaceCatalog, 9, found.payload())
		}
		if err != nil {
			return err
		}
	}
	if err := c.exportReports(ctx, node, write); err != nil {
		return err
	}
	if !n.Deactivated.IsZero() {
		return write(command.DeactivateNode, 3, command.Deactivate(n.Certname, command.Options{Produced: n.Deactivated}).Payload)
	}
	return nil
}

func (c *conn) exportReports(ctx context.Context, node int64, write func(string, int, data.Value) error) error {
	type row struct {
		id       int64
		produced stamp
		producer *string
	}
	var rows []row
	err := c.each(ctx, func(scan func(...any) error) error {
		var r row
		err := scan(&r.id, &r.produced, &r.producer)
		rows = append(rows, r)
		return err
	}, "SELECT id, produced, producer FROM reports WHERE node = ? ORDER BY produced, id", node)
	for i := 0; err == nil && i < len(rows); i++ {
		var r *model.Report
		if r, err = c.report(ctx, rows[i].id); err != nil {
			break
		}
		var cmd *command.Command
		cmd, err = command.Report(r, command.Options{Produced: rows[i].produced.time(), Producer: or(rows[i].producer)})
		if err == nil {
			err = write(command.StoreReport, cmd.Version, cmd.Payload)
		}
	}
	return err
}

// pairs are what commands have of when and by whom they were made.
func (m *Made) pairs() []data.Pair {
	produced, _ := stamp(m.Produced).Value() // there is no error
	return []data.Pair{
		data.P("environment", orNil(m.Environment)), data.P("producer_timestamp", data.OfString(fmt.Sprint(produced))), data.P("producer", orNil(m.Producer)),
	}
}

func orNil(s string) data.Value {
	if s == "" {
		return data.Value{}
	}
	return data.OfString(s)
}

// payload returns the catalog as its command has it.
func (f *StoredCatalog) payload() data.Value {
	resources := make([]data.Value, len(f.Catalog.Resources))
	for i := range resources {
		resources[i] = resourcePayload(&f.Catalog.Resources[i])
	}
	edges := make([]data.Value, len(f.edges))
	for i, e := range f.edges {
		end := func(typ, title string) data.Value {
			return data.OfHash([]data.Pair{data.P("type", data.OfString(typ)), data.P("title", data.OfString(title))})
		}
		edges[i] = data.OfHash([]data.Pair{
			data.P("source", end(e.sourceType, e.sourceTitle)), data.P("target", end(e.targetType, e.targetTitle)), data.P("relationship", data.OfString(e.relation)),
		})
	}
	return data.OfHash(append([]data.Pair{
		data.P("version", f.Catalog.Version), data.P("code_id", orNil(f.Catalog.CodeID)), data.P("catalog_uuid", orNil(f.Catalog.CatalogUUID)),
		data.P("resources", data.OfList(resources)), data.P("edges", data.OfList(edges)), data.P("job_id", orNil(f.JobID)),
		data.P("certname", data.OfString(f.Catalog.Name)), data.P("transaction_uuid", orNil(f.TransactionUUID)),
	}, f.pairs()...))
}

func resourcePayload(r *model.Resource) data.Value {
	pairs := []data.Pair{
		data.P("type", data.OfString(r.Type)), data.P("title", data.OfString(r.Title)), data.P("tags", data.OfStrings(r.Tags)),
		data.P("exported", data.OfBool(r.Exported)), data.P("file", orNil(r.File)),
	}
	if r.Line != 0 {
		pairs = append(pairs, data.P("line", data.OfInt(r.Line)))
	}
	if r.Kind != "" {
		pairs = append(pairs, data.P("kind", data.OfString(r.Kind)))
	}
	if len(r.Sensitive) > 0 {
		pairs = append(pairs, data.P("sensitive_parameters", data.OfStrings(r.Sensitive)))
	}
	return data.OfHash(append(pairs, data.P("parameters", r.Parameters)))
}

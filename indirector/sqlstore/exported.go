package sqlstore

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// A Collection asks for exported resources.
type Collection struct {
	Type   string     // exactly; "" is all types
	Filter data.Value // as a collector has it: [left, op, right]; nil is all
	Host   string     // who asks, and is not asked
	// Inactive, unless it is nil, is called for each resource that fits and is not found,
	// because the node that exports it is not active.
	Inactive func(*Node)
}

// maxFound is how many rows an answer may have.
const maxFound = 1_000_000

// Exported returns what active nodes export, by certname, type and title. The resources
// are the caller's: each has its Exporter, and when that one's catalog was produced and
// stored. Rules STORE-SQL-06, STORE-COL-05, STORE-COL-10, STORE-COL-11.
func (s *Store) Exported(ctx context.Context, q Collection) (found []*model.Resource, err error) {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return nil, err
	}
	ctx, end := s.asks(ctx, "exported "+q.Type)
	defer func() { end(fmt.Sprintf("%d resources", len(found)), err) }()
	text, args := q.statement(f)
	var inactive []Node
	err = s.look(ctx, func(c *conn) error {
		found, inactive = nil, nil
		var row exportedRow
		rows, columns, tags := 0, row.columns(), make(map[string][]string)
		return c.each(ctx, func(scan func(...any) error) error {
			if rows++; rows > maxFound {
				return fmt.Errorf("more than %d exported resources are to be looked at: ask for a tag", maxFound)
			}
			if err := scan(columns...); err != nil {
				return err
			}
			r, err := row.resource(f, tags)
			switch n := (Node{Certname: row.exporter, Deactivated: row.deactivated.time(), Expired: row.expired.time()}); {
			case err != nil || r == nil:
			case n.Inactive().IsZero():
				found = append(found, r)
			default:
				inactive = append(inactive, n)
			}
			return err
		}, text, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("collect from %s: %w", s.name, err)
	}
	// A database would sort all that is in the rows.
	slices.SortFunc(found, func(a, b *model.Resource) int {
		return cmp.Or(strings.Compare(a.Exporter, b.Exporter), strings.Compare(a.Type, b.Type), strings.Compare(a.Title, b.Title))
	})
	slices.SortStableFunc(inactive, func(a, b Node) int { return strings.Compare(a.Certname, b.Certname) })
	for i := range inactive {
		q.Inactive(&inactive[i])
	}
	return found, nil
}

// statement returns the SQL that finds every row that can fit.
func (q Collection) statement(f *filter) (text string, args []any) {
	text = `SELECT n.certname, r.type, r.title, p.value, d.tags, d.file, r.line, r.kind, r.sensitive, c.produced, c.stored, n.deactivated, n.expired FROM `
	var where []string
	and := func(condition string, value string) {
		where = append(where, condition)
		args = append(args, value)
	}
	if tag, ok := f.needs("tag"); ok {
		text += "exported_tags t CROSS JOIN "
		and("t.tag = ?", strings.ToLower(tag))
		if q.Type != "" {
			and("t.type = ?", q.Type)
		}
		where = append(where, "r.node = t.node AND r.type = t.type AND r.title = t.title")
	}
	// SQLite takes the tables of a cross join in this order.
	text += "catalog_resources r CROSS JOIN nodes n CROSS JOIN catalogs c CROSS JOIN parameter_sets p CROSS JOIN declarations d WHERE "
	where = append(where, "r.exported")
	if q.Type != "" {
		and("r.type = ?", q.Type)
	}
	if title, ok := f.needs("title"); ok {
		and("r.title = ?", title)
	}
	and("n.certname <> ?", q.Host)
	where = append(where, "n.id = r.node AND c.node = r.node AND p.id = r.parameters AND d.id = r.declaration")
	if q.Inactive == nil {
		where = append(where, "n.deactivated IS NULL AND n.expired IS NULL")
	}
	return text + strings.Join(where, " AND "), args
}

// An exportedRow is what a row has. One is used for all rows of an answer.
type exportedRow struct {
	exporter, typ, title, parameters, tags string
	file, kind, sensitive                  *string
	line                                   *int64
	produced, stored, deactivated, expired stamp
}

// columns are where a row is read to, in the order of the statement.
func (e *exportedRow) columns() []any {
	return []any{
		&e.exporter, &e.typ, &e.title, &e.parameters, &e.tags, &e.file, &e.line, &e.kind, &e.sensitive,
		&e.produced, &e.stored, &e.deactivated, &e.expired,
	}
}

// resource makes the resource of a row, or nil if it does not fit. Seen are lists of tags by
// their JSON: many rows have the same.
func (e *exportedRow) resource(f *filter, seen map[string][]string) (*model.Resource, error) {
	failed := func(what string, err error) error {
		return fmt.Errorf("the %s of %s[%s] of %q: %w", what, e.typ, e.title, e.exporter, err)
	}
	parameters, err := decode(e.parameters)
	if err != nil {
		return nil, failed("parameters", err)
	}
	tags, there := seen[e.tags]
	if !there {
		if tags, err = decodeTexts(e.tags); err != nil {
			return nil, failed("tags", err)
		}
		seen[e.tags] = tags
	}
	if !f.fits(filtered{e.title, tags, parameters}) {
		return nil, nil
	}
	r := &model.Resource{
		Type: e.typ, Title: e.title, Exported: true, Exporter: e.exporter, Parameters: withoutNulls(parameters), Tags: slices.Clone(tags),
		File: or(e.file), Line: or(e.line), Kind: or(e.kind), Produced: e.produced.time(), Stored: e.stored.time(),
	}
	if r.Sensitive, err = decodeTexts(or(e.sensitive)); err != nil {
		return nil, failed("Sensitive parameters", err)
	}
	return r, nil
}

// or returns what p points at, or the zero value.
func or[T any](p *T) (v T) {
	if p != nil {
		v = *p
	}
	return v
}

// decodeTexts reads a list of texts; "" is none.
func decodeTexts(text string) ([]string, error) {
	v, err := decode(text)
	l := v.List()
	if err != nil || len(l) == 0 {
		return nil, err
	}
	texts := make([]string, len(l))
	for i := range l {
		texts[i] = l[i].Text()
	}
	return texts, nil
}

// withoutNulls leaves out what is undef: a parameter without value is none. Rule
// PDB-QRY-02.
func withoutNulls(v data.Value) data.Value {
	var names []string
	for _, p := range v.Hash() {
		if p.Value.IsNil() {
			names = append(names, p.Key.Text())
		}
	}
	if names == nil {
		return v
	}
	return v.Without(names...)
}

// asks opens the span of a question.
func (s *Store) asks(ctx context.Context, what string) (context.Context, func(answer string, err error)) {
	kind := traces.File
	if s.o.URL != "" {
		kind = traces.Network
	}
	ctx, span := traces.Start(ctx, kind, "ask "+s.base()+" for "+what)
	return ctx, func(answer string, err error) {
		if err != nil {
			answer = ""
		}
		span.End(answer, traces.Because{}, err)
	}
}

package sqlstore

import (
	"context"
	"fmt"
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
	err = s.look(ctx, func(c *conn) error {
		rows := 0
		return c.each(ctx, func(scan func(...any) error) error {
			if rows++; rows > maxFound {
				return fmt.Errorf("more than %d exported resources are to be looked at: ask for a tag", maxFound)
			}
			r, n, err := readExported(scan, f)
			switch {
			case err != nil || r == nil:
				return err
			case n.Inactive().IsZero():
				found = append(found, r)
			default:
				q.Inactive(n)
			}
			return nil
		}, text, args...)
	})
	if err != nil {
		return nil, fmt.Errorf("collect from %s: %w", s.name, err)
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
	return text + strings.Join(where, " AND ") + " ORDER BY n.certname, r.type, r.title", args
}

// readExported reads a row, and the node that exports it. The resource is nil if it does
// not fit.
func readExported(scan func(...any) error, f *filter) (*model.Resource, *Node, error) {
	r := &model.Resource{Exported: true}
	var parameters, tags string
	var file, kind, sensitive *string
	var line *int64
	var produced, stored, deactivated, expired stamp
	if err := scan(&r.Exporter, &r.Type, &r.Title, &parameters, &tags, &file, &line, &kind, &sensitive, &produced, &stored, &deactivated, &expired); err != nil {
		return nil, nil, err
	}
	var err error
	if r.Parameters, err = decode(parameters); err != nil {
		return nil, nil, fmt.Errorf("the parameters of %s of %q: %w", r.Ref(), r.Exporter, err)
	}
	if r.Tags, err = decodeTexts(tags); err != nil {
		return nil, nil, fmt.Errorf("the tags of %s of %q: %w", r.Ref(), r.Exporter, err)
	}
	if !f.fits(filtered{r.Title, r.Tags, r.Parameters}) {
		return nil, nil, nil
	}
	r.Parameters = withoutNulls(r.Parameters)
	r.File, r.Line, r.Kind = or(file), or(line), or(kind)
	r.Produced, r.Stored = produced.time(), stored.time()
	r.Sensitive, err = decodeTexts(or(sensitive))
	return r, &Node{Certname: r.Exporter, Deactivated: deactivated.time(), Expired: expired.time()}, err
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

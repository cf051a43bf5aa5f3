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

// EachExported calls yield with what active nodes export, by certname, type and title. The
// resources are the caller's: each has its Exporter, and when that one's catalog was
// produced and stored. Until it is yielded, a resource is held as the store has it, in
// half the memory. An error of yield ends it. Rules STORE-SQL-06, STORE-COL-05,
// STORE-COL-10, STORE-COL-11.
func (s *Store) EachExported(ctx context.Context, q Collection, yield func(*model.Resource) error) (err error) {
	f, err := parseFilter(q.Filter)
	if err != nil {
		return err
	}
	var found []*exportedRow
	var inactive []Node
	ctx, end := s.asks(ctx, "exported "+q.Type)
	text, args := q.statement(f)
	texts := exportedTexts{kept: map[string]*string{}, lists: map[string][]string{}}
	err = s.look(ctx, func(c *conn) error {
		found, inactive = nil, nil
		var row exportedRow
		rows, columns := 0, row.columns()
		return c.each(ctx, func(scan func(...any) error) error {
			if rows++; rows > maxFound {
				return fmt.Errorf("more than %d exported resources are to be looked at: ask for a tag", maxFound)
			}
			if err := scan(columns...); err != nil {
				return err
			}
			fits, err := row.fits(f, texts)
			switch n := (Node{Certname: row.exporter, Deactivated: row.deactivated.time(), Expired: row.expired.time()}); {
			case err != nil || !fits:
			case n.Inactive().IsZero():
				found = append(found, texts.shared(row))
			default:
				inactive = append(inactive, n)
			}
			return err
		}, text, args...)
	})
	end(fmt.Sprintf("%d resources", len(found)), err)
	if err != nil {
		return fmt.Errorf("collect from %s: %w", s.name, err)
	}
	// A database would sort all that is in the rows.
	slices.SortFunc(found, func(a, b *exportedRow) int {
		return cmp.Or(strings.Compare(a.exporter, b.exporter), strings.Compare(a.typ, b.typ), strings.Compare(a.title, b.title))
	})
	slices.SortStableFunc(inactive, func(a, b Node) int { return strings.Compare(a.Certname, b.Certname) })
	for i := range inactive {
		q.Inactive(&inactive[i])
	}
	for i := range found {
		r, err := found[i].resource(texts)
		if err != nil {
			return fmt.Errorf("collect from %s: %w", s.name, err)
		}
		if err := yield(r); err != nil {
			return err
		}
		found[i] = nil // the collector may have it
	}
	return nil
}

// exportedTexts has what many rows of an answer have in common.
type exportedTexts struct {
	kept  map[string]*string
	lists map[string][]string // of tags, by their JSON
}

// shared returns a copy of a row whose texts are those of others where they are the same.
func (t exportedTexts) shared(row exportedRow) *exportedRow {
	row.exporter, row.typ, row.tags = *t.same(row.exporter), *t.same(row.typ), *t.same(row.tags)
	for _, p := range []**string{&row.file, &row.kind, &row.sensitive} {
		if *p != nil {
			*p = t.same(**p)
		}
	}
	return &row
}

func (t exportedTexts) same(s string) *string {
	p := t.kept[s]
	if p == nil {
		own := s // its address escapes, and that of the argument would at each call
		p = &own
		t.kept[s] = p
	}
	return p
}

// tags reads a list of tags, which is not to be changed.
func (t exportedTexts) tags(text string) ([]string, error) {
	tags, there := t.lists[text]
	if there {
		return tags, nil
	}
	tags, err := decodeTexts(text)
	if err == nil {
		t.lists[text] = tags
	}
	return tags, err
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

// failed is the error of what a row has.
func (e *exportedRow) failed(what string, err error) error {
	return fmt.Errorf("the %s of %s[%s] of %q: %w", what, e.typ, e.title, e.exporter, err)
}

// fits reports whether a row is wanted. Its parameters are read if the filter may look at
// them.
func (e *exportedRow) fits(f *filter, t exportedTexts) (bool, error) {
	if f == nil {
		return true, nil
	}
	tags, err := t.tags(e.tags)
	if err != nil {
		return false, e.failed("tags", err)
	}
	looks := filtered{title: e.title, tags: tags}
	if f.readsParameters() {
		if looks.parameters, err = decode(e.parameters); err != nil {
			return false, e.failed("parameters", err)
		}
	}
	return f.fits(looks), nil
}

// resource makes the resource of a row.
func (e *exportedRow) resource(t exportedTexts) (*model.Resource, error) {
	parameters, err := decode(e.parameters)
	if err != nil {
		return nil, e.failed("parameters", err)
	}
	tags, err := t.tags(e.tags)
	if err != nil {
		return nil, e.failed("tags", err)
	}
	r := &model.Resource{
		Type: e.typ, Title: e.title, Exported: true, Exporter: e.exporter, Parameters: withoutNulls(parameters), Tags: slices.Clone(tags),
		File: or(e.file), Line: or(e.line), Kind: or(e.kind), Produced: e.produced.time(), Stored: e.stored.time(),
	}
	if r.Sensitive, err = decodeTexts(or(e.sensitive)); err != nil {
		return nil, e.failed("Sensitive parameters", err)
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

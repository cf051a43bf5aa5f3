package compile

import (
	"slices"
	"strconv"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
)

// A collector makes virtual resources real, in each round. It is a value of the language,
// too. Rules LANG-RES-12, LANG-RES-13.
type collector struct {
	c         *compilation
	scope     *scope
	typ       *resourceType
	query     *eval.Query
	exported  bool
	params    []param // to override
	file      string
	line      int
	collected []*resource
	has       map[*resource]bool
	fixed     []data.Value // of realize: references that are not found yet
	isFixed   bool
	done      bool      // nothing is left of a fixed set
	empty     []operand // what stands for it in a relationship if it collects nothing
	learned   learned
}

// String returns what Puppet calls a collector.
func (c *collector) String() string {
	if c.exported {
		return "Exported-Collector[" + c.typ.name + "]"
	}
	return "Catalog-Collector[" + c.typ.name + "]"
}

// RubyClass is the class that a collector has in Puppet.
func (c *collector) RubyClass() string {
	if c.exported {
		return "Puppet::Pops::Evaluator::Collectors::ExportedCollector"
	}
	return "Puppet::Pops::Evaluator::Collectors::CatalogCollector"
}

// EqualRich reports whether o is c.
func (c *collector) EqualRich(o data.RichValue) bool { return c == o }

// Collect implements eval.Catalog.
func (c *compilation) Collect(st eval.Statement, q *eval.Collection) (data.Value, error) {
	t, err := c.typeNamed(q.Type)
	if err != nil {
		return data.Value{}, err
	}
	if t == nil {
		return data.Value{}, eval.Errorf("Resource type %s doesn't exist", q.Type)
	}
	s := scopeOf(st.Scope)
	col := &collector{
		c: c, scope: s, typ: t, query: q.Query, exported: q.Exported, file: st.File, line: st.Line,
		has: map[*resource]bool{}, params: c.params(s, q.Attrs, origins.Collector),
	}
	c.collectors = append(c.collectors, col)
	return data.OfRich(col), nil
}

// evaluateCollectors evaluates all once, and reports whether one of them found something.
func (c *compilation) evaluateCollectors() (bool, error) {
	found := false
	for _, col := range c.collectors {
		some, err := col.round()
		if err != nil {
			return false, err
		}
		found = found || some
	}
	c.collectors = slices.DeleteFunc(c.collectors, func(col *collector) bool { return col.done })
	return found, nil
}

// round evaluates a collector once. It is a part if it finds something, or asks others.
func (c *collector) round() (bool, error) {
	before := len(c.collected)
	if c.asks() {
		part := c.c.thread.Part("collector", c.text(), c.file, c.line)
		found, err := c.evaluate()
		part.End(collected(len(c.collected)-before), err)
		return found, err
	}
	found, err := c.evaluate()
	if found || err != nil {
		c.part(len(c.collected)-before, err)
	}
	return found, err
}

// asks reports whether the collector asks for what other nodes export.
func (c *collector) asks() bool {
	return c.exported && c.c.o.Eval.StoreConfigs && c.c.o.Exported != nil
}

// collectedNothing adds a part for each collector that never found anything.
func (c *compilation) collectedNothing() error {
	for _, col := range c.collectors {
		if len(col.collected) == 0 && !col.asks() {
			col.part(0, nil)
		}
	}
	return nil
}

func (c *collector) part(found int, err error) {
	if c.c.thread.IsTraced() {
		c.c.thread.Part("collector", c.text(), c.file, c.line).End(collected(found), err)
	}
}

func collected(n int) string { return strconv.Itoa(n) + " collected" }

// text is how the collector would be written.
func (c *collector) text() string {
	if c.isFixed {
		return "realize"
	}
	open, end := " <|", "|>"
	if c.exported {
		open, end = " <<|", "|>>"
	}
	if c.query == nil {
		return c.typ.name + open + " " + end
	}
	return c.typ.name + open + " " + data.FilterText(filterOf(c.query), maxText) + " " + end
}

// maxText is how much of a query is shown, in bytes.
const maxText = 1000

func (c *collector) evaluate() (bool, error) {
	if c.exported && !c.c.o.Eval.StoreConfigs {
		return false, nil
	}
	if c.isFixed {
		return c.realize()
	}
	var fresh []*resource
	for i, r := range c.typ.members {
		if i&0xff == 0 {
			if err := c.c.ctx.Err(); err != nil {
				return false, err
			}
		}
		if c.exported && !r.exported || c.query != nil && !c.c.fits(c.query, r) {
			continue
		}
		r.virtual = false
		if !c.has[r] {
			fresh = append(fresh, r)
		}
	}
	if c.asks() {
		others, err := c.others()
		if err != nil {
			return false, err
		}
		fresh = append(fresh, others...)
	}
	for _, r := range fresh {
		if err := c.override(r); err != nil {
			return false, err
		}
		c.has[r] = true
	}
	c.collected = append(c.collected, fresh...)
	return len(fresh) > 0, nil
}

// others adds what other nodes export to the catalog, and returns what was not there yet.
// Rules STORE-COL-01, STORE-COL-02.
func (c *collector) others() (fresh []*resource, err error) {
	found, err := c.c.o.Exported(c.c.thread.Context(), c.typ.name, filterOf(c.query))
	if err != nil {
		return nil, err
	}
	c.learn(found)
	for _, m := range found.Resources {
		t, err := c.c.typeNamed(m.Type)
		if err != nil {
			return nil, err
		}
		if t == nil {
			return nil, eval.Errorf("Resource type %s doesn't exist", m.Type)
		}
		if old := c.c.lookup(t, m.Title); old != nil {
			if old.exporter != m.Exporter || m.Exporter != "" && old.title != m.Title {
				c.c.why = c.twice(old, m)
				return nil, eval.Errorf("A duplicate resource was found while collecting exported resources, with the type and title %s", m.Ref())
			}
			continue
		}
		r := &resource{
			typ: t, title: m.Title, key: m.Title, kind: t.kind(), scope: c.scope, source: c.scope.source, def: t.def,
			params: c.exportedParams(m), exporter: m.Exporter,
		}
		if err := c.c.complete(r, c.scope); err != nil {
			return nil, err
		}
		if err := c.c.addResource(c.scope, r); err != nil {
			return nil, err
		}
		fresh = append(fresh, r)
	}
	return fresh, nil
}

// exportedParams returns the attributes of a resource that another node exports.
func (c *collector) exportedParams(m *model.Resource) []param {
	from := origins.Origin{Kind: origins.Exported, File: m.File, Line: int(m.Line)}
	if m.Exporter != "" {
		from.Level = "of " + m.Exporter
	}
	origin := c.c.origin(from)
	all := m.Parameters.Hash()
	out := make([]param, len(all), len(all)+2)
	for i, p := range all {
		out[i] = param{name: p.Key.Text(), value: types.OfData(p.Value), source: c.scope.source, origin: origin}
	}
	return out
}

// filterOf returns a query as it is asked of others.
func filterOf(q *eval.Query) data.Value {
	switch {
	case q == nil:
		return data.Value{}
	case q.Left != nil:
		return data.OfList([]data.Value{filterOf(q.Left), data.OfString(q.Op), filterOf(q.Right)})
	}
	value := q.Value
	if value.Kind() == data.Rich {
		value = data.OfString(eval.Text(value)) // a reference
	}
	return data.OfList([]data.Value{q.Name, data.OfString(q.Op), value})
}

// override gives a resource the attributes of the collector.
func (c *collector) override(r *resource) error {
	if len(c.params) == 0 {
		return nil
	}
	c.scope.source.overrides = true
	o := &resource{
		typ: c.typ, title: r.title, file: c.file, line: c.line, scope: c.scope, source: c.scope.source,
		params: append([]param(nil), c.params...),
	}
	if c.c.hasDefaults {
		if err := c.c.addDefaults(o, c.scope); err != nil {
			return err
		}
	}
	return c.c.override(o)
}

// realize looks for a fixed set of resources.
func (c *collector) realize() (bool, error) {
	found := false
	var left []data.Value
	for _, ref := range c.fixed {
		t, title, _, err := c.c.refOf(ref)
		if err != nil && written.FindString(eval.Text(ref)) == "" {
			err = eval.Errorf("Puppet::Parser::Compiler failed with error ArgumentError: %w", err)
		}
		if err != nil {
			return false, err
		}
		r := c.c.lookup(t, title)
		if r == nil {
			left = append(left, ref)
			continue
		}
		r.virtual = false
		if !c.has[r] {
			c.has[r] = true
			c.collected = append(c.collected, r)
			found = true
		}
	}
	c.fixed, c.done = left, len(left) == 0
	return found, nil
}

// fits reports whether a query is true of a resource.
func (c *compilation) fits(q *eval.Query, r *resource) bool {
	switch q.Op {
	case "and":
		return c.fits(q.Left, r) && c.fits(q.Right, r)
	case "or":
		return c.fits(q.Left, r) || c.fits(q.Right, r)
	}
	name := eval.Text(q.Name)
	if name == "tag" && q.Op == "==" {
		tags := []data.Value{q.Value}
		if q.Value.Kind() == data.List {
			tags = q.Value.List()
		}
		return slices.ContainsFunc(tags, func(v data.Value) bool { return c.isTagged(r, eval.Text(v)) })
	}
	v := r.get(name)
	if q.Op == "!=" {
		return !eval.Equal(v, q.Value)
	}
	if v.Kind() == data.List {
		return slices.ContainsFunc(v.List(), func(x data.Value) bool { return eval.Equal(x, q.Value) })
	}
	return eval.Equal(v, q.Value)
}

// isTagged reports whether a resource or one of its containers has a tag.
func (c *compilation) isTagged(r *resource, tag string) bool {
	id := c.tagInfo(tag).id
	for {
		if r.tags.has(id) {
			return true
		}
		around := r.scope.resource
		if around == nil || around == r {
			return false
		}
		r = around
	}
}

package compile

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
	"indirtui/indirector/origins"
)

// An operand is one side of a relationship: a resource, or what a collector finds.
type operand struct {
	typ       *resourceType
	title     string
	value     data.Value // as the program has it
	collector *collector // nil if it is a resource
}

// A relation is one that was written, which is applied when the catalog is finished.
type relation struct {
	source, target operand
	param          string
	origin         int32
}

// Relate implements eval.Catalog. Rule LANG-REL-01.
func (c *compilation) Relate(st eval.Statement, op string, left, right data.Value) (data.Value, error) {
	l, err := c.operands(left)
	if err != nil {
		return data.Value{}, err
	}
	r, err := c.operands(right)
	if err != nil {
		return data.Value{}, err
	}
	source, target := l, r
	if strings.HasPrefix(op, "<") {
		source, target = r, l
	}
	name := "before"
	if strings.Contains(op, "~") {
		name = "notify"
	}
	at := c.origin(origins.Origin{Kind: origins.Relation, File: st.File, Line: st.Line})
	for _, s := range source {
		for _, t := range target {
			c.relations = append(c.relations, relation{s, t, name, at})
		}
	}
	if len(r) == 0 {
		return valuesOf(l), nil
	}
	if len(r) == 1 && r[0].collector != nil {
		r[0].collector.empty = l
	}
	return valuesOf(r), nil
}

func valuesOf(all []operand) data.Value {
	out := make([]data.Value, len(all))
	for i, o := range all {
		out[i] = o.value
	}
	return data.OfList(out)
}

// operands returns what one side means, each once.
func (c *compilation) operands(v data.Value) ([]operand, error) {
	var out []operand
	for _, x := range eval.Flatten([]data.Value{v}) {
		o, err := c.operand(x)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(out, func(p operand) bool { return p.collector == o.collector && data.Equal(p.value, o.value) }) {
			out = append(out, o)
		}
	}
	return out, nil
}

func (c *compilation) operand(v data.Value) (operand, error) {
	if col, ok := v.Rich().(*collector); ok {
		return operand{value: v, collector: col}, nil
	}
	if text, ok := v.AsStr(); ok && v.Kind() == data.String {
		t, err := types.Parse(text, func(name string) types.Type {
			if known, err := c.HasType(name); !known || err != nil {
				return nil
			}
			t, _ := types.AsType(types.OfReference(types.Reference{Type: capitalized(name)}))
			return t
		})
		if err != nil {
			return operand{}, err
		}
		v = types.OfType(t)
	}
	t, ok := types.AsType(v)
	if !ok {
		return operand{}, eval.Issuef("Illegal relationship operand, can not form a relationship with %s. A Catalog type is required.", withArticle(eval.Label(v)))
	}
	ref, ok := types.AsReference(t)
	if !ok {
		return operand{}, eval.Issuef("Illegal relationship operand, can not form a relationship with something of type %s. A Catalog type is required.", t)
	}
	typ, title, err := c.reference(ref.Type, ref.Title)
	return operand{typ: typ, title: title, value: v}, err
}

func withArticle(s string) string {
	if s != "" && strings.IndexByte("aeiouyAEIOUY", s[0]) >= 0 {
		return "an " + s
	}
	return "a " + s
}

// A related is a resource, and how messages refer to it.
type related struct {
	r    *resource
	text string
}

func (c *compilation) related(o operand) related {
	return related{c.lookup(o.typ, o.title), c.refText(o.typ, o.title)}
}

func (c *collector) related() []related {
	if c == nil {
		return nil
	}
	out := make([]related, len(c.collected))
	for i, r := range c.collected {
		out[i] = related{r, r.ref()}
	}
	return out
}

// handedOn is like related, for an operand that a collector without resources hands on:
// Puppet has made no resource of it, so messages have the type as it is written.
func (c *compilation) handedOn(o operand) related {
	s := c.related(o)
	s.text = eval.Text(o.value)
	return s
}

// sources returns what one operand means on the left: a collector that found nothing
// hands on what is left of it.
func (c *compilation) sources(o operand) []related {
	if o.collector == nil {
		return []related{c.related(o)}
	}
	for range len(c.collectors) + 1 {
		if o.collector == nil {
			return []related{c.handedOn(o)}
		}
		if found := o.collector.related(); len(found) > 0 {
			return found
		}
		if len(o.collector.empty) != 1 {
			break
		}
		o = o.collector.empty[0]
	}
	if o.collector == nil {
		return []related{c.handedOn(o)}
	}
	var out []related
	for _, x := range o.collector.empty {
		if x.collector == nil {
			out = append(out, c.handedOn(x))
		} else {
			out = append(out, x.collector.related()...)
		}
	}
	return out
}

// A grown is the list of a relationship attribute that grows. Puppet appends to the list
// that resources of one expression share, if they have one.
type grown struct {
	r      *resource // nil if the list is shared
	name   string
	origin int32
}

// relate applies the relationships. Lists grow, and become values at the end.
func (c *compilation) relate() error {
	lists := map[grown][]data.Value{}
	for i, rel := range c.relations {
		if i&0xff == 0 {
			if err := c.ctx.Err(); err != nil {
				return err
			}
		}
		targets := rel.target.collector.related()
		if rel.target.collector == nil {
			targets = []related{c.related(rel.target)}
		}
		for _, s := range c.sources(rel.source) {
			for _, t := range targets {
				switch {
				case s.r != nil:
				case strings.HasSuffix(s.text, "[]"): // a type
					return untitled(s.text)
				default:
					return eval.Errorf("Could not find resource '%s' for relationship on '%s'", s.text, t.text)
				}
				if t.r == nil {
					return eval.Errorf("Could not find resource '%s' for relationship from '%s'", t.text, s.text)
				}
				at := c.grow(s.r, rel, lists)
				lists[at] = append(lists[at], data.OfString(t.text))
			}
		}
	}
	if len(lists) == 0 {
		return nil
	}
	for _, r := range c.all {
		for i := range r.params {
			p := &r.params[i]
			if !isRelationship(p.name) {
				continue
			}
			for _, at := range []grown{{r, p.name, 0}, {nil, p.name, p.origin}} {
				if l, ok := lists[at]; ok {
					p.value = data.OfList(l)
				}
			}
		}
	}
	return nil
}

// grow returns which list grows for a relation, and begins it with what is there.
func (c *compilation) grow(r *resource, rel relation, lists map[grown][]data.Value) grown {
	p := r.param(rel.param)
	at := grown{r, rel.param, 0}
	if p != nil && p.origin != 0 && p.value.Kind() == data.List {
		if _, own := lists[at]; !own {
			at = grown{nil, rel.param, p.origin}
		}
	}
	if _, known := lists[at]; known {
		return at
	}
	switch {
	case p == nil:
		r.params = append(r.params, param{name: rel.param, source: r.source, origin: rel.origin})
		lists[at] = nil
	case at.r != nil: // the list replaces a single value
		p.origin = c.replacing(rel.origin, p.origin)
		fallthrough
	default:
		lists[at] = listOf(p.value)
	}
	return at
}

// listOf returns a copy of a list, or the list of the one value.
func listOf(v data.Value) []data.Value {
	switch v.Kind() {
	case data.Nil:
		return nil
	case data.List:
		return append([]data.Value(nil), v.List()...)
	}
	return []data.Value{v}
}

package compile

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/model"
)

// Exports are resources that other nodes export.
type Exports struct {
	Resources []*model.Resource
	By        string // who answered: "terminus store_configs"
}

// A Collection is what a collector of exported resources learned of other nodes. Rules
// STORE-COL-03, STORE-COL-05, STORE-COL-12.
type Collection struct {
	Collector string // as it would be written
	File      string // "" if it is not known
	Line      int
	Asked     int    // how often
	Changed   bool   // an answer differed from the one before
	By        string // who answered last
	Exporters []Exporter
	// Here are references of what was found and not taken, because another collector
	// had brought it already.
	Here []string
	// Nearly are sentences about what was not found, but is nearly what was asked for.
	Nearly []string
	// Secrets are attributes that were Sensitive and are not stored.
	Secrets []Secret
}

// An Exporter is a node whose resources a collector found, in the last answer.
type Exporter struct {
	Node             string
	Found, Taken     int       // resources
	Produced, Stored time.Time // its catalog; zero if unknown
	Queued           time.Time // a newer one; zero if none was by this process
}

// A Secret is an attribute that is not stored.
type Secret struct{ Name, Ref, Node string }

func (s Secret) String() string {
	return fmt.Sprintf("%s of %s was Sensitive at %s and is not in the store", s.Name, s.Ref, s.Node)
}

// learned is what a collector keeps for its Collection.
type learned struct {
	asked   int
	changed bool
	last    Exports
}

// learn keeps an answer, if that is wanted.
func (c *collector) learn(found Exports) {
	l := &c.learned
	if c.c.o.Collected == nil {
		return
	}
	same := slices.EqualFunc(l.last.Resources, found.Resources, func(a, b *model.Resource) bool {
		return a.Exporter == b.Exporter && a.Ref() == b.Ref() && data.Equal(a.Parameters, b.Parameters)
	})
	l.changed = l.changed || l.asked > 0 && !same
	l.asked++
	l.last = found
}

// reportCollections gives away what was learned.
func (c *compilation) reportCollections() {
	for _, col := range c.collectors {
		if col.learned.asked > 0 {
			c.o.Collected(col.collection())
		}
	}
}

func (c *collector) collection() Collection {
	l := &c.learned
	out := Collection{Collector: c.text(), File: c.file, Line: c.line, Asked: l.asked, Changed: l.changed, By: l.last.By}
	nodes := map[string]*Exporter{}
	for _, m := range l.last.Resources {
		n := nodes[m.Exporter]
		if n == nil {
			n = &Exporter{Node: m.Exporter, Produced: m.Produced, Stored: m.Stored, Queued: m.Queued}
			nodes[m.Exporter] = n
		}
		n.Found++
		switch old := c.c.named(m); {
		case old != nil && c.has[old]:
			n.Taken++
		case old != nil:
			out.Here = append(out.Here, m.Ref())
		}
		for _, name := range m.Sensitive {
			if _, stored := m.Parameters.Lookup(name); !stored {
				out.Secrets = append(out.Secrets, Secret{name, m.Ref(), m.Exporter})
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(nodes)) {
		out.Exporters = append(out.Exporters, *nodes[name])
	}
	if len(l.last.Resources) == 0 && len(c.collected) == 0 && c.query != nil {
		out.Nearly = c.nearly()
	}
	return out
}

// named returns the resource of this catalog that has the title of m; nil if none has.
func (c *compilation) named(m *model.Resource) *resource {
	t, err := c.typeNamed(m.Type)
	if t == nil || err != nil {
		return nil
	}
	return c.lookup(t, m.Title)
}

// maxNearly is how many sentences are enough.
const maxNearly = 5

// nearly are sentences about exported resources of this node, and about those that other
// collectors were given, that would be found if kind and case of letters did not count.
// Nothing more is asked. Rule STORE-COL-05.
func (c *collector) nearly() (all []string) {
	add := func(ref, where string, q *eval.Query, v data.Value) {
		if len(all) < maxNearly {
			all = append(all, fmt.Sprintf("%s%s has %s, not %s; kind and case count in the store", ref, where, comparison(q.Name, v), comparison(q.Name, q.Value)))
		}
	}
	for _, r := range c.typ.members {
		if r.exported && r.exporter == "" {
			get := func(q *eval.Query) data.Value { return c.c.attribute(r, q) }
			if fits, q := loosely(c.query, get); fits && q != nil {
				add(r.ref(), " here", q, get(q))
			}
		}
	}
	seen := map[string]bool{}
	for _, other := range c.c.collectors {
		for _, m := range other.learned.last.Resources {
			key := m.Exporter + " " + m.Ref()
			get := func(q *eval.Query) data.Value { return attribute(m, q) }
			if fits, q := loosely(c.query, get); fits && q != nil && m.Type == c.typ.name && !seen[key] {
				seen[key] = true
				add(m.Ref(), " of "+m.Exporter, q, get(q))
			}
		}
	}
	return all
}

// attribute returns what a comparison is about: of tags the one that is asked for, if r
// has it.
func (c *compilation) attribute(r *resource, q *eval.Query) data.Value {
	switch name := eval.Text(q.Name); {
	case name != "tag":
		return r.get(name)
	case c.isTagged(r, eval.Text(q.Value)):
		return q.Value
	}
	return data.Value{}
}

// attribute is the same of a resource that another node exports.
func attribute(m *model.Resource, q *eval.Query) data.Value {
	switch name := eval.Text(q.Name); {
	case name == "title":
		return data.OfString(m.Title)
	case name != "tag":
		return m.Parameters.Get(name)
	case slices.ContainsFunc(m.Tags, func(tag string) bool { return strings.EqualFold(tag, eval.Text(q.Value)) }):
		return q.Value
	}
	return data.Value{}
}

func comparison(name, v data.Value) string {
	return data.FilterText(data.OfList([]data.Value{name, data.OfString("=="), v}), maxText)
}

// loosely reports whether a query is true where kind and case of letters do not count, and
// returns the first comparison for which they must not.
func loosely(q *eval.Query, get func(*eval.Query) data.Value) (fits bool, but *eval.Query) {
	switch q.Op {
	case "and", "or":
		left, a := loosely(q.Left, get)
		right, b := loosely(q.Right, get)
		if q.Op == "and" {
			return left && right, cmp.Or(a, b)
		}
		return left || right, cmp.Or(a, b)
	}
	v := get(q)
	if same := data.Equal(v, q.Value); same || q.Op == "!=" {
		return same == (q.Op == "=="), nil
	}
	return isLike(v, q.Value), q
}

// isLike reports whether a value is another one but for its kind, or for the case of its
// letters, or has it in a list.
func isLike(v, other data.Value) bool {
	switch v.Kind() {
	case data.Nil, data.Hash:
		return false
	case data.List:
		return slices.ContainsFunc(v.List(), func(x data.Value) bool { return isLike(x, other) })
	}
	return eval.Equal(v, other) || strings.EqualFold(eval.Text(v), eval.Text(other))
}

// twice is why what m is cannot be collected beside old.
func (c *collector) twice(old *resource, m *model.Resource) string {
	node := c.c.o.Node.Name
	switch {
	case old.exporter == "":
		return fmt.Sprintf("%s is declared at %s and exported by %s", m.Ref(), node, m.Exporter)
	case old.exporter == m.Exporter:
		return fmt.Sprintf("%s exports %s and %s, which are one resource at %s", m.Exporter, old.ref(), m.Ref(), node)
	}
	return fmt.Sprintf("%s is exported by %s and %s; %s collects both", m.Ref(), old.exporter, m.Exporter, node)
}

// leftBehind is why a relationship of r leads nowhere, if another node exports r. Rule
// STORE-COL-09.
func leftBehind(r *resource, param, to string) string {
	if r.exporter == "" {
		return ""
	}
	verb := map[string]string{"require": "requires", "before": "comes before", "notify": "notifies", "subscribe": "subscribes to"}[param]
	return fmt.Sprintf("%s of %s %s %s, which only %s has", r.ref(), r.exporter, verb, to, r.exporter)
}

package command

import (
	"fmt"
	"regexp"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// Puppet's words for a relation that leads nowhere. Rule PDB-CAT-07.
const (
	badRelation = "Invalid relationship: %s { %s => %s }, because %[3]s "
	badFormat   = "doesn't seem to be in the correct format. Resource references should be formatted as: " +
		"Classname['title'] or Modulename::Classname['title'] (take careful note of the capitalization)."
	notThere  = "doesn't seem to be in the catalog"
	exported  = "is exported but not collected"
	contains  = "contains"
	rubyError = "Puppet::Error"
)

// relationParams are the parameters that relate resources. Rule PDB-CAT-06.
var relationParams = [...]struct {
	name, relation string
	reversed       bool // the other resource is the source
}{
	{"before", "before", false},
	{"require", "required-by", true},
	{"notify", "notifies", false},
	{"subscribe", "subscription-of", true},
}

// A ref is what a reference is made of: File and /etc/motd.
type ref struct{ typ, title string }

func (r ref) String() string { return r.typ + "[" + r.title + "]" }

// An edge is one of the edges of a command, which has none twice.
type edge struct {
	relation        string
	source, target  ref
	event, callback string // of containment, where an agent sent it
}

// An edgeList is the edges as the store gets them.
type edgeList struct {
	out   []data.Value
	seen  map[edge]bool
	refs  map[ref]data.Value
	pairs []data.Pair // of all hashes: there are a thousand short ones
}

// put appends a pair to those that the next hash has.
func (l *edgeList) put(key string, v data.Value) { l.pairs = append(l.pairs, data.P(key, v)) }

// since returns the hash of the pairs from n on.
func (l *edgeList) since(n int) data.Value { return data.OfHash(l.pairs[n:len(l.pairs):len(l.pairs)]) }

func (l *edgeList) ref(r ref) data.Value {
	v, ok := l.refs[r]
	if !ok {
		n := len(l.pairs)
		l.put("type", data.OfString(r.typ))
		l.put("title", data.OfString(r.title))
		v = l.since(n)
		l.refs[r] = v
	}
	return v
}

// add puts an edge behind the others. Puppet puts the relation last in an edge of
// containment, and first in the others.
func (l *edgeList) add(e edge) {
	if l.seen[e] {
		return
	}
	l.seen[e] = true
	source, target, relation := l.ref(e.source), l.ref(e.target), data.OfString(e.relation)
	n := len(l.pairs)
	if e.relation != contains {
		l.put("relationship", relation)
	}
	l.put("source", source)
	l.put("target", target)
	if e.event != "" {
		l.put("event", data.OfString(e.event))
	}
	if e.callback != "" {
		l.put("callback", data.OfString(e.callback))
	}
	if e.relation == contains {
		l.put("relationship", relation)
	}
	l.out = append(l.out, l.since(n))
}

// relations returns the edges: of containment, then of each relation of each resource
// that is not virtual.
func (m *munger) relations() (data.Value, error) {
	n := len(m.cat.Edges) + len(m.cat.Resources)/2
	l := edgeList{
		make([]data.Value, 0, n), make(map[edge]bool, n), make(map[ref]data.Value, len(m.cat.Resources)),
		make([]data.Pair, 0, 3*n+2*len(m.cat.Resources)),
	}
	for _, e := range m.cat.Edges {
		l.add(edge{contains, parseRef(e.Source), parseRef(e.Target), e.Event, e.Callback})
	}
	x := m.index()
	for i := range m.cat.Resources {
		r := &m.cat.Resources[i]
		if r.Virtual {
			continue
		}
		own := ref{r.Type, r.Title}
		for _, p := range relationParams {
			v := m.params[i].Get(p.name)
			if !v.Truthy() {
				continue
			}
			for _, other := range refsIn(nil, v) {
				end, fault := x.find(other)
				if fault != "" {
					return data.Value{}, &indirector.Failure{Class: rubyError, Message: fmt.Sprintf(badRelation, own, p.name, other) + fault}
				}
				if p.reversed {
					l.add(edge{relation: p.relation, source: end, target: own})
				} else {
					l.add(edge{relation: p.relation, source: own, target: end})
				}
			}
		}
	}
	return data.OfList(l.out), nil
}

// refsIn appends the texts of a value or, of a list, of its elements at any depth.
func refsIn(l []string, v data.Value) []string {
	if v.Kind() != data.List {
		return append(l, v.Text())
	}
	for _, x := range v.List() {
		l = refsIn(l, x)
	}
	return l
}

// An index finds the resources of a catalog.
type index struct {
	m       *munger
	titles  map[ref]int
	aliases map[ref]int // the last one of a name
}

func (m *munger) index() index {
	x := index{m, make(map[ref]int, len(m.params)), map[ref]int{}}
	for i := range m.params {
		r := &m.cat.Resources[i]
		x.titles[ref{r.Type, r.Title}] = i
		alias := m.params[i].Get("alias")
		if s, ok := alias.AsStr(); ok {
			x.aliases[ref{r.Type, s}] = i
		}
		for _, a := range alias.List() {
			if s, ok := a.AsStr(); ok {
				x.aliases[ref{r.Type, s}] = i
			}
		}
	}
	return x
}

// find returns the resource that a reference leads to, or why it leads nowhere.
func (x index) find(text string) (_ ref, fault string) {
	if !fullForm.MatchString(text) {
		return ref{}, badFormat
	}
	other := parseRef(text)
	if other.typ == "File" { // Puppet names files without the last slashes
		other.title = strings.TrimRight(other.title, "/")
	}
	i, ok := x.titles[other]
	if !ok {
		i, ok = x.aliases[other]
	}
	if !ok {
		return ref{}, notThere
	}
	r := &x.m.cat.Resources[i]
	if r.Virtual {
		return ref{}, exported
	}
	return ref{r.Type, r.Title}, ""
}

// Puppet's expressions for references, whose ^ and $ are those of lines.
var (
	refForm  = regexp.MustCompile(`(?ms)^([^\[\]]+)\[(.+)\]$`)
	fullForm = regexp.MustCompile(`(?ms)^[A-Z][a-z0-9_]*(::[A-Z][a-z0-9_]*)*\[.*\]`)
)

// parseRef splits a reference. What is none has neither type nor title.
func parseRef(text string) ref {
	if i := strings.IndexAny(text, "[]"); !strings.Contains(text, "\n") {
		if i < 1 || text[i] == ']' || i+3 > len(text) || text[len(text)-1] != ']' {
			return ref{}
		}
		return ref{text[:i], text[i+1 : len(text)-1]}
	}
	if g := refForm.FindStringSubmatch(text); g != nil {
		return ref{g[1], g[2]}
	}
	return ref{}
}

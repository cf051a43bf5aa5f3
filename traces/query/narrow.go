package query

import (
	"maps"
	"slices"
)

// maxWays is how many alternatives Narrow returns at the most.
const maxWays = 16

// Narrow returns alternatives of which each request that e means fulfils at least one:
// what fields have to be, by their names. Only those named are used. A value may have
// stars, and ignores case unless it has a capital letter. The parts of e that the
// alternatives do not cover are the rest; without any they mean what e means.
func (e *Expr) Narrow(fields ...string) (ways []map[string]string, rest []string) {
	ways = []map[string]string{{}}
	if e == nil || e.root == nil {
		return ways, nil
	}
	n := narrowing{fields: fields}
	ways = n.of(e.root)
	return ways, n.rest
}

type narrowing struct {
	fields []string
	rest   []string
}

// all gives up on a part.
func (n *narrowing) all(part node) []map[string]string {
	n.rest = append(n.rest, string(part.append(nil)))
	return []map[string]string{{}}
}

func (n *narrowing) of(part node) []map[string]string {
	switch p := part.(type) {
	case andNode:
		ways := []map[string]string{{}}
		for _, of := range p {
			ways = n.both(ways, of)
		}
		return ways
	case orNode:
		return n.either(p)
	case *testNode:
		if slices.Contains(n.fields, p.field.Name) {
			if values := p.wanted(); len(values) > 0 {
				var ways []map[string]string
				for _, v := range values {
					ways = append(ways, map[string]string{p.field.Name: v})
				}
				return ways
			}
		}
	}
	return n.all(part)
}

// both adds what a part demands to each of the ways, as far as that is possible.
func (n *narrowing) both(ways []map[string]string, part node) (all []map[string]string) {
	more := n.of(part)
	if len(ways)*len(more) > maxWays {
		n.all(part)
		return ways
	}
	for _, way := range ways {
		for _, m := range more {
			next := maps.Clone(way)
			for name, value := range m {
				if was, twice := next[name]; twice && was != value {
					n.all(part)
					return ways
				}
				next[name] = value
			}
			all = append(all, next)
		}
	}
	return all
}

// either has the ways of all parts. If one of them demands nothing, none does.
func (n *narrowing) either(parts orNode) (all []map[string]string) {
	own := narrowing{fields: n.fields}
	for _, of := range parts {
		all = append(all, own.of(of)...)
	}
	if len(all) > maxWays || slices.ContainsFunc(all, func(way map[string]string) bool { return len(way) == 0 }) {
		return n.all(parts)
	}
	if len(own.rest) > 0 {
		n.all(parts)
	}
	return all
}

// wanted are the values of which one is wanted; none if that is no such test.
func (n *testNode) wanted() (values []string) {
	switch {
	case n.field.Kind == closedKind:
		for i, name := range n.field.Values {
			if n.ints(int64(i)) != (n.op[0] == '!') {
				values = append(values, name)
			}
		}
	case n.op == "=":
		values = n.values
	}
	return values
}

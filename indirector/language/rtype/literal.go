package rtype

import (
	"slices"
	"strings"

	"indirtui/indirector/language/ruby"
)

// Limits of ours for values of Ruby: what is larger is not read.
const (
	maxSteps  = 200_000 // nodes that are looked at, loops counted each time
	maxList   = 10_000
	maxString = 1000
	maxDepth  = 100
)

// Values of Ruby are string (also for symbols), bool, []any, pairs, *ruby.Regexp,
// *ruby.Block and none.
type (
	pairs []pair
	pair  struct{ key, value any }
	none  struct{} // nil
)

// get returns the value of a key.
func (p pairs) get(key string) (any, bool) {
	for _, e := range p {
		if e.key == key {
			return e.value, true
		}
	}
	return nil, false
}

// A scope has the values of constants and variables, as far as they are literal.
type scope struct {
	values map[string]any
	outer  *scope
}

func (s *scope) inner() *scope { return &scope{map[string]any{}, s} }

func (s *scope) get(name string) (any, bool) {
	for ; s != nil; s = s.outer {
		if v, ok := s.values[name]; ok {
			return v, v != nil
		}
	}
	return nil, false
}

// set keeps a value, or forgets the name if the value is not known.
func (s *scope) set(name string, v any) {
	for at := s; at != nil; at = at.outer {
		if _, ok := at.values[name]; ok {
			at.values[name] = v
			return
		}
	}
	s.values[name] = v
}

// An evaluator finds the values of literals. It calls nothing but a few methods of
// lists and texts that Ruby's own library has.
type evaluator struct {
	steps int
	depth int
}

// step counts a node that is looked at, and reports whether there may be more.
func (e *evaluator) step() bool {
	e.steps++
	return e.steps <= maxSteps
}

// value returns the value of a node, and whether it is known.
func (e *evaluator) value(s *scope, n ruby.Node) (any, bool) {
	e.depth++
	defer func() { e.depth-- }()
	if !e.step() || e.depth > maxDepth {
		return nil, false
	}
	switch n := n.(type) {
	case *ruby.Nil:
		return none{}, true
	case *ruby.Bool:
		return n.Value, true
	case *ruby.Text:
		return s.text(n.Parts)
	case *ruby.Regexp:
		source, ok := s.text(n.Parts)
		return &ruby.Regexp{Parts: []ruby.Part{{Text: source}}, Options: n.Options}, ok
	case *ruby.Block:
		return n, true
	case *ruby.Array:
		return e.array(s, n.Values)
	case *ruby.Hash:
		return e.hash(s, n)
	case *ruby.Const:
		return s.get(n.Path[strings.LastIndex(n.Path, ":")+1:])
	case *ruby.Variable:
		return s.get(n.Name)
	case *ruby.Binary:
		return e.sum(s, n)
	case *ruby.Call:
		return e.call(s, n)
	}
	return nil, false
}

// text puts the parts of a text together.
func (s *scope) text(parts []ruby.Part) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		switch {
		case p.Opaque:
			return "", false
		case p.Variable != "":
			v, _ := s.get(p.Variable)
			text, ok := v.(string)
			if !ok {
				return "", false
			}
			b.WriteString(text)
		default:
			b.WriteString(p.Text)
		}
		if len(parts) > 1 && b.Len() > maxString {
			return "", false
		}
	}
	return b.String(), true
}

// array returns a list. An element that is not known is nil.
func (e *evaluator) array(s *scope, nodes []ruby.Node) (any, bool) {
	list := []any{}
	for _, n := range nodes {
		if all, ok := n.(*ruby.Unary); ok && all.Op == "*" {
			v, _ := e.value(s, all.Value)
			more, ok := v.([]any)
			if !ok || len(list)+len(more) > maxList {
				return nil, false
			}
			list = append(list, more...)
			continue
		}
		v, ok := e.value(s, n)
		if !ok {
			v = nil
		}
		list = append(list, v)
	}
	return list, len(list) <= maxList
}

// hash returns the pairs of a hash. A value that is not known is nil, a key must be
// known.
func (e *evaluator) hash(s *scope, h *ruby.Hash) (any, bool) {
	all := pairs{}
	for _, p := range h.Pairs {
		key, ok := e.value(s, p.Key)
		if !ok {
			return nil, false
		}
		v, ok := e.value(s, p.Value)
		if !ok {
			v = nil
		}
		all = append(all, pair{key, v})
	}
	return all, len(all) <= maxList
}

// sum joins two lists.
func (e *evaluator) sum(s *scope, n *ruby.Binary) (any, bool) {
	if n.Op != "+" && n.Op != "|" {
		return nil, false
	}
	left, _ := e.value(s, n.Left)
	right, _ := e.value(s, n.Right)
	a, isList := left.([]any)
	b, isToo := right.([]any)
	if !isList || !isToo || len(a)+len(b) > maxList {
		return nil, false
	}
	return slices.Concat(a, b), true
}

// same are methods that return what is, for what is read here, the same.
var same = map[string]bool{"freeze": true, "dup": true, "to_sym": true, "intern": true, "to_s": true, "to_a": true, "uniq": true, "clone": true}

// call returns the value of a variable, or of one of a few methods.
func (e *evaluator) call(s *scope, c *ruby.Call) (any, bool) {
	if c.Receiver == nil {
		switch {
		case len(c.Args) == 0 && c.Block == nil:
			return s.get(c.Name)
		case (c.Name == "lambda" || c.Name == "proc") && c.Block != nil:
			return c.Block, true
		}
		return nil, false
	}
	if k, ok := c.Receiver.(*ruby.Const); ok && c.Name == "new" && c.Block != nil && k.Path == "Proc" {
		return c.Block, true
	}
	v, ok := e.value(s, c.Receiver)
	if !ok || c.Block != nil {
		return nil, false
	}
	if same[c.Name] && len(c.Args) == 0 {
		return v, true
	}
	switch v := v.(type) {
	case pairs:
		return v.method(c.Name)
	case []any:
		return v, (c.Name == "map" || c.Name == "collect") && len(c.Args) == 1 && e.keeps(s, c.Args[0])
	}
	return nil, false
}

// keeps reports whether an argument like &:to_sym leaves texts as they are.
func (e *evaluator) keeps(s *scope, n ruby.Node) bool {
	pass, ok := n.(*ruby.Unary)
	if !ok || pass.Op != "&" {
		return false
	}
	name, _ := e.value(s, pass.Value)
	text, _ := name.(string)
	return same[text]
}

// method returns the keys or values of a hash.
func (p pairs) method(name string) (any, bool) {
	list := []any{}
	for _, e := range p {
		switch name {
		case "keys":
			list = append(list, e.key)
		case "values":
			list = append(list, e.value)
		default:
			return nil, false
		}
	}
	return list, true
}

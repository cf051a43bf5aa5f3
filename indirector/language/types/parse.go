package types

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// A Lookup returns the type that a name has beyond the names of the language: an
// alias, or a resource type. The name is in small letters, without leading colons.
// It returns nil for a name that means nothing.
type Lookup func(name string) Type

// Parse reads a type that consists of constants. A nil lookup knows no further
// names. Errors are in Puppet's words, those of the syntax with their place.
func Parse(text string, lookup Lookup) (t Type, err error) {
	defer caught(&err)
	prog, report := syntax.Parse(&syntax.Source{Text: text}, syntax.Options{})
	if report.Failure != nil {
		return nil, report.Failure
	}
	c := constants{lookup, text}
	v, err := c.value(prog.Body)
	if err != nil {
		return nil, err
	}
	if t, ok := AsType(v); ok {
		return t, nil
	}
	return nil, c.unfit(prog.Body)
}

// Constant returns the value of an expression of literals, lists, hashes, and types.
// Any other expression is an error.
func Constant(node syntax.Node, lookup Lookup) (v data.Value, err error) {
	defer caught(&err)
	return constants{lookup: lookup}.value(node)
}

type constants struct {
	lookup Lookup
	text   string // that is read as one type, or ""
}

// unfit reports an expression that is no constant.
func (c constants) unfit(node syntax.Node) error {
	if c.text == "" {
		return errNoConstant
	}
	return errorf("The expression <%s> is not a valid type specification.", c.source(node))
}

var errNoConstant = errorf("The expression is not a constant")

// source returns the part of the text that an expression was read from.
func (c constants) source(node syntax.Node) string {
	from, to := extent(node)
	return c.text[from:to]
}

// extent returns where an expression begins and ends: the place of an operator is only
// its own.
func extent(node syntax.Node) (from, to int) {
	from, length := node.Span()
	to = from + length
	var operands []syntax.Node
	switch n := node.(type) {
	case *syntax.Unary:
		operands = []syntax.Node{n.Expr}
	case *syntax.Binary:
		operands = []syntax.Node{n.Left, n.Right}
	case *syntax.Access:
		operands = []syntax.Node{n.Left}
	case *syntax.Method:
		operands = []syntax.Node{n.Functor.Left, n.Functor.Name}
	}
	for _, operand := range operands {
		first, last := extent(operand)
		from, to = min(from, first), max(to, last)
	}
	return from, to
}

func (c constants) value(node syntax.Node) (data.Value, error) {
	switch n := node.(type) {
	case *syntax.Undef:
		return data.Value{}, nil
	case *syntax.Default:
		return OfDefault(), nil
	case *syntax.Boolean:
		return data.OfBool(n.Value), nil
	case *syntax.Integer:
		return data.OfInt(n.Value), nil
	case *syntax.Float:
		return data.OfFloat(n.Value), nil
	case *syntax.String:
		return data.OfString(n.Value), nil
	case *syntax.Name:
		return data.OfString(n.Value), nil
	case *syntax.Regexp:
		r, err := newRegex(n.Source)
		if err != nil {
			return data.Value{}, err
		}
		return data.OfRich(r), nil
	case *syntax.Heredoc:
		return c.value(n.Text)
	case *syntax.Paren:
		return c.value(n.Expr)
	case *syntax.Block:
		if len(n.Statements) == 1 {
			return c.value(n.Statements[0])
		}
	case *syntax.Array:
		l, err := c.list(n.Values)
		return data.OfList(l), err
	case *syntax.Hash:
		return c.hash(n)
	case *syntax.Unary:
		return c.unary(n)
	case *syntax.TypeName:
		return c.typeNamed(n.Value)
	case *syntax.Access:
		return c.access(n)
	}
	return data.Value{}, c.unfit(node)
}

// list returns values; one behind a star is unfolded.
func (c constants) list(nodes []syntax.Node) ([]data.Value, error) {
	out := make([]data.Value, 0, len(nodes))
	for _, n := range nodes {
		star, ok := n.(*syntax.Unary)
		if ok = ok && star.Op == "*"; ok {
			n = star.Expr
		}
		v, err := c.value(n)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, unfolded(v)...)
		} else {
			out = append(out, v)
		}
	}
	return out, nil
}

// unfolded returns the values that a star makes of one: the pairs of a hash, nothing
// of undef. Rule LANG-EV-01.
func unfolded(v data.Value) []data.Value {
	switch v.Kind() {
	case data.Nil:
		return nil
	case data.List, data.Hash:
		return elements(v)
	}
	return []data.Value{v}
}

// hash keeps the first place and the last value of a key.
func (c constants) hash(n *syntax.Hash) (data.Value, error) {
	out := make([]data.Pair, 0, len(n.Entries))
	at := make(map[string]int, len(n.Entries)) // by the keys, as bytes
	for _, e := range n.Entries {
		key, err := c.value(e.Key)
		if err != nil {
			return data.Value{}, err
		}
		value, err := c.value(e.Value)
		if err != nil {
			return data.Value{}, err
		}
		known := string(data.AppendBinary(nil, key))
		if i, ok := at[known]; ok {
			out[i].Value = value
			continue
		}
		at[known] = len(out)
		out = append(out, data.Pair{Key: key, Value: value})
	}
	return data.OfHash(out), nil
}

func put(h []data.Pair, key, value data.Value) []data.Pair {
	if i := slices.IndexFunc(h, func(p data.Pair) bool { return data.Equal(p.Key, key) }); i >= 0 {
		h[i].Value = value
		return h
	}
	return append(h, data.Pair{Key: key, Value: value})
}

func (c constants) unary(n *syntax.Unary) (data.Value, error) {
	v, err := c.value(n.Expr)
	switch {
	case err != nil:
		return v, err
	case n.Op == "*":
		return data.OfList(unfolded(v)), nil
	case n.Op == "-" && v.Kind() == data.Int:
		return data.OfInt(-v.Int()), nil
	case n.Op == "-" && v.Kind() == data.Float:
		return data.OfFloat(-v.Float()), nil
	}
	return data.Value{}, c.unfit(n)
}

func (c constants) typeNamed(name string) (data.Value, error) {
	key := strings.TrimPrefix(strings.ToLower(name), "::")
	if t, ok := standard()[key]; ok {
		return OfType(t), nil
	}
	switch key { // their own definitions are types, too
	case "error", "deferred":
		return OfType(knownObjects.get(key, readObjects)), nil
	}
	if c.lookup != nil {
		if t := c.lookup(key); t != nil {
			return OfType(t), nil
		}
	}
	return data.Value{}, errorf("Resource type not found: %s", name)
}

func (c constants) access(n *syntax.Access) (data.Value, error) {
	if _, ok := n.Left.(*syntax.TypeName); !ok && c.text != "" {
		return data.Value{}, c.unfit(n)
	}
	left, err := c.value(n.Left)
	if err != nil {
		return left, err
	}
	if t, _ := AsType(left); t == Type(typeSetType) && len(n.Keys) == 1 {
		if h, ok := n.Keys[0].(*syntax.Hash); ok && len(h.Entries) > 0 {
			s, err := c.set(h, "")
			if err != nil {
				return data.Value{}, err
			}
			return OfType(s), nil
		}
	}
	args, err := c.list(n.Keys)
	if err != nil {
		return data.Value{}, err
	}
	t, ok := AsType(left)
	if !ok {
		return data.Value{}, c.unfit(n)
	}
	if c.text != "" {
		return c.fromText(n, t, args)
	}
	return Parametrize(t, args)
}

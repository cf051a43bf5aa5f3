package eval

import (
	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

func (c *compiler) unary(n *syntax.Unary) code {
	switch n.Op {
	case "!":
		operand := c.node(n.Expr)
		return func(f *frame) (data.Value, error) {
			v, err := operand(f)
			return data.OfBool(!v.Truthy()), err
		}
	case "-":
		if v, ok := c.literal(n.Expr); ok && isNumber(v) {
			v, _ = negated(v)
			return constant(v)
		}
		return c.negation(n)
	}
	s, parts := c.site(n), c.parts([]syntax.Node{n})
	return func(f *frame) (data.Value, error) {
		l, err := appendParts(f, nil, parts)
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return data.OfList(l), nil
	}
}

func (c *compiler) binary(n *syntax.Binary) code {
	switch n.Op {
	case "=":
		return c.assignment(n)
	case "and", "or":
		return c.logic(n)
	case "==", "!=", "<", "<=", ">", ">=":
		return c.comparison(n)
	case "=~", "!~":
		return c.match(n)
	case "in":
		return c.inclusion(n)
	case "+", "-", "*", "/", "%", "<<", ">>":
		return c.arithmetic(n)
	}
	return c.relationship(n)
}

// logic compiles and, or, whose right side is evaluated only if it decides. Rule
// LANG-OP-10.
func (c *compiler) logic(n *syntax.Binary) code {
	left, right, decisive := c.node(n.Left), c.node(n.Right), n.Op == "or"
	return func(f *frame) (data.Value, error) {
		v, err := left(f)
		if err != nil {
			return v, err
		}
		if v.Truthy() == decisive {
			return data.OfBool(decisive), nil
		}
		v, err = right(f)
		return data.OfBool(v.Truthy()), err
	}
}

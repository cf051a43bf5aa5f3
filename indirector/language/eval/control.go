package eval

import (
	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// guarded runs a code whose match variables nothing outside sees. Rule LANG-EV-03.
func guarded(run code) code {
	return func(f *frame) (data.Value, error) {
		match := f.match
		v, err := run(f)
		f.match = match
		return v, err
	}
}

// condition compiles if and unless.
func (c *compiler) condition(n *syntax.If) code {
	test, then, other, want := c.node(n.Test), c.body(n.Then), c.body(n.Else), !n.Unless
	return guarded(func(f *frame) (data.Value, error) {
		v, err := test(f)
		switch {
		case err != nil:
			return v, err
		case v.Truthy() == want:
			return then(f)
		}
		return other(f)
	})
}

// A branch is what a case or selector may choose.
type branch struct {
	site    site
	options []part
	then    code
}

// taken reports whether one of the options takes a value. Rule LANG-EV-04.
func (b *branch) taken(f *frame, v data.Value) (bool, error) {
	for i := range b.options {
		options, err := appendParts(f, nil, b.options[i:i+1])
		for _, x := range options {
			ok, err := f.option(v, x)
			if ok || err != nil {
				return ok, err
			}
		}
		if err != nil {
			return false, err
		}
	}
	return false, nil
}

// branch compiles options, and reports whether default is among them.
func (c *compiler) branch(n syntax.Node, options []syntax.Node, then syntax.Node) (*branch, bool) {
	b, isDefault := &branch{site: c.site(n)}, false
	for _, x := range options {
		for {
			paren, ok := x.(*syntax.Paren)
			if !ok {
				break
			}
			x = paren.Expr
		}
		if _, ok := x.(*syntax.Default); ok {
			isDefault = true
			continue
		}
		b.options = append(b.options, c.parts([]syntax.Node{x})...)
	}
	b.then = c.body(then)
	return b, isDefault
}

// choose runs the first branch that takes a value, or else the default one.
func choose(f *frame, v data.Value, branches []*branch, usual code) (data.Value, error) {
	for _, b := range branches {
		ok, err := b.taken(f, v)
		if err != nil {
			return v, b.site.fail(f, err)
		}
		if ok {
			return b.then(f)
		}
	}
	return usual(f)
}

// choice compiles case.
func (c *compiler) choice(n *syntax.Case) code {
	test, usual := c.node(n.Test), constant(data.Value{})
	branches := make([]*branch, len(n.Options))
	for i, o := range n.Options {
		b, isDefault := c.branch(n, o.Values, o.Then)
		if branches[i] = b; isDefault {
			usual = b.then
		}
	}
	return guarded(func(f *frame) (data.Value, error) {
		v, err := test(f)
		if err != nil {
			return v, err
		}
		return choose(f, v, branches, usual)
	})
}

// selector compiles ? with its choices.
func (c *compiler) selector(n *syntax.Selector) code {
	test, usual := c.node(n.Left), code(nil)
	branches := make([]*branch, len(n.Choices))
	for i, x := range n.Choices {
		b, isDefault := c.branch(n, []syntax.Node{x.Match}, x.Value)
		if branches[i] = b; isDefault {
			usual = b.then
		}
	}
	s := c.site(n.Left)
	return guarded(func(f *frame) (data.Value, error) {
		v, err := test(f)
		if err != nil {
			return v, err
		}
		otherwise := usual
		if otherwise == nil {
			otherwise = func(f *frame) (data.Value, error) {
				return v, s.fail(f, Issuef("No matching entry for selector parameter with value '%s'", RubyText(v)))
			}
		}
		return choose(f, v, branches, otherwise)
	})
}

package eval

import (
	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// concat compiles a string with interpolations. Rule LANG-LEX-11.
func (c *compiler) concat(n *syntax.Concat) code {
	s := c.site(n)
	segments := make([]code, len(n.Segments))
	for i, x := range n.Segments {
		segments[i] = c.segment(x)
	}
	return func(f *frame) (data.Value, error) {
		var space [128]byte
		b := space[:0]
		for _, segment := range segments {
			v, err := segment(f)
			if err != nil {
				return v, err
			}
			if text, ok := v.AsStr(); ok {
				b = append(b, text...)
			} else {
				b = appendText(b, v, f.thread.textLimit())
			}
		}
		if err := f.thread.spend(len(b)); err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return data.OfString(string(b)), nil
	}
}

// segment compiles a part of a string. Puppet takes a boolean for the name of a variable,
// and fails.
func (c *compiler) segment(n syntax.Node) code {
	text, ok := n.(*syntax.Text)
	if !ok {
		return c.node(n)
	}
	switch x := text.Expr.(type) {
	case *syntax.Name:
		return c.variable(text, x.Value)
	case *syntax.Variable:
		return c.variable(x, x.Name)
	}
	return c.node(text.Expr)
}

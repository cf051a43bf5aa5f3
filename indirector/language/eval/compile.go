package eval

import (
	"errors"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// A compiler turns the nodes of one source into closures.
type compiler struct {
	source  *syntax.Source
	library Library
	program *Program
	locals  *locals // of the lambda or function that is being compiled; nil at the top
	quiet   bool    // the variable that is being compiled is the beginning of a longer name: see pathOf
}

// Compile compiles a program, whose calls find functions in a library before they look
// for those that programs define. Neither may change afterwards.
func Compile(prog *syntax.Program, library Library) *Program {
	c := &compiler{source: prog.Source, library: library, program: &Program{source: prog.Source, body: prog.Body}}
	if lambda, ok := prog.Body.(*syntax.Lambda); ok {
		c.program.template = c.template(lambda)
		return c.program
	}
	c.definitions(prog.Body)
	c.program.main = c.body(prog.Body)
	return c.program
}

// definitions finds those of a program, which stand at its top or in classes.
func (c *compiler) definitions(body syntax.Node) {
	found := func(kind Kind, name string) {
		c.program.defined = append(c.program.defined, Definition{kind, name, body})
	}
	switch n := body.(type) {
	case *syntax.Block:
		for _, s := range n.Statements {
			c.definitions(s)
		}
	case *syntax.Function:
		found(FunctionKind, n.Name)
		c.program.functions = append(c.program.functions, c.function(n))
	case *syntax.TypeAlias:
		found(TypeKind, n.Name)
		c.program.aliases = append(c.program.aliases, n)
	case *syntax.Class:
		found(ClassKind, n.Name)
		d := c.container(n, ClassKind, n.Name, n.Params, n.Body)
		d.Parent = plainName(n.Parent)
		c.definitions(n.Body)
	case *syntax.Define:
		found(DefineKind, n.Name)
		c.container(n, DefineKind, n.Name, n.Params, n.Body)
	case *syntax.NodeDefinition:
		found(NodeKind, "")
		c.nodeDefinition(n)
	}
}

func (c *compiler) site(n syntax.Node) site { return site{n, c.source, c.quiet} }

func constant(v data.Value) code {
	return func(*frame) (data.Value, error) { return v, nil }
}

// failing returns the code of a node that cannot be evaluated.
func (c *compiler) failing(n syntax.Node, err error) code {
	s := c.site(n)
	return func(f *frame) (data.Value, error) { return data.Value{}, s.fail(f, err) }
}

// body compiles what may be empty.
func (c *compiler) body(n syntax.Node) code {
	if n == nil {
		return constant(data.Value{})
	}
	return c.node(n)
}

// node compiles a node. What belongs to catalogs is not evaluated yet.
func (c *compiler) node(node syntax.Node) code {
	switch n := node.(type) {
	case *syntax.Nop, *syntax.Undef, *syntax.Function, *syntax.TypeAlias:
		return constant(data.Value{})
	case *syntax.Default:
		return constant(types.OfDefault())
	case *syntax.Boolean:
		return constant(data.OfBool(n.Value))
	case *syntax.Integer:
		return constant(data.OfInt(n.Value))
	case *syntax.Float:
		return constant(data.OfFloat(n.Value))
	case *syntax.String:
		return constant(data.OfString(n.Value))
	case *syntax.Name:
		return constant(data.OfString(n.Value))
	case *syntax.Reserved:
		return constant(data.OfString(n.Word))
	case *syntax.Regexp:
		return c.regexp(n)
	case *syntax.TypeName:
		return c.typeName(n)
	case *syntax.Variable:
		return c.variable(n, n.Name)
	case *syntax.Concat:
		return c.concat(n)
	case *syntax.Heredoc:
		return c.heredoc(n)
	case *syntax.Array:
		return c.array(n)
	case *syntax.Hash:
		return c.hash(n)
	case *syntax.Paren:
		return c.node(n.Expr)
	case *syntax.Unary:
		return c.unary(n)
	case *syntax.Binary:
		return c.binary(n)
	case *syntax.Access:
		return c.access(n)
	}
	return c.statement(node)
}

// statement compiles what node does not.
func (c *compiler) statement(node syntax.Node) code {
	switch n := node.(type) {
	case *syntax.Block:
		return c.block(n)
	case *syntax.If:
		return c.condition(n)
	case *syntax.Case:
		return c.choice(n)
	case *syntax.Selector:
		return c.selector(n)
	case *syntax.Call:
		return c.call(n)
	case *syntax.Method:
		return c.method(n)
	case *syntax.RenderText:
		return c.renderText(n)
	case *syntax.Render:
		return c.render(n)
	case *syntax.Class, *syntax.Define, *syntax.NodeDefinition:
		return constant(data.Value{})
	case *syntax.Resource:
		return c.resource(n)
	case *syntax.Defaults:
		return c.defaults(n)
	case *syntax.Override:
		return c.override(n)
	case *syntax.Collect:
		return c.collect(n)
	}
	return c.failing(node, Unsupported("such expressions"))
}

// Unsupported reports what is not evaluated yet.
func Unsupported(what string) error {
	return &unsupportedError{what}
}

type unsupportedError struct{ what string }

func (e *unsupportedError) Error() string { return e.what + " are not evaluated yet" }

func (e *unsupportedError) Unwrap() error { return errors.ErrUnsupported }

// regexp compiles a literal regular expression. Puppet reads it before anything is
// evaluated, so that a bad one has no place.
func (c *compiler) regexp(n *syntax.Regexp) code {
	v, err := newRegexp(n.Source)
	if err != nil {
		return func(*frame) (data.Value, error) { return data.Value{}, &Error{Message: err.Error(), Wrapped: err} }
	}
	return constant(v)
}

// block evaluates statements; each is a step.
func (c *compiler) block(n *syntax.Block) code {
	s := c.site(n)
	statements := make([]code, len(n.Statements))
	for i, x := range n.Statements {
		statements[i] = c.node(x)
	}
	return func(f *frame) (v data.Value, err error) {
		for i, statement := range statements {
			if err = f.thread.step(); err != nil {
				return v, s.fail(f, err)
			}
			if f.thread.IsArmed() {
				at := site{node: n.Statements[i], source: s.source}
				if err = f.stop(AtStatement, "", at); err != nil {
					return v, at.fail(f, err)
				}
			}
			if v, err = statement(f); err != nil {
				return v, err
			}
		}
		return v, nil
	}
}

// A part is an element of a list or an argument, which may be unfolded. Rule LANG-EV-01.
type part struct {
	code
	unfold bool
}

func (c *compiler) parts(nodes []syntax.Node) []part {
	out := make([]part, len(nodes))
	for i, n := range nodes {
		for {
			paren, ok := n.(*syntax.Paren)
			if !ok {
				break
			}
			n = paren.Expr
		}
		u, ok := n.(*syntax.Unary)
		if ok = ok && u.Op == "*"; ok {
			n = u.Expr
		}
		out[i] = part{c.node(n), ok}
	}
	return out
}

// appendParts appends the values of parts.
func appendParts(f *frame, l []data.Value, parts []part) ([]data.Value, error) {
	for _, p := range parts {
		v, err := p.code(f)
		switch {
		case err != nil:
			return l, err
		case p.unfold:
			if l, err = appendUnfolded(l, v); err != nil {
				return l, err
			}
		default:
			l = append(l, v)
		}
	}
	return l, nil
}

// appendUnfolded appends what *v means.
func appendUnfolded(l []data.Value, v data.Value) ([]data.Value, error) {
	switch v.Kind() {
	case data.Nil:
		return l, nil
	case data.List:
		return append(l, v.List()...), nil
	case data.Hash:
		return append(l, PairsOf(v)...), nil
	case data.Rich:
		if it, ok := v.Rich().(*Iterator); ok {
			all, err := it.All()
			return append(l, all...), err
		}
	}
	return append(l, v), nil
}

// PairsOf returns the pairs of a hash as lists of two.
func PairsOf(h data.Value) []data.Value {
	out := make([]data.Value, h.Len())
	for i, p := range h.Hash() {
		out[i] = data.OfList([]data.Value{p.Key, p.Value})
	}
	return out
}

func (c *compiler) array(n *syntax.Array) code {
	if v, ok := c.literal(n); ok {
		return constant(v)
	}
	s, parts := c.site(n), c.parts(n.Values)
	return func(f *frame) (data.Value, error) {
		l, err := appendParts(f, make([]data.Value, 0, len(parts)), parts)
		v := data.OfList(l)
		if err == nil {
			err = f.thread.charge(v)
		}
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return v, nil
	}
}

// literal returns the value of a node that is made of constants, if it is. Types are not
// looked up: a program may define them.
func (c *compiler) literal(n syntax.Node) (data.Value, bool) {
	plain := true
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n.(type) {
		case *syntax.Array, *syntax.Undef, *syntax.Default, *syntax.Boolean, *syntax.Integer, *syntax.Float, *syntax.String, *syntax.Name:
		default:
			plain = false
		}
		return plain
	})
	if !plain {
		return data.Value{}, false
	}
	v, err := types.Constant(n, nil)
	return v, err == nil
}

func (c *compiler) hash(n *syntax.Hash) code {
	s := c.site(n)
	type entry struct{ key, value code }
	entries := make([]entry, len(n.Entries))
	for i, e := range n.Entries {
		entries[i] = entry{c.node(e.Key), c.node(e.Value)}
	}
	return func(f *frame) (data.Value, error) {
		b := NewHash(len(entries))
		for _, e := range entries {
			key, err := e.key(f)
			if err != nil {
				return data.Value{}, err
			}
			v, err := e.value(f)
			if err != nil {
				return data.Value{}, err
			}
			b.Put(key, v)
		}
		v := b.Value()
		if err := f.thread.charge(v); err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return v, nil
	}
}

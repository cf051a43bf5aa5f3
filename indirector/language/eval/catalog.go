package eval

import (
	"context"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// A Catalog takes what programs declare. It is no part of this package, which knows of
// resources only how they are written: see package compile. Errors are as those of
// functions.
type Catalog interface {
	// Declare adds the resources of one body, and returns what refers to them.
	Declare(s Statement, form syntax.Form, typ string, titles []string, attrs []Attribute) ([]data.Value, error)
	// Default sets attributes of all resources of a type that are declared from now on.
	Default(s Statement, typ string, attrs []Attribute) error
	// Override changes attributes of a resource that there is, or will be.
	Override(s Statement, typ, title string, attrs []Attribute) error
	// Collect makes virtual or exported resources real.
	Collect(s Statement, c *Collection) (data.Value, error)
	// Relate puts resources in order.
	Relate(s Statement, op string, left, right data.Value) (data.Value, error)
	// Attribute returns an attribute of a resource. Those of classes have the type class.
	Attribute(typ, title, name string) (data.Value, error)
	// HasType reports whether there is a resource type or a define of a name, in small
	// letters.
	HasType(name string) (bool, error)
	// HasClass reports whether there is a class of a name.
	HasClass(name string) (bool, error)
	// ClassScope returns the variables of a class, or nil if it was not evaluated.
	ClassScope(name string) *Scope
}

// A Statement is where something is declared, and in which scope.
type Statement struct {
	Scope *Scope
	File  string // "" if it is not known
	Line  int    // from 1; 0 if it is not known
}

// An Attribute is one of those that a program gives a resource.
type Attribute struct {
	Name   string
	Value  data.Value
	Append bool // +>
	File   string
	Line   int
}

// A Collection is what a collector looks for, and which attributes it sets.
type Collection struct {
	Type     string // in small letters
	Exported bool
	Query    *Query // nil means all
	Attrs    []Attribute
}

// A Query is a condition: and, or, == or != .
type Query struct {
	Op          string
	Left, Right *Query     // of and, or
	Name        data.Value // of the others: the name of an attribute
	Value       data.Value
}

// A Container is the definition of a class, a define or a node. It does not change.
type Container struct {
	Kind   Kind
	Name   string // in small letters, without leading colons; "" of a node
	Parent string // "" if there is none
	Params []ContainerParam
	Hosts  []Host // of a node
	File   string
	Line   int // from 1
	Column int // from 1

	body code
	site site
}

// A ContainerParam is a parameter of a class or define.
type ContainerParam struct {
	Name       string
	HasDefault bool
	Line       int // from 1

	typed *typed // nil means any
	usual code
}

// A Host is what a node is matched with.
type Host struct {
	Name   string // in small letters; "default" if it is that
	Regexp string // "" if it is a name
}

// Containers returns the classes, defines and nodes of a program, in their order.
func (p *Program) Containers() []*Container { return p.containers }

// Source returns what the program was compiled from.
func (p *Program) Source() *syntax.Source { return p.source }

// container compiles a class, a define or a node. What stands within them is
// found by the caller.
func (c *compiler) container(n syntax.Node, kind Kind, name string, params []*syntax.Parameter, body syntax.Node) *Container {
	around := c.locals
	c.locals = nil
	defer func() { c.locals = around }()
	s := c.site(n)
	d := &Container{Kind: kind, Name: plainName(name), site: s, File: s.source.File}
	d.Line, d.Column = s.position(n)
	for _, p := range params {
		x := ContainerParam{Name: p.Name, HasDefault: p.Default != nil, typed: c.typed(p.Type)}
		x.Line, _ = s.position(p)
		if p.Default != nil {
			x.usual = c.node(p.Default)
		}
		d.Params = append(d.Params, x)
	}
	d.body = c.body(body)
	c.program.containers = append(c.program.containers, d)
	return d
}

func plainName(name string) string { return strings.ToLower(strings.TrimPrefix(name, "::")) }

func (c *compiler) nodeDefinition(n *syntax.NodeDefinition) {
	d := c.container(n, NodeKind, "", nil, n.Body)
	for _, h := range n.Hosts {
		switch h := h.(type) {
		case *syntax.Default:
			d.Hosts = append(d.Hosts, Host{Name: "default"})
		case *syntax.Regexp:
			d.Hosts = append(d.Hosts, Host{Regexp: h.Source})
		case *syntax.String:
			d.Hosts = append(d.Hosts, Host{Name: strings.ToLower(h.Value)})
		case *syntax.Name:
			d.Hosts = append(d.Hosts, Host{Name: strings.ToLower(h.Value)})
		}
	}
}

// Begin sets the context of what is evaluated from now on.
func (t *Thread) Begin(ctx context.Context) error {
	t.ctx = ctx
	return ctx.Err()
}

// Top returns the top scope.
func (t *Thread) Top() *Scope { return t.top }

// RunIn evaluates the statements of a program outside of its definitions in a scope, and
// returns the value of the last.
func (t *Thread) RunIn(s *Scope, p *Program) (data.Value, error) {
	v, err := t.statements(s, p)
	return v, outside(err)
}

// RunContainer evaluates the body of a container. The match are the groups of the
// regular expression that chose a node.
func (t *Thread) RunContainer(d *Container, s *Scope, match []data.Value) error {
	if err := t.push(d.Name, d.site); err != nil {
		return err
	}
	defer t.pop()
	part := &t.stack[len(t.stack)-1]
	part.isPart, part.from = true, t.calling
	t.calling = site{}
	defer func() { t.calling = part.from }()
	f := t.enter(nil, s, nil)
	defer t.leave(f)
	f.match = match
	if t.IsArmed() {
		if err := f.stop(d.Kind.place(), d.title(), d.site); err != nil {
			return d.site.fail(f, err)
		}
	}
	_, err := d.body(f)
	if j, ok := err.(*jump); ok && j.kind != toBreak {
		return nil
	}
	return outside(err)
}

// Default returns the value of the default expression of a parameter. Its scope has the
// parameters that have values already; see [Scope.Expect].
func (t *Thread) Default(p *ContainerParam, s *Scope) (data.Value, error) {
	f := t.enter(nil, s, nil)
	defer t.leave(f)
	s.sealed = true
	v, err := p.usual(f)
	s.sealed = false
	if u, ok := err.(*unreadyError); ok {
		return v, Errorf("%s", u.about(s, p.Name))
	}
	return v, outside(err)
}

// Resolve evaluates the types of the parameters of a class or define, as Puppet does when
// it reads one, and fails if one of them is none.
func (t *Thread) Resolve(d *Container) error {
	f := t.enter(nil, t.top, nil)
	defer t.leave(f)
	for i := range d.Params {
		if p := d.Params[i].typed; p != nil {
			if _, err := p.typeFrom(f); err != nil {
				return err
			}
		}
	}
	return nil
}

// Wrong describes why a value is not of the type of a parameter: a line for each reason.
// It is nil if it is of that type. The library has the functions that may be deferred.
func (t *Thread) Wrong(p *ContainerParam, v data.Value, library Library) ([]string, error) {
	deferred := isDeferred(v)
	if p.typed == nil && !deferred {
		return nil, nil
	}
	f := t.enter(nil, t.top, nil)
	defer t.leave(f)
	if deferred {
		return t.wrongDeferred(f, p, v, library)
	}
	of, err := p.typed.typeFrom(f)
	if err != nil {
		return nil, err
	}
	if ok, err := t.check(of, v); ok || err != nil {
		return nil, err
	}
	return (&problem{kind: wrongType, at: " parameter '" + p.Name + "'", accepts: of, value: v}).lines(), nil
}

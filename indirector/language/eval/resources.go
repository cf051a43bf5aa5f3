package eval

import (
	"slices"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// This file compiles what declares resources. What becomes of them is the business of
// the [Catalog].

// noCatalog is what declarations are where there is no catalog.
var noCatalog = Unsupported("resources without a catalog")

// An attributeCode is one of those of a body; without a name it unfolds a hash.
type attributeCode struct {
	node  *syntax.Attribute
	value code
	line  int
}

func (c *compiler) attributes(ops []*syntax.Attribute) []attributeCode {
	out := make([]attributeCode, len(ops))
	for i, op := range ops {
		line, _ := c.site(op).position(op)
		out[i] = attributeCode{op, c.node(op.Value), line}
	}
	return out
}

// appendAttributes evaluates attributes.
func (s site) appendAttributes(f *frame, l []Attribute, codes []attributeCode) ([]Attribute, error) {
	for _, a := range codes {
		v, err := a.value(f)
		if err != nil {
			return l, err
		}
		if a.node.Name != "" {
			if err := unconvertible(v); err != nil {
				return l, site{node: a.node, source: s.source}.fail(f, err)
			}
			l = append(l, Attribute{a.node.Name, v, a.node.Append, s.source.File, a.line})
			continue
		}
		if v.Kind() != data.Hash {
			return l, s.fail(f, issueAt(a.node.Value, "Expected value of type Hash, got %s", types.Generalized(v)))
		}
		for _, p := range v.Hash() {
			l = append(l, Attribute{Text(p.Key), p.Value, false, s.source.File, a.line})
		}
	}
	return l, nil
}

// unconvertible returns why a value cannot be that of an attribute, or nil.
func unconvertible(v data.Value) error {
	switch v.Kind() {
	case data.List:
		for _, x := range v.List() {
			if err := unconvertible(x); err != nil {
				return err
			}
		}
	case data.Hash:
		for _, p := range v.Hash() {
			if err := unconvertible(p.Value); err != nil {
				return err
			}
		}
	case data.Rich:
		if isIterating(v) {
			return Errorf("Use of an Iterator is not supported here")
		}
		if t, ok := types.AsType(v); ok {
			if ref, ok := types.AsReference(t); ok && ref.Type == "Class" && !ref.Titled {
				return Errorf("No title provided and \"class\" is not a valid resource reference")
			}
		}
	}
	return nil
}

// statement returns where a node stands, for the catalog.
func (s site) statement(f *frame, line int) Statement {
	return Statement{f.scope, s.source.File, line}
}

// declaring returns the code of something that needs a catalog.
func (s site) declaring(do func(f *frame, c Catalog) (data.Value, error)) code {
	return func(f *frame) (data.Value, error) {
		c := f.thread.opts.Catalog
		if c == nil {
			return data.Value{}, s.fail(f, noCatalog)
		}
		v, err := do(f, c)
		if err != nil {
			return v, s.fail(f, err)
		}
		return v, nil
	}
}

// A bodyCode is one body of a resource expression.
type bodyCode struct {
	title code
	node  *syntax.ResourceBody
	attrs []attributeCode
}

// A declared body is one that was evaluated.
type declaredBody struct {
	titles []string
	attrs  []Attribute
}

// resource compiles a resource expression. Rules LANG-RES-01 to LANG-RES-04.
func (c *compiler) resource(n *syntax.Resource) code {
	s, typ := c.site(n), c.resourceType(n)
	line, _ := s.position(n)
	bodies := make([]bodyCode, len(n.Bodies))
	for i, b := range n.Bodies {
		bodies[i] = bodyCode{c.node(b.Title), b, c.attributes(b.Ops)}
	}
	return s.declaring(func(f *frame, catalog Catalog) (data.Value, error) {
		name, err := typ(f)
		if err != nil {
			return data.Value{}, err
		}
		if n.Form == syntax.Exported {
			s.warnExported(f, n, "export is")
		}
		all, err := s.evaluateBodies(f, bodies)
		if err != nil {
			return data.Value{}, err
		}
		var out []data.Value
		for _, b := range all {
			refs, err := catalog.Declare(s.statement(f, line), n.Form, name, b.titles, b.attrs)
			if err != nil {
				return data.Value{}, err
			}
			out = append(out, refs...)
		}
		return data.OfList(out), nil
	})
}

// warnExported warns about exported resources where there is no store for them. Rule
// LANG-RES-14.
func (s site) warnExported(f *frame, n syntax.Node, what string) {
	if f.thread.opts.StoreConfigs {
		return
	}
	_ = s.warn(f, syntax.StrictWarning, n,
		"You cannot collect exported resources without storeconfigs being set; the "+what+" ignored")
}

// resourceType compiles what is in front of the braces.
func (c *compiler) resourceType(n *syntax.Resource) func(f *frame) (string, error) {
	if name, ok := n.Type.(*syntax.Name); ok {
		return func(*frame) (string, error) { return name.Value, nil }
	}
	s, of, known := c.site(n), c.node(n.Type), beginsWithType(n.Type)
	illegal := func(text string) error {
		return issueAt(n.Type, "Illegal Resource Type expression, expected result to be a type name, or untitled Resource, got %s", text)
	}
	return func(f *frame) (string, error) {
		v, err := of(f)
		if err != nil {
			return "", err
		}
		t, isType := types.AsType(v)
		if !isType || !known {
			return "", illegal(types.Generalized(v).String())
		}
		ref, ok := types.AsReference(t)
		switch {
		case !ok:
			return "", illegal(types.Generalized(v).String())
		case ref.Titled:
			return "", illegal(t.String())
		case ref.Type == "":
			return "", s.fail(f, Errorf("undefined method `casecmp' for nil:NilClass"))
		}
		return plainName(ref.Type), nil
	}
}

// evaluateBodies evaluates all titles and attributes, before any resource is made.
func (s site) evaluateBodies(f *frame, bodies []bodyCode) ([]declaredBody, error) {
	all := make([]declaredBody, len(bodies))
	used := make([]string, 0, 8)
	usual := -1
	for i, b := range bodies {
		v, err := b.title(f)
		if err != nil {
			return nil, err
		}
		titles, isDefault, err := s.titles(b.node.Title, v, used, usual >= 0)
		if err != nil {
			return nil, err
		}
		used = append(used, titles...)
		if isDefault {
			usual = i
		}
		all[i].titles = titles
		attrs := make([]Attribute, 0, len(b.attrs))
		for k := range b.attrs { // each is checked before the next one is evaluated
			before := len(attrs)
			if attrs, err = s.appendAttributes(f, attrs, b.attrs[k:k+1]); err != nil {
				return nil, err
			}
			for j := before; j < len(attrs); j++ {
				if _, again := attributeNamed(attrs[:j], attrs[j].Name); again {
					return nil, Issuef("The attribute '%s' has already been set", attrs[j].Name)
				}
			}
		}
		all[i].attrs = attrs
	}
	if usual >= 0 {
		defaults := all[usual].attrs
		for i := range all {
			all[i].attrs = withDefaults(defaults, all[i].attrs)
		}
	}
	return all, nil
}

func attributeNamed(attrs []Attribute, name string) (int, bool) {
	for i := range attrs {
		if attrs[i].Name == name {
			return i, true
		}
	}
	return 0, false
}

// withDefaults returns attributes with those of the default body in front.
func withDefaults(defaults, attrs []Attribute) []Attribute {
	out := append(make([]Attribute, 0, len(defaults)+len(attrs)), defaults...)
	for _, a := range attrs {
		if i, ok := attributeNamed(out, a.Name); ok {
			out[i] = a
		} else {
			out = append(out, a)
		}
	}
	return out
}

// titles returns those that a value means, and whether it means the default body. Rule
// LANG-RES-02.
func (s site) titles(at syntax.Node, v data.Value, used []string, hasDefault bool) (titles []string, isDefault bool, err error) {
	if v.IsNil() {
		return nil, false, issueAt(at, "Missing title. The title expression resulted in undef")
	}
	one := [1]data.Value{v}
	for i, x := range Flatten(one[:]) {
		twice := false
		switch {
		case x.IsNil():
			return nil, false, issueAt(at, "Missing title at index %d. The title expression resulted in an undef title", i)
		case x.Kind() == data.Symbol && x.Str() == "default":
			twice = hasDefault || isDefault
			isDefault = true
		case x.Kind() != data.String:
			return nil, false, issueAt(at, "Illegal title type at index %d. Expected String, got %s", i, types.Generalized(x))
		case x.Str() == "":
			return nil, false, issueAt(at, "Empty string title at %d. Title strings must have a length greater than zero.", i)
		default:
			twice = slices.Contains(used, x.Str()) || slices.Contains(titles, x.Str())
			titles = append(titles, x.Str())
		}
		if twice {
			return nil, false, Issuef("The title '%s' has already been used in this resource expression", Text(x))
		}
	}
	return titles, isDefault, nil
}

// defaults compiles Type { … }. Rule LANG-RES-10.
func (c *compiler) defaults(n *syntax.Defaults) code {
	s, of, attrs := c.site(n), c.node(n.Type), c.attributes(n.Ops)
	line, _ := s.position(n)
	return s.declaring(func(f *frame, catalog Catalog) (data.Value, error) {
		v, err := of(f)
		if err != nil {
			return v, err
		}
		t, _ := types.AsType(v)
		ref, ok := types.Reference{}, false
		if t != nil {
			ref, ok = types.AsReference(t)
		}
		if !ok || ref.Titled || ref.Type == "" || ref.Type == "Class" {
			return v, issueAt(n.Type, "Illegal Resource Type expression, expected result to be a type name, or untitled Resource, got %s", types.Generalized(v))
		}
		l, err := s.appendAttributes(f, nil, attrs)
		if err != nil {
			return v, err
		}
		return v, catalog.Default(s.statement(f, line), ref.Type, l)
	})
}

// override compiles Ref[…] { … }. Rule LANG-RES-11.
func (c *compiler) override(n *syntax.Override) code {
	s, of, attrs := c.site(n), c.node(n.Resource), c.attributes(n.Ops)
	line, _ := s.position(n)
	return s.declaring(func(f *frame, catalog Catalog) (data.Value, error) {
		v, err := of(f)
		if err != nil {
			return v, err
		}
		l, err := s.appendAttributes(f, nil, attrs)
		if err != nil {
			return v, err
		}
		for _, x := range Flatten([]data.Value{v}) {
			t, _ := types.AsType(x)
			ref, ok := types.Reference{}, false
			if t != nil {
				ref, ok = types.AsReference(t)
			}
			if !ok || ref.Type == "Class" {
				return v, Issuef("Resource Override can only operate on resources, got: %s", Label(x))
			}
			if err := catalog.Override(s.statement(f, line), ref.Type, ref.Title, l); err != nil {
				return v, err
			}
		}
		return v, nil
	})
}

// collect compiles Type <| … |> and Type <<| … |>>. Rule LANG-RES-12.
func (c *compiler) collect(n *syntax.Collect) code {
	s, attrs := c.site(n), c.attributes(n.Ops)
	line, _ := s.position(n)
	name, ok := n.Type.(*syntax.TypeName)
	if !ok {
		return c.failing(n, Errorf("LHS is not a type"))
	}
	query := c.query(n.Query.Expr)
	return s.declaring(func(f *frame, catalog Catalog) (data.Value, error) {
		if n.Query.Exported {
			s.warnExported(f, n, "collection will be")
		}
		if plainName(name.Value) == "class" {
			return data.Value{}, Errorf("Classes cannot be collected")
		}
		l, err := s.appendAttributes(f, nil, attrs)
		if err != nil {
			return data.Value{}, err
		}
		out := &Collection{Type: plainName(name.Value), Exported: n.Query.Exported, Attrs: l}
		if query != nil {
			if out.Query, err = query(f); err != nil {
				return data.Value{}, err
			}
		}
		return catalog.Collect(s.statement(f, line), out)
	})
}

// A queryCode is a compiled query.
type queryCode func(f *frame) (*Query, error)

func (c *compiler) query(n syntax.Node) queryCode {
	switch n := n.(type) {
	case nil, *syntax.Nop:
		return nil
	case *syntax.Paren:
		return c.query(n.Expr)
	case *syntax.Binary:
		switch n.Op {
		case "and", "or":
			left, right := c.query(n.Left), c.query(n.Right)
			return func(f *frame) (*Query, error) {
				l, err := left(f)
				if err != nil {
					return nil, err
				}
				r, err := right(f)
				return &Query{Op: n.Op, Left: l, Right: r}, err
			}
		case "==", "!=":
			return c.comparisonQuery(n)
		}
	}
	return func(*frame) (*Query, error) { return nil, noQuery(n) }
}

func noQuery(n syntax.Node) error {
	return Errorf("Cannot transform object of class Puppet::Pops::Model::%s", rubyModel(n))
}

func (c *compiler) comparisonQuery(n *syntax.Binary) queryCode {
	left, right := c.queried(n.Left), c.queried(n.Right)
	return func(f *frame) (*Query, error) {
		name, err := left(f)
		if err != nil {
			return nil, err
		}
		v, err := right(f)
		if err != nil {
			return nil, err
		}
		if n.Op == "==" && name.Str() == "tag" {
			for _, tag := range Flatten([]data.Value{v}) {
				if isNumber(tag) {
					return nil, Errorf("Cannot transform a number to a tag")
				}
			}
		}
		return &Query{Op: n.Op, Name: name, Value: v}, nil
	}
}

// queried compiles one side of a comparison in a query: a value that needs no expression.
func (c *compiler) queried(n syntax.Node) code {
	switch n := n.(type) {
	case *syntax.Paren:
		return c.queried(n.Expr)
	case *syntax.Access, *syntax.Variable, *syntax.Boolean, *syntax.String, *syntax.Concat, *syntax.Integer, *syntax.Float,
		*syntax.Undef, *syntax.Name:
		return c.node(n)
	case *syntax.Binary:
		switch n.Op {
		case "and", "or", "==", "!=": // a query within a query
			return c.node(n)
		}
	}
	return func(*frame) (data.Value, error) { return data.Value{}, noQuery(n) }
}

// rubyModel is what Puppet calls the class of a node that cannot be part of a query.
func rubyModel(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.Array:
		return "LiteralList"
	case *syntax.Hash:
		return "LiteralHash"
	case *syntax.Call:
		return "CallNamedFunctionExpression"
	case *syntax.Method:
		return "CallMethodExpression"
	case *syntax.Unary:
		switch n.Op {
		case "-":
			return "UnaryMinusExpression"
		case "*":
			return "UnfoldExpression"
		}
		return "NotExpression"
	case *syntax.Binary:
		switch n.Op {
		case "in":
			return "InExpression"
		case "=~", "!~":
			return "MatchExpression"
		case "=", "+=", "-=":
			return "AssignmentExpression"
		case "->", "<-", "~>", "<~":
			return "RelationshipExpression"
		}
		return "ArithmeticExpression"
	case *syntax.TypeName:
		return "QualifiedReference"
	case *syntax.Heredoc:
		return "HeredocExpression"
	case *syntax.Default:
		return "LiteralDefault"
	case *syntax.Regexp:
		return "LiteralRegularExpression"
	case *syntax.If:
		if n.Unless {
			return "UnlessExpression"
		}
		return "IfExpression"
	case *syntax.Case:
		return "CaseExpression"
	case *syntax.Boolean:
		return "LiteralBoolean"
	}
	return "Expression"
}

// relationship compiles ->, ~>, <- and <~. Rule LANG-REL-01.
func (c *compiler) relationship(n *syntax.Binary) code {
	s, left, right := c.site(n), c.node(n.Left), c.node(n.Right)
	line, _ := s.position(n)
	return s.declaring(func(f *frame, catalog Catalog) (data.Value, error) {
		l, err := left(f)
		if err != nil {
			return l, err
		}
		r, err := right(f)
		if err != nil {
			return r, err
		}
		return catalog.Relate(s.statement(f, line), n.Op, l, r)
	})
}

// attribute returns attributes of a resource by its reference. It is false if a type is
// no reference to one resource. Rule LANG-ACC-05.
func (s site) attribute(f *frame, n *syntax.Access, t types.Type, keys []data.Value) (v data.Value, known bool, err error) {
	catalog := f.thread.opts.Catalog
	ref, ok := types.AsReference(t)
	if catalog == nil || !ok || !ref.Titled || len(keys) == 0 {
		return v, false, nil
	}
	list := len(keys) > 1 || keys[0].Kind() == data.List
	var out []data.Value
	for _, k := range Flatten(keys) {
		if k.IsNil() {
			continue
		}
		if v, err = catalog.Attribute(plainName(ref.Type), ref.Title, Text(k)); err != nil {
			return v, true, err
		}
		out = append(out, v)
	}
	if list {
		return data.OfList(out), true, nil
	}
	return v, true, nil
}

// Scope returns the scope of the call.
func (c *Invocation) Scope() *Scope { return c.frame.scope }

// Statement returns where the call stands, for the catalog.
func (c *Invocation) Statement() Statement {
	file, line := c.Place()
	return Statement{c.frame.scope, file, line}
}

package rtype

import (
	"fmt"

	"indirtui/indirector/language/syntax"
)

// The types of the language that a generated file makes values of.
const (
	resourceType = "Puppet::Resource::ResourceType3"
	parameter    = "Puppet::Resource::Param"
)

// Generated returns the type that a file of .resource_types describes, as "puppet
// generate types" writes it. The error is in Puppet's words. Rule LANG-RT-03.
func Generated(name, file, text string) (*Type, error) {
	prog, report := syntax.Parse(&syntax.Source{File: file, Text: text}, syntax.Options{})
	if report.Failure != nil {
		return nil, report.Failure
	}
	statements := []syntax.Node{prog.Body}
	if block, ok := prog.Body.(*syntax.Block); ok {
		statements = block.Statements
	}
	refuse := func(format string, args ...any) (*Type, error) {
		return nil, fmt.Errorf("The code loaded from "+file+" "+format, args...)
	}
	if _, empty := prog.Body.(*syntax.Nop); empty {
		return refuse("does not create the resource type '%s' - it is empty", name)
	}
	var made *syntax.Method
	for _, s := range statements {
		if m, ok := s.(*syntax.Method); ok && made == nil && makes(m) {
			made = m
		}
	}
	switch {
	case made == nil:
		return refuse("does not create the resource type '%s' - no call to %s.new found.", name, resourceType)
	case len(statements) != 1:
		return refuse("must contain only the creation of resource type '%s' - it has additional logic.", name)
	}
	g := generated{t: &Type{File: file}, at: prog.Source}
	g.t.Line = g.line(made)
	g.read(made)
	if g.t.Name != name {
		return refuse("produced resource type with the wrong name, expected '%s', actual '%s'", name, g.t.Name)
	}
	return g.t, nil
}

// makes reports whether a call is Puppet::Resource::ResourceType3.new.
func makes(m *syntax.Method) bool {
	left, ok := m.Functor.Left.(*syntax.TypeName)
	return ok && left.Value == resourceType && m.Functor.Name.Value == "new"
}

// A generated reads the arguments of the call. What is not literal is noted.
type generated struct {
	t  *Type
	at *syntax.Source
}

func (g *generated) line(n syntax.Node) int {
	offset, _ := n.Span()
	line, _ := g.at.Position(offset)
	return line
}

// read reads name, properties, parameters, title patterns, and whether the type is
// isomorphic.
func (g *generated) read(m *syntax.Method) {
	for i, arg := range m.Args {
		switch i {
		case 0:
			if s, ok := arg.(*syntax.String); ok {
				g.t.Name = s.Value
			}
		case 1:
			g.attributes(arg, Property)
		case 2:
			g.attributes(arg, Parameter)
		case 3:
			g.titles(arg)
		case 4:
			same, ok := arg.(*syntax.Boolean)
			g.t.Many = ok && !same.Value
		}
	}
	switch {
	case len(g.t.Keys) == 0: // Puppet ignores the patterns then
		g.t.Titles = []TitlePattern{}
	case g.t.Titles != nil:
	case len(g.t.Keys) == 1:
		g.t.Titles = WholeTitle(g.t.Keys[0])
	default:
		g.t.note(g.t.Line, "there are several namevars, and no title patterns")
	}
}

// attributes reads a list of Puppet::Resource::Param(type, name, namevar).
func (g *generated) attributes(n syntax.Node, kind Kind) {
	list, ok := n.(*syntax.Array)
	if !ok {
		g.t.open(g.line(n), "the attributes are not literal")
		return
	}
	for _, v := range list.Values {
		name, namevar, ok := param(v)
		switch {
		case !ok:
			g.t.open(g.line(v), "this is no "+parameter)
		case g.t.has(name):
			g.t.note(g.line(v), name+" is declared twice")
		case len(g.t.Attributes) >= maxAttributes:
			g.t.open(g.line(v), fmt.Sprintf("more than %d attributes are not read", maxAttributes))
			return
		default:
			g.t.Attributes = append(g.t.Attributes, Attribute{name, kind})
			if namevar {
				g.t.Keys = append(g.t.Keys, name)
			}
		}
	}
}

func param(n syntax.Node) (name string, namevar, ok bool) {
	c, ok := n.(*syntax.Call)
	if !ok || len(c.Args) < 2 {
		return "", false, false
	}
	functor, isType := c.Functor.(*syntax.TypeName)
	text, isText := c.Args[1].(*syntax.String)
	if !isType || functor.Value != parameter || !isText {
		return "", false, false
	}
	if len(c.Args) > 2 {
		b, isBool := c.Args[2].(*syntax.Boolean)
		namevar = isBool && b.Value
	}
	return text.Value, namevar, true
}

// titles reads a hash of regular expressions and lists of attributes.
func (g *generated) titles(n syntax.Node) {
	h, ok := n.(*syntax.Hash)
	if !ok {
		g.t.note(g.line(n), "the title patterns are not literal, and the title is the name")
		return
	}
	all := []TitlePattern{}
	for _, e := range h.Entries {
		re, isRegexp := e.Key.(*syntax.Regexp)
		list, isList := e.Value.(*syntax.Array)
		if !isRegexp || !isList {
			g.t.note(g.line(e), "the title patterns are not literal, and the title is the name")
			return
		}
		p := TitlePattern{Pattern: re.Source, Attributes: []string{}}
		for _, v := range list.Values {
			if s, ok := v.(*syntax.String); ok {
				p.Attributes = append(p.Attributes, s.Value)
			}
		}
		all = append(all, p)
	}
	g.t.Titles = all
}

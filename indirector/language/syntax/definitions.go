package syntax

import "strings"

func (p *parser) definition(k kind) Node {
	switch k {
	case tClass:
		return p.class()
	case tDefine:
		return p.define()
	case tFunction:
		return p.function()
	case tNode:
		return p.nodeDefinition()
	default:
		return p.typeDefinition()
	}
}

// definitionName reads the name of what is defined. Rule LANG-GRAM-09.
func (p *parser) definitionName() token {
	t := p.expectOne(tName, tWord, tTypeName, tClass, tString)
	switch t.kind {
	case tClass:
		p.failAt(t.span(), "'class' keyword not allowed at this location")
	case tString:
		p.failAt(t.span(), "A quoted string is not valid as a name here")
	}
	return t
}

// qualified joins the names of the classes around this place with a name. Puppet
// does so for classes and defines. Rule LANG-GRAM-13.
func (p *parser) qualified(name string) string {
	all := strings.Join(p.classes, "::") + "::" + name
	return strings.TrimPrefix(all, "::")
}

// class reads class name (parameters) inherits parent { statements }.
func (p *parser) class() Node {
	word := p.take()
	name := p.definitionName().text
	p.classes = append(p.classes, name)
	c := &Class{span: word.span(), Params: p.parameterList()}
	if p.accept(tInherits) {
		if p.peek() == tDefault {
			c.Parent = p.take().text
		} else {
			c.Parent = p.definitionName().text
		}
	}
	body, end := p.body(word.span())
	p.classes = p.classes[:len(p.classes)-1]
	c.Name, c.Body, c.span = p.qualified(name), body, through(word.span(), end.span())
	return c
}

func (p *parser) define() Node {
	word := p.take()
	name := p.definitionName().text
	d := &Define{Name: p.qualified(name), Params: p.parameterList()}
	body, end := p.body(word.span())
	d.Body, d.span = body, through(word.span(), end.span())
	return d
}

func (p *parser) function() Node {
	word := p.take()
	f := &Function{Name: p.definitionName().text, Params: p.parameterList(), Returns: p.returns()}
	body, end := p.body(word.span())
	f.Body, f.span = body, through(word.span(), end.span())
	return f
}

// nodeDefinition reads node hosts inherits parent { statements }.
func (p *parser) nodeDefinition() Node {
	word := p.take()
	n := &NodeDefinition{Hosts: []Node{p.host()}}
	for p.accept(tComma) && p.beginsHost() {
		n.Hosts = append(n.Hosts, p.host())
	}
	if p.accept(tInherits) {
		n.Parent = p.host()
	}
	body, end := p.body(word.span())
	n.Body, n.span = body, through(word.span(), end.span())
	return n
}

func (p *parser) beginsHost() bool {
	switch p.peek() {
	case tName, tNumber, tString, tWord, tTextBegin, tHeredoc, tDefault, tRegexp:
		return true
	}
	return false
}

// host reads what matches a node: a name with dots, a string, a regular expression
// or default.
func (p *parser) host() Node {
	switch p.peek() {
	case tDefault, tRegexp:
		return p.literal()
	case tString, tWord, tTextBegin, tHeredoc:
		return p.quoted()
	}
	first := p.expectOne(tName, tNumber)
	host := &String{first.span(), first.text}
	for p.accept(tDot) {
		part := p.expectOne(tName, tNumber)
		host.Value += "." + part.text
		host.span = through(first.span(), part.span())
	}
	return host
}

// typeDefinition reads type Name = …, and the definitions that Puppet has words
// but no use for. As type(…) it is the name of a function.
func (p *parser) typeDefinition() Node {
	word := p.take()
	if p.peek() == tParen {
		return &Name{word.span(), word.text}
	}
	name := p.expect(tTypeName)
	switch p.peek() {
	case tBrace, tInherits:
		return p.plainType(word, name)
	}
	var left Node = &TypeName{name.span(), name.text}
	if p.accept(tBracket) {
		keys := p.elements(tBracketEnd, ofTypeAccess)
		left = &Access{through(left.place(), p.expect(tBracketEnd).span()), left, keys}
	}
	p.expect(tAssign)
	right := p.aliased()
	place := through(left.place(), right.place())
	if _, ok := left.(*Access); ok {
		return &TypeMapping{place, left, right}
	}
	return &TypeAlias{place, name.text, asType(right, place.empty())}
}

// plainType reads type Name inherits Name { statements }.
func (p *parser) plainType(word, name token) Node {
	d := &TypeDefinition{Name: name.text}
	if p.accept(tInherits) {
		d.Parent = p.expect(tTypeName).text
	}
	body, end := p.body(word.span())
	d.Body, d.span = body, through(word.span(), end.span())
	return d
}

// aliased reads the type that gets a name. An Entry is a parent and a hash.
func (p *parser) aliased() Node {
	switch p.peek() {
	case tBrace:
		return p.hash()
	case tListBegin, tBracket:
		return p.array()
	}
	t := p.typeReference()
	switch p.peek() {
	case tBrace:
		return &Entry{t.place().empty(), t, p.hash()}
	case tBracket:
		return p.access(t)
	}
	return t
}

// asType turns a hash into the Object that it describes.
func asType(n Node, at span) Node {
	switch n := n.(type) {
	case *Hash:
		return &Access{at, &TypeName{at, "Object"}, []Node{n}}
	case *Entry:
		parent, h := n.Key.(*TypeName), n.Value.(*Hash)
		if parent.Value == "Object" || parent.Value == "TypeSet" {
			return &Access{at, parent, []Node{h}}
		}
		h.Entries = append(h.Entries, &Entry{h.span.empty(), &Name{h.span.empty(), "parent"}, parent})
		return &Access{at, &TypeName{at, "Object"}, []Node{h}}
	}
	return n
}

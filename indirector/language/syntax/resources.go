package syntax

// resource reads an expression, and resources, defaults and overrides that braces
// behind it make of it. Rule LANG-GRAM-06.
func (p *parser) resource() (n Node, plain bool) {
	switch p.peek() {
	case tAt:
		return p.virtual(Virtual, "Virtual (@) can only be applied to a Resource Expression"), false
	case tAtAt:
		return p.virtual(Exported, "Exported (@@) can only be applied to a Resource Expression"), false
	case tClass:
		if p.second() == tBrace {
			n = p.classResource()
			break
		}
		fallthrough
	default:
		n, plain = p.expression(0), true
	}
	for p.peek() == tBrace {
		height := p.height
		p.height = 0
		n, plain = p.braces(n), false
		p.grow(height)
	}
	return n, plain
}

// virtual reads a resource behind @ or @@. All of it is reported at that place.
func (p *parser) virtual(form Form, problem string) Node {
	p.enter()
	at := p.take()
	n, _ := p.resource()
	p.leave()
	place := through(at.span(), n.place())
	switch n := n.(type) {
	case *Resource:
		n.Form, n.span = form, place
		for _, b := range n.Bodies {
			b.span = place.empty()
		}
	case *Defaults:
		n.Form, n.span = form, place
	case *Override:
		n.Form, n.span = form, place
	default:
		p.failAt(at.span(), problem)
	}
	return n
}

// classResource reads class { title: … }.
func (p *parser) classResource() Node {
	word := p.take()
	at := word.span().empty()
	p.take()
	r := &Resource{Type: &Name{at, word.text}, Bodies: p.resourceBodies(at)}
	r.span = through(word.span(), p.expect(tBraceEnd).span())
	return r
}

// braces reads { … } behind what may be the type of a resource.
func (p *parser) braces(left Node) Node {
	open := p.take()
	if p.attributesFollow() {
		ops := p.attributes()
		return p.untitled(left, ops, open, p.expect(tBraceEnd))
	}
	at := left.place().empty()
	first := p.resourceBody(at)
	r := &Resource{Type: left, Bodies: []*ResourceBody{first}}
	if p.accept(tSemicolon) && p.peek() != tBraceEnd {
		r.Bodies = append(r.Bodies, p.resourceBodies(at)...)
	}
	r.span = through(at, p.expect(tBraceEnd).span())
	return r
}

// attributesFollow reports whether what follows an open brace are attributes and
// not a title.
func (p *parser) attributesFollow() bool {
	switch k := p.peek(); {
	case k == tBraceEnd, k == tComma, k.isAttribute() && !beginsStatement[k]:
		return true
	case k == tTimes:
		return p.second() == tArrow
	case k.isAttribute():
		next := p.second()
		return next == tArrow || next == tPlusArrow
	}
	return false
}

// resourceBodies reads one body or more, with semicolons between them.
func (p *parser) resourceBodies(at span) []*ResourceBody {
	var out []*ResourceBody
	for {
		out = append(out, p.resourceBody(at))
		if !p.accept(tSemicolon) || p.peek() == tBraceEnd {
			return out
		}
	}
}

func (p *parser) resourceBody(at span) *ResourceBody {
	title := p.expression(0)
	p.expect(tColon)
	return &ResourceBody{at, title, p.attributes()}
}

// attributes reads any number of them. Commas may stand at both ends. Rule
// LANG-GRAM-07.
func (p *parser) attributes() []*Attribute {
	var out []*Attribute
	if p.beginsAttribute() {
		out = append(out, p.attribute())
	}
	for p.accept(tComma) && p.beginsAttribute() {
		out = append(out, p.attribute())
	}
	return out
}

func (p *parser) beginsAttribute() bool {
	k := p.peek()
	return k.isAttribute() || k == tTimes
}

func (p *parser) attribute() *Attribute {
	name := p.take()
	a := p.tree.attributes.next()
	if name.kind == tTimes {
		p.expect(tArrow)
	} else {
		a.Name, a.Append = name.text, p.expectOne(tArrow, tPlusArrow).kind == tPlusArrow
	}
	a.Value = p.expression(0)
	a.span = through(name.span(), a.Value.place())
	return a
}

// untitled returns what a type and attributes without a title are.
func (p *parser) untitled(left Node, ops []*Attribute, open, end token) Node {
	place := through(left.place(), end.span())
	switch left := left.(type) {
	case *Name:
		return p.withoutTitle(left, ops, open, end)
	case *TypeName:
		return &Defaults{span: place, Type: left, Ops: ops}
	case *Access:
		return &Override{span: place, Resource: left, Ops: ops}
	}
	p.failAt(left.place(), "Expression is not valid as a resource, resource-default, or resource-override")
	return nil
}

// withoutTitle returns a name and a hash: a call, or what the checker reports as a
// resource without a title. Rule LANG-CHK-06.
func (p *parser) withoutTitle(name *Name, ops []*Attribute, open, end token) Node {
	h := &Hash{span: through(open.span(), end.span())}
	for _, op := range ops {
		if op.Append {
			p.failAt(open.span(), "Syntax error resource body without title or hash with +>")
		}
		at := h.span.empty()
		var key Node = &String{at, op.Name}
		if op.Name == "" {
			key = &Nop{at} // the checker reports it
		}
		h.Entries = append(h.Entries, &Entry{at, key, op.Value})
	}
	n := single(p.calls([]item{{node: name}, {node: h}}))
	place := through(name.span, end.span())
	switch n := n.(type) {
	case *Call:
		n.span = place
	case *Block:
		n.span = place
	}
	return n
}

// collect reads a query behind a type, and attributes. Rule LANG-GRAM-10.
func (p *parser) collect(left Node) Node {
	open := p.take()
	q := &Query{Exported: open.kind == tExported}
	end := tCollectEnd
	if q.Exported {
		end = tExportedEnd
	}
	if p.peek() != end {
		q.Expr = p.expression(0)
	}
	q.span = through(open.span(), p.expect(end).span())
	c := &Collect{Type: left, Query: q}
	last := q.span
	if p.accept(tBrace) {
		c.Ops = p.attributes()
		last = p.expect(tBraceEnd).span()
	}
	c.span = through(left.place(), last)
	return c
}

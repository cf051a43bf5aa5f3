package syntax

// call reads the arguments of a call whose function was read. Rule LANG-GRAM-04.
func (p *parser) call(functor Node) Node {
	p.take()
	c := p.tree.calls.next()
	c.Functor = functor
	if p.peek() != tParenEnd {
		c.Args = p.elements(tParenEnd, ofArguments)
	}
	end := p.expect(tParenEnd).span()
	if p.peek() == tPipe {
		c.Lambda = p.lambda()
		end = c.Lambda.span
	}
	c.span = through(functor.place(), end)
	return c
}

// method reads .name, and its arguments if there are any. Without them Puppet
// reports it at the dot, with them at the parenthesis.
func (p *parser) method(left Node) Node {
	dot := p.take()
	name := p.expectOne(tName, tType)
	member := &Member{through(dot.span(), name.span()), left, &Name{dot.span().empty(), name.text}}
	m := &Method{span: member.span, Functor: member}
	if p.peek() == tParen {
		open := p.take()
		if p.peek() != tParenEnd {
			m.Args = p.elements(tParenEnd, ofMethod)
		}
		m.span = through(open.span(), p.expect(tParenEnd).span())
	}
	if p.peek() == tPipe {
		m.Lambda = p.lambda()
	}
	return m
}

// lambda reads |parameters| >> Type { statements }. Rule LANG-GRAM-05.
func (p *parser) lambda() *Lambda {
	open := p.expect(tPipe)
	l := &Lambda{span: open.span()}
	if !p.accept(tPipe) {
		l.Params = p.parameters(tPipe)
	}
	l.Returns = p.returns()
	body, end := p.body(l.span)
	l.Body, l.span = body, through(open.span(), end.span())
	return l
}

// parameterList reads parameters in parentheses, if there are any.
func (p *parser) parameterList() []*Parameter {
	if k := p.peek(); k != tParen && k != tLineParen {
		return nil
	}
	p.take()
	if p.accept(tParenEnd) {
		return nil
	}
	return p.parameters(tParenEnd)
}

// parameters reads one or more, and the token behind them.
func (p *parser) parameters(end kind) []*Parameter {
	var out []*Parameter
	for {
		out = append(out, p.parameter())
		if !p.accept(tComma) || p.peek() == end {
			p.expect(end)
			return out
		}
	}
}

// parameter reads [Type] [*]$name [= expression].
func (p *parser) parameter() *Parameter {
	out := &Parameter{}
	if p.peek() == tTypeName {
		out.Type = p.parameterType()
	}
	out.Rest = p.accept(tTimes)
	name := p.expect(tVariable)
	out.span, out.Name = name.span(), name.text
	if p.accept(tAssign) {
		out.Default = p.expression(0)
	}
	return out
}

// parameterType reads the name of a type and its keys.
func (p *parser) parameterType() Node {
	t := p.typeReference()
	if !p.accept(tBracket) {
		return t
	}
	keys := p.elements(tBracketEnd, ofTypeAccess)
	return &Access{through(t.place(), p.expect(tBracketEnd).span()), t, keys}
}

// returns reads >> Type, if it is there.
func (p *parser) returns() Node {
	if !p.accept(tShiftRight) {
		return nil
	}
	return p.parameterType()
}

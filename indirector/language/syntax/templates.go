package syntax

// template reads a whole template, which is a lambda. Rule LANG-EPP-02.
func (p *parser) template() Node {
	at := p.expect(tEppBegin).span()
	e := &EPP{span: at}
	l := &Lambda{span: at, Body: e}
	if p.accept(tPipe) {
		e.HasParams = true
		if !p.accept(tPipe) {
			l.Params = p.parameters(tPipe)
		}
	}
	if beginsStatement[p.peek()] {
		e.Body = &Block{at, p.statements(nil)}
	}
	return l
}

// render reads <%= expression %>. Braces may hold statements there; whether they
// are a hash shows behind the first element.
func (p *parser) render() Node {
	word := p.take()
	var n Node
	if p.peek() == tBrace {
		n = p.renderBraces()
	} else {
		n = p.expression(0)
	}
	return &Render{through(word.span(), p.expect(tEppEnd).span()), n}
}

func (p *parser) renderBraces() Node {
	if p.second() == tBraceEnd {
		return p.expression(0)
	}
	open := p.take()
	keyword := p.keywordIsValue()
	first, _ := p.element()
	if keyword || p.peek() == tArrow {
		return p.operators(p.hashFrom(open, first), 0)
	}
	statements := p.statements(first)
	end := p.expect(tBraceEnd)
	if len(statements) == 1 {
		return statements[0]
	}
	return &Block{through(open.span(), end.span()), statements}
}

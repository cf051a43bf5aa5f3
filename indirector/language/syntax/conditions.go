package syntax

// conditional reads if and unless. Rule LANG-GRAM-08.
func (p *parser) conditional() Node {
	word := p.take()
	n := &If{Unless: word.kind == tUnless, Test: p.expression(0)}
	body, end := p.branch()
	n.Then, n.span = body, through(word.span(), end.span())
	switch {
	case p.accept(tElse):
		n.Else, _ = p.branch()
	case !n.Unless && p.peek() == tElsif:
		p.enter()
		n.Else = p.conditional()
		p.leave()
	}
	return n
}

// caseOf reads case value { options }.
func (p *parser) caseOf() Node {
	word := p.take()
	c := &Case{Test: p.expression(0)}
	p.expect(tBrace)
	for {
		c.Options = append(c.Options, p.option())
		if p.peek() == tBraceEnd {
			c.span = through(word.span(), p.take().span())
			return c
		}
	}
}

// option reads values: { statements }.
func (p *parser) option() *Option {
	o := &Option{Values: []Node{p.expression(0)}}
	for p.accept(tComma) {
		o.Values = append(o.Values, p.expression(0))
	}
	colon := p.expect(tColon)
	body, end := p.body(colon.span())
	o.Then, o.span = body, through(colon.span(), end.span())
	return o
}

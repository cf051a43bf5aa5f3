package erb

import (
	"slices"

	"indirtui/indirector/language/ruby"
)

// primary reads a literal, a name, or a statement that has a value.
func (p *parser) primary() node {
	defer p.deeper()()
	t := p.cur()
	switch t.Kind {
	case ruby.Numeral:
		p.pos++
		v, ok := number(t)
		if !ok {
			p.pos--
			p.unsupported("the number " + t.Text)
		}
		return &literal{v}
	case ruby.String:
		if t.Text != "" {
			p.unsupported("a command of the shell")
		}
		p.pos++
		n := p.text(t).(*stringOf)
		for p.cur().Kind == ruby.String {
			next := p.text(p.take()).(*stringOf)
			n.parts = append(n.parts, next.parts...)
		}
		return n
	case ruby.SymbolText:
		p.pos++
		return p.symbolOf(t)
	case ruby.Words:
		p.pos++
		all := &arrayOf{}
		for _, piece := range t.Parts {
			if piece.Code != nil {
				p.unsupported("%W with code")
			}
			if t.Text == "i" {
				all.values = append(all.values, &literal{symbol(piece.Text)})
				continue
			}
			all.values = append(all.values, &stringOf{parts: []stringPart{{text: piece.Text}}})
		}
		return all
	case ruby.Regular:
		p.pos++
		return &regexpOf{t.Line, p.text(t).(*stringOf).parts, t.Options}
	case ruby.Instance:
		if len(t.Text) < 2 {
			p.unexpected()
		}
		p.pos++
		return &instance{t.Text}
	case ruby.Constant:
		p.pos++
		if c := p.cur(); isOp(c, "(") && !c.Spaced || c.Kind == ruby.String && c.Spaced {
			n := &callNode{line: t.Line, name: t.Text}
			p.arguments(n)
			return n
		}
		return &constant{t.Line, t.Text}
	case ruby.Ident:
		return p.name()
	case ruby.Keyword:
		return p.keyword(t)
	}
	return p.bracket(t)
}

func (p *parser) bracket(t ruby.Token) node {
	switch {
	case p.op("("):
		saved := p.noDo
		p.noDo = 0
		body := p.statements()
		p.noDo = saved
		p.expectOp(")")
		return &block{body}
	case p.op("["):
		return &arrayOf{p.argsUntil("]")}
	case p.op("{"):
		return p.hash()
	case p.op("->"):
		return p.lambda(t.Line)
	case p.op("::"):
		c := p.take()
		if c.Kind == ruby.Constant {
			return &constant{c.Line, c.Text}
		}
		p.pos--
	}
	p.unexpected()
	return nil
}

// name reads a variable or a call.
func (p *parser) name() node {
	t := p.take()
	next := p.cur()
	if p.locals[t.Text] && !(isOp(next, "(") && !next.Spaced) {
		return &local{t.Line, t.Text}
	}
	c := &callNode{line: t.Line, name: t.Text}
	p.arguments(c)
	if len(c.args) == 0 && c.block == nil && !c.parens {
		return &local{t.Line, t.Text} // which may be a method still
	}
	return c
}

func (p *parser) hash() node {
	h := &hashOf{}
	for {
		p.newlines()
		if p.op("}") {
			return h
		}
		t := p.cur()
		switch {
		case t.Kind == ruby.Label:
			p.pos++
			h.keys = append(h.keys, p.symbolOf(t))
		case isOp(t, "**"):
			p.unsupported("a hash within the literal of another")
		default:
			h.keys = append(h.keys, p.ternary())
			p.newlines()
			p.expectOp("=>")
		}
		p.newlines()
		h.values = append(h.values, p.expr())
		p.newlines()
		if !p.op(",") {
			p.newlines()
			p.expectOp("}")
			return h
		}
	}
}

// lambda reads ->(x) { … }.
func (p *parser) lambda(line int) node {
	b := &blockNode{line: line, isLambda: true}
	if p.op("(") {
		b.params = p.params(")")
	}
	saved := p.noDo
	p.noDo = 0
	defer func() { p.noDo = saved }()
	switch {
	case p.op("{"):
		b.body = p.bodyWithRescue()
		p.expectOp("}")
	case p.key("do"):
		b.body = p.bodyWithRescue()
		p.expectKey("end")
	default:
		p.unsupported("parameters of a lambda without parentheses")
	}
	return b
}

// modifying are the keywords that stand behind a statement.
var modifying = []string{"if", "unless", "while", "until", "rescue", "and", "or", "end", "do", "then", "else", "elsif", "when", "ensure"}

func (p *parser) keyword(t ruby.Token) node {
	p.pos++
	switch t.Text {
	case "nil":
		return &literal{nil}
	case "true", "false":
		return &literal{t.Text == "true"}
	case "self":
		return &literal{self{}}
	case "__LINE__":
		return &literal{int64(t.Line)}
	case "if", "unless":
		return p.ifNode(t.Text == "unless")
	case "while", "until":
		p.noDo++
		c := p.words()
		p.noDo--
		p.key("do")
		body := p.statements()
		p.expectKey("end")
		return &while{c, body, t.Text == "until"}
	case "for":
		return p.forNode()
	case "case":
		return p.caseNode()
	case "begin":
		body := p.statements()
		n := p.rescues(body)
		p.expectKey("end")
		return n
	case "def":
		return p.def()
	case "next", "break", "return":
		var v node = &literal{nil}
		if c := p.cur(); c.Kind != ruby.Newline && c.Kind != ruby.EOF && !(c.Kind == ruby.Keyword && slices.Contains(modifying, c.Text)) && !isOp(c, "}") && !isOp(c, ")") {
			v = p.expr()
			if isOp(p.cur(), ",") {
				all := []node{v}
				for p.op(",") {
					all = append(all, p.expr())
				}
				v = &arrayOf{all}
			}
		}
		return &jumpNode{t.Line, t.Text, v}
	case "then", "do", "end", "else", "elsif", "when", "in", "rescue", "ensure", "and", "or":
		p.pos--
		p.unexpected()
	}
	p.pos--
	p.unsupported("the keyword " + t.Text)
	return nil
}

func (p *parser) ifNode(unless bool) node {
	c := p.words()
	p.newlinesOrThen()
	b := &branch{c, p.statements(), nil}
	if unless {
		b.condition = &not{c}
	}
	switch {
	case p.key("elsif"):
		b.no = []node{p.ifNode(false)}
		return b
	case p.key("else"):
		b.no = p.statements()
	}
	p.expectKey("end")
	return b
}

func (p *parser) newlinesOrThen() {
	p.newlines()
	p.key("then")
}

func (p *parser) forNode() node {
	var names []param
	for {
		t := p.take()
		if t.Kind != ruby.Ident {
			p.pos--
			p.unexpected()
		}
		p.locals[t.Text] = true
		names = append(names, param{name: t.Text})
		if !p.op(",") {
			break
		}
	}
	p.expectKey("in")
	p.noDo++
	over := p.expr()
	p.noDo--
	p.key("do")
	body := p.statements()
	p.expectKey("end")
	return &forNode{names, over, body}
}

func (p *parser) caseNode() node {
	c := &caseNode{}
	if p.cur().Kind != ruby.Newline && !isKey(p.cur(), "when") {
		c.subject = p.expr()
	}
	p.newlines()
	for p.key("when") {
		var w when
		for {
			p.newlines()
			if p.op("*") {
				w.options = append(w.options, &splat{p.ternary()})
			} else {
				w.options = append(w.options, p.ternary())
			}
			if !p.op(",") {
				break
			}
		}
		p.newlinesOrThen()
		w.body = p.statements()
		c.whens = append(c.whens, w)
	}
	if isKey(p.cur(), "in") {
		p.unsupported("a pattern of case")
	}
	if p.key("else") {
		c.otherwise = p.statements()
	}
	p.expectKey("end")
	return c
}

func (p *parser) def() node {
	t := p.take()
	if t.Kind != ruby.Ident {
		p.pos--
		p.unsupported("the definition of a method of that name")
	}
	d := &defNode{t.Line, t.Text, nil, nil}
	around := p.locals
	p.locals = map[string]bool{}
	switch {
	case isOp(p.cur(), "."):
		p.unsupported("the definition of a method of one object")
	case p.op("("):
		d.params = p.params(")")
	case p.cur().Kind == ruby.Ident:
		p.unsupported("parameters of a method without parentheses")
	}
	d.body = p.bodyWithRescue()
	p.expectKey("end")
	p.locals = around
	return d
}

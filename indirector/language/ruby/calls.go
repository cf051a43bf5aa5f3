package ruby

// postfix reads what is called of a value: methods, elements, constants.
func (p *parser) postfix(n Node) Node {
	for {
		t := p.cur()
		switch {
		case t.is(op, "."), t.is(op, "&."):
			p.pos++
			p.newlines()
			name := p.take()
			if name.is(op, "(") { // a.()
				p.pos--
			}
			n = p.arguments(&Call{line: line(t.line), Receiver: n, Name: name.text}, name)
		case t.is(op, "::"):
			p.pos++
			name := p.take()
			path, isConst := n.(*Const)
			switch {
			case name.kind == constant && isConst && !p.opensCall(name):
				n = &Const{line(n.At()), path.Path + "::" + name.text}
			default:
				n = p.arguments(&Call{line: line(t.line), Receiver: n, Name: name.text}, name)
			}
		case t.is(op, "[") && !t.spaced:
			p.pos++
			n = &Call{line: line(t.line), Receiver: n, Name: "[]", Args: p.list("]")}
		default:
			return n
		}
	}
}

// opensCall reports whether parentheses with arguments stand right behind a name.
func (p *parser) opensCall(name token) bool { return p.at(op, "(") && name.glued }

// arguments reads the arguments and the block of a call whose name was read.
func (p *parser) arguments(c *Call, name token) Node {
	switch {
	case p.opensCall(name):
		p.pos++
		c.Args = p.list(")")
	case p.startsArgument(c, name):
		p.noDo++
		c.Args = p.commandArguments()
		p.noDo--
	}
	c.Block = p.block(c)
	return c
}

// startsArgument reports whether a call without parentheses has arguments.
func (p *parser) startsArgument(c *Call, name token) bool {
	t := p.cur()
	if !t.spaced || name.kind != ident && name.kind != constant && name.kind != keyword || c.Receiver == nil && p.locals[c.Name] {
		return false
	}
	switch t.kind {
	case ident, constant, variable, symbol, label, str, words, regexp, number:
		return true
	case keyword:
		return ending[t.text] && t.text != "end" || t.text == "not" || t.text == "defined?" || t.text == "super" || t.text == "yield" || t.text == "case" ||
			t.text == "__method__"
	case op:
		switch t.text {
		case "->", "!":
			return true
		case "(", "[":
			return true
		case "*", "&", "-", "::", "**", ":":
			return t.glued
		}
	}
	return false
}

// commandArguments reads arguments without parentheses.
func (p *parser) commandArguments() []Node {
	var all arguments
	for {
		p.argument(&all)
		if !p.accept(op, ",") {
			return all.nodes()
		}
		p.newlines()
	}
}

// list reads arguments or elements up to the bracket that closes them.
func (p *parser) list(end string) []Node {
	defer func(noDo int) { p.noDo = noDo }(p.noDo)
	p.noDo = 0
	var all arguments
	for {
		p.newlines()
		switch t := p.cur(); {
		case p.accept(op, end):
			return all.nodes()
		case t.kind == eof:
			p.cut = true
			return all.nodes()
		case p.accept(op, ","):
		case t.closes():
			all.list = append(all.list, &Other{line(t.line)})
			p.cut = true
			if t.kind == keyword { // an end is not ours
				return all.nodes()
			}
			p.pos++
		default:
			p.argument(&all)
			p.newlines()
			if t := p.cur(); !t.is(op, ",") && !t.closes() {
				all.list = append(all.list, &Other{line(t.line)})
				p.skipElement()
			}
		}
	}
}

// skipElement goes on to the comma or bracket behind an element that is not
// understood.
func (p *parser) skipElement() {
	depth := 0
	for ; p.cur().kind != eof; p.pos++ {
		switch t := p.cur(); {
		case depth == 0 && (t.is(op, ",") || t.closes() && !t.is(keyword, "in") && !t.is(keyword, "rescue")):
			return
		case t.is(op, "("), t.is(op, "["), t.is(op, "{"), t.is(keyword, "do"),
			t.kind == keyword && opening[t.text] && !p.tokens[p.pos-1].value():
			depth++
		case t.is(op, ")"), t.is(op, "]"), t.is(op, "}"), t.is(keyword, "end"):
			depth--
		}
	}
}

// arguments are a list whose options are not in braces.
type arguments struct {
	list    []Node
	options *Hash
}

func (a *arguments) nodes() []Node {
	if a.options != nil {
		return append(a.list, a.options)
	}
	return a.list
}

func (a *arguments) pair(key, value Node) {
	if a.options == nil {
		a.options = &Hash{line: line(key.At())}
	}
	a.options.Pairs = append(a.options.Pairs, Pair{key, value})
}

// argument reads one argument, or one pair.
func (p *parser) argument(all *arguments) {
	t := p.cur()
	if t.kind == label {
		p.pos++
		p.newlines()
		key := &Text{line(t.line), t.parts}
		if n := p.cur(); n.is(op, ",") || n.closes() { // x: is x: x
			all.pair(key, &Other{line(t.line)})
			return
		}
		all.pair(key, p.expression())
		return
	}
	n := p.expression()
	if p.accept(op, "=>") {
		p.newlines()
		all.pair(n, p.expression())
		return
	}
	all.list = append(all.list, n)
}

// block reads the block of a call, or returns nil.
func (p *parser) block(c *Call) *Block {
	t := p.cur()
	switch {
	case t.is(op, "{") && (c.Receiver != nil || !p.locals[c.Name]):
		p.pos++
		return p.blockBody(t, "}")
	case t.is(keyword, "do") && p.noDo == 0:
		p.pos++
		return p.blockBody(t, "end")
	}
	return nil
}

func (p *parser) blockBody(t token, end string) *Block {
	defer func(noDo int) { p.noDo = noDo }(p.noDo)
	p.noDo = 0
	b := &Block{line: line(t.line)}
	p.newlines()
	switch {
	case p.accept(op, "||"):
	case p.accept(op, "|"):
		for p.cur().kind != eof && !p.accept(op, "|") {
			if t := p.take(); t.kind == ident {
				p.locals[t.text] = true
				b.Params = append(b.Params, t.text)
			}
		}
	}
	if end == "}" {
		b.Body = p.statements()
		p.end(op, "}")
		return b
	}
	for i, body := range p.guarded() {
		if i == 0 {
			b.Body = body
		} else if body != nil {
			b.Body = append(b.Body, &Branch{line(t.line), "rescue", [][]Node{body}})
		}
	}
	return b
}

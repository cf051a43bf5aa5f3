package ruby

import (
	"slices"
	"strings"
)

// primary reads a literal, a name or a statement that has a word of its own. It
// always takes a token, except at what closes statements.
func (p *parser) primary() Node {
	t := p.cur()
	at := line(t.line)
	if t.closes() || t.kind == newline {
		return &Other{at}
	}
	p.pos++
	switch t.kind {
	case str, symbol:
		parts := slices.Clone(t.parts)
		for p.cur().kind == str && t.kind == str { // "a" "b"
			parts = append(parts, p.take().parts...)
		}
		return &Text{at, parts}
	case words:
		all := &Array{line: at}
		for _, part := range t.parts {
			all.Values = append(all.Values, &Text{at, []Part{part}})
		}
		return all
	case regexp:
		return &Regexp{at, t.parts, t.options}
	case number:
		return &Number{at}
	case variable:
		return &Variable{at, t.text}
	case constant:
		if p.opensCall(t) || p.cur().spaced && p.cur().kind == str { // Integer("1")
			return p.arguments(&Call{line: at, Name: t.text}, t)
		}
		return &Const{at, t.text}
	case ident:
		return p.arguments(&Call{line: at, Name: t.text}, t)
	case op:
		return p.bracket(t)
	case keyword:
		return p.keyword(t)
	}
	return &Other{at}
}

// bracket reads what begins with an operator.
func (p *parser) bracket(t token) Node {
	at := line(t.line)
	switch t.text {
	case "[":
		return &Array{at, p.list("]")}
	case "{":
		h := &Hash{line: at}
		for _, n := range p.list("}") {
			if pairs, ok := n.(*Hash); ok {
				h.Pairs = append(h.Pairs, pairs.Pairs...)
			} else {
				h.Pairs = append(h.Pairs, Pair{n, n}) // **others
			}
		}
		return h
	case "(":
		defer func(noDo int) { p.noDo = noDo }(p.noDo)
		p.noDo = 0
		inner := p.statements()
		p.accept(op, ")")
		if len(inner) == 1 {
			return inner[0]
		}
	case "::":
		if p.cur().kind == constant {
			return &Const{at, p.take().text}
		}
	case "->":
		return p.lambda(t)
	}
	return &Other{at}
}

// lambda reads ->(x) { … }.
func (p *parser) lambda(t token) Node {
	var params []string
	for !p.cur().is(op, "{") && !p.cur().is(keyword, "do") {
		n := p.take()
		if n.kind == eof || n.kind == newline {
			return &Other{line(t.line)}
		}
		if n.kind == ident {
			p.locals[n.text] = true
			params = append(params, n.text)
		}
	}
	end := "end"
	if p.take().text == "{" {
		end = "}"
	}
	b := p.blockBody(t, end)
	b.Params = params
	return b
}

// keyword reads what begins with a keyword, which was taken.
func (p *parser) keyword(t token) Node {
	at := line(t.line)
	switch t.text {
	case "nil":
		return &Nil{at}
	case "true", "false":
		return &Bool{at, t.text == "true"}
	case "self":
		return &Self{at}
	case "def":
		return p.def(t)
	case "class", "module":
		return p.module(t)
	case "begin":
		return &Branch{at, t.text, p.guarded()}
	case "if", "unless":
		p.condition("then")
		return &Branch{at, t.text, p.branches()}
	case "case":
		if p.cur().kind != newline {
			p.expression()
		}
		p.newlines()
		return &Branch{at, t.text, p.branches()}
	case "while", "until":
		p.condition("do")
		return &Branch{at, t.text, p.branches()}
	case "for":
		for p.cur().kind != eof && p.cur().kind != newline && !p.accept(keyword, "in") {
			p.locals[p.take().text] = true
		}
		p.condition("do")
		return &Branch{at, t.text, p.branches()}
	case "return":
		if c := p.cur(); c.kind == newline || c.closes() || c.kind == keyword && (c.text == "if" || c.text == "unless") {
			return &Return{at, nil}
		}
		return &Return{at, p.expression()}
	case "super", "yield", "defined?", "next", "break":
		p.arguments(&Call{line: at, Name: t.text}, t)
	case "alias", "undef":
		p.skip()
	}
	return &Other{at}
}

// condition reads a condition, and the word that may stand behind it.
func (p *parser) condition(word string) {
	if word == "do" { // it belongs to the loop
		p.noDo++
		defer func() { p.noDo-- }()
	}
	p.expression()
	p.upTo(word)
}

// upTo goes on behind a word, or to the end of the line.
func (p *parser) upTo(word string) {
	for p.cur().kind != newline && !p.cur().closes() && !p.at(keyword, word) {
		p.pos++
	}
	p.accept(keyword, word)
}

// branches reads bodies up to the end of an if, a case or a loop.
func (p *parser) branches() [][]Node {
	all := [][]Node{p.statements()}
	for {
		switch t := p.cur(); {
		case t.is(keyword, "elsif"):
			p.pos++
			p.condition("then")
		case t.is(keyword, "when"), t.is(keyword, "in"):
			p.pos++
			p.patterns()
		case t.is(keyword, "else"), t.is(keyword, "rescue"), t.is(keyword, "ensure"):
			p.pos++
		default:
			p.end(keyword, "end")
			return all
		}
		all = append(all, p.statements())
	}
}

// patterns goes over what a when matches, which has no declarations.
func (p *parser) patterns() {
	for {
		p.newlines()
		p.expression()
		if !p.accept(op, ",") {
			break
		}
	}
	p.upTo("then")
}

// guarded reads the bodies of begin, def or do: the first, then those of rescue,
// else and ensure.
func (p *parser) guarded() [][]Node {
	all := [][]Node{p.statements()}
	for {
		switch t := p.cur(); {
		case t.is(keyword, "rescue"):
			p.pos++
			for p.cur().kind != newline && p.cur().kind != eof && !p.accept(keyword, "then") {
				p.pos++
			}
		case t.is(keyword, "else"), t.is(keyword, "ensure"):
			p.pos++
		default:
			p.end(keyword, "end")
			return all
		}
		all = append(all, p.statements())
	}
}

// module reads a module or class, whose first word was taken.
func (p *parser) module(t token) Node {
	m := &Module{line: line(t.line)}
	if p.accept(op, "<<") {
		p.expression()
	} else {
		var path []string
		for p.cur().kind == constant || p.cur().is(op, "::") {
			if n := p.take(); n.kind == constant {
				path = append(path, n.text)
			}
		}
		m.Name = strings.Join(path, "::")
		if p.accept(op, "<") {
			p.expression()
		}
	}
	for _, body := range p.guarded() {
		m.Body = append(m.Body, body...)
	}
	return m
}

// def reads the definition of a method.
func (p *parser) def(t token) Node {
	d := &Def{line: line(t.line)}
	name := p.take()
	if p.at(op, ".") {
		d.Self = name.text == "self"
		p.pos++
		name = p.take()
	}
	d.Name = name.text
	if name.kind == label { // def a:b cannot be
		d.Name = ""
	}
	if name.glued && p.at(op, "=") && p.peek().is(op, "(") {
		p.pos++
		d.Name += "="
	}
	for name.kind == op && p.cur().kind == op && !p.cur().spaced && !p.at(op, "(") { // []=
		p.pos++
	}
	outer := p.locals
	p.locals = map[string]bool{}
	defer func() { p.locals = outer }()
	d.Params = p.params()
	if p.accept(op, "=") { // def x = 1
		d.Body = []Node{p.statement()}
		return d
	}
	for i, body := range p.guarded() {
		if i == 0 {
			d.Body = body
		}
	}
	return d
}

// params reads the parameters of a method, of which names matter only.
func (p *parser) params() []string {
	var all []string
	depth, fresh := 0, true
	for p.cur().kind != eof {
		t := p.cur()
		switch {
		case depth == 0 && (t.kind == newline || t.is(op, "=")):
			return all
		case t.is(op, "("), t.is(op, "["), t.is(op, "{"):
			depth++
		case t.is(op, ")"), t.is(op, "]"), t.is(op, "}"):
			if depth--; depth <= 0 {
				p.pos++
				return all
			}
		case t.is(op, ","):
			fresh = true
			p.pos++
			continue
		case t.kind == label && fresh:
			p.locals[t.parts[0].Text] = true
			fresh = false
		case t.kind == ident && fresh:
			p.locals[t.text] = true
			all = append(all, t.text)
			fresh = false
		case depth == 0 && t.kind == keyword:
			return all
		}
		p.pos++
	}
	return all
}

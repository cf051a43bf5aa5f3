package ruby

// Parse reads a source. What it does not understand is an [Other] in the tree. It is
// not whole if its statements and their ends do not fit, or if it nests too deep:
// then a statement may stand in another than it seems. Of a source above [MaxBytes]
// nothing is read.
func Parse(src string) (nodes []Node, whole bool) {
	if len(src) > MaxBytes {
		return []Node{&Other{1}}, false
	}
	p := &parser{tokens: scan(src), locals: map[string]bool{}}
	var all []Node
	for p.cur().kind != eof {
		all = append(all, p.statements()...)
		if t := p.cur(); t.kind != eof { // an end too many
			all = append(all, &Other{line(t.line)})
			p.pos++
			p.cut = true
		}
	}
	return all, !p.cut
}

// A parser reads statements by recursive descent.
type parser struct {
	tokens []token
	pos    int
	depth  int
	cut    bool            // ends do not fit
	noDo   int             // a do belongs to a call or loop around this expression
	locals map[string]bool // variables that were assigned
}

func (p *parser) cur() token { return p.tokens[p.pos] }

func (p *parser) peek() token { return p.tokens[min(p.pos+1, len(p.tokens)-1)] }

// take returns the token and goes on; eof stays.
func (p *parser) take() token {
	t := p.cur()
	if t.kind != eof {
		p.pos++
	}
	return t
}

func (p *parser) at(k kind, text string) bool { return p.cur().is(k, text) }

// accept takes a token if it is there.
func (p *parser) accept(k kind, text string) bool {
	if !p.at(k, text) {
		return false
	}
	p.pos++
	return true
}

func (p *parser) newlines() {
	for p.cur().kind == newline {
		p.pos++
	}
}

// closers are the keywords that end a list of statements.
var closers = wordSet(`end else elsif when in rescue ensure`)

// closes reports whether a list of statements ends at a token.
func (t token) closes() bool {
	switch t.kind {
	case eof:
		return true
	case keyword:
		return closers[t.text]
	case op:
		return t.text == "}" || t.text == ")" || t.text == "]"
	}
	return false
}

// statements reads up to what closes them.
func (p *parser) statements() []Node {
	var all []Node
	for {
		p.newlines()
		if p.cur().closes() {
			return all
		}
		all = append(all, p.statement())
	}
}

// deeper reports whether nesting may go on. If not, everything up to the end of the
// source is left out, since where the statement ends is not known.
func (p *parser) deeper() bool {
	if p.depth++; p.depth <= maxNesting {
		return true
	}
	p.pos = len(p.tokens) - 1
	p.cut = true
	return false
}

// end takes what ends a statement or a block.
func (p *parser) end(k kind, text string) {
	if !p.accept(k, text) {
		p.cut = true
	}
}

// statement reads one statement with its modifiers.
func (p *parser) statement() Node {
	defer func(depth, noDo int) { p.depth, p.noDo = depth, noDo }(p.depth, p.noDo)
	at := line(p.cur().line)
	if !p.deeper() {
		return &Other{at}
	}
	p.noDo = 0
	start := p.pos
	n := p.expression()
	for {
		switch t := p.cur(); {
		case t.kind == newline, t.closes() && p.pos > start && !t.is(keyword, "rescue") && !t.is(keyword, "in"):
			return n
		case t.is(keyword, "if"), t.is(keyword, "unless"), t.is(keyword, "while"), t.is(keyword, "until"):
			p.pos++
			p.expression()
			n = &Branch{at, t.text, [][]Node{{n}}}
		case t.is(keyword, "rescue"):
			p.pos++
			p.expression()
		default:
			p.skip()
			return &Other{at}
		}
	}
}

// opening are the keywords that need an end, where a value may begin.
var opening = wordSet(`begin case class def module if unless while until for`)

// skip goes on behind a statement that is not understood, over all that is nested
// in it.
func (p *parser) skip() {
	depth, loop := 0, false
	for first := true; p.cur().kind != eof; first = false {
		t := p.cur()
		switch {
		case t.kind == newline:
			loop = false
			if depth == 0 {
				return
			}
		case t.is(op, "("), t.is(op, "["), t.is(op, "{"):
			depth++
		case t.is(op, ")"), t.is(op, "]"), t.is(op, "}"), t.is(keyword, "end"):
			if depth == 0 && !first {
				return
			}
			depth = max(depth-1, 0)
		case t.is(keyword, "do"):
			if !loop {
				depth++
			}
			loop = false
		case t.kind == keyword && opening[t.text] && (p.pos == 0 || !p.tokens[p.pos-1].value()):
			depth++
			loop = t.text == "while" || t.text == "until" || t.text == "for"
		}
		p.pos++
	}
}

// assigning are the operators of assignments.
var assigning = wordSet(`= += -= *= /= %= **= ||= &&= |= &= ^= <<= >>=`)

// infix are the operators between two values.
var infix = wordSet(`+ - * / % ** == != === =~ !~ < > <= >= <=> && || & | ^ << >> .. ...`)

// expression reads an expression with its operators.
func (p *parser) expression() Node {
	defer func(depth int) { p.depth = depth }(p.depth)
	if !p.deeper() {
		return &Other{line(p.cur().line)}
	}
	n := p.operand()
	for {
		t := p.cur()
		switch {
		case t.kind == op && assigning[t.text] && assignable(n):
			p.pos++
			p.newlines()
			if c, ok := n.(*Call); ok && c.Receiver == nil {
				p.locals[c.Name] = true
			}
			value := p.expression()
			if p.at(op, ",") && p.noDo == 0 { // a list without brackets
				return p.other(n)
			}
			n = &Assign{line(n.At()), t.text, n, value}
		case t.kind == op && infix[t.text], t.is(keyword, "and"), t.is(keyword, "or"):
			p.pos++
			p.newlines()
			n = &Binary{line(n.At()), t.text, n, p.operand()}
		case t.is(op, "?"):
			p.pos++
			p.ternary()
			n = &Other{line(n.At())}
		default:
			return n
		}
	}
}

// ternary reads what is behind the question mark.
func (p *parser) ternary() {
	p.newlines()
	if p.cur().kind == label { // a ? b: c
		p.pos++
	} else {
		p.expression()
		p.newlines()
		p.accept(op, ":")
	}
	p.newlines()
	p.expression()
}

// other gives up an expression, up to the end of its statement.
func (p *parser) other(n Node) Node {
	p.skip()
	return &Other{line(n.At())}
}

func assignable(n Node) bool {
	switch n := n.(type) {
	case *Variable, *Const:
		return true
	case *Call:
		return n.Block == nil
	}
	return false
}

// operand reads a value with its signs, and all that is called of it.
func (p *parser) operand() Node {
	defer func(depth int) { p.depth = depth }(p.depth)
	t := p.cur()
	if !p.deeper() {
		return &Other{line(t.line)}
	}
	if t.kind == op {
		switch t.text {
		case "!", "-", "+", "~", "*", "&", "**", "..", "...":
			p.pos++
			if p.cur().closes() || p.cur().is(op, ",") { // an anonymous argument
				return &Other{line(t.line)}
			}
			return &Unary{line(t.line), t.text, p.operand()}
		}
	}
	if t.is(keyword, "not") {
		p.pos++
		return &Unary{line(t.line), t.text, p.expression()}
	}
	return p.postfix(p.primary())
}

package erb

import (
	"fmt"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/language/ruby"
)

// maxNesting is how deep expressions may nest.
const maxNesting = 200

// A parser reads Ruby by recursive descent. What it does not know is an error: nothing is
// left out.
type parser struct {
	tokens []ruby.Token
	pos    int
	depth  int
	noDo   int             // a do belongs to the loop around this expression
	locals map[string]bool // variables that were assigned
}

// A stop ends the parser; it does not leave the package.
type stop struct{ err error }

// parse reads a source.
func parse(src string) (body []node, err error) {
	tokens := ruby.Tokens(src)
	if len(tokens) == 0 {
		return nil, &unsupported{1, fmt.Sprintf("a source of more than %d bytes", ruby.MaxBytes)}
	}
	p := &parser{tokens: tokens, locals: map[string]bool{}}
	defer func() {
		if r := recover(); r != nil {
			s, ok := r.(stop)
			if !ok {
				panic(r)
			}
			err = s.err
		}
	}()
	if last := tokens[len(tokens)-1]; last.Open {
		return nil, &syntaxError{last.Line, "unterminated string meets end of file"}
	}
	body = p.statements()
	if p.cur().Kind != ruby.EOF {
		p.unexpected()
	}
	return body, nil
}

// A syntaxError is a source that is not Ruby.
type syntaxError struct {
	line int
	text string
}

func (e *syntaxError) Error() string {
	return "(erb):" + strconv.Itoa(e.line) + ": syntax error, " + e.text
}

func (p *parser) unexpected() {
	t := p.cur()
	what := "'" + t.Text + "'"
	switch t.Kind {
	case ruby.EOF:
		what = "end-of-input"
	case ruby.Newline:
		what = "end of line"
	case ruby.String:
		what = "string literal"
	}
	panic(stop{&syntaxError{t.Line, "unexpected " + what}})
}

func (p *parser) unsupported(what string) {
	panic(stop{&unsupported{p.cur().Line, what}})
}

func (p *parser) cur() ruby.Token { return p.tokens[p.pos] }

func (p *parser) ahead(n int) ruby.Token { return p.tokens[min(p.pos+n, len(p.tokens)-1)] }

func (p *parser) take() ruby.Token {
	t := p.cur()
	if t.Kind != ruby.EOF {
		p.pos++
	}
	return t
}

func isOp(t ruby.Token, text string) bool  { return t.Kind == ruby.Operator && t.Text == text }
func isKey(t ruby.Token, text string) bool { return t.Kind == ruby.Keyword && t.Text == text }

func (p *parser) op(text string) bool {
	if isOp(p.cur(), text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) key(text string) bool {
	if isKey(p.cur(), text) {
		p.pos++
		return true
	}
	return false
}

func (p *parser) expectOp(text string) {
	if !p.op(text) {
		p.unexpected()
	}
}

func (p *parser) expectKey(text string) {
	if !p.key(text) {
		p.unexpected()
	}
}

func (p *parser) newlines() {
	for p.cur().Kind == ruby.Newline {
		p.pos++
	}
}

func (p *parser) deeper() func() {
	if p.depth++; p.depth > maxNesting {
		p.unsupported(fmt.Sprintf("nesting of more than %d expressions", maxNesting))
	}
	return func() { p.depth-- }
}

var closers = []string{"end", "else", "elsif", "when", "in", "rescue", "ensure"}

// statements reads up to what closes them.
func (p *parser) statements() []node {
	defer p.deeper()()
	all := []node{}
	for {
		p.newlines()
		t := p.cur()
		if t.Kind == ruby.EOF || t.Kind == ruby.Keyword && slices.Contains(closers, t.Text) || isOp(t, "}") || isOp(t, ")") || isOp(t, "]") {
			return all
		}
		all = append(all, &statement{t.Line, p.statement()})
		t = p.cur()
		if t.Kind != ruby.Newline && t.Kind != ruby.EOF && !isOp(t, "}") && !isOp(t, ")") && !(t.Kind == ruby.Keyword && slices.Contains(closers, t.Text)) {
			p.unexpected()
		}
	}
}

// statement reads an expression and what modifies it.
func (p *parser) statement() node {
	n := p.words()
	for {
		t := p.cur()
		if t.Kind != ruby.Keyword {
			return n
		}
		switch t.Text {
		case "if", "unless":
			p.pos++
			c := p.words()
			if t.Text == "unless" {
				c = &not{c}
			}
			n = &branch{c, []node{n}, nil}
		case "while", "until":
			p.pos++
			n = &while{p.words(), []node{n}, t.Text == "until"}
		case "rescue":
			p.pos++
			n = &begin{body: []node{n}, rescues: []rescue{{body: []node{p.words()}}}}
		default:
			return n
		}
	}
}

// words reads not, and, or.
func (p *parser) words() node {
	n := p.notWord()
	for {
		switch {
		case p.key("and"):
			p.newlines()
			n = &and{n, p.notWord()}
		case p.key("or"):
			p.newlines()
			n = &or{n, p.notWord()}
		default:
			return n
		}
	}
}

func (p *parser) notWord() node {
	if p.key("not") {
		return &not{p.notWord()}
	}
	if n := p.multiple(); n != nil {
		return n
	}
	return p.expr()
}

// multiple reads an assignment to several variables, if it is one.
func (p *parser) multiple() node {
	start := p.pos
	var targets []node
	for {
		n := p.target(len(targets) > 0)
		if n == nil {
			break
		}
		targets = append(targets, n)
		if !p.op(",") {
			break
		}
	}
	if len(targets) < 2 || !isOp(p.cur(), "=") {
		p.pos = start
		return nil
	}
	p.pos++
	p.newlines()
	p.declare(targets)
	right := p.ternaryOrAssign()
	if isOp(p.cur(), ",") {
		all := []node{right}
		for p.op(",") {
			all = append(all, p.ternaryOrAssign())
		}
		right = &arrayOf{all}
	}
	return &multiAssign{targets, right}
}

// target reads what one of several values is assigned to: a variable, several of them in
// parentheses, or one that takes the rest, if there may be one. It is nil if there is none.
func (p *parser) target(rest bool) node {
	t := p.cur()
	switch {
	case rest && isOp(t, "*"):
		p.pos++
		if n := p.target(false); n != nil {
			return &splat{n}
		}
	case isOp(t, "("):
		defer p.deeper()()
		p.pos++
		group := &multiAssign{}
		for n := p.target(true); n != nil; n = p.target(true) {
			group.targets = append(group.targets, n)
			if !p.op(",") {
				break
			}
		}
		if len(group.targets) > 0 && p.op(")") {
			return group
		}
	case t.Kind == ruby.Instance && len(t.Text) > 1:
		p.pos++
		return &instance{t.Text}
	case t.Kind == ruby.Ident, t.Kind == ruby.Instance:
		p.pos++
		return &local{t.Line, t.Text}
	}
	return nil
}

// declare makes the variables known that values are assigned to.
func (p *parser) declare(targets []node) {
	for _, n := range targets {
		switch n := n.(type) {
		case *splat:
			p.declare([]node{n.value})
		case *multiAssign:
			p.declare(n.targets)
		case *local:
			p.locals[n.name] = true
		}
	}
}

func (p *parser) expr() node { return p.ternaryOrAssign() }

var assigning = []string{"=", "+=", "-=", "*=", "/=", "%=", "**=", "||=", "&&=", "<<=", ">>=", "|=", "&="}

func (p *parser) ternaryOrAssign() node {
	defer p.deeper()()
	if t := p.cur(); t.Kind == ruby.Ident && p.ahead(1).Kind == ruby.Operator && slices.Contains(assigning, p.ahead(1).Text) {
		p.locals[t.Text] = true
	}
	left := p.ternary()
	t := p.cur()
	if t.Kind != ruby.Operator || !slices.Contains(assigning, t.Text) {
		return left
	}
	switch n := left.(type) {
	case *local, *instance:
	case *callNode:
		if n.name != "[]" && (n.receiver == nil || len(n.args) > 0) {
			p.unexpected()
		}
	default:
		p.unexpected()
	}
	p.pos++
	p.newlines()
	value := p.assigned(t)
	if p.key("rescue") {
		value = &begin{body: []node{value}, rescues: []rescue{{body: []node{p.ternary()}}}}
	}
	return &assign{t.Line, left, strings.TrimSuffix(t.Text, "="), value}
}

// assigned reads what stands behind an operator that assigns: * makes a list of it.
func (p *parser) assigned(operator ruby.Token) node {
	if operator.Text == "=" && p.op("*") {
		return &arrayOf{[]node{&splat{p.ternary()}}}
	}
	return p.ternaryOrAssign()
}

func (p *parser) ternary() node {
	c := p.rangeExpr()
	if !p.op("?") {
		return c
	}
	p.newlines()
	yes := p.ternaryOrLabel()
	p.newlines()
	if !p.op(":") {
		p.unexpected()
	}
	p.newlines()
	no := p.ternaryOrAssign()
	return &branch{c, []node{yes}, []node{no}}
}

// ternaryOrLabel reads the first branch, whose name the scanner may have taken for a
// label.
func (p *parser) ternaryOrLabel() node {
	t := p.cur()
	if t.Kind == ruby.Label && len(t.Parts) == 1 {
		p.tokens = slices.Clone(p.tokens)
		word := ruby.Token{Kind: ruby.Ident, Text: t.Parts[0].Text, Line: t.Line, Spaced: true}
		switch {
		case slices.Contains([]string{"nil", "true", "false"}, word.Text):
			word.Kind = ruby.Keyword
		case !p.locals[word.Text]:
			word = ruby.Token{Kind: ruby.String, Parts: t.Parts, Line: t.Line}
		}
		p.tokens[p.pos] = word
		p.tokens = slices.Insert(p.tokens, p.pos+1, ruby.Token{Kind: ruby.Operator, Text: ":", Line: t.Line})
	}
	return p.ternaryOrAssign()
}

func (p *parser) rangeExpr() node {
	t := p.cur()
	if isOp(t, "..") || isOp(t, "...") { // without a beginning
		p.pos++
		return &rangeOf{&literal{nil}, p.binary(0), t.Text == "..."}
	}
	n := p.binary(0)
	t = p.cur()
	if isOp(t, "..") || isOp(t, "...") {
		p.pos++
		var to node = &literal{nil}
		if next := p.cur(); next.Kind != ruby.Newline && next.Kind != ruby.EOF && !isOp(next, ")") && !isOp(next, "]") {
			to = p.binary(0)
		}
		return &rangeOf{n, to, t.Text == "..."}
	}
	return n
}

// levels are the operators of two sides, those that bind least first.
var levels = [][]string{
	{"||"}, {"&&"}, {"<=>", "==", "===", "!=", "=~", "!~"}, {"<", "<=", ">", ">="}, {"|", "^"}, {"&"}, {"<<", ">>"}, {"+", "-"}, {"*", "/", "%"},
}

const notLevel = 2 // ! binds more than all, but "defined?" less than the operators from here on

func (p *parser) binary(level int) node {
	if level == len(levels) {
		return p.minus()
	}
	if level == notLevel && isKey(p.cur(), "defined?") {
		return p.defined()
	}
	left := p.binary(level + 1)
	for {
		t := p.cur()
		if t.Kind != ruby.Operator || !slices.Contains(levels[level], t.Text) {
			return left
		}
		p.pos++
		p.newlines()
		right := p.binary(level + 1)
		switch t.Text {
		case "||":
			left = &or{left, right}
		case "&&":
			left = &and{left, right}
		case "!=":
			left = &not{&callNode{line: t.Line, receiver: left, name: "==", args: []node{right}}}
		case "!~":
			left = &not{&callNode{line: t.Line, receiver: left, name: "=~", args: []node{right}}}
		default:
			call := &callNode{line: t.Line, receiver: left, name: t.Text, args: []node{right}}
			left = p.naming(call)
		}
	}
}

// groupName matches the name of a group in a regular expression.
var groupName = regexp.MustCompile(`\(\?<([a-z_]\w*)>`)

// naming returns a call that also assigns the groups with names to variables of their names, if
// it matches a regular expression that stands on the left.
func (p *parser) naming(call *callNode) node {
	re, ok := call.receiver.(*regexpOf)
	if !ok || call.name != "=~" || len(re.parts) != 1 || re.parts[0].code != nil {
		return call
	}
	named := &namingMatch{match: call}
	for _, m := range groupName.FindAllStringSubmatch(re.parts[0].text, -1) {
		named.names = append(named.names, m[1])
		p.locals[m[1]] = true
	}
	if named.names == nil {
		return call
	}
	return named
}

func (p *parser) defined() node {
	p.pos++
	if p.op("(") {
		n := p.expr()
		p.expectOp(")")
		return p.postfix(&definedNode{n})
	}
	return &definedNode{p.unary()}
}

// minus reads - in front of what may be a power: -2 ** 2 is -4.
func (p *parser) minus() node {
	t := p.cur()
	if isOp(t, "-") {
		p.pos++
		if p.cur().Kind == ruby.Numeral && !p.cur().Spaced {
			n := p.unary()
			if l, ok := n.(*literal); ok {
				return p.power(&literal{negated(l.value)}, true)
			}
			if c, ok := n.(*callNode); ok && negateFirst(c) { // -5.abs
				return c
			}
			return &callNode{line: t.Line, receiver: n, name: "-@"}
		}
		return &callNode{line: t.Line, receiver: p.minus(), name: "-@"}
	}
	return p.power(p.unary(), false)
}

// negateFirst makes the number negative that a chain of calls begins with.
func negateFirst(c *callNode) bool {
	switch r := c.receiver.(type) {
	case *literal:
		if n := negated(r.value); n != nil {
			c.receiver = &literal{n}
			return true
		}
	case *callNode:
		return negateFirst(r)
	}
	return false
}

func negated(v value) value {
	switch v := v.(type) {
	case int64:
		return -v
	case float64:
		return -v
	case *big.Int:
		return new(big.Int).Neg(v)
	}
	return nil
}

func (p *parser) power(base node, negative bool) node {
	t := p.cur()
	if !p.op("**") {
		return base
	}
	n := &callNode{line: t.Line, receiver: base, name: "**", args: []node{p.minus()}}
	if negative {
		if l, ok := base.(*literal); ok {
			n.receiver = &literal{negated(l.value)}
			return &callNode{line: t.Line, receiver: n, name: "-@"}
		}
	}
	return n
}

func (p *parser) unary() node {
	t := p.cur()
	switch {
	case p.op("!"):
		return &not{p.unary()}
	case p.op("+"):
		return p.unary()
	case isOp(t, "&"), isOp(t, "*"), isOp(t, "**"):
		p.unexpected()
	case isOp(t, "-"):
		return p.minus()
	case isKey(t, "defined?"):
		return p.defined()
	}
	return p.postfix(p.primary())
}

// postfix reads calls of methods, indices and constants within others.
func (p *parser) postfix(n node) node {
	for {
		t := p.cur()
		switch {
		case isOp(t, "."), isOp(t, "&."):
			p.pos++
			p.newlines()
			n = p.method(n, t)
		case isOp(t, "::"):
			p.pos++
			name := p.take()
			c, ok := n.(*constant)
			switch {
			case name.Kind == ruby.Constant && ok && !isOp(p.cur(), "("):
				n = &constant{t.Line, c.name + "::" + name.Text}
			case name.Kind == ruby.Ident:
				p.pos--
				n = p.method(n, t)
			default:
				p.pos--
				p.unexpected()
			}
		case isOp(t, "[") && !t.Spaced:
			p.pos++
			n = &callNode{line: t.Line, receiver: n, name: "[]", args: p.argsUntil("]")}
		case isOp(t, "[") && t.Spaced && isValueNode(n):
			p.pos++
			n = &callNode{line: t.Line, receiver: n, name: "[]", args: p.argsUntil("]")}
		default:
			return n
		}
	}
}

// isValueNode reports whether blank space in front of a bracket makes no argument of it.
func isValueNode(n node) bool {
	switch n.(type) {
	case *local, *instance:
		return true
	}
	return false
}

// method reads a call behind its point.
func (p *parser) method(receiver node, point ruby.Token) node {
	t := p.take()
	c := &callNode{line: t.Line, receiver: receiver, name: t.Text, safe: point.Text == "&."}
	switch {
	case isOp(t, "("): // x.(…)
		p.pos--
		c.name = "call"
	case t.Kind != ruby.Ident && t.Kind != ruby.Constant && t.Kind != ruby.Keyword && t.Kind != ruby.Operator:
		p.pos--
		p.unexpected()
	}
	p.arguments(c)
	return c
}

// arguments reads those of a call, and its block.
func (p *parser) arguments(c *callNode) {
	switch t := p.cur(); {
	case isOp(t, "(") && !t.Spaced:
		p.pos++
		c.args = p.argsUntil(")")
		c.parens = true
	case p.beginsArgument(t):
		c.args = p.commandArgs()
	}
	c.args, c.block = takeBlock(c.args)
	p.blockOf(c)
}

// takeBlock returns the arguments without &x, and that.
func takeBlock(args []node) ([]node, node) {
	if n := len(args); n > 0 {
		if b, ok := args[n-1].(*blockPass); ok {
			return args[:n-1], b.value
		}
	}
	return args, nil
}

// blockOf reads the block of a call, if there is one.
func (p *parser) blockOf(c *callNode) {
	t := p.cur()
	switch {
	case isOp(t, "{"):
		p.pos++
		b := p.block(t.Line)
		p.expectOp("}")
		c.block = b
	case isKey(t, "do") && p.noDo == 0:
		p.pos++
		b := p.block(t.Line)
		p.expectKey("end")
		c.block = b
	}
}

// block reads parameters and statements.
func (p *parser) block(line int) *blockNode {
	saved := p.noDo
	p.noDo = 0
	defer func() { p.noDo = saved }()
	b := &blockNode{line: line}
	p.newlines()
	if p.op("|") {
		b.params = p.params("|")
	} else if p.op("||") {
		b.params = nil
	}
	b.body = p.bodyWithRescue()
	return b
}

// bodyWithRescue reads statements up to end, with what is rescued.
func (p *parser) bodyWithRescue() []node {
	body := p.statements()
	if !isKey(p.cur(), "rescue") && !isKey(p.cur(), "ensure") {
		return body
	}
	return []node{p.rescues(body)}
}

func (p *parser) rescues(body []node) node {
	b := &begin{body: body}
	for p.key("rescue") {
		var r rescue
		for p.cur().Kind == ruby.Constant {
			n := p.postfix(p.primary())
			c, ok := n.(*constant)
			if !ok {
				p.unsupported("a rescue of a computed class")
			}
			r.classes = append(r.classes, c.name)
			if !p.op(",") {
				break
			}
		}
		if p.op("=>") {
			r.variable = p.take().Text
			p.locals[r.variable] = true
		}
		p.key("then")
		r.body = p.statements()
		b.rescues = append(b.rescues, r)
	}
	if p.key("else") {
		b.otherwise = p.statements()
	}
	if p.key("ensure") {
		b.ensure = p.statements()
	}
	return b
}

// params reads parameters up to what closes them.
func (p *parser) params(until string) []param {
	var all []param
	for {
		p.newlines()
		if p.op(until) {
			return all
		}
		t := p.take()
		var x param
		switch {
		case isOp(t, "("):
			x.parts = p.params(")")
		case isOp(t, "*"):
			x.rest = true
			if p.cur().Kind == ruby.Ident {
				x.name = p.take().Text
			}
		case t.Kind == ruby.Ident:
			x.name = t.Text
			if p.op("=") {
				x.usual = p.binary(levelOfDefault)
			}
		case t.Kind == ruby.Label, isOp(t, "&"), isOp(t, "**"):
			p.pos--
			p.unsupported("a parameter with a name or for a block")
		default:
			p.pos--
			p.unexpected()
		}
		if x.name != "" {
			p.locals[x.name] = true
		}
		all = append(all, x)
		if !p.op(",") {
			p.newlines()
			if !p.op(until) {
				if p.cur().Kind == ruby.Newline || isOp(p.cur(), ";") {
					p.unsupported("variables of a block alone")
				}
				p.unexpected()
			}
			return all
		}
	}
}

const levelOfDefault = 5 // above |, which closes the parameters of a block

// argsUntil reads arguments up to what closes them.
func (p *parser) argsUntil(end string) []node {
	saved := p.noDo
	p.noDo = 0
	defer func() { p.noDo = saved }()
	var all []node
	for {
		p.newlines()
		if p.op(end) {
			return all
		}
		all = p.argument(all)
		p.newlines()
		if !p.op(",") {
			p.newlines()
			p.expectOp(end)
			return all
		}
	}
}

// argument reads one, and puts options into a hash at the end.
func (p *parser) argument(all []node) []node {
	t := p.cur()
	switch {
	case isOp(t, "*"):
		p.pos++
		return append(all, &splat{p.ternary()})
	case isOp(t, "**"):
		p.unsupported("options that are a hash")
	case isOp(t, "&"):
		p.pos++
		return append(all, &blockPass{p.ternary()})
	}
	var key node
	if t.Kind == ruby.Label {
		p.pos++
		key = p.symbolOf(t)
	} else {
		n := p.expr()
		if !p.op("=>") {
			return append(all, n)
		}
		key = n
	}
	p.newlines()
	value := p.expr()
	if n := len(all); n > 0 {
		if h, ok := all[n-1].(*hashOf); ok && h.options {
			h.keys, h.values = append(h.keys, key), append(h.values, value)
			return all
		}
	}
	return append(all, &hashOf{[]node{key}, []node{value}, true})
}

// beginsArgument reports whether a token behind a name begins an argument without
// parentheses.
func (p *parser) beginsArgument(t ruby.Token) bool {
	if !t.Spaced && !(p.pos > 0 && strings.HasSuffix(p.tokens[p.pos-1].Text, "?") && t.Kind == ruby.Ident) {
		return false
	}
	switch t.Kind {
	case ruby.Ident, ruby.Constant, ruby.Instance, ruby.SymbolText, ruby.Label, ruby.String, ruby.Words, ruby.Regular, ruby.Numeral:
		return true
	case ruby.Keyword:
		return slices.Contains([]string{"nil", "true", "false", "self", "defined?", "case", "__FILE__", "__LINE__"}, t.Text)
	case ruby.Operator:
		switch t.Text {
		case "->", "!":
			return true
		case "(", "[":
			return true
		case "-", "*", "&", ":":
			return t.Glued
		}
	}
	return false
}

func (p *parser) commandArgs() []node {
	all := p.argument(nil)
	for p.op(",") {
		p.newlines()
		all = p.argument(all)
	}
	return all
}

func (p *parser) symbolOf(t ruby.Token) node {
	n := p.text(t)
	if l, ok := n.(*stringOf); ok && len(l.parts) == 1 && l.parts[0].code == nil {
		return &literal{symbol(l.parts[0].text)}
	}
	return &symbolNode{n}
}

// text reads the pieces of a string.
func (p *parser) text(t ruby.Token) node {
	out := &stringOf{line: t.Line}
	for _, piece := range t.Parts {
		if piece.Code == nil {
			out.parts = append(out.parts, stringPart{text: piece.Text})
			continue
		}
		inner := &parser{tokens: piece.Code, locals: p.locals, depth: p.depth}
		body := inner.statements()
		if inner.cur().Kind != ruby.EOF {
			inner.unexpected()
		}
		out.parts = append(out.parts, stringPart{code: body})
	}
	return out
}

func number(t ruby.Token) (value, bool) {
	s := strings.ReplaceAll(t.Text, "_", "")
	lower := strings.ToLower(s)
	if strings.ContainsAny(lower, ".") || strings.Contains(lower, "e") && !strings.HasPrefix(lower, "0x") {
		f, err := strconv.ParseFloat(s, 64)
		return f, err == nil || f != 0
	}
	if len(s) > 1 && s[0] == '0' && s[1] >= '0' && s[1] <= '9' {
		s = "0o" + s[1:]
	}
	n, ok := new(big.Int).SetString(strings.Replace(s, "0d", "", 1), 0)
	if !ok {
		return nil, false
	}
	return whole(n), true
}

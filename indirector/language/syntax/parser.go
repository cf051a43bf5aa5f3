package syntax

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// A parser is a recursive descent over the tokens of a scanner. It looks one
// token ahead, and a second one where a keyword may be a name: Puppet's generated
// parser looks as far, so that the first error of both is the same. What Puppet
// does with a part of the grammar once it is complete (joining names, turning
// names into calls) is done here at the same token, for the same reason.
type parser struct {
	*scanner
	tree    slabs
	ahead   [2]token
	known   int      // of ahead
	classes []string // the names of the classes around this place
	items   []item   // of the statements that are being read
	list    []Node   // of the lists that are being read
	nesting int
	height  int // of the highest tree since the operand that is being read
}

// Options are how a source is read. The zero value is a manifest with Puppet's
// own settings.
type Options struct {
	// EPP is whether the source is a template.
	EPP bool
	// DuplicateKeys is Puppet's setting strict, which decides what a key is that a
	// hash has twice. Rule LANG-CHK-13.
	DuplicateKeys Strictness
	// Allowed reports whether a definition of a name may stand in this file of a
	// module. If nil, the file may have every definition, and anything else. Rule
	// LANG-CHK-11.
	Allowed func(name string) bool

	// MaxErrors, MaxWarnings and MaxDeprecations are Puppet's settings of these
	// names: how many are logged. Zero is 10, and less is none.
	MaxErrors, MaxWarnings, MaxDeprecations int

	depth int // of manifests in heredocs
}

// OptionsOf returns what Puppet's settings decide; one without a value has Puppet's own.
func OptionsOf(get func(setting string) string) Options {
	atMost := func(setting string) int {
		value := get(setting)
		if n, err := strconv.Atoi(value); value == "" || err == nil && n > 0 {
			return n
		}
		return -1
	}
	o := Options{
		DuplicateKeys: map[string]Strictness{"error": StrictError, "off": StrictOff}[get("strict")],
		MaxErrors:     atMost("max_errors"), MaxWarnings: atMost("max_warnings"), MaxDeprecations: atMost("max_deprecations"),
	}
	if strings.Contains(get("disable_warnings"), "deprecations") {
		o.MaxDeprecations = -1
	}
	return o
}

// Strictness is a value of Puppet's setting strict.
type Strictness uint8

// Values of the setting strict. The first is Puppet's own.
const (
	StrictWarning Strictness = iota
	StrictError
	StrictOff
)

// Parse reads a source and checks it. The program is nil if the report has a
// failure. It is safe for concurrent use.
func Parse(src *Source, o Options) (prog *Program, report *Report) {
	report = &Report{}
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			prog, report.Failure = nil, r.problem
		default:
			panic(r)
		}
	}()
	if len(src.Text) > MaxBytes {
		panic(failure{&Problem{Message: fmt.Sprintf(tooLarge, MaxBytes), File: src.File}})
	}
	p := &parser{scanner: &scanner{source: src, report: report, text: src.Text}}
	p.checkBOM()
	p.checkEncoding()
	prog = p.program(o.EPP)
	if check(prog, o, report); report.Failure != nil {
		return nil, report
	}
	return prog, report
}

// program reads a whole source.
func (p *parser) program(template bool) *Program {
	prog := &Program{Source: p.source}
	switch {
	case template:
		p.beginTemplate()
		prog.Body = p.template()
	case p.peek() == tEOF:
		prog.Body = &Nop{span{int32(len(p.text)), 0}}
	default:
		prog.Body = single(p.statements(nil))
	}
	p.expect(tEOF)
	return prog
}

// peek returns the kind of the next token.
func (p *parser) peek() kind {
	if p.known == 0 {
		p.ahead[0], p.known = p.next(), 1
	}
	return p.ahead[0].kind
}

// second returns the kind of the token behind the next one.
func (p *parser) second() kind {
	p.peek()
	if p.known == 1 {
		p.ahead[1], p.known = p.next(), 2
	}
	return p.ahead[1].kind
}

// take returns the next token, and goes on behind it.
func (p *parser) take() token {
	p.peek()
	t := p.ahead[0]
	p.ahead[0] = p.ahead[1]
	p.known--
	return t
}

// accept takes the next token if it is of a kind.
func (p *parser) accept(k kind) bool {
	if p.peek() != k {
		return false
	}
	p.take()
	return true
}

// expect takes the next token, which must be of a kind.
func (p *parser) expect(k kind) token {
	if p.peek() != k {
		p.unexpected()
	}
	return p.take()
}

// expectOne takes the next token, which must be of one of some kinds.
func (p *parser) expectOne(some ...kind) token {
	if !slices.Contains(some, p.peek()) {
		p.unexpected()
	}
	return p.take()
}

// unexpected fails at the next token. Rule LANG-GRAM-12.
func (p *parser) unexpected() {
	p.peek()
	t := p.ahead[0]
	if t.kind == tEOF {
		panic(failure{&Problem{Message: "Syntax error at end of input", File: p.source.File}})
	}
	if t.kind == tRegexp {
		t.text = regexpText(t.text)
	}
	p.failAt(t.span(), "Syntax error at '"+t.text+"'")
}

func (p *parser) failAt(at span, message string) {
	panic(failure{p.source.problem(int(at.offset), message)})
}

func (t token) span() span { return span{t.offset, t.length} }

// through returns the span from the beginning of one to the end of another.
func through(from, to span) span { return span{from.offset, to.end() - from.offset} }

// enter counts a part of the grammar that may contain itself. Rule LANG-LEX-15.
func (p *parser) enter() {
	if p.nesting++; p.nesting > maxNesting {
		p.peek()
		p.failAt(p.ahead[0].span(), fmt.Sprintf(tooNested, maxNesting))
	}
}

func (p *parser) leave() { p.nesting-- }

// grow counts one more above the trees that were read, in a chain that may be
// long without nesting.
func (p *parser) grow(left int) {
	p.height = max(left, p.height) + 1
	if p.height > maxHeight {
		p.peek()
		p.failAt(p.ahead[0].span(), fmt.Sprintf(tooHigh, maxHeight))
	}
}

// An item is a statement that was read, before names become calls.
type item struct {
	node Node
	list *commaList // nil if there is only that node
}

// A commaList is several nodes with commas between them.
type commaList struct {
	nodes []Node
	comma span // the first one
}

// statements reads one statement or more, up to a token that cannot begin one.
// The first may have been read already. Rule LANG-GRAM-01.
func (p *parser) statements(first Node) []Node {
	begin := len(p.items)
	for {
		it := p.statement(first)
		p.items = append(p.items, it)
		first = nil
		if !p.accept(tSemicolon) && !beginsStatement[p.peek()] {
			out := p.calls(p.items[begin:])
			p.items = p.items[:begin]
			return out
		}
	}
}

// statement reads expressions with commas between them.
func (p *parser) statement(first Node) item {
	if first == nil {
		first, _ = p.assignment()
	}
	it := item{node: first}
	for p.peek() == tComma {
		comma := p.take()
		if it.list == nil {
			it.list = &commaList{[]Node{first}, comma.span()}
		}
		n, _ := p.assignment()
		it.list.nodes = append(it.list.nodes, n)
	}
	return it
}

// beginsStatement are the tokens that a statement may begin with.
var beginsStatement = [kinds]bool{
	tString: true, tWord: true, tTextBegin: true, tHeredoc: true, tNumber: true, tName: true, tTypeName: true, tVariable: true, tRegexp: true,
	tAttr: true, tBoolean: true, tCase: true, tClass: true, tDefault: true, tDefine: true, tFunction: true, tIf: true, tNode: true,
	tPrivate: true, tType: true, tUndef: true, tUnless: true, tListBegin: true, tBracket: true, tBrace: true, tLineParen: true, tParen: true,
	tAt: true, tAtAt: true, tEppText: true, tEppExpr: true, tMinus: true, tTimes: true, tNot: true,
}

// statementCalls are the functions that are called without parentheses. Rule
// LANG-GRAM-03.
var statementCalls = map[string]bool{
	"require": true, "realize": true, "include": true, "contain": true, "tag": true, "debug": true, "info": true, "notice": true,
	"warning": true, "err": true, "fail": true, "import": true, "break": true, "next": true, "return": true,
}

// calls turns the names of such functions, with the statement that follows, into
// calls.
func (p *parser) calls(items []item) []Node {
	begin := len(p.list)
	out := p.list
	for i := range items {
		it := &items[i]
		var before *Name
		if len(out) > begin {
			before, _ = out[len(out)-1].(*Name)
		}
		switch {
		case before != nil && statementCalls[before.Value]:
			args := p.tree.nodes([]Node{it.node})
			if it.list != nil {
				args = it.list.nodes
			}
			call := p.tree.calls.next()
			*call = Call{span: through(before.span, args[len(args)-1].place()), Functor: before, Args: args, Statement: true}
			out[len(out)-1] = call
		case it.list != nil && before != nil:
			p.failAt(it.list.comma, "attempt to pass argument list to the function '"+before.Value+"' which cannot be called without parentheses")
		case it.list != nil:
			p.failAt(it.list.comma, "illegal comma separated argument list")
		default:
			if c, ok := it.node.(*Call); ok {
				c.Statement = true
			}
			out = append(out, it.node)
		}
	}
	all := p.tree.nodes(out[begin:])
	p.list = out[:begin]
	return all
}

// single returns the only statement, or a block of them.
func single(statements []Node) Node {
	if len(statements) == 1 {
		return statements[0]
	}
	return &Block{through(statements[0].place(), statements[len(statements)-1].place()), statements}
}

// body reads { statements } as a block that has the place of what it is the body
// of. It is nil if there are none.
func (p *parser) body(of span) (body Node, end token) {
	p.expect(tBrace)
	if p.peek() != tBraceEnd {
		b := p.tree.blocks.next()
		b.span, b.Statements = of.empty(), p.statements(nil)
		body = b
	}
	return body, p.expect(tBraceEnd)
}

// branch reads { statements } as a block with a place of its own, or as the only
// statement. It is nil if there are none.
func (p *parser) branch() (body Node, end token) {
	open := p.expect(tBrace)
	if p.peek() == tBraceEnd {
		return nil, p.take()
	}
	statements := p.statements(nil)
	end = p.expect(tBraceEnd)
	body = single(statements)
	if len(statements) > 1 {
		body = &Block{through(open.span(), end.span()), statements}
	}
	return body, end
}

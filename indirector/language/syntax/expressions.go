package syntax

// How tight operators bind, loosest first. All of them are left-associative. This
// is the one table of precedences. Rule LANG-GRAM-02.
const (
	bindsOr = iota + 1
	bindsAnd
	bindsSelector
	bindsOrder
	bindsEqual
	bindsShift
	bindsAdd
	bindsMultiply
	bindsMatch
	bindsIn
	bindsMinus
	bindsSplat
	bindsNot
	bindsCollect
	bindsAccess
	bindsMember
	bindsCall
)

// binding is how tight operators behind an operand bind; zero is no operator.
var binding = [kinds]uint8{
	tOr: bindsOr, tAnd: bindsAnd, tQuestion: bindsSelector,
	tLess: bindsOrder, tLessEqual: bindsOrder, tGreater: bindsOrder, tGreaterEqual: bindsOrder,
	tEqual: bindsEqual, tNotEqual: bindsEqual, tShiftLeft: bindsShift, tShiftRight: bindsShift,
	tPlus: bindsAdd, tMinus: bindsAdd, tTimes: bindsMultiply, tDivide: bindsMultiply, tModulo: bindsMultiply,
	tMatch: bindsMatch, tNoMatch: bindsMatch, tIn: bindsIn,
	tCollect: bindsCollect, tExported: bindsCollect, tBracket: bindsAccess, tDot: bindsMember, tParen: bindsCall,
}

// prefixBinding is how tight operators before their operand bind.
var prefixBinding = [kinds]uint8{tMinus: bindsMinus, tTimes: bindsSplat, tNot: bindsNot}

// assignment reads the widest expression that there is without commas. It is plain
// if it may be an operand, too.
func (p *parser) assignment() (n Node, plain bool) {
	outer := p.height
	p.height = 0
	left, plain := p.relationship()
	switch p.peek() {
	case tAssign, tAppend, tDelete:
		op := p.take()
		height := p.height
		p.enter()
		right, _ := p.assignment()
		p.leave()
		p.grow(height)
		left, plain = &Binary{op.span(), op.text, left, right}, false
	}
	p.height = max(outer, p.height)
	return left, plain
}

func (p *parser) relationship() (n Node, plain bool) {
	left, plain := p.resource()
	for p.peek() == tEdge {
		op := p.take()
		height := p.height
		p.height = 0
		right, _ := p.resource()
		p.grow(height)
		left, plain = &Binary{op.span(), op.text, left, right}, false
	}
	return left, plain
}

// expression reads an operand, and operators that bind tighter than a bound.
func (p *parser) expression(bound uint8) Node {
	p.enter()
	outer := p.height
	p.height = 0
	n := p.operators(p.prefix(), bound)
	p.height = max(outer, p.height)
	p.leave()
	return n
}

func (p *parser) operators(left Node, bound uint8) Node {
	p.grow(0)
	for {
		binds := binding[p.peek()]
		if binds <= bound {
			return left
		}
		height := p.height
		p.height = 0
		left = p.infix(left, binds)
		p.grow(height)
	}
}

func (p *parser) prefix() Node {
	if binds := prefixBinding[p.peek()]; binds > 0 {
		op := p.take()
		return &Unary{op.span(), op.text, p.expression(binds)}
	}
	return p.primary()
}

func (p *parser) infix(left Node, binds uint8) Node {
	switch binds {
	case bindsSelector:
		return p.selector(left)
	case bindsCollect:
		return p.collect(left)
	case bindsAccess:
		return p.access(left)
	case bindsMember:
		return p.method(left)
	case bindsCall:
		return p.call(left)
	}
	op := p.take()
	return &Binary{op.span(), op.text, left, p.expression(binds)}
}

// primary reads an operand without operators.
func (p *parser) primary() Node {
	switch k := p.peek(); k {
	case tVariable:
		return p.tree.variable(p.take())
	case tName:
		return p.tree.name(p.take())
	case tTypeName:
		return p.typeReference()
	case tString, tWord, tTextBegin, tHeredoc:
		return p.quoted()
	case tNumber, tBoolean, tDefault, tUndef, tRegexp, tPrivate, tAttr:
		return p.literal()
	case tListBegin, tBracket:
		return p.array()
	case tBrace:
		return p.hash()
	case tParen, tLineParen:
		open := p.take()
		n, _ := p.assignment()
		p.expect(tParenEnd)
		return &Paren{open.span(), n}
	case tIf, tUnless:
		return p.conditional()
	case tCase:
		return p.caseOf()
	case tClass, tDefine, tFunction, tNode, tType:
		return p.definition(k)
	case tEppText:
		t := p.take()
		return &RenderText{t.span(), t.text}
	case tEppExpr:
		return p.render()
	}
	p.unexpected()
	return nil
}

func (p *parser) typeReference() Node {
	return p.tree.typeName(p.expect(tTypeName))
}

// selector reads what stands behind a value: ? and its choices. Rule
// LANG-GRAM-08.
func (p *parser) selector(left Node) Node {
	p.take()
	s := &Selector{span: left.place(), Left: left}
	if !p.accept(tSelectBrace) {
		s.Choices = []*Choice{p.choice()}
		return s
	}
	for {
		s.Choices = append(s.Choices, p.choice())
		if !p.accept(tComma) || p.peek() == tBraceEnd {
			p.expect(tBraceEnd)
			return s
		}
	}
}

func (p *parser) choice() *Choice {
	match := p.expression(0)
	arrow := p.expect(tArrow)
	return &Choice{arrow.span(), match, p.expression(0)}
}

func (p *parser) access(left Node) Node {
	p.take()
	keys := p.elements(tBracketEnd, ofAccess)
	return &Access{through(left.place(), p.expect(tBracketEnd).span()), left, keys}
}

// A listing is what a list is that has commas.
type listing uint8

const (
	ofArguments  listing = iota
	ofMethod             // arguments, but a comma may not be the last
	ofAccess             // of keys, which are operands
	ofTypeAccess         // keys, but a comma may not be the last
	ofArray              // also of the words type and function
)

// elements reads those of a list, up to the token that closes it. Pairs with an arrow that
// follow each other are one hash. Rule LANG-GRAM-04.
func (p *parser) elements(end kind, what listing) []Node {
	begin := len(p.list)
	var pairs *Hash // the last element, if it is of pairs
	for {
		keyword := p.keywordIsValue()
		n, plain := p.element()
		switch {
		case p.peek() == tArrow:
			pair := p.pair(n)
			if pairs == nil {
				pairs = &Hash{span: pair.span}
				p.list = append(p.list, pairs)
			}
			pairs.Entries = append(pairs.Entries, pair)
		case !plain && (what == ofAccess || what == ofTypeAccess), keyword && what != ofArray:
			p.unexpected()
		default:
			pairs, p.list = nil, append(p.list, n)
		}
		if !p.accept(tComma) || p.peek() == end && what != ofMethod && what != ofTypeAccess {
			all := p.tree.nodes(p.list[begin:])
			p.list = p.list[:begin]
			return all
		}
	}
}

// element reads an element of a list, or a key or value of a hash.
func (p *parser) element() (n Node, plain bool) {
	if p.keywordIsValue() {
		return p.tree.text(p.take()), true
	}
	return p.assignment()
}

// keywordIsValue reports whether type or function stands for itself.
func (p *parser) keywordIsValue() bool {
	switch p.peek() {
	case tType:
		k := p.second()
		return k != tParen && k != tTypeName
	case tFunction:
		k := p.second()
		return k != tName && k != tWord && k != tTypeName && k != tClass && k != tString
	}
	return false
}

// pair reads what stands behind a key.
func (p *parser) pair(key Node) *Entry {
	arrow := p.expect(tArrow)
	value, _ := p.element()
	e := p.tree.entries.next()
	*e = Entry{arrow.span(), key, value}
	return e
}

func (p *parser) array() Node {
	open := p.take()
	var values []Node
	if p.peek() != tBracketEnd {
		values = p.elements(tBracketEnd, ofArray)
	}
	return &Array{through(open.span(), p.expect(tBracketEnd).span()), values}
}

func (p *parser) hash() Node {
	open := p.expect(tBrace)
	if p.peek() == tBraceEnd {
		return &Hash{span: through(open.span(), p.take().span())}
	}
	key, _ := p.element()
	return p.hashFrom(open, key)
}

// hashFrom reads a hash whose first key was read.
func (p *parser) hashFrom(open token, key Node) Node {
	h := &Hash{}
	for {
		h.Entries = append(h.Entries, p.pair(key))
		if !p.accept(tComma) || p.peek() == tBraceEnd {
			h.span = through(open.span(), p.expect(tBraceEnd).span())
			return h
		}
		key, _ = p.element()
	}
}

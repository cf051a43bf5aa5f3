package onig

import (
	"slices"
	"strconv"
	"strings"
)

// group reads a group after its opening parenthesis. It is nil for options that stand
// alone.
func (p *parser) group() node {
	switch {
	case p.skip("?:"):
		return p.closed()
	case p.skip("?="):
		return look{body: p.closed()}
	case p.skip("?!"):
		return look{negative: true, body: p.closed()}
	case p.skip("?<="):
		return p.behind(false)
	case p.skip("?<!"):
		return p.behind(true)
	case p.skip("?>"):
		return atomic{p.closed()}
	case p.skip("?~"):
		p.unsupported("(?~, a group of what is absent")
		return nil
	case p.skip("?("):
		return p.condition()
	case p.skip("?<"):
		return p.capture(p.until(">"))
	case p.skip("?'"):
		return p.capture(p.until("'"))
	case p.skip("?"):
		return p.options()
	case p.named:
		p.plain = true
		return p.closed()
	}
	p.plain = true
	return p.capture("")
}

// closed reads up to the closing parenthesis of a group.
func (p *parser) closed() node {
	n := p.alternatives()
	if p.err == nil && !p.skip(")") {
		p.wrong("end pattern with unmatched parenthesis")
	}
	return n
}

// capture reads a group that has the next number.
func (p *parser) capture(name string) node {
	p.named = p.named || name != ""
	g := &group{number: len(p.names)}
	p.names, p.open = append(p.names, name), append(p.open, g.number)
	g.body = p.closed()
	p.open = p.open[:len(p.open)-1]
	return g
}

func (p *parser) behind(negative bool) node {
	n := p.closed()
	switch {
	case contains(n, func(n node) bool { _, is := n.(*call); return is }):
		p.unsupported("a call of a group in look-behind")
	case p.err == nil && !behindable(n, negative):
		p.wrong("invalid pattern in look-behind")
	}
	return look{behind: true, negative: negative, body: n}
}

// condition reads (?(1)yes|no) after its second parenthesis.
func (p *parser) condition() node {
	name := strings.Trim(p.until(")"), "<>'")
	number, err := strconv.Atoi(name)
	if err != nil {
		number = slices.Index(p.names, name)
	}
	if number < 1 || number >= len(p.names) {
		p.wrong("invalid backref number/name")
		return nil
	}
	p.within(number)
	body := p.closed()
	if s, ok := body.(sequence); ok && len(s) == 1 {
		body = s[0] // also what another group within has as alternatives
	}
	ways, ok := body.(choice)
	switch {
	case !ok:
		return condition{group: number, yes: body, no: sequence{}}
	case len(ways) > 2:
		p.wrong("invalid conditional pattern")
	}
	return condition{group: number, yes: ways[0], no: ways[1]}
}

// options reads mi-x: or mi-x). Those that stand alone hold to the end of the group
// around them, whose other alternatives they take in.
func (p *parser) options() node {
	fold, dot, extended := p.fold, p.dot, p.extended
	on := true
	for p.more() {
		switch ch := p.next(); ch {
		case '-':
			on = false
		case 'i':
			p.fold = on
		case 'm':
			p.dot = on
		case 'x':
			p.extended = on
		case 'd': // the usual classes
		case 'a', 'u':
			p.unsupported("the option %c of a regular expression", ch)
		case ')':
			n := p.alternatives()
			p.fold, p.dot, p.extended = fold, dot, extended
			return n
		case ':':
			n := p.closed()
			p.fold, p.dot, p.extended = fold, dot, extended
			return n
		default:
			p.wrong("undefined group option")
		}
	}
	return nil
}

// class reads a class after its opening bracket.
func (p *parser) class() set {
	negative := p.skip("^")
	var s, common set
	intersected := false
	first := true
	for p.more() {
		switch {
		case p.s[p.i] == ']' && (!first || !strings.Contains(p.rest()[1:], "]")):
			p.i++
			if s = p.cased(s.sorted()); intersected {
				s = common.and(s)
			}
			if negative {
				return s.not()
			}
			return s
		case p.skip("&&"):
			if s = p.cased(s.sorted()); intersected {
				s = common.and(s)
			}
			common, s, intersected = s, nil, true
		default:
			s = append(s, p.members()...)
		}
		first = false
	}
	p.wrong("premature end of char-class")
	return nil
}

// members reads what stands in a class: a class, a character, or a range.
func (p *parser) members() set {
	if p.s[p.i] == '[' {
		if s, ok := p.posixClass(); ok {
			return s
		}
		p.i++
		return p.class()
	}
	from, s := p.member()
	if s != nil || p.err != nil {
		return s
	}
	if !strings.HasPrefix(p.rest(), "-") || strings.HasPrefix(p.rest(), "-]") || p.i+1 == len(p.s) {
		return one(from)
	}
	p.i++
	if strings.HasPrefix(p.rest(), "[") || strings.HasPrefix(p.rest(), "&&") {
		p.unsupported("a range that ends in a class")
		return nil
	}
	to, s := p.member()
	switch {
	case s != nil:
		p.wrong("char-class value at end of range")
	case to < from:
		p.wrong("empty range in char class")
	}
	return set{{from, to}}
}

// member reads a character, or a set that is escaped.
func (p *parser) member() (rune, set) {
	if !p.more() {
		p.wrong("premature end of char-class")
		return 0, nil
	}
	if !p.skip(`\`) {
		return p.next(), nil
	}
	if !p.more() {
		p.wrong("too short escape sequence")
		return 0, nil
	}
	if s, ok := p.escapedClass(); ok {
		if s == nil {
			s = set{}
		}
		return 0, s
	}
	if p.skip("b") {
		return '\b', nil
	}
	all := p.characters()
	if len(all) == 1 {
		return all[0], nil
	}
	s := set{}
	for _, r := range all {
		s = append(s, span{r, r})
	}
	return 0, s
}

// posixClass reads [:alpha:] or [:^alpha:].
func (p *parser) posixClass() (set, bool) {
	if !strings.HasPrefix(p.rest(), "[:") {
		return nil, false
	}
	name, _, ok := strings.Cut(p.rest()[2:], ":]")
	plain, negative := strings.CutPrefix(name, "^")
	s, known := posix()[plain]
	if !ok || !known {
		return nil, false
	}
	p.i += len(name) + 4
	if negative {
		return s.not(), true
	}
	return s, true
}

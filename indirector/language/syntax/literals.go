package syntax

import (
	"math/big"
	"strconv"
	"strings"
)

func (p *parser) literal() Node {
	switch t := p.take(); t.kind {
	case tNumber:
		return p.numberValue(t)
	case tBoolean:
		return &Boolean{t.span(), t.text == "true"}
	case tDefault:
		return &Default{t.span()}
	case tUndef:
		return &Undef{t.span()}
	case tRegexp:
		return &Regexp{t.span(), t.text}
	default:
		return &Reserved{t.span(), t.text}
	}
}

// numberValue returns the value of a number. One that overflows is found by the
// checker. Rule LANG-LEX-06.
func (p *parser) numberValue(t token) Node {
	base, digits := 10, t.text
	switch {
	case len(digits) > 1 && digits[1]|0x20 == 'x':
		base, digits = 16, digits[2:]
	case strings.ContainsAny(digits, ".eE"):
		return p.floatValue(t)
	case len(digits) > 1 && digits[0] == '0':
		base = 8
	}
	n := &Integer{span: t.span(), Radix: base}
	var err error
	if n.Value, err = strconv.ParseInt(digits, base, 64); err != nil {
		n.Value = 0
		n.Big, _ = new(big.Int).SetString(digits, base)
	}
	return n
}

// floatValue fails for what Puppet calls no number, at no place: what is too large,
// and a zero with an exponent.
func (p *parser) floatValue(t token) Node {
	whole, _, _ := strings.Cut(strings.ToLower(t.text), "e")
	f, err := strconv.ParseFloat(t.text, 64)
	if len(whole) < len(t.text) && strings.Trim(whole, "0.") == "" || err != nil && f != 0 {
		panic(failure{&Problem{Message: "Internal Error, NUMBER token does not contain a valid number, " + t.text}})
	}
	return &Float{t.span(), f}
}

// quoted reads a string, which may be a bare word or a heredoc.
func (p *parser) quoted() Node {
	switch t := p.take(); t.kind {
	case tTextBegin:
		return p.concat(t)
	case tHeredoc:
		h := &Heredoc{span: t.span(), Syntax: t.text}
		if text := p.expectOne(tString, tTextBegin); text.kind == tString {
			h.Text = p.tree.text(text)
		} else {
			h.Text = p.concat(text)
		}
		return h
	default:
		return p.tree.text(t)
	}
}

// concat reads a string that interpolates, behind its first text.
func (p *parser) concat(t token) Node {
	c := &Concat{}
	at := t.span()
	for {
		if t.text != "" {
			c.Segments = append(c.Segments, p.tree.text(t))
		}
		if t.kind == tTextEnd {
			c.span = through(at, t.span())
			return c
		}
		n, _ := p.assignment()
		c.Segments = append(c.Segments, &Text{at.empty(), interpolated(n, at.empty())})
		t = p.expectOne(tTextMiddle, tTextEnd)
	}
}

// interpolated turns a name, or the name that a chain of accesses begins with, into
// a variable, where the scanner did not: in a heredoc that ends within ${.
func interpolated(n Node, at span) Node {
	switch n := n.(type) {
	case *Name:
		return &Variable{at, n.Value}
	case *Integer:
		return &Variable{at, strconv.FormatInt(n.Value, 10)}
	case *Access:
		n.Left = interpolatedLeft(n.Left, at)
	case *Method:
		n.Functor.Left = interpolatedLeft(n.Functor.Left, at)
	}
	return n
}

func interpolatedLeft(n Node, at span) Node {
	if i, ok := n.(*Integer); ok && i.Radix != 10 {
		return n
	}
	return interpolated(n, at)
}

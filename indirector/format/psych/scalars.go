package psych

import "unicode/utf8"

// Scalars as tokens: block, quoted and plain.

func (s *scanner) scanBlockScalar(literal bool) {
	const context = "while scanning a block scalar"
	m := s.mark()
	s.pos++
	chomp, increment := byte(0), int32(0)
	sign := func() {
		if c := s.src[s.pos]; chomp == 0 && (c == '+' || c == '-') {
			chomp = c
			s.pos++
		}
	}
	sign()
	if c := s.src[s.pos]; isDigit(c) {
		if c == '0' {
			s.failHere(context, m, "found an indentation indicator equal to 0")
		}
		increment = int32(c - '0')
		s.pos++
		sign()
	}
	s.restOfLine(context, m)
	indent := int32(0)
	if increment > 0 {
		indent = max(s.indent, 0) + increment
	}
	text, leadingBreak := s.buf[:0], ""
	leadingBlank := false
	indent = s.blockBreaks(indent, m)
	for s.column() == indent && s.src[s.pos] != 0 {
		blank := s.blank()
		if !literal && leadingBreak == "\n" && !leadingBlank && !blank {
			if len(s.breaks) == 0 {
				text = append(text, ' ')
			}
		} else {
			text = append(text, leadingBreak...)
		}
		text = append(text, s.breaks...)
		leadingBlank = blank
		start := s.pos
		for !s.breakz() {
			s.next()
		}
		text = append(text, s.src[start:s.pos]...)
		leadingBreak = ""
		if n := s.breakAt(s.pos); n > 0 {
			leadingBreak = "\n"
			if n == 3 {
				leadingBreak = s.src[s.pos : s.pos+n]
			}
			s.skipLine(n)
		}
		indent = s.blockBreaks(indent, m)
	}
	if chomp != '-' {
		text = append(text, leadingBreak...)
	}
	if chomp == '+' {
		text = append(text, s.breaks...)
	}
	s.buf = text
	s.enqueue(token{kind: tokScalar, quoted: true, mark: m, text: string(text)})
}

// blockBreaks passes indentation and empty lines of a block scalar, whose
// breaks it leaves in s.breaks. Zero is an indentation still to be found.
func (s *scanner) blockBreaks(indent int32, m mark) int32 {
	s.breaks = s.breaks[:0]
	deepest := int32(0)
	for {
		for s.src[s.pos] == ' ' && (indent == 0 || s.column() < indent) {
			s.pos++
		}
		deepest = max(deepest, s.column())
		if s.src[s.pos] == '\t' && (indent == 0 || s.column() < indent) {
			s.failHere("while scanning a block scalar", m, "found a tab character where an indentation space is expected")
		}
		n := s.breakAt(s.pos)
		if n == 0 {
			break
		}
		s.breaks = s.readLine(s.breaks, n)
	}
	if indent == 0 {
		indent = max(deepest, s.indent+1, 1)
	}
	return indent
}

func (s *scanner) scanQuoted(quote byte) {
	m := s.mark()
	s.pos++
	// Most are short, hold nothing special, and end on their line.
	start := s.pos
	for {
		c := s.src[s.pos]
		if c == quote && (quote == '"' || s.src[s.pos+1] != '\'') {
			text := s.src[start:s.pos]
			s.pos++
			s.enqueue(token{kind: tokScalar, quoted: true, mark: m, text: text})
			return
		}
		if c < ' ' && c != '\t' || c == '\\' && quote == '"' || c == quote || c >= utf8.RuneSelf && s.breakAt(s.pos) > 0 {
			break
		}
		s.next()
	}
	// A blank before a line break belongs to the break.
	for s.pos > start && (s.src[s.pos-1] == ' ' || s.src[s.pos-1] == '\t') {
		s.pos--
	}
	b := append(s.buf[:0], s.src[start:s.pos]...)
	b = s.quotedRest(b, quote, m)
	s.buf = b
	s.enqueue(token{kind: tokScalar, quoted: true, mark: m, text: string(b)})
}

// quotedRest appends the rest of a quoted scalar to b and passes the quote.
func (s *scanner) quotedRest(b []byte, quote byte, m mark) []byte {
	const context = "while scanning a quoted scalar"
	for {
		if s.pos-s.cont == int(s.lineIndex) && s.documentIndicator() {
			s.failHere(context, m, "found unexpected document indicator")
		}
		if s.src[s.pos] == 0 {
			s.failHere(context, m, "found unexpected end of stream")
		}
		folding := false
		for !s.blankz(s.pos) {
			c := s.src[s.pos]
			if c == quote {
				if quote == '"' || s.src[s.pos+1] != '\'' {
					break
				}
				b = append(b, '\'')
				s.pos += 2
				continue
			}
			if c == '\\' && quote == '"' {
				if n := s.breakAt(s.pos + 1); n > 0 {
					s.pos++
					s.skipLine(n)
					folding = true
					break
				}
				b = s.escape(b, m)
				continue
			}
			start := s.pos
			s.next()
			b = append(b, s.src[start:s.pos]...)
		}
		if s.src[s.pos] == quote {
			s.pos++
			return b
		}
		b = s.fold(b, folding)
	}
}

// fold passes blanks and line breaks inside a scalar and appends their meaning
// to b. After an escaped line break, folding is set: then only the following
// breaks are folded.
func (s *scanner) fold(b []byte, folding bool) []byte {
	start := s.pos
	first, broken := s.pass(folding, 0, mark{})
	if !broken {
		return append(b, s.src[start:s.pos]...)
	}
	return s.appendFold(b, first)
}

// pass passes blanks and line breaks. It returns the first break, if there was
// none before, and whether there is one now; those after it are in s.breaks. At
// the start of a line a tab before the column indent is an error of the plain
// scalar that begins at m.
func (s *scanner) pass(broken bool, indent int32, m mark) (first string, nowBroken bool) {
	s.breaks = s.breaks[:0]
	for {
		if s.blank() {
			if broken && s.src[s.pos] == '\t' && s.column() < indent {
				s.failHere(inPlain, m, "found a tab character that violates indentation")
			}
			s.pos++
			continue
		}
		n := s.breakAt(s.pos)
		if n == 0 {
			return first, broken
		}
		if broken {
			s.breaks = s.readLine(s.breaks, n)
			continue
		}
		first, broken = "\n", true
		if n == 3 {
			first = s.src[s.pos : s.pos+n]
		}
		s.skipLine(n)
	}
}

// appendFold appends the meaning of a line break and the empty lines after it,
// in s.breaks.
func (s *scanner) appendFold(b []byte, first string) []byte {
	if first != "\n" {
		b = append(b, first...)
	} else if len(s.breaks) == 0 {
		return append(b, ' ')
	}
	return append(b, s.breaks...)
}

// escape reads one escape sequence of a double-quoted scalar.
func (s *scanner) escape(b []byte, m mark) []byte {
	const context = "while parsing a quoted scalar"
	digits := 0
	switch c := s.src[s.pos+1]; c {
	case '0':
		b = append(b, 0)
	case 'a':
		b = append(b, '\a')
	case 'b':
		b = append(b, '\b')
	case 't', '\t':
		b = append(b, '\t')
	case 'n':
		b = append(b, '\n')
	case 'v':
		b = append(b, '\v')
	case 'f':
		b = append(b, '\f')
	case 'r':
		b = append(b, '\r')
	case 'e':
		b = append(b, 0x1b)
	case ' ', '"', '/', '\\':
		b = append(b, c)
	case 'N':
		b = append(b, "\u0085"...)
	case '_':
		b = append(b, "\u00a0"...)
	case 'L':
		b = append(b, "\u2028"...)
	case 'P':
		b = append(b, "\u2029"...)
	case 'x':
		digits = 2
	case 'u':
		digits = 4
	case 'U':
		digits = 8
	default:
		s.failHere(context, m, "found unknown escape character")
	}
	s.pos += 2
	if digits == 0 {
		return b
	}
	value := 0
	for i := range digits {
		h := -1
		if s.pos+i < s.n {
			h = hexValue(s.src[s.pos+i])
		}
		if h < 0 {
			s.failHere(context, m, "did not find expected hexdecimal number")
		}
		value = value<<4 | h
	}
	if value >= 0xd800 && value <= 0xdfff || value > 0x10ffff {
		s.failHere(context, m, "found invalid Unicode character escape code")
	}
	s.pos += digits
	return utf8.AppendRune(b, rune(value))
}

// inPlain is the context of errors in plain scalars.
const inPlain = "while scanning a plain scalar"

func (s *scanner) scanPlain() {
	m := s.mark()
	flow, indent := s.flow(), s.indent+1
	start, end := s.pos, s.pos // the part without line breaks
	var b []byte               // what stands before it, once there was one
	folded, newLine := false, false
	for {
		if s.pos-s.cont == int(s.lineIndex) && s.documentIndicator() || s.src[s.pos] == '#' {
			break
		}
		from := s.pos
		s.plainRun(flow, m)
		if s.pos > from {
			if newLine {
				// The fold before this part is in s.buf already.
				start = from
				newLine = false
			}
			end = s.pos
		}
		if !s.blank() && s.breakAt(s.pos) == 0 {
			break
		}
		// Blanks within the line stay if more text follows.
		first, broken := s.pass(newLine, indent, m)
		newLine = broken
		if !flow && s.column() < indent {
			break
		}
		if !broken {
			continue
		}
		if !s.plainGoesOn(flow) {
			break
		}
		if !folded {
			b, folded = s.buf[:0], true
		}
		b = append(b, s.src[start:end]...)
		b = s.appendFold(b, first)
		start, end = s.pos, s.pos
	}
	if newLine {
		s.simpleKeyAllowed = true
	}
	text := s.src[start:end]
	if folded {
		b = append(b, text...)
		s.buf = b
		text = string(b)
	}
	s.enqueue(token{kind: tokScalar, mark: m, text: text})
}

// plainGoesOn reports whether a plain scalar goes on here, behind a line break.
func (s *scanner) plainGoesOn(flow bool) bool {
	c := s.src[s.pos]
	if c == 0 || c == '#' || s.pos-s.cont == int(s.lineIndex) && s.documentIndicator() {
		return false
	}
	if c == ':' && s.blankz(s.pos+1) {
		return false
	}
	return !flow || c != ',' && c != '[' && c != ']' && c != '{' && c != '}'
}

// plainRun passes characters of a plain scalar up to a blank or what ends it.
func (s *scanner) plainRun(flow bool, m mark) {
	for {
		c := s.src[s.pos]
		if plainTable[c] {
			s.pos++
			continue
		}
		switch c {
		case ' ', '\t', '\n', '\r', 0:
			return
		case ':':
			if flow {
				switch s.src[s.pos+1] {
				case ',', '?', '[', ']', '{', '}':
					s.failHere(inPlain, m, "found unexpected ':'")
				}
			}
			if s.blankz(s.pos + 1) {
				return
			}
		case ',', '[', ']', '{', '}':
			if flow {
				return
			}
		case 0xc2, 0xe2:
			if s.breakAt(s.pos) > 0 {
				return
			}
		}
		s.next()
	}
}

// plainTable holds the bytes that never end a plain scalar.
var plainTable = func() (t [256]bool) {
	for c := '!'; c < 0x7f; c++ {
		t[c] = true
	}
	for _, c := range ":,[]{}" {
		t[c] = false
	}
	return t
}()

package psych

// Anchors, tags and directives of a document, as tokens.

// nameByte reports whether c may be part of an anchor or a tag handle.
func nameByte(c byte) bool { return isLetter(c) || isDigit(c) || c == '_' || c == '-' }

// name passes the bytes for which nameByte holds.
func (s *scanner) name() string {
	start := s.pos
	for nameByte(s.src[s.pos]) {
		s.pos++
	}
	return s.src[start:s.pos]
}

func (s *scanner) scanAnchor(c byte) {
	m := s.mark()
	kind, context := tokAnchor, "while scanning an anchor"
	if c == '*' {
		kind, context = tokAlias, "while scanning an alias"
	}
	s.pos++
	name := s.name()
	ok := name != ""
	if ok && !s.blankz(s.pos) {
		switch s.src[s.pos] {
		case '?', ':', ',', ']', '}', '%', '@', '`':
		default:
			ok = false
		}
	}
	if !ok {
		s.failHere(context, m, "did not find expected alphabetic or numeric character")
	}
	s.enqueue(token{kind: kind, mark: m, text: name})
}

func (s *scanner) scanTag() {
	const context = "while scanning a tag"
	m := s.mark()
	t := token{kind: tokTag, mark: m}
	if s.src[s.pos+1] == '<' {
		s.pos += 2
		t.text = s.tagURI(true, false, "", m)
		if s.src[s.pos] != '>' {
			s.failHere(context, m, "did not find the expected '>'")
		}
		s.pos++
	} else {
		t.handle = s.tagHandle(false, m)
		if n := len(t.handle); n > 1 && t.handle[n-1] == '!' {
			t.text = s.tagURI(false, false, "", m)
		} else {
			t.text = s.tagURI(false, false, t.handle, m)
			t.handle = "!"
			if t.text == "" {
				t.handle, t.text = "", "!"
			}
		}
	}
	if !s.blankz(s.pos) && (!s.flow() || s.src[s.pos] != ',') {
		s.failHere(context, m, "did not find expected whitespace or line break")
	}
	s.enqueue(t)
}

func (s *scanner) tagHandle(directive bool, m mark) string {
	context := "while scanning a tag"
	if directive {
		context = "while scanning a tag directive"
	}
	if s.src[s.pos] != '!' {
		s.failHere(context, m, "did not find expected '!'")
	}
	start := s.pos
	s.pos++
	s.name()
	if s.src[s.pos] == '!' {
		s.pos++
	} else if directive && s.pos-start > 1 {
		s.failHere("while parsing a tag directive", m, "did not find expected '!'")
	}
	return s.src[start:s.pos]
}

// tagURI reads the rest of a tag behind head, whose first byte is not part of
// the result.
func (s *scanner) tagURI(uri, directive bool, head string, m mark) string {
	var b []byte
	if len(head) > 1 {
		b = append(b, head[1:]...)
	}
	length := len(head)
	for {
		c := s.src[s.pos]
		switch {
		case nameByte(c):
		case c == ',' || c == '[' || c == ']':
			if !uri {
				c = 0
			}
		default:
			switch c {
			case ';', '/', '?', ':', '@', '&', '=', '+', '$', '.', '%', '!', '~', '*', '\'', '(', ')':
			default:
				c = 0
			}
		}
		if c == 0 {
			break
		}
		length++
		if c == '%' {
			b = s.uriEscape(b, directive, m)
			continue
		}
		b = append(b, c)
		s.pos++
	}
	if length == 0 {
		s.failHere(tagContext(directive), m, "did not find expected tag URI")
	}
	return string(b)
}

func tagContext(directive bool) string {
	if directive {
		return "while parsing a %TAG directive"
	}
	return "while parsing a tag"
}

// uriEscape reads one character that is written as %XX for each of its bytes.
func (s *scanner) uriEscape(b []byte, directive bool, m mark) []byte {
	width := 0
	for first := true; first || width > 0; first = false {
		high, low := -1, -1
		if s.src[s.pos] == '%' {
			if high = hexValue(s.src[s.pos+1]); high >= 0 {
				low = hexValue(s.src[s.pos+2])
			}
		}
		if high < 0 || low < 0 {
			s.failHere(tagContext(directive), m, "did not find URI escaped octet")
		}
		c := byte(high<<4 | low)
		if first {
			switch {
			case c&0x80 == 0:
				width = 1
			case c&0xe0 == 0xc0:
				width = 2
			case c&0xf0 == 0xe0:
				width = 3
			case c&0xf8 == 0xf0:
				width = 4
			default:
				s.failHere(tagContext(directive), m, "found an incorrect leading UTF-8 octet")
			}
		} else if c&0xc0 != 0x80 {
			s.failHere(tagContext(directive), m, "found an incorrect trailing UTF-8 octet")
		}
		b = append(b, c)
		s.pos += 3
		width--
	}
	return b
}

func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return int(c|0x20-'a') + 10
	}
	return -1
}

func (s *scanner) fetchDirective() {
	const context = "while scanning a directive"
	s.endBlocks()
	m := s.mark()
	s.pos++
	name := s.name()
	if name == "" {
		s.failHere(context, m, "could not find expected directive name")
	}
	if !s.blankz(s.pos) {
		s.failHere(context, m, "found unexpected non-alphabetical character")
	}
	t := token{mark: m}
	switch name {
	case "YAML":
		const context = "while scanning a %YAML directive"
		t.kind = tokVersion
		s.blanks()
		t.major = s.versionNumber(m)
		if s.src[s.pos] != '.' {
			s.failHere(context, m, "did not find expected digit or '.' character")
		}
		s.pos++
		t.minor = s.versionNumber(m)
	case "TAG":
		const context = "while scanning a %TAG directive"
		t.kind = tokTagDirective
		s.blanks()
		t.handle = s.tagHandle(true, m)
		if !s.blank() {
			s.failHere(context, m, "did not find expected whitespace")
		}
		s.blanks()
		t.text = s.tagURI(true, true, "", m)
		if !s.blankz(s.pos) {
			s.failHere(context, m, "did not find expected whitespace or line break")
		}
	default:
		s.failHere(context, m, "found unknown directive name")
	}
	s.restOfLine(context, m)
	s.enqueue(t)
}

func (s *scanner) blanks() {
	for s.blank() {
		s.pos++
	}
}

// restOfLine passes blanks, a comment and the line break.
func (s *scanner) restOfLine(context string, m mark) {
	s.blanks()
	if s.src[s.pos] == '#' {
		for !s.breakz() {
			s.next()
		}
	}
	if !s.breakz() {
		s.failHere(context, m, "did not find expected comment or line break")
	}
	if n := s.breakAt(s.pos); n > 0 {
		s.skipLine(n)
	}
}

func (s *scanner) versionNumber(m mark) int32 {
	const context = "while scanning a %YAML directive"
	start, value := s.pos, int32(0)
	for isDigit(s.src[s.pos]) {
		if s.pos-start == 9 {
			s.failHere(context, m, "found extremely long version number")
		}
		value = value*10 + int32(s.src[s.pos]-'0')
		s.pos++
	}
	if s.pos == start {
		s.failHere(context, m, "did not find expected version number")
	}
	return value
}

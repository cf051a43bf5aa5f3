package ruby

import (
	"strconv"
	"strings"
)

// command is the text of a token that is a command of the shell.
const command = "`"

// symbols is the text of a token of %i.
const symbols = "i"

// quoted scans a text in the quotes that stand here.
func (s *scanner) quoted(t token, k kind, interpolated bool) {
	quote := s.src[s.pos]
	s.pos++
	parts := s.text(0, quote, interpolated, false)
	before := s.last()
	if k == str && s.peek(0) == ':' && s.peek(1) != ':' && (before.is(op, "{") || before.is(op, ",") || before.is(op, "(") || before.kind == newline) {
		s.pos++
		k = label
	}
	if quote == '`' {
		t.text = command
	}
	s.addText(t, k, parts)
}

// closing are the brackets of %-literals, which nest.
var closing = map[byte]byte{'(': ')', '[': ']', '{': '}', '<': '>'}

// percent scans a literal like %w[a b], and reports whether there is one.
func (s *scanner) percent(t token) bool {
	at, form := 1, byte('Q')
	if c := s.peek(1); strings.IndexByte("wWiIqQrsx", c) >= 0 && c != 0 {
		at, form = 2, c
	}
	quote := s.peek(at)
	if quote <= ' ' || isWord(quote) || at == 1 && quote == '=' {
		return false
	}
	s.pos += at + 1
	open, end := quote, closing[quote]
	if end == 0 {
		open, end = 0, quote
	}
	switch form {
	case 'r':
		s.regexpBody(t, open, end)
	case 'w', 'W', 'i', 'I':
		if form == 'i' || form == 'I' {
			t.text = symbols
		}
		s.addText(t, words, wordsOf(s.text(open, end, form < 'a', false)))
	default:
		k := str
		switch form {
		case 's':
			k = symbol
		case 'x':
			t.text = command
		}
		s.addText(t, k, s.text(open, end, form != 'q' && form != 's', false))
	}
	return true
}

// wordsOf splits the parts of %w at blank space. A word with interpolation is
// opaque.
func wordsOf(parts []Part) []Part {
	var all []Part
	for _, p := range parts {
		if p.Opaque || p.Variable != "" {
			return []Part{{Opaque: true}}
		}
		for _, w := range strings.Fields(p.Text) {
			all = append(all, Part{Text: w})
		}
	}
	return all
}

// regexp scans a regular expression whose quote is so many bytes long.
func (s *scanner) regexp(t token, quote int) {
	s.pos += quote
	s.regexpBody(t, 0, '/')
}

func (s *scanner) regexpBody(t token, open, end byte) {
	t.kind, t.parts = regexp, s.text(open, end, true, true)
	for ; isLetter(s.peek(0)); s.pos++ {
		if at := strings.IndexByte("ixm", s.peek(0)); at >= 0 {
			t.options |= 1 << at
		}
	}
	s.tokens = append(s.tokens, t)
}

// text scans up to the end of a text, and returns its parts. In a regular
// expression escapes stay as they are, but that of its end.
func (s *scanner) text(open, end byte, interpolated, regular bool) []Part {
	var parts []Part
	var b strings.Builder
	flush := func() {
		if b.Len() > 0 {
			parts = append(parts, Part{Text: b.String()})
			b.Reset()
		}
	}
	for depth := 0; s.pos < len(s.src); s.pos++ {
		c := s.src[s.pos]
		switch {
		case c == '\\' && s.pos+1 < len(s.src):
			s.pos++
			s.escape(&b, end, interpolated, regular)
			continue
		case c == end && depth == 0:
			s.pos++
			flush()
			return parts
		case c == end:
			depth--
		case c == open && open != 0:
			depth++
		case c == '#' && interpolated && s.peek(1) == '{':
			flush()
			parts = append(parts, s.interpolation())
			continue
		case c == '\n':
			s.line++
		}
		b.WriteByte(c)
	}
	flush()
	s.unclosed = true
	return parts
}

// simple are the escapes of one letter.
var simple = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 's': ' ', '0': 0, 'e': 0x1b, 'a': 7, 'b': 8, 'f': '\f', 'v': '\v'}

// escape writes what the escape at the position means, behind its backslash.
func (s *scanner) escape(b *strings.Builder, end byte, interpolated, regular bool) {
	c := s.src[s.pos]
	if c == '\n' {
		s.line++
	}
	known, isKnown := simple[c]
	switch {
	case regular && c == '/':
		b.WriteByte('/')
	case regular, !interpolated && c != end && c != '\\':
		b.WriteByte('\\')
		b.WriteByte(c)
	case interpolated && (c == 'u' || c == 'x') && s.codePoint(b, c):
	case interpolated && c >= '0' && c <= '7':
		n := c - '0'
		for range 2 {
			if next := s.peek(1); next >= '0' && next <= '7' {
				n = n*8 + next - '0'
				s.pos++
			}
		}
		b.WriteByte(n)
	case interpolated && isKnown:
		b.WriteByte(known)
	case interpolated && c == '\n':
	default:
		b.WriteByte(c)
	}
}

// codePoint writes a character by its number: \\u00e9, \\u{e9} or \\xe9. It reports
// whether there is one.
func (s *scanner) codePoint(b *strings.Builder, letter byte) bool {
	rest, most := s.rest()[1:], 4
	if letter == 'x' {
		most = 2
	}
	digits, used := "", 0
	if inner, _, ok := strings.Cut(strings.TrimPrefix(rest, "{"), "}"); ok && letter == 'u' && rest[0] == '{' {
		digits, used = inner, len(inner)+2
	} else {
		for used < most && used < len(rest) && strings.IndexByte("0123456789abcdefABCDEF", rest[used]) >= 0 {
			used++
		}
		digits = rest[:used]
	}
	n, err := strconv.ParseUint(digits, 16, 21)
	if err != nil {
		return false
	}
	s.pos += used
	if letter == 'x' {
		b.WriteByte(byte(n))
	} else {
		b.WriteRune(rune(n))
	}
	return true
}

// interpolation scans #{…}, and stops at its closing brace. Only the value of one
// variable is kept.
func (s *scanner) interpolation() Part {
	s.pos += 2
	if s.depth++; s.depth > maxNesting {
		s.pos = len(s.src)
		return Part{Opaque: true}
	}
	inner := &scanner{src: s.src, pos: s.pos, line: s.line, depth: s.depth}
	inner.run("}")
	s.depth--
	s.pos, s.line = inner.pos-1, inner.line
	s.unclosed = s.unclosed || inner.unclosed
	code := append(inner.tokens, token{line: s.line})
	if len(inner.tokens) == 1 && inner.tokens[0].kind == ident {
		return Part{Variable: inner.tokens[0].text, code: &code}
	}
	return Part{Opaque: true, code: &code}
}

// heredoc scans the beginning of a heredoc, and reports whether there is one. Its
// text is read when the line ends.
func (s *scanner) heredoc(t token) bool {
	if s.peek(1) != '<' || s.last().value() && (s.last().kind != ident || !t.spaced) || s.last().is(keyword, "class") {
		return false
	}
	at, doc := 2, &heredoc{at: len(s.tokens)}
	if c := s.peek(at); c == '-' || c == '~' {
		doc.indented, doc.dedented = true, c == '~'
		at++
	}
	if quote := s.peek(at); quote == '"' || quote == '\'' || quote == '`' {
		end := strings.IndexByte(s.src[s.pos+at+1:], quote)
		if end < 0 {
			return false
		}
		doc.end, doc.raw = s.src[s.pos+at+1:s.pos+at+1+end], quote == '\''
		at += end + 2
	} else {
		doc.end = s.wordAt(at)
		at += len(doc.end)
	}
	if doc.end == "" || isDigit(doc.end[0]) {
		return false
	}
	s.pos += at
	s.waiting = append(s.waiting, doc)
	s.addText(t, str, nil)
	return true
}

// heredocs reads the texts of the heredocs of the line that has ended.
func (s *scanner) heredocs() {
	for _, doc := range s.waiting {
		var b strings.Builder
		for s.pos < len(s.src) {
			n := lineLength(s.rest())
			text := strings.TrimSuffix(s.rest()[:n], "\r")
			s.pos = min(s.pos+n+1, len(s.src))
			s.line++
			if text == doc.end || doc.indented && strings.TrimLeft(text, " \t") == doc.end {
				break
			}
			b.WriteString(text + "\n")
		}
		if doc.at < len(s.tokens) {
			s.tokens[doc.at].parts = s.heredocParts(doc, b.String())
		}
	}
	s.waiting = nil
}

// heredocParts returns the parts of a heredoc, which is read in full.
func (s *scanner) heredocParts(doc *heredoc, text string) []Part {
	if doc.dedented {
		text = dedented(text)
	}
	if doc.raw || !strings.ContainsAny(text, `\#`) {
		return []Part{{Text: text}}
	}
	inner := &scanner{src: text, line: s.line, depth: s.depth}
	return inner.text(0, 0, true, false)
}

// dedented drops the indentation that all lines have, but those that are blank.
func dedented(text string) string {
	least := -1
	for l := range strings.Lines(text) {
		if rest := strings.TrimLeft(l, " \t"); rest != "\n" && (least < 0 || len(l)-len(rest) < least) {
			least = len(l) - len(rest)
		}
	}
	var b strings.Builder
	for l := range strings.Lines(text) {
		b.WriteString(l[min(max(least, 0), len(l)-len(strings.TrimLeft(l, " \t"))):])
	}
	return b.String()
}

package ruby

import (
	"strings"
)

// A scanner makes tokens of a source. What a character means depends on the token
// before it: "/" divides behind a value and begins a regular expression elsewhere.
type scanner struct {
	src     string
	pos     int
	line    int
	depth   int // of interpolations
	tokens  []token
	waiting []*heredoc // whose text begins with the next line
	// unclosed is whether a text has no end.
	unclosed bool
}

// A heredoc is one whose text was not read yet.
type heredoc struct {
	end      string
	indented bool // the line that ends it may be indented
	raw      bool // nothing is interpolated
	dedented bool // the indentation that all lines have is dropped
	at       int  // its token
}

// scan returns the tokens of a source; the last is eof.
func scan(src string) []token {
	s := &scanner{src: src, line: 1}
	s.lines()
	s.run("")
	return s.tokens
}

// run scans up to the end, or to the closing brace of an interpolation.
func (s *scanner) run(until string) {
	braces := 0
	for s.next() {
		switch last := s.last(); {
		case last.is(op, "{"):
			braces++
		case last.is(op, "}"):
			if braces--; braces < 0 && until != "" {
				s.tokens = s.tokens[:len(s.tokens)-1]
				return
			}
		}
	}
}

func (s *scanner) last() token {
	if len(s.tokens) == 0 {
		return token{kind: newline}
	}
	return s.tokens[len(s.tokens)-1]
}

func (s *scanner) peek(n int) byte {
	if s.pos+n < len(s.src) {
		return s.src[s.pos+n]
	}
	return 0
}

func (s *scanner) rest() string { return s.src[s.pos:] }

// next scans one token, and reports whether there may be another.
func (s *scanner) next() bool {
	before := s.pos
	s.blanks()
	t := token{line: s.line, spaced: s.pos > before}
	if s.pos >= len(s.src) {
		s.tokens = append(s.tokens, t)
		return false
	}
	n := len(s.tokens)
	s.token(t)
	if len(s.tokens) > n {
		last := &s.tokens[len(s.tokens)-1]
		last.glued = s.pos < len(s.src) && !strings.ContainsRune(" \t\r\n", rune(s.src[s.pos]))
	}
	return true
}

// blanks skips blank space, comments and escaped ends of lines.
func (s *scanner) blanks() {
	for s.pos < len(s.src) {
		switch c := s.src[s.pos]; {
		case c == ' ', c == '\t', c == '\r', c == '\f', c == '\v':
			s.pos++
		case c == '\\' && s.peek(1) == '\n':
			s.pos += 2
			s.line++
		case c == '\\' && s.peek(1) == '\r' && s.peek(2) == '\n':
			s.pos += 3
			s.line++
		case c == '#':
			s.pos += lineLength(s.rest())
		default:
			return
		}
	}
}

// lineLength is the length of the first line, without its end.
func lineLength(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// token scans what begins here, which is not blank.
func (s *scanner) token(t token) {
	literal := !s.last().value() || s.last().kind == ident && t.spaced && !strings.ContainsRune(" \t=\n", rune(s.peek(1)))
	switch c := s.src[s.pos]; {
	case c == '\n':
		s.endOfLine(t)
	case c == ';':
		s.pos++
		s.add(t, newline, ";")
	case isLetter(c):
		s.word(t)
	case isDigit(c):
		s.number(t)
	case c == '@', c == '$':
		s.variable(t)
	case c == '"', c == '\'', c == '`':
		s.quoted(t, str, c != '\'')
	case c == ':':
		s.colon(t)
	case c == '/' && literal:
		s.regexp(t, 1)
	case c == '%' && literal && s.percent(t):
	case c == '<' && s.heredoc(t):
	case c == '?' && literal && s.peek(1) > ' ' && !isWord(s.peek(2)):
		s.pos += 2
		s.addText(t, str, []Part{{Text: s.src[s.pos-1 : s.pos]}})
	default:
		s.operator(t)
	}
}

func (s *scanner) add(t token, k kind, text string) {
	t.kind, t.text = k, text
	s.tokens = append(s.tokens, t)
}

func (s *scanner) addText(t token, k kind, parts []Part) {
	t.kind, t.parts = k, parts
	s.tokens = append(s.tokens, t)
}

// endOfLine ends the statement, unless it goes on in the next line.
func (s *scanner) endOfLine(t token) {
	s.pos++
	s.line++
	s.heredocs()
	s.lines()
	if s.last().goesOn() || s.chained() {
		return
	}
	s.add(t, newline, "\n")
}

// lines goes over what takes whole lines: comments between =begin and =end, and
// all that stands behind __END__.
func (s *scanner) lines() {
	for strings.HasPrefix(s.rest(), "=begin") {
		end := strings.Index(s.rest(), "\n=end")
		if end < 0 {
			s.pos = len(s.src)
			return
		}
		s.line += strings.Count(s.rest()[:end+1], "\n")
		s.pos += end + 1
		s.pos += lineLength(s.rest())
	}
	if text, isEnd := strings.CutPrefix(s.rest(), "__END__"); isEnd && (text == "" || strings.ContainsRune("\r\n", rune(text[0]))) {
		s.pos = len(s.src)
	}
}

// chained reports whether the next line with code begins with .method.
func (s *scanner) chained() bool {
	for text := range strings.Lines(s.rest()) {
		text = strings.TrimSpace(text)
		if text == "" || text[0] == '#' {
			continue
		}
		return text[0] == '.' && !strings.HasPrefix(text, "..") || strings.HasPrefix(text, "&.")
	}
	return false
}

func isLetter(c byte) bool { return c == '_' || c >= 0x80 || 'a' <= c|0x20 && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return '0' <= c && c <= '9' }
func isWord(c byte) bool   { return isLetter(c) || isDigit(c) }

// wordAt returns the word that begins at an offset.
func (s *scanner) wordAt(n int) string {
	text := s.src[min(s.pos+n, len(s.src)):]
	i := 0
	for i < len(text) && isWord(text[i]) {
		i++
	}
	return text[:i]
}

// word scans a name, a keyword or a label.
func (s *scanner) word(t token) {
	text := s.wordAt(0)
	s.pos += len(text)
	if c := s.peek(0); (c == '?' || c == '!') && (s.peek(1) != '=' || strings.ContainsRune("=~>", rune(s.peek(2)))) {
		text += string(c)
		s.pos++
	}
	before := s.last()
	if s.peek(0) == ':' && s.peek(1) != ':' && !before.is(op, "?") && !before.is(op, ".") {
		s.pos++
		s.addText(t, label, []Part{{Text: text}})
		return
	}
	switch {
	case before.is(op, "."), before.is(op, "&."):
		s.add(t, ident, text)
	case keywords[text]:
		s.add(t, keyword, text)
	case 'A' <= text[0] && text[0] <= 'Z':
		s.add(t, constant, text)
	default:
		s.add(t, ident, text)
	}
}

func (s *scanner) number(t token) {
	start := s.pos
	for isWord(s.peek(0)) || s.peek(0) == '.' && isDigit(s.peek(1)) || s.exponent(start) {
		s.pos++
	}
	s.add(t, number, s.src[start:s.pos])
}

// exponent reports whether the sign of the exponent of a number stands here.
func (s *scanner) exponent(start int) bool {
	c := s.peek(0)
	return (c == '-' || c == '+') && s.pos > start && s.src[s.pos-1]|0x20 == 'e' && isDigit(s.peek(1)) && !strings.HasPrefix(s.src[start:], "0x")
}

func (s *scanner) variable(t token) {
	start := s.pos
	for s.peek(0) == '@' || s.peek(0) == '$' {
		s.pos++
	}
	if w := s.wordAt(0); w != "" {
		s.pos += len(w)
	} else if s.pos < len(s.src) && s.src[s.pos] > ' ' {
		s.pos++ // $! and the like
	}
	s.add(t, variable, s.src[start:s.pos])
}

// colon scans a symbol or an operator.
func (s *scanner) colon(t token) {
	switch c := s.peek(1); {
	case c == ':':
		s.operator(t)
	case c == '"', c == '\'':
		s.pos++
		s.quoted(t, symbol, c == '"')
	case isLetter(c):
		w := s.wordAt(1)
		s.pos += 1 + len(w)
		if c := s.peek(0); c != 0 && strings.ContainsRune("?!=", rune(c)) && !strings.ContainsRune("=~>", rune(s.peek(1))) {
			w += string(c)
			s.pos++
		}
		s.addText(t, symbol, []Part{{Text: w}})
	case c > ' ' && !s.last().value() && strings.ContainsRune("[+-*/<=>!~%&|^", rune(c)):
		start := s.pos + 1
		for s.pos++; s.pos < len(s.src) && strings.ContainsRune("[]+-*/<=>!~%&|^", rune(s.src[s.pos])); s.pos++ {
		}
		s.addText(t, symbol, []Part{{Text: s.src[start:s.pos]}})
	default:
		s.operator(t)
	}
}

func (s *scanner) operator(t token) {
	for _, o := range operators {
		if strings.HasPrefix(s.rest(), o) {
			s.pos += len(o)
			s.add(t, op, o)
			return
		}
	}
	s.pos++
	s.add(t, op, s.src[s.pos-1:s.pos])
}

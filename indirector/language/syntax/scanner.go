package syntax

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A scanner finds the tokens of a source, one at a time, as the parser asks for
// them. What stands in a double-quoted string, a heredoc or between the tags of a
// template becomes several tokens at once, which wait in a queue: whether the
// name in "${name}" is a variable is known at the brace behind it only. Rule
// LANG-LEX-11.
//
// A token depends on what stands before it, in three ways: after holds the token
// before this one (is / a division?), lineStart the beginning of the line (may (
// continue a call?), and jump the line at which the text goes on after heredocs.
type scanner struct {
	source *Source
	report *Report
	text   string  // the source, or the text of a heredoc
	margin *margin // nil unless text is that of a heredoc
	pos    int

	queue     []token
	head      int // of queue
	after     kind
	lineStart int
	jump      int // 0 is nowhere
	braces    int // how many are open
	depth     int // of interpolations and heredocs

	// What was matched last; -1 is nothing. A message of an unclosed quote has it.
	matchedFrom, matchedTo int

	epp     eppMode
	eppOpen bool // a tag is open

	escapes string // those of a heredoc, see unescape
	dollar  bool   // a heredoc interpolates
}

// A failure unwinds scanner, parser and checker to the function that was called
// from outside.
type failure struct{ problem *Problem }

// fail ends everything with an error at an offset in the text.
func (s *scanner) fail(at int, format string, args ...any) {
	panic(failure{s.source.problem(s.global(at), fmt.Sprintf(format, args...))})
}

// warn logs a warning, unless there are very many.
func (s *scanner) warn(message string) {
	if len(s.report.Logged) >= maxProblems {
		return
	}
	p := s.source.problem(s.global(s.pos), message)
	p.Severity = Warning
	s.report.Logged = append(s.report.Logged, p)
}

// problem returns an error at an offset.
func (s *Source) problem(offset int, message string) *Problem {
	line, column := s.Position(min(offset, len(s.Text)))
	return &Problem{Message: message, File: s.File, Line: line, Column: column}
}

// global returns the offset in the source of one in the text.
func (s *scanner) global(offset int) int {
	if s.margin == nil {
		return offset
	}
	return s.margin.global(offset)
}

// deeper counts an interpolation or a heredoc in another. Rule LANG-LEX-15.
func (s *scanner) deeper(at int) {
	if s.depth++; s.depth > maxNesting {
		s.fail(at, tooNested, maxNesting)
	}
}

// next returns the next token. At the end of the text it is tEOF, again and
// again.
func (s *scanner) next() token {
	for {
		if s.head < len(s.queue) {
			t := s.queue[s.head]
			if s.head++; s.head == len(s.queue) {
				s.queue, s.head = s.queue[:0], 0
			}
			s.after = t.kind
			return t
		}
		if s.pos >= len(s.text) {
			if s.eppOpen {
				s.fail(s.pos, eppUnbalanced)
			}
			return token{kind: tEOF, offset: int32(len(s.text))}
		}
		if t, found := s.lex(); found == one {
			s.after = t.kind
			return t
		}
	}
}

// What lex found.
type found uint8

const (
	none  found = iota // blanks, a comment; or tokens of a heredoc or a template in the queue
	one                // a token
	queue              // tokens of a string in the queue
)

// lex finds what stands at pos, and goes on behind it.
func (s *scanner) lex() (token, found) {
	switch c := s.text[s.pos]; {
	case c == ' ' || c == '\t' || c == '\r':
		s.skipBlanks()
		return token{}, none
	case c == '\n':
		return token{}, s.newline()
	case c >= 'a' && c <= 'z' || c == '_':
		return s.name()
	case c >= 'A' && c <= 'Z':
		return s.typeName()
	case c >= '0' && c <= '9':
		return s.number()
	case c == '$':
		return s.variable()
	case c == '\'':
		return s.singleQuoted()
	case c == '"':
		return s.doubleQuoted()
	case c == '#':
		s.pos += lineEnd(s.text[s.pos:])
		return token{}, none
	case c == '/':
		return s.slash()
	case c == ':':
		return s.colon()
	case c == '(' || c == '[' || c == '{' || c == '}':
		return s.bracket(c)
	case c == '@' && strings.HasPrefix(s.text[s.pos:], "@("):
		return token{}, s.heredoc()
	case s.epp != eppNone && s.endsTag():
		return token{}, none
	case c < utf8.RuneSelf && operators[c] != nil:
		return s.operator(operators[c])
	}
	if s.skipBlanks() {
		return token{}, none
	}
	s.pos++
	return token{kind: tOther, offset: int32(s.global(s.pos - 1)), length: 1}, one
}

// make returns the token from an offset up to pos.
func (s *scanner) make(k kind, from int, text string) token {
	return token{k, int32(s.global(from)), int32(s.pos - from), text}
}

// word returns the token of a text that is as it is written.
func (s *scanner) word(k kind, from, to int) (token, found) {
	s.pos, s.matchedFrom, s.matchedTo = to, from, to
	return s.make(k, from, s.text[from:to]), one
}

// skipBlanks reports whether there were any. Rule LANG-LEX-02.
func (s *scanner) skipBlanks() bool {
	from := s.pos
	for s.pos < len(s.text) {
		c := s.text[s.pos]
		if c == ' ' || c == '\t' || c == '\r' {
			s.pos++
			continue
		}
		if c < utf8.RuneSelf {
			break
		}
		r, n := utf8.DecodeRuneInString(s.text[s.pos:])
		if !isBlank(r) {
			break
		}
		s.pos += n
	}
	return s.pos > from
}

// isBlank reports whether a character is what Ruby calls blank.
func isBlank(r rune) bool {
	return r == ' ' || r == '\t' || r >= utf8.RuneSelf && unicode.Is(unicode.Zs, r)
}

// lineEnd returns where a text has its first line break, or ends.
func lineEnd(text string) int {
	if i := strings.IndexByte(text, '\n'); i >= 0 {
		return i
	}
	return len(text)
}

// newline goes on in the next line, or behind the text of heredocs.
func (s *scanner) newline() found {
	s.pos++
	if s.jump > 0 {
		s.pos, s.jump = s.jump, 0
	}
	s.lineStart = s.pos
	return none
}

func (s *scanner) operator(candidates []operator) (token, found) {
	rest := s.text[s.pos:]
	for i := range candidates {
		if op := &candidates[i]; strings.HasPrefix(rest, op.text) {
			s.pos += len(op.text)
			return s.make(op.kind, s.pos-len(op.text), op.text), one
		}
	}
	panic("every operator is a candidate by its first character: " + rest[:1])
}

// bracket finds the brackets that depend on what stands before them. Rule
// LANG-LEX-07.
func (s *scanner) bracket(c byte) (token, found) {
	var k kind
	switch c {
	case '[':
		if k = tBracket; s.pos == 0 || s.afterBlank() {
			k = tListBegin
		}
	case '(':
		if k = tParen; strings.TrimLeft(s.text[s.lineStart:s.pos], " \t\r") == "" || onlyBlanks(s.text[s.lineStart:s.pos]) {
			k = tLineParen
		}
	case '{':
		s.braces++
		if k = tBrace; s.after == tQuestion {
			k = tSelectBrace
		}
	case '}':
		s.braces--
		k = tBraceEnd
	}
	s.pos++
	return s.make(k, s.pos-1, s.text[s.pos-1:s.pos]), one
}

func (s *scanner) afterBlank() bool {
	r, _ := utf8.DecodeLastRuneInString(s.text[:s.pos])
	return r == '\n' || r == '\r' || isBlank(r)
}

func onlyBlanks(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r != '\r' && !isBlank(r) })
}

// slash finds comments, regular expressions and divisions.
func (s *scanner) slash() (token, found) {
	from := s.pos
	if strings.HasPrefix(s.text[from:], "/*") {
		end := strings.Index(s.text[from+2:], "*/")
		if end < 0 {
			s.fail(from, unclosedComment)
		}
		s.pos += end + 4
		return token{}, none
	}
	if s.expressionMayBegin() {
		if end := regexpEnd(s.text, from+1); end > 0 {
			source := strings.ReplaceAll(s.text[from+1:end], `\/`, "/")
			if problem := regexpProblem(source); problem != "" {
				s.fail(from, "%s: /%s/", problem, s.text[from+1:end])
			}
			s.pos, s.matchedFrom, s.matchedTo = end+1, from, end+1
			return s.make(tRegexp, from, source), one
		}
	}
	s.pos++
	return s.make(tDivide, from, "/"), one
}

// expressionMayBegin reports whether / begins a regular expression, by the token
// before it. Rule LANG-LEX-08.
func (s *scanner) expressionMayBegin() bool {
	switch s.after {
	case tParenEnd, tBracketEnd, tExportedEnd, tCollectEnd, tName, tTypeName, tNumber, tString, tBoolean,
		tTextBegin, tTextMiddle, tTextEnd, tHeredoc, tRegexp, tVariable, tWord:
		return false
	}
	return true
}

// regexpEnd returns the offset of the first / that is not escaped, or -1.
func regexpEnd(text string, from int) int {
	for at := from; ; at++ {
		i := strings.IndexByte(text[at:], '/')
		if i < 0 {
			return -1
		}
		at += i
		if backslashes(text[from:at])%2 == 0 {
			return at
		}
	}
}

// backslashes returns how many a text ends with.
func backslashes(text string) int { return len(text) - len(strings.TrimRight(text, `\`)) }

// checkBOM refuses byte order marks. Rule LANG-LEX-01.
func (s *scanner) checkBOM() {
	for _, bom := range byteOrderMarks {
		if strings.HasPrefix(s.text, bom.bytes) {
			panic(failure{&Problem{Message: fmt.Sprintf(illegalBOM, bom.name, fmt.Sprintf("% X", []byte(bom.bytes)))}})
		}
	}
}

// checkEncoding refuses what is not UTF-8.
func (s *scanner) checkEncoding() {
	if utf8.ValidString(s.text) {
		return
	}
	for at, r := range s.text {
		if _, n := utf8.DecodeRuneInString(s.text[at:]); r == utf8.RuneError && n == 1 {
			s.fail(at, "invalid byte sequence in UTF-8")
		}
	}
}

// byteOrderMarks are in the order in which they are tried.
var byteOrderMarks = []struct{ bytes, name string }{
	{"\x00\x00\xFE\xFF", "UTF-32"},
	{"\xFF\xFE\x00\x00", "UTF-32"},
	{"\x84\x31\x95\x33", "GB-18030"},
	{"\xDD\x73\x66\x73", "UTF-EBCDIC"},
	{"\x0E\xFE\xFF", "SCSU"},
	{"\xEF\xBB\xBF", "UTF-8"},
	{"\xF7\x64\x4C", "UTF-1"},
	{"\xFB\xEE\x28", "BOCU"},
	{"\xFE\xFF", "UTF-16"},
	{"\xFF\xFE", "UTF-16"},
}

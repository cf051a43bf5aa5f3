package psych

import (
	"unicode/utf8"
	"unsafe"
)

// A mark is a position in the text.
type mark struct {
	index  int32 // in characters
	line   int32 // from 0
	column int32 // from 0, in characters
}

type tokenKind uint8

const (
	tokStreamEnd tokenKind = iota
	tokVersion
	tokTagDirective
	tokDocumentStart
	tokDocumentEnd
	tokBlockSequence
	tokBlockMapping
	tokBlockEnd
	tokFlowSequence
	tokFlowSequenceEnd
	tokFlowMapping
	tokFlowMappingEnd
	tokBlockEntry
	tokFlowEntry
	tokKey
	tokValue
	tokAlias
	tokAnchor
	tokTag
	tokScalar
)

// A token is a unit of the text for the parser.
type token struct {
	kind         tokenKind
	quoted       bool // a scalar in a style other than plain
	major, minor int32
	mark         mark
	text         string // of a scalar, an anchor, an alias; the suffix of a tag; the prefix of a %TAG
	handle       string // of a tag or a %TAG
}

// A simpleKey is a position where a key may have begun whose colon is yet to
// come.
type simpleKey struct {
	possible, required bool
	number             int // of the token that the key would begin with
	mark               mark
}

// A scanner cuts the text into tokens as libyaml does, with the same messages.
type scanner struct {
	src  string // ends with padding beyond n
	n    int
	pos  int
	cont int // bytes before pos that are not the first of their character

	line      int32
	lineIndex int32 // characters before this line

	tokens []token // those from head on are waiting
	head   int
	parsed int // tokens handed out so far

	ended            bool // the end was reached and its token made
	indent           int32
	indents          []int32
	simpleKeyAllowed bool
	keys             []simpleKey // one for each flow level and one for the block
	firstKey         int         // no key below this level is possible

	buf    []byte
	breaks []byte

	bad *SyntaxError // the problem of the bytes beyond n
}

// padding lets the scanner look ahead without asking for the end; a NUL never
// occurs in the text.
const padding = "\x00\x00\x00\x00"

// chunk is the number of bytes that libyaml decodes at once. A broken character
// does not affect the chunks before it.
const chunk = 16384

func (s *scanner) init(b []byte) {
	n, bad := validate(b)
	c := make([]byte, n+len(padding))
	copy(c, b[:n])
	*s = scanner{
		src: unsafe.String(unsafe.SliceData(c), len(c)), n: n, bad: bad,
		indent: -1, simpleKeyAllowed: true,
		keys: make([]simpleKey, 1, 8), tokens: make([]token, 0, 16),
	}
}

// validate returns how much of b can be scanned before libyaml would notice a
// byte that is no text.
func validate(b []byte) (int, *SyntaxError) {
	for i := 0; i < len(b); {
		c := b[i]
		if c >= 0x20 && c < 0x7f || c == '\n' {
			i++
			continue
		}
		r, n := rune(c), 1
		if c >= utf8.RuneSelf {
			r, n = utf8.DecodeRune(b[i:])
		}
		problem := ""
		switch {
		case n == 1 && c >= utf8.RuneSelf:
			problem = brokenCharacter(b[i:])
		case c == '\t' || c == '\r' || r == 0x85 || r >= 0xa0 && r <= 0xfffd || r >= 0x10000:
		default:
			problem = "control characters are not allowed"
		}
		if problem != "" {
			return i / chunk * chunk, &SyntaxError{Problem: problem, ContextLine: 1, ContextColumn: 1}
		}
		i += n
	}
	return len(b), nil
}

// brokenCharacter returns the problem of the character at the start of b.
func brokenCharacter(b []byte) string {
	width := 0
	switch c := b[0]; {
	case c&0xe0 == 0xc0:
		width = 2
	case c&0xf0 == 0xe0:
		width = 3
	case c&0xf8 == 0xf0:
		width = 4
	default:
		return "invalid leading UTF-8 octet"
	}
	if len(b) < width {
		return "incomplete UTF-8 octet sequence"
	}
	for _, c := range b[1:width] {
		if c&0xc0 != 0x80 {
			return "invalid trailing UTF-8 octet"
		}
	}
	value := int(b[0]) & (0xff >> (width + 1))
	for _, c := range b[1:width] {
		value = value<<6 | int(c&0x3f)
	}
	if width == 2 && value < 0x80 || width == 3 && value < 0x800 || width == 4 && value < 0x10000 {
		return "invalid length of a UTF-8 sequence"
	}
	return "invalid Unicode character"
}

func (s *scanner) column() int32 { return int32(s.pos-s.cont) - s.lineIndex }

func (s *scanner) mark() mark {
	i := int32(s.pos - s.cont)
	return mark{index: i, line: s.line, column: i - s.lineIndex}
}

// fail unwinds to run.
func (s *scanner) fail(context string, start mark, problem string, at mark) {
	panic(&SyntaxError{
		Problem: problem, Context: context,
		Line: int(at.line) + 1, Column: int(at.column) + 1,
		ContextLine: int(start.line) + 1, ContextColumn: int(start.column) + 1,
	})
}

// failHere is fail for a problem at the current position.
func (s *scanner) failHere(context string, start mark, problem string) {
	s.fail(context, start, problem, s.mark())
}

// peek returns the next token. It stays valid until the one after next is
// asked for.
func (s *scanner) peek() *token {
	if s.head < len(s.tokens) && !s.undecided() {
		return &s.tokens[s.head]
	}
	s.fetchMore()
	return &s.tokens[s.head]
}

// skip drops the token that peek returned.
func (s *scanner) skip() {
	s.head++
	s.parsed++
	if s.head == len(s.tokens) {
		s.tokens, s.head = s.tokens[:0], 0
	}
}

// undecided reports whether the next token may turn out to begin a key.
func (s *scanner) undecided() bool {
	for s.firstKey < len(s.keys) {
		k := &s.keys[s.firstKey]
		if k.possible && !s.stale(k) {
			return k.number == s.parsed
		}
		k.possible = false
		s.firstKey++
	}
	return false
}

// stale reports whether the text has gone on too far for k to be a key, which
// is an error if it had to be one.
func (s *scanner) stale(k *simpleKey) bool {
	if k.mark.line >= s.line && int(k.mark.index)+1024 >= s.pos-s.cont {
		return false
	}
	if k.required {
		s.failHere("while scanning a simple key", k.mark, "could not find expected ':'")
	}
	return true
}

func (s *scanner) fetchMore() {
	for {
		if s.ended {
			if s.head == len(s.tokens) {
				s.enqueue(token{kind: tokStreamEnd, mark: s.mark()})
			}
			return
		}
		s.fetchNext()
		if s.head < len(s.tokens) && !s.undecided() {
			return
		}
	}
}

func (s *scanner) enqueue(t token) { s.tokens = append(s.tokens, t) }

// insert puts t before the token with the given number.
func (s *scanner) insert(number int, t token) {
	at := s.head + number - s.parsed
	s.tokens = append(s.tokens, token{})
	copy(s.tokens[at+1:], s.tokens[at:])
	s.tokens[at] = t
}

func (s *scanner) flow() bool { return len(s.keys) > 1 }

// fetchNext makes at least one token, unless it only finds out that a key
// cannot be.
func (s *scanner) fetchNext() {
	s.toNextToken()
	if k := &s.keys[0]; k.possible && k.required && s.stale(k) {
		k.possible = false
	}
	s.unroll(s.column())
	c := s.src[s.pos]
	if c == 0 {
		s.fetchStreamEnd()
		return
	}
	if s.pos-s.cont == int(s.lineIndex) {
		switch {
		case c == '%':
			s.fetchDirective()
			return
		case s.documentIndicator():
			s.fetchDocumentIndicator()
			return
		}
	}
	s.fetchToken(c)
}

// fetchToken queues the token that begins with c, which is neither the end of
// the stream nor, at the start of a line, a directive or a document indicator.
func (s *scanner) fetchToken(c byte) {
	m := s.mark()
	switch c {
	case '[':
		s.flowStart(tokFlowSequence)
		return
	case '{':
		s.flowStart(tokFlowMapping)
		return
	case ']':
		s.flowEnd(tokFlowSequenceEnd)
		return
	case '}':
		s.flowEnd(tokFlowMappingEnd)
		return
	case ',':
		s.removeKey()
		s.simpleKeyAllowed = true
		s.pos++
		s.enqueue(token{kind: tokFlowEntry, mark: m})
		return
	case '-':
		if s.blankz(s.pos + 1) {
			s.blockEntry()
			return
		}
	case '?':
		if s.flow() || s.blankz(s.pos+1) {
			s.key()
			return
		}
	case ':':
		if s.flow() || s.blankz(s.pos+1) {
			s.value()
			return
		}
	case '*', '&':
		s.saveKey()
		s.simpleKeyAllowed = false
		s.scanAnchor(c)
		return
	case '!':
		s.saveKey()
		s.simpleKeyAllowed = false
		s.scanTag()
		return
	case '|', '>':
		if !s.flow() {
			s.removeKey()
			s.simpleKeyAllowed = true
			s.scanBlockScalar(c == '|')
			return
		}
		s.failHere("while scanning for the next token", m, "found character that cannot start any token")
	case '\'', '"':
		s.saveKey()
		s.simpleKeyAllowed = false
		s.scanQuoted(c)
		return
	case '#', '%', '@', '`', '\t':
		s.failHere("while scanning for the next token", m, "found character that cannot start any token")
	}
	s.saveKey()
	s.simpleKeyAllowed = false
	s.scanPlain()
}

// breakAt returns the number of bytes of the line break at i, or zero.
func (s *scanner) breakAt(i int) int {
	switch s.src[i] {
	case '\n':
		return 1
	case '\r':
		if s.src[i+1] == '\n' {
			return 2
		}
		return 1
	case 0xc2:
		if s.src[i+1] == 0x85 {
			return 2
		}
	case 0xe2:
		if s.src[i+1] == 0x80 && (s.src[i+2] == 0xa8 || s.src[i+2] == 0xa9) {
			return 3
		}
	}
	return 0
}

func (s *scanner) blank() bool { c := s.src[s.pos]; return c == ' ' || c == '\t' }

// blankz reports whether a blank, a line break or the end is at i.
func (s *scanner) blankz(i int) bool {
	switch s.src[i] {
	case ' ', '\t', '\n', '\r', 0:
		return true
	case 0xc2, 0xe2:
		return s.breakAt(i) > 0
	}
	return false
}

// breakz reports whether a line break or the end is here.
func (s *scanner) breakz() bool {
	switch s.src[s.pos] {
	case '\n', '\r', 0:
		return true
	case 0xc2, 0xe2:
		return s.breakAt(s.pos) > 0
	}
	return false
}

// next passes one character that is no line break.
func (s *scanner) next() {
	c := s.src[s.pos]
	if c < utf8.RuneSelf {
		s.pos++
		return
	}
	n := 2
	if c >= 0xf0 {
		n = 4
	} else if c >= 0xe0 {
		n = 3
	}
	s.pos += n
	s.cont += n - 1
}

// skipLine passes the line break of n bytes.
func (s *scanner) skipLine(n int) {
	if n > 1 && s.src[s.pos] != '\r' {
		s.cont += n - 1
	}
	s.pos += n
	s.line++
	s.lineIndex = int32(s.pos - s.cont)
}

// readLine passes the line break of n bytes and appends it to b as text.
func (s *scanner) readLine(b []byte, n int) []byte {
	if n == 3 {
		b = append(b, s.src[s.pos:s.pos+n]...)
	} else {
		b = append(b, '\n')
	}
	s.skipLine(n)
	return b
}

func (s *scanner) toNextToken() {
	for {
		if s.src[s.pos] == 0xef && s.src[s.pos+1] == 0xbb && s.src[s.pos+2] == 0xbf && s.column() == 0 {
			s.next()
		}
		for s.src[s.pos] == ' ' || s.src[s.pos] == '\t' && (s.flow() || !s.simpleKeyAllowed) {
			s.pos++
		}
		if s.src[s.pos] == '#' {
			for !s.breakz() {
				s.next()
			}
		}
		n := s.breakAt(s.pos)
		if n == 0 {
			return
		}
		s.skipLine(n)
		if !s.flow() {
			s.simpleKeyAllowed = true
		}
	}
}

// documentIndicator reports whether --- or ... is at the start of this line.
func (s *scanner) documentIndicator() bool {
	c := s.src[s.pos]
	return (c == '-' || c == '.') && s.src[s.pos+1] == c && s.src[s.pos+2] == c && s.blankz(s.pos+3)
}

func (s *scanner) fetchDocumentIndicator() {
	kind := tokDocumentStart
	if s.src[s.pos] == '.' {
		kind = tokDocumentEnd
	}
	s.endBlocks()
	s.enqueue(token{kind: kind, mark: s.mark()})
	s.pos += 3
}

func (s *scanner) saveKey() {
	if !s.simpleKeyAllowed {
		return
	}
	s.removeKey()
	m := s.mark()
	level := len(s.keys) - 1
	s.keys[level] = simpleKey{
		possible: true, required: level == 0 && s.indent == m.column,
		number: s.parsed + len(s.tokens) - s.head, mark: m,
	}
	s.firstKey = min(s.firstKey, level)
}

func (s *scanner) removeKey() {
	k := &s.keys[len(s.keys)-1]
	if k.possible && k.required {
		s.failHere("while scanning a simple key", k.mark, "could not find expected ':'")
	}
	k.possible = false
}

// roll opens a block collection at column, if it is deeper than the last one:
// before the token with the given number, or last if that is negative.
func (s *scanner) roll(column int32, number int, kind tokenKind, m mark) {
	if s.flow() || s.indent >= column {
		return
	}
	s.indents = append(s.indents, s.indent)
	s.indent = column
	if number < 0 {
		s.enqueue(token{kind: kind, mark: m})
	} else {
		s.insert(number, token{kind: kind, mark: m})
	}
}

// unroll ends the block collections that are deeper than column.
func (s *scanner) unroll(column int32) {
	if s.flow() {
		return
	}
	for s.indent > column {
		s.enqueue(token{kind: tokBlockEnd, mark: s.mark()})
		last := len(s.indents) - 1
		s.indent = s.indents[last]
		s.indents = s.indents[:last]
	}
}

func (s *scanner) endBlocks() {
	s.unroll(-1)
	s.removeKey()
	s.simpleKeyAllowed = false
}

func (s *scanner) fetchStreamEnd() {
	if s.column() != 0 {
		s.line++
		s.lineIndex = int32(s.pos - s.cont)
	}
	s.endBlocks()
	s.ended = true
	s.enqueue(token{kind: tokStreamEnd, mark: s.mark()})
}

func (s *scanner) flowStart(kind tokenKind) {
	s.saveKey()
	s.keys = append(s.keys, simpleKey{})
	s.simpleKeyAllowed = true
	s.enqueue(token{kind: kind, mark: s.mark()})
	s.pos++
}

func (s *scanner) flowEnd(kind tokenKind) {
	s.removeKey()
	if s.flow() {
		s.keys = s.keys[:len(s.keys)-1]
		s.firstKey = min(s.firstKey, len(s.keys)-1)
	}
	s.simpleKeyAllowed = false
	s.enqueue(token{kind: kind, mark: s.mark()})
	s.pos++
}

func (s *scanner) blockEntry() {
	m := s.mark()
	if !s.flow() {
		if !s.simpleKeyAllowed {
			s.failHere("", m, "block sequence entries are not allowed in this context")
		}
		s.roll(m.column, -1, tokBlockSequence, m)
	}
	s.removeKey()
	s.simpleKeyAllowed = true
	s.pos++
	s.enqueue(token{kind: tokBlockEntry, mark: m})
}

func (s *scanner) key() {
	m := s.mark()
	if !s.flow() {
		if !s.simpleKeyAllowed {
			s.failHere("", m, "mapping keys are not allowed in this context")
		}
		s.roll(m.column, -1, tokBlockMapping, m)
	}
	s.removeKey()
	s.simpleKeyAllowed = !s.flow()
	s.pos++
	s.enqueue(token{kind: tokKey, mark: m})
}

func (s *scanner) value() {
	m := s.mark()
	k := &s.keys[len(s.keys)-1]
	if k.possible && !s.stale(k) {
		s.insert(k.number, token{kind: tokKey, mark: k.mark})
		s.roll(k.mark.column, k.number, tokBlockMapping, k.mark)
		k.possible = false
		s.simpleKeyAllowed = false
	} else {
		k.possible = false
		if !s.flow() {
			if !s.simpleKeyAllowed {
				s.failHere("", m, "mapping values are not allowed in this context")
			}
			s.roll(m.column, -1, tokBlockMapping, m)
		}
		s.simpleKeyAllowed = !s.flow()
	}
	s.pos++
	s.enqueue(token{kind: tokValue, mark: m})
}

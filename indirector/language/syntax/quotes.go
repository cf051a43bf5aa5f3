package syntax

import (
	"strings"
	"unicode/utf8"
)

// singleQuoted finds a string in which only \\ and \' are escapes. Rule
// LANG-LEX-09.
func (s *scanner) singleQuoted() (token, found) {
	from := s.pos
	end := textEnd(s.text, from+1, "'")
	if end < 0 {
		s.pos++
		s.fail(s.pos, unclosedQuote, `"'"`, s.followedBy())
	}
	s.pos = end + 1
	s.remember(from+1, end, s.pos)
	text := s.text[from+1 : end]
	if strings.IndexByte(text, '\\') >= 0 {
		text = singleEscapes.Replace(text)
	}
	return s.make(tString, from, text), one
}

var singleEscapes = strings.NewReplacer(`\\`, `\`, `\'`, `'`)

// textEnd returns the offset of the byte of a set that ends a text, or -1. A text
// that begins with such a byte goes on if another follows: for Puppet ”' is a
// string of one quote.
func textEnd(text string, from int, set string) int {
	if from+1 < len(text) && strings.IndexByte(set, text[from]) >= 0 {
		next := from + 1
		for next < len(text) && text[next] == '\\' {
			next++
		}
		if (next-from)%2 == 1 && next < len(text) && strings.IndexByte(set, text[next]) >= 0 {
			return next
		}
	}
	return unescapedIndex(text, from, set)
}

// unescapedIndex returns the offset of the first byte of a set that no backslash
// stands before, or -1.
func unescapedIndex(text string, from int, set string) int {
	for i := from; i < len(text); i++ {
		switch c := text[i]; {
		case c == '\\':
			i++
		case c == set[0] || c == set[len(set)-1]:
			return i
		}
	}
	return -1
}

// remember keeps what Ruby matched to find the end of a text that began at from:
// the end with the backslashes before it, and one character more.
func (s *scanner) remember(from, end, to int) {
	begin := end - backslashes(s.text[from:end])
	if begin > from {
		_, n := utf8.DecodeLastRuneInString(s.text[from:begin])
		begin -= n
	}
	s.matchedFrom, s.matchedTo = begin, to
}

// followedBy returns what follows, for a message.
func (s *scanner) followedBy() string {
	if s.pos >= len(s.text) {
		return "<eof>"
	}
	end := s.pos
	for range 5 {
		_, n := utf8.DecodeRuneInString(s.text[end:])
		end += n
	}
	return visible.Replace(s.text[s.pos:end]) + "..."
}

var visible = strings.NewReplacer("\t", `\t`, "\n", `\n`, "\r", `\r`)

// doubleQuoted finds a string that interpolates. One without interpolation is a
// single token. Rules LANG-LEX-10 and LANG-LEX-11.
func (s *scanner) doubleQuoted() (token, found) {
	from := s.pos
	s.pos++
	s.matchedFrom, s.matchedTo = from, s.pos
	text, interpolates := s.pieces(from, tTextBegin, s.quotedText)
	if !interpolates {
		return s.make(tString, from, text), one
	}
	for k := tTextMiddle; interpolates; {
		from = s.pos
		text, interpolates = s.pieces(from, k, s.quotedText)
	}
	s.enqueue(s.make(tTextEnd, from, text))
	return token{}, queue
}

func (s *scanner) enqueue(t token) { s.queue = append(s.queue, t) }

// What ends a piece of text in a string.
type ending uint8

const (
	textEnds ending = iota
	dollar
	dollarBrace
)

// pieces reads text up to the end of the string or an interpolation. In front of
// one, the text becomes a token of a kind, and what is interpolated follows it in
// the queue.
func (s *scanner) pieces(from int, k kind, read func() (string, ending)) (text string, interpolates bool) {
	for {
		more, end := read()
		text += more
		switch end {
		case textEnds:
			return text, false
		case dollarBrace:
			open := s.braces
			s.braces++
			s.enqueue(s.make(k, from, text))
			s.interpolation(open)
			return text, true
		}
		at := s.pos
		if end := variableEnd(s.text, at); end > 0 {
			s.pos = at - 1
			s.enqueue(s.make(k, from, text))
			variable, _ := s.word(tVariable, at, end)
			variable.offset, variable.length = int32(s.global(at-1)), variable.length+1
			s.enqueue(variable)
			return text, true
		}
		s.matchedFrom = -1
		text += "$"
	}
}

// quotedText reads a piece of a double-quoted string.
func (s *scanner) quotedText() (string, ending) {
	from := s.pos
	end := textEnd(s.text, from, `"$`)
	if end < 0 {
		s.fail(from, unclosedQuote, s.lastMatched(), s.followedBy())
	}
	kind := s.endText(from, end)
	return s.unescape(s.text[from:end], quotedEscapes), kind
}

// endText goes on behind what ends a text.
func (s *scanner) endText(from, end int) ending {
	kind, n := textEnds, 1
	switch {
	case strings.HasPrefix(s.text[end:], "${"):
		kind, n = dollarBrace, 2
	case s.text[end] == '$':
		kind = dollar
	}
	s.pos = end + n
	s.remember(from, end, s.pos)
	return kind
}

// lastMatched returns in quotes what was found before a quote was not closed.
func (s *scanner) lastMatched() string {
	if s.matchedFrom < 0 {
		return "''"
	}
	return "'" + s.text[s.matchedFrom:s.matchedTo] + "'"
}

// interpolation puts the tokens up to the brace that closes ${ into the queue.
// Where the text ends before, it just ends.
func (s *scanner) interpolation(open int) {
	s.deeper(s.pos)
	defer func() { s.depth-- }()
	s.matchedFrom = -1
	s.skipBlanks()
	for first := len(s.queue); s.pos < len(s.text); {
		t, found := s.lex()
		switch {
		case found == none:
			s.matchedFrom = -1
			s.skipBlanks()
		case found == queue:
		case t.kind == tBraceEnd && s.braces == open:
			s.after = t.kind
			asVariable(s.queue[first:])
			return
		default:
			s.after = t.kind
			s.enqueue(t)
		}
	}
}

// asVariable turns a name that is alone, or that . or [ follows, into the variable
// of that name. Rule LANG-LEX-11.
func asVariable(tokens []token) {
	if len(tokens) == 0 || len(tokens) > 1 && tokens[1].kind != tDot && tokens[1].kind != tBracket {
		return
	}
	switch t := &tokens[0]; {
	case t.kind == tBoolean: // Puppet fails inside when it checks this variable
		t.kind = tPrivate
	case t.kind == tNumber, t.kind == tName, t.kind == tWord, t.kind.isKeyword():
		t.kind = tVariable
	}
}

package ruby

import "strings"

// A kind is a kind of token.
type kind uint8

const (
	eof     kind = iota
	newline      // or a semicolon
	ident        // a name that begins with a small letter
	constant
	variable // @x @@x $x
	keyword
	symbol
	label // x: in front of the value of an option
	str
	words // %w or %i: each part is a word
	regexp
	number
	op
)

// A token is a piece of a source.
type token struct {
	kind    kind
	text    string
	parts   []Part // of texts and regular expressions
	options int    // of regular expressions
	line    int
	spaced  bool // there is blank space in front of it
	glued   bool // there is none behind it
}

func (t token) is(k kind, text string) bool { return t.kind == k && t.text == text }

// keywords are Ruby's reserved words.
var keywords = wordSet(`alias and begin break case class def defined? do else elsif end ensure false for if in module next nil not or
	redo rescue retry return self super then true undef unless until when while yield __FILE__ __LINE__ __method__`)

// ending are the keywords that have a value or end one.
var ending = wordSet(`end self true false nil __FILE__ __LINE__ __method__`)

func wordSet(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// operators are those of several characters, the longest first.
var operators = strings.Fields(`**= <=> === ... <<= >>= &&= ||= &. ** == != >= <= && || =~ !~ .. :: += -= *= /= %= |= &= ^= << >> -> =>`)

// value reports whether a value ends with the token, so that what follows it is an
// operator and no literal.
func (t token) value() bool {
	switch t.kind {
	case ident, constant, variable, symbol, str, words, regexp, number:
		return true
	case keyword:
		return ending[t.text]
	case op:
		return t.text == ")" || t.text == "]" || t.text == "}"
	}
	return false
}

// goesOn reports whether the statement goes on in the next line behind the token.
func (t token) goesOn() bool {
	switch t.kind {
	case op:
		return !t.value()
	case keyword:
		return t.text == "and" || t.text == "or" || t.text == "not"
	case newline, label, eof:
		return true // a line that is empty
	}
	return false
}

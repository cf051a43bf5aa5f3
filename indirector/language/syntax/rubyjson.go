package syntax

import (
	"fmt"
	"regexp"
	"strings"
)

// JSONProblem returns what Ruby's library reports of a text that is not JSON; "" if it is. It
// begins with the number of a line of the library.
func JSONProblem(text string) string {
	r := &rubyJSON{text: text}
	at := r.blank(0)
	if at < len(text) && r.begins(at) {
		if next, ok := r.value(at, 0); ok {
			at = r.blank(next)
			if at == len(text) && r.problem == "" {
				return ""
			}
		}
	}
	r.fail(859, at)
	return r.problem
}

// A rubyJSON reads as Ruby's library does: lists report what is wrong within them, and all
// else leaves that to what it stands in, which reports where it begins.
type rubyJSON struct {
	text, problem string
}

func (r *rubyJSON) fail(line, at int) {
	if r.is(at, '/') { // what could be a comment
		at++
		if r.is(at, '/') || r.is(at, '*') {
			at = len(r.text)
		}
	}
	if r.problem == "" {
		r.problem = fmt.Sprintf("%d: unexpected token at '%s'", line, r.text[at:])
	}
}

func (r *rubyJSON) is(at int, c byte) bool { return at < len(r.text) && r.text[at] == c }

func (r *rubyJSON) begins(at int) bool {
	return at < len(r.text) && strings.IndexByte(`nft"-[{NI0123456789`, r.text[at]) >= 0
}

var (
	jsonBlank  = regexp.MustCompile(`^(?:[ \t\r\n]|/\*(?s:.*?)\*/|//[^\n]*\n)+`)
	jsonString = regexp.MustCompile(`^"(?:[^"\\\x00-\x1f]|\\[^\x00-\x1f])*"`)
	jsonFloat  = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+(?:[Ee][+-]?[0-9]+)?|[Ee][+-]?[0-9]+)`)
	jsonWhole  = regexp.MustCompile(`^-?(?:0|[1-9][0-9]*)`)
)

// blank skips blanks and comments.
func (r *rubyJSON) blank(at int) int { return at + len(jsonBlank.FindString(r.text[at:])) }

// value returns where a value ends. It is false if that cannot be one; a number, a text or an
// object that is not whole ends where it begins.
func (r *rubyJSON) value(at, depth int) (next int, ok bool) {
	rest := r.text[at:]
	switch rest[0] {
	case '[':
		return r.list(at, depth+1)
	case '{':
		return r.object(at, depth+1)
	case '"':
		return at + len(jsonString.FindString(rest)), true
	case 'N':
		if strings.HasPrefix(rest, "NaN") {
			r.fail(225, at)
		}
		return at, false
	case 'I':
		if strings.HasPrefix(rest, "Infinity") { // the library looks one character too far back
			r.fail(232, (at-1+len(r.text)+1)%(len(r.text)+1))
		}
		return at, false
	}
	for _, word := range []string{"null", "true", "false"} {
		if strings.HasPrefix(rest, word) {
			return at + len(word), true
		}
	}
	if strings.HasPrefix(rest, "-Infinity") {
		r.fail(249, at)
	}
	if n := len(jsonFloat.FindString(rest)); n > 0 && (n == len(rest) || strings.IndexByte("0123456789Ee.-", rest[n]) < 0) {
		return at + n, true
	}
	n := len(jsonWhole.FindString(rest))
	if n < len(rest) && n > 0 && rest[n] >= '0' && rest[n] <= '9' {
		n = 0
	}
	return at + n, n > 0 || rest[0] == '-'
}

const jsonDepth = 100

func (r *rubyJSON) deep(depth int) bool {
	if depth > jsonDepth && r.problem == "" {
		r.problem = fmt.Sprintf("nesting of %d is too deep", depth)
	}
	return r.problem != ""
}

func (r *rubyJSON) list(at, depth int) (next int, ok bool) {
	if r.deep(depth) {
		return at, false
	}
	at = r.blank(at + 1)
	for first := true; !first || !r.is(at, ']'); first = false {
		if !r.begins(at) {
			r.fail(451, at)
			return at, false
		}
		next, ok := r.value(at, depth)
		if r.problem != "" {
			return at, false
		}
		if ok {
			at = r.blank(next)
		}
		if r.is(at, ']') {
			break
		}
		if !ok || !r.is(at, ',') {
			r.fail(451, at)
			return at, false
		}
		at = r.blank(at + 1)
	}
	return at + 1, true
}

func (r *rubyJSON) object(begin, depth int) (next int, ok bool) {
	if r.deep(depth) {
		return begin, false
	}
	at := r.blank(begin + 1)
	for first := true; !first || !r.is(at, '}'); first = false {
		name := len(jsonString.FindString(r.text[at:]))
		if name == 0 {
			return begin, true
		}
		if at = r.blank(at + name); !r.is(at, ':') {
			return begin, true
		}
		if at = r.blank(at + 1); !r.begins(at) {
			return begin, true
		}
		next, ok := r.value(at, depth)
		if !ok || r.problem != "" {
			return begin, true
		}
		if at = r.blank(next); r.is(at, '}') {
			break
		}
		if !r.is(at, ',') {
			return begin, true
		}
		at = r.blank(at + 1)
	}
	return at + 1, true
}

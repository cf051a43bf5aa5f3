package types

import (
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/rich"
)

// A regex is a regular expression of Ruby.
type regex struct {
	source   string
	compiled *onig.Regexp
}

// newRegex compiles a regular expression.
func newRegex(source string) (*regex, error) {
	compiled, err := onig.Shared(source)
	if err != nil {
		return nil, err
	}
	return &regex{source, compiled}, nil
}

// stopped is what match panics with for an expression that runs away: what compares types
// has no errors. It does not leave the package.
type stopped struct{ error }

func (r *regex) match(s string) bool {
	ok, err := r.compiled.Match(s)
	if err != nil {
		panic(stopped{err})
	}
	return ok
}

// caught ends what compares types for an expression that ran away, if it is deferred.
func caught(err *error) {
	switch r := recover().(type) {
	case nil:
	case stopped:
		*err = r.error
	default:
		panic(r)
	}
}

// asciiEscape matches an escape of characters of ASCII.
var asciiEscape = regexp.MustCompile(`^\\u(?:00[0-7]|\{ *0*[0-7]?[0-9a-fA-F](?: +0*[0-7]?[0-9a-fA-F])* *\})`)

// String returns the expression with its slashes.
func (r *regex) String() string { return r.literal() }

func (r *regex) EqualRich(o data.RichValue) bool {
	x, ok := o.(*regex)
	return ok && r.source == x.source
}

// literal returns the expression as it stands in a program. Ruby adds its options to
// one that is not of ASCII.
func (r *regex) literal() string {
	if r.fixed() {
		return rich.Slashed("(?-mix:" + r.source + ")")
	}
	return rich.Slashed(r.source)
}

// text returns the expression without its slashes.
func (r *regex) text() string {
	if r.fixed() {
		return "(?-mix:" + r.source + ")"
	}
	return r.source
}

// fixed reports whether Ruby fixes the encoding of the expression: if a character in it is not
// of ASCII.
func (r *regex) fixed() bool {
	for i := 0; i < len(r.source); i++ {
		if r.source[i] >= 0x80 || strings.HasPrefix(r.source[i:], `\u`) && !asciiEscape.MatchString(r.source[i:]) {
			return true
		}
		if r.source[i] == '\\' {
			i++
		}
	}
	return false
}

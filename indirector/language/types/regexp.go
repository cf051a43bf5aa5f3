package types

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// A regex is a regular expression of Ruby.
type regex struct {
	source   string
	compiled *regexp.Regexp
}

// newRegex compiles a regular expression. What Ruby does not compile is an error in
// its words; so is, in ours, what Go's library does not know: look-around, back
// references, possessive and atomic groups. Rule LANG-OP-11.
func newRegex(source string) (*regex, error) {
	if err := rich.CheckRegexp(source); err != nil {
		return nil, err
	}
	compiled, err := regexp.Compile(translate(inlined(source)))
	if err != nil {
		return nil, fmt.Errorf("regular expression %s: %w: %w", slashed(source), errors.ErrUnsupported, err)
	}
	return &regex{source, compiled}, nil
}

func (r *regex) match(s string) bool { return r.compiled.MatchString(s) }

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
		return slashed("(?-mix:" + r.source + ")")
	}
	return slashed(r.source)
}

// text returns the expression without its slashes.
func (r *regex) text() string {
	if r.fixed() {
		return "(?-mix:" + r.source + ")"
	}
	return r.source
}

// fixed reports whether Ruby fixes the encoding of the expression.
func (r *regex) fixed() bool {
	for i := 0; i < len(r.source); i++ {
		if r.source[i] >= 0x80 || strings.HasPrefix(r.source[i:], `\u`) {
			return true
		}
		if r.source[i] == '\\' {
			i++
		}
	}
	return false
}

// slashed puts slashes around an expression, and escapes those within.
func slashed(source string) string {
	var b strings.Builder
	b.WriteByte('/')
	for i := 0; i < len(source); i++ {
		switch {
		case source[i] == '\\' && i+1 < len(source):
			b.WriteByte(source[i])
			i++
		case source[i] == '/':
			b.WriteByte('\\')
		}
		b.WriteByte(source[i])
	}
	b.WriteByte('/')
	return b.String()
}

// Letters behind a backslash that mean something else to Go, outside of and within
// brackets.
var (
	escapes = map[byte]string{'Z': `(?:\n?\z)`, 'h': `[0-9A-Fa-f]`, 'H': `[^0-9A-Fa-f]`, 'e': `\x1b`, 'R': `(?:\r\n|[\n\v\f\r])`, '/': `/`}
	within  = map[byte]string{'h': `0-9A-Fa-f`, 'e': `\x1b`, 'b': `\x08`, '/': `/`}
)

var (
	groupCall = regexp.MustCompile(`\\g<(\w+)>`)
	groupName = regexp.MustCompile(`\(\?<(\w+)>`)
)

// inlined returns the expression with the groups that are called by their names put
// where they are called, unless a group calls another.
func inlined(source string) string {
	if !groupCall.MatchString(source) {
		return source
	}
	bodies := map[string]string{}
	for _, at := range groupName.FindAllStringSubmatchIndex(source, -1) {
		if end := strings.IndexByte(source[at[1]:], ')'); end >= 0 && !strings.ContainsAny(source[at[1]:at[1]+end], `(\`) {
			bodies[source[at[2]:at[3]]] = "(?:" + source[at[1]:at[1]+end] + ")"
		}
	}
	return groupCall.ReplaceAllStringFunc(source, func(call string) string {
		if body, ok := bodies[groupCall.FindStringSubmatch(call)[1]]; ok {
			return body
		}
		return call
	})
}

// translate returns the expression in Go's syntax. In Ruby ^ and $ always match at
// lines, and the option m lets the point match a line feed.
func translate(source string) string {
	var b strings.Builder
	b.WriteString("(?m)")
	brackets := 0
	for i := 0; i < len(source); i++ {
		c := source[i]
		switch {
		case c == '\\' && i+1 < len(source):
			i++
			table := escapes
			if brackets > 0 {
				table = within
			}
			switch s, ok := table[source[i]]; {
			case ok:
				b.WriteString(s)
			case source[i] == 'u' && i+4 < len(source) && source[i+1] != '{':
				b.WriteString(`\x{` + source[i+1:i+5] + `}`)
				i += 4
			case source[i] == 'u':
				b.WriteString(`\x`)
			default:
				b.WriteString(source[i-1 : i+1])
			}
			continue
		case c == '[' && brackets > 0 && !strings.HasPrefix(source[i:], "[:"):
			b.WriteByte('\\') // a class within a class, which Go takes for a bracket
		case c == '[' && strings.HasPrefix(source[i:], "[:"):
			end := strings.Index(source[i:], ":]")
			if brackets > 0 && end > 0 {
				b.WriteString(source[i : i+end+2])
				i += end + 1
				continue
			}
			brackets++
		case c == '[':
			brackets++
		case c == ']' && brackets > 0:
			brackets--
		case c == '(' && brackets == 0 && strings.HasPrefix(source[i:], "(?"):
			end := strings.IndexAny(source[i:], ":)")
			if end > 0 && strings.Trim(source[i+2:i+end], "mixa-") == "" {
				b.WriteString(options(source[i+2:i+end]) + source[i+end:i+end+1])
				i += end
				continue
			}
		}
		b.WriteByte(c)
	}
	return b.String()
}

// options returns the beginning of a group with options. Go has no extended ones, and
// fails.
func options(letters string) string {
	on, off, _ := strings.Cut(letters, "-")
	out := "(?" + strings.ReplaceAll(on, "m", "s")
	if off != "" {
		if off = strings.ReplaceAll(strings.ReplaceAll(off, "m", "s"), "x", ""); off != "" {
			out += "-" + off
		}
	}
	return out
}

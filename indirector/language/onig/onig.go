// Package onig makes regular expressions of Ruby work with those of Go.
//
// What Ruby does not compile is an error in its words; so is, in ours, what Go's library
// does not know: look-around, back references, possessive and atomic groups, classes
// within classes, the option x. Go's library takes linear time, whatever the expression.
// Beside letters that are not of ASCII \b finds other places than Ruby, and ^ one more:
// behind a line feed that ends the text; \Z takes that line feed, and what repeats a place
// may take more. Rule LANG-OP-11.
package onig

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"indirtui/indirector/rich"
)

// Compile returns a regular expression of Ruby in Go's form.
func Compile(source string) (*regexp.Regexp, error) {
	if err := rich.CheckRegexp(source); err != nil {
		return nil, err
	}
	translated, err := translate(inlined(source))
	if err != nil {
		return nil, fmt.Errorf("regular expression /%s/: %w", source, err)
	}
	compiled, err := regexp.Compile(translated)
	if err != nil {
		return nil, fmt.Errorf("regular expression /%s/: %w: %w", source, errors.ErrUnsupported, err)
	}
	return compiled, nil
}

// Escape returns an expression that matches a text, as Ruby's Regexp.escape writes it.
func Escape(text string) string { return escaper.Replace(text) }

var escaper = func() *strings.Replacer {
	pairs := []string{"\n", `\n`, "\t", `\t`, "\r", `\r`, "\f", `\f`, "\v", `\v`}
	for _, c := range `[]{}()|-*.\?+^$# ` {
		pairs = append(pairs, string(c), `\`+string(c))
	}
	return strings.NewReplacer(pairs...)
}()

// Letters behind a backslash that mean something else to Go, outside of and within
// brackets; and the classes of POSIX, which in Ruby are not of ASCII alone.
var (
	escapes = map[byte]string{'Z': `(?:\n?\z)`, 'h': `[0-9A-Fa-f]`, 'H': `[^0-9A-Fa-f]`, 's': `[\s\v]`, 'S': `[^\s\v]`, 'e': `\x1b`, 'R': `(?:\r\n|[\n\v\f\r])`, '/': `/`}
	within  = map[byte]string{'h': `0-9A-Fa-f`, 's': `\s\v`, 'e': `\x1b`, 'b': `\x08`, '/': `/`}
	posix   = map[string]string{"alpha": `\p{L}\p{M}`, "digit": `\p{Nd}`, "alnum": `\p{L}\p{M}\p{Nd}`, "upper": `\p{Lu}`, "lower": `\p{Ll}`, "space": `\s\v\x{85}\p{Z}`, "xdigit": `0-9A-Fa-f`}
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

// A translation writes an expression of Ruby in Go's syntax. In Ruby ^ and $ always
// match at lines, and the option m lets the point match a line feed.
type translation struct {
	b       strings.Builder
	s       string // the rest
	class   bool   // within brackets
	problem error
}

func translate(source string) (string, error) {
	t := translation{s: source}
	t.b.WriteString("(?m)")
	for t.s != "" && t.problem == nil {
		switch {
		case t.s[0] == '\\' && len(t.s) > 1:
			t.escape()
		case t.class:
			t.inClass()
		case t.s[0] == '[':
			t.class = true
			t.take(1)
			if strings.HasPrefix(t.s, "^") {
				t.take(1)
			}
			if strings.HasPrefix(t.s, "]") { // which ends no empty class
				t.take(1)
			}
		case strings.HasPrefix(t.s, "(?"):
			t.group()
		case strings.HasPrefix(t.s, "{,"):
			t.atMost()
		default:
			t.take(1)
		}
	}
	return t.b.String(), t.problem
}

// take writes so many bytes as they are.
func (t *translation) take(n int) {
	t.b.WriteString(t.s[:n])
	t.s = t.s[n:]
}

func (t *translation) write(text string, n int) {
	t.b.WriteString(text)
	t.s = t.s[n:]
}

func (t *translation) unsupported(what string) {
	t.problem = fmt.Errorf("%s: %w", what, errors.ErrUnsupported)
}

func (t *translation) escape() {
	table := escapes
	if t.class {
		table = within
	}
	letter := t.s[1]
	switch text, ok := table[letter]; {
	case ok:
		t.write(text, 2)
	case t.class && (letter == 'H' || letter == 'S'):
		t.unsupported("a class without others within a class")
	case letter == 'u' && len(t.s) >= 6 && t.s[2] != '{':
		t.write(`\x{`+t.s[2:6]+`}`, 6)
	case letter == 'u':
		t.write(`\x`, 2)
	default:
		t.take(2)
	}
}

// inClass translates within brackets, where Ruby has classes, and what two of them have
// in common, and Go does not.
func (t *translation) inClass() {
	switch {
	case strings.HasPrefix(t.s, "[:"):
		name, _, ok := strings.Cut(t.s[2:], ":]")
		switch text, known := posix[name]; {
		case known:
			t.write(text, len(name)+4)
		case ok:
			t.take(len(name) + 4)
		default:
			t.unsupported("a class within a class")
		}
	case t.s[0] == '[', strings.HasPrefix(t.s, "&&"):
		t.unsupported("a class within a class")
	default:
		t.class = t.s[0] != ']'
		t.take(1)
	}
}

// group translates the options of a group, and drops comments.
func (t *translation) group() {
	if strings.HasPrefix(t.s, "(?#") {
		if end := strings.IndexByte(t.s, ')'); end > 0 {
			t.s = t.s[end+1:]
			return
		}
	}
	end := strings.IndexAny(t.s, ":)")
	if end < 0 || strings.Trim(t.s[2:end], "mixa-") != "" {
		t.take(2)
		return
	}
	t.write(options(t.s[2:end])+t.s[end:end+1], end+1)
}

// atMost translates a number of repetitions that has no least one, if it is that.
func (t *translation) atMost() {
	if end := strings.IndexByte(t.s, '}'); end > 2 && strings.Trim(t.s[2:end], "0123456789") == "" {
		t.write("{0,", 2)
		return
	}
	t.take(1)
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

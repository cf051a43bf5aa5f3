package data

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

var inspectEscapes = map[rune]string{
	'"': `\"`, '\\': `\\`, '\a': `\a`, '\b': `\b`, '\t': `\t`,
	'\n': `\n`, '\v': `\v`, '\f': `\f`, '\r': `\r`, 0x1b: `\e`,
}

// InspectString writes s as Ruby's String#inspect does: in double quotes, with
// control characters, invalid bytes and interpolations escaped.
func InspectString(s string) string {
	b := make([]byte, 0, len(s)+2)
	b = append(b, '"')
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch esc, ok := inspectEscapes[r]; {
		case r == utf8.RuneError && n == 1:
			b = fmt.Appendf(b, `\x%02X`, s[i])
		case ok:
			b = append(b, esc...)
		case r == '#' && i+1 < len(s) && (s[i+1] == '{' || s[i+1] == '$' || s[i+1] == '@'):
			b = append(b, `\#`...)
		case !printable(r) && r > 0xffff:
			b = fmt.Appendf(b, `\u{%X}`, r)
		case !printable(r):
			b = fmt.Appendf(b, `\u%04X`, r)
		default:
			b = append(b, s[i:i+n]...)
		}
		i += n
	}
	return string(append(b, '"'))
}

// appendSymbol writes a symbol as Ruby does: in quotes, unless it is a name or an
// operator.
func appendSymbol(b []byte, s string) []byte {
	b = append(b, ':')
	if isName(s) || operators[s] {
		return append(b, s...)
	}
	return append(b, InspectString(s)...)
}

var operators = map[string]bool{
	"+": true, "-": true, "*": true, "/": true, "%": true, "**": true, "==": true, "!=": true, "<": true, "<=": true, ">": true, ">=": true,
	"<=>": true, "===": true, "=~": true, "!~": true, "!": true, "~": true, "+@": true, "-@": true, "&": true, "|": true, "^": true, "<<": true,
	">>": true, "[]": true, "[]=": true, "`": true,
}

// isName reports whether s can stand behind a colon without quotes: a name of a
// method, a variable or a constant.
func isName(s string) bool {
	name := strings.TrimPrefix(strings.TrimPrefix(s, "@"), "@")
	variable := name != s
	if !variable {
		name = strings.TrimPrefix(s, "$")
		variable = name != s
	}
	if last := len(name) - 1; last > 0 && !variable && strings.IndexByte("?!=", name[last]) >= 0 {
		name = name[:last]
	}
	for i := range len(name) {
		c := name[i]
		letter := c == '_' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= 0x80
		if !letter && (i == 0 || c < '0' || c > '9') {
			return false
		}
	}
	return name != "" && utf8.ValidString(name)
}

// printable reports whether Ruby shows r as it is, format characters too.
func printable(r rune) bool { return unicode.IsGraphic(r) || unicode.Is(unicode.Cf, r) }

package rich

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Quote returns a text as a string of the language: in single quotes, unless it has
// a control character. A backslash is escaped only where it would escape what
// follows. Rule LANG-NEW-12.
func Quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 }) {
		return DoubleQuote(s)
	}
	var b strings.Builder
	b.WriteByte('\'')
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '\'':
			b.WriteString(`\'`)
		case c == '\\' && i+1 == len(s):
			b.WriteString(`\\`)
		case c == '\\': // with what follows, which needs no other escape
			_, size := utf8.DecodeRuneInString(s[i+1:])
			b.WriteString(s[i : i+1+size])
			i += size
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('\'')
	return b.String()
}

var doubleEscapes = map[rune]string{'\t': `\t`, '\n': `\n`, '\r': `\r`, '"': `\"`, '$': `\$`, '\\': `\\`}

// DoubleQuote returns a text as a string of the language in double quotes.
func DoubleQuote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch e, ok := doubleEscapes[r]; {
		case ok:
			b.WriteString(e)
		case r < 0x20:
			fmt.Fprintf(&b, `\u{%X}`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

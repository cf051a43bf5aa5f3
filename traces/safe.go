package traces

import (
	"fmt"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// Shows reports whether a terminal shows r as itself: it is no control
// character, nothing that turns the direction of text, and not of zero width.
// Everything else is written as an escape wherever text leaves the program.
func Shows(r rune) bool {
	if r < 0x7f {
		return r >= ' '
	}
	return r >= 0xa1 && r != 0xad && unicode.IsPrint(r) && !unicode.IsMark(r) && r != unicode.ReplacementChar
}

// AppendEscape appends r as JSON escapes it: \u001b, and two of them for a rune
// beyond U+FFFF.
func AppendEscape(b []byte, r rune) []byte {
	const digits = "0123456789abcdef"
	var units [2]uint16
	for _, u := range utf16.AppendRune(units[:0], r) {
		b = append(b, '\\', 'u', digits[u>>12&15], digits[u>>8&15], digits[u>>4&15], digits[u&15])
	}
	return b
}

// AppendSafe appends s for a terminal or a text file: invisible characters are
// escaped, as in "\x1b", "\n" and "\u202e".
func AppendSafe(b []byte, s string) []byte {
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case Shows(r):
			b = append(b, s[i:i+n]...)
		case r == '\n':
			b = append(b, `\n`...)
		case r == '\t':
			b = append(b, `\t`...)
		case r == '\r':
			b = append(b, `\r`...)
		case n == 1: // a control character, or a byte that is no UTF-8
			b = fmt.Appendf(b, `\x%02x`, s[i])
		case r < 0x100:
			b = fmt.Appendf(b, `\x%02x`, r)
		case r < 0x10000:
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = fmt.Appendf(b, `\U%08x`, r)
		}
		i += n
	}
	return b
}

// SafeJSON returns a JSON document with everything that a terminal does not
// show as itself written as an escape. It means what it meant.
func SafeJSON(b []byte) []byte {
	var out []byte
	done := 0
	for i, r := range string(b) {
		if r < 0x7f || Shows(r) {
			continue // what stands below a blank is between tokens
		}
		out = append(out, b[done:i]...)
		out = AppendEscape(out, r)
		_, n := utf8.DecodeRune(b[i:]) // of a byte that is no UTF-8 it is one
		done = i + n
	}
	if out == nil {
		return b
	}
	return append(out, b[done:]...)
}

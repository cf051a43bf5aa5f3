package types

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// quote returns a text as a string of the language: in single quotes, unless it has
// a control character. A backslash is escaped only where it would escape what
// follows. Rule LANG-NEW-12.
func quote(s string) string {
	if strings.ContainsFunc(s, func(r rune) bool { return r < 0x20 }) {
		return doubleQuote(s)
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

func doubleQuote(s string) string {
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

// appendProgram appends a value as it stands in a program.
func appendProgram(b []byte, v data.Value) []byte {
	switch v.Kind() {
	case data.Nil:
		return append(b, "undef"...)
	case data.String:
		return append(b, quote(v.Str())...)
	case data.Symbol:
		return append(b, v.Str()...)
	case data.List:
		b = append(b, '[')
		for i, x := range v.List() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendProgram(b, x)
		}
		return append(b, ']')
	case data.Hash:
		b = append(b, '{')
		for i, p := range v.Hash() {
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendProgram(append(appendProgram(b, p.Key), " => "...), p.Value)
		}
		return append(b, '}')
	case data.Rich:
		switch r := v.Rich().(type) {
		case *regex:
			return append(b, r.literal()...)
		case typeValue:
			return append(b, plainly(r.Type)...)
		case uri:
			return append(b, "URI("+quote(r.String())+")"...)
		case object:
			return append(b, r.String()...)
		case secret, binary:
			return append(b, "Instance of "+Infer(v).String()...)
		}
		return append(b, "'"+v.Rich().String()+"'"...)
	}
	return append(b, v.Inspect()...)
}

// article returns "a " or "an ", as the first letter of a text needs it.
func article(s string) string {
	s = strings.TrimLeft(s, "'\"")
	if s != "" && strings.ContainsRune("aeiouAEIOU", rune(s[0])) {
		return "an "
	}
	return "a "
}

func withArticle(s string) string { return article(s) + s }

func capitalize(s string) string {
	if s == "" {
		return s
	}
	r, size := utf8.DecodeRuneInString(s)
	return strings.ToUpper(string(r)) + strings.ToLower(s[size:])
}

func sortedSet(ss []string) []string {
	out := slices.Clone(ss)
	slices.Sort(out)
	return slices.Compact(out)
}

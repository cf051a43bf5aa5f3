package types

import (
	"slices"
	"strings"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// appendProgram appends a value as it stands in a program.
func appendProgram(b []byte, v data.Value) []byte {
	switch v.Kind() {
	case data.Nil:
		return append(b, "undef"...)
	case data.String:
		return append(b, rich.Quote(v.Str())...)
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
			return append(b, "URI("+rich.Quote(r.String())+")"...)
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

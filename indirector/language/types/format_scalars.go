package types

import (
	"encoding/base64"
	"fmt"
	"strings"

	"indirtui/indirector/data"
)

// text formats a value by the first format that fits its type.
func (c conversion) text(v data.Value, fs formats) (string, error) {
	f := fs.find(Infer(v))
	switch v.Kind() {
	case data.List:
		return c.list(v.List(), f, fs)
	case data.Hash:
		return c.hash(v, f, fs)
	case data.Int, data.Big:
		return integerText(v, f)
	case data.Float:
		return floatingText(v.Float(), f)
	case data.String:
		return stringText(v.Str(), f)
	case data.Bool:
		return booleanText(v.Bool(), f)
	case data.Nil:
		return undefText(f)
	case data.Symbol:
		return defaultText(f)
	}
	return richText(v.Rich(), f)
}

func chosen(alt bool, yes, no string) string {
	if alt {
		return yes
	}
	return no
}

func undefText(f format) (string, error) {
	var s string
	switch f.letter {
	case 'n':
		s = chosen(f.alt(), "null", "nil")
	case 'u':
		s = chosen(f.alt(), "undefined", "undef")
	case 'v':
		s = "n/a"
	case 'V':
		s = "N/A"
	case 's':
		s = chosen(f.alt(), `""`, "")
	case 'p':
		s = chosen(f.alt(), `"undef"`, "undef")
	default:
		if !strings.ContainsRune("dxXobBeEfgGaA", rune(f.letter)) {
			return "", illegal("Undef", f, "nudxXobBeEfgGaAvVsp")
		}
		s = "NaN"
	}
	return padded(f, s), nil
}

func defaultText(f format) (string, error) {
	s := defaultWord
	switch f.letter {
	case 'd', 's', 'p':
	case 'D':
		s = "Default"
	default:
		return "", illegal("Default", f, "dDsp")
	}
	return padded(f, chosen(f.alt(), `"`+s+`"`, s)), nil
}

func booleanText(b bool, f format) (string, error) {
	word, answer, number := "false", "no", int64(0)
	if b {
		word, answer, number = "true", "yes", 1
	}
	switch f.letter {
	case 'T':
		word = capitalize(word)
	case 'y':
		word = answer
	case 'Y':
		word = capitalize(answer)
	case 't':
	case 's', 'p':
		return padded(f, word), nil
	case 'd', 'x', 'X', 'o', 'b', 'B':
		return integerText(data.OfInt(number), f)
	case 'e', 'E', 'f', 'g', 'G', 'a', 'A':
		return floatingText(float64(number), f)
	default:
		return "", illegal("Boolean", f, "tTyYdxXobBeEfgGaAsp")
	}
	return padded(f, chosen(f.alt(), word[:1], word)), nil
}

func stringText(s string, f format) (string, error) {
	switch f.letter {
	case 's':
		return f.print(s)
	case 'p':
		if f.alt() {
			return padded(f, doubleQuote(s)), nil
		}
		return padded(f, quote(s)), nil
	case 'c':
		s = capitalize(s)
	case 'C':
		parts := strings.Split(s, "::")
		for i, part := range parts {
			parts[i] = capitalize(part)
		}
		s = strings.Join(parts, "::")
	case 'u':
		s = strings.ToUpper(s)
	case 'd':
		s = strings.ToLower(s)
	case 't':
		s = strings.Trim(s, " \t\n\v\f\r\x00")
	default:
		return "", illegal("String", f, "cCudspt")
	}
	if f.alt() {
		return padded(f, quote(s)), nil
	}
	return f.print(s)
}

func richText(r data.RichValue, f format) (string, error) {
	switch r := r.(type) {
	case typeValue:
		switch f.letter {
		case 's':
			return f.print(chosen(f.alt(), `"`+r.String()+`"`, r.String()))
		case 'p':
			return f.print(r.String())
		}
		return "", illegal("Type", f, "sp")
	case *regex:
		switch f.letter {
		case 's':
			return f.print(chosen(f.alt(), quote(r.text()), r.text()))
		case 'p':
			return f.print(r.literal())
		}
		return "", illegal("Regexp", f, "sp")
	case uri:
		switch f.letter {
		case 's':
			return f.print(chosen(f.alt(), quote(r.String()), r.String()))
		case 'p':
			return "URI(" + quote(r.String()) + ")", nil
		}
		return "", illegal("URI", f, "sp")
	case binary:
		return binaryText(r, f)
	case versions:
		if f.letter == 'p' {
			return f.print(r.spans[0].String())
		}
	}
	return otherText(r, f)
}

// otherText formats what has no formats of its own. Times are numbers, too.
func otherText(r data.RichValue, f format) (string, error) {
	var ns int64
	switch r := r.(type) {
	case timestamp:
		ns = int64(r)
	case timespan:
		ns = int64(r)
	default:
		switch f.letter {
		case 's':
			return f.print(r.String())
		case 'p':
			if _, ok := r.(secret); ok {
				return f.print("#<" + r.String() + ">")
			}
			return f.print(r.String())
		}
		return "", errorf("malformed format string - %%%c", f.letter)
	}
	switch f.letter {
	case 's':
		return f.print(r.String())
	case 'p': // Puppet adds an address
		return f.print(fmt.Sprintf("#<%s @nsecs=%d>", rubyClass(data.OfRich(r)), ns))
	case 'u', 'i':
		f.letter = 'd'
		return integerText(data.OfInt(ns/1e9), f)
	case 'd', 'x', 'X', 'o', 'b', 'B':
		return integerText(data.OfInt(ns/1e9), f)
	case 'e', 'E', 'f', 'g', 'G', 'a', 'A':
		return floatingText(float64(ns)/1e9, f)
	}
	return "", errorf("malformed format string - %%%c", f.letter)
}

// String returns a span as comparisons.
func (s span) String() string {
	var parts []string
	if s.from != nil {
		parts = append(parts, chosen(s.excludesFrom, ">", ">=")+s.from.text)
	}
	if s.to != nil {
		parts = append(parts, chosen(s.excludesTo, "<", "<=")+s.to.text)
	}
	return strings.Join(parts, " ")
}

func binaryText(b binary, f format) (string, error) {
	var s string
	switch f.letter {
	case 's':
		s = string(b)
	case 'p':
		return `Binary("` + padded(f, b.String()) + `")`, f.checkFlags()
	case 'b':
		s = lines(b.String())
	case 'B':
		s = b.String()
	case 'u':
		s = base64.URLEncoding.EncodeToString([]byte(b))
	case 't':
		s = "Binary"
	case 'T':
		s = "BINARY"
	default:
		return "", illegal("Binary", f, "bButTsp")
	}
	if f.alt() {
		s = data.InspectString(s)
	}
	return f.print(s)
}

// lines breaks a text every sixty characters, and ends it with a line feed.
func lines(s string) string {
	var b strings.Builder
	for len(s) > 60 {
		b.WriteString(s[:60] + "\n")
		s = s[60:]
	}
	if s != "" {
		b.WriteString(s + "\n")
	}
	return b.String()
}

package types

import (
	"encoding/base64"
	"fmt"
	"math"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// Letters of formats that values of several kinds take as numbers.
const (
	wholeLetters    = "dxXobB"
	floatingLetters = "eEfgGaA"
)

// letters are those of the formats of each kind of values, in the order in which messages
// name them. What is not here is formatted as Ruby does it. Rule LANG-NEW-10.
var letters = map[string]string{
	"Integer": "dxXobBeEfgGaAspc", "Float": "dxXobBeEfgGaAsp", "String": "cCudspt", "Boolean": "tTyYdxXobBeEfgGaAsp",
	"Undef": "nudxXobBeEfgGaAvVsp", "Default": "dDsp", "Binary": "bButTsp", "Array": "asp", "Hash": "hasp",
	"Type": "sp", "Regexp": "sp", "URI": "sp",
}

// formatKind returns the kind that decides which letters there are.
func formatKind(v data.Value) string {
	switch v.Kind() {
	case data.List:
		return "Array"
	case data.Hash:
		return "Hash"
	}
	return nameOf(inferScalar(v))
}

// checkLetter reports a letter that a kind of values has no format for.
func checkLetter(v data.Value, f format) error {
	kind := formatKind(v)
	if known, ok := letters[kind]; ok && strings.IndexByte(known, f.letter) < 0 {
		return errorf("Illegal format '%c' specified for value of %s type - expected one of the characters '%s'", f.letter, kind, known)
	}
	return nil
}

// scalarText formats a value that is no collection. Its letter was checked.
func scalarText(v data.Value, f format) (string, error) {
	switch v.Kind() {
	case data.Int, data.Big:
		return integerText(v, f)
	case data.Float:
		if math.IsNaN(v.Float()) { // which for Puppet is no Float, whose letters mean something
			return f.print(v.Text())
		}
		return floatingText(v.Float(), f)
	case data.String:
		return stringText(v.Str(), f)
	case data.Bool:
		return booleanText(v.Bool(), f)
	case data.Nil:
		return padded(f, undefText(f)), nil
	case data.Symbol:
		word := defaultWord
		if f.letter == 'D' {
			word = "Default"
		}
		return padded(f, chosen(f.alt(), `"`+word+`"`, word)), nil
	}
	switch r := v.Rich().(type) {
	case binary:
		return binaryText(r, f)
	case timestamp:
		return timeText(v, *r.moment, f)
	case timespan:
		return timeText(v, *r.moment, f)
	}
	return richText(v.Rich(), f)
}

func chosen(alt bool, yes, no string) string {
	if alt {
		return yes
	}
	return no
}

// undefWords are what undef is written as, and in the alternative form. As a number it is
// none.
var undefWords = map[byte][2]string{
	'n': {"nil", "null"}, 'u': {"undef", "undefined"}, 'v': {"n/a", "n/a"}, 'V': {"N/A", "N/A"},
	's': {"", `""`}, 'p': {"undef", `"undef"`},
}

func undefText(f format) string {
	words, ok := undefWords[f.letter]
	if !ok {
		return "NaN"
	}
	return chosen(f.alt(), words[1], words[0])
}

// booleanWords are what false and true are written as; the alternative form is their first
// letter, but for s and p.
var booleanWords = map[byte][2]string{
	't': {"false", "true"}, 'T': {"False", "True"}, 'y': {"no", "yes"}, 'Y': {"No", "Yes"}, 's': {"false", "true"}, 'p': {"false", "true"},
}

func booleanText(b bool, f format) (string, error) {
	number := int64(0)
	if b {
		number = 1
	}
	words, ok := booleanWords[f.letter]
	switch {
	case ok && f.alt() && f.letter != 's' && f.letter != 'p':
		return padded(f, words[number][:1]), nil
	case ok:
		return padded(f, words[number]), nil
	case strings.IndexByte(wholeLetters, f.letter) >= 0:
		return integerText(data.OfInt(number), f)
	}
	return floatingText(float64(number), f)
}

// stringChanges are what the letters do to a text.
var stringChanges = map[byte]func(string) string{
	'c': capitalize,
	'C': func(s string) string {
		parts := strings.Split(s, "::")
		for i, part := range parts {
			parts[i] = capitalize(part)
		}
		return strings.Join(parts, "::")
	},
	'u': strings.ToUpper,
	'd': strings.ToLower,
	't': func(s string) string { return strings.Trim(s, blanks) },
}

func stringText(s string, f format) (string, error) {
	change, ok := stringChanges[f.letter]
	switch {
	case f.letter == 'p' && f.alt():
		return padded(f, rich.DoubleQuote(s)), nil
	case f.letter == 'p':
		return padded(f, rich.Quote(s)), nil
	case !ok:
		return f.print(s)
	case f.alt():
		return padded(f, rich.Quote(change(s))), nil
	}
	return f.print(change(s))
}

// richText formats what has two forms: a text, and one that could stand in a program.
func richText(r data.RichValue, f format) (string, error) {
	text, program := r.String(), r.String()
	switch x := r.(type) {
	case typeValue:
		text = chosen(f.alt(), `"`+text+`"`, text)
	case *regex:
		text, program = chosen(f.alt(), rich.Quote(x.text()), x.text()), x.literal()
	case uri:
		if f.letter == 'p' { // whose width counts for nothing
			return "URI(" + rich.Quote(text) + ")", nil
		}
		text = chosen(f.alt(), rich.Quote(text), text)
	case versions:
		program = x.spans[0].String()
	case secret:
		program = "#<" + text + ">"
	}
	switch f.letter {
	case 's':
		return f.print(text)
	case 'p':
		return f.print(program)
	}
	return "", malformed(f)
}

func malformed(f format) error { return errorf("malformed format string - %%%c", f.letter) }

// timeText formats a time, which is a number of seconds, too.
func timeText(v data.Value, m moment, f format) (string, error) {
	switch {
	case f.letter == 's':
		return f.print(v.Text())
	case f.letter == 'p': // Puppet adds an address
		return f.print(fmt.Sprintf("#<%s @nsecs=%d>", rubyClass(v), m.total()))
	case f.letter == 'u' || f.letter == 'i':
		f.letter = 'd'
		return integerText(data.OfInt(m.whole()), f)
	case strings.IndexByte(wholeLetters, f.letter) >= 0:
		return integerText(data.OfInt(m.whole()), f)
	case strings.IndexByte(floatingLetters, f.letter) >= 0:
		return floatingText(m.float(), f)
	}
	return "", malformed(f)
}

// binaryForms are what the letters make of bytes.
var binaryForms = map[byte]func(b binary) string{
	's': func(b binary) string { return string(b) },
	'b': func(b binary) string { return lines(b.String()) },
	'B': binary.String,
	'u': func(b binary) string { return base64.URLEncoding.EncodeToString([]byte(b)) },
	't': func(binary) string { return "Binary" },
	'T': func(binary) string { return "BINARY" },
}

func binaryText(b binary, f format) (string, error) {
	form, ok := binaryForms[f.letter]
	if !ok { // p, whose width is that of the text within
		return `Binary("` + padded(f, b.String()) + `")`, f.checkFlags()
	}
	s := form(b)
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

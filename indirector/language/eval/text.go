package eval

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// Text returns the form that a value has within a string. Rule LANG-VAL-03.
func Text(v data.Value) string {
	if s, ok := v.AsStr(); ok {
		return s
	}
	return string(appendText(nil, v, maxText))
}

// maxText is where a text ends that would be longer.
const maxText = 1 << 30

// text is Text that counts its bytes.
func (t *Thread) text(v data.Value) (string, error) {
	s, ok := v.AsStr()
	if !ok {
		s = string(appendText(nil, v, t.textLimit()))
	}
	return s, t.spend(len(s))
}

// textLimit is how long a text may become. One byte more is the limit exceeded.
func (t *Thread) textLimit() int { return int(min(t.opts.MaxBytes-t.bytes+1, maxText)) }

// appendText stops when there are more bytes than a limit.
func appendText(b []byte, v data.Value, limit int) []byte {
	switch v.Kind() {
	case data.List:
		b = append(b, '[')
		for i, x := range v.List() {
			if len(b) > limit {
				return b
			}
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendText(b, x, limit)
		}
		return append(b, ']')
	case data.Hash:
		b = append(b, '{')
		for i, p := range v.Hash() {
			if len(b) > limit {
				return b
			}
			if i > 0 {
				b = append(b, ", "...)
			}
			b = appendText(append(appendText(b, p.Key, limit), " => "...), p.Value, limit)
		}
		return append(b, '}')
	}
	return append(b, v.Text()...)
}

// RubyText returns the form that a value has in messages of Ruby: lists, hashes and regular
// expressions are not those of the language.
func RubyText(v data.Value) string {
	if source, ok := types.RegexpSource(v); ok {
		return "(?-mix:" + source + ")"
	}
	return v.Text()
}

// Label returns what messages call a value, as "Integer" or "Undef Value".
func Label(v data.Value) string {
	switch v.Kind() {
	case data.Nil:
		return "Undef Value"
	case data.Bool:
		return "Boolean"
	case data.Int, data.Big:
		return "Integer"
	case data.Float:
		return "Float"
	case data.String:
		return "String"
	case data.List:
		return "Array"
	case data.Hash:
		return "Hash"
	case data.Symbol:
		return "Object"
	}
	switch kind := kindOf(v); kind {
	case isType:
		return typeLabel(v)
	case isVersion:
		return "Semver"
	case isVersions:
		return "SemverRange"
	case isIterator, isURI, notRich:
		return "Object"
	default:
		return richNames[kind]
	}
}

func typeLabel(v data.Value) string {
	t, _ := types.AsType(v)
	text := t.String()
	if strings.HasSuffix(text, "']") && types.Assignable(richTypes()["Resource"], t) {
		return text + " Resource-Reference"
	}
	return text + "-Type"
}

package data

import "strings"

// FilterText returns the filter of a collector, [name, operator, value] or [filter, "and"
// or "or", filter], as a manifest has it: tag == 'web' and port == 80. Once it is longer
// than limit bytes it is cut. What is no filter is shown as Ruby shows it.
func FilterText(filter Value, limit int) string {
	b := appendFilter(nil, filter, "", limit)
	if len(b) > limit {
		return strings.ToValidUTF8(string(b[:limit]), "") + "…"
	}
	return string(b)
}

// appendFilter appends a filter that stands on one side of the operator around.
func appendFilter(b []byte, f Value, around string, limit int) []byte {
	l := f.List()
	if len(l) != 3 || l[1].Kind() != String {
		return append(b, f.Inspect()...)
	}
	op := l[1].Str()
	switch {
	case op == "and" || op == "or":
	case l[0].Kind() != String:
		return append(b, f.Inspect()...)
	default:
		b = append(b, l[0].Str()+" "+op+" "...)
		return appendOperand(b, l[2])
	}
	mixed := around != "" && around != op // and binds more tightly, which not all know
	if mixed {
		b = append(b, '(')
	}
	b = appendFilter(b, l[0], op, limit)
	if len(b) > limit {
		return b
	}
	b = append(b, " "+op+" "...)
	b = appendFilter(b, l[2], op, limit)
	if mixed {
		b = append(b, ')')
	}
	return b
}

var quotes = strings.NewReplacer(`\`, `\\`, `'`, `\'`)

func appendOperand(b []byte, v Value) []byte {
	switch v.Kind() {
	case String:
		return append(b, "'"+quotes.Replace(v.Str())+"'"...)
	case Nil:
		return append(b, "undef"...)
	}
	return append(b, v.Inspect()...)
}

package types

import (
	"fmt"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// A Literal is a rich value that messages show otherwise than by its text.
type Literal interface {
	data.RichValue
	Literal() string
}

// Display prints a value as a literal of the language: strings in single quotes,
// numbers plain, symbols as strings, hashes and what is nested in lines of their own.
// Rule RES-TYPE-11.
func Display(v data.Value) string {
	switch v.Kind() {
	case data.Nil:
		return ""
	case data.Float:
		return fmt.Sprintf("%f", v.Float())
	}
	return display(v, 0, false)
}

// display prints a value at a depth. breaks is whether a list or hash begins a line.
func display(v data.Value, depth int, breaks bool) string {
	switch v.Kind() {
	case data.Nil:
		return "undef"
	case data.Symbol:
		if v.Str() == "default" {
			return v.Str()
		}
		return quoted(v.Str())
	case data.String:
		return quoted(v.Str())
	case data.Rich:
		if l, ok := v.Rich().(Literal); ok {
			return l.Literal()
		}
	case data.List, data.Hash:
		lead := ""
		if breaks {
			lead = "\n" + indent(depth)
		}
		if v.Kind() == data.List {
			return lead + displayList(v, depth)
		}
		return lead + displayHash(v, depth)
	}
	return v.Text()
}

func displayList(v data.Value, depth int) string {
	var b strings.Builder
	b.WriteByte('[')
	nested := false // the element before is a list or hash
	for i, x := range v.List() {
		isNested := x.Kind() == data.List || x.Kind() == data.Hash
		switch {
		case i == 0:
		case isNested:
			b.WriteByte(',')
		case nested:
			b.WriteString(",\n" + indent(depth+1))
		default:
			b.WriteString(", ")
		}
		nested = isNested
		b.WriteString(display(x, depth+1, true))
	}
	return b.String() + "]"
}

func displayHash(v data.Value, depth int) string {
	parts := make([]string, v.Len())
	for i, p := range v.Hash() {
		parts[i] = indent(depth+1) + display(p.Key, depth+1, false) + " => " + display(p.Value, depth+1, false)
	}
	return "{\n" + strings.Join(parts, ",\n") + "\n" + indent(depth) + "}"
}

func indent(depth int) string { return strings.Repeat("  ", depth) }

// quoted is a string of the language. Puppet does not escape a backslash at the end.
func quoted(s string) string {
	q := rich.Quote(s)
	if trailing := len(s) - len(strings.TrimRight(s, `\`)); trailing%2 == 1 && q[0] == '\'' {
		return q[:len(q)-2] + "'"
	}
	return q
}

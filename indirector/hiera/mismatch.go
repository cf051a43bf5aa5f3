package hiera

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// assertType returns Puppet's error if v is not of type t.
func assertType(subject string, t *kind, v data.Value) error {
	if t.accepts(v) {
		return nil
	}
	found := t.describe(v, []string{subject + " has wrong type,"})
	lines := make([]string, len(found))
	for i, m := range found {
		lines[i] = m.String()
	}
	// Puppet strips the message of one mismatch only.
	message := strings.Join(lines, "\n ")
	if len(lines) == 1 {
		message = strings.TrimSpace(message)
	}
	return &Error{Class: WrongType, Message: message}
}

// A mismatch is one reason why a value is not of a type.
type mismatch struct {
	path     []string // subject, entries and indices
	what     string   // a whole sentence; "" if expected counts
	expected []*kind
	optional bool
	actual   data.Value
}

func (m *mismatch) String() string {
	at := " " + strings.Join(m.path, " ")
	if len(m.path) == 0 {
		at = ""
	}
	if m.what != "" {
		return at + " " + m.what
	}
	names, got := m.words()
	if m.optional {
		names = append([]string{"Undef"}, names...)
	}
	switch n := len(names); n {
	case 1:
		return fmt.Sprintf("%s expects %s value, got %s", at, article(names[0]), got)
	case 2:
		return fmt.Sprintf("%s expects a value of type %s or %s, got %s", at, names[0], names[1], got)
	default:
		return fmt.Sprintf("%s expects a value of type %s, or %s, got %s", at, strings.Join(names[:n-1], ", "), names[n-1], got)
	}
}

// words are the expected types and the actual one: in detail if one of the expected
// differs from the actual in its details only.
func (m *mismatch) words() (names []string, got string) {
	detailed := slices.ContainsFunc(m.expected, func(t *kind) bool { return t.plain().accepts(m.actual) })
	for _, t := range m.expected {
		name := kindNames[t.is]
		if detailed {
			name = t.String()
		}
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	same := slices.ContainsFunc(m.expected, func(t *kind) bool { return kindNames[t.is] == inferred(m.actual, false) })
	return names, inferred(m.actual, detailed && same)
}

// plain is the type without its arguments.
func (t *kind) plain() *kind {
	switch t.is {
	case integerKind:
		return integerType(lowest, highest)
	case stringKind:
		return stringType
	case arrayKind:
		return arrayOf(nil, 0, highest)
	case hashKind, structKind:
		return hashType
	case floatKind:
		return floatType
	}
	return t
}

// article puts a or an before a word.
func article(s string) string {
	if s != "" && strings.ContainsRune("aeiouAEIOU", rune(s[0])) {
		return "an " + s
	}
	return "a " + s
}

// describe returns why v is not of type t; nothing if it is.
func (t *kind) describe(v data.Value, path []string) []*mismatch {
	switch t.is {
	case optionalKind:
		if v.IsNil() || t.elem == nil {
			return nil
		}
		return markOptional(t.elem.describe(v, path), len(path))
	case variantKind:
		return t.describeVariant(v, path)
	case arrayKind:
		return t.describeArray(v, path)
	case hashKind:
		return t.describeHash(v, path)
	case structKind:
		return t.describeStruct(v, path)
	case patternKind, enumKind:
		if t.accepts(v) {
			return nil
		}
		got := inferred(v, false)
		if v.Kind() == data.String {
			got = "'" + v.Str() + "'"
		}
		return []*mismatch{{path: path, what: fmt.Sprintf("expects a match for %s, got %s", t, got)}}
	}
	return t.plainly(v, path)
}

func (t *kind) plainly(v data.Value, path []string) []*mismatch {
	if t.accepts(v) {
		return nil
	}
	return []*mismatch{{path: path, expected: []*kind{t}, actual: v}}
}

// markOptional adds that undef were right as well to what is wrong with the value
// itself.
func markOptional(found []*mismatch, depth int) []*mismatch {
	for _, m := range found {
		switch {
		case len(m.path) != depth:
		case m.what == "":
			m.optional = true
		default:
			m.what = strings.Replace(m.what, "expects a match", "expects an undef value or a match", 1)
		}
	}
	return found
}

func (t *kind) describeVariant(v data.Value, path []string) []*mismatch {
	var all []*mismatch
	merged := &mismatch{path: path, actual: v}
	whole := true
	for _, o := range t.types {
		found := o.describe(v, path)
		if len(found) == 0 {
			return nil
		}
		for _, m := range found {
			if len(m.path) != len(path) || m.what != "" || len(found) > 1 {
				whole = false
			}
			merged.expected = append(merged.expected, m.expected...)
			merged.optional = merged.optional || m.optional
		}
		all = append(all, found...)
	}
	if whole {
		return []*mismatch{merged}
	}
	return all
}

func (t *kind) describeArray(v data.Value, path []string) []*mismatch {
	if v.Kind() != data.List {
		return t.plainly(v, path)
	}
	if !sized(t, int64(v.Len())) {
		return []*mismatch{{path: path, what: sizes(t, v)}}
	}
	var all []*mismatch
	for i, e := range v.List() {
		if t.elem != nil {
			all = append(all, t.elem.describe(e, with(path, fmt.Sprint("index ", i)))...)
		}
	}
	return all
}

func (t *kind) describeHash(v data.Value, path []string) []*mismatch {
	if v.Kind() != data.Hash {
		return t.plainly(v, path)
	}
	if !sized(t, int64(v.Len())) {
		return []*mismatch{{path: path, what: sizes(t, v)}}
	}
	var all []*mismatch
	for _, p := range v.Hash() {
		if t.key != nil {
			all = append(all, t.key.describe(p.Key, with(path, "key of entry '"+p.Key.Text()+"'"))...)
			all = append(all, t.elem.describe(p.Value, with(path, "entry '"+p.Key.Text()+"'"))...)
		}
	}
	return all
}

func (t *kind) describeStruct(v data.Value, path []string) []*mismatch {
	if v.Kind() != data.Hash {
		return []*mismatch{{path: path, expected: []*kind{t}, actual: v}}
	}
	var all []*mismatch
	for _, f := range t.fields {
		value, ok := v.Lookup(f.name)
		switch {
		case ok:
			all = append(all, f.of.describe(value, with(path, "entry '"+f.name+"'"))...)
		case !f.optional:
			all = append(all, &mismatch{path: path, what: "expects a value for key '" + f.name + "'"})
		}
	}
	for _, p := range v.Hash() {
		name := p.Key.Text()
		if !slices.ContainsFunc(t.fields, func(f field) bool { return f.name == name }) {
			all = append(all, &mismatch{path: path, what: "unrecognized key '" + name + "'"})
		}
	}
	return all
}

func with(path []string, s string) []string { return append(slices.Clip(path), s) }

// sizes is the sentence about a collection of the wrong size.
func sizes(t *kind, v data.Value) string {
	got := fmt.Sprint(v.Len())
	want := ""
	switch {
	case t.min == t.max:
		want = fmt.Sprint(t.min)
	case t.min == 0:
		want = fmt.Sprint("at most ", t.max)
	case t.max == highest:
		want = fmt.Sprint("at least ", t.min)
	default:
		want = fmt.Sprintf("between %d and %d", t.min, t.max)
	}
	return fmt.Sprintf("expects size to be %s, got %s", want, got)
}

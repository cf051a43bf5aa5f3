package types

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// Mismatch describes in Puppet's words why v is no instance of t, behind a subject as
// "Class[Ntp]:" or "Found value has wrong type,". It is "" if v is one; and where
// Puppet has no words, because the normal form of the type has lost its size: ask
// [Instance] to decide. For a regular expression that runs away it is the error of that.
// Rule LANG-TYPE-30.
func Mismatch(subject string, t Type, v data.Value) string {
	text, err := mismatchUnless(subject, t, v)
	if err != nil {
		return subject + " " + err.Error()
	}
	return text
}

func mismatchUnless(subject string, t Type, v data.Value) (text string, err error) {
	defer caught(&err)
	if isInstance(t, v) {
		return "", nil
	}
	return mismatchOf(subject, t, Infer(v)), nil
}

// Unfit is what Mismatch returns of a value that t does not accept as a whole, and is not
// asked whether it does: t may be made of several types, each of which refused something.
func Unfit(subject string, t Type, v data.Value) string {
	return strings.TrimSpace(mismatched(wrongType, (*place)(nil).at(subject), t, Infer(v)).String())
}

// MismatchOf is what Mismatch returns of a value of the actual type.
func MismatchOf(subject string, t, actual Type) string { return mismatchOf(subject, t, actual) }

func mismatchOf(subject string, t, actual Type) string {
	found := describe(t, actual, (*place)(nil).at(subject))
	if len(found) == 1 {
		return strings.TrimSpace(found[0].String())
	}
	lines := make([]string, len(found))
	for i, m := range found {
		lines[i] = m.String()
	}
	return strings.Join(lines, "\n ")
}

// A mismatchKind is what is wrong.
type mismatchKind uint8

const (
	wrongType mismatchKind = iota
	noMatch                // of a text with an Enum or Pattern
	wrongSize
	wrongCount // of arguments
	missingKey
	unknownKey
	unresolved // a name that means nothing is part of the expected type
)

// is reports whether k is a kind of o.
func (k mismatchKind) is(o mismatchKind) bool {
	return k == o || k == noMatch && o == wrongType || k == wrongCount && o == wrongSize
}

// A place is where something is wrong: a step from the place around it. Nil is the whole.
type place struct {
	around      *place
	step        string
	alternative bool // one of several types, which need not be named
}

// at returns a place within p.
func (p *place) at(step string) *place { return &place{around: p, step: step} }

// without returns p less the step that leads from outer towards it.
func (p *place) without(outer *place) *place {
	switch {
	case p == outer:
		return p
	case p.around == outer:
		return outer
	}
	return &place{p.around.without(outer), p.step, p.alternative}
}

// append appends the steps, a blank before each; only those that are no alternatives, if
// distinct.
func (p *place) append(b []byte, distinct bool) []byte {
	if p == nil {
		return b
	}
	b = p.around.append(b, distinct)
	if distinct && p.alternative {
		return b
	}
	return append(append(b, ' '), p.step...)
}

// A mismatch is one thing that is wrong.
type mismatch struct {
	kind             mismatchKind
	at               *place
	key              string // of an entry
	expected, actual Type
}

func mismatched(kind mismatchKind, at *place, expected, actual Type) mismatch {
	return mismatch{kind: kind, at: at, expected: normalize(expected), actual: normalize(actual)}
}

func missized(kind mismatchKind, at *place, expected, actual interval) mismatch {
	return mismatch{kind: kind, at: at, expected: integerType{interval: expected}, actual: integerType{interval: actual}}
}

// mergeMismatches makes one mismatch of those of the alternatives at a place, if there is
// one of a kind for each, all at the same place; else it returns all. Rule LANG-TYPE-31.
func mergeMismatches(at *place, size mismatchKind, alternatives [][]mismatch) []mismatch {
	all := slices.Concat(alternatives...)
	for _, kind := range []mismatchKind{size, wrongType} {
		of := slices.DeleteFunc(slices.Clone(all), func(m mismatch) bool { return !m.kind.is(kind) })
		if len(of) > 0 && len(of) == len(alternatives) && inOnePlace(of) {
			all = []mismatch{joined(of)}
			break
		}
	}
	if len(all) == 1 {
		all[0].at = all[0].at.without(at)
	}
	return all
}

func inOnePlace(all []mismatch) bool {
	first := string(all[0].at.append(nil, true))
	return !slices.ContainsFunc(all, func(m mismatch) bool { return string(m.at.append(nil, true)) != first })
}

// joined returns the first of several mismatches with what all of them expect.
func joined(all []mismatch) mismatch {
	out := all[0]
	if out.kind.is(wrongSize) {
		sizes := out.expected.(integerType).interval
		for _, m := range all {
			sizes = sizes.hull(m.expected.(integerType).interval)
		}
		return missized(out.kind, out.at, sizes, out.actual.(integerType).interval)
	}
	for _, m := range all[1:] {
		out = mismatched(out.kind, out.at, newVariant([]Type{out.expected, m.expected}), out.actual)
	}
	return out
}

// String returns the text, which begins with a blank.
func (m mismatch) String() string {
	var b strings.Builder
	b.Write(m.at.append(nil, false))
	b.WriteByte(' ')
	switch m.kind {
	case missingKey:
		fmt.Fprintf(&b, "expects a value for key '%s'", m.key)
	case unknownKey:
		fmt.Fprintf(&b, "unrecognized key '%s'", m.key)
	case unresolved:
		fmt.Fprintf(&b, "references an unresolved type '%s'", m.key)
	case wrongSize:
		e, a := m.expected.(integerType), m.actual.(integerType)
		fmt.Fprintf(&b, "expects size to be %s, got %s", e.phrase("0"), a.phrase("0"))
	case wrongCount:
		e, a := m.expected.(integerType), m.actual.(integerType)
		plural := "s"
		if e.from == 1 && (e.to == 1 || e.noTo) || e.from == 0 && e.to == 1 && !e.noTo {
			plural = ""
		}
		fmt.Fprintf(&b, "expects %s argument%s, got %s", e.phrase("no"), plural, a.phrase("none"))
	case noMatch:
		e, undef := m.expected, ""
		if inner, ok := isContained(e, optionalOf); ok {
			e, undef = inner, "an undef value or "
		}
		fmt.Fprintf(&b, "expects %sa match for %s, got %s", undef, expanded(e), actualText(m.actual))
	default:
		b.WriteString(expectation(m.expected, m.actual))
	}
	return b.String()
}

func actualText(t Type) string {
	if s, ok := t.(stringType); ok && s.literal {
		return "'" + s.value + "'"
	}
	return shortName(t)
}

// expectation returns what was expected, and what was found: their names, or all
// about them where the names would not show the difference.
func expectation(expected, actual Type) string {
	alternatives := []Type{expected}
	inner, optional := isContained(expected, optionalOf)
	if optional {
		alternatives = []Type{orAny(inner)}
	}
	v, listed := alternatives[0].(variantType)
	if listed {
		alternatives = v.types
	}
	var names []string
	got := shortName(actual)
	if needsDetail(alternatives, actual) {
		got = detail(alternatives, actual)
		for _, t := range alternatives {
			names = append(names, expanded(t))
		}
	} else {
		for _, t := range alternatives {
			if name := shortName(t); !listed || !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
	}
	if optional {
		names = append([]string{"Undef"}, names...)
	}
	last := len(names) - 1
	switch last {
	case -1:
		return "expects a value of type , or , got " + got
	case 0:
		return "expects " + withArticle(names[0]) + " value, got " + got
	case 1:
		return "expects a value of type " + names[0] + " or " + names[1] + ", got " + got
	}
	return "expects a value of type " + strings.Join(names[:last], ", ") + ", or " + names[last] + ", got " + got
}

// needsDetail reports whether names alone would not explain a mismatch.
func needsDetail(expected []Type, actual Type) bool {
	return alwaysDetailed(expected, actual) || slices.ContainsFunc(expected, func(t Type) bool {
		if a, ok := t.(*aliasType); ok {
			t = a.resolved
		}
		if _, extended := t.(extendedType); extended {
			return true
		}
		general, ok := standard()[strings.ToLower(simpleName(t))]
		return ok && assignable(general, actual)
	})
}

func alwaysDetailed(expected []Type, actual Type) bool {
	name := simpleName(actual)
	return name == "TypeAlias" || slices.ContainsFunc(expected, func(t Type) bool {
		switch kind := simpleName(t); kind {
		case "TypeAlias", name:
			return true
		case "Struct":
			return name == "Hash"
		case "Tuple":
			return name == "Array"
		}
		return false
	})
}

func detail(expected []Type, actual Type) string {
	resolved := mapped(expected, resolve)
	if alwaysDetailed(resolved, actual) {
		return expanded(actual)
	}
	general := generalize(actual)
	if slices.ContainsFunc(resolved, func(t Type) bool { return assignable(t, general) }) {
		return expanded(actual)
	}
	switch actual.(type) {
	case *definedType, extendedType:
		name := nameOf(actual)
		return name[strings.LastIndexByte(name, ':')+1:]
	}
	return simpleName(actual)
}

// unresolvedIn returns a name within a type that means nothing, or "".
func unresolvedIn(t Type, seen []*aliasType) string {
	switch x := t.(type) {
	case referenceType:
		return x.text
	case *aliasType:
		if x.builtin || slices.Contains(seen, x) {
			return ""
		}
		return unresolvedIn(x.resolved, append(seen, x))
	}
	for _, x := range parts(t) {
		if name := unresolvedIn(x, seen); name != "" {
			return name
		}
	}
	return ""
}

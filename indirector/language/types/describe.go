package types

import (
	"fmt"
	"strconv"
)

// A wanted is an expected type: in the normal form that is compared, and as messages
// show it.
type wanted struct{ normal, shown Type }

// describe returns what is wrong with a type at a place where another is expected. It
// is nothing if that accepts the type, and if the normal form has lost what is wrong.
// Rule LANG-TYPE-30.
func describe(expected, actual Type, at *place) []mismatch {
	if name := unresolvedIn(expected, nil); name != "" {
		return []mismatch{{kind: unresolved, at: at, key: name}}
	}
	w, undef := wanted{normalize(expected), expected}.opened()
	if undef && actual == undefType {
		return nil
	}
	switch t := w.normal.(type) {
	case nil: // an Optional of everything
		return nil
	case variantType:
		return w.describeAlternatives(t, actual, at)
	case enumType, patternType: // also of what would be accepted, as in Puppet
		return []mismatch{mismatched(noMatch, at, w.shown, actual)}
	case callableType:
		if a, ok := actual.(callableType); ok {
			return describeCallable(t, a, at)
		}
	case arrayType, hashType, tupleType, structType:
		return w.describeCollection(actual, at, wrongSize)
	}
	if assignable(w.normal, actual) {
		return nil
	}
	return []mismatch{mismatched(wrongType, at, w.shown, actual)}
}

// opened returns what lies within aliases and Optional, and whether undef is accepted
// there. An alias outside of them is what messages show.
func (w wanted) opened() (inner wanted, undef bool) {
	for {
		switch t := w.normal.(type) {
		case *aliasType:
			w = wanted{normalize(t.resolved), t}
			continue
		case containedType:
			if t.container == optionalOf {
				if _, isAlias := w.shown.(*aliasType); !isAlias {
					w.shown = t
				}
				w.normal, undef = t.inner, true
				continue
			}
		}
		return w, undef
	}
}

// describeAlternatives merges what the alternatives have in common. Within an alias they
// are not worth more words than the alias.
func (w wanted) describeAlternatives(t variantType, actual Type, at *place) []mismatch {
	types := t.types
	if _, ok := isContained(w.shown, optionalOf); ok {
		types = append([]Type{undefType}, types...)
	}
	all := make([][]mismatch, len(types))
	for i, x := range types {
		if all[i] = describe(x, actual, &place{at, fmt.Sprint("variant ", i), true}); len(all[i]) == 0 {
			return nil
		}
	}
	merged := mergeMismatches(at, wrongSize, all)
	if _, isAlias := w.shown.(*aliasType); isAlias && len(merged) == 1 {
		return []mismatch{mismatched(wrongType, at, w.shown, actual)}
	}
	return merged
}

// describeCollection looks at sizes, then at parts. What has neither is wrong as a whole.
func (w wanted) describeCollection(actual Type, at *place, size mismatchKind) []mismatch {
	if t, ok := w.normal.(tupleType); ok {
		_, isArray := actual.(arrayType)
		if equal(t, actual) || len(t.types) == 0 && isArray {
			return nil
		}
	}
	if want, got, ok := comparedSizes(w.normal, actual); ok && !want.covers(got) {
		return []mismatch{missized(size, at, want, got)}
	}
	parts, ok := comparedParts(w.normal, actual)
	if !ok {
		return []mismatch{mismatched(wrongType, at, w.shown, unsized(w.normal, actual))}
	}
	var out []mismatch
	for _, p := range parts {
		switch {
		case p.actual == nil:
			out = append(out, mismatch{kind: missingKey, at: at, key: p.name})
		case p.expected == nil:
			out = append(out, mismatch{kind: unknownKey, at: at, key: p.name})
		case p.unseen || !assignable(p.expected, p.actual):
			out = append(out, describe(p.expected, p.actual, at.at(p.step+p.name+p.end))...)
		}
	}
	return out
}

// comparedSizes returns the sizes of two collections, if they are compared: the entries
// of two Structs are named instead.
func comparedSizes(expected, actual Type) (want, got interval, ok bool) {
	switch e := expected.(type) {
	case arrayType:
		want = e.size.orAny()
		switch actual.(type) {
		case arrayType, tupleType:
			got, ok = sizeOf(actual)
		}
	case tupleType:
		want = e.sizes()
		switch a := actual.(type) {
		case arrayType:
			got, ok = a.size.orAny(), true
		case tupleType:
			got, ok = a.sizes(), true
		}
	case hashType:
		want = e.size.orAny()
		switch a := actual.(type) {
		case hashType:
			got, ok = a.size.orAny(), true
		case structType:
			got, ok = a.sizes(), true
		}
	case structType:
		want = e.sizes()
		if a, isHash := actual.(hashType); isHash {
			got, ok = a.size.orAny(), true
		}
	}
	return want, got, ok
}

// A part is a place within a collection, and the types of both sides there, of which one
// may be missing.
type part struct {
	step, name, end  string // that make a step
	expected, actual Type
	unseen           bool // it is described without asking whether it would be accepted
}

func indexPart(i int, expected, actual Type, unseen bool) part {
	return part{"index ", strconv.Itoa(i), "", expected, actual, unseen}
}

// entryParts are the key and the value of an entry.
func entryParts(key, value Type, actual member) []part {
	return []part{{"key of entry '", actual.name, "'", key, actual.key(), false}, {"entry '", actual.name, "'", value, actual.value, false}}
}

// comparedParts pairs the parts of two collections, unless only the whole can be compared.
func comparedParts(expected, actual Type) (parts []part, ok bool) {
	switch e := expected.(type) {
	case arrayType:
		a, ok := actual.(tupleType)
		for i, x := range a.types {
			parts = append(parts, indexPart(i, e.element, x, false))
		}
		return parts, ok
	case hashType:
		a, ok := actual.(structType)
		for _, m := range a.members {
			parts = append(parts, entryParts(e.key, e.value, m)...)
		}
		return parts, ok
	case structType:
		a, ok := actual.(structType)
		if !ok {
			return nil, false
		}
		return e.parts(a), true
	case tupleType:
		return e.parts(actual)
	}
	return nil, false
}

// parts pairs the elements of a tuple with those of a list. The last ones repeat.
func (t tupleType) parts(actual Type) (parts []part, ok bool) {
	switch a := actual.(type) {
	case arrayType:
		for i, x := range t.types {
			parts = append(parts, indexPart(i, x, a.element, true))
		}
		return parts, true
	case tupleType:
		for i, x := range a.types {
			if i = min(i, len(t.types)-1); i >= 0 {
				parts = append(parts, indexPart(i, t.types[i], x, true))
			}
		}
		return parts, true
	}
	return nil, false
}

// parts pairs the entries of two structs.
func (t structType) parts(actual structType) (parts []part) {
	for _, m := range t.members {
		switch x, ok := actual.find(m.name); {
		case ok:
			parts = append(parts, entryParts(m.key(), m.value, x)...)
		case !m.optional:
			parts = append(parts, part{name: m.name, expected: m.value})
		}
	}
	for _, x := range actual.members {
		if _, ok := t.find(x.name); !ok {
			parts = append(parts, part{name: x.name, actual: x.value})
		}
	}
	return parts
}

// unsized returns a type without its size, if it is of the same kind as the expected one:
// then its size was right.
func unsized(expected, actual Type) Type {
	switch a := actual.(type) {
	case arrayType:
		if _, ok := expected.(arrayType); ok {
			return newArray(a.element, nil)
		}
	case hashType:
		switch expected.(type) {
		case hashType, structType:
			return newHash(a.key, a.value, nil)
		}
	}
	return actual
}

// describeCallable looks at parameters, result and block, and stops at the first that is
// wrong.
func describeCallable(t, actual callableType, at *place) []mismatch {
	if t.params != nil && actual.params != nil {
		w := wanted{*t.params, *t.params}
		if found := w.describeCollection(*actual.params, at, wrongCount); len(found) > 0 {
			return found
		}
	}
	if want, got := orAny(t.result), orAny(actual.result); !assignable(want, got) {
		return []mismatch{mismatched(wrongType, at.at("return"), want, got)}
	}
	if t.params == nil && t.result == nil {
		return nil
	}
	if want, got := orUndef(t.block), orUndef(actual.block); !assignable(got, want) {
		return []mismatch{mismatched(wrongType, at.at("block"), want, got)}
	}
	return nil
}

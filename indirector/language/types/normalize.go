package types

import (
	"math"
	"slices"
	"strings"
)

// Generalize returns a type without sizes, ranges and values.
func Generalize(t Type) Type { return generalize(t) }

// generalize returns a type without sizes, ranges and values.
func generalize(t Type) Type {
	switch t := t.(type) {
	case integerType:
		return integerType{interval: unlimited}
	case floatType:
		return floatType{math.Inf(-1), math.Inf(1)}
	case timestampType:
		return timestampType{always}
	case timespanType:
		return timespanType{always}
	case stringType:
		return stringType{}
	case booleanType:
		return booleanType{}
	case collectionType:
		return collectionType{}
	case uriType:
		return uriType{}
	case extendedType:
		return t.base
	case enumType:
		if len(t.values) == 0 {
			return stringType{}
		}
		lengths := t.lengths()
		return stringType{size: &lengths}
	case arrayType:
		return newArray(generalize(t.element), nil)
	case hashType:
		if t.size != nil && t.size.isZero() {
			return t
		}
		return newHash(generalize(t.key), generalize(t.value), nil)
	}
	return rebuild(t, generalize)
}

// rebuild returns a type with its inner types changed.
func rebuild(t Type, change func(Type) Type) Type {
	changed := func(t Type) Type {
		if t == nil {
			return nil
		}
		return change(t)
	}
	switch t := t.(type) {
	case arrayType:
		return newArray(change(t.element), t.size)
	case hashType:
		return newHash(change(t.key), change(t.value), t.size)
	case tupleType:
		return tupleType{mapped(t.types, change), t.size}
	case structType:
		members := slices.Clone(t.members)
		for i, m := range members {
			members[i].value = change(m.value)
		}
		return structType{members}
	case variantType:
		if len(t.types) == 0 {
			return t
		}
		return newVariant(mapped(t.types, change))
	case containedType:
		return containedType{t.container, changed(t.inner)}
	case callableType:
		if t.params != nil {
			params := tupleType{mapped(t.params.types, change), t.params.size}
			t.params = &params
		}
		return newCallable(t.params, changed(t.block), changed(t.result))
	case initType:
		return initType{changed(t.inner), t.args}
	}
	return t
}

// parts returns the types within a type.
func parts(t Type) []Type {
	var out []Type
	add := func(types ...Type) {
		for _, x := range types {
			if x != nil {
				out = append(out, x)
			}
		}
	}
	switch t := t.(type) {
	case arrayType:
		add(t.element)
	case hashType:
		add(t.key, t.value)
	case tupleType:
		add(t.types...)
	case structType:
		for _, m := range t.members {
			add(m.value)
		}
	case variantType:
		add(t.types...)
	case containedType:
		add(t.inner)
	case callableType:
		if t.params != nil {
			add(t.params.types...)
		}
		add(t.block, t.result)
	case initType:
		add(t.inner)
	}
	return out
}

func mapped(types []Type, change func(Type) Type) []Type {
	out := make([]Type, len(types))
	for i, t := range types {
		out[i] = change(t)
	}
	return out
}

// normalize returns the form of a type that messages show: alternatives are merged,
// and Undef among them becomes Optional. Rule LANG-TYPE-23.
func normalize(t Type) Type {
	switch x := t.(type) {
	case collectionType:
		return collectionType{} // as Puppet does, which loses the size
	case variantType:
		return normalizeVariant(x)
	case containedType:
		if x.inner == nil || x.container != optionalOf && x.container != notUndefOf {
			return rebuild(t, normalize)
		}
		return normalizeUndef(x.container, normalize(x.inner))
	case arrayType:
		if x.element == anyType {
			return newArray(nil, nil)
		}
	}
	return rebuild(t, normalize)
}

// normalizeUndef drops what of Optional and NotUndef means nothing.
func normalizeUndef(c container, inner Type) Type {
	other := map[container]container{optionalOf: notUndefOf, notUndefOf: optionalOf}[c]
	if x, ok := isContained(inner, other); ok {
		if x == nil {
			return containedType{c, nil}
		}
		return normalize(containedType{c, x})
	}
	if assignable(inner, undefType) == (c == optionalOf) {
		return inner
	}
	return containedType{c, inner}
}

func normalizeVariant(t variantType) Type {
	if len(t.types) == 0 {
		return t
	}
	types := mapped(t.types, normalize)
	if len(types) == 1 {
		return types[0]
	}
	isOptional := func(t Type) bool { _, ok := isContained(t, optionalOf); return ok || t == undefType }
	if slices.ContainsFunc(types, isOptional) {
		var rest []Type
		for _, x := range types {
			if inner, ok := isContained(x, optionalOf); ok {
				x = inner
			}
			if x != nil && x != undefType {
				rest = append(rest, x)
			}
		}
		return normalize(containedType{optionalOf, newVariant(rest)})
	}
	changed := exact(variantType{types}) != exact(t)
	merged := mergeFamilies(flat(types))
	if !changed && len(merged) == len(flat(types)) { // merging may have put them into another order
		return t
	}
	return newVariant(merged)
}

// A family is alternatives that are better written as one. The first families come to
// stand at the end, in this order; from versionFamily on at the beginning, in the reverse one.
type family int

const (
	noFamily family = iota
	notUndefFamily
	textFamily
	foldingFamily
	patternFamily
	versionFamily
	integerFamily
	timespanFamily
	timestampFamily
	endOfFamilies
)

func familyOf(t Type) family {
	switch t := t.(type) {
	case containedType:
		if t.container == notUndefOf {
			return notUndefFamily
		}
	case stringType:
		if t.literal {
			return textFamily
		}
	case enumType:
		switch {
		case len(t.values) > 0 && !t.fold:
			return textFamily
		case len(t.values) > 0:
			return foldingFamily
		}
	case patternType:
		return patternFamily
	case versionType:
		return versionFamily
	case integerType:
		return integerFamily
	case timespanType:
		return timespanFamily
	case timestampType:
		return timestampFamily
	}
	return noFamily
}

// join returns the members of a family in as few types as there can be.
func (f family) join(some []Type) []Type {
	switch f {
	case notUndefFamily:
		inner := mapped(some, func(t Type) Type { return innerOrAny(t.(containedType)) })
		return []Type{newNotUndef(normalize(newVariant(inner)))}
	case textFamily:
		return []Type{newEnum(allValues(some), false)}
	case foldingFamily:
		values := allValues(some)
		for i, v := range values {
			values[i] = strings.ToLower(v)
		}
		return []Type{newEnum(values, true)}
	case patternFamily:
		return []Type{joinPatterns(some...)}
	case versionFamily:
		var out versionType
		for _, t := range some {
			out.ranges = append(out.ranges, t.(versionType).ranges...)
		}
		return []Type{out}
	case integerFamily:
		return joinIntervals(some, integers, interval.touches, interval.hull)
	case timespanFamily:
		return joinIntervals(some, timespans, period.touches, period.hull)
	default:
		return joinIntervals(some, timestamps, period.touches, period.hull)
	}
}

func allValues(some []Type) []string {
	var values []string
	for _, t := range some {
		values = append(values, valuesOf(t)...)
	}
	return values
}

// mergeFamilies joins the members of each family that has several.
func mergeFamilies(types []Type) []Type {
	var members [endOfFamilies][]Type
	for _, t := range types {
		f := familyOf(t)
		members[f] = append(members[f], t)
	}
	out := slices.DeleteFunc(slices.Clone(types), func(t Type) bool {
		f := familyOf(t)
		return f != noFamily && len(members[f]) > 1
	})
	for f := notUndefFamily; f < endOfFamilies; f++ {
		switch {
		case len(members[f]) < 2:
		case f >= versionFamily:
			out = append(f.join(members[f]), out...)
		default:
			out = append(out, f.join(members[f])...)
		}
	}
	return out
}

// integers and its like return the range of a type of one kind, and how to make one;
// nil if the type is of another.
func integers(t Type) (interval, func(interval) Type) {
	x, ok := t.(integerType)
	if !ok {
		return interval{}, nil
	}
	return x.interval, func(r interval) Type { return integerType{interval: r} }
}

func timespans(t Type) (period, func(period) Type) {
	x, ok := t.(timespanType)
	if !ok {
		return period{}, nil
	}
	return x.period, func(r period) Type { return timespanType{r} }
}

func timestamps(t Type) (period, func(period) Type) {
	x, ok := t.(timestampType)
	if !ok {
		return period{}, nil
	}
	return x.period, func(r period) Type { return timestampType{r} }
}

// joinIntervals joins ranges that touch, beginning with the last one.
func joinIntervals[R any](some []Type, of func(Type) (R, func(R) Type), touches func(a, b R, near bool) bool, hull func(a, b R) R) []Type {
	var out []Type
	_, to := of(some[0])
	for len(some) > 0 {
		last, _ := of(some[len(some)-1])
		var apart []Type
		for _, t := range some[:len(some)-1] {
			if r, _ := of(t); touches(last, r, true) {
				last = hull(last, r)
			} else {
				apart = append(apart, t)
			}
		}
		out, some = append(out, to(last)), apart
	}
	return out
}

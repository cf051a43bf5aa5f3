package types

import (
	"math"
	"slices"
	"strings"
)

// generalize returns a type without sizes, ranges and values.
func generalize(t Type) Type {
	switch t := t.(type) {
	case integerType:
		return integerType{interval: unlimited}
	case floatType:
		return floatType{math.Inf(-1), math.Inf(1)}
	case timestampType:
		return timestampType{unlimited}
	case timespanType:
		return timespanType{unlimited}
	case stringType:
		return stringType{}
	case booleanType:
		return booleanType{}
	case collectionType:
		return collectionType{}
	case uriType:
		return uriType{}
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
	types = flat(types)
	before := len(types)
	for _, merge := range []func([]Type) []Type{mergeNotUndefs, mergeEnums, mergeFolding, mergePatterns, mergeVersions} {
		types = merge(types)
	}
	for _, of := range []func(Type) (interval, func(interval) Type){integers, timespans, timestamps} {
		types = mergeIntervals(types, of)
	}
	if !changed && len(types) == before { // merging may have put them into another order
		return t
	}
	return newVariant(types)
}

// merge replaces several types by one, which goes to the end, or to the beginning.
func merge(types []Type, chosen func(Type) bool, join func([]Type) []Type, first bool) []Type {
	var some, rest []Type
	for _, t := range types {
		if chosen(t) {
			some = append(some, t)
		} else {
			rest = append(rest, t)
		}
	}
	switch {
	case len(some) < 2:
		return types
	case first:
		return append(join(some), rest...)
	}
	return append(rest, join(some)...)
}

func mergeNotUndefs(types []Type) []Type {
	return merge(types, func(t Type) bool { _, ok := isContained(t, notUndefOf); return ok }, func(some []Type) []Type {
		inner := mapped(some, func(t Type) Type { return innerOrAny(t.(containedType)) })
		return []Type{newNotUndef(normalize(newVariant(inner)))}
	}, false)
}

func mergeEnums(types []Type) []Type {
	return merge(types, func(t Type) bool {
		e, ok := t.(enumType)
		return len(valuesOf(t)) > 0 && !(ok && e.fold)
	}, func(some []Type) []Type {
		var values []string
		for _, t := range some {
			values = append(values, valuesOf(t)...)
		}
		return []Type{newEnum(values, false)}
	}, false)
}

func mergeFolding(types []Type) []Type {
	return merge(types, func(t Type) bool {
		e, ok := t.(enumType)
		return ok && e.fold && len(e.values) > 0
	}, func(some []Type) []Type {
		var values []string
		for _, t := range some {
			for _, v := range t.(enumType).values {
				values = append(values, strings.ToLower(v))
			}
		}
		return []Type{newEnum(values, true)}
	}, false)
}

func mergePatterns(types []Type) []Type {
	return merge(types, func(t Type) bool { _, ok := t.(patternType); return ok }, func(some []Type) []Type {
		out := some[0].(patternType)
		for _, t := range some[1:] {
			out = joinPatterns(out, t.(patternType))
		}
		return []Type{out}
	}, false)
}

func mergeVersions(types []Type) []Type {
	return merge(types, func(t Type) bool { _, ok := t.(versionType); return ok }, func(some []Type) []Type {
		var out versionType
		for _, t := range some {
			out.ranges = append(out.ranges, t.(versionType).ranges...)
		}
		return []Type{out}
	}, true)
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

func timespans(t Type) (interval, func(interval) Type) {
	x, ok := t.(timespanType)
	if !ok {
		return interval{}, nil
	}
	return x.interval, func(r interval) Type { return timespanType{r} }
}

func timestamps(t Type) (interval, func(interval) Type) {
	x, ok := t.(timestampType)
	if !ok {
		return interval{}, nil
	}
	return x.interval, func(r interval) Type { return timestampType{r} }
}

// mergeIntervals joins ranges that touch, beginning with the last one.
func mergeIntervals(types []Type, of func(Type) (interval, func(interval) Type)) []Type {
	return merge(types, func(t Type) bool { _, to := of(t); return to != nil }, func(some []Type) []Type {
		var out []Type
		_, to := of(some[0])
		for len(some) > 0 {
			last, _ := of(some[len(some)-1])
			var apart []Type
			for _, t := range some[:len(some)-1] {
				if r, _ := of(t); last.touches(r, true) {
					last = last.hull(r)
				} else {
					apart = append(apart, t)
				}
			}
			out, some = append(out, to(last)), apart
		}
		return out
	}, true)
}

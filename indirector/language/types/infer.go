package types

import (
	"math"

	"indirtui/indirector/data"
)

// Infer returns the type of a value in full detail: a Tuple of the types of the
// elements, a Struct, and values where a type can name them. Rule LANG-TYPE-21.
func Infer(v data.Value) Type {
	switch v.Kind() {
	case data.List:
		l := v.List()
		if len(l) == 0 {
			return newArray(nil, sized(0, 0))
		}
		return tupleType{types: each(l, Infer)}
	case data.Hash:
		h := v.Hash()
		if len(h) == 0 {
			return newHash(nil, nil, sized(0, 0))
		}
		if s, ok := inferStruct(h); ok {
			return s
		}
		keys, values := split(h)
		return newHash(newVariant(each(keys, Infer)), newVariant(each(values, Infer)), sized(int64(len(h)), int64(len(h))))
	case data.Rich:
		if v, ok := v.Rich().(version); ok {
			return versionType{[]versions{onlyVersion(v)}}
		}
	}
	return inferScalar(v)
}

func each(l []data.Value, infer func(data.Value) Type) []Type {
	out := make([]Type, len(l))
	for i, x := range l {
		out[i] = infer(x)
	}
	return out
}

func split(h []data.Pair) (keys, values []data.Value) {
	for _, p := range h {
		keys, values = append(keys, p.Key), append(values, p.Value)
	}
	return keys, values
}

// inferStruct fails if a key is no text, or an empty one.
func inferStruct(h []data.Pair) (Type, bool) {
	members := make([]member, len(h))
	for i, p := range h {
		s, ok := text(p.Key)
		if !ok || s == "" {
			return nil, false
		}
		members[i] = member{s, false, Infer(p.Value)}
	}
	return structType{members}, true
}

func inferScalar(v data.Value) Type {
	switch v.Kind() {
	case data.Nil:
		return undefType
	case data.Bool:
		b := v.Bool()
		return booleanType{&b}
	case data.Int:
		return integerType{interval: interval{from: v.Int(), to: v.Int()}}
	case data.Big: // the language has no literal for it, but it can be computed
		if v.Big().Sign() < 0 {
			return integerType{interval{noFrom: true, to: math.MinInt64}, v.Big().String()}
		}
		return integerType{interval{from: math.MaxInt64, noTo: true}, v.Big().String()}
	case data.Float:
		return floatType{v.Float(), v.Float()}
	case data.String:
		return stringOf(v.Str())
	case data.Symbol:
		if isDefault(v) {
			return defaultType
		}
		return runtimeType{"ruby", "Symbol"}
	}
	switch r := v.Rich().(type) {
	case typeValue:
		return containedType{typeOf, r.Type}
	case *regex:
		return regexpType{r}
	case interface{ RubyClass() string }: // what other packages have
		return runtimeType{"ruby", r.RubyClass()}
	case secret:
		return newSensitive(Reduced(r.value))
	case timestamp:
		return timestampType{at(*r.moment)}
	case timespan:
		return timespanType{at(*r.moment)}
	case version:
		return versionType{}
	case versions:
		return rangeType
	case binary:
		return binaryType
	case uri:
		return uriType{partsOf(r)}
	case Object:
		return r.ObjectType()
	}
	return anyType
}

// Reduced returns the type of a value where lists and hashes have the common type of
// their elements.
func Reduced(v data.Value) Type {
	switch v.Kind() {
	case data.List:
		l := v.List()
		if len(l) == 0 {
			return newArray(nil, sized(0, 0))
		}
		return newArray(commonOf(each(l, Reduced)), sized(int64(len(l)), int64(len(l))))
	case data.Hash:
		h := v.Hash()
		if len(h) == 0 {
			return newHash(nil, nil, sized(0, 0))
		}
		keys, values := split(h)
		return newHash(commonOf(each(keys, Reduced)), commonOf(each(values, Reduced)), sized(int64(len(h)), int64(len(h))))
	}
	return inferScalar(v)
}

// Generalized returns the type of a value without sizes and values.
func Generalized(v data.Value) Type { return generalize(Reduced(v)) }

func commonOf(types []Type) Type {
	out := types[0]
	for _, t := range types[1:] {
		out = common(out, t)
	}
	return out
}

// common returns a type that accepts both. Undef is accepted by none of the results:
// the other type wins, as in Puppet. Rule LANG-TYPE-21.
func common(a, b Type) Type {
	switch {
	case a == undefType:
		return b
	case b == undefType || b == unitType:
		return a
	case a == unitType:
		return b
	case assignable(a, b):
		return a
	case assignable(b, a):
		return b
	}
	if t := commonOfKind(a, b); t != nil {
		return t
	}
	for _, t := range []Type{numericType, scalarData, scalarType, dataAlias} {
		if assignable(t, a) && assignable(t, b) {
			return t
		}
	}
	if x, ok := isContained(a, typeOf); ok {
		if y, ok := isContained(b, typeOf); ok {
			return containedType{typeOf, common(x, y)}
		}
	}
	if assignable(richData, a) && assignable(richData, b) {
		return richData
	}
	return anyType
}

// commonOfKind returns the common type of two types of one kind, or nil.
func commonOfKind(a, b Type) Type {
	switch a := a.(type) {
	case arrayType:
		if b, ok := b.(arrayType); ok {
			return newArray(common(a.element, b.element), nil)
		}
	case hashType:
		if b, ok := b.(hashType); ok {
			return newHash(common(a.key, b.key), common(a.value, b.value), nil)
		}
	case classType:
		if _, ok := b.(classType); ok {
			return classType{}
		}
	case resourceType:
		if b, ok := b.(resourceType); ok {
			if a.name == b.name {
				return resourceType{name: a.name}
			}
			return resourceType{}
		}
	case integerType:
		if b, ok := b.(integerType); ok {
			return integerType{interval: a.hull(b.interval)}
		}
	case floatType:
		if b, ok := b.(floatType); ok {
			return floatType{math.Min(a.from, b.from), math.Max(a.to, b.to)}
		}
	case stringType, enumType:
		return commonOfTexts(a, b)
	case patternType:
		if b, ok := b.(patternType); ok {
			return joinPatterns(a, b)
		}
	case variantType:
		if b, ok := b.(variantType); ok {
			return newVariant(append(append([]Type{}, a.types...), b.types...))
		}
	case regexpType:
		if _, ok := b.(regexpType); ok {
			return regexpType{}
		}
	case callableType:
		if _, ok := b.(callableType); ok {
			return callableType{}
		}
	}
	return nil
}

// commonOfTexts returns an Enum of what is known of two texts, or a String.
func commonOfTexts(a, b Type) Type {
	x, y := valuesOf(a), valuesOf(b)
	s, isString := a.(stringType)
	o, otherString := b.(stringType)
	switch {
	case y == nil && !otherString:
		return nil
	case isString && otherString && s.size != nil && o.size != nil:
		hull := s.size.hull(*o.size)
		return stringType{size: &hull}
	case isString && otherString && (!s.literal || !o.literal):
		return stringType{}
	case len(x) == 0 && isString, len(y) == 0 && otherString:
		return enumType{}
	}
	return newEnum(append(append([]string{}, x...), y...), false)
}

// valuesOf returns the texts that a type names, and nil if it is no type of texts.
func valuesOf(t Type) []string {
	switch t := t.(type) {
	case enumType:
		return append([]string{}, t.values...)
	case stringType:
		if t.literal {
			return []string{t.value}
		}
	}
	return nil
}

func joinPatterns(types ...Type) patternType {
	var out patternType
	seen := map[string]bool{}
	for _, t := range types {
		for _, r := range t.(patternType).patterns {
			if !seen[r.source] {
				seen[r.source] = true
				out.patterns = append(out.patterns, r)
			}
		}
	}
	return out
}

package types

import (
	"cmp"
	"math"
	"slices"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
)

// Instance reports whether v is an instance of t; it is not, if a regular expression of t
// runs away. Rules LANG-TYPE-01 to LANG-TYPE-11.
func Instance(t Type, v data.Value) bool {
	ok, _ := Check(t, v)
	return ok
}

// Check is Instance that returns the error of a regular expression that runs away.
func Check(t Type, v data.Value) (ok bool, err error) {
	defer caught(&err)
	return isInstance(t, v), nil
}

// CheckWithin is Check whose regular expressions take their time from a budget, as those of
// [onig.Regexp.Within] do.
func CheckWithin(b *onig.Budget, t Type, v data.Value) (bool, error) {
	if !backtracks(t) {
		return Check(t, v)
	}
	used := b.Begin(t)
	ok, err := Check(t, v)
	return ok, cmp.Or(err, used())
}

// backtracks reports whether a regular expression of t may take more than linear time. Of
// types that are rare it is not looked for.
func backtracks(t Type) bool {
	switch t := t.(type) {
	case nil, plain, stringType, enumType, integerType, floatType, booleanType, collectionType:
		return false
	case patternType:
		return slices.ContainsFunc(t.patterns, func(r *regex) bool { return !r.compiled.Linear() })
	case arrayType:
		return backtracks(t.element)
	case hashType:
		return backtracks(t.key) || backtracks(t.value)
	case containedType:
		return backtracks(t.inner)
	case tupleType:
		return slices.ContainsFunc(t.types, backtracks)
	case variantType:
		return slices.ContainsFunc(t.types, backtracks)
	case structType:
		return slices.ContainsFunc(t.members, func(m member) bool { return backtracks(m.value) })
	case *aliasType:
		return t.recursive || backtracks(t.resolved)
	}
	return true
}

func isInstance(t Type, v data.Value) bool { return instance(t, v, nil, 0) }

// instance is Instance of a value that lies so many collections deep, within aliases.
func instance(t Type, v data.Value, w *aliasWalk, depth int) bool {
	switch t := t.(type) {
	case plain:
		return isPlain(t, v)
	case collectionType:
		return isCollection(v) && t.size.orAny().contains(int64(v.Len()))
	case arrayType:
		return t.has(v, w, depth+1)
	case hashType:
		return t.has(v, w, depth+1)
	case tupleType:
		return t.has(v, w, depth+1)
	case structType:
		return t.has(v, w, depth+1)
	case variantType:
		return slices.ContainsFunc(t.types, func(x Type) bool { return instance(x, v, w, depth) })
	case containedType:
		return t.has(v, w, depth)
	case *aliasType:
		return reallyInstance(t, v, w, depth) == yes
	case initType:
		return t.has(v)
	case *definedType:
		o, ok := v.Rich().(Object)
		return ok && t.accepts(o.ObjectType())
	case extendedType:
		return t.has(v)
	case callableType, classType, resourceType, referenceType:
		return false
	}
	return isScalarInstance(t, v) || isRich(t, v)
}

// isScalarInstance compares numbers, booleans and texts with types of such.
func isScalarInstance(t Type, v data.Value) bool {
	s, isText := text(v)
	switch t := t.(type) {
	case stringType:
		return isText && (t.size == nil || t.size.contains(int64(utf8.RuneCountInString(s)))) && (!t.literal || s == t.value)
	case enumType:
		return isText && t.has(s)
	case patternType:
		return isText && t.matches(s)
	case integerType:
		return v.Kind() == data.Int && t.contains(v.Int()) || v.Kind() == data.Big && t.containsBig(v)
	case floatType:
		return v.Kind() == data.Float && t.from <= v.Float() && v.Float() <= t.to
	case booleanType:
		return v.Kind() == data.Bool && (t.only == nil || *t.only == v.Bool())
	}
	return false
}

// text returns the string that v is; the symbol default is none.
func text(v data.Value) (string, bool) {
	if v.Kind() != data.String {
		return "", false
	}
	return v.Str(), true
}

func isCollection(v data.Value) bool { return v.Kind() == data.List || v.Kind() == data.Hash }

func isPlain(t plain, v data.Value) bool {
	switch k := v.Kind(); t {
	case anyType, unitType:
		return true
	case undefType:
		return k == data.Nil
	case defaultType:
		return isDefault(v)
	case numericType:
		return k == data.Int || k == data.Big || k == data.Float && !math.IsNaN(v.Float())
	case scalarData:
		return k == data.String || k == data.Int || k == data.Float || k == data.Bool || k == data.Big
	case scalarType:
		return isPlain(scalarData, v) || k == data.Rich && isScalar(Infer(v))
	case binaryType:
		_, ok := v.Rich().(binary)
		return ok
	case rangeType:
		_, ok := v.Rich().(versions)
		return ok
	case typeSetType:
		t, _ := AsType(v)
		_, ok := t.(*setType)
		return ok || t == Type(typeSetType)
	case objectType: // types are objects, too
		switch v.Rich().(type) {
		case Object, typeValue:
			return true
		}
	}
	return false
}

// isRich compares rich values with types of such.
func isRich(t Type, v data.Value) bool {
	switch r := v.Rich().(type) {
	case *regex:
		t, ok := t.(regexpType)
		return ok && (t.pattern == nil || t.pattern.source == r.source)
	case timestamp:
		t, ok := t.(timestampType)
		return ok && t.contains(*r.moment)
	case timespan:
		t, ok := t.(timespanType)
		return ok && t.contains(*r.moment)
	case version:
		t, ok := t.(versionType)
		return ok && (len(t.ranges) == 0 || slices.ContainsFunc(t.ranges, func(x versions) bool { return x.include(r) }))
	case uri:
		return assignable(t, Infer(v))
	}
	r, ok := t.(runtimeType)
	return ok && v.Kind() == data.Symbol && !isDefault(v) && (r == (runtimeType{}) || r.name == "Symbol")
}

func (t integerType) containsBig(v data.Value) bool {
	if v.Big().Sign() < 0 {
		return t.noFrom
	}
	return t.noTo
}

func (t enumType) has(s string) bool {
	return slices.ContainsFunc(t.values, func(x string) bool { return x == s || t.fold && foldsTo(x, s) })
}

// foldsTo compares without regard to the case of letters of ASCII.
func foldsTo(a, b string) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range len(a) {
		x, y := a[i], b[i]
		if x != y && (x|0x20 != y|0x20 || x|0x20 < 'a' || x|0x20 > 'z') {
			return false
		}
	}
	return true
}

// lengths returns the lengths of the values, which may be any if there are none.
func (t enumType) lengths() interval {
	if len(t.values) == 0 {
		return anySize
	}
	out := exactly(utf8.RuneCountInString(t.values[0]))
	for _, s := range t.values[1:] {
		out = out.hull(exactly(utf8.RuneCountInString(s)))
	}
	return out
}

func (t stringType) lengths() interval {
	if t.literal {
		return exactly(utf8.RuneCountInString(t.value))
	}
	return t.size.orAny()
}

func (t patternType) matches(s string) bool {
	return len(t.patterns) == 0 || slices.ContainsFunc(t.patterns, func(r *regex) bool { return r.match(s) })
}

func (t arrayType) has(v data.Value, w *aliasWalk, depth int) bool {
	return v.Kind() == data.List && t.size.orAny().contains(int64(v.Len())) &&
		!slices.ContainsFunc(v.List(), func(x data.Value) bool { return !instance(t.element, x, w, depth) })
}

func (t hashType) has(v data.Value, w *aliasWalk, depth int) bool {
	return v.Kind() == data.Hash && t.size.orAny().contains(int64(v.Len())) && !slices.ContainsFunc(v.Hash(), func(p data.Pair) bool {
		return !instance(t.key, p.Key, w, depth) || !instance(t.value, p.Value, w, depth)
	})
}

func (t tupleType) has(v data.Value, w *aliasWalk, depth int) bool {
	if v.Kind() != data.List || !t.sizes().contains(int64(v.Len())) {
		return false
	}
	for i, x := range v.List() {
		if len(t.types) > 0 && !instance(t.at(i), x, w, depth) {
			return false
		}
	}
	return true
}

func (t structType) has(v data.Value, w *aliasWalk, depth int) bool {
	if v.Kind() != data.Hash {
		return false
	}
	required := 0
	for i, p := range v.Hash() {
		name, isText := text(p.Key)
		m, ok := t.near(name, i)
		if !isText || !ok || !instance(m.value, p.Value, w, depth) {
			return false
		}
		if !m.optional {
			required++
		}
	}
	return int64(required) == t.sizes().from
}

func (t containedType) has(v data.Value, w *aliasWalk, depth int) bool {
	switch t.container {
	case optionalOf:
		return v.IsNil() || t.inner != nil && instance(t.inner, v, w, depth)
	case notUndefOf:
		return !v.IsNil() && (t.inner == nil || instance(t.inner, v, w, depth))
	case typeOf:
		x, ok := AsType(v)
		return ok && (t.inner == nil || assignable(t.inner, x))
	case sensitiveOf:
		s, ok := v.Rich().(secret)
		return ok && (t.inner == nil || isInstance(t.inner, s.value))
	case iterableOf:
		if t.inner == nil || assignable(t.inner, anyType) {
			return canIterate(v)
		}
		return assignable(t, Reduced(v))
	}
	return false
}

// canIterate reports whether a value can be iterated: also a number, up to which is
// counted, and a type that has few instances.
func canIterate(v data.Value) bool {
	switch v.Kind() {
	case data.String, data.List, data.Hash:
		return true
	case data.Int:
		return v.Int() >= 0
	case data.Rich:
		x, ok := AsType(v)
		if !ok {
			return false
		}
		switch x := resolve(x).(type) {
		case enumType:
			return true
		case integerType:
			return x.isFinite()
		}
	}
	return false
}

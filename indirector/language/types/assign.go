package types

import (
	"slices"

	"indirtui/indirector/data"
)

// assignable reports whether every instance of o is one of t. Rule LANG-TYPE-20.
func assignable(t, o Type) bool { return (*comparison)(nil).assignable(t, o) }

// A comparison is one question about types that are parts of themselves. It remembers
// which of their aliases it is looking at, and that one was met again; when that
// happened on both sides, Puppet has seen enough, and what is asked is true. A nil
// comparison has met none. Rule LANG-TYPE-20.
type comparison struct {
	left, right           []*aliasType
	leftAgain, rightAgain bool
}

// fromAlias compares with what an alias on the left means.
func (c *comparison) fromAlias(t *aliasType, o Type) bool {
	if !t.recursive {
		return c.assignable(t.resolved, o)
	}
	if c == nil {
		c = &comparison{}
	}
	return enter(&c.left, &c.leftAgain, t, func() int {
		if c.leftAgain && c.rightAgain || c.assignable(t.resolved, o) {
			return yes
		}
		return no
	}) == yes
}

// toAlias compares with what an alias on the right means.
func (c *comparison) toAlias(t Type, o *aliasType) bool {
	if !o.recursive {
		return c.assignable(t, o.resolved)
	}
	if c == nil {
		c = &comparison{}
	}
	if slices.Contains(c.right, o) {
		c.rightAgain = true
	} else if !c.rightAgain {
		c.right = append(c.right, o)
	}
	return c.leftAgain && c.rightAgain || c.assignable(t, o.resolved)
}

// assignable takes the right side apart before the left one.
func (c *comparison) assignable(t, o Type) bool {
	if t == unitType || o == unitType {
		return true
	}
	if alias, ok := t.(*aliasType); ok {
		return c.fromAlias(alias, o)
	}
	_, isVariant := t.(variantType)
	switch o := o.(type) {
	case *aliasType:
		return c.toAlias(t, o)
	case variantType:
		return c.fromVariant(t, o)
	case containedType:
		switch {
		case o.container == optionalOf:
			return assignable(t, undefType) && (o.inner == nil || assignable(t, o.inner))
		case o.container == notUndefOf && o.inner != nil && !c.assignable(o.inner, undefType):
			return c.assignable(t, o.inner)
		}
	}
	if isVariant && o == undefType && len(t.(variantType).types) == 0 {
		return false
	}
	return c.accepts(t, o)
}

// fromVariant needs all alternatives, and at least one.
func (c *comparison) fromVariant(t Type, o variantType) bool {
	if t == anyType {
		return true
	}
	if v, ok := t.(variantType); ok && len(v.types) == 0 {
		return true
	}
	if _, ok := isContained(t, notUndefOf); ok && len(o.types) == 0 {
		return c.accepts(t, o)
	}
	return len(o.types) > 0 && c.all(o.types, func(x Type) bool { return c.assignable(t, x) })
}

func (c *comparison) all(types []Type, accepted func(Type) bool) bool {
	return !slices.ContainsFunc(types, func(t Type) bool { return !accepted(t) })
}

// accepts is assignable for an o that is neither an alias nor a Variant.
func (c *comparison) accepts(t, o Type) bool {
	switch t := t.(type) {
	case plain:
		return acceptsPlain(t, o)
	case variantType:
		return slices.ContainsFunc(t.types, func(x Type) bool { return c.assignable(x, o) })
	case containedType:
		return c.acceptsContained(t, o)
	case collectionType:
		size, ok := sizeOf(o)
		return ok && t.size.orAny().covers(size)
	case arrayType:
		return c.acceptsArray(t, o)
	case hashType:
		return c.acceptsHash(t, o)
	case tupleType:
		return c.acceptsTuple(t, o)
	case structType:
		return c.acceptsStruct(t, o)
	case callableType:
		o, ok := o.(callableType)
		return ok && c.acceptsCallable(t, o)
	case initType:
		return c.acceptsInit(t, o)
	case *setType:
		return equal(t, o)
	case *definedType:
		return t.accepts(o)
	case extendedType:
		return t.accepts(o)
	case *aliasType:
		return c.assignable(t, o)
	}
	return acceptsScalar(t, o) || acceptsReference(t, o)
}

func acceptsPlain(t plain, o Type) bool {
	switch t {
	case anyType:
		return true
	case scalarType:
		return isScalar(o)
	case scalarData:
		return isScalarData(o)
	case numericType:
		return isNumeric(o)
	case typeSetType:
		if _, ok := o.(*setType); ok {
			return true
		}
	case objectType:
		switch o.(type) {
		case *definedType, extendedType:
			return true
		}
	case catalogEntry:
		switch o.(type) {
		case classType, resourceType:
			return true
		}
	}
	return o == Type(t)
}

func isNumeric(o Type) bool {
	switch o.(type) {
	case integerType, floatType:
		return true
	}
	return o == numericType
}

func isScalarData(o Type) bool {
	switch o.(type) {
	case stringType, enumType, patternType, booleanType:
		return true
	}
	return isNumeric(o) || o == scalarData
}

func isScalar(o Type) bool {
	switch o.(type) {
	case regexpType, versionType, timestampType, timespanType:
		return true
	}
	return isScalarData(o) || o == scalarType || o == rangeType
}

// acceptsScalar compares types of scalars.
func acceptsScalar(t, o Type) bool {
	switch t := t.(type) {
	case integerType:
		o, ok := o.(integerType)
		return ok && t.covers(o.interval)
	case floatType:
		o, ok := o.(floatType)
		return ok && t.from <= o.from && t.to >= o.to
	case booleanType:
		o, ok := o.(booleanType)
		return ok && (t.only == nil || o.only != nil && *t.only == *o.only)
	case timestampType:
		o, ok := o.(timestampType)
		return ok && t.covers(o.period)
	case timespanType:
		o, ok := o.(timespanType)
		return ok && t.covers(o.period)
	case regexpType:
		o, ok := o.(regexpType)
		return ok && (t.pattern == nil || o.pattern != nil && t.pattern.source == o.pattern.source)
	case versionType:
		o, ok := o.(versionType)
		return ok && t.covers(o)
	case stringType:
		return acceptsString(t, o)
	case enumType:
		return acceptsEnum(t, o)
	case patternType:
		return acceptsPattern(t, o)
	}
	return false
}

func acceptsString(t stringType, o Type) bool {
	switch o := o.(type) {
	case stringType:
		return t.size == nil && !t.literal || t.literal && o.literal && t.value == o.value || t.size != nil && t.size.covers(o.lengths())
	case enumType:
		if t.literal {
			return len(o.values) == 1 && !o.fold // Puppet compares no more
		}
		return t.size == nil || t.size.covers(o.lengths())
	case patternType:
		return !t.literal && (t.size == nil || t.size.covers(anySize))
	}
	return false
}

func acceptsEnum(t enumType, o Type) bool {
	switch o := o.(type) {
	case stringType:
		return len(t.values) == 0 || o.literal && t.has(o.value)
	case enumType:
		return len(t.values) == 0 || len(o.values) > 0 && (t.fold || !o.fold) && !slices.ContainsFunc(o.values, func(s string) bool { return !t.has(s) })
	case patternType:
		return len(t.values) == 0
	}
	return false
}

func acceptsPattern(t patternType, o Type) bool {
	switch o := o.(type) {
	case stringType:
		return len(t.patterns) == 0 || o.literal && t.matches(o.value)
	case enumType:
		return len(t.patterns) == 0 || len(o.values) > 0 && !slices.ContainsFunc(o.values, func(s string) bool { return !t.matches(s) })
	case patternType:
		return len(t.patterns) == 0 || equal(t, o)
	}
	return false
}

// acceptsReference compares types of what is in a catalog, or outside of the
// language.
func acceptsReference(t, o Type) bool {
	switch t := t.(type) {
	case classType:
		o, ok := o.(classType)
		return ok && (t.name == "" || t.name == o.name)
	case resourceType:
		o, ok := o.(resourceType)
		if !ok || t.name == "" {
			return ok
		}
		return equal(resourceType{name: t.name}, resourceType{name: o.name}) && (t.title == nil || o.title != nil && *t.title == *o.title)
	case runtimeType:
		o, ok := o.(runtimeType)
		return ok && (t == (runtimeType{}) || t == o)
	case uriType:
		o, ok := o.(uriType)
		return ok && (t.parts.IsNil() || !slices.ContainsFunc(t.parts.Hash(), func(p data.Pair) bool { return !matchesPart(p, o.parts) }))
	case referenceType:
		return equal(t, o)
	}
	return false
}

// matchesPart reports whether a part of a URI is as a type wants it, which may be a
// type itself.
func matchesPart(want data.Pair, parts data.Value) bool {
	got, ok := parts.Lookup(want.Key.Str())
	if !ok {
		return false
	}
	if t, ok := AsType(want.Value); ok {
		if o, ok := AsType(got); ok {
			return assignable(t, o)
		}
		return isInstance(t, got)
	}
	if r, ok := want.Value.Rich().(*regex); ok {
		return r.match(got.Str())
	}
	return data.Equal(want.Value, got)
}

// Package types is the type system of the Puppet language: what types there are,
// which values are their instances, and which types accept which.
//
//	t, err := types.Parse("Array[Integer[1], 1]", nil)
//	types.Instance(t, v)                       // whether v is such an array
//	types.Mismatch("assert_type():", t, v)     // and if not, why, in Puppet's words
//
// A [Type] is an immutable value; there are no other types than those of this
// file. Each question about types is one function that looks at the kinds of its
// arguments, in a file of its own: assignability, instances, inference,
// normalisation, printing, mismatches, and new.
//
// Values are those of package data. The language has more than data has a notation
// for: default is the symbol of that name, and types, regular expressions, secrets
// and versions are rich values. Nothing here evaluates programs; a type that is
// read from text consists of constants.
package types

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// A Type is a type of the language. It does not change, and may be shared. The
// zero value of the interface is no type.
type Type interface {
	// String returns the type as Puppet prints it; aliases have their definition
	// behind them. Rule LANG-TYPE-22.
	String() string
	// Equal reports whether both are the same type, also in what String does not
	// show: the text that is the only instance of a String.
	Equal(o Type) bool
	print(p *printer)
}

// A plain type has no parameters.
type plain string

// Plain types. Object is that of all objects, TypeSet that of all sets.
const (
	anyType      plain = "Any"
	undefType    plain = "Undef"
	defaultType  plain = "Default"
	unitType     plain = "Unit"
	scalarType   plain = "Scalar"
	scalarData   plain = "ScalarData"
	numericType  plain = "Numeric"
	binaryType   plain = "Binary"
	rangeType    plain = "SemVerRange"
	catalogEntry plain = "CatalogEntry"
	objectType   plain = "Object"
	typeSetType  plain = "TypeSet"
)

// Types of scalars. Rules LANG-TYPE-02, LANG-TYPE-03, LANG-TYPE-04.
type (
	integerType struct {
		interval
		big string // the only instance, if it is beyond 64 bits; the interval is open
	}

	// floatType is unbounded where an end is infinite.
	floatType struct{ from, to float64 }

	// stringType has a size, or a text that is its only instance, or neither.
	stringType struct {
		size    *interval
		value   string
		literal bool
	}

	// enumType has its values in order, each of them once.
	enumType struct {
		values []string
		fold   bool // case does not matter
	}

	// patternType accepts every string if it has no patterns.
	patternType struct{ patterns []*regex }

	// regexpType accepts every regular expression if it names none.
	regexpType struct{ pattern *regex }

	booleanType struct{ only *bool }

	timestampType struct{ period } // since 1970
	timespanType  struct{ period }

	// versionType accepts every version if it has no ranges.
	versionType struct{ ranges []versions }

	uriType struct{ parts data.Value } // a hash, or nil
)

// Types of collections. A size that is nil is any. Rule LANG-TYPE-05.
type (
	collectionType struct{ size *interval }

	arrayType struct {
		element Type
		size    *interval
	}

	hashType struct {
		key, value Type
		size       *interval
	}

	// tupleType repeats its last type if its size allows more elements.
	tupleType struct {
		types []Type
		size  *interval
	}

	structType struct{ members []member }
)

// A member is an entry of a Struct. Its key is the type of a literal string, or
// Optional of it.
type member struct {
	name     string
	optional bool // the key may be missing
	value    Type
}

func (m member) key() Type {
	key := Type(stringType{value: m.name, literal: true})
	if m.optional {
		return containedType{optionalOf, key}
	}
	return key
}

// A container is the name of a type that has one other type as its parameter.
type container string

// Containers.
const (
	optionalOf  container = "Optional"
	notUndefOf  container = "NotUndef"
	iterableOf  container = "Iterable"
	iteratorOf  container = "Iterator"
	typeOf      container = "Type"
	sensitiveOf container = "Sensitive"
)

// Types of types. Rules LANG-TYPE-06 to LANG-TYPE-09.
type (
	variantType struct{ types []Type }

	// containedType has no inner type if none was given.
	containedType struct {
		container
		inner Type
	}

	// initType has no inner type if none was given.
	initType struct {
		inner Type
		args  []data.Value
	}

	// callableType has no params if none were given.
	callableType struct {
		params *tupleType
		block  Type // nil if no block is taken
		result Type // nil if any
	}

	classType struct{ name string } // "" is any class

	// resourceType accepts all resources if it has no name, and those of all titles
	// if it has no title.
	resourceType struct {
		name  string
		title *string
	}

	runtimeType struct{ runtime, name string }

	// referenceType is a name that means nothing.
	referenceType struct{ text string }

	// aliasType is a name for another type, and perhaps part of that.
	aliasType struct {
		name     string
		resolved Type
		builtin  bool // its definition is not shown

		// recursive is whether the alias is part of its own definition.
		recursive bool
	}
)

func newEnum(values []string, fold bool) enumType { return enumType{sortedSet(values), fold} }

// newArray knows that an array without elements has none of any type.
func newArray(element Type, size *interval) arrayType {
	if size != nil && size.isZero() {
		element = unitType
	}
	if element == nil {
		element = anyType
	}
	return arrayType{element, size.toSize()}
}

func newHash(key, value Type, size *interval) hashType {
	if size != nil && size.isZero() {
		key, value = unitType, unitType
	}
	if key == nil {
		key = anyType
	}
	if value == nil {
		value = anyType
	}
	return hashType{key, value, size.toSize()}
}

// newVariant returns the alternatives without doubles, or the only one.
func newVariant(types []Type) Type {
	types = distinct(flat(types))
	if len(types) == 1 {
		return types[0]
	}
	return variantType{types}
}

func flat(types []Type) []Type {
	var out []Type
	for _, t := range types {
		if v, ok := t.(variantType); ok {
			out = append(out, v.types...)
		} else {
			out = append(out, t)
		}
	}
	return out
}

// distinct returns the types without those that equal an earlier one.
func distinct(types []Type) []Type {
	seen := make(map[string]bool, len(types))
	var out []Type
	for _, t := range types {
		if key := exact(t); !seen[key] {
			seen[key] = !hasTimes(t)
			out = append(out, t)
		}
	}
	return out
}

// hasTimes reports whether t has bounds of times within, which Puppet takes for
// different whenever they were written twice. Those of one moment cancel out.
func hasTimes(t Type) bool {
	switch t := t.(type) {
	case timestampType:
		return !t.isUnlimited() && t.period != at(t.from)
	case timespanType:
		return !t.isUnlimited() && t.period != at(t.from)
	}
	return slices.ContainsFunc(parts(t), hasTimes)
}

// newSensitive knows no details of what is secret.
func newSensitive(inner Type) Type {
	if inner != nil {
		inner = generalize(inner)
		if inner == anyType {
			inner = nil
		}
	}
	return containedType{sensitiveOf, inner}
}

func newNotUndef(inner Type) Type {
	if inner == anyType {
		inner = nil
	}
	return containedType{notUndefOf, inner}
}

func newCallable(params *tupleType, block, result Type) callableType {
	if result == anyType {
		result = nil
	}
	return callableType{params, block, result}
}

func stringOf(s string) stringType { return stringType{value: s, literal: true} }

func sized(from, to int64) *interval { return &interval{from: from, to: to} }

// resolve returns the type that an alias is a name for.
func resolve(t Type) Type {
	for {
		alias, ok := t.(*aliasType)
		if !ok {
			return t
		}
		t = alias.resolved
	}
}

// isContained reports whether t is a type of one container.
func isContained(t Type, c container) (inner Type, ok bool) {
	x, ok := t.(containedType)
	if !ok || x.container != c {
		return nil, false
	}
	return x.inner, true
}

// FullName is the name of a class or a resource type as Puppet prints it.
func FullName(name string) string {
	if name != "" && name[0] >= 'A' && name[0] <= 'Z' {
		return name
	}
	parts := strings.Split(name, "::")
	for i, part := range parts {
		parts[i] = capitalize(part)
	}
	return strings.Join(parts, "::")
}

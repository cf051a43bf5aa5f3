package types

import (
	"indirtui/indirector/data"
)

// This file is what an evaluator looks at in types and rich values.

// Assignable reports whether a type accepts another: whether all instances of that are
// instances of the first. It does not, if a regular expression runs away. Rule LANG-TYPE-20.
func Assignable(t, o Type) (ok bool) {
	var err error
	defer caught(&err)
	return assignable(t, o)
}

// A RichKind is a kind of rich values.
type RichKind uint8

// Kinds of rich values. NoRich is every other value, ForeignRich one of another package.
const (
	NoRich RichKind = iota
	TypeRich
	RegexpRich
	SensitiveRich
	TimestampRich
	TimespanRich
	SemVerRich
	SemVerRangeRich
	BinaryRich
	URIRich
	ObjectRich
	ForeignRich
)

// KindOf returns the kind of a value.
func KindOf(v data.Value) RichKind {
	if v.Kind() != data.Rich {
		return NoRich
	}
	switch v.Rich().(type) {
	case typeValue:
		return TypeRich
	case *regex:
		return RegexpRich
	case secret:
		return SensitiveRich
	case timestamp:
		return TimestampRich
	case timespan:
		return TimespanRich
	case version:
		return SemVerRich
	case versions:
		return SemVerRangeRich
	case binary:
		return BinaryRich
	case uri:
		return URIRich
	case object:
		return ObjectRich
	}
	return ForeignRich
}

// Unwrap returns the value of a secret, and whether v is one.
func Unwrap(v data.Value) (data.Value, bool) {
	s, ok := v.Rich().(secret)
	if !ok {
		return v, false
	}
	return s.value, true
}

// Member returns the value of an attribute of an object, and whether it has one of the
// name.
func Member(v data.Value, name string) (data.Value, bool) {
	o, ok := v.Rich().(object)
	if !ok {
		return v, false
	}
	return o.get(name)
}

// RegexpSource returns the source of a regular expression, and whether v is one.
func RegexpSource(v data.Value) (string, bool) {
	r, ok := v.Rich().(*regex)
	if !ok {
		return "", false
	}
	return r.source, true
}

// PatternsOf returns the sources of the regular expressions of a type Regexp or Pattern,
// and whether v is one.
func PatternsOf(v data.Value) ([]string, bool) {
	t, ok := AsType(v)
	if !ok {
		return nil, false
	}
	switch t := resolve(t).(type) {
	case regexpType:
		if t.pattern == nil {
			return nil, true
		}
		return []string{t.pattern.source}, true
	case patternType:
		sources := make([]string, len(t.patterns))
		for i, p := range t.patterns {
			sources[i] = p.source
		}
		return sources, true
	}
	return nil, false
}

// Resolved returns what an alias stands for, and every other type as it is.
func Resolved(t Type) Type { return resolve(t) }

// Normalize returns the normal form of a type, which messages about several types show.
func Normalize(t Type) Type { return normalize(t) }

// ArrayOf returns the type of the elements of an Array type, and how many there may be; most is
// -1 if there is no end. It is false if t is none.
func ArrayOf(t Type) (element Type, least, most int, ok bool) {
	a, ok := resolve(t).(arrayType)
	if !ok {
		return nil, 0, 0, false
	}
	if a.size == nil {
		return a.element, 0, -1, true
	}
	most = -1
	if !a.size.noTo {
		most = int(a.size.to)
	}
	return a.element, int(a.size.from), most, true
}

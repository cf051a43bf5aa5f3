package types

import (
	"encoding/base64"

	"indirtui/indirector/data"
)

// Values of the language that data has no notation for. Rule LANG-VAL-01.
type (
	// typeValue is a type as a value.
	typeValue struct{ Type }

	// secret is a value that is not shown.
	secret struct{ value data.Value }

	// A timestamp is a point in time, since 1970 in UTC, and a timespan a length. To Ruby each
	// is an object of its own, as a key of a hash.
	timestamp struct{ *moment }
	timespan  struct{ *moment }

	binary string
	uri    string
)

// An Object is an instance of an Object type: of one that a program defines, or of one of
// this program.
type Object interface {
	data.RichValue
	ObjectType() Type
}

// defaultWord is the value default.
const defaultWord = "default"

// OfType returns the value of the language that is a type.
func OfType(t Type) data.Value { return data.OfRich(typeValue{t}) }

// AsType returns the type that v is, if it is one.
func AsType(v data.Value) (Type, bool) {
	t, ok := v.Rich().(typeValue)
	return t.Type, ok
}

// OfDefault returns the value default.
func OfDefault() data.Value { return data.OfSymbol(defaultWord) }

func isDefault(v data.Value) bool { return v.Kind() == data.Symbol && v.Str() == defaultWord }

func (t typeValue) EqualRich(o data.RichValue) bool {
	x, ok := o.(typeValue)
	return ok && equal(t.Type, x.Type)
}

func (secret) String() string { return "Sensitive [value redacted]" }

func (s secret) EqualRich(o data.RichValue) bool {
	x, ok := o.(secret)
	return ok && data.Equal(s.value, x.value)
}

func (t timestamp) String() string { return t.timestamp() }

func (t timestamp) EqualRich(o data.RichValue) bool {
	x, ok := o.(timestamp)
	return ok && *t.moment == *x.moment
}

func (t timespan) String() string { return t.timespan() }

func (t timespan) EqualRich(o data.RichValue) bool {
	x, ok := o.(timespan)
	return ok && *t.moment == *x.moment
}

func (b binary) String() string { return base64.StdEncoding.EncodeToString([]byte(b)) }

func (b binary) EqualRich(o data.RichValue) bool { return b == o }

func (u uri) String() string { return string(u) }

func (u uri) EqualRich(o data.RichValue) bool { return u == o }

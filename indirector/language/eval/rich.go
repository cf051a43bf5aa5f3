package eval

import (
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// This file is what the evaluator knows of the rich values of package types.

// A richKind is a kind of rich values.
type richKind uint8

const (
	notRich richKind = iota
	isType
	isRegexp
	isSensitive
	isTimestamp
	isTimespan
	isVersion
	isVersions
	isBinary
	isURI
	isIterator
)

// richNames are the names of kinds in messages.
var richNames = [...]string{
	isRegexp: "Regexp", isSensitive: "Sensitive", isTimestamp: "Timestamp", isTimespan: "Timespan", isBinary: "Binary",
	isVersion: "SemVer", isVersions: "SemVerRange", isURI: "URI", isIterator: "Iterator",
}

// richKinds are the kinds of package types that matter here.
var richKinds = [...]richKind{
	types.TypeRich: isType, types.RegexpRich: isRegexp, types.SensitiveRich: isSensitive, types.TimestampRich: isTimestamp,
	types.TimespanRich: isTimespan, types.SemVerRich: isVersion, types.SemVerRangeRich: isVersions, types.BinaryRich: isBinary,
	types.URIRich: isURI, types.ForeignRich: notRich,
}

// richTypes are types that values are made of, and converted through.
var richTypes = sync.OnceValue(func() map[string]types.Type {
	all := map[string]types.Type{}
	for _, name := range []string{"Regexp", "Sensitive", "SemVer", "SemVerRange", "Binary", "URI", "Timestamp", "Timespan", "String", "Class", "Resource", "Integer", "Float", "Iterator", "Iterable", "Variant", "Type", "Error"} {
		all[name] = MustType(name)
	}
	return all
})

// MustType returns the type of a text, which is one of this program.
func MustType(text string) types.Type { return mustType(text, nil) }

func mustType(text string, lookup types.Lookup) types.Type {
	t, err := types.Parse(text, lookup)
	if err != nil {
		panic("eval: type " + text + ": " + err.Error())
	}
	return t
}

func kindOf(v data.Value) richKind {
	if v.Kind() != data.Rich {
		return notRich
	}
	if _, ok := v.Rich().(*Iterator); ok {
		return isIterator
	}
	return richKinds[types.KindOf(v)]
}

// isIterating reports whether a value is an iterator of the language.
func isIterating(v data.Value) bool {
	it, ok := v.Rich().(*Iterator)
	return ok && it.Tree == ""
}

func isTime(k richKind) bool { return k == isTimestamp || k == isTimespan }

func newRich(name string, args ...data.Value) (data.Value, error) {
	return types.New(richTypes()[name], args)
}

func newRegexp(source string) (data.Value, error) { return newRich("Regexp", data.OfString(source)) }

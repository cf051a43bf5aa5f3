package hiera

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// inferType is the type that Puppet infers for a value: for collections a common
// type of what they hold, and their size.
func inferType(v data.Value) string {
	switch v.Kind() {
	case data.List:
		if v.Len() == 0 {
			return "Array[0, 0]"
		}
		return fmt.Sprintf("Array[%s, %[2]d, %[2]d]", commonType(v.List()), v.Len())
	case data.Hash:
		if v.Len() == 0 {
			return "Hash[0, 0]"
		}
		keys, values := make([]data.Value, v.Len()), make([]data.Value, v.Len())
		for i, p := range v.Hash() {
			keys[i], values[i] = p.Key, p.Value
		}
		return fmt.Sprintf("Hash[%s, %s, %[3]d, %[3]d]", commonType(keys), commonType(values), v.Len())
	default:
		return inferred(v, true)
	}
}

// commonType is the narrowest type that Puppet finds for all of several values.
func commonType(values []data.Value) string {
	all := func(f func(data.Value) bool) bool {
		return !slices.ContainsFunc(values, func(v data.Value) bool { return !f(v) })
	}
	ofKind := func(kinds ...data.Kind) func(data.Value) bool {
		return func(v data.Value) bool { return slices.Contains(kinds, v.Kind()) }
	}
	first := inferType(values[0])
	switch {
	case all(ofKind(data.String)):
		return commonText(values)
	case all(func(v data.Value) bool { return inferType(v) == first }):
		return first
	case all(ofKind(data.Bool)):
		return "Boolean"
	case all(ofKind(data.Int)):
		low, high := values[0].Int(), values[0].Int()
		for _, v := range values {
			low, high = min(low, v.Int()), max(high, v.Int())
		}
		return fmt.Sprintf("Integer[%d, %d]", low, high)
	case all(ofKind(data.Int, data.Big, data.Float)):
		return "Numeric"
	case all(func(v data.Value) bool { return isScalar(v.Kind()) }):
		return "ScalarData"
	case all(func(v data.Value) bool { return isData(v, 0) }):
		return "Data"
	case all(func(v data.Value) bool { return isRich(v, 0) }):
		return "RichData"
	}
	return "Any"
}

// commonText is the type of texts: the texts themselves.
func commonText(values []data.Value) string {
	var words []string
	for _, v := range values {
		if w := "'" + v.Str() + "'"; !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	if len(words) == 1 {
		return "String"
	}
	return "Enum[" + strings.Join(words, ", ") + "]"
}

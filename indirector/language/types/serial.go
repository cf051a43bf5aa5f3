package types

import (
	"strings"

	"indirtui/indirector/data"
)

// The keys of rich data, the notation that Puppet has for rich values in plain data.
const (
	richName  = "__ptype"
	richValue = "__pvalue"
)

// ToData returns a value as rich data, which every format can write, and whether there
// is a secret in it. A type is written by its text.
func ToData(v data.Value) (plain data.Value, hasSecret bool) {
	switch v.Kind() {
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			y, secret := ToData(x)
			l[i], hasSecret = y, hasSecret || secret
		}
		return data.OfList(l), hasSecret
	case data.Hash:
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			key, inKey := ToData(p.Key)
			value, inValue := ToData(p.Value)
			h[i], hasSecret = data.Pair{Key: key, Value: value}, hasSecret || inKey || inValue
		}
		return data.OfHash(h), hasSecret
	case data.Symbol:
		if isDefault(v) {
			return data.OfHash([]data.Pair{data.P(richName, data.OfString("Default"))}), false
		}
	case data.Rich:
		return richToData(v)
	}
	return v, false
}

func richToData(v data.Value) (data.Value, bool) {
	name, inner, hasSecret := "", data.OfString(v.Rich().String()), false
	switch r := v.Rich().(type) {
	case secret:
		name, hasSecret = "Sensitive", true
		inner, _ = ToData(r.value)
	case *regex:
		name, inner = "Regexp", data.OfString(r.source)
	case object:
		return r.toData()
	default:
		name = nameOf(Infer(v))
	}
	return data.OfHash([]data.Pair{data.P(richName, data.OfString(name)), data.P(richValue, inner)}), hasSecret
}

// OfData is the reverse of ToData. What is no notation of a rich value stays as it is.
func OfData(v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		return data.OfList(mappedValues(v.List(), OfData))
	case data.Hash:
		if name := v.Get(richName).Str(); name != "" {
			if r, ok := richOfData(name, v.Get(richValue)); ok {
				return r
			}
		}
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			h[i] = data.Pair{Key: OfData(p.Key), Value: OfData(p.Value)}
		}
		return data.OfHash(h)
	default:
		return v
	}
}

func mappedValues(l []data.Value, change func(data.Value) data.Value) []data.Value {
	out := make([]data.Value, len(l))
	for i, x := range l {
		out[i] = change(x)
	}
	return out
}

func richOfData(name string, inner data.Value) (data.Value, bool) {
	switch name {
	case "Default":
		return OfDefault(), true
	case "Sensitive":
		return data.OfRich(secret{OfData(inner)}), true
	case "Timestamp", "Timespan", "SemVer", "SemVerRange", "Binary", "URI", "Regexp", "Type":
		v, err := New(standard()[strings.ToLower(name)], []data.Value{inner})
		return v, err == nil
	}
	return data.Value{}, false
}

package sqlstore

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
)

// appendJSON appends a value as the store keeps it: compact JSON that is UTF-8, without
// NUL, which PostgreSQL cannot read again.
func appendJSON(b []byte, v data.Value) ([]byte, error) {
	if hasRich(v) {
		v = repaired(v)
	}
	n := len(b)
	out, err := format.AppendJSON(b, v)
	if err == nil && !bytes.Contains(out[n:], []byte(`\u0000`)) {
		return out, nil
	}
	if err != nil {
		raw, _ := format.AppendPSON(nil, v)
		if utf8.Valid(raw) {
			return b, err
		}
	}
	return format.AppendJSON(b, repaired(v))
}

// hasRich reports whether a value has something that is no JSON. Commands that are made
// of instances have none.
func hasRich(v data.Value) bool {
	switch v.Kind() {
	case data.Rich:
		return true
	case data.List:
		return slices.ContainsFunc(v.List(), hasRich)
	case data.Hash:
		return slices.ContainsFunc(v.Hash(), func(p data.Pair) bool { return hasRich(p.Value) })
	}
	return false
}

// repaired returns a value whose texts can be stored.
func repaired(v data.Value) data.Value {
	switch v.Kind() {
	case data.String, data.Symbol:
		return data.OfString(valid(v.Str()))
	case data.Rich:
		return data.OfString(valid(v.Rich().String()))
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			l[i] = repaired(x)
		}
		return data.OfList(l)
	case data.Hash:
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			h[i] = data.Pair{Key: data.OfString(valid(p.Key.Text())), Value: repaired(p.Value)}
		}
		return data.OfHash(h)
	}
	return v
}

// sortedByKey returns the pairs of a hash by the text of their keys.
func sortedByKey(v data.Value) []data.Pair {
	pairs := v.Hash()
	byKey := func(a, b data.Pair) int { return cmp.Compare(a.Key.Text(), b.Key.Text()) }
	if slices.IsSortedFunc(pairs, byKey) {
		return pairs
	}
	pairs = slices.Clone(pairs)
	slices.SortStableFunc(pairs, byKey)
	return pairs
}

// decode reads what appendJSON has written.
func decode(text string) (data.Value, error) {
	if text == "" {
		return data.Value{}, nil
	}
	return format.DecodeJSON([]byte(text), format.Limits{})
}

package facter

import "indirtui/indirector/data"

// DecodeAll reads s as each kind of file, for fuzzing.
func DecodeAll(s string) {
	for _, decode := range decoders {
		if v, err := decode(s); err == nil {
			_, _ = facts(v)
		}
	}
}

// Stringify makes strings of symbols, as JSON does.
func Stringify(v data.Value) data.Value {
	switch v.Kind() {
	case data.Symbol:
		return data.OfString(v.Str())
	case data.Hash:
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			h[i] = data.Pair{Key: Stringify(p.Key), Value: Stringify(p.Value)}
		}
		return data.OfHash(h)
	}
	return v
}

package types

import (
	"strings"

	"indirtui/indirector/data"
)

// A pairing is how a property that is a list of "key=value" joins them, and which
// parameter is minimum where those that are there stay.
type pairing struct{ separator, membership string }

// keyValues makes a property a hash, which may be given as such or as texts "key=value".
func keyValues(a Attribute, p pairing) *Attribute {
	a.Validate = func(_ *Resource, v data.Value) error {
		switch {
		case v.Kind() == data.Hash:
			return nil
		case v.Kind() != data.String:
			return refuse("The %s property must be specified as a hash or an array of key/value pairs (strings)!", a.Name)
		case !strings.Contains(v.Str(), "="):
			return refuse("Key/value pairs must be separated by '='")
		}
		return nil
	}
	a.Munge = func(_ *Resource, v data.Value) (data.Value, error) {
		var pairs []data.Pair
		for _, q := range v.Hash() {
			pairs = append(pairs, data.Pair{Key: data.OfSymbol(strings.TrimSpace(q.Key.Text())), Value: data.OfString(q.Value.Text())})
		}
		if v.Kind() == data.Hash {
			return data.OfHash(pairs), nil
		}
		return v, nil
	}
	a.Wanted = func(r *Resource, should []data.Value, is data.Value) data.Value {
		if r.Value(p.membership).Str() == "inclusive" {
			is = data.Value{}
		}
		for _, q := range pairsOf(should) {
			is = is.With(q.Key.Str(), q.Value)
		}
		return is
	}
	a.InSync = func(r *Resource, is data.Value) (bool, error) {
		return is.IsNil() || data.Equal(is, r.Wanted(a.Name, is)), nil
	}
	show := func(_ *Resource, v data.Value) string { return joinPairs(v, p.separator) }
	a.ShowIs, a.ShowShould = show, show
	return &a
}

// pairsOf are the pairs of a hash, or of texts "key=value".
func pairsOf(should []data.Value) []data.Pair {
	if len(should) > 0 && should[0].Kind() == data.Hash {
		return should[0].Hash()
	}
	var pairs []data.Pair
	for _, v := range should {
		key, value, _ := strings.Cut(v.Str(), "=")
		value, _, _ = strings.Cut(value, "=")
		pairs = append(pairs, data.Pair{Key: data.OfSymbol(strings.TrimSpace(key)), Value: data.OfString(value)})
	}
	return pairs
}

func joinPairs(v data.Value, separator string) string {
	var texts []string
	for _, p := range v.Hash() {
		texts = append(texts, p.Key.Text()+"="+p.Value.Text())
	}
	return strings.Join(texts, separator)
}

package hiera

import (
	"cmp"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// deepOptions are the options of deep merging. Rule HIERA-MRG-04.
type deepOptions struct {
	knockout                string // prefix of what removes; "" is none
	refused                 bool   // an empty prefix was given
	sort                    bool
	position                bool // hashes in arrays are merged by their positions
	extend, overwrite, keep bool
	unpack                  string
}

func (s *strategy) deepOptions() deepOptions {
	o := s.options
	prefix := o.Get("knockout_prefix")
	return deepOptions{
		knockout: prefix.Text(), refused: prefix.Kind() == data.String && prefix.Len() == 0,
		sort: o.Get("sort_merged_arrays").Truthy(), position: o.Get("merge_hash_arrays").Truthy(),
		extend: o.Get("extend_existing_arrays").Truthy(), overwrite: o.Get("overwrite_arrays").Truthy(),
		keep: o.Get("preserve_unmergeables").Truthy(), unpack: o.Get("unpack_arrays").Text(),
	}
}

// deepMerge merges source, of higher priority, into dest as the library deep_merge
// does, and returns what is left of source, from which it takes what only knocks
// out.
func deepMerge(source, dest data.Value, o deepOptions) (merged, left data.Value, err error) {
	switch {
	case o.refused:
		return merged, source, &Error{Class: WrongMerge, Message: "knockout_prefix cannot be an empty string in deep_merge!"}
	case o.knockout != "" && o.keep:
		return merged, source, &Error{Class: WrongMerge, Message: "overwrite_unmergeable must be true if knockout_prefix is specified in deep_merge!"}
	case source.IsNil():
		return dest, source, nil
	case !dest.Truthy() && !o.keep:
		return source, source, nil
	}
	switch source.Kind() {
	case data.Hash:
		return o.hash(source, dest)
	case data.List:
		return o.list(source, dest)
	}
	if dest.Kind() == data.List && o.extend {
		return data.OfList(append(slices.Clone(dest.List()), source)), source, nil
	}
	merged, left = o.over(source, dest)
	return merged, left, nil
}

func (o deepOptions) hash(source, dest data.Value) (merged, left data.Value, err error) {
	if source.Len() == 0 {
		return dest, source, nil
	}
	if dest.Kind() != data.Hash {
		if dest.Kind() == data.List && o.extend {
			return data.OfList(append(slices.Clone(dest.List()), source)), source, nil
		}
		if !o.keep {
			dest, source = o.over(source, dest)
		}
		return dest, source, nil
	}
	out := slices.Clone(dest.Hash())
	rest := slices.Clone(source.Hash())
	for i, p := range rest {
		at := slices.IndexFunc(out, func(x data.Pair) bool { return data.Equal(x.Key, p.Key) })
		below := p.Value
		if at >= 0 && out[at].Value.Truthy() {
			below = out[at].Value
		}
		v, remains, err := deepMerge(p.Value, below, o)
		if err != nil {
			return dest, source, err
		}
		rest[i].Value = remains
		if at >= 0 {
			out[at].Value = v
			continue
		}
		out = append(out, data.Pair{Key: p.Key, Value: v})
	}
	return data.OfHash(out), leftOf(source, rest), nil
}

// leftOf is source itself unless something was taken from it.
func leftOf(source data.Value, rest []data.Pair) data.Value {
	if v := data.OfHash(rest); !data.Equal(v, source) {
		return v
	}
	return source
}

func (o deepOptions) list(source, dest data.Value) (merged, left data.Value, err error) {
	if o.overwrite {
		return source, source, nil
	}
	if o.unpack != "" {
		source = data.OfStrings(unpack(source, o.unpack))
		if dest.Kind() == data.List {
			dest = data.OfStrings(unpack(dest, o.unpack))
		}
	}
	if o.knockout != "" && slices.ContainsFunc(source.List(), func(v data.Value) bool { return isText(v, o.knockout) }) {
		// The prefix alone knocks everything out.
		dest = cleared(dest)
		source = data.OfList(removed(source.List(), data.OfString(o.knockout)))
	}
	if dest.Kind() != data.List {
		if !o.keep {
			dest, source = o.over(source, dest)
		}
		return dest, source, nil
	}
	if o.knockout != "" {
		source, dest = o.knock(source, dest)
	}
	switch {
	case o.position && allHashes(source) && allHashes(dest):
		if dest, err = o.positions(source, dest); err != nil {
			return dest, source, err
		}
	default:
		dest = data.OfList(unique(append(slices.Clone(dest.List()), source.List()...)))
	}
	if o.sort {
		if dest, err = sorted(dest); err != nil {
			return dest, source, err
		}
	}
	return dest, source, nil
}

// knock removes from dest what source knocks out, and that from source.
func (o deepOptions) knock(source, dest data.Value) (left, rest data.Value) {
	var kept []data.Value
	knocked := false
	for _, v := range source.List() {
		item, ok := o.knocks(v)
		if !ok {
			kept = append(kept, v)
			continue
		}
		knocked = true
		dest = data.OfList(removed(removed(dest.List(), item), v))
	}
	if !knocked {
		return source, dest
	}
	return data.OfList(kept), dest
}

// knocks returns what a text with the prefix knocks out. Each line of a text may
// have it, as Ruby's ^ is the beginning of a line.
func (o deepOptions) knocks(v data.Value) (data.Value, bool) {
	if v.Kind() != data.String {
		return v, false
	}
	lines := strings.SplitAfter(v.Str(), "\n")
	found := false
	for i, l := range lines {
		if rest, ok := strings.CutPrefix(l, o.knockout); ok {
			lines[i], found = rest, true
		}
	}
	return data.OfString(strings.Join(lines, "")), found
}

func (o deepOptions) positions(source, dest data.Value) (data.Value, error) {
	var out []data.Value
	for i, d := range dest.List() {
		s := data.OfHash(nil)
		if i < source.Len() {
			s = source.List()[i]
		}
		v, _, err := deepMerge(s, d, o)
		if err != nil {
			return dest, err
		}
		out = append(out, v)
	}
	if source.Len() > dest.Len() {
		out = append(out, source.List()[dest.Len():]...)
	}
	return data.OfList(out), nil
}

// over replaces what cannot be merged. A text that only knocks out leaves "".
func (o deepOptions) over(source, dest data.Value) (merged, left data.Value) {
	if o.keep {
		return dest, source
	}
	if o.knockout == "" {
		return source, source
	}
	switch source.Kind() {
	case data.String:
		if _, ok := o.knocks(source); ok {
			return data.OfString(""), source
		}
	case data.List:
		// Ruby removes in place, and compares the array with itself.
		kept := slices.DeleteFunc(slices.Clone(source.List()), func(v data.Value) bool { _, ok := o.knocks(v); return ok })
		if len(kept) < source.Len() {
			return data.OfList(kept), data.OfList(kept)
		}
	}
	return source, source
}

func isText(v data.Value, s string) bool { return v.Kind() == data.String && v.Str() == s }

func allHashes(v data.Value) bool {
	return !slices.ContainsFunc(v.List(), func(e data.Value) bool { return e.Kind() != data.Hash })
}

// cleared is what Ruby's clear leaves; what has none becomes nil.
func cleared(v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		return data.OfList(nil)
	case data.Hash:
		return data.OfHash(nil)
	case data.String:
		return data.OfString("")
	default:
		return data.Value{}
	}
}

func removed(list []data.Value, v data.Value) []data.Value {
	return slices.DeleteFunc(slices.Clone(list), func(e data.Value) bool { return data.Equal(e, v) })
}

func unpack(v data.Value, sep string) []string {
	var parts []string
	for _, e := range flat(v) {
		parts = append(parts, e.Text())
	}
	split := strings.Split(strings.Join(parts, sep), sep)
	for len(split) > 0 && split[len(split)-1] == "" {
		split = split[:len(split)-1]
	}
	return split
}

// sorted sorts as Ruby does, which compares numbers with numbers and texts with
// texts only.
func sorted(v data.Value) (data.Value, error) {
	list := slices.Clone(v.List())
	err := data.Sort(list, func(a, b data.Value) (int, error) {
		n, ok := compare(a, b)
		if !ok {
			return 0, argumentError("comparison of %s with %s failed", data.RubyClass(a), comparand(b))
		}
		return n, nil
	})
	return data.OfList(list), err
}

// comparand is how Ruby names the value that another cannot be compared with.
func comparand(v data.Value) string {
	switch v.Kind() {
	case data.Nil, data.Bool, data.Int, data.Float, data.Big:
		return v.Inspect()
	default:
		return data.RubyClass(v)
	}
}

func compare(a, b data.Value) (int, bool) {
	number := func(v data.Value) bool { return v.Kind() == data.Int || v.Kind() == data.Float }
	switch {
	case a.Kind() == data.String && b.Kind() == data.String:
		return strings.Compare(a.Str(), b.Str()), true
	case a.Kind() == data.Int && b.Kind() == data.Int:
		return cmp.Compare(a.Int(), b.Int()), true
	case number(a) && number(b):
		return cmp.Compare(float(a), float(b)), true
	case a.Kind() == data.List && b.Kind() == data.List:
		for i := range min(a.Len(), b.Len()) {
			if n, ok := compare(a.List()[i], b.List()[i]); n != 0 || !ok {
				return n, ok
			}
		}
		return cmp.Compare(a.Len(), b.Len()), true
	}
	return 0, data.Equal(a, b)
}

func float(v data.Value) float64 {
	if v.Kind() == data.Int {
		return float64(v.Int())
	}
	return v.Float()
}

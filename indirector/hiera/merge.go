package hiera

import (
	"slices"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// A strategy is how several values of a key become one. Rules HIERA-MRG-01 to
// HIERA-MRG-04.
type strategy struct {
	name    string
	options data.Value // a hash; nil if none were given
}

// The strategies without options.
var (
	firstFound   = &strategy{name: "default"}
	hashStrategy = &strategy{name: "hash"}
	strategies   = map[string]*strategy{
		"default": firstFound, "first": {name: "first"}, "hash": hashStrategy, "unique": {name: "unique"},
		"deep": {name: "deep"}, "unconstrained_deep": {name: "deep"}, "reverse_deep": {name: "reverse_deep"},
	}
)

// strategy returns the strategy for a merge: nil, a name, or a hash with the
// name and options.
func (c *Compile) strategy(merge data.Value) (*strategy, error) {
	if !merge.Truthy() {
		return firstFound, nil
	}
	name, options := merge, data.Value{}
	if merge.Kind() == data.Hash {
		if name = merge.Get("strategy"); name.IsNil() {
			return nil, argumentError("The hash given as 'merge' must contain the name of a strategy in string form for the key 'strategy'")
		}
		if merge.Len() > 1 {
			options = merge
		}
	}
	plain, ok := strategies[name.Text()]
	if !ok {
		return nil, argumentError("Unknown merge strategy: '%s'", name.Text())
	}
	if options.IsNil() {
		return plain, nil
	}
	s := &strategy{name: name.Text(), options: options}
	return s, assertType("The merge options", settings[s.name](), options)
}

// value returns the strategy as a merge, to pass it on.
func (s *strategy) value() data.Value {
	switch {
	case s == firstFound:
		return data.Value{}
	case s.options.IsNil():
		return data.OfString(s.name)
	}
	return s.options
}

// shown are the options that are explained: all but the name.
func (s *strategy) shown() (data.Value, bool) {
	rest := s.options.Without("strategy")
	return rest, rest.Len() > 0
}

// over applies f to n variants and merges what they have. One alone is not merged.
// Rule HIERA-MRG-02.
func (in *invocation) over(s *strategy, n int, f func(i int) (data.Value, bool, error)) (v data.Value, found bool, err error) {
	switch {
	case s.name == "default" || s.name == "first":
		for i := range n {
			if v, found, err = f(i); found || err != nil {
				return v, found, err
			}
		}
		return data.Value{}, false, nil
	case n == 0:
		return v, false, nil
	case n == 1:
		v, found, err = f(0)
		if found && s.name == "unique" && v.Kind() == data.List {
			v = data.OfList(unique(v.List()))
		}
		return v, found, err
	}
	defer in.into(node{kind: mergeNode, of: s}).pop()
	for i := range n {
		next, ok, err := f(i)
		switch {
		case err != nil:
			return v, false, err
		case !ok:
		case !found:
			v, found = s.alone(next), true
		default:
			merged, left, err := s.mergeLeaving(v, next)
			if err != nil {
				return v, false, err
			}
			in.changed(v, left)
			v = merged
		}
	}
	if found {
		in.happened(resultEvent, v)
	}
	return v, found, nil
}

// alone is a first value before others are merged into it.
func (s *strategy) alone(v data.Value) data.Value {
	if s.name != "unique" {
		return v
	}
	return data.OfList(flat(v))
}

// merge merges a value of lower priority into one of higher priority.
func (s *strategy) merge(high, low data.Value) (data.Value, error) {
	v, _, err := s.mergeLeaving(high, low)
	return v, err
}

// mergeLeaving also returns what is left of the value of higher priority: deep
// merging removes from it what only knocks out, and Puppet's explanation shows what
// is left.
func (s *strategy) mergeLeaving(high, low data.Value) (merged, left data.Value, err error) {
	t := s.valueType()
	if err := assertType("The first element of the merge", t, high); err != nil {
		return merged, high, err
	}
	if err := assertType("The second element of the merge", t, low); err != nil {
		return merged, high, err
	}
	switch s.name {
	case "hash":
		return mergeHash(high, low), high, nil
	case "unique":
		return data.OfList(unique(append(flat(high), flat(low)...))), high, nil
	case "reverse_deep":
		merged, _, err := deepMerge(low, high, s.deepOptions())
		return merged, high, err
	default:
		return deepMerge(high, low, s.deepOptions())
	}
}

// mergeHash puts the keys of lower priority first; the higher wins.
func mergeHash(high, low data.Value) data.Value {
	out := slices.Clone(low.Hash())
	for _, p := range high.Hash() {
		if i := slices.IndexFunc(out, func(o data.Pair) bool { return data.Equal(o.Key, p.Key) }); i >= 0 {
			out[i].Value = p.Value
			continue
		}
		out = append(out, p)
	}
	return data.OfHash(out)
}

// flat is a list without lists in it, or a list of the one value.
func flat(v data.Value) []data.Value {
	if v.Kind() != data.List {
		return []data.Value{v}
	}
	var out []data.Value
	for _, e := range v.List() {
		if e.Kind() == data.List {
			out = append(out, flat(e)...)
			continue
		}
		out = append(out, e)
	}
	return out
}

// unique keeps the first of values that are the same. Rule HIERA-MRG-03.
func unique(list []data.Value) []data.Value {
	seen := make(map[string]bool, len(list))
	out := make([]data.Value, 0, len(list))
	for _, v := range list {
		id := string(data.AppendBinary(nil, v))
		if !seen[id] {
			seen[id] = true
			out = append(out, v)
		}
	}
	return out
}

// What the values, and the options, of strategies must be.
var (
	anyType       = ofType("Any")
	hashOfData    = ofType("Hash[String, Data]")
	scalarOrArray = ofType("Variant[Scalar, Array[Data]]")
	freeSettings  = ofType("Hash[String[1], Any]")
	deepSettings  = ofType("Struct[{strategy => Optional[Pattern[/deep/]], knockout_prefix => Optional[String], " +
		"merge_debug => Optional[Boolean], merge_hash_arrays => Optional[Boolean], sort_merged_arrays => Optional[Boolean]}]")

	// settings are what the options of each strategy must be.
	settings = map[string]func() types.Type{
		"default": noSettings("default"), "first": noSettings("first"), "hash": noSettings("hash"), "unique": noSettings("unique"),
		"deep": deepSettings, "unconstrained_deep": freeSettings, "reverse_deep": freeSettings,
	}
)

func noSettings(name string) func() types.Type {
	return ofType("Struct[{strategy => Optional[Pattern[/" + name + "/]]}]")
}

func (s *strategy) valueType() types.Type {
	switch s.name {
	case "hash":
		return hashOfData()
	case "unique":
		return scalarOrArray()
	}
	return anyType()
}

// changed puts what is left of a value in its place in the record.
func (in *invocation) changed(was, left data.Value) {
	if in.record == nil || data.Equal(was, left) {
		return
	}
	for i := range in.record.nodes {
		if n := &in.record.nodes[i]; n.event == foundEvent && same(n.value, was) {
			n.value = left
		}
	}
}

// same reports whether two values are one, not only equal.
func same(a, b data.Value) bool {
	if a.Kind() != b.Kind() || a.Len() != b.Len() || a.Len() == 0 {
		return false
	}
	switch a.Kind() {
	case data.List:
		return &a.List()[0] == &b.List()[0]
	case data.Hash:
		return &a.Hash()[0] == &b.Hash()[0]
	default:
		return false
	}
}

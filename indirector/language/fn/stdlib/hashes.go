package stdlib

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
)

// hashes are functions of hashes.
func hashes() map[string]older {
	return map[string]older{
		"deep_merge":          {least: 2, wrong: "deep_merge(): wrong number of arguments (%d; must be at least 2)", do: deepMerge},
		"delete_undef_values": {least: 1, wrong: "delete_undef_values(): Wrong number of arguments given (%d)", do: removeUndef},
		"delete_values":       {least: 2, most: 2, wrong: "delete_values(): Wrong number of arguments given (%d of 2)", do: removeValues},
		"dig44":               {least: 1, wrong: "dig44(): Wrong number of arguments given (%d for minimum 1)", do: dig44},
		"has_key":             {least: 2, most: 2, wrong: "has_key(): wrong number of arguments (%d; must be 2)", do: hasKey},
		"hash":                {least: 1, wrong: "hash(): Wrong number of arguments given (%d for 1)", do: hashOf},
		"join_keys_to_values": {least: 2, most: 2, wrong: "join_keys_to_values(): Takes exactly two arguments, but %d given.", do: joinKeys},
		"prefix":              {least: 1, wrong: "prefix(): Wrong number of arguments given (%d for 1)", do: affix("prefix", func(s, affix string) string { return affix + s })},
		"suffix":              {least: 1, wrong: "suffix(): Wrong number of arguments given (%d for 1)", do: affix("suffix", func(s, affix string) string { return s + affix })},
		"try_get_value":       {least: 1, wrong: "try_get_value(): Wrong number of arguments given (%d for minimum 1)", do: tryGetValue},
	}
}

// newHashes are those of Puppet's newer kind.
func newHashes() map[string][]way {
	return map[string][]way{
		"merge": {
			{"Variant[Hash[Scalar, Any], Undef, String[0, 0]] args*", func(c *call) (data.Value, error) {
				out := eval.NewHash(0)
				for _, v := range c.Args {
					putAll(out, v)
				}
				return out.Value(), nil
			}},
			{"Iterable args*; Callable[3, 3] &block", func(c *call) (data.Value, error) { return mergeBy(c, true) }},
			{"Iterable args*; Callable[2, 2] &block", func(c *call) (data.Value, error) { return mergeBy(c, false) }},
		},
	}
}

func putAll(out *eval.HashBuilder, h data.Value) {
	for _, p := range h.Hash() {
		out.Put(p.Key, p.Value)
	}
}

// mergeBy merges the hashes that a lambda returns; it is given what is merged so far,
// and the element, in front of which may be its place or key.
func mergeBy(c *call, three bool) (data.Value, error) {
	if len(c.Args) != 1 {
		return undef, eval.Errorf("wrong number of arguments (given %d, expected 1)", len(c.Args))
	}
	it, ok := eval.Elements(c.Args[0])
	if !ok {
		return undef, eval.Errorf("%s is not iterable", eval.Label(c.Args[0]))
	}
	merged, at := data.OfHash(nil), int64(0)
	for v := range it.Elements {
		args := []data.Value{merged, v}
		if three {
			args = []data.Value{merged, data.OfInt(at), v}
			if isHash(c.Args[0]) {
				args = []data.Value{merged, v.List()[0], v.List()[1]}
			}
		}
		r, err := c.Block.Call(args...)
		if three && eval.IsBreak(err) && !isHash(c.Args[0]) {
			break
		}
		if err != nil {
			return undef, err
		}
		if isHash(r) {
			out := eval.HashOf(merged)
			putAll(out, r)
			merged = out.Value()
			if err := c.Made(merged); err != nil {
				return undef, err
			}
		}
		at++
	}
	return merged, nil
}

// selected returns the pairs of a hash that are kept.
func selected(h data.Value, keep func(data.Pair) bool) data.Value {
	var out []data.Pair
	for _, p := range h.Hash() {
		if keep(p) {
			out = append(out, p)
		}
	}
	return data.OfHash(out)
}

func deepMerge(c *call) (data.Value, error) {
	out := data.OfHash(nil)
	for _, v := range c.Args {
		if isString(v) && v.Str() == "" {
			continue
		}
		if !isHash(v) {
			return undef, refusef("deep_merge: unexpected argument type %s, only expects hash arguments", eval.ClassName(v))
		}
		out = mergedDeep(out, v)
	}
	return out, nil
}

func mergedDeep(a, b data.Value) data.Value {
	out := eval.HashOf(a)
	for _, p := range b.Hash() {
		if old, ok := out.Get(p.Key); ok && isHash(old) && isHash(p.Value) {
			p.Value = mergedDeep(old, p.Value)
		}
		out.Put(p.Key, p.Value)
	}
	return out.Value()
}

func removeUndef(c *call) (data.Value, error) {
	switch v := c.Args[0]; {
	case isHash(v):
		return selected(v, func(p data.Pair) bool { return !p.Value.IsNil() }), nil
	case isList(v):
		return data.OfList(filter(v.List(), func(x data.Value) bool { return !x.IsNil() })), nil
	default:
		return undef, refusef("delete_undef_values(): expected an array or hash, got %s type  %s ", v.Text(), eval.ClassName(v))
	}
}

func removeValues(c *call) (data.Value, error) {
	h, item := c.Args[0], c.Args[1]
	if !isHash(h) {
		return undef, eval.Errorf("delete_values(): First argument must be a Hash. Given an argument of class %s.", eval.ClassName(h))
	}
	return selected(h, func(p data.Pair) bool { return !same(item, p.Value) }), nil
}

func dig44(c *call) (data.Value, error) {
	if len(c.Args) < 2 {
		return undef, refusef("dig44(): Wrong number of arguments given (%d for at least 2)", len(c.Args))
	}
	v, path := c.Args[0], c.Args[1]
	if !isHash(v) && !isList(v) {
		return undef, refusef("dig44(): first argument must be a hash or an array, given %s", eval.ClassName(v))
	}
	if !isList(path) {
		return undef, refusef("dig44(): second argument must be an array, given %s", eval.ClassName(path))
	}
	for _, key := range path.List() {
		switch {
		case isHash(v):
			v, _ = eval.Lookup(v, key)
		case isList(v):
			v = elementAt(v.List(), key)
		default:
			v = undef
		}
		if v.IsNil() {
			return c.Arg(2), nil
		}
	}
	return v, nil
}

// elementAt returns an element, or undef if the key is no number of one.
func elementAt(l []data.Value, key data.Value) data.Value {
	at := int64(0)
	switch {
	case isString(key):
		n, err := fn.ParseInteger(key.Str())
		if err != nil || !n.IsInt64() {
			return undef
		}
		at = n.Int64()
	case isNumber(key):
		at = fn.LeadingInteger(key)
	default:
		return undef
	}
	if at < 0 {
		at += int64(len(l))
	}
	if at < 0 || at >= int64(len(l)) {
		return undef
	}
	return l[at]
}

func hasKey(c *call) (data.Value, error) {
	h := c.Args[0]
	if !isHash(h) {
		return undef, refusef("has_key(): expects the first argument to be a hash, got %s which is of type %s", h.Inspect(), eval.ClassName(h))
	}
	_, ok := eval.Lookup(h, c.Args[1])
	return boolean(ok), nil
}

func hashOf(c *call) (data.Value, error) {
	if !isList(c.Args[0]) {
		return undef, refusef("hash(): Requires array to work with")
	}
	flat := eval.Flatten(c.Args[0].List())
	if len(flat)%2 != 0 {
		return undef, refusef("hash(): Unable to compute hash from array given")
	}
	out := eval.NewHash(len(flat) / 2)
	for i := 0; i < len(flat); i += 2 {
		out.Put(flat[i], flat[i+1])
	}
	return out.Value(), nil
}

func joinKeys(c *call) (data.Value, error) {
	h, separator := c.Args[0], c.Args[1]
	if !isHash(h) {
		return undef, eval.Errorf("join_keys_to_values(): The first argument must be a hash, but a %s was given.", eval.ClassName(h))
	}
	if !isString(separator) {
		return undef, eval.Errorf("join_keys_to_values(): The second argument must be a string, but a %s was given.", eval.ClassName(separator))
	}
	var out []data.Value
	for _, p := range h.Hash() {
		if !isList(p.Value) && p.Value.Text() == "undef" {
			out = append(out, str(p.Key.Text()))
			continue
		}
		values := []data.Value{p.Value}
		if isList(p.Value) {
			values = p.Value.List()
		}
		for _, v := range values {
			out = append(out, str(p.Key.Text()+separator.Str()+v.Text()))
		}
	}
	return data.OfList(out), nil
}

// affix returns a function that puts a text before or behind each element, or each key.
func affix(name string, join func(s, affix string) string) do {
	return func(c *call) (data.Value, error) {
		v, text := c.Args[0], c.Arg(1)
		if !isList(v) && !isHash(v) {
			return undef, refusef("%s(): expected first argument to be an Array or a Hash, got %s", name, v.Inspect())
		}
		if text.Truthy() && !isString(text) {
			return undef, refusef("%s(): expected second argument to be a String, got %s", name, text.Inspect())
		}
		if isList(v) {
			out := make([]data.Value, v.Len())
			for i, x := range v.List() {
				out[i] = str(join(x.Text(), text.Str()))
			}
			return data.OfList(out), nil
		}
		out := eval.NewHash(v.Len())
		for _, p := range v.Hash() {
			out.Put(str(join(p.Key.Text(), text.Str())), p.Value)
		}
		return out.Value(), nil
	}
}

func tryGetValue(c *call) (data.Value, error) {
	c.Log("warning", "try_get_value() DEPRECATED: this function is deprecated, please use dig() instead.")
	v, path, usual := c.Args[0], c.Arg(1), c.Arg(2)
	if !isHash(v) && !isList(v) || !path.Truthy() || isString(path) && path.Str() == "" {
		if usual.Truthy() {
			return usual, nil
		}
		return v, nil
	}
	separator := "/"
	if s := c.Arg(3); isString(s) {
		separator = s.Str()
	}
	if !isString(path) {
		return undef, noMethod("split", path)
	}
	var keys []data.Value
	for _, key := range rubySplit(path.Str(), separator) {
		if matches(`^\d+$`, key) {
			keys = append(keys, data.OfInt(fn.LeadingInteger(str(key))))
		} else {
			keys = append(keys, str(key))
		}
	}
	c.Log("warning", "dig() DEPRECATED: This function has been replaced in Puppet 4.5.0, please use dig44() for backwards compatibility or use the new version.")
	c.autoloader("loaded?", "dig44")
	c.autoloader("load", "dig44")
	return c.older("dig44", v, data.OfList(keys), usual)
}

// rubySplit splits at a text; empty parts at the end are dropped.
func rubySplit(s, separator string) []string {
	parts := strings.Split(s, separator)
	for len(parts) > 0 && parts[len(parts)-1] == "" {
		parts = parts[:len(parts)-1]
	}
	return parts
}

package fn

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

func collections() map[string][]eval.Way {
	return map[string][]eval.Way{
		"flatten": {way("Any args*", func(c *eval.Invocation) (data.Value, error) {
			return data.OfList(flat(c.Args)), nil
		})},
		"keys": {way("Hash hsh", func(c *eval.Invocation) (data.Value, error) {
			return column(c.Args[0], func(p data.Pair) data.Value { return p.Key }), nil
		})},
		"values": {way("Hash hsh", func(c *eval.Invocation) (data.Value, error) {
			return column(c.Args[0], func(p data.Pair) data.Value { return p.Value }), nil
		})},
		"sort": {way("String string_value; Callable[2, 2] &block?", sortText), way("Array array_value; Callable[2, 2] &block?", func(c *eval.Invocation) (data.Value, error) {
			l, err := sorted(c, c.Args[0].List())
			return data.OfList(l), err
		})},
		"unique": {
			way("String string; Callable[String] &block?", uniqueText),
			way("Hash hash; Callable[Any] &block?", uniqueHash),
			way("Array array; Callable[Any] &block?", uniqueList),
			way("Iterable iterable; Callable[Any] &block?", uniqueList),
		},
	}
}

// flat returns the elements of lists within lists; iterators are lists there.
func flat(l []data.Value) []data.Value { return slices.Clip(eval.Flatten(l)) }

func column(h data.Value, of func(data.Pair) data.Value) data.Value {
	out := make([]data.Value, h.Len())
	for i, p := range h.Hash() {
		out[i] = of(p)
	}
	return data.OfList(out)
}

// characters returns the characters of a text.
func characters(s string) []data.Value {
	out := make([]data.Value, 0, len(s))
	for _, r := range s {
		out = append(out, data.OfString(string(r)))
	}
	return out
}

func concatenated(l []data.Value) data.Value {
	var b strings.Builder
	for _, v := range l {
		b.WriteString(v.Text())
	}
	return data.OfString(b.String())
}

func sortText(c *eval.Invocation) (data.Value, error) {
	l, err := sorted(c, characters(c.Args[0].Str()))
	return concatenated(l), err
}

// sorted orders values by the lambda, or as Ruby does: numbers with numbers, texts by
// their bytes, lists by their elements.
func sorted(c *eval.Invocation, l []data.Value) ([]data.Value, error) {
	compare := rubyOrder
	if c.Block != nil {
		compare = byLambda(c)
	}
	out := slices.Clone(l)
	return out, data.Sort(out, compare)
}

func rubyOrder(a, b data.Value) (int, error) {
	switch {
	case a.Kind() == data.String && b.Kind() == data.String:
		return strings.Compare(a.Str(), b.Str()), nil
	case a.Kind() == data.List && b.Kind() == data.List:
		for i := range min(a.Len(), b.Len()) {
			if order, err := rubyOrder(a.List()[i], b.List()[i]); order != 0 || err != nil {
				return order, err
			}
		}
		return a.Len() - b.Len(), nil
	case a.Kind() == data.String || b.Kind() == data.String, a.Kind() == data.Symbol:
	case data.Equal(a, b):
		return 0, nil
	default:
		if order, err := eval.Compare(a, b); err == nil {
			return order, nil
		}
	}
	return 0, eval.Errorf("comparison of %s with %s failed", eval.ClassName(a), rubyOperand(b))
}

// rubyOperand is the other value: constants and numbers are shown themselves.
func rubyOperand(v data.Value) string {
	switch v.Kind() {
	case data.Nil, data.Bool, data.Int, data.Float:
		return v.Inspect()
	}
	return eval.RubyClass(v)
}

// unique returns the elements whose keys are different; the key is what the lambda makes
// of an element, or itself.
func unique(c *eval.Invocation, l []data.Value) ([]data.Value, error) {
	seen := eval.NewHash(len(l))
	var out []data.Value
	for _, v := range l {
		if err := c.Step(); err != nil {
			return nil, err
		}
		key, err := given(c, v)
		if err != nil {
			return nil, err
		}
		if _, ok := seen.Get(key); !ok {
			seen.Put(key, v)
			out = append(out, v)
		}
	}
	return out, nil
}

func uniqueText(c *eval.Invocation) (data.Value, error) {
	l, err := unique(c, characters(c.Args[0].Str()))
	return concatenated(l), err
}

func uniqueList(c *eval.Invocation) (data.Value, error) {
	it, ok := eval.Elements(c.Args[0])
	if !ok {
		return undef, eval.Errorf("%s", notIterable(c.Args[0]))
	}
	all, err := it.All()
	if err != nil {
		return undef, err
	}
	l, err := unique(c, all)
	return data.OfList(l), err
}

// uniqueHash returns the keys of equal values, with the different ones of these values.
func uniqueHash(c *eval.Invocation) (data.Value, error) {
	type group struct{ keys, values []data.Value }
	var groups []*group
	places := eval.NewHash(0)
	for _, p := range c.Args[0].Hash() {
		key, err := given(c, p.Value)
		if err != nil {
			return undef, err
		}
		at, ok := places.Get(key)
		if !ok {
			at = data.OfInt(int64(len(groups)))
			places.Put(key, at)
			groups = append(groups, &group{})
		}
		g := groups[at.Int()]
		g.keys, g.values = append(g.keys, p.Key), append(g.values, p.Value)
	}
	out := eval.NewHash(len(groups))
	c.Block = nil
	for _, g := range groups {
		values, err := unique(c, g.values)
		if err != nil {
			return undef, err
		}
		out.Put(data.OfList(g.keys), data.OfList(values))
	}
	return out.Value(), nil
}

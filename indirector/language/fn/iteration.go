package fn

import (
	"slices"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
)

// both returns the four ways of a function that iterates: over a hash with keys and
// values, with pairs; over what else can be iterated with places and elements, with
// elements.
func both(what func(c *eval.Invocation, it *loop) (data.Value, error)) []eval.Way {
	run := func(two bool) do {
		return func(c *eval.Invocation) (data.Value, error) {
			it, ok := eval.Elements(c.Args[0])
			if !ok {
				return undef, eval.Errorf("%s", notIterable(c.Args[0]))
			}
			return what(c, &loop{it, two, c})
		}
	}
	return []eval.Way{
		way("Hash hash; Callable[2, 2] &block", run(true)),
		way("Hash hash; Callable[1, 1] &block", run(false)),
		way("Iterable enumerable; Callable[2, 2] &block", run(true)),
		way("Iterable enumerable; Callable[1, 1] &block", run(false)),
	}
}

func notIterable(v data.Value) string { return eval.Label(v) + " is not iterable" }

// A loop calls a lambda for each element.
type loop struct {
	*eval.Iterator
	two  bool // whether the lambda takes two arguments
	call *eval.Invocation
}

// untilBreak is run, which a break ends as well: not that of a lambda which gets keys and
// values of an iterator over a hash.
func (l *loop) untilBreak(turn func(element, result data.Value) (more bool)) error {
	err := l.run(turn)
	if eval.IsBreak(err) && (!l.two || !l.Pairs || l.call.Args[0].Kind() == data.Hash) {
		return nil
	}
	return err
}

// run calls the lambda until it returns false. A break is an error here.
func (l *loop) run(turn func(element, result data.Value) (more bool)) error {
	at := int64(0)
	for v := range l.Elements {
		result, err := l.turn(at, v)
		if err != nil {
			return err
		}
		if !turn(v, result) {
			return nil
		}
		at++
	}
	return nil
}

// turn calls the lambda with a place and an element, or with the two of a pair.
func (l *loop) turn(at int64, v data.Value) (data.Value, error) {
	switch {
	case !l.two:
		return l.call.Block.Call(v)
	case l.Pairs:
		return l.call.Block.Call(v.List()...)
	}
	return l.call.Block.Call(data.OfInt(at), v)
}

func iteration() map[string][]eval.Way {
	return map[string][]eval.Way{
		"each":      both(each),
		"map":       both(mapped),
		"filter":    both(filter),
		"any":       both(func(_ *eval.Invocation, l *loop) (data.Value, error) { return l.decides(true) }),
		"all":       both(func(_ *eval.Invocation, l *loop) (data.Value, error) { return l.decides(false) }),
		"partition": partition(),
		"group_by":  groupBy(),
		"index":     index(),
		"reduce": {
			way("Iterable enumerable; Callable[2, 2] &block", func(c *eval.Invocation) (data.Value, error) { return reduce(c, false) }),
			way("Iterable enumerable; Any memo; Callable[2, 2] &block", func(c *eval.Invocation) (data.Value, error) { return reduce(c, true) }),
		},
		"slice": {
			way("Hash hash; Integer[1] slice_size; Callable &block?", slice),
			way("Iterable enumerable; Integer[1] slice_size; Callable &block?", slice),
		},
		"step": {
			way("Iterable iterable; Integer[1] step", lazyStep),
			way("Iterable iterable; Integer[1] step; Callable[1, 1] &block", func(c *eval.Invocation) (data.Value, error) { return eager(c, lazyStep) }),
		},
		"reverse_each": {
			way("Iterable iterable", lazyReverse),
			way("Iterable iterable; Callable[1, 1] &block", func(c *eval.Invocation) (data.Value, error) { return eager(c, lazyReverse) }),
		},
		"tree_each": treeEach(),
	}
}

func each(c *eval.Invocation, l *loop) (data.Value, error) {
	return c.Args[0], l.untilBreak(func(_, _ data.Value) bool { return true })
}

func mapped(c *eval.Invocation, l *loop) (data.Value, error) {
	var out []data.Value
	err := l.untilBreak(func(_, result data.Value) bool {
		out = append(out, result)
		return true
	})
	v := data.OfList(out)
	if err == nil {
		err = c.Made(v)
	}
	return v, err
}

func filter(c *eval.Invocation, l *loop) (data.Value, error) {
	var out []data.Value
	run := l.untilBreak
	if c.Args[0].Kind() == data.Hash {
		run = l.run
	}
	err := run(func(v, result data.Value) bool {
		if result.Truthy() {
			out = append(out, v)
		}
		return true
	})
	if c.Args[0].Kind() != data.Hash {
		return data.OfList(out), err
	}
	h := eval.NewHash(len(out))
	for _, pair := range out {
		h.Put(pair.List()[0], pair.List()[1])
	}
	return h.Value(), err
}

// decides returns whether an element makes the lambda return a true value, or whether
// all do.
func (l *loop) decides(decisive bool) (data.Value, error) {
	out := !decisive
	err := l.run(func(_, result data.Value) bool {
		if result.Truthy() == decisive {
			out = decisive
		}
		return out != decisive
	})
	return data.OfBool(out), err
}

func partition() []eval.Way {
	run := func(two bool) do {
		return func(c *eval.Invocation) (data.Value, error) {
			it, _ := eval.Elements(c.Args[0])
			var halves [2][]data.Value
			err := (&loop{it, two, c}).run(func(v, result data.Value) bool {
				half := &halves[1]
				if result.Truthy() {
					half = &halves[0]
				}
				*half = append(*half, v)
				return true
			})
			return data.OfList([]data.Value{data.OfList(halves[0]), data.OfList(halves[1])}), err
		}
	}
	return []eval.Way{
		way("Collection collection; Callable[1, 1] &block", run(false)),
		way("Array array; Callable[2, 2] &block", run(true)),
		way("Collection collection; Callable[2, 2] &block", run(true)),
	}
}

func groupBy() []eval.Way {
	run := func(two bool) do {
		return func(c *eval.Invocation) (data.Value, error) {
			it, _ := eval.Elements(c.Args[0])
			out := eval.NewHash(0)
			err := (&loop{it, two, c}).run(func(v, key data.Value) bool {
				group, _ := out.Get(key)
				out.Put(key, data.OfList(append(group.List()[:group.Len():group.Len()], v)))
				return true
			})
			return out.Value(), err
		}
	}
	return []eval.Way{
		way("Collection collection; Callable[1, 1] &block", run(false)),
		way("Array array; Callable[2, 2] &block", run(true)),
		way("Collection collection; Callable[2, 2] &block", run(true)),
	}
}

func reduce(c *eval.Invocation, begun bool) (data.Value, error) {
	it, ok := eval.Elements(c.Args[0])
	if !ok {
		return undef, eval.Errorf("%s", notIterable(c.Args[0]))
	}
	memo := c.Arg(1)
	for v := range it.Elements {
		if !begun {
			memo, begun = v, true
			continue
		}
		next, err := c.Block.Call(memo, v)
		if eval.IsBreak(err) {
			break
		}
		if err != nil {
			return memo, err
		}
		memo = next
	}
	return memo, nil
}

// slice groups elements. A lambda of one parameter is given a group, another as many
// elements as it has parameters.
func slice(c *eval.Invocation) (data.Value, error) {
	it, ok := eval.Elements(c.Args[0])
	if !ok {
		return undef, eval.Errorf("%s", notIterable(c.Args[0]))
	}
	size := int(min(c.Args[1].Int(), 1<<20))
	var groups, group []data.Value
	for v := range it.Elements {
		if err := c.Step(); err != nil {
			return undef, err
		}
		if group = append(group, v); len(group) == size {
			groups, group = append(groups, data.OfList(group)), nil
		}
	}
	if len(group) > 0 {
		groups = append(groups, data.OfList(group))
	}
	if c.Block == nil {
		v := data.OfList(groups)
		return v, c.Made(v)
	}
	arity := c.Block.Arity()
	if arity == 0 {
		return undef, eval.Errorf("slice(): block must define at least one parameter. Block has 0.")
	}
	if arity > 1 && size < arity {
		return undef, eval.Errorf("slice(): block with more than one parameter needs a slice size of at least %d", arity)
	}
	filler := undef
	if c.Args[0].Kind() == data.Hash {
		filler = data.OfList(nil)
	}
	for _, group := range groups {
		args := []data.Value{group}
		if arity != 1 {
			args = slices.Clone(group.List())
			for len(args) < size {
				args = append(args, filler)
			}
		}
		if _, err := c.Block.Call(args...); eval.IsBreak(err) {
			break
		} else if err != nil {
			return undef, err
		}
	}
	return c.Args[0], nil
}

func index() []eval.Way {
	ways := both(func(_ *eval.Invocation, l *loop) (data.Value, error) {
		at, found := int64(-1), undef
		err := l.runIndex(func(v data.Value, ok bool) bool {
			at++
			switch {
			case ok && l.Pairs:
				found = v.List()[0]
			case ok:
				found = data.OfInt(at)
			}
			return !ok
		})
		return found, err
	})
	return append(ways,
		way("String str; Variant[String, Regexp] match", indexInString),
		way("Iterable enumerable; Any match", indexOfValue),
	)
}

// runIndex calls a lambda of one parameter with the value of a pair.
func (l *loop) runIndex(turn func(v data.Value, ok bool) bool) error {
	if !l.Pairs || l.two {
		return l.run(func(v, result data.Value) bool { return turn(v, result.Truthy()) })
	}
	for v := range l.Elements {
		result, err := l.call.Block.Call(v.List()[1])
		if err != nil {
			return err
		}
		if !turn(v, result.Truthy()) {
			return nil
		}
	}
	return nil
}

func indexOfValue(c *eval.Invocation) (data.Value, error) {
	it, _ := eval.Elements(c.Args[0])
	at := int64(0)
	for v := range it.Elements {
		switch {
		case it.Pairs && data.Equal(v.List()[1], c.Args[1]):
			return v.List()[0], nil
		case !it.Pairs && data.Equal(v, c.Args[1]):
			return data.OfInt(at), nil
		}
		at++
	}
	return undef, nil
}

package fn

import (
	"slices"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// lazyStep returns an iterator over every n-th element. Rule LANG-EV-09.
func lazyStep(c *eval.Invocation) (data.Value, error) {
	it, ok := eval.Elements(c.Args[0])
	if !ok {
		return undef, eval.Errorf("%s", notIterable(c.Args[0]))
	}
	by := c.Args[1].Int()
	if it.Counts != nil {
		counts, err := it.Counts.By(by)
		return data.OfRich(counts.Iterator()), err
	}
	out := &eval.Iterator{Element: it.Element, Elements: func(yield func(data.Value) bool) {
		at := int64(0)
		for v := range it.Elements {
			if at%by == 0 && !yield(v) {
				return
			}
			at++
		}
	}}
	return data.OfRich(out), nil
}

// lazyReverse returns an iterator from the last element to the first.
func lazyReverse(c *eval.Invocation) (data.Value, error) {
	it, ok := eval.Elements(c.Args[0])
	if !ok {
		return undef, eval.Errorf("%s", notIterable(c.Args[0]))
	}
	if n := it.Counts; n != nil {
		return data.OfRich(eval.Counts{From: n.From, To: n.To, Step: -n.Step}.Iterator()), nil
	}
	all, err := it.All()
	if err != nil {
		return undef, err
	}
	out := &eval.Iterator{Element: it.Element, Elements: func(yield func(data.Value) bool) {
		for _, v := range slices.Backward(all) {
			if !yield(v) {
				return
			}
		}
	}}
	return data.OfRich(out), nil
}

// eager calls a lambda with the elements of what an iterator would be.
func eager(c *eval.Invocation, lazy do) (data.Value, error) {
	v, err := lazy(c)
	if err != nil {
		return undef, err
	}
	it, _ := eval.Elements(v)
	return undef, (&loop{it, false, c}).untilBreak(func(_, _ data.Value) bool { return true })
}

// treeOptions is the type of the options of tree_each.
const treeOptions = "Struct[{container_type => Optional[Type], include_root => Optional[Boolean], include_containers => Optional[Boolean], " +
	"include_values => Optional[Boolean], order => Optional[Enum[depth_first, breadth_first]], include_refs => Optional[Boolean]}]"

func treeEach() []eval.Way {
	params := "Variant[Iterator, Array, Hash, Object] tree; OptionsType options?"
	return []eval.Way{
		way(params+"; Callable[2, 2] &block", func(c *eval.Invocation) (data.Value, error) { return walkTree(c, true) }),
		way(params+"; Callable[1, 1] &block", func(c *eval.Invocation) (data.Value, error) { return walkTree(c, false) }),
		way(params, func(c *eval.Invocation) (data.Value, error) {
			t, err := newTree(c)
			if err != nil {
				return undef, err
			}
			class := "Puppet::Pops::Types::Iterable::DepthFirstTreeIterator"
			if t.breadth {
				class = "Puppet::Pops::Types::Iterable::BreadthFirstTreeIterator"
			}
			return data.OfRich(&eval.Iterator{Tree: class, Element: func() types.Type { return eval.MustType("Any") }, Elements: func(yield func(data.Value) bool) {
				t.walk(func(path []data.Value, v data.Value) bool {
					return yield(data.OfList([]data.Value{data.OfList(slices.Clone(path)), v}))
				})
			}}), nil
		}),
	}
}

func walkTree(c *eval.Invocation, paths bool) (data.Value, error) {
	t, err := newTree(c)
	if err != nil {
		return undef, err
	}
	t.walk(func(path []data.Value, v data.Value) bool {
		if paths {
			_, err = c.Block.Call(data.OfList(slices.Clone(path)), v)
		} else {
			_, err = c.Block.Call(v)
		}
		return err == nil
	})
	if eval.IsBreak(err) {
		err = nil
	}
	return c.Args[0], err
}

// A tree is a value with values within.
type tree struct {
	root                          data.Value
	containers                    types.Type
	withRoot, withInner, withLeaf bool
	breadth                       bool
	references                    bool // attributes of objects that only refer to values are visited, too
}

func newTree(c *eval.Invocation) (*tree, error) {
	usual, _ := types.Parse("Variant[Array, Hash, Object]", nil)
	options := c.Arg(1)
	is := func(name string) bool {
		v := options.Get(name)
		return v.IsNil() || v.Truthy()
	}
	t := &tree{root: c.Args[0], containers: usual, withInner: is("include_containers"), withLeaf: is("include_values"), breadth: options.Get("order").Str() == "breadth_first", references: options.Get("include_refs").Truthy()}
	t.withRoot = t.withInner && is("include_root")
	if of, ok := types.AsType(options.Get("container_type")); ok {
		if !types.Assignable(usual, of) {
			return nil, eval.Errorf("Only Array, Hash, and Object types can be used as container types. Got %s", of)
		}
		t.containers = of
	}
	if !t.withInner && !t.withLeaf {
		return nil, eval.Errorf("Options 'include_containers' and 'include_values' cannot both be false")
	}
	if !types.Instance(t.containers, t.root) { // which Puppet does not expect, either
		return nil, eval.Errorf("undefined method `next' for nil:NilClass")
	}
	return t, nil
}

// A visit takes a path and the value there, and returns whether to go on.
type visit func(path []data.Value, v data.Value) bool

func (t *tree) walk(see visit) {
	if t.withRoot && !see(nil, t.root) {
		return
	}
	if !t.breadth {
		t.deep(nil, t.root, see)
		return
	}
	type entry struct {
		path []data.Value
		v    data.Value
	}
	for queue := []entry{{nil, t.root}}; len(queue) > 0; queue = queue[1:] {
		at := queue[0]
		ok := t.children(at.path, at.v, func(path []data.Value, v data.Value) bool {
			inner := types.Instance(t.containers, v)
			if inner {
				queue = append(queue, entry{slices.Clone(path), v})
			}
			return inner && !t.withInner || see(path, v)
		})
		if !ok {
			return
		}
	}
}

// deep visits what lies below a value, each before what lies below it.
func (t *tree) deep(path []data.Value, v data.Value, see visit) bool {
	return t.children(path, v, func(path []data.Value, v data.Value) bool {
		if !types.Instance(t.containers, v) {
			return !t.withLeaf || see(path, v)
		}
		return (!t.withInner || see(path, v)) && t.deep(path, v, see)
	})
}

// children visits what lies directly below a value.
func (t *tree) children(path []data.Value, v data.Value, see visit) bool {
	path = append(slices.Clone(path), undef)
	last := &path[len(path)-1]
	for i, x := range v.List() {
		*last = data.OfInt(int64(i))
		if !see(path, x) {
			return false
		}
	}
	members := v.Hash()
	if v.Kind() == data.Rich {
		members = types.Attributes(v, t.references)
	}
	for _, p := range members {
		*last = p.Key
		if !see(path, p.Value) {
			return false
		}
	}
	return true
}

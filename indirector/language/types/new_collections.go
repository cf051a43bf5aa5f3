package types

import (
	"slices"

	"indirtui/indirector/data"
)

func arrayConstructor() *constructor {
	return &constructor{
		name: "new_array",
		ways: []way{
			{params: "Variant[Array, Hash, Binary, Iterable] from; Boolean[false] wrap?", make: func(args []data.Value) (data.Value, error) {
				l, err := counted(args[0])
				return data.OfList(l), err
			}},
			{params: "Any from; Boolean[true] wrap", make: func(args []data.Value) (data.Value, error) {
				if args[0].Kind() == data.List {
					return args[0], nil
				}
				return data.OfList(args[:1]), nil
			}},
		},
		refusals: []refusal{{params: "Any from; Boolean wrap?", why: func(args []data.Value) (string, error) {
			return "Value of type " + Generalized(args[0]).String() + " cannot be converted to Array", nil
		}}},
	}
}

// elements returns what a value yields when it is iterated.
func elements(v data.Value) []data.Value {
	var out []data.Value
	switch v.Kind() {
	case data.List:
		return v.List()
	case data.Hash:
		for _, p := range v.Hash() {
			out = append(out, data.OfList([]data.Value{p.Key, p.Value}))
		}
	case data.String:
		for _, r := range v.Str() {
			out = append(out, data.OfString(string(r)))
		}
	case data.Int:
		return integersFrom(0, v.Int()-1)
	}
	switch r := v.Rich().(type) {
	case binary:
		for i := range len(r) {
			out = append(out, data.OfInt(int64(r[i])))
		}
	case typeValue:
		switch t := resolve(r.Type).(type) {
		case enumType:
			return data.OfStrings(t.values).List()
		case integerType:
			return integersFrom(t.from, t.to)
		}
	}
	return out
}

// maxElements bounds what a number is counted up to, which is more than any memory
// holds for a text of a few letters.
const maxElements = 1 << 20

// counted returns the elements of a value, or an error if a number is too large to
// count up to.
func counted(v data.Value) ([]data.Value, error) {
	count := uint64(v.Int())
	if t, ok := AsType(v); ok {
		if r, ok := resolve(t).(integerType); ok {
			count = uint64(r.to) - uint64(r.from)
		}
	}
	if count > maxElements {
		return nil, errorf("%s has more than %d elements", v.Text(), maxElements)
	}
	return elements(v), nil
}

func integersFrom(from, to int64) []data.Value {
	out := make([]data.Value, 0, to-from+1)
	for i := from; i <= to; i++ {
		out = append(out, data.OfInt(i))
	}
	return out
}

func hashConstructor() *constructor {
	return &constructor{
		name: "new_hash",
		aliases: "KeyValueArray = Array[Tuple[Any,Any],1]\n" +
			"TreeArray = Array[Tuple[Array,Any],1]\n" +
			"NewHashOption = Enum[tree, hash_tree]",
		ways: []way{
			{params: "TreeArray from; NewHashOption build_option?", make: func(args []data.Value) (data.Value, error) {
				if len(args) == 1 {
					return ofPairs(args[0].List()), nil
				}
				return ofPaths(args[0].List(), args[1].Str() == "hash_tree")
			}},
			{params: "KeyValueArray from", make: func(args []data.Value) (data.Value, error) { return ofPairs(args[0].List()), nil }},
			{params: "Any from", make: func(args []data.Value) (data.Value, error) { return ofFlat(args[0]) }},
		},
	}
}

func ofPairs(l []data.Value) data.Value {
	var out []data.Pair
	for _, pair := range l {
		out = put(out, pair.List()[0], pair.List()[1])
	}
	return data.OfHash(out)
}

// ofFlat makes a hash of keys and values that follow each other.
func ofFlat(v data.Value) (data.Value, error) {
	if v.Kind() == data.Hash {
		return v, nil
	}
	if !canIterate(v) {
		return v, errorf("Value of type %s cannot be converted to Hash", Generalized(v))
	}
	l, err := counted(v)
	if err != nil {
		return v, err
	}
	if len(l)%2 != 0 {
		return v, errorf("odd number of arguments for Hash")
	}
	var out []data.Pair
	for pair := range slices.Chunk(l, 2) {
		out = put(out, pair[0], pair[1])
	}
	return data.OfHash(out), nil
}

// A branch is a hash or list that is being built of paths, or a value at the end of
// one.
type branch struct {
	value    data.Value // unless it is a hash or list
	keys     []data.Value
	branches []*branch
	list     bool
}

// find returns the branch with a key.
func (b *branch) find(key data.Value) *branch {
	if i := slices.IndexFunc(b.keys, func(k data.Value) bool { return data.Equal(k, key) }); i >= 0 {
		return b.branches[i]
	}
	return nil
}

func (b *branch) put(key data.Value, x *branch) {
	if i := slices.IndexFunc(b.keys, func(k data.Value) bool { return data.Equal(k, key) }); i >= 0 {
		b.branches[i] = x
		return
	}
	b.keys, b.branches = append(b.keys, key), append(b.branches, x)
}

// grown returns a value as a branch. Lists become hashes if asked to.
func grown(v data.Value, listsToo bool) *branch {
	b := &branch{value: v}
	switch v.Kind() {
	case data.List:
		b.list = !listsToo
		for i, x := range v.List() {
			b.put(data.OfInt(int64(i)), grown(x, listsToo))
		}
	case data.Hash:
		for _, p := range v.Hash() {
			b.put(p.Key, &branch{value: p.Value})
		}
		b.value = data.OfHash(nil)
	}
	if listsToo && v.Kind() == data.List {
		b.value = data.OfHash(nil)
	}
	return b
}

func (b *branch) whole() data.Value {
	switch {
	case b.list:
		l := make([]data.Value, len(b.branches))
		for i, x := range b.branches {
			l[i] = x.whole()
		}
		return data.OfList(l)
	case b.value.Kind() == data.Hash:
		var h []data.Pair
		for i, x := range b.branches {
			h = append(h, data.Pair{Key: b.keys[i], Value: x.whole()})
		}
		if len(h) == 0 {
			return b.value
		}
		return data.OfHash(h)
	}
	return b.value
}

// ofPaths makes nested hashes of paths and what lies at their ends.
func ofPaths(l []data.Value, hashes bool) (data.Value, error) {
	root := &branch{value: data.OfHash(nil)}
	for _, entry := range l {
		path, v := entry.List()[0].List(), entry.List()[1]
		if len(path) == 0 {
			switch v.Kind() {
			case data.List, data.Hash:
				x := grown(v, true)
				for i, key := range x.keys {
					root.put(key, x.branches[i])
				}
			default:
				return data.Value{}, errorf("no implicit conversion of %s into Hash", rubyClass(v))
			}
			continue
		}
		at := root
		for _, key := range path[:len(path)-1] {
			next := at.find(key)
			if next == nil {
				next = &branch{value: data.OfHash(nil)}
				at.put(key, next)
			}
			if !next.list && next.value.Kind() != data.Hash {
				return data.Value{}, errorf("undefined method `[]=' for %s:%s", next.value.Inspect(), rubyClass(next.value))
			}
			at = next
		}
		at.put(path[len(path)-1], grown(v, hashes))
	}
	return root.whole(), nil
}

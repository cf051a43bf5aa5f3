package eval

import (
	"slices"

	"indirtui/indirector/data"
)

// A HashBuilder makes a hash whose keys are different. The zero value is empty.
type HashBuilder struct {
	pairs []data.Pair
	index map[string]int // of the keys by their bytes, once there are many
}

// indexed is from how many pairs on looking at each of them is dearer than an index.
const indexed = 8

// NewHash returns a builder with room for so many pairs.
func NewHash(size int) *HashBuilder {
	return &HashBuilder{pairs: make([]data.Pair, 0, size)}
}

// HashOf returns a builder that begins with the pairs of a hash.
func HashOf(h data.Value) *HashBuilder {
	b := NewHash(h.Len() + 1)
	b.pairs = append(b.pairs, h.Hash()...)
	return b
}

// Put sets the value of a key, which keeps its place if it is there.
func (b *HashBuilder) Put(key, v data.Value) {
	if i := b.find(key); i >= 0 {
		b.pairs[i].Value = v
		return
	}
	if b.index != nil {
		b.index[string(data.AppendBinary(nil, key))] = len(b.pairs)
	}
	b.pairs = append(b.pairs, data.Pair{Key: key, Value: v})
}

// Get returns the value of a key.
func (b *HashBuilder) Get(key data.Value) (data.Value, bool) {
	if i := b.find(key); i >= 0 {
		return b.pairs[i].Value, true
	}
	return data.Value{}, false
}

func (b *HashBuilder) find(key data.Value) int {
	if len(b.pairs) < indexed || hasTime(key) {
		return findKey(b.pairs, key)
	}
	if b.index == nil {
		b.index = make(map[string]int, 2*len(b.pairs))
		for i, p := range b.pairs {
			b.index[string(data.AppendBinary(nil, p.Key))] = i
		}
	}
	var space [64]byte
	if i, ok := b.index[string(data.AppendBinary(space[:0], key))]; ok {
		return i
	}
	return -1
}

// findKey returns the place of a key, or -1. Keys are compared exactly: case matters,
// and 1 is not 1.0.
func findKey(pairs []data.Pair, key data.Value) int {
	if s, ok := key.AsStr(); ok {
		for i := range pairs {
			if o, ok := pairs[i].Key.AsStr(); ok && o == s && pairs[i].Key.Kind() == key.Kind() {
				return i
			}
		}
		return -1
	}
	for i := range pairs {
		if data.Equal(pairs[i].Key, key) && sameTimes(pairs[i].Key, key) {
			return i
		}
	}
	return -1
}

// sameTimes reports whether equal keys have the same times within: each is an object of its
// own, and to Ruby a key only of itself.
func sameTimes(a, b data.Value) bool {
	for i, x := range a.List() {
		if !sameTimes(x, b.List()[i]) {
			return false
		}
	}
	return !isTime(kindOf(a)) || a.Rich() == b.Rich()
}

func hasTime(key data.Value) bool {
	return slices.ContainsFunc(key.List(), hasTime) || isTime(kindOf(key))
}

// Value returns the hash. The builder must not be used afterwards.
func (b *HashBuilder) Value() data.Value { return data.OfHash(b.pairs) }

// Lookup returns the value of a key of a hash. Keys are compared exactly.
func Lookup(h, key data.Value) (data.Value, bool) {
	pairs := h.Hash()
	if i := findKey(pairs, key); i >= 0 {
		return pairs[i].Value, true
	}
	return data.Value{}, false
}

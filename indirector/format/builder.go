package format

import (
	"encoding/binary"
	"math/bits"
	"strings"
	"sync"
	"unsafe"

	"indirtui/indirector/data"
)

// A builder makes lists and hashes out of elements as a reader meets them.
// Elements of containers that are still open wait on two stacks; a container
// that is closed is copied from there into an arena, so that a whole document
// costs a handful of allocations.
type builder struct {
	left  int // how many more may come before extend is called
	items int // how many more may come after those
	max   int
	grow  func(bytes int64) error // may be nil
	err   error

	text  []byte // private copy of the input, padded; strings point into it
	vals  []data.Value
	pairs []data.Pair
	marks []uint64 // of the keys of pairs: equal keys have equal marks

	usedVals, usedPairs int // most of the stacks that was ever in use

	freeVals  []data.Value
	freePairs []data.Pair
	guess     int // of the number of pairs to come

	table []int32 // scratch of the search for duplicate keys
}

const (
	padding   = 8   // readable bytes behind the text
	chunk     = 680 // pairs, just under the largest size class
	fewKeys   = 12  // up to here a look at all is faster than a table
	keptStack = 1 << 16

	// beyond it, keys were made to collide and are left to unique
	manyProbes = 64
)

var builders = sync.Pool{New: func() any { return new(builder) }}

// newBuilder copies b, since strings will point into it, unless it was given
// away with room for the padding.
func newBuilder(b []byte, l Limits) *builder {
	items := l.items()
	d := builders.Get().(*builder)
	if l.Own && cap(b)-len(b) >= padding {
		d.text = append(b, make([]byte, padding)...)
	} else {
		d.text = pad(b)
	}
	d.left, d.items, d.max, d.grow, d.err = 0, items, items, l.Grow, nil
	return d
}

// pad returns a copy of b and the padding. A strings.Builder is the one way to
// memory that is not cleared before it is overwritten.
func pad(b []byte) []byte {
	var s strings.Builder
	s.Grow(len(b) + padding)
	s.Write(b)
	s.Write(make([]byte, padding))
	return unsafe.Slice(unsafe.StringData(s.String()), s.Len())
}

// free gives the stacks back for the next document.
func (d *builder) free() {
	clear(d.vals[:max(d.usedVals, len(d.vals))])
	clear(d.pairs[:max(d.usedPairs, len(d.pairs))])
	d.usedVals, d.usedPairs = 0, 0
	d.text, d.freeVals, d.freePairs, d.grow = nil, nil, nil, nil
	if cap(d.vals) > keptStack || cap(d.pairs) > keptStack {
		return
	}
	d.vals, d.pairs, d.marks = d.vals[:0], d.pairs[:0], d.marks[:0]
	builders.Put(d)
}

// str returns the text from i to j without a copy.
func (d *builder) str(i, j int) data.Value {
	return data.OfString(unsafe.String(unsafe.SliceData(d.text[i:]), j-i))
}

func (d *builder) fail(err error) {
	if d.err == nil {
		d.err = err
	}
}

// count counts an element as it is read, before it is kept.
func (d *builder) count() {
	if d.left--; d.left < 0 {
		d.extend()
	}
}

// extend allows more elements, or fails.
func (d *builder) extend() {
	n := min(d.items, portion)
	if n == 0 {
		d.fail(tooMany(d.max))
		return
	}
	d.left, d.items = n-1, d.items-n
	if d.grow != nil {
		d.failIf(d.grow(int64(n) * elementSize))
	}
}

func (d *builder) failIf(err error) {
	if err != nil {
		d.fail(err)
	}
}

// mark condenses the key at text[i:j]: its length and its first and last eight
// bytes, or all of it if it is short.
func (d *builder) mark(i, j int) uint64 {
	n := j - i
	first := binary.LittleEndian.Uint64(d.text[i:])
	if n < 8 {
		first &= 1<<(8*n) - 1
		return (first ^ uint64(n)<<56) * 0x9E3779B97F4A7C15
	}
	last := binary.LittleEndian.Uint64(d.text[j-8:])
	first = first*0x9E3779B97F4A7C15 ^ last
	return (first ^ first>>32 + uint64(n)) * 0xC2B2AE3D27D4EB4F
}

// list closes the list whose elements are on the stack from base on.
func (d *builder) list(base int) data.Value {
	d.usedVals = max(d.usedVals, len(d.vals))
	n := len(d.vals) - base
	if n == 0 {
		return data.OfList(nil)
	}
	if n > len(d.freeVals) {
		d.freeVals = make([]data.Value, max(n, min(max(d.guess/4, 16), chunk)))
	}
	l := d.freeVals[:n:n]
	d.freeVals = d.freeVals[n:]
	copy(l, d.vals[base:])
	d.vals = d.vals[:base]
	return data.OfList(l)
}

// hash closes the hash whose pairs are on the stack from base on. Of pairs with
// the same key the last value counts, at the first position.
func (d *builder) hash(base int) data.Value {
	d.usedPairs = max(d.usedPairs, len(d.pairs))
	n := len(d.pairs) - base
	if n == 0 {
		return data.OfHash(nil)
	}
	if d.repeated(base) {
		n = d.unique(base)
	}
	if n > len(d.freePairs) {
		d.freePairs = make([]data.Pair, max(n, min(max(d.guess, 4), chunk)))
	}
	d.guess -= n
	h := d.freePairs[:n:n]
	d.freePairs = d.freePairs[n:]
	copy(h, d.pairs[base:])
	d.pairs, d.marks = d.pairs[:base], d.marks[:base]
	return data.OfHash(h)
}

// repeated reports whether two keys may be equal.
func (d *builder) repeated(base int) bool {
	marks := d.marks[base:]
	if len(marks) <= fewKeys {
		for i, m := range marks {
			for _, o := range marks[:i] {
				if m == o {
					return true
				}
			}
		}
		return false
	}
	last := uint64(d.clearTable(len(marks)) - 1)
	shift := bits.LeadingZeros64(last) // the best bits are the highest
	for i, m := range marks {
		for s, n := m>>shift, 0; ; s, n = (s+1)&last, n+1 {
			if d.table[s] == 0 {
				d.table[s] = int32(i + 1)
				break
			}
			if marks[d.table[s]-1] == m || n == manyProbes {
				return true
			}
		}
	}
	return false
}

func (d *builder) clearTable(keys int) int {
	n := 32
	for n < 2*keys {
		n *= 2
	}
	if n > len(d.table) {
		d.table = make([]int32, n)
		return n
	}
	clear(d.table[:n])
	return n
}

// unique removes repeated keys from the stack and returns how many pairs are
// left.
func (d *builder) unique(base int) int {
	pairs := d.pairs[base:]
	position := make(map[string]int, len(pairs))
	n := 0
	for _, p := range pairs {
		k := p.Key.Str()
		if p.Key.Kind() != data.String {
			k = "\x00" + p.Key.Inspect() // MessagePack has keys that are no strings
		}
		if i, ok := position[k]; ok {
			pairs[i].Value = p.Value
			continue
		}
		position[k] = n
		pairs[n] = p
		n++
	}
	d.pairs, d.marks = d.pairs[:base+n], d.marks[:base+n]
	return n
}

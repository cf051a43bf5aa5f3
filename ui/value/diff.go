package value

import (
	"bytes"
	"slices"
)

// A change is one line of a comparison: a place, and what stands there on both
// sides.
type change struct {
	path  string
	label string
	depth int
	a, b  *node // nil if there is nothing on that side
	sign  byte  // ' ' equal, '+' only b, '-' only a, '~' differs, '/' something below differs
}

// maxChanges bounds a comparison.
const maxChanges = 20_000

// maxDepth bounds how deep it looks: what is below counts as one value.
const maxDepth = 100

// A differ compares two values: hashes by key, in the order of their keys;
// lists of resources by identity; other lists by their longest common
// sequence.
type differ struct {
	out     []change
	ignored map[string]bool
	skipped int // places that are ignored
}

// compare adds what differs between a and b, and reports whether anything does.
// Equal things are listed only directly below the top.
func (d *differ) compare(path, label string, a, b *node, depth int) bool {
	if len(d.out) >= maxChanges {
		return false
	}
	if d.ignored[path] {
		d.skipped++
		return false
	}
	c := change{path: path, label: label, depth: depth, a: a, b: b}
	switch {
	case a == nil:
		return d.all(c, '+')
	case b == nil:
		return d.all(c, '-')
	case sameBytes(a, b):
		c.sign = ' '
		if depth <= 1 && depth > 0 {
			d.out = append(d.out, c)
		}
		return false
	case depth < maxDepth && a.isHash() && b.isHash():
		return d.below(c, func() bool { return d.hashes(path, a, b, depth+1) })
	case depth < maxDepth && a.isList() && b.isList():
		return d.below(c, func() bool { return d.lists(path, a, b, depth+1) })
	}
	c.sign = '~'
	d.out = append(d.out, c)
	return true
}

// below adds c, and then what differs below it; nothing if nothing does.
func (d *differ) below(c change, inner func() bool) bool {
	at := len(d.out)
	c.sign = '/'
	if c.depth > 0 {
		d.out = append(d.out, c)
	}
	if inner() {
		return true
	}
	if c.depth > 0 {
		d.out[at].sign = ' '
		if c.depth > 1 {
			d.out = slices.Delete(d.out, at, at+1)
		}
	}
	return false
}

// all adds what is on one side only, with what is directly below it.
func (d *differ) all(c change, sign byte) bool {
	c.sign = sign
	d.out = append(d.out, c)
	n := c.a
	if n == nil {
		n = c.b
	}
	const shown = 50
	for i, kid := range n.children() {
		if c.depth >= 2 || i == shown {
			break
		}
		k := change{path: c.path + step(kid), label: name(kid), depth: c.depth + 1, sign: sign}
		if c.a != nil {
			k.a = kid
		} else {
			k.b = kid
		}
		d.out = append(d.out, k)
	}
	return true
}

func step(n *node) string {
	if n.index >= 0 {
		return n.label()
	}
	return "." + n.key
}

// name is what an element is called: a resource by its identity, a word in a
// list by itself.
func name(n *node) string {
	if n.index < 0 {
		return n.key
	}
	if id := n.identity(); id != "" {
		return id
	}
	if !n.folds() {
		return clip(n.text())
	}
	return n.label()
}

func (d *differ) hashes(path string, a, b *node, depth int) bool {
	left, right := byKey(a), byKey(b)
	keys := make([]string, 0, len(left)+len(right))
	for k := range left {
		keys = append(keys, k)
	}
	for k := range right {
		if left[k] == nil {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	differs := false
	for _, k := range keys {
		if d.compare(path+"."+k, k, left[k], right[k], depth) {
			differs = true
		}
	}
	return differs
}

func byKey(n *node) map[string]*node {
	m := make(map[string]*node)
	for _, kid := range n.children() {
		m[kid.key] = kid
	}
	return m
}

func (d *differ) lists(path string, a, b *node, depth int) bool {
	left, right := byIdentity(a), byIdentity(b)
	if left != nil && right != nil {
		return d.named(path, a, b, left, right, depth)
	}
	differs := false
	for _, p := range align(a.children(), b.children()) {
		n := p[0]
		if n == nil {
			n = p[1]
		}
		if d.compare(path+n.label(), name(n), p[0], p[1], depth) {
			differs = true
		}
	}
	return differs
}

// byIdentity returns the resources of a list by their names, or nil if it is no
// list of resources.
func byIdentity(n *node) map[string]*node {
	m := make(map[string]*node)
	for _, kid := range n.children() {
		id := kid.identity()
		if id == "" || m[id] != nil {
			return nil
		}
		m[id] = kid
	}
	return m
}

func (d *differ) named(path string, a, b *node, left, right map[string]*node, depth int) bool {
	differs := false
	see := func(id string) {
		if d.compare(path+"["+id+"]", id, left[id], right[id], depth) {
			differs = true
		}
	}
	for _, kid := range a.children() {
		see(kid.identity())
	}
	for _, kid := range b.children() {
		if id := kid.identity(); left[id] == nil {
			see(id)
		}
	}
	return differs
}

// align pairs the elements of two lists by their longest common sequence, and
// by their places if the lists are too long for that.
func align(a, b []*node) [][2]*node {
	const enough = 1 << 20
	begin := 0
	for begin < len(a) && begin < len(b) && sameBytes(a[begin], b[begin]) {
		begin++
	}
	var pairs [][2]*node
	for i := range begin {
		pairs = append(pairs, [2]*node{a[i], b[i]})
	}
	a, b = a[begin:], b[begin:]
	if len(a)*len(b) > enough {
		for i := range max(len(a), len(b)) {
			var p [2]*node
			if i < len(a) {
				p[0] = a[i]
			}
			if i < len(b) {
				p[1] = b[i]
			}
			pairs = append(pairs, p)
		}
		return pairs
	}
	return append(pairs, common(a, b)...)
}

func common(a, b []*node) [][2]*node {
	length := make([][]int32, len(a)+1)
	for i := range length {
		length[i] = make([]int32, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if sameBytes(a[i], b[j]) {
				length[i][j] = length[i+1][j+1] + 1
			} else {
				length[i][j] = max(length[i+1][j], length[i][j+1])
			}
		}
	}
	var pairs [][2]*node
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && sameBytes(a[i], b[j]):
			pairs = append(pairs, [2]*node{a[i], b[j]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && length[i+1][j] >= length[i][j+1]:
			pairs = append(pairs, [2]*node{a[i], nil})
			i++
		default:
			pairs = append(pairs, [2]*node{nil, b[j]})
			j++
		}
	}
	return pairs
}

func sameBytes(a, b *node) bool { return bytes.Equal(a.body[a.from:a.to], b.body[b.from:b.to]) }

package diff

import (
	"hash/maphash"
	"slices"

	"indirtui/traces/tree"
)

// A pair is an element of each list, or nil.
type pair = [2]*tree.Node

// align pairs the elements of two lists: what both have in the same order (the
// longest common sequence, found as Myers does), and of what stands between two
// such, hashes and lists with each other, so that they can be compared inside.
func align(a, b []*tree.Node) []pair {
	var pairs []pair
	x, y, seed := 0, 0, maphash.MakeSeed()
	for _, m := range matches(hashes(seed, a), hashes(seed, b)) {
		pairs = gap(pairs, a[x:m[0]], b[y:m[1]])
		pairs = append(pairs, pair{a[m[0]], b[m[1]]})
		x, y = m[0]+1, m[1]+1
	}
	return gap(pairs, a[x:], b[y:])
}

// gap adds what stands between two common elements.
func gap(pairs []pair, a, b []*tree.Node) []pair {
	for len(a) > 0 && len(b) > 0 && (a[0].IsHash() && b[0].IsHash() || a[0].IsList() && b[0].IsList()) {
		pairs = append(pairs, pair{a[0], b[0]})
		a, b = a[1:], b[1:]
	}
	for _, n := range a {
		pairs = append(pairs, pair{n, nil})
	}
	for _, n := range b {
		pairs = append(pairs, pair{nil, n})
	}
	return pairs
}

// hashes returns a number for the text of each element. Two texts with the same
// number are taken for equal; compare looks again.
func hashes(seed maphash.Seed, list []*tree.Node) []uint64 {
	out := make([]uint64, len(list))
	for i, n := range list {
		out[i] = maphash.Bytes(seed, n.JSON())
	}
	return out
}

// maxEdits bounds how much two lists may differ until what is left is paired by
// its place: the work grows with the square of it.
const maxEdits = 2000

// matches returns the places in a and b of a longest sequence that both have.
func matches(a, b []uint64) [][2]int {
	begin := 0
	for begin < len(a) && begin < len(b) && a[begin] == b[begin] {
		begin++
	}
	end := 0
	for end < len(a)-begin && end < len(b)-begin && a[len(a)-1-end] == b[len(b)-1-end] {
		end++
	}
	out := make([][2]int, 0, begin+end)
	for i := range begin {
		out = append(out, [2]int{i, i})
	}
	out = append(out, inner(a[begin:len(a)-end], b[begin:len(b)-end], begin)...)
	for i := range end {
		out = append(out, [2]int{len(a) - end + i, len(b) - end + i})
	}
	return out
}

// inner is Myers's greedy algorithm: reach[k] is how far along a the best path
// gets that has taken d edits and lies k off the diagonal; trail keeps what reach
// was after each edit, to find the way back.
func inner(a, b []uint64, offset int) [][2]int {
	n, m := len(a), len(b)
	if n == 0 || m == 0 {
		return nil
	}
	limit := min(n+m, maxEdits)
	reach := make([]int32, 2*limit+3)
	at := func(k int) *int32 { return &reach[k+limit+1] }
	var trail [][]int32
	for d := 0; d <= limit; d++ {
		for k := -d; k <= d; k += 2 {
			var x int
			if k == -d || k != d && *at(k - 1) < *at(k + 1) {
				x = int(*at(k + 1))
			} else {
				x = int(*at(k - 1)) + 1
			}
			for x < n && x-k < m && a[x] == b[x-k] {
				x++
			}
			*at(k) = int32(x)
			if x >= n && x-k >= m {
				return back(a, b, trail, d, k, offset)
			}
		}
		trail = append(trail, append([]int32(nil), reach[limit+1-d:limit+2+d]...))
	}
	return nil // too different to compare
}

// back walks from the end to the beginning, and returns the common places in
// order.
func back(a, b []uint64, trail [][]int32, d, k, offset int) [][2]int {
	x, y := len(a), len(b)
	var out [][2]int
	for ; d > 0; d-- {
		was := trail[d-1] // of diagonals -(d-1) to d-1
		at := func(k int) int {
			if k < -(d-1) || k > d-1 {
				return -1
			}
			return int(was[k+d-1])
		}
		before := k - 1
		if k == -d || k != d && at(k-1) < at(k+1) {
			before = k + 1
		}
		px := at(before)
		py := px - before
		for x > px && y > py {
			x, y = x-1, y-1
			out = append(out, [2]int{x + offset, y + offset})
		}
		x, y, k = px, py, before
	}
	for x > 0 && y > 0 {
		x, y = x-1, y-1
		out = append(out, [2]int{x + offset, y + offset})
	}
	slices.Reverse(out)
	return out
}

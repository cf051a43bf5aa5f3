package onig

import "slices"

// A node is a part of an expression. Options and names are worked out already: letters
// without regard to case are sets, groups have their numbers.
type node interface{}

type (
	sequence []node
	choice   []node
	// A chars is a place where one character of a set stands.
	chars struct{ of set }
	// An anchor is one of ^ $ A z Z b B G.
	anchor byte
	// A keep is \K, which lets the match begin where it stands.
	keep struct{}
	// A group captures.
	group struct {
		number int
		body   node
	}
	repeat struct {
		body       node
		least      int
		most       int // -1 for any number
		lazy       bool
		possessive bool
	}
	look struct {
		behind, negative bool
		body             node
	}
	// An atomic is a group that is left as it matched first.
	atomic struct{ body node }
	// A reference is what one of several groups matched, the last of them first.
	reference struct {
		groups []int
		fold   bool
	}
	// A condition goes by whether a group took part.
	condition struct {
		group   int
		yes, no node
	}
	// A call stands for the body of a group, which it captures anew.
	call struct {
		name   string // "" of one that is called by its number
		number int
		body   *group // once all are known
		empty  bool   // whether the group can match no characters
	}
)

// parts returns what a node is made of.
func parts(n node) []node {
	switch n := n.(type) {
	case sequence:
		return n
	case choice:
		return n
	case *group:
		return []node{n.body}
	case repeat:
		return []node{n.body}
	case look:
		return []node{n.body}
	case atomic:
		return []node{n.body}
	case condition:
		return []node{n.yes, n.no}
	}
	return nil
}

// contains reports whether a node or one within it is such a one. Calls are not followed.
func contains(n node, is func(node) bool) bool {
	return is(n) || slices.ContainsFunc(parts(n), func(p node) bool { return contains(p, is) })
}

// empty reports whether a node can match no characters.
func empty(n node) bool {
	switch n := n.(type) {
	case chars:
		return false
	case repeat:
		return n.least == 0 || empty(n.body)
	case choice:
		return slices.ContainsFunc(n, empty)
	case condition:
		return empty(n.yes) || empty(n.no)
	case sequence:
		return !slices.ContainsFunc(n, func(p node) bool { return !empty(p) })
	case *group:
		return empty(n.body)
	case atomic:
		return empty(n.body)
	case *call:
		return n.empty
	}
	return true
}

// backtracks reports whether Go's engine cannot do what a node does, or does it otherwise
// than Ruby.
func backtracks(n node) bool {
	switch n := n.(type) {
	case look, atomic, *reference, condition, *call, keep:
		return true
	case anchor:
		return n == 'G'
	case repeat:
		return n.possessive || n.most != 1 && empty(n.body)
	}
	return false
}

// width returns how many characters a node matches; it is false if that varies.
func width(n node) (int, bool) {
	switch n := n.(type) {
	case chars:
		return 1, true
	case sequence:
		sum := 0
		for _, p := range n {
			w, ok := width(p)
			if sum += w; !ok || sum > maxRepeat {
				return 0, false
			}
		}
		return sum, true
	case choice:
		first, ok := width(n[0])
		for _, p := range n[1:] {
			if w, same := width(p); !same || w != first {
				return 0, false
			}
		}
		return first, ok
	case repeat:
		w, ok := width(n.body)
		if w *= n.least; n.least != n.most || w > maxRepeat {
			return 0, false
		}
		return w, ok
	case *group:
		return width(n.body)
	case atomic:
		return width(n.body)
	case *reference, condition, *call:
		return 0, false
	}
	return 0, true
}

// behindable reports whether Ruby takes a node behind (?<= or (?<!: alternatives of one
// width each, without what looks ahead.
func behindable(n node, negative bool) bool {
	if contains(n, func(n node) bool {
		switch n := n.(type) {
		case *group:
			return negative
		case look:
			return !n.behind
		case anchor:
			return n == 'z' || n == 'Z'
		case atomic, condition, *reference:
			return true
		}
		return false
	}) {
		return false
	}
	if whole, ok := n.(sequence); ok && len(whole) == 1 {
		n = whole[0]
	}
	ways, ok := n.(choice)
	if !ok {
		ways = choice{n}
	}
	return !slices.ContainsFunc(ways, func(n node) bool { _, ok := width(n); return !ok })
}

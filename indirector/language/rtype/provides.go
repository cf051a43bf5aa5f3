package rtype

import (
	"slices"

	"indirtui/indirector/language/ruby"
)

// Provides reports whether a Ruby file of lib/puppet/provider declares a provider
// for a type: it calls provide. Files of the Resource API lie there too, and do
// not.
func Provides(text string) bool {
	nodes, _ := ruby.Parse(text)
	return slices.ContainsFunc(nodes, func(n ruby.Node) bool { return provides(n, 0) })
}

func provides(n ruby.Node, depth int) bool {
	if depth > maxDepth {
		return false
	}
	some := func(all []ruby.Node) bool {
		return slices.ContainsFunc(all, func(n ruby.Node) bool { return provides(n, depth+1) })
	}
	switch n := n.(type) {
	case *ruby.Module:
		return some(n.Body)
	case *ruby.Branch:
		return slices.ContainsFunc(n.Bodies, some)
	case *ruby.Assign:
		return provides(n.Value, depth+1)
	case *ruby.Call:
		return n.Name == "provide" || n.Receiver != nil && provides(n.Receiver, depth+1) || n.Block != nil && some(n.Block.Body)
	}
	return false
}

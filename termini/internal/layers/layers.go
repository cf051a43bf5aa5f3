// Package layers collects what a node consists of when several places name it: its
// own entry, variables stacked on that, its parents, then facts. What is named first
// stays, and it is remembered what that displaced, for the trace.
package layers

import (
	"context"
	"fmt"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// A Node is what has been collected. The zero Node is empty. It is used by one
// goroutine.
type Node struct {
	Source       string // what it is read from: a DN, a domain name
	Environments []string
	Of           string // the source of the environments

	classes []class
	params  []param
	index   map[string]int // into params
	lost    []lost
}

type class struct{ name, from string }

type param struct {
	name  string
	value data.Value
	from  string
}

// A lost value has a name that is taken.
type lost struct{ name, from, to string }

const environment = "environment"

// Class adds a class. From is "" for what is the node's own, or names the place.
func (n *Node) Class(name, from string) { n.classes = append(n.classes, class{name, from}) }

// Environment adds environments; a node that ends up with two has none.
func (n *Node) Environment(names ...string) {
	n.Environments, n.Of = append(n.Environments, names...), n.Source
}

// Param adds a parameter unless there is one of that name. The environment is no
// parameter: Puppet overwrites it.
func (n *Node) Param(name string, value data.Value, from string) {
	if i, taken := n.index[name]; taken {
		n.lost = append(n.lost, lost{name, place(from), place(n.params[i].from)})
		return
	}
	if name == environment {
		n.lost = append(n.lost, lost{name, place(from), "the environment of the node"})
		return
	}
	if n.index == nil {
		n.index = make(map[string]int)
	}
	n.index[name] = len(n.params)
	n.params = append(n.params, param{name, value, from})
}

func place(from string) string {
	if from == "" {
		return "own"
	}
	return from
}

// Inherit fills gaps from a parent. Rule LDAP-08.
func (n *Node) Inherit(parent *Node, from string) {
	for _, c := range parent.classes {
		n.Class(c.name, strings.TrimSpace(from+" "+c.from))
	}
	for _, p := range parent.params {
		n.Param(p.name, p.value, strings.TrimSpace(from+" "+p.from))
	}
	if len(n.Environments) == 0 {
		n.Environments, n.Of = parent.Environments, parent.Of
	}
}

// Model returns the node, in its own environment or else the given one. Each class is
// there once.
func (n *Node) Model(name, environment string) *model.Node {
	node := &model.Node{Name: name, Environment: environment}
	if len(n.Environments) > 0 {
		node.Environment = n.Environments[0]
	}
	var classes []string
	seen := make(map[string]bool, len(n.classes))
	for _, c := range n.classes {
		if !seen[c.name] {
			seen[c.name] = true
			classes = append(classes, c.name)
		}
	}
	if classes != nil {
		node.Classes = data.OfStrings(classes)
	}
	pairs := make([]data.Pair, len(n.params))
	for i, p := range n.params {
		pairs[i] = data.P(p.name, p.value)
	}
	node.Parameters = data.OfHash(pairs)
	return node
}

// maxShown bounds the attributes of a span.
const maxShown = 200

// Record adds a span that shows where each class and parameter of the node came from,
// and what was displaced. Merged is the node with its facts. Values are left out: they
// may be secret.
func (n *Node) Record(ctx context.Context, merged *model.Node) {
	_, span := traces.Start(ctx, traces.Note, "node from "+n.Source)
	if span == nil {
		return
	}
	shown := 0
	attr := func(key, value string) {
		if shown++; shown <= maxShown {
			span.Attr(key, value)
		}
	}
	from := n.Of
	if len(n.Environments) == 0 {
		from = "the request"
	}
	attr(environment, merged.Environment+", from "+from)
	seen := make(map[string]string, len(n.classes))
	for _, c := range n.classes {
		if was, again := seen[c.name]; again {
			attr("lost class "+c.name, place(c.from)+", displaced by "+was)
			continue
		}
		seen[c.name] = place(c.from)
		attr("class "+c.name, place(c.from))
	}
	for _, p := range n.params {
		attr("parameter "+p.name, place(p.from))
	}
	for _, l := range n.lost {
		attr("lost "+l.name, l.from+", displaced by "+l.to)
	}
	if merged.Facts != nil {
		for _, f := range merged.Facts.Values.Hash() {
			if i, taken := n.index[f.Key.Text()]; taken {
				attr("lost "+f.Key.Text(), "fact, displaced by "+place(n.params[i].from))
			}
		}
	}
	if shown > maxShown {
		span.Attr("…", fmt.Sprintf("%d more", shown-maxShown))
	}
	span.End(fmt.Sprintf("%d classes, %d parameters, %d facts", len(seen), len(n.params), merged.Parameters.Len()-len(n.params)), traces.Because{}, nil)
}

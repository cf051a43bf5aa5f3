package model

import (
	"cmp"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
)

// A Node is a classified host. Rules FMT-NODE-01 to FMT-NODE-05.
type Node struct {
	Envelope
	Name        string
	Environment string     // as written, not resolved; "" is unset
	Classes     data.Value // a list of names, or a hash from name to parameters
	Parameters  data.Value // a hash; it does not repeat the environment
	Facts       *Facts     // that were merged in; never written
	Extra       []data.Pair
	odd         odd
}

var _ indirector.Expirer = (*Node)(nil)

func (n *Node) Key() string { return n.Name }

func (n *Node) WithExpiration(t time.Time) indirector.Instance { return expiring(*n, t) }

// ClassNames returns the names of the classes in order.
func (n *Node) ClassNames() []string {
	switch n.Classes.Kind() {
	case data.Hash:
		names := make([]string, n.Classes.Len())
		for i, p := range n.Classes.Hash() {
			names[i] = p.Key.Text()
		}
		return names
	case data.String:
		return []string{n.Classes.Str()}
	}
	return texts(n.Classes)
}

func nodeFromData(v data.Value) (*Node, error) {
	pairs, err := hashOf(v)
	if err != nil {
		return nil, err
	}
	n := new(Node)
	var environment data.Value
	named := false
	for _, p := range pairs {
		switch key(p) {
		case "name":
			named = p.Value.Truthy()
			n.Name = n.odd.text("name", p.Value)
		case "environment":
			environment = p.Value
		case "classes":
			n.Classes = p.Value
		case "parameters":
			n.Parameters = p.Value
		default:
			n.Extra = append(n.Extra, p)
		}
	}
	if !named {
		return nil, errorf(noName)
	}
	switch n.Classes.Kind() {
	case data.Bool, data.Int, data.Big, data.Float:
		if n.Classes.Truthy() { // Puppet finds out when it writes the node
			return nil, undefined("empty?", n.Classes)
		}
	}
	return n, n.environment(environment)
}

// environment takes the environment from its own key, or else from the
// parameters. It may be a symbol. Rule FMT-NODE-03.
func (n *Node) environment(v data.Value) error {
	switch k := n.Parameters.Kind(); {
	case k == data.Hash:
		for _, p := range n.Parameters.Hash() {
			if key(p) != "environment" {
				continue
			}
			if !v.Truthy() {
				v = p.Value
			}
			n.Parameters = n.Parameters.Without("environment")
			break
		}
	case n.Parameters.Truthy():
		return n.notHash()
	}
	switch v.Kind() {
	case data.String, data.Symbol:
		n.Environment = v.Str()
		return nil
	}
	if !v.Truthy() {
		return nil
	}
	return undefined("intern", v)
}

// notHash returns Ruby's error for parameters that are not a hash, which it
// raises at the latest when the environment is resolved.
func (n *Node) notHash() error {
	if _, err := hashOf(n.Parameters); err != nil {
		return err
	}
	return errorf(notMatched)
}

func filled(v data.Value) bool {
	switch v.Kind() {
	case data.String, data.List, data.Hash:
		return v.Len() > 0
	}
	return v.Truthy()
}

// Data returns the data hash. Empty classes and parameters are left out; an
// unset environment is written as Puppet's default. Rule FMT-NODE-01.
func (n *Node) Data() data.Value {
	h := make([]data.Pair, 0, 4+len(n.Extra))
	h = append(h, data.P("name", n.odd.ofText("name", n.Name)))
	environment := cmp.Or(n.Environment, "production")
	h = append(h, data.P("environment", data.OfString(environment)))
	if filled(n.Classes) {
		h = append(h, data.P("classes", n.Classes))
	}
	if filled(n.Parameters) {
		h = append(h, data.P("parameters", n.Parameters))
	}
	return data.OfHash(append(h, n.Extra...))
}

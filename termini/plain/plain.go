// Package plain has the terminus that answers every node with an empty one.
package plain

import (
	"context"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nodefacts"
)

// Node describes the plain terminus of the node indirection.
var Node = indirector.Descriptor{
	Indirection: "node",
	Name:        "plain",
	Note:        "an empty node for every name",
	Doc: "Answers every name with an empty node in the requested environment. " +
		"Its parameters are the facts of the same name. It is the default: which classes a node gets is then written in manifests.",
	Rules: []string{"IND-TERM-12"},
	Type:  (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		return &Terminus{facts: nodefacts.Merger{Env: env}}, nil
	},
}

// A Terminus makes nodes out of names.
type Terminus struct{ facts nodefacts.Merger }

// Find returns a node of that name with the facts merged in.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	node, err := t.facts.Merge(ctx, req, &model.Node{Name: req.Key, Environment: req.Environment})
	if err != nil {
		return nil, err
	}
	return node, nil
}

// Package none has the terminus that never knows anything.
package none

import (
	"context"

	"indirtui/indirector"
	"indirtui/traces"
)

// DataBinding describes the none terminus of the data_binding indirection.
var DataBinding = indirector.Descriptor{
	Indirection: "data_binding",
	Name:        "none",
	Doc:         "Knows no key. With it parameters of classes get their values from manifests only.",
	Rules:       []string{"IND-SEL-06"},
	AlwaysNil:   true,
	Type:        (*Terminus)(nil),
	New: func(indirector.Env) (indirector.Terminus, error) {
		return new(Terminus), nil
	},
}

// A Terminus never answers. In Puppet it throws :no_such_key, as data bindings
// do for a missing key.
type Terminus struct{}

var errNothing = indirector.NotFound(traces.AlwaysNil, "no such key")

// Find returns ErrNotFound.
func (*Terminus) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, errNothing
}

// Package status reports that a server is alive.
package status

import (
	"context"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// Local describes the local terminus of the status indirection.
var Local = indirector.Descriptor{
	Indirection: "status",
	Name:        "local",
	Note:        "this process is alive",
	Doc:         "Says that this process is alive, and which version of Puppet it behaves like. Puppet 7 has it no more.",
	Rules:       []string{"IND-TERM-12"},
	Type:        (*Terminus)(nil),
	New:         func(indirector.Env) (indirector.Terminus, error) { return new(Terminus), nil },
}

// version is the Puppet version that this program behaves like.
const version = "7.23.0"

// A Terminus gives the same answer to everybody.
type Terminus struct{}

// Find returns a status, whatever the key.
func (*Terminus) Find(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
	return &model.Status{Name: req.Key, IsAlive: true, Version: version}, nil
}

package ral

import (
	"context"
	"errors"

	"indirtui/indirector/resource/types"
)

// machine is what types ask of this machine.
func (t *Terminus) machine(context.Context) (types.Host, error) {
	return nil, errors.New("machine: to come")
}

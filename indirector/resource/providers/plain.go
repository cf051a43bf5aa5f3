package providers

import (
	"context"

	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// nothing is the provider of types that have none: what they do is no system's.
type nothing struct{}

func newNothing(logger) Provider { return nothing{} }

func (nothing) Retrieve(_ context.Context, _ System, r *types.Resource) ([]data.Pair, error) {
	var is []data.Pair
	for _, name := range r.Properties() {
		is = append(is, data.P(name, absent))
	}
	return is, nil
}

func (nothing) Set(context.Context, System, *types.Resource, string) error { return nil }

package ral

import (
	"context"
	"slices"

	"indirtui/indirector"
	"indirtui/indirector/resource/machine"
	"indirtui/termini/internal/nested"
)

// machine asks for the facts of this machine, whatever the facts indirection is routed to.
func (t *Terminus) machine(ctx context.Context) (*machine.Machine, error) {
	certname, _ := t.env.Settings.Get("certname")
	do := func(ctx context.Context, req *indirector.Request) (indirector.Response, error) {
		return nested.Ask(ctx, t.env.Do, req)
	}
	return machine.Here(ctx, do, certname, "ral", func(name string) (string, bool) {
		// Types ask for a setting wherever a fact of its name would do as well.
		if !slices.ContainsFunc(Resource.Settings, func(s indirector.Setting) bool { return s.Name == name }) {
			return "", false
		}
		value, place := t.env.Settings.Get(name)
		return value, place != ""
	})
}

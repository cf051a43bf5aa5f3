package ral

import (
	"context"
	"slices"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/machine"
	"indirtui/indirector/resource/types"
	"indirtui/termini/internal/nested"
)

// machine asks for the facts of this machine, whatever the facts indirection is routed to.
func (t *Terminus) machine(ctx context.Context) (types.Host, error) {
	certname, _ := t.env.Settings.Get("certname")
	found, err := nested.Find(ctx, t.env.Do, &indirector.Request{
		Indirection: "facts", Verb: indirector.Find, Key: certname, Terminus: "facter", Cache: indirector.Off, Caller: "ral",
	})
	if err != nil {
		return nil, err
	}
	facts := data.OfHash(nil)
	if f, ok := found.(*model.Facts); ok {
		facts = f.Values
	}
	return machine.New(facts, func(name string) (string, bool) {
		// Types ask for a setting wherever a fact of its name would do as well.
		if !slices.ContainsFunc(Resource.Settings, func(s indirector.Setting) bool { return s.Name == name }) {
			return "", false
		}
		value, place := t.env.Settings.Get(name)
		return value, place != ""
	}), nil
}

// Package probetest has the type probe, a resource without a system: what is there,
// what fails and what is made are its parameters. The recordings of transactions use
// it, so it is for tests alone.
package probetest

import (
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// Type returns the type probe. Its properties are ensure, one and two, many (a list)
// and secret (sensitive); the rest are parameters: is ({property: value}, what is
// there), breaks ({phase: message}), makes and spawns (titles of probes that are
// generated at the start, and when it is evaluated), after and feeds (titles for an
// autorequire and an autonotify).
func Type() *types.Type {
	all := []*types.Attribute{
		{Name: "name", Kind: types.Parameter},
		{
			Name:    "ensure",
			Choices: []types.Choice{{Name: "present", Event: "probe_made"}, {Name: "absent"}},
		},
		{Name: "one"},
		{Name: "two"},
		{Name: "many", All: true},
		{Name: "secret", Secret: true},
	}
	for _, name := range []string{"is", "breaks", "makes", "spawns", "after", "feeds"} {
		all = append(all, &types.Attribute{Name: name, Kind: types.Parameter})
	}
	return types.Define(types.Type{
		Name: "probe", Namevars: []string{"name"}, Attributes: all,
		Refreshable: true, Generates: true, EvalGenerates: true, Instances: types.ByProviders,
		Require: []types.Auto{{Type: "probe", Titles: titles("after")}},
		Notify:  []types.Auto{{Type: "probe", Titles: titles("feeds")}},
		Providers: []*types.Provider{
			{Name: "good", DefaultFor: []types.Facts{{"kernel": {"Linux"}}}},
			{Name: "unfit", Parents: []string{"good"}, Confines: []types.Confine{{Kind: "never"}}},
			{Name: "eager", Parents: []string{"good"}},
		},
	})
}

func titles(parameter string) func(*types.Resource) []string {
	return func(r *types.Resource) []string { return Titles(r.Value(parameter)) }
}

// Titles are those of one, or of a list of them.
func Titles(v data.Value) []string {
	if v.Kind() != data.List {
		if v.IsNil() {
			return nil
		}
		return []string{v.Text()}
	}
	var all []string
	for _, t := range v.List() {
		all = append(all, t.Text())
	}
	return all
}

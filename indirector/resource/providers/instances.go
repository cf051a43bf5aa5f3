package providers

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/types"
)

// A Found is an instance and the provider that listed it.
type Found struct {
	Instance
	Type     *types.Type
	Provider *types.Provider
}

// Resource makes a resource of an instance, with more values.
func (f *Found) Resource(h types.Host, more ...data.Pair) (*types.Resource, error) {
	values := slices.Concat(f.Namevars, []data.Pair{data.P("provider", data.OfSymbol(f.Provider.Name))}, more)
	return types.New(f.Type, h, types.Given{Title: f.Name, Values: values}, nil)
}

// A Listing is how resources are listed. The zero value lists all.
type Listing struct {
	// Note is called with what is worth knowing. It may be nil.
	Note func(about, text string)
	// Enough reports, after each provider with what it listed, that no other has to be asked.
	// It may be nil.
	Enough func(p *types.Provider, found []Found) bool
}

// List finds the resources of a type: those of the default provider, then those of others
// that have another source. A provider that is only listed here, and cannot be, is left out:
// in Puppet there would be no list at all. Rule RES-RAL-06.
func (s *Set) List(ctx context.Context, sys System, h types.Host, t *types.Type, how Listing) ([]Found, error) {
	note := how.Note
	if note == nil {
		note = func(string, string) {}
	}
	switch t.Instances {
	case types.Own:
		note(t.Name, "resources of this type cannot be listed: the list is empty")
		return nil, nil
	case types.None:
		return nil, &indirector.Failure{Class: "Puppet::DevError", Message: t.Name + " has no providers and has not overridden 'instances'"}
	}
	first, candidates := types.Select(t, h)
	if first == nil {
		note(t.Name, "no provider is suitable on this machine")
		return nil, nil
	}
	order := []*types.Provider{first}
	for _, c := range candidates {
		if c.Provider == first {
			note("provider "+first.Name, cmp.Or(strings.Join(c.Why, ", "), "the best that is suitable here"))
		} else if c.Suitable {
			order = append(order, c.Provider)
		}
	}
	var all []Found
	var sources []string
	seen := map[string]bool{}
	for _, p := range order {
		source := cmp.Or(p.Source, p.Name)
		if slices.Contains(sources, source) {
			continue
		}
		sources = append(sources, source)
		lister, only := s.lister(t, p.Name)
		if lister == nil {
			if !HasProvider(t, p.Name) {
				note("provider "+p.Name, "is not in this program: what it knows is missing")
			}
			continue
		}
		found, err := lister.Instances(ctx, sys)
		if err != nil && only && ctx.Err() == nil {
			note("provider "+p.Name, "cannot be listed: "+err.Error())
			continue
		}
		if err != nil {
			return nil, err
		}
		before := len(all)
		for _, is := range found {
			if !seen[is.Name] {
				seen[is.Name] = true
				all = append(all, Found{is, t, p})
			}
		}
		if how.Enough != nil && how.Enough(p, all[before:]) {
			break
		}
	}
	return all, nil
}

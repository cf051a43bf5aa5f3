// Package describe shows resource types: their attributes with the values that these
// take, their providers, and why one of them is used on this machine.
package describe

import (
	"cmp"
	"errors"
	"maps"
	"slices"
	"strings"

	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
	"indirtui/traces/spell"
)

// A Type is what is shown of a type, and printed as JSON: schema describe.
type Type struct {
	Name           string      `json:"name"`
	Doc            string      `json:"doc"`
	Module         string      `json:"module,omitempty"` // that brings it; none for Puppet's own
	Namevars       []string    `json:"namevars"`
	ApplyTo        string      `json:"apply_to"`
	Refresh        string      `json:"refresh"` // none, taken, or of itself
	Unique         bool        `json:"unique"`  // no two may have the same namevars
	Automatic      []Automatic `json:"automatic"`
	Properties     []Attribute `json:"properties"`
	Parameters     []Attribute `json:"parameters"`
	Metaparameters []string    `json:"metaparameters"`
	Provider       string      `json:"provider,omitempty"` // that is used here
	Why            string      `json:"why,omitempty"`      // why that one
	Providers      []Provider  `json:"providers"`
}

// Automatic is a relationship that is made without being declared.
type Automatic struct {
	Kind string `json:"kind"` // require, before, notify or subscribe
	Type string `json:"type"`
}

// An Attribute is one of a type.
type Attribute struct {
	Name     string   `json:"name"`
	Doc      string   `json:"doc"`
	Values   []Value  `json:"values,omitempty"`
	Patterns []string `json:"patterns,omitempty"`
	Default  string   `json:"default,omitempty"` // computed, if it depends on the resource
	Features []string `json:"features,omitempty"`
	List     bool     `json:"list,omitempty"` // all values of a list count, in their order
}

// A Value is one that an attribute takes.
type Value struct {
	Name     string   `json:"name"`
	Aliases  []string `json:"aliases,omitempty"`
	Features []string `json:"features,omitempty"`
}

// A Provider is one of a type, and what counts for and against it here.
type Provider struct {
	Name     string   `json:"name"`
	Doc      string   `json:"doc"`
	Suitable bool     `json:"suitable"`
	Default  bool     `json:"default"` // this system is one that it is the default for
	Rank     int      `json:"rank"`    // of several defaults, the highest counts
	Why      []string `json:"why"`
	Features []string `json:"features"`
	ByPuppet bool     `json:"by_puppet,omitempty"` // it is written in Ruby, so that Puppet does its resources
}

// New returns what is shown of a type on a host.
func New(t *types.Type, h types.Host) Type {
	d := Type{
		Name: t.Name, Doc: t.Doc, Module: t.Module, Namevars: t.Namevars, ApplyTo: t.ApplyTo, Refresh: "none", Unique: !t.Repeats,
		Automatic: []Automatic{}, Properties: []Attribute{}, Parameters: []Attribute{}, Providers: []Provider{},
	}
	switch {
	case t.SelfRefresh:
		d.Refresh = "of itself"
	case t.Refreshable:
		d.Refresh = "taken"
	}
	for _, a := range []struct {
		kind string
		all  []types.Auto
	}{{"require", t.Require}, {"before", t.Before}, {"notify", t.Notify}, {"subscribe", t.Subscribe}} {
		for _, auto := range a.all {
			d.Automatic = append(d.Automatic, Automatic{a.kind, auto.Type})
		}
	}
	for _, a := range t.Attributes {
		if a.Kind == types.Property {
			d.Properties = append(d.Properties, attribute(a))
		} else {
			d.Parameters = append(d.Parameters, attribute(a))
		}
	}
	for _, m := range types.Metaparameters() {
		d.Metaparameters = append(d.Metaparameters, m.Name)
	}
	d.choose(t, h)
	return d
}

func attribute(a *types.Attribute) Attribute {
	d := Attribute{Name: a.Name, Doc: a.Doc, Features: a.Features, List: a.All}
	for _, c := range a.Choices {
		d.Values = append(d.Values, Value{c.Name, c.Aliases, c.Features})
	}
	for _, p := range a.Patterns {
		d.Patterns = append(d.Patterns, p.String())
	}
	switch {
	case !a.Preset.IsNil():
		d.Default = a.Preset.Text()
	case a.Setting != "":
		d.Default = "the setting " + a.Setting
	case a.Default != nil:
		d.Default = "computed"
	}
	return d
}

// choose finds the provider that is used here. Rule RES-PROV-02.
func (d *Type) choose(t *types.Type, h types.Host) {
	chosen, all := types.Select(t, h)
	for _, c := range all {
		d.Providers = append(d.Providers, Provider{
			Name: c.Provider.Name, Doc: c.Provider.Doc, Suitable: c.Suitable, Default: c.Default, Rank: c.Specificity,
			Why: append([]string{}, c.Why...), ByPuppet: !providers.HasProvider(t, c.Provider.Name),
			Features: append([]string{}, c.Provider.Features...),
		})
	}
	// What is used comes first, then what could be, the best first.
	slices.SortStableFunc(d.Providers, func(a, b Provider) int { return cmp.Compare(a.order(chosen), b.order(chosen)) })
	if chosen != nil {
		d.Provider = chosen.Name
	}
	d.Why = d.why()
}

func (p Provider) order(chosen *types.Provider) int {
	switch {
	case chosen != nil && p.Name == chosen.Name:
		return -1 << 20
	case p.Suitable && p.Default:
		return -1<<15 - p.Rank
	case p.Suitable:
		return -p.Rank
	}
	return 1
}

// why is a sentence about the provider that is used.
func (d *Type) why() string {
	if len(d.Providers) == 0 {
		return ""
	}
	first := d.Providers[0]
	if !first.Suitable {
		return "no provider is suitable here"
	}
	because := "it is the only one that is suitable"
	rivals, tie := d.rivals()
	if first.Default {
		because = "it is the " + strings.Join(first.Why, "; ")
	} else if len(rivals) > 0 {
		because = "none that is suitable is a default here"
	}
	switch others := strings.Join(rivals, ", "); {
	case tie:
		because += "; of those that are equally good (" + others + ") it is the first"
	case others != "":
		because += ", and it is more specific than " + others
	}
	return first.Name + " is used here: " + because
}

// rivals are the others that count as much as the first, or less; tie reports whether
// the next one counts as much.
func (d *Type) rivals() (names []string, tie bool) {
	first := d.Providers[0]
	for _, p := range d.Providers[1:] {
		if p.Suitable && p.Default == first.Default {
			names = append(names, p.Name)
			tie = tie || p.Rank == first.Rank
		}
	}
	return names, tie
}

// Names are the types that can be described, sorted.
func Names() []string { return slices.Sorted(maps.Keys(types.All())) }

// Find returns a type by its name in any case. The error is Puppet's.
func Find(name string) (*types.Type, error) {
	if t := types.Find(name); t != nil {
		return t, nil
	}
	text := "Unknown type " + name
	if near := spell.Nearest(name, Names()); near != "" {
		text += "; did you mean " + near + "?"
	}
	return nil, errors.New(text)
}

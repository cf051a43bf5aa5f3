package types

import (
	"maps"
	"slices"

	"indirtui/indirector/data"
)

// Substitute puts other wanted values in the place of those of a property, until
// restore is called: comparisons go by them. Rule RES-COR-01.
func (r *Resource) Substitute(property string, should []data.Value) (restore func()) {
	x := r.values[property]
	if x == nil {
		return func() {}
	}
	wanted := x.should
	x.should = should
	return func() { x.should = wanted }
}

// Try returns why values would be refused, as Set and Validate refuse them; nil if they
// would not be. The resource stays as it is, and nothing is logged. What is amiss as a whole
// before is no reason: a file that is applied has the content of its source, too.
func (r *Resource) Try(values []data.Pair) error {
	trial := r.Trial()
	valid := trial.Validate() == nil
	for _, p := range values {
		if err := trial.Set(p.Key.Text(), p.Value); err != nil {
			return err
		}
	}
	if !valid {
		return nil
	}
	return trial.Validate()
}

// Trial is a copy to try values with, which logs nothing.
func (r *Resource) Trial() *Resource {
	trial := *r
	trial.Log, trial.LogPuppet = nil, nil
	trial.order, trial.Tags = slices.Clone(r.order), slices.Clone(r.Tags)
	trial.values = maps.Clone(r.values)
	for name, v := range trial.values {
		own := *v
		trial.values[name] = &own
	}
	return &trial
}

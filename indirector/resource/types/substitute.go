package types

import "indirtui/indirector/data"

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

package format

import (
	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/rich"
)

// readRich reads the rich data of a catalog or resource as Puppet does. Values
// stay encoded. A value that Puppet could not read is an error; an unknown type
// is kept and noted, because a module may define it. Rule: rich data, 4.1.
func readRich(i indirector.Instance, notes Notes, lenient bool) (Notes, error) {
	var resources []model.Resource
	switch x := i.(type) {
	case *model.Catalog:
		resources = x.Resources
	case *model.Resource:
		return readParameters(x, notes, lenient)
	}
	for n := range resources {
		var err error
		if notes, err = readParameters(&resources[n], notes, lenient); err != nil {
			return notes, err
		}
	}
	return notes, nil
}

func readParameters(r *model.Resource, notes Notes, lenient bool) (Notes, error) {
	parameters, more, err := rich.Read(r.Parameters)
	if err != nil && lenient {
		return append(notes, "real Puppet refuses this: "+err.Error()), nil
	}
	r.Parameters = parameters
	return append(notes, more...), err
}

package transaction

import (
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
)

// resolved is a catalog whose deferred values are computed, at any depth. Rule
// RES-CONV-03.
func (t *transaction) resolved(c *model.Catalog) (*model.Catalog, error) {
	if t.Resolve == nil || !t.PreprocessDeferred {
		return c, nil
	}
	out := *c
	out.Resources = make([]model.Resource, len(c.Resources))
	for i, r := range c.Resources {
		var err error
		if r.Parameters, err = t.resolvedValue(r.Parameters); err != nil {
			return nil, err
		}
		out.Resources[i] = r
	}
	return &out, nil
}

func (t *transaction) resolvedValue(v data.Value) (data.Value, error) {
	switch {
	case types.IsDeferred(v):
		return t.Resolve(t.ctx, v)
	case v.Kind() == data.List:
		all := make([]data.Value, v.Len())
		for i, x := range v.List() {
			var err error
			if all[i], err = t.resolvedValue(x); err != nil {
				return v, err
			}
		}
		return data.OfList(all), nil
	case v.Kind() == data.Hash:
		all := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			x, err := t.resolvedValue(p.Value)
			if err != nil {
				return v, err
			}
			all[i] = data.Pair{Key: p.Key, Value: x}
		}
		return data.OfHash(all), nil
	}
	return v, nil
}

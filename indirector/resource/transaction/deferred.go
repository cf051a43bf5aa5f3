package transaction

import (
	"encoding/base64"
	"errors"
	"fmt"
	"slices"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// resolved is a catalog whose deferred values are computed, and whose rich data are values,
// at any depth. A plan goes on without what cannot be computed. Rule RES-CONV-03.
func (t *transaction) resolved(c *model.Catalog) (*model.Catalog, error) {
	out := *c
	out.Resources = make([]model.Resource, len(c.Resources))
	for i, r := range c.Resources {
		pairs := make([]data.Pair, r.Parameters.Len())
		for j, p := range r.Parameters.Hash() {
			v, err := t.resolvedParameter(p.Value)
			switch {
			case err == nil:
			case t.plan != nil:
				t.plan.unresolved[r.Ref()] = fmt.Sprintf("%s: %v", p.Key.Text(), err)
				v = p.Value
			case errors.Is(err, errors.ErrUnsupported):
				v = p.Value // the resource fails when it is its turn
			default:
				return nil, err
			}
			pairs[j] = data.Pair{Key: p.Key, Value: v}
		}
		if len(pairs) > 0 {
			r.Parameters = data.OfHash(pairs)
		}
		out.Resources[i] = r
	}
	return &out, nil
}

func (t *transaction) resolvedParameter(v data.Value) (data.Value, error) {
	switch {
	case !hasRich(v, ""):
		return v, nil
	case t.Resolve != nil && (t.PreprocessDeferred || t.plan != nil || !hasRich(v, "Deferred")):
		return t.Resolve(t.ctx, v)
	case v.Get("__ptype").Str() == "Binary":
		text, err := base64.StdEncoding.DecodeString(v.Get("__pvalue").Str())
		return data.OfString(string(text)), err
	}
	return v, nil
}

// hasRich reports whether there is rich data of a type in v, or of any if the name is "".
func hasRich(v data.Value, name string) bool {
	switch v.Kind() {
	case data.List:
		return slices.ContainsFunc(v.List(), func(x data.Value) bool { return hasRich(x, name) })
	case data.Hash:
		return slices.ContainsFunc(v.Hash(), func(p data.Pair) bool {
			return p.Key.Text() == "__ptype" && (name == "" || p.Value.Text() == name) || hasRich(p.Value, name)
		})
	}
	return false
}

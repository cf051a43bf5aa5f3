package transaction

import (
	"context"

	"indirtui/indirector/model"
)

// A Rest is what a run that is held has still to do, without the resource in hand.
type Rest struct {
	Plan *Plan                 // made when the run was held first
	View func() (*View, error) // the graph of the whole catalog
}

// A resting is what a run knows of its rest.
type resting struct {
	catalog *model.Catalog
	plan    *Plan // of all of it; nil until it is asked for
	tried   bool
	taken   map[string]bool // resources whose turn is over, by reference
}

// rest plans what is still to be done; nil if that cannot be planned. What the helper does
// cannot be known: it is busy.
func (t *transaction) rest(inHand *Resource) *Rest {
	r, o := &t.resting, t.Options
	o.Observer, o.Request, o.Stop, o.Provider = nil, nil, nil, nil
	if !r.tried && r.catalog != nil {
		r.tried = true
		ctx, cancel := context.WithCancel(context.Background()) // what is looked at is no span of the resource in hand
		defer cancel()
		defer context.AfterFunc(t.ctx, cancel)()
		r.plan, _ = MakePlan(ctx, r.catalog, o, false) // without one there is nothing to show
	}
	if r.plan == nil {
		return nil
	}
	left := &Plan{Catalog: r.plan.Catalog, Resources: []Planned{}}
	for i := range r.plan.Resources {
		if n := &r.plan.Resources[i]; n.Resource != inHand.Ref() && !r.taken[n.Resource] {
			left.Totals.count(n)
			left.Resources = append(left.Resources, *n)
		}
	}
	catalog, host, types := r.catalog, t.Host, t.Types
	return &Rest{left, func() (*View, error) { return NewView(catalog, host, types) }}
}

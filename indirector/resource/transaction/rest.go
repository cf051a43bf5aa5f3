package transaction

import (
	"context"

	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
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
}

// rest plans what is still to be done; nil if that cannot be planned. What the helper does
// cannot be known: it is busy.
func (t *transaction) rest(inHand *Resource) *Rest {
	r, o := &t.resting, t.Options
	o.Observer, o.Request, o.Stop = nil, nil, nil
	o.Provider = func(r *types.Resource) providers.Provider {
		if t.Provider == nil {
			return nil
		}
		p := t.Provider(r)
		if _, whole := p.(providers.Whole); whole {
			return nil
		}
		return p
	}
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
	left, refreshed := &Plan{Catalog: r.plan.Catalog, Resources: []Planned{}}, t.toRefresh()
	over := map[string]bool{inHand.Ref(): true}
	for _, r := range t.graph.Vertices() {
		over[r.Ref()] = over[r.Ref()] || r.over
	}
	for _, n := range r.plan.Resources {
		if over[n.Resource] {
			continue
		}
		if by := refreshed[n.Resource]; len(by) > 0 && len(n.RefreshedBy) == 0 {
			n.RefreshedBy = by
			if n.Outcome == Same {
				n.Outcome, n.Because = WouldRefresh, RefreshedBy
			}
		}
		left.Totals.count(&n)
		left.Resources = append(left.Resources, n)
	}
	catalog, host, known := r.catalog, t.Host, t.Types
	return &Rest{left, func() (*View, error) { return NewView(catalog, host, known) }}
}

// toRefresh are the resources that events which are queued will refresh, also by what is
// refreshed itself, and by whom.
func (t *transaction) toRefresh() map[string][]string {
	by := map[string][]string{}
	var queue []*Resource
	for _, r := range t.graph.Vertices() {
		if len(t.queued[r]) > 0 && !r.over {
			queue = append(queue, r)
			by[r.Ref()] = texts(t.senders[r])
		}
	}
	seen := map[*Resource]bool{}
	for ; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		if seen[from] {
			continue
		}
		seen[from] = true
		for _, edge := range edgesOf(from.out) {
			if carries(edge) {
				queue = append(queue, edge.To)
				by[edge.To.Ref()] = append(by[edge.To.Ref()], from.String())
			}
		}
	}
	return by
}

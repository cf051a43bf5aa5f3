package transaction

import "indirtui/indirector/resource/types"

// Relate returns the graph of what resources ask for, by themselves and automatically.
// Containers are vertices still: see [Graph.Expand]. debug takes what Puppet logs of
// relationships that are left out; it may be nil. Rules RES-GRAPH-01 to RES-GRAPH-03.
func (c *Catalog) Relate(debug func(r *Resource, message string)) (*Graph, error) {
	g := newGraph()
	for _, r := range c.resources {
		g.add(r)
	}
	for _, r := range c.resources {
		for _, k := range relationships {
			if err := c.declared(g, r, k.kind, k.in, k.refresh); err != nil {
				return nil, err
			}
		}
	}
	for _, r := range c.resources {
		if r.RAL == nil {
			continue
		}
		a := automatic{c, g, r, debug}
		t := r.RAL.Type
		a.relate(Autorequire, t.Require, true, false)
		a.relate(Autosubscribe, t.Subscribe, true, true)
		a.relate(Autobefore, t.Before, false, false)
		a.relate(Autonotify, t.Notify, false, true)
	}
	return g, nil
}

// declared adds the edges of one metaparameter. Rule RES-GRAPH-02.
func (c *Catalog) declared(g *Graph, r *Resource, kind EdgeKind, in, refresh bool) error {
	for _, w := range r.waits {
		if w.kind != kind {
			continue
		}
		for _, ref := range w.to {
			other := c.find(ref)
			if other == nil {
				return failf("Could not retrieve dependency '%s' of %s%s", ref, r.Ref(), at(r.File, r.Line))
			}
			g.connect(edge(r, other, kind, in, refresh))
		}
	}
	return nil
}

// edge leads from other to r if in, and the other way otherwise.
func edge(r, other *Resource, kind EdgeKind, in, refresh bool) *Edge {
	if in {
		return &Edge{From: other, To: r, Kind: kind, Refresh: refresh, By: r}
	}
	return &Edge{From: r, To: other, Kind: kind, Refresh: refresh, By: r}
}

// automatic adds the automatic relationships of a resource.
type automatic struct {
	c     *Catalog
	g     *Graph
	r     *Resource
	debug func(r *Resource, message string)
}

// relate adds those of one kind, unless there is an edge already; one in the other
// direction wins, too. Rule RES-GRAPH-03.
func (a automatic) relate(kind EdgeKind, autos []types.Auto, in, refresh bool) {
	var edges []*Edge
	for _, auto := range autos {
		for _, title := range auto.Titles(a.r.RAL) {
			if other := a.c.find(types.Ref{Type: auto.Type, Title: title}); other != nil {
				edges = append(edges, edge(a.r, other, kind, in, refresh))
			}
		}
	}
	for _, e := range edges {
		same, opposite := a.g.has(e.From, e.To), a.g.has(e.To, e.From)
		other := e.From
		if !in { // Puppet looks in the wrong direction
			same, opposite, other = opposite, same, e.To
		}
		switch {
		case same:
		case !opposite:
			a.g.connect(e)
		case a.debug != nil:
			a.debug(a.r, "Skipping automatic relationship with "+other.String())
		}
	}
}

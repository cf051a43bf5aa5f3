package transaction

// Expand puts two whits in the place of each container, so that what waits for the
// container waits for all that is in it. Rule RES-GRAPH-04.
func (g *Graph) Expand() {
	var containers []*Resource
	begin, end := map[*Resource]*Resource{}, map[*Resource]*Resource{}
	for _, r := range g.vertices {
		if r.Container() {
			containers = append(containers, r)
		}
	}
	for _, x := range containers {
		begin[x], end[x] = newWhit(x, admissiblePrefix, x.Ref()), newWhit(x, completedPrefix, x.Ref())
		for _, w := range []*Resource{begin[x], end[x]} {
			w.Tags = x.Tags
			g.addAt(w, x.priority)
		}
	}
	admissible := func(r *Resource) *Resource { return orSelf(begin, r) }
	completed := func(r *Resource) *Resource { return orSelf(end, r) }
	for _, x := range containers {
		if len(x.children) == 0 {
			g.connect(&Edge{From: begin[x], To: end[x], Kind: Contained, By: x})
		}
		for _, v := range x.children {
			g.connect(&Edge{From: begin[x], To: admissible(v), Kind: Contained, Refresh: true, By: x})
			g.connect(&Edge{From: completed(v), To: end[x], Kind: Contained, Refresh: true, By: x})
		}
		for _, e := range edgesOf(x.in) {
			g.connect(&Edge{From: completed(e.From), To: begin[x], Kind: e.Kind, Refresh: e.Refresh, By: e.By})
		}
		g.dropAll(x.in)
		for _, e := range edgesOf(x.out) {
			g.connect(&Edge{From: end[x], To: admissible(e.To), Kind: e.Kind, Refresh: e.Refresh, By: e.By})
		}
		g.dropAll(x.out)
	}
	g.removeAll((*Resource).Container)
}

func orSelf(m map[*Resource]*Resource, r *Resource) *Resource {
	if w := m[r]; w != nil {
		return w
	}
	return r
}

func (g *Graph) dropAll(bundles []*bundle) {
	for _, b := range bundles {
		g.drop(b)
	}
}

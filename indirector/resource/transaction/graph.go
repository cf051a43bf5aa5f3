package transaction

import "slices"

// A Graph has the resources of a catalog and what must be done before what. Vertices
// and edges keep the order in which they were added, which decides texts and ties. It
// belongs to one goroutine. Rules RES-GRAPH-01 to RES-GRAPH-10.
type Graph struct {
	vertices []*Resource
	pairs    map[[2]*Resource]*bundle
	last     uint32 // the last priority that was given
	ready    queue
}

// A vertex is what a graph keeps of a resource.
type vertex struct {
	present  bool
	in, out  []*bundle // those without edges are removed ones
	priority priority
	nested   uint32 // the last priority that was given below it
	blockers int    // how many dependencies are not done; below 0 it is not known
	done     bool
}

// A bundle is all edges from one vertex to another.
type bundle struct {
	from, to *Resource
	edges    []*Edge
}

// An Edge makes one resource wait for another.
type Edge struct {
	From, To *Resource
	Kind     EdgeKind
	Refresh  bool      // events go along it, and refresh what it leads to
	By       *Resource // the one that declares it, or the container
}

// EdgeKind is why an edge exists.
type EdgeKind string

// The kinds of edges.
const (
	Require       EdgeKind = "require"
	Before        EdgeKind = "before"
	Notify        EdgeKind = "notify"
	Subscribe     EdgeKind = "subscribe"
	Autorequire   EdgeKind = "autorequire"
	Autobefore    EdgeKind = "autobefore"
	Autonotify    EdgeKind = "autonotify"
	Autosubscribe EdgeKind = "autosubscribe"
	Contained     EdgeKind = "contained"
	Generated     EdgeKind = "generated"
)

func newGraph() *Graph { return &Graph{pairs: map[[2]*Resource]*bundle{}} }

// Len is how many vertices there are.
func (g *Graph) Len() int { return len(g.vertices) }

// Vertices returns the resources in the order in which they were added. The slice is
// not to be written.
func (g *Graph) Vertices() []*Resource { return g.vertices }

// add makes r a vertex with the next priority, unless it is one. Rule RES-GRAPH-01.
func (g *Graph) add(r *Resource) {
	if r.present {
		return
	}
	g.vertices = append(g.vertices, r)
	r.present, r.blockers = true, -1
	if r.priority == "" {
		g.last++
		r.priority = priority("").below(g.last)
	}
}

// addAt is add with the priority p.
func (g *Graph) addAt(r *Resource, p priority) {
	r.priority = p
	g.add(r)
}

// removeAll removes vertices with their edges.
func (g *Graph) removeAll(gone func(*Resource) bool) {
	for _, r := range g.vertices {
		if !gone(r) {
			continue
		}
		r.present = false
		for _, b := range slices.Concat(r.in, r.out) {
			g.drop(b)
		}
	}
	g.vertices = slices.DeleteFunc(g.vertices, gone)
}

// drop removes all edges of a bundle.
func (g *Graph) drop(b *bundle) {
	if len(b.edges) > 0 {
		b.edges = nil
		delete(g.pairs, [2]*Resource{b.from, b.to})
	}
}

// connect adds an edge, and its ends where they are no vertices yet.
func (g *Graph) connect(e *Edge) {
	g.add(e.From)
	g.add(e.To)
	key := [2]*Resource{e.From, e.To}
	b := g.pairs[key]
	if b == nil {
		b = &bundle{from: e.From, to: e.To}
		g.pairs[key] = b
		e.From.out = append(e.From.out, b)
		e.To.in = append(e.To.in, b)
	}
	b.edges = append(b.edges, e)
}

// relate is connect for an edge whose end may have been ready. Rule RES-GRAPH-07.
func (g *Graph) relate(e *Edge) {
	g.connect(e)
	g.ready.remove(e.To.priority)
}

// has reports whether there is an edge from one vertex to another.
func (g *Graph) has(from, to *Resource) bool { return g.pairs[[2]*Resource{from, to}] != nil }

// Edges returns all edges, by the vertex that they lead to.
func (g *Graph) Edges() []*Edge {
	var all []*Edge
	for _, r := range g.vertices {
		all = append(all, edgesOf(r.in)...)
	}
	return all
}

// edgesOf returns the edges of bundles, which may then be removed.
func edgesOf(bundles []*bundle) []*Edge {
	var all []*Edge
	for _, b := range bundles {
		all = append(all, b.edges...)
	}
	return all
}

// dependencies calls f with what r waits for, until f returns false.
func (r *Resource) dependencies(f func(*Resource) bool) {
	for _, b := range r.in {
		if len(b.edges) > 0 && !f(b.from) {
			return
		}
	}
}

// dependents calls f with what waits for r, until f returns false.
func (r *Resource) dependents(f func(*Resource) bool) {
	for _, b := range r.out {
		if len(b.edges) > 0 && !f(b.to) {
			return
		}
	}
}

package transaction

import (
	"slices"

	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
)

// A View is the graph of a catalog as commands print it.
type View struct {
	Catalog       string         `json:"catalog"`
	Resources     int            `json:"resources"`     // with containers
	Relationships int            `json:"relationships"` // declared and automatic ones
	Order         []Turn         `json:"order,omitempty"`
	Cycles        []Cycle        `json:"cycles,omitempty"`   // the shortest first; there is no order then
	Problems      []string       `json:"problems,omitempty"` // of resources that their types refuse
	Around        *Neighbourhood `json:"around,omitempty"`

	catalog  *Catalog
	vertices []*Resource // with containers
	edges    []*Edge     // between them
	graph    *Graph      // with whits in the place of containers
}

// A Turn is a resource in the order of evaluation.
type Turn struct {
	Resource string `json:"resource"`
	File     string `json:"file,omitempty"`
	Line     int64  `json:"line,omitempty"`
}

// A Link is one end of a relationship.
type Link struct {
	Resource string `json:"resource"` // at the other end
	Kind     string `json:"kind"`
	Refresh  bool   `json:"refresh,omitempty"`
	Via      string `json:"via,omitempty"` // the container that has the relationship
	By       string `json:"declared_by"`
	File     string `json:"file,omitempty"` // where that is declared
	Line     int64  `json:"line,omitempty"`
}

// A Neighbourhood is what one resource waits for, and what waits for it.
type Neighbourhood struct {
	Resource string `json:"resource"`
	File     string `json:"file,omitempty"`
	Line     int64  `json:"line,omitempty"`
	Turn     int    `json:"turn,omitempty"` // counted from 1; 0 for containers, and if there are cycles
	WaitsFor []Link `json:"waits_for"`
	Waiting  []Link `json:"waited_for_by"`
	Contains []Link `json:"contains,omitempty"`
}

// NewView works out the graph of a catalog, as it would be when the catalog is applied.
// Resources of types that are not known are taken for what they are.
func NewView(c *model.Catalog, host types.Host, byType map[string]*types.Type) (*View, error) {
	settings := ReadSettings(host)
	catalog, err := Convert(c, Conversion{Types: byType, Host: host, Foreign: true, Refused: true})
	if err != nil {
		return nil, err
	}
	if err := catalog.Finalize(settings.DefaultSchedules, settings.ClientBucket); err != nil {
		return nil, err
	}
	g, err := catalog.Relate(nil)
	if err != nil {
		return nil, err
	}
	v := &View{Catalog: c.Name, catalog: catalog, vertices: slices.Clone(g.Vertices()), edges: g.Edges(), graph: g}
	v.Resources, v.Relationships = len(v.vertices), len(v.edges)
	for _, r := range v.vertices {
		if r.problem != nil {
			v.Problems = append(v.Problems, r.problem.Error())
		}
	}
	g.Expand()
	if cycles := g.Cycles(); len(cycles) > 0 {
		v.Cycles = viewCycles(cycles)
		return v, nil
	}
	err = g.Walk(Walker{Visit: func(r *Resource) error {
		if r.Kind != Whit {
			v.Order = append(v.Order, Turn{r.Ref(), r.File, r.Line})
		}
		return nil
	}})
	return v, err
}

// References are those of all resources, in the order of the catalog.
func (v *View) References() []string {
	refs := make([]string, len(v.vertices))
	for i, r := range v.vertices {
		refs[i] = r.Ref()
	}
	return refs
}

// Look fills in Around: the neighbourhood of the nth of References.
func (v *View) Look(n int) {
	r := v.vertices[n]
	a := &Neighbourhood{Resource: r.Ref(), File: r.File, Line: r.Line, WaitsFor: []Link{}, Waiting: []Link{}}
	a.Turn = 1 + slices.IndexFunc(v.Order, func(t Turn) bool { return t.Resource == a.Resource })
	v.neighbours(a, r, "")
	seen := map[*Resource]bool{r: true}
	for c := r.Parent(); c != nil && !seen[c]; c = c.Parent() {
		seen[c] = true
		a.WaitsFor = append(a.WaitsFor, Link{Resource: c.Ref(), Kind: string(Contained), By: c.Ref(), File: c.File, Line: c.Line})
		v.neighbours(a, c, c.Ref())
	}
	for _, child := range r.children {
		a.Contains = append(a.Contains, Link{Resource: child.Ref(), Kind: string(Contained), By: r.Ref(), File: child.File, Line: child.Line})
	}
	v.Around = a
}

// neighbours adds the relationships that a resource has itself, or that a container has.
func (v *View) neighbours(a *Neighbourhood, r *Resource, via string) {
	for _, e := range v.edges {
		link := Link{Kind: string(e.Kind), Refresh: e.Refresh, Via: via, By: e.By.Ref(), File: e.By.File, Line: e.By.Line}
		if e.To == r {
			link.Resource = e.From.Ref()
			a.WaitsFor = append(a.WaitsFor, link)
		}
		if e.From == r {
			link.Resource = e.To.Ref()
			a.Waiting = append(a.Waiting, link)
		}
	}
}

// Kinds are the graphs that Puppet writes for Graphviz. Rule RES-GRAPH-10.
var Kinds = []string{"resources", "relationships", "expanded_relationships"}

// Dot is one of them, as Puppet writes it: of resources and what contains them, of
// relationships, or of these with whits in the place of containers.
func (v *View) Dot(kind string) []byte {
	name := dotName(kind)
	switch kind {
	case "resources":
		return appendDot(nil, name, v.catalog.added, v.catalog.containment())
	case "relationships":
		return appendDot(nil, name, v.vertices, v.edges)
	}
	return appendDot(nil, name, v.graph.Vertices(), v.graph.Edges())
}

// containment has an edge for each resource that is contained.
func (c *Catalog) containment() []*Edge {
	var edges []*Edge
	for _, r := range c.added {
		for _, p := range r.parents {
			edges = append(edges, &Edge{From: p, To: r, Kind: Contained, By: p})
		}
	}
	return edges
}

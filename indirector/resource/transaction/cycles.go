package transaction

import (
	"fmt"
	"slices"
	"strings"
)

// Cycles returns the parts of the graph in which each vertex waits for each other, or
// for itself, sorted as Puppet does. Rule RES-GRAPH-08.
func (g *Graph) Cycles() [][]*Resource {
	t := tarjan{at: make(map[*Resource]*visit, len(g.vertices))}
	for _, r := range g.vertices {
		if t.at[r] == nil {
			t.from(r)
		}
	}
	var cycles [][]*Resource
	for _, part := range t.parts {
		if len(part) > 1 || g.has(part[0], part[0]) {
			slices.SortFunc(part, byRef)
			cycles = append(cycles, part)
		}
	}
	slices.SortFunc(cycles, func(a, b []*Resource) int { return slices.CompareFunc(a, b, byRef) })
	return cycles
}

func byRef(a, b *Resource) int { return strings.Compare(a.Ref(), b.Ref()) }

// A tarjan finds strongly connected parts by Tarjan's algorithm, without recursion:
// a chain may be as long as the catalog.
type tarjan struct {
	at    map[*Resource]*visit
	stack []*visit // of those whose part is not known yet
	parts [][]*Resource
}

type visit struct {
	r          *Resource
	index, low int
	open       bool // is on the stack
	next       int  // of the bundles that lead out
}

func (t *tarjan) enter(r *Resource) *visit {
	v := &visit{r: r, index: len(t.at), low: len(t.at), open: true}
	t.at[r] = v
	t.stack = append(t.stack, v)
	return v
}

func (t *tarjan) from(root *Resource) {
	path := []*visit{t.enter(root)}
	for len(path) > 0 {
		v := path[len(path)-1]
		if v.next < len(v.r.out) {
			b := v.r.out[v.next]
			v.next++
			switch to := t.at[b.to]; {
			case len(b.edges) == 0:
			case to == nil:
				path = append(path, t.enter(b.to))
			case to.open:
				v.low = min(v.low, to.index)
			}
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			above := path[len(path)-1]
			above.low = min(above.low, v.low)
		}
		if v.low == v.index {
			t.close(v)
		}
	}
}

// close takes the part that begins with v from the stack.
func (t *tarjan) close(v *visit) {
	i := slices.Index(t.stack, v)
	part := make([]*Resource, 0, len(t.stack)-i)
	for _, x := range t.stack[i:] {
		x.open = false
		part = append(part, x.r)
	}
	t.stack = t.stack[:i]
	t.parts = append(t.parts, part)
}

// cyclesText is what Puppet logs of cycles. The two characters after each are no line
// break there, either. Rule RES-GRAPH-08.
func cyclesText(cycles [][]*Resource, graphFile string) string {
	var b strings.Builder
	noun := "cycle"
	if len(cycles) > 1 {
		noun = "cycles"
	}
	fmt.Fprintf(&b, "Found %d dependency %s:\n", len(cycles), noun)
	for _, c := range cycles {
		b.WriteString("(")
		for i, r := range CyclePath(c) {
			if i > 0 {
				b.WriteString(" => ")
			}
			b.WriteString(r.String())
		}
		b.WriteString(`)\n`)
	}
	if graphFile != "" {
		fmt.Fprintf(&b, "Cycle graph written to %s.", graphFile)
	} else {
		b.WriteString("Try the '--graph' option and opening the resulting '.dot' file in OmniGraffle or GraphViz")
	}
	return b.String()
}

package transaction

import (
	"fmt"
	"slices"
	"strings"
)

// Cycles returns the parts of the graph in which each vertex waits for each other, or
// for itself, sorted as Puppet does. Rule RES-GRAPH-08.
func (g *Graph) Cycles() [][]*Resource {
	var cycles [][]*Resource
	for _, part := range connected(adjacency(g.vertices)) {
		if len(part) == 1 && !g.has(g.vertices[part[0]], g.vertices[part[0]]) {
			continue
		}
		cycle := make([]*Resource, len(part))
		for i, n := range part {
			cycle[i] = g.vertices[n]
		}
		slices.SortFunc(cycle, byRef)
		cycles = append(cycles, cycle)
	}
	slices.SortFunc(cycles, func(a, b []*Resource) int { return slices.CompareFunc(a, b, byRef) })
	return cycles
}

func byRef(a, b *Resource) int { return strings.Compare(a.Ref(), b.Ref()) }

// adjacency numbers vertices, and lists for each those of them that it leads to.
func adjacency(vertices []*Resource) [][]int {
	number := make(map[*Resource]int, len(vertices))
	for i, r := range vertices {
		number[r] = i
	}
	out := make([][]int, len(vertices))
	for i, r := range vertices {
		r.dependents(func(d *Resource) bool {
			if n, ok := number[d]; ok {
				out[i] = append(out[i], n)
			}
			return true
		})
	}
	return out
}

// connected returns the strongly connected parts of a graph, by Tarjan's algorithm. It
// does without recursion: a chain may be as long as the catalog.
func connected(out [][]int) [][]int {
	t := tarjan{out: out, at: make([]visit, len(out))}
	for i := range out {
		if t.at[i].index == 0 {
			t.from(i)
		}
	}
	return t.parts
}

type tarjan struct {
	out   [][]int
	at    []visit
	seen  int
	stack []int // of those whose part is not known yet
	parts [][]int
}

// A visit is what is known of a vertex. Indexes begin with 1; 0 is not visited.
type visit struct {
	index, low int
	next       int // of those that it leads to
	open       bool
}

func (t *tarjan) enter(i int) {
	t.seen++
	t.at[i] = visit{index: t.seen, low: t.seen, open: true}
	t.stack = append(t.stack, i)
}

func (t *tarjan) from(root int) {
	t.enter(root)
	path := []int{root}
	for len(path) > 0 {
		i := path[len(path)-1]
		v := &t.at[i]
		if v.next < len(t.out[i]) {
			to := t.out[i][v.next]
			v.next++
			if t.at[to].index == 0 {
				t.enter(to)
				path = append(path, to)
			} else if t.at[to].open {
				v.low = min(v.low, t.at[to].index)
			}
			continue
		}
		path = path[:len(path)-1]
		if len(path) > 0 {
			above := &t.at[path[len(path)-1]]
			above.low = min(above.low, v.low)
		}
		if v.low == v.index {
			t.close(i)
		}
	}
}

// close takes the part that begins with a vertex from the stack.
func (t *tarjan) close(i int) {
	var part []int
	for {
		last := t.stack[len(t.stack)-1]
		t.stack = t.stack[:len(t.stack)-1]
		t.at[last].open = false
		part = append(part, last)
		if last == i {
			break
		}
	}
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

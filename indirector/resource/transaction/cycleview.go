package transaction

import (
	"cmp"
	"slices"
)

// A Cycle is a part of a graph in which everything waits for everything.
type Cycle struct {
	Resources int       `json:"resources"`     // of the part, with containers
	Path      []Passage `json:"path"`          // the shortest way around
	Cut       *Cut      `json:"cut,omitempty"` // nil: there is no relationship in it, only containers
}

// A Passage leads from a resource to one that waits for it.
type Passage struct {
	From string `json:"from"`
	Link
}

// A Cut is the relationship without which the fewest resources would be in a cycle.
type Cut struct {
	Passage
	Left int `json:"left"` // how many would be in a cycle still
}

// cutWork bounds the search for the best cut: vertices and edges that are visited.
const cutWork = 5_000_000

func viewCycles(parts [][]*Resource) []Cycle {
	all := make([]Cycle, len(parts))
	for i, part := range parts {
		c := newCircles(part)
		around := c.around()
		cycle := Cycle{Resources: names(part)}
		var edges []*Edge
		for k, from := range around {
			to := around[(k+1)%len(around)]
			e := edgeBetween(part[from], part[to])
			edges = append(edges, e)
			cycle.Path = append(cycle.Path, passage(e))
		}
		cycle.Cut = bestCut(part, edges)
		all[i] = cycle
	}
	slices.SortStableFunc(all, func(a, b Cycle) int {
		return cmp.Or(len(a.Path)-len(b.Path), cmp.Compare(a.Path[0].From, b.Path[0].From))
	})
	return all
}

// names counts resources; the whits of a container are one.
func names(part []*Resource) int {
	seen := map[string]bool{}
	for _, r := range part {
		seen[r.String()] = true
	}
	return len(seen)
}

// edgeBetween is the edge from one vertex to another, a relationship if there is one.
func edgeBetween(from, to *Resource) *Edge {
	var best *Edge
	for _, b := range from.out {
		if b.to == to {
			for _, e := range b.edges {
				if best == nil || best.Kind == Contained {
					best = e
				}
			}
		}
	}
	return best
}

func passage(e *Edge) Passage {
	return Passage{From: e.From.String(), Link: Link{
		Resource: e.To.String(), Kind: string(e.Kind), Refresh: e.Refresh, By: e.By.Ref(), File: e.By.File, Line: e.By.Line,
	}}
}

// around is the shortest way from a vertex back to it. In large parts not all are
// tried.
func (c *circles) around() []int {
	best, limit := 0, len(c.out)
	work := cutWork
	for i := range c.out {
		if n := c.back(i, limit); n <= limit {
			best, limit = i, n-1
		}
		if work -= len(c.queue); work < 0 {
			break
		}
	}
	return c.way(best)
}

// way is the shortest way from a vertex back to it, without its end.
func (c *circles) way(start int) []int {
	from := map[int]int{}
	last := -1
	c.levels(start, len(c.out), func(at step) bool {
		for _, to := range c.out[at.to] {
			if _, ok := from[to]; !ok && to != start {
				from[to] = at.to
			}
			if to == start && last < 0 {
				last = at.to
			}
		}
		return last < 0
	})
	way := []int{last}
	for way[len(way)-1] != start {
		way = append(way, from[way[len(way)-1]])
	}
	slices.Reverse(way)
	return way
}

// bestCut tries the relationships of the shortest way, then all others, as long as that
// is little work.
func bestCut(part []*Resource, first []*Edge) *Cut {
	c := newCutter(part)
	edges := slices.Clone(first)
	for _, r := range part {
		edges = append(edges, edgesOf(r.out)...)
	}
	var best *Cut
	work := cutWork
	tried := map[*Edge]bool{}
	for _, e := range edges {
		_, inside := c.number[e.To]
		if e.Kind == Contained || e.Kind == Generated || tried[e] || !inside {
			continue
		}
		tried[e] = true
		left := c.leftWithout(e)
		if best == nil || left < best.Left {
			best = &Cut{passage(e), left}
		}
		if work -= len(edges); work < 0 || left == 0 {
			break
		}
	}
	return best
}

type cutter struct {
	number map[*Resource]int
	shared []int // the vertex that stands for each: the whits of a container are one resource
	out    [][]int
}

func newCutter(part []*Resource) *cutter {
	c := &cutter{number: make(map[*Resource]int, len(part)), shared: make([]int, len(part)), out: adjacency(part)}
	first := map[string]int{}
	for i, r := range part {
		c.number[r] = i
		if _, ok := first[r.String()]; !ok {
			first[r.String()] = i
		}
		c.shared[i] = first[r.String()]
	}
	return c
}

// leftWithout counts the resources that are in a cycle still if an edge is removed.
func (c *cutter) leftWithout(e *Edge) int {
	from, to := c.number[e.From], c.number[e.To]
	all := c.out[from]
	if edgesTo(e.From, e.To) == 1 {
		c.out[from] = slices.DeleteFunc(slices.Clone(all), func(n int) bool { return n == to })
	}
	left := 0
	counted := make([]bool, len(c.out))
	for _, part := range connected(c.out) {
		if len(part) == 1 && !slices.Contains(c.out[part[0]], part[0]) {
			continue
		}
		for _, i := range part {
			if n := c.shared[i]; !counted[n] {
				counted[n] = true
				left++
			}
		}
	}
	c.out[from] = all
	return left
}

func edgesTo(from, to *Resource) int {
	n := 0
	for _, b := range from.out {
		if b.to == to {
			n += len(b.edges)
		}
	}
	return n
}

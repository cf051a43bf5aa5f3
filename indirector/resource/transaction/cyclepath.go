package transaction

import "slices"

// CyclePath returns a way from the first vertex of a part to one that was passed
// before: the first that a search in breadth finds. It is found without going all the
// ways that there are, which are too many. Rule RES-GRAPH-08.
func CyclePath(part []*Resource) []*Resource {
	c := newCircles(part)
	path, passed := []int{0}, make([]bool, len(part))
	for left := c.measure(); left > 0; left-- {
		at := path[len(path)-1]
		passed[at] = true
		next := c.out[at][0]
		if len(c.out[at]) > 1 {
			i := slices.IndexFunc(c.out[at], func(n int) bool { return c.leads(passed, n, left-1) })
			next = c.out[at][i]
		}
		path = append(path, next)
	}
	return resourcesOf(part, path)
}

// maxWays is how many ways a search for several paths goes at most: Puppet goes all, and
// there may be more than memory holds.
const maxWays = 100_000

// CyclePaths returns up to so many ways as [CyclePath] returns the first, sorted. If there
// are too many ways to look at, it returns those that were found, or the first alone.
func CyclePaths(part []*Resource, most int) [][]*Resource {
	out := adjacency(part)
	queue, found := [][]int{{0}}, [][]*Resource(nil)
	for n := 0; n < len(queue) && len(found) < most && len(queue) < maxWays; n++ {
		way := queue[n]
		queue[n] = nil
		last := way[len(way)-1]
		if slices.Contains(way[:len(way)-1], last) {
			found = append(found, resourcesOf(part, way))
			continue
		}
		for _, to := range out[last] {
			queue = append(queue, append(slices.Clone(way), to))
		}
	}
	if len(found) == 0 {
		found = append(found, CyclePath(part))
	}
	slices.SortStableFunc(found, func(a, b []*Resource) int { return slices.CompareFunc(a, b, byRef) })
	return found
}

func resourcesOf(part []*Resource, way []int) []*Resource {
	resources := make([]*Resource, len(way))
	for i, n := range way {
		resources[i] = part[n]
	}
	return resources
}

// circles has the ways within a part, whose vertices are numbered.
type circles struct {
	out, in [][]int
	meets   []int // how long the shortest way is from a vertex until it meets itself; too long ones are left out
	seen    []int // the search that saw a vertex last
	search  int
	queue   []step
}

func newCircles(part []*Resource) *circles {
	n := len(part)
	c := &circles{out: adjacency(part), in: make([][]int, n), meets: make([]int, n), seen: make([]int, n)}
	for i, all := range c.out {
		for _, to := range all {
			c.in[to] = append(c.in[to], i)
		}
	}
	return c
}

// measure fills in meets as far as it matters for vertex 0, and returns its own: a way
// either closes where it begins, or goes a step and meets itself from there on.
func (c *circles) measure() int {
	longest := len(c.out) + 1
	shortest := longest
	byLength := make([][]int, longest+1)
	for i := range c.meets {
		c.meets[i] = longest
	}
	var near []step
	c.levels(0, longest, func(at step) bool { near = append(near, at); return true })
	for _, at := range near {
		limit := shortest - at.far
		if n := c.back(at.to, limit); n <= limit {
			c.meets[at.to] = n
			byLength[n] = append(byLength[n], at.to)
			shortest = min(shortest, at.far+n)
		}
	}
	for length := range longest {
		for k := 0; k < len(byLength[length]); k++ {
			i := byLength[length][k]
			for _, from := range c.in[i] {
				if c.meets[i] == length && length+1 < c.meets[from] {
					c.meets[from] = length + 1
					byLength[length+1] = append(byLength[length+1], from)
				}
			}
		}
	}
	return shortest
}

// back is how long the shortest way is from a vertex back to it, or more than limit.
func (c *circles) back(start, limit int) int {
	return c.distance(start, limit, func(n int) bool { return n == start })
}

// leads reports whether a way that goes on with next, after those that it passed,
// meets itself after so many more steps. None meets itself earlier.
func (c *circles) leads(passed []bool, next, left int) bool {
	if passed[next] {
		return left == 0
	}
	return c.meets[next] == left || c.distance(next, left, func(n int) bool { return passed[n] }) == left
}

// distance is how many steps it takes from a vertex to one that is meant, at least
// one, or more than limit.
func (c *circles) distance(from, limit int, meant func(int) bool) int {
	steps := limit + 1
	c.levels(from, limit, func(at step) bool {
		if at.far < limit && slices.ContainsFunc(c.out[at.to], meant) {
			steps = at.far + 1
		}
		return steps > limit
	})
	return steps
}

// A step is a vertex, and how far it is from where a search began.
type step struct{ to, far int }

// levels calls f with the vertices that can be reached, the nearest first, up to
// limit, until f returns false.
func (c *circles) levels(from, limit int, f func(step) bool) {
	c.search++
	c.seen[from] = c.search
	queue := append(c.queue[:0], step{from, 0})
	for k := 0; k < len(queue) && f(queue[k]); k++ {
		at := queue[k]
		for _, to := range c.out[at.to] {
			if at.far < limit && c.seen[to] != c.search {
				c.seen[to] = c.search
				queue = append(queue, step{to, at.far + 1})
			}
		}
	}
	c.queue = queue
}

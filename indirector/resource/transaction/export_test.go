package transaction

import "slices"

// FirstWay is CyclePath as Puppet finds it: by going all ways, in breadth.
func FirstWay(part []*Resource) []*Resource {
	type way []*Resource
	queue := []way{{part[0]}}
	for len(queue) > 0 {
		w := queue[0]
		queue = queue[1:]
		last := w[len(w)-1]
		if slices.Contains(w[:len(w)-1], last) {
			return w
		}
		last.dependents(func(d *Resource) bool {
			if slices.Contains(part, d) {
				queue = append(queue, append(slices.Clone(w), d))
			}
			return true
		})
	}
	return nil
}

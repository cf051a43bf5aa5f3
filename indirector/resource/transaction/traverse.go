package transaction

import (
	"container/heap"
	"encoding/binary"
)

// A priority is a place in the order: numbers of four bytes each, the highest first,
// so that what is nested below a resource comes after it and before its successor.
type priority string

// below returns the priority of the nth thing below p.
func (p priority) below(n uint32) priority {
	return p + priority(binary.BigEndian.AppendUint32(nil, n))
}

// within returns the next priority below r. Rule RES-GRAPH-07.
func (g *Graph) within(r *Resource) priority {
	r.nested++
	return r.priority.below(r.nested)
}

// A queue has the vertices that are ready, one for each priority. Rule RES-GRAPH-05.
type queue struct {
	at    map[priority]*Resource
	order priorities // of all that is in at, and of some that was
}

type priorities []priority

func (p priorities) Len() int           { return len(p) }
func (p priorities) Less(i, j int) bool { return p[i] < p[j] }
func (p priorities) Swap(i, j int)      { p[i], p[j] = p[j], p[i] }
func (p *priorities) Push(x any)        { *p = append(*p, x.(priority)) }

func (p *priorities) Pop() any {
	last := len(*p) - 1
	x := (*p)[last]
	*p = (*p)[:last]
	return x
}

func (q *queue) push(r *Resource) {
	if q.at == nil {
		q.at = map[priority]*Resource{}
	}
	if q.at[r.priority] == nil {
		heap.Push(&q.order, r.priority)
	}
	q.at[r.priority] = r
}

func (q *queue) remove(p priority) { delete(q.at, p) }

func (q *queue) empty() bool { return len(q.at) == 0 }

// pop returns the first one, or nil.
func (q *queue) pop() *Resource {
	for len(q.order) > 0 {
		p := heap.Pop(&q.order).(priority)
		if r := q.at[p]; r != nil {
			delete(q.at, p)
			return r
		}
	}
	return nil
}

// A Walker is what a traversal calls.
type Walker struct {
	Continue func() bool                          // nil: always
	Suitable func(*Resource) bool                 // nil: always
	Before   func(*Resource) (grew bool, _ error) // nil: nothing; grew: the graph has more edges now
	Visit    func(*Resource) error
	Deferred func(*Resource) // is not suitable, and nothing else can be done any more
	Canceled func(*Resource) // was ready when Continue stopped
}

// Walk visits each vertex when all that it waits for is done; of those that are ready,
// the one with the lowest priority. Vertices in cycles are not visited. An error ends
// the walk. Rule RES-GRAPH-05.
func (g *Graph) Walk(w Walker) error {
	g.start()
	var deferred []*Resource
	progress := false
	for w.Continue == nil || w.Continue() {
		r := g.ready.pop()
		if r == nil {
			return nil
		}
		if w.Suitable != nil && !w.Suitable(r) {
			deferred = append(deferred, r)
		} else {
			progress = true
			if err := g.visit(r, w); err != nil {
				return err
			}
		}
		if g.ready.empty() && len(deferred) > 0 {
			g.retry(deferred, progress, w)
			progress, deferred = false, nil
		}
	}
	for r := g.ready.pop(); r != nil; r = g.ready.pop() {
		w.Canceled(r)
		g.finish(r)
	}
	return nil
}

func (g *Graph) visit(r *Resource, w Walker) error {
	if w.Before != nil {
		grew, err := w.Before(r)
		if err != nil {
			return err
		}
		if grew {
			g.forget()
		}
	}
	if err := w.Visit(r); err != nil {
		return err
	}
	g.finish(r)
	return nil
}

// retry makes those ready again that were not suitable, as long as there is hope.
func (g *Graph) retry(deferred []*Resource, progress bool, w Walker) {
	for _, r := range deferred {
		if progress {
			g.ready.push(r)
			continue
		}
		w.Deferred(r)
		g.finish(r)
	}
}

// start makes those ready that wait for nothing.
func (g *Graph) start() {
	for _, r := range g.vertices {
		r.blockers = 0
		r.dependencies(func(*Resource) bool { r.blockers++; return true })
		if r.blockers == 0 {
			g.ready.push(r)
		}
	}
}

// forget makes all vertices count again what they wait for.
func (g *Graph) forget() {
	for _, r := range g.vertices {
		r.blockers = -1
	}
}

// finish makes those ready that waited for r alone.
func (g *Graph) finish(r *Resource) {
	r.dependents(func(d *Resource) bool {
		if d.blockers < 0 {
			d.blockers = 0
			d.dependencies(func(x *Resource) bool {
				if !x.done {
					d.blockers++
				}
				return true
			})
		}
		if d.blockers > 0 {
			d.blockers--
		}
		if d.blockers == 0 {
			g.ready.push(d)
		}
		return true
	})
	r.done = true
}

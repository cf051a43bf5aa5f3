package store

import (
	"slices"
	"sync"
	"time"

	"indirtui/traces"
	"indirtui/traces/query"
)

// A View lists the requests that match an expression, in the order of their
// numbers. Only Extend lets it grow, and takes time. It is safe for concurrent
// use.
type View struct {
	s *Store
	q *query.Expr

	extending sync.Mutex // held by Extend
	subject   subject
	next      uint64   // the number to look at next
	open      []uint64 // looked at, and may still change
	touched   int      // how many of the store's touched rows were looked at again
	started   bool

	mu       sync.Mutex // guards the fields below
	ids      []uint64
	checked  int
	complete bool
}

// View returns an empty View; Extend applies q. Nil matches all.
func (s *Store) View(q *query.Expr) *View {
	s.mu.Lock()
	defer s.mu.Unlock()
	return &View{s: s, q: q, subject: subject{s: s}, touched: s.untold + len(s.touched)}
}

// patience is how long Extend looks at details.
const patience = 20 * time.Millisecond

// Extend looks at up to budget more rows (0 is 65 536), and for a short time
// only if the expression needs details. It reports whether the view is
// complete. Rows that changed since are looked at again.
func (v *View) Extend(budget int) (done bool) {
	if budget <= 0 {
		budget = chunkRows
	}
	v.extending.Lock()
	defer v.extending.Unlock()
	defer func() {
		v.mu.Lock()
		v.complete = done
		v.mu.Unlock()
	}()
	began := time.Now()
	v.again()
	var raw [256]row
	var ids [256]uint64
	for budget > 0 {
		n, names := v.s.copyRows(v.next, raw[:min(len(raw), budget)], ids[:])
		if n == 0 {
			return true
		}
		budget -= n
		looked := n
		var hits [256]uint64
		found := 0
		for i := range n {
			v.subject.set(ids[i], &raw[i], names)
			if v.q.Match(&v.subject) {
				hits[found] = ids[i]
				found++
			}
			if raw[i].bits&settled == 0 {
				v.open = append(v.open, ids[i])
			}
			if !v.q.Simple() && time.Since(began) > patience {
				looked, budget = i+1, 0
				break
			}
		}
		v.next = ids[looked-1] + 1
		v.mu.Lock()
		v.ids = append(v.ids, hits[:found]...)
		v.checked += looked
		v.mu.Unlock()
	}
	_, last := v.s.Range()
	return v.next > last
}

// again looks again at what may have changed, and takes out what was dropped.
func (v *View) again() {
	v.s.mu.Lock()
	first, _ := v.s.bounds()
	look := v.open
	if fresh := v.s.untold + len(v.s.touched) - v.touched; fresh > len(v.s.touched) {
		v.restart()
		look = nil
	} else if fresh > 0 {
		look = append(slices.Clone(look), v.s.touched[len(v.s.touched)-fresh:]...)
	}
	v.touched = v.s.untold + len(v.s.touched)
	var kept []uint64
	if first > 1 {
		kept = v.s.keptIDs()
	}
	v.s.mu.Unlock()
	if !v.started {
		v.started = true
		v.next = first
		if v.q.String() == "" {
			v.next = max(first, v.s.wholeFrom())
		}
		look = append(look, kept...)
	}
	v.trim(first, kept)
	open := v.open[:0]
	for i, id := range look {
		settled, there := v.look(id)
		if i < len(v.open) && there && !settled {
			open = append(open, id)
		}
	}
	v.open = open
}

// restart forgets what was looked at: too much was touched since.
func (v *View) restart() {
	v.started, v.open = false, nil
	v.mu.Lock()
	v.ids, v.checked = nil, 0
	v.mu.Unlock()
}

// look adds or removes one row.
func (v *View) look(id uint64) (isSettled, there bool) {
	v.s.mu.Lock()
	r, c := v.s.row(id)
	if r == nil {
		v.s.mu.Unlock()
		v.remove(id)
		return true, false
	}
	raw, names, apart := *r, c.names, id < v.s.whole
	v.s.mu.Unlock()
	if apart && v.q.String() == "" {
		return true, true
	}
	first, _ := v.s.Range()
	if id >= v.next && id >= first {
		return raw.bits&settled != 0, true // it will be looked at in its turn
	}
	v.subject.set(id, &raw, names)
	match := v.q.Match(&v.subject)
	v.mu.Lock()
	defer v.mu.Unlock()
	i, has := slices.BinarySearch(v.ids, id)
	switch {
	case match && !has:
		v.ids = slices.Insert(v.ids, i, id)
	case !match && has:
		v.ids = slices.Delete(v.ids, i, i+1)
	}
	return raw.bits&settled != 0, true
}

// remove takes out a request that is gone.
func (v *View) remove(id uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i, has := slices.BinarySearch(v.ids, id); has {
		v.ids = slices.Delete(v.ids, i, i+1)
	}
}

// trim takes out what lies before the first row and was not kept.
func (v *View) trim(first uint64, kept []uint64) {
	v.mu.Lock()
	defer v.mu.Unlock()
	n, _ := slices.BinarySearch(v.ids, first)
	if n == 0 {
		return
	}
	var stay []uint64
	for _, id := range v.ids[:n] {
		if _, ok := slices.BinarySearch(kept, id); ok {
			stay = append(stay, id)
		}
	}
	copy(v.ids[n-len(stay):], stay)
	v.ids = v.ids[n-len(stay):]
}

// Checked returns how many rows were looked at, and how many there are.
func (v *View) Checked() (n, total int) {
	v.s.mu.Lock()
	total = v.s.rows + len(v.s.kept)
	v.s.mu.Unlock()
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.complete {
		return total, total
	}
	return min(v.checked, total), total
}

// Len returns the number of requests in the view.
func (v *View) Len() int {
	v.mu.Lock()
	defer v.mu.Unlock()
	return len(v.ids)
}

// At returns the number of the i-th request, or 0 if there is none.
func (v *View) At(i int) uint64 {
	v.mu.Lock()
	defer v.mu.Unlock()
	if i < 0 || i >= len(v.ids) {
		return 0
	}
	return v.ids[i]
}

// Index returns the index of the request id, or of the first one after it.
func (v *View) Index(id uint64) int {
	v.mu.Lock()
	defer v.mu.Unlock()
	i, _ := slices.BinarySearch(v.ids, id)
	return i
}

// A subject is a request as expressions see it. It is reused.
type subject struct {
	s     *Store
	id    uint64
	raw   row
	row   query.Row
	trace *traces.Trace
	asked bool
}

var _ query.Subject = (*subject)(nil)

func (u *subject) set(id uint64, r *row, n names) {
	u.id, u.raw, u.trace, u.asked = id, *r, nil, false
	u.row = query.Row{
		ID: id, Parent: back(id, r.parent), Start: when(r.start), Took: time.Duration(r.took),
		Verb: traces.Verb(r.verb), Outcome: traces.Outcome(r.outcome), Served: traces.Served(r.served), Flags: traces.Flags(r.flags),
		SetBy: traces.SourceKind(r.setBy), CacheSetBy: traces.SourceKind(r.cacheBy), Mark: r.mark, Sent: r.bits&sent != 0, RunGuessed: r.bits&runGuessed != 0,
		Indirection: n.name(r.ind), Key: n.name(r.key), Environment: n.name(r.env), Terminus: n.name(r.terminus),
		Cache: n.name(r.cache), Caller: n.name(r.caller),
	}
	u.row.Run, u.row.Transaction = runOf(n.name(r.run))
	u.row.Caller, u.row.Instance = callerOf(u.row.Caller)
	if r.bits&commented != 0 {
		for _, c := range u.s.Comments(id) {
			u.row.Note += c.Text + "\n"
		}
	}
}

// Row returns the request's row.
func (u *subject) Row() *query.Row { return &u.row }

// Trace returns the request's detail, or nil.
func (u *subject) Trace() *traces.Trace {
	if !u.asked {
		u.asked = true
		u.trace, _ = u.s.Trace(u.id)
	}
	return u.trace
}

// Subject returns a request as expressions see it; false if it is gone.
func (s *Store) Subject(id uint64) (query.Subject, bool) {
	s.mu.Lock()
	r, c := s.row(id)
	if r == nil {
		s.mu.Unlock()
		return nil, false
	}
	raw, names := *r, c.names
	s.mu.Unlock()
	u := &subject{s: s}
	u.set(id, &raw, names)
	return u, true
}

// maxRun is how many requests of a run are looked at.
const maxRun = 100_000

// Related reports whether a related request matches.
func (u *subject) Related(rel query.Relation, match func(query.Subject) bool) bool {
	ask := func(id uint64) bool {
		other, ok := u.s.Subject(id)
		return ok && match(other)
	}
	l := u.s.Links(u.id)
	switch rel {
	case query.Parent:
		return ask(l.Parent)
	case query.Previous:
		return ask(u.s.along(u.id, before))
	case query.Next:
		return ask(u.s.along(u.id, after))
	case query.Children:
		return slices.ContainsFunc(l.Children, ask)
	case query.Run:
		return u.inRun(ask)
	}
	return false
}

// inRun visits the requests of the run, from this one outwards.
func (u *subject) inRun(ask func(uint64) bool) bool {
	if ask(u.id) {
		return true
	}
	for _, next := range []func(uint64, *row) uint64{before, after} {
		for id, n := u.s.along(u.id, next), 0; id != 0 && n < maxRun; n++ {
			if ask(id) {
				return true
			}
			id = u.s.along(id, next)
		}
	}
	return false
}

package store

import (
	"cmp"
	"fmt"
	"slices"

	"indirtui/traces"
)

// Links are the requests that a request leads to. Zero is none; what was
// dropped is left out.
type Links struct {
	Parent     uint64   // parent
	Children   []uint64 // nested requests, in order
	PrevInRun  uint64   // the one before it in the run with the same parent or caller
	NextInRun  uint64   // the one after it, likewise
	Previous   uint64   // the one that ended before it with the same indirection and key
	LastGood   uint64   // the last good one before it with the same verb, indirection and key
	Replays    uint64   // the one that it repeats
	ReplayedBy []uint64 // those that repeat it, in order
}

// Links returns the requests that id leads to.
func (s *Store) Links(id uint64) Links {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ := s.row(id)
	if r == nil {
		return Links{}
	}
	l := Links{
		Parent: s.there(back(id, r.parent)), Previous: s.there(back(id, r.same)),
		LastGood: s.there(back(id, r.good)), Replays: s.there(back(id, r.replays)), ReplayedBy: slices.Clone(s.again[id]),
		Children: s.children(id, r),
	}
	l.PrevInRun = s.beside(id, back(id, r.parent), before)
	l.NextInRun = s.beside(id, back(id, r.parent), after)
	return l
}

// before and after are the neighbours in the run, whatever their parents; zero
// if there is none.
func before(id uint64, r *row) uint64 { return back(id, r.prev) }

func after(id uint64, r *row) uint64 {
	if r.next == 0 {
		return 0
	}
	return id + uint64(r.next)
}

// beside goes along the run to the next request with the same parent, past
// nested ones.
func (s *Store) beside(id, parent uint64, next func(uint64, *row) uint64) uint64 {
	for range maxRun {
		r, _ := s.row(id)
		if r == nil {
			return 0
		}
		if id = next(id, r); id == 0 {
			return 0
		}
		if r, _ := s.row(id); r != nil && back(id, r.parent) == parent {
			return id
		}
	}
	return 0
}

// along returns the neighbour in the run, whatever its parent.
func (s *Store) along(id uint64, next func(uint64, *row) uint64) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, _ := s.row(id); r != nil {
		return s.there(next(id, r))
	}
	return 0
}

func (s *Store) there(id uint64) uint64 {
	if r, _ := s.row(id); r == nil {
		return 0
	}
	return id
}

func (s *Store) children(id uint64, r *row) []uint64 {
	if r.child == 0 {
		return nil
	}
	var ids []uint64
	for c := id + uint64(r.child); c > id; {
		child, _ := s.row(c)
		if child == nil {
			break
		}
		ids = append(ids, c)
		if child.sibling == 0 {
			break
		}
		c = back(c, child.sibling)
	}
	slices.Reverse(ids)
	return ids
}

// slotOf returns the place of id's row although nothing may be there yet: in a
// recording children come before their parents.
func (s *Store) slotOf(id uint64) *row {
	if c := s.chunk(id); c != nil {
		return c.row(id, nil)
	}
	return s.kept[id]
}

func (s *Store) linkParent(id uint64, r *row, parent uint64) {
	r.parent = distance(parent, id)
	if r.parent == 0 {
		return
	}
	p := s.slotOf(parent)
	if p == nil {
		return
	}
	newest := parent + uint64(p.child)
	if p.child == 0 {
		p.child = r.parent
		return
	}
	if newest <= id {
		r.sibling, p.child = distance(newest, id), r.parent
		return
	}
	for younger := newest; younger > id; { // it comes out of order
		y, _ := s.row(younger)
		if y == nil {
			return
		}
		older := back(younger, y.sibling)
		if older < id {
			r.sibling, y.sibling = distance(older, id), distance(id, younger)
			return
		}
		younger = older
	}
}

func (s *Store) linkRun(id uint64, r *row, prev uint64) {
	r.prev = distance(prev, id)
	if r.prev == 0 {
		return
	}
	if p := s.slotOf(prev); p != nil {
		p.next = r.prev
	}
}

// nameRun gives a request the transaction_uuid of its run, and gives that to the
// requests around it which were there before it was known.
func (s *Store) nameRun(id uint64, r *row, transaction string) {
	if transaction == "" {
		transaction = cmp.Or(s.transactionOf(before(id, r)), s.transactionOf(after(id, r)))
	}
	c := s.chunk(id)
	if c == nil || !c.nameRun(r, transaction) {
		return
	}
	for _, next := range []func(uint64, *row) uint64{before, after} {
		for at, n := next(id, r), 0; at != 0 && n < maxRun; n++ {
			other, c := s.row(at)
			if other == nil || !c.nameRun(other, transaction) {
				break
			}
			s.touch(at)
			at = next(at, other)
		}
	}
}

func (s *Store) transactionOf(id uint64) string {
	r, c := s.row(id)
	if r == nil {
		return ""
	}
	_, transaction := runOf(c.names.name(r.run))
	return transaction
}

// nameRun reports whether r now has the transaction_uuid, and had none before.
func (c *chunk) nameRun(r *row, transaction string) bool {
	run, had := runOf(c.names.name(r.run))
	if run == "" || run == transaction || had != "" || transaction == "" {
		return false
	}
	transaction = c.redacted(transaction) // by itself: a pattern must not take the NUL for its own
	if len(run)+1+len(transaction) > maxName {
		return false
	}
	r.run = c.intern(ofRun, run+"\x00"+transaction)
	return true
}

func (s *Store) linkReplay(id uint64, r *row, of uint64) {
	if of == 0 || s.slotOf(of) == nil {
		return
	}
	if r.replays = distance(of, id); r.replays != 0 {
		s.again[of] = append(s.again[of], id)
	}
}

// judge completes the trace of a request that ends by those before it. H is the
// hash of its indirection and key.
func (s *Store) judge(t *traces.Trace, r *row, h uint64) {
	before := s.byKey.at(h)
	r.same = s.sameBefore(before.last, t.ID)
	if t.Outcome == traces.Hit {
		s.judgeHit(t, before.last)
	}
	if good := s.goodOf(before.good, t.Verb); good != 0 {
		t.LastGood = good
		r.good = distance(good, t.ID)
	}
	if t.Previous == 0 {
		t.Previous = back(t.ID, r.prev)
	}
	before.last = t.ID
	if !t.Outcome.Well() {
		return
	}
	before.good = t.ID
	if t.Verb == traces.Save && t.Indirection == "facts" && t.Parent == 0 {
		s.judgeFacts(t)
	}
}

// judgeFacts notes facts stored under another environment than that of the
// node's last catalog: clients name the configured environment, not the one
// that a server assigned. Pain P27.
func (s *Store) judgeFacts(t *traces.Trace) {
	id := s.goodOf(s.byKey.at(s.keyHash("catalog", t.Key)).good, traces.Find)
	r, c := s.row(id)
	if r == nil || c.names.name(r.key) != t.Key || c.names.name(r.ind) != "catalog" {
		return
	}
	if env := c.names.name(r.env); env != "" && t.Environment != "" && env != shorten(t.Environment, maxName) {
		t.Explain(fmt.Sprintf("stored under environment %s, but the last catalog of %s was asked for in environment %s (#%d)", t.Environment, t.Key, env, id))
	}
}

// judgeHit finds out whether an answer of a cache hides a failure. Last is the
// newest request with the same indirection and key.
func (s *Store) judgeHit(t *traces.Trace, last uint64) {
	if t.Flags&traces.IgnoreTerminus != 0 {
		if id, previous := s.inRun(last, t.Run); previous != nil && s.sameQuestion(id, previous, t) && traces.JudgeStale(t, traces.Outcome(previous.outcome)) {
			t.Outcome, t.Failed = traces.Stale, id
			t.FailedWith = s.errorOf(id, previous)
		}
		return
	}
	r, _ := s.row(last)
	if r == nil || traces.Outcome(r.outcome) != traces.Err || !s.sameQuestion(last, r, t) {
		return
	}
	if sl, ok := s.detail(last, r); ok && sl.trace.Steps[traces.Terminus].Answer == traces.Raised {
		t.Failed, t.FailedWith = last, sl.trace.Cause()
	}
}

// sameQuestion reports whether a request with the indirection and key of t had
// its verb and its terminus, too: only the failure of that is one that t hides.
func (s *Store) sameQuestion(id uint64, r *row, t *traces.Trace) bool {
	_, c := s.row(id)
	return traces.Verb(r.verb) == t.Verb && c.names.name(r.terminus) == shorten(t.Primary.Winner().Terminus, maxName)
}

// errorOf returns the error that the caller of a request got, if it is in
// memory.
func (s *Store) errorOf(id uint64, r *row) string {
	if sl, ok := s.detail(id, r); ok {
		return sl.trace.Error
	}
	return ""
}

// sameBefore returns the distance from id to the newest request that ended with
// the same indirection and key as last: requests do not end in order.
func (s *Store) sameBefore(last, id uint64) uint32 {
	for range walk {
		if last < id {
			break
		}
		r, _ := s.row(last)
		if r == nil {
			return 0
		}
		last = back(last, r.same)
	}
	return distance(last, id)
}

// A walk over requests of the same indirection and key ends after so many.
const walk = 256

// inRun returns the newest request of the given run among id and those that
// ended before it with the same indirection and key.
func (s *Store) inRun(id uint64, run string) (uint64, *row) {
	run = shorten(run, maxName)
	for range walk {
		r, c := s.row(id)
		if r == nil {
			return 0, nil
		}
		if of, _ := runOf(c.names.name(r.run)); of == run {
			return id, r
		}
		id = back(id, r.same)
	}
	return 0, nil
}

// goodOf returns the newest good request with the given verb among id and those
// before it.
func (s *Store) goodOf(id uint64, verb traces.Verb) uint64 {
	for range walk {
		r, _ := s.row(id)
		if r == nil {
			return 0
		}
		if traces.Verb(r.verb) == verb && traces.Outcome(r.outcome).Well() {
			return id
		}
		id = back(id, r.same)
	}
	return 0
}

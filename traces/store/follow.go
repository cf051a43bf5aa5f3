package store

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash/maphash"

	"indirtui/traces"
)

// A Remote is where a followed Store reads what it has only rows of. It is safe
// for concurrent use; Near must not wait.
type Remote interface {
	// Line returns the line of a request, as its recording has it.
	Line(id uint64) (line []byte, err error)
	// Number returns the number in the Store of the request that has another
	// number in the recording of id; 0 if it is not there.
	Number(id, recorded uint64) uint64
	// Body returns the line of a value. The error is ErrDropped, or that of the
	// connection.
	Body(digest string) (line []byte, err error)
	// Near reports that the row of id is looked at.
	Near(id uint64)
}

// An Entry is a row for Add. ID and Parent are numbers of the Store, the lower
// number before the higher; those of Head mean nothing.
type Entry struct {
	ID, Parent, Good uint64
	Head             Head
}

// Follow returns a Store without rows, which come by Add. Details and values are
// read when they are looked at.
func Follow(r Remote) *Store {
	s := newStore(Options{Details: 1})
	s.readOnly, s.remote = true, r
	return s
}

// Add adds rows to a followed Store; those that it has are left as they are.
// From whole on, no row is missing: a View of all begins there.
func (s *Store) Add(entries []Entry, whole uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.whole = whole
	for i := range entries {
		e := &entries[i]
		h := e.Head
		h.Good = e.Good
		if e.Parent != 0 && e.Parent < e.ID {
			s.make(e.Parent) // its place: it may come later
		}
		r := s.insert(e.ID, 1, &h)
		if r == nil {
			continue
		}
		s.linkParent(e.ID, r, e.Parent)
		s.joinRun(e.ID, r, h.Run)
		c := s.chunk(e.ID)
		c.nameRun(r, h.Transaction)
	}
	s.notify()
}

// SetRun makes a request of a followed Store one of another run. Guessed is as in
// Row.
func (s *Store) SetRun(id uint64, run, transaction string, guessed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, c := s.row(id)
	if r == nil {
		return
	}
	s.leaveRun(id, r)
	r.run = c.intern(ofRun, run)
	c.nameRun(r, transaction)
	if r.bits &^= runGuessed; guessed {
		r.bits |= runGuessed
	}
	s.joinRun(id, r, run)
	s.touch(id)
	s.notify()
}

// Remove takes rows out of a followed Store.
func (s *Store) Remove(ids []uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, id := range ids {
		r, _ := s.row(id)
		if r == nil {
			continue
		}
		s.leaveRun(id, r)
		var gone Row
		r.public(id, s.chunk(id).names, &gone)
		s.stats.remove(&gone)
		*r = row{}
		s.rows--
		s.touch(id)
	}
	s.notify()
}

// joinRun puts a request between those of its run that were asked before it and
// after it.
func (s *Store) joinRun(id uint64, r *row, run string) {
	if run == "" {
		return
	}
	newest := s.byRun.at(maphash.String(s.seed, run))
	if *newest < id {
		s.linkRun(id, r, s.there(*newest))
		*newest = id
		return
	}
	after := *newest
	for range maxRun {
		other, _ := s.row(after)
		if other == nil {
			return
		}
		prev := back(after, other.prev)
		if prev < id {
			s.linkRun(id, r, prev)
			other.prev, r.next = distance(id, after), distance(id, after)
			return
		}
		after = prev
	}
}

// leaveRun is the opposite of joinRun.
func (s *Store) leaveRun(id uint64, r *row) {
	run, _ := runOf(s.chunk(id).names.name(r.run))
	if run == "" {
		return
	}
	prev, next := back(id, r.prev), after(id, r)
	if p, _ := s.row(prev); p != nil {
		p.next = distance(prev, next)
	}
	if n, _ := s.row(next); n != nil {
		n.prev = distance(prev, next)
	}
	if newest := s.byRun.at(maphash.String(s.seed, run)); *newest == id {
		*newest = prev
	}
	r.prev, r.next = 0, 0
}

// wholeFrom is the number from which on no row is missing; 0 if none is.
func (s *Store) wholeFrom() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.whole
}

// readRemote reads a detail, with the numbers that its requests have here.
func readRemote(r Remote, row *Row) (*traces.Trace, error) {
	id := row.ID
	b, err := r.Line(id)
	if err != nil {
		return nil, fmt.Errorf("read request %d: %w", id, err)
	}
	l, err := parse(b)
	if err != nil {
		return nil, fmt.Errorf("read request %d: %w", id, err)
	}
	recorded := l.Trace
	for _, n := range []*uint64{&l.Previous, &l.Good, &l.Failed} {
		if *n != 0 {
			*n = r.Number(id, *n)
		}
	}
	for i := range l.Spans {
		if n := &l.Spans[i].Request; *n != 0 {
			*n = r.Number(id, *n)
		}
	}
	l.Trace, l.Parent, l.Run, l.Guessed = id, row.Parent, row.Run, row.RunGuessed
	l.From, l.Recorded = row.Instance, recorded
	if l.Transaction == l.Run {
		l.Transaction = ""
	}
	return l.trace(), nil
}

// remoteBody reads a value, and those that its pieces are.
func (s *Store) remoteBody(digest string) ([]byte, error) {
	l, err := s.remoteLine(digest)
	if err != nil {
		return nil, fmt.Errorf("read value %s: %w", digest[:12], err)
	}
	content := l.content()
	for _, p := range l.Pieces {
		text := []byte(p.Text)
		if p.Body != "" {
			of, err := s.remoteLine(p.Body)
			if err != nil {
				return nil, fmt.Errorf("read a piece of value %s: %w", digest[:12], err)
			}
			text = of.content()
		}
		if most := s.opts.Body; int64(len(content)+len(text)) > most {
			return nil, fmt.Errorf("read value %s: it is longer than %d bytes", digest[:12], most)
		}
		content = append(content, text...)
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != digest {
		return nil, fmt.Errorf("read value %s: its SHA-256 is another", digest[:12])
	}
	return content, nil
}

func (s *Store) remoteLine(digest string) (*line, error) {
	b, err := s.remote.Body(digest)
	if err != nil {
		return nil, err
	}
	return parse(b)
}

// Notify fills the channel of Changed, as any change does.
func (s *Store) Notify() { s.notify() }

package store

import (
	"bufio"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"

	"indirtui/traces"
)

// ErrDropped reports that a request, its detail or its value is gone.
var ErrDropped = errors.New("dropped")

// ErrNoBodies reports a recording without values, ErrUnsaved one without this
// value. Both are ErrDropped.
var (
	ErrNoBodies = fmt.Errorf("%w: the recording has no values, it was saved without bodies", ErrDropped)
	ErrUnsaved  = fmt.Errorf("%w: the recording was saved without this value", ErrDropped)
)

// Trace returns the detail of a request; while it runs, what its row holds. The
// trace must not be changed; Body returns the bytes of its values. The error is
// ErrDropped, or one of the recording.
func (s *Store) Trace(id uint64) (*traces.Trace, error) {
	t, transaction, err := s.read(id)
	if err == nil && t.Transaction == "" && transaction != "" { // known since it ended
		own := *t
		own.Transaction = transaction
		t = &own
	}
	return t, err
}

// read returns the detail of a request, and the transaction_uuid of its run.
func (s *Store) read(id uint64) (*traces.Trace, string, error) {
	s.mu.Lock()
	r, c := s.row(id)
	if r == nil {
		s.mu.Unlock()
		return nil, "", fmt.Errorf("request %d: %w", id, ErrDropped)
	}
	if r.bits&ended == 0 {
		var row Row
		r.public(id, c.names, &row)
		s.mu.Unlock()
		return running(&row), "", nil
	}
	_, transaction := runOf(c.names.name(r.run))
	sl, ok := s.detail(id, r)
	if ok && !sl.done {
		own := *sl.trace // which is another's when the writer has seen it
		sl.trace = &own
	}
	at := r.line
	if r.bits&lost != 0 {
		at = 0 // its line is no more than the row
	}
	where, written := s.file.find(at)
	var row Row
	if s.remote != nil {
		r.public(id, c.names, &row)
	}
	s.mu.Unlock()
	switch {
	case s.remote != nil:
		t, err := readRemote(s.remote, &row)
		return t, transaction, err
	case ok && sl.done:
		return s.complete(sl.trace), transaction, nil
	case ok:
		t, _ := s.finish(sl.trace, sl.instance)
		return s.complete(t), transaction, nil
	case written:
		l, err := where.read()
		if err != nil {
			return nil, "", fmt.Errorf("read request %d at byte %d: %w", id, at, err)
		}
		if l.Trace != id {
			return nil, "", fmt.Errorf("read request %d at byte %d: the line is of request %d", id, at, l.Trace)
		}
		return l.trace(), transaction, nil
	}
	return nil, "", fmt.Errorf("detail of request %d: %w", id, ErrDropped)
}

// running is the trace of a request that has not ended.
func running(r *Row) *traces.Trace {
	return &traces.Trace{
		ID: r.ID, Parent: r.Parent, Run: r.Run, Transaction: r.Transaction, RunGuessed: r.RunGuessed, Caller: r.Caller, Verb: r.Verb, Indirection: r.Indirection, Key: r.Key,
		Flags: r.Flags, Start: r.Start, Outcome: r.Outcome,
	}
}

// detail returns the detail of id from memory.
func (s *Store) detail(id uint64, r *row) (slot, bool) {
	if int(r.slot) < len(s.ring.slots) {
		if sl := s.ring.slots[r.slot]; sl.id == id {
			return sl, true
		}
	}
	sl, ok := s.ring.safe[id]
	return sl, ok
}

// Instance returns the live instance of one of the newest requests, not
// redacted.
func (s *Store) Instance(id uint64) (any, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	r, _ := s.row(id)
	if r == nil || r.bits&ended == 0 {
		return nil, false
	}
	sl, ok := s.detail(id, r)
	return sl.instance, ok && sl.instance != nil
}

// Asked returns the key that a request was asked with if that was redacted, or
// is not yet, and is still in memory.
func (s *Store) Asked(id uint64) (key string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r, _ := s.row(id); r != nil && r.bits&ended != 0 {
		if sl, ok := s.detail(id, r); ok && !sl.done {
			return sl.trace.Key, true
		}
	}
	for _, a := range s.asked.last {
		if a.id == id && id != 0 {
			return a.key, true
		}
	}
	return "", false
}

// An asked remembers the keys of the newest requests whose key was redacted.
type asked struct {
	last [256]struct {
		id  uint64
		key string
	}
	next int
}

// maxAsked is the length of the longest key that is remembered.
const maxAsked = 4096

func (a *asked) keep(id uint64, key string) {
	if len(key) > maxAsked {
		return
	}
	a.last[a.next%len(a.last)].id, a.last[a.next%len(a.last)].key = id, key
	a.next++
}

// Body returns the bytes of a value. The error is ErrDropped, or one of the
// recording.
func (s *Store) Body(v traces.Value) ([]byte, error) {
	if hasBody(&v) {
		return v.Content(), nil
	}
	if v.Digest == "" {
		return nil, fmt.Errorf("value: %w", ErrDropped)
	}
	k, err := digestOf(v.Digest)
	if err != nil {
		return nil, fmt.Errorf("value: %w", err)
	}
	if s.remote != nil {
		return s.remoteBody(v.Digest)
	}
	s.mu.Lock()
	b, ok := s.bodies.at[k]
	where, written := s.file.find(b.offset)
	none, whole := len(s.bodies.at) == 0, s.readOnly && s.loaded >= s.file.size
	s.mu.Unlock()
	switch {
	case !ok && whole && none:
		return nil, ErrNoBodies
	case !ok && whole:
		return nil, ErrUnsaved
	case !ok:
		return nil, fmt.Errorf("value %s: %w", v.Digest[:12], ErrDropped)
	case b.bytes != nil:
		return b.bytes, nil
	case !written:
		return nil, fmt.Errorf("value %s: %w", v.Digest[:12], ErrDropped)
	}
	l, err := where.read()
	if err != nil {
		return nil, fmt.Errorf("read value at byte %d: %w", b.offset, err)
	}
	content := l.content()
	for _, p := range l.Pieces {
		if content, err = s.appendPiece(content, p); err != nil {
			return nil, fmt.Errorf("read value at byte %d: %w", b.offset, err)
		}
	}
	if sum := sha256.Sum256(content); hex.EncodeToString(sum[:]) != v.Digest {
		return nil, fmt.Errorf("read value at byte %d: its SHA-256 is another", b.offset)
	}
	return content, nil
}

// appendPiece appends one piece of a value. A piece that is a value of its own
// has none.
func (s *Store) appendPiece(content []byte, p linePiece) ([]byte, error) {
	text := []byte(p.Text)
	if p.Body != "" {
		k, err := digestOf(p.Body)
		if err != nil {
			return nil, err
		}
		s.mu.Lock()
		b := s.bodies.at[k]
		where, ok := s.file.find(b.offset)
		s.mu.Unlock()
		if !ok {
			return nil, fmt.Errorf("its piece %s: %w", p.Body[:12], ErrDropped)
		}
		l, err := where.read()
		if err != nil {
			return nil, fmt.Errorf("its piece at byte %d: %w", b.offset, err)
		}
		text = l.content()
	}
	if most := s.opts.Body; int64(len(content)+len(text)) > most {
		return nil, fmt.Errorf("it is longer than %d bytes", most)
	}
	return append(content, text...), nil
}

// maxLine is the longest line that is read: the largest body, all escaped.
const maxLine = 128 << 20

// readLine reads the line that begins at an offset.
func readLine(f io.ReaderAt, at int64) (*line, error) {
	r := bufio.NewReaderSize(io.NewSectionReader(f, at, maxLine), 8<<10)
	b, err := r.ReadBytes('\n')
	if err != nil && err != io.EOF {
		return nil, err
	}
	return parse(b)
}

package store

import (
	"fmt"
	"time"

	"indirtui/traces"
)

// watched is what a probe's lines of requests have beside those of a recording.
type watched struct {
	Begin uint64 `json:"begin"` // the number of a request that begins
	Route uint64 `json:"route"` // the number of the candidates that it found
	At    int64  `json:"at"`    // the monotonic clock of the other process
}

// A Watched is a request of another process, as a probe's line has it. All numbers
// are those of the probe.
type Watched struct {
	*traces.Trace
	Begin bool          // it begins, else it has ended
	Route uint64        // whose candidates it found; zero if the line has them, or none
	At    time.Duration // the clock of the other process; zero if the line has a time
}

// A WatchedReader reads the lines of one process. The zero value is ready.
type WatchedReader struct {
	scanner scanner
	line    line // is used again
}

// Read reads a line of a request, or of candidates, which is a request that has
// only these. Its outcome is judged if the line has none.
func (r *WatchedReader) Read(b []byte) (Watched, error) {
	l := &r.line
	l.empty()
	if !r.scanner.scan(b, l) {
		var err error
		if l, err = parse(b); err != nil {
			return Watched{}, err
		}
	}
	w := Watched{Trace: l.trace(), Begin: l.Begin != 0, Route: l.Route, At: time.Duration(l.At)}
	if w.Begin {
		w.ID = l.Begin
	}
	w.Previous, w.LastGood, w.Failed = 0, 0, 0 // which the Store finds out
	if _, known := traces.ParseOutcome(l.Outcome); !known || l.Outcome == traces.Run.String() {
		w.Outcome = traces.Judge(w.Trace)
	}
	for _, q := range l.Steps {
		if _, known := traces.ParseStep(q.Step); !known {
			return w, fmt.Errorf("there is no step %q", shorten(q.Step, 80))
		}
	}
	return w, nil
}

// empty makes l as new, but for the room of what trace copies.
func (l *line) empty() {
	*l = line{
		Steps: l.Steps[:0], Spans: l.Spans[:0], Faults: l.Faults[:0], Options: l.Options[:0], Primary: l.Primary[:0], Caches: l.Caches[:0],
		Notes: l.Notes[:0], About: l.About[:0],
	}
}

// Reserve returns a number for a request that is known before it is seen to
// begin: by what it asked, which may be reported first. Begin takes it as the
// number of a trace. Zero is that the Store was closed.
func (s *Store) Reserve() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || s.readOnly {
		return 0
	}
	s.last++
	s.make(s.last)
	return s.last
}

// FindAskers lets find return the number of the request that sent a
// traceparent, or zero. Begin calls it for requests that came over the network.
func (s *Store) FindAskers(find func(*traces.Traceparent) uint64) { s.askers.Store(&find) }

// asker completes the parent of a request that came over the network.
func (s *Store) asker(t *traces.Trace) {
	if find := s.askers.Load(); find != nil && t.Traceparent != nil && t.Parent == 0 {
		if t.Parent = (*find)(t.Traceparent); t.Parent != 0 {
			t.ParentStep = traces.Terminus
		}
	}
}

// number returns the number for a request that begins: the one that is reserved
// for it, if that is still free.
func (s *Store) number(reserved uint64) uint64 {
	if reserved != 0 {
		if r := s.slotOf(reserved); r != nil && r.bits&present == 0 {
			if reserved < s.last {
				s.touch(reserved) // views may be beyond it
			}
			return reserved
		}
	}
	s.last++
	return s.last
}

// lateRun puts a request into its run, and names that, if this was not known when
// it began.
func (s *Store) lateRun(r *row, c *chunk, t *traces.Trace) {
	if r.run == 0 && t.Run != "" {
		r.run = c.intern(ofRun, t.Run)
		if t.RunGuessed {
			r.bits |= runGuessed
		}
		s.joinRun(t.ID, r, t.Run)
	}
	if t.Transaction != "" {
		s.nameRun(t.ID, r, t.Transaction)
	}
}

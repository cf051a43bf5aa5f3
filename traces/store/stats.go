package store

import (
	"math/bits"
	"time"
	"unsafe"

	"indirtui/traces"
)

// Stats are the numbers of the status bar.
type Stats struct {
	Total    uint64 // ever begun, or read from the recording
	Held     uint64 // stopped by the debugger
	Running  uint64 // not ended, including held ones
	Stale    uint64
	Hidden   uint64 // ended in a way that the caller did not see
	Failed   uint64 // went wrong, seen or not
	By       [traces.OutcomeCount]uint64
	Redacted uint64 // redacted texts and values

	DroppedBodies  uint64 // values that were not kept
	DroppedDetails uint64 // requests of which only the row is left
	DroppedRows    uint64 // requests of which nothing is left in memory

	Memory, Limit int64     // bytes; an estimate
	FileSize      int64     // bytes of the recording; zero if there is none
	Stopped       time.Time // since when nothing can be written to it; zero if it is in order
	Rate          float64
}

// Traffic counts the requests to one indirection.
type Traffic struct {
	Requests, Errors, Hidden uint64
	P50, P95, Max            time.Duration // of those that ended; within 7 per cent
}

// counters are the source of Stats, Traffic and Rates.
type counters struct {
	total, ended, held, hidden, redacted       uint64
	by                                         [traces.OutcomeCount]uint64
	droppedBodies, droppedDetails, droppedRows uint64
	traffic                                    map[string]*traffic
	recent                                     *traffic // of the indirection called
	called                                     string
	seconds                                    [64]second
}

type second struct {
	unix int64
	n    uint32
}

// A traffic counts durations by their highest bit and the three bits below it.
type traffic struct {
	requests, errors, hidden uint64
	max                      time.Duration
	took                     [64 * 8]uint64
}

// Names come from outside, so only so many indirections are counted.
const maxTraffic = 256

func (c *counters) begin(start int64) {
	c.total++
	unix := start / int64(time.Second)
	at := &c.seconds[uint64(unix)%uint64(len(c.seconds))]
	if at.unix < unix {
		*at = second{unix: unix}
	}
	if at.unix == unix { // not of a minute that is over
		at.n++
	}
}

func (c *counters) end(t *traces.Trace) {
	c.ended++
	if t.Outcome < traces.OutcomeCount {
		c.by[t.Outcome]++
	}
	hidden := t.Outcome.HiddenFrom(t.Caller)
	if hidden {
		c.hidden++
	}
	tr := c.recent
	if tr == nil || c.called != t.Indirection {
		if tr = c.traffic[t.Indirection]; tr == nil {
			if len(c.traffic) >= maxTraffic {
				return
			}
			tr = new(traffic)
			c.traffic[t.Indirection] = tr
		}
		c.recent, c.called = tr, t.Indirection
	}
	tr.requests++
	if t.Outcome == traces.Err {
		tr.errors++
	}
	if hidden {
		tr.hidden++
	}
	tr.max = max(tr.max, t.Took)
	tr.took[bucket(t.Took)]++
}

// remove is the opposite of begin and end, for a row that is taken out. The
// longest time and the rates stay.
func (c *counters) remove(r *Row) {
	c.total--
	c.ended--
	c.by[r.Outcome]--
	hidden := r.Outcome.HiddenFrom(r.Caller)
	if hidden {
		c.hidden--
	}
	tr := c.traffic[r.Indirection]
	if tr == nil {
		return
	}
	tr.requests--
	tr.took[bucket(r.Took)]--
	if r.Outcome == traces.Err {
		tr.errors--
	}
	if hidden {
		tr.hidden--
	}
}

func bucket(d time.Duration) int {
	n := uint64(max(d, 0))
	if n < 8 {
		return int(n)
	}
	high := bits.Len64(n) - 1 // at least 3
	return (high-2)*8 + int(n>>(high-3)&7)
}

// middle returns the duration in the middle of a bucket.
func middle(b int) time.Duration {
	if b < 8 {
		return time.Duration(b)
	}
	high := b/8 + 2
	low := uint64(8+b%8) << (high - 3)
	return time.Duration(low + uint64(1)<<(high-3)/2)
}

func (t *traffic) quantile(q float64) time.Duration {
	left := uint64(q * float64(t.requests))
	for b, n := range t.took {
		if n > left {
			return min(middle(b), t.max)
		}
		left -= n
	}
	return t.max
}

// Traffic returns the traffic of an indirection.
func (s *Store) Traffic(indirection string) Traffic {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.stats.traffic[indirection]
	if t == nil {
		return Traffic{}
	}
	return Traffic{Requests: t.requests, Errors: t.errors, Hidden: t.hidden, P50: t.quantile(.5), P95: t.quantile(.95), Max: t.max}
}

// Rates returns how many requests began in each of the last 60 seconds, oldest
// first; the last is not over. Of a recording it is its last minute.
func (s *Store) Rates() [60]uint32 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.rates()
}

func (s *Store) rates() (out [60]uint32) {
	now := s.opts.Now().Unix()
	if s.readOnly {
		now = 0
		for _, at := range s.stats.seconds {
			now = max(now, at.unix)
		}
	}
	for i := range out {
		unix := now - int64(len(out)-1-i)
		if at := s.stats.seconds[uint64(unix)%uint64(len(s.stats.seconds))]; at.unix == unix {
			out[i] = at.n
		}
	}
	return out
}

// Stats returns the numbers of the status bar. Rate is requests per second over
// the last five whole seconds.
func (s *Store) Stats() Stats {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.stats
	st := Stats{
		Total: c.total, Held: c.held, Running: c.total - c.ended, Stale: c.by[traces.Stale], By: c.by, Hidden: c.hidden, Redacted: c.redacted,
		DroppedBodies: c.droppedBodies, DroppedDetails: c.droppedDetails, DroppedRows: c.droppedRows,
		Memory: s.memory(), Limit: s.opts.Memory, FileSize: s.file.size - s.file.first(),
	}
	if s.file.err != nil {
		st.Stopped = s.file.since
	}
	for o, n := range c.by {
		if traces.Outcome(o).Failed() {
			st.Failed += n
		}
	}
	st.By[traces.HeldOutcome] = c.held
	st.By[traces.Run] = st.Running - c.held
	if !s.readOnly {
		rates := s.rates()
		for _, n := range rates[54:59] {
			st.Rate += float64(n) / 5
		}
	}
	return st
}

// memory estimates what s keeps, in bytes.
func (s *Store) memory() int64 {
	n := s.attic.memory() + s.byKey.memory() + s.byRun.memory() + s.ring.memory() + s.bodies.memory() + int64(len(s.spares.blocks))*int64(unsafe.Sizeof(block{}))
	for _, c := range s.chunks {
		if c != nil {
			n += c.memory()
		}
	}
	if s.opts.Rendered != nil {
		n += s.opts.Rendered()
	}
	return n
}

package diff

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"indirtui/traces"
	"indirtui/traces/store"
)

// A Set is some requests of a log.
type Set struct {
	Log  Log
	Name string   // "run 8f3c"; "" is the recording
	IDs  []uint64 // in order; nil is all
}

// A Pair is a request of each side that differs from the other, or one that the
// other side does not have.
type Pair struct {
	Sign        string   `json:"sign"`
	What        []string `json:"what,omitempty"` // outcome, served, terminus, cache, environment, error, value
	Differences int      `json:"differences,omitempty"`
	A           *Side    `json:"a,omitempty"`
	B           *Side    `json:"b,omitempty"`
}

// maxRequests bounds what is compared at once.
const maxRequests = 200_000

// A question is what makes requests of two sides the same one: verb,
// indirection, key. Of several the first belongs to the first.
type asked struct {
	verb     traces.Verb
	ind, key string
}

// Runs compares the requests of two runs or recordings. The n-th request of a
// side is compared with the n-th equal request of the other. Pairs that differ
// come in the order of A, then those that only B has. Differences counts
// requests. The error reports too many requests, an unreadable one, or the end
// of ctx.
func Runs(ctx context.Context, a, b Set, o Options) (*Report, error) {
	r := &Report{Version: version, Kind: ofRuns, Rules: o.Ignore}
	left, err := a.ids()
	if err != nil {
		return nil, err
	}
	right, err := b.ids()
	if err != nil {
		return nil, err
	}
	r.A, r.B = a.side(len(left)), b.side(len(right))
	waiting := make(map[asked][]uint64)
	for _, id := range right {
		if row, ok := b.Log.Row(id); ok {
			q := asked{row.Verb, row.Indirection, row.Key}
			waiting[q] = append(waiting[q], id)
		}
	}
	taken := make(map[uint64]bool, len(right))
	for i, id := range left {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if o.Progress != nil {
			o.Progress(i, len(left))
		}
		row, ok := a.Log.Row(id)
		if !ok {
			continue
		}
		q := asked{row.Verb, row.Indirection, row.Key}
		others := waiting[q]
		if len(others) == 0 {
			r.lone(a.Log, id, Removed)
			continue
		}
		waiting[q] = others[1:]
		taken[others[0]] = true
		if err := r.pair(a.Log, id, b.Log, others[0], o); err != nil {
			return nil, err
		}
	}
	for _, id := range right {
		if !taken[id] {
			r.lone(b.Log, id, Added)
		}
	}
	r.Equal = r.Differences == 0
	return r, nil
}

// maxPairs bounds the pairs that are listed. They are counted on.
const maxPairs = 20_000

func (r *Report) list(p Pair) {
	r.Differences++
	if len(r.Requests) < maxPairs {
		r.Requests = append(r.Requests, p)
	}
}

// lone adds a request that only one side has.
func (r *Report) lone(log Log, id uint64, kind Kind) {
	s, err := sideFrom(log, id)
	if err != nil {
		return
	}
	p := Pair{Sign: string(rune(kind)), A: s}
	if kind == Added {
		p.A, p.B = nil, s
	}
	r.list(p)
}

// sideFrom reads a side; without a detail, from the row.
func sideFrom(log Log, id uint64) (*Side, error) {
	if t, err := log.Trace(id); err == nil {
		s := sideOf(log, t)
		s.Recording = "" // that of the whole
		return &s, nil
	}
	row, ok := log.Row(id)
	if !ok {
		return nil, store.ErrDropped
	}
	return &Side{
		Name: fmt.Sprintf("#%d", id), Request: id, Verb: row.Verb.String(), Indirection: row.Indirection, Key: row.Key,
		Environment: row.Environment, Start: &row.Start, Took: row.Took, Outcome: row.Outcome.String(), Served: row.Served.String(),
		Terminus: row.Terminus, Cache: row.Cache, Error: row.Fault, Size: row.Size,
	}, nil
}

// pair compares two requests that ask the same.
func (r *Report) pair(la Log, a uint64, lb Log, b uint64, o Options) error {
	r.Compared++
	one, err := sideFrom(la, a)
	if err != nil {
		return fmt.Errorf("compare #%d: %w", a, err)
	}
	two, err := sideFrom(lb, b)
	if err != nil {
		return fmt.Errorf("compare #%d: %w", b, err)
	}
	p := Pair{Sign: string(rune(Changed)), A: one, B: two}
	for _, part := range []struct {
		name string
		a, b string
	}{
		{"outcome", one.Outcome, two.Outcome},
		{"served", one.Served, two.Served},
		{"terminus", one.Terminus, two.Terminus},
		{"cache", one.Cache, two.Cache},
		{"environment", one.Environment, two.Environment},
		{"error", one.Error, two.Error},
	} {
		if part.a != part.b {
			p.What = append(p.What, part.name)
		}
	}
	v := answers(la, a, lb, b, o)
	r.Unknown += v.Unknown
	r.Ignored += v.Ignored
	switch p.Differences = v.Differences; v.Verdict {
	case Different:
		p.What = append(p.What, "value")
	case Uncompared:
		r.Uncompared++
	}
	if len(p.What) > 0 {
		r.list(p)
	}
	return nil
}

// answers compares the values of two requests, of which one may be no more than
// a row.
func answers(la Log, a uint64, lb Log, b uint64, o Options) Answer {
	ta, errA := la.Trace(a)
	tb, errB := lb.Trace(b)
	if err := errors.Join(errA, errB); err != nil {
		return Answer{Verdict: Uncompared, Why: err.Error()}
	}
	return Answers(la, ta, lb, tb, o)
}

func (s *Set) ids() ([]uint64, error) {
	ids := s.IDs
	if ids == nil {
		first, last := s.Log.Range()
		rows := make([]store.Row, 1024)
		for from := first; from <= last && from > 0 && len(ids) <= maxRequests; {
			n := s.Log.Rows(from, rows)
			if n == 0 {
				break
			}
			for i := range n {
				ids = append(ids, rows[i].ID)
			}
			from = rows[n-1].ID + 1
		}
	}
	if len(ids) > maxRequests {
		return nil, fmt.Errorf("compare %s: more than %d requests; choose some with an expression", s.name(), maxRequests)
	}
	return ids, nil
}

func (s *Set) name() string {
	switch {
	case s.Name != "":
		return s.Name
	case s.Log.Path() != "":
		return s.Log.Path()
	}
	return "live"
}

func (s *Set) side(n int) Side {
	return Side{Recording: s.Log.Path(), Name: s.name(), Requests: n}
}

// String is the pair in one line: "~ #12 find facts web01 : #31  outcome, value
// (3)".
func (p *Pair) String() string {
	one := func(s *Side) string {
		return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s", s.Name, s.Verb, s.Indirection, s.Key, s.Outcome))
	}
	switch {
	case p.A == nil:
		return p.Sign + " " + one(p.B)
	case p.B == nil:
		return p.Sign + " " + one(p.A)
	}
	text := fmt.Sprintf("%s %s : %s %s  %s", p.Sign, one(p.A), p.B.Name, p.B.Outcome, strings.Join(p.What, ", "))
	if p.Differences > 0 {
		text += fmt.Sprintf(" (%d)", p.Differences)
	}
	return text
}

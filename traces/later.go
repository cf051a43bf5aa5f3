package traces

import (
	"context"
	"slices"
	"time"
)

// A Maker makes spans, numbered from 1 in the order in which they begin; the Parent of one
// without any is 0. Where they have no times, they took none. They are the same each time. It
// is safe for concurrent use, and keeps nothing of its request but what it shows.
type Maker interface {
	Len() int
	AppendSpans([]Span) []Span
}

// Later are spans that are made when a trace is read: most are never looked at, and those
// of a lookup take longer to make than the lookup itself. The zero value has none.
type Later struct {
	Maker  Maker // nil makes none
	Before int   // how many spans were begun before these
	Parent int   // of those without one
	Step   Step
	At     time.Duration
}

// AddLater adds spans below the span that ctx carries or the current step, when they are
// needed. A trace has those of one Maker; of others they are made now.
func AddLater(ctx context.Context, m Maker) {
	l := FromContext(ctx)
	if l == nil || m.Len() == 0 {
		return
	}
	parent, step := above(ctx, l).place(l)
	now := l.now()
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	later := Later{m, int(l.lastID), parent, step, now.Sub(l.Trace.Start)}
	l.lastID += int32(m.Len())
	if l.Trace.Later.Maker != nil {
		l.Trace.Spans = later.append(l.Trace.Spans)
		return
	}
	l.Trace.Later = later
}

// Completed returns a copy of t with the spans that were left for later; t itself if none
// were.
func (t *Trace) Completed() *Trace {
	if t.Later.Maker == nil {
		return t
	}
	all := *t
	all.Spans, all.Later = t.Later.Insert(append(make([]Span, 0, len(t.Spans)+t.Later.Maker.Len()), t.Spans...)), Later{}
	return &all
}

// Insert returns the spans of a trace, which it may change, with these at their places.
func (l *Later) Insert(spans []Span) []Span {
	spans = l.append(spans)
	slices.SortStableFunc(spans, func(a, b Span) int { return a.ID - b.ID })
	return spans
}

// append appends the spans as those of this request.
func (l *Later) append(spans []Span) []Span {
	n := len(spans)
	spans = l.Maker.AppendSpans(slices.Grow(spans, l.Maker.Len()))
	for i := range spans[n:] {
		s := &spans[n+i]
		if s.Parent == 0 {
			s.Parent = l.Parent
		} else {
			s.Parent += l.Before
		}
		s.ID, s.Step, s.At, s.Took = s.ID+l.Before, l.Step, l.At+s.At, max(s.Took, 1)
	}
	return spans
}

package traces

import "time"

// small are the spans of a series that have no more than a name and an answer: most of a
// run over resources are, and few are looked at. Those below a series have its step.
type small struct {
	spans []smallSpan
	done  bool
	room  [usualSpans]smallSpan
}

// usualSpans is how many of its spans are small where a file is made.
const usualSpans = 11

func newSmall() *small {
	s := new(small)
	s.spans = s.room[:0]
	return s
}

// A smallSpan takes less than half of a Span, and has two pointers for the collector instead of five.
type smallSpan struct {
	name, answer string
	at, took     time.Duration
	id, parent   int32
	kind         Kind
	why          Reason
}

var _ Maker = (*small)(nil)

// add reports whether the span was small enough. One that is nil or done takes none.
func (s *small) add(x *Span) bool {
	if s == nil || s.done || x.Because.About != "" || x.Err != "" || x.Attrs != nil || x.Request != 0 {
		return false
	}
	s.spans = append(s.spans, smallSpan{x.Name, x.Answer, x.At, x.Took, int32(x.ID), int32(x.Parent), x.Kind, x.Because.Reason})
	return true
}

// Len implements Maker.
func (s *small) Len() int { return len(s.spans) }

// AppendSpans implements Maker.
func (s *small) AppendSpans(to []Span) []Span {
	for i := range s.spans {
		x := &s.spans[i]
		to = append(to, Span{ID: int(x.id), Parent: int(x.parent), Kind: x.kind, Name: x.name, Answer: x.answer, Because: Because{Reason: x.why}, At: x.at, Took: x.took})
	}
	return to
}

// Show makes the spans of a series that have ended those of the trace, for who looks at it
// before it ends.
func (a *Active) Show() { a.leave(false) }

// Finish ends a series. What ends later is a span of its own.
func (a *Active) Finish() { a.leave(true) }

// leave gives the trace the small spans of a series, for later if it is done and has the place.
func (a *Active) leave(done bool) {
	if a == nil || a.small == nil {
		return
	}
	l, s := a.live, a.small
	l.mu.Lock()
	defer l.mu.Unlock()
	s.done = done
	if l.ended || len(s.spans) == 0 {
		return
	}
	later := Later{Maker: s, Step: a.span.Step}
	if done && l.Trace.Later.Maker == nil {
		l.Trace.Later = later
		return
	}
	l.Trace.Spans = later.append(l.Trace.Spans)
	s.spans = s.spans[:0]
}

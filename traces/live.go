package traces

import (
	"context"
	"slices"
	"sync"
	"time"
)

// A Live is a Trace that is still being written. There is one for each request;
// spans below a step may be added from several goroutines.
//
// It is also the context of its request, which saves an allocation on the path of
// every request. It must not be copied.
type Live struct {
	context.Context
	Trace *Trace           // nil once the Live is closed
	Now   func() time.Time // the clock of spans; nil is time.Now
	Step  Step             // the step being taken; written by the goroutine of the request only
	Lent  bool             // others may keep it when the request has ended; written by the goroutine of the request only

	ended   bool       // these six lie in two words
	guessed bool       // of the trace, when it is gone: whether run is a guess
	lastID  int32      //
	mu      sync.Mutex // guards all but Context, Now, Step and Lent, and Trace.Spans, Faults, Notes, Touched and Held
	id      uint64     // of the trace, when it is gone
	run     string     // likewise
	start   int64      // likewise, in nanoseconds since 1970; before, when the last wait for the user ended
}

// spare holds traces that are no longer used. Allocating and collecting their
// thousand bytes took half the time of a request.
var spare = sync.Pool{New: func() any { return new(Trace) }}

// NewTrace returns an empty Trace.
func NewTrace() *Trace { return spare.Get().(*Trace) }

// Free gives t, but not what it refers to, to a later NewTrace. Only its sole
// owner may call it. Calling it is optional.
//
// It empties t, so that who still reads it is found out at once.
func (t *Trace) Free() {
	*t = Trace{}
	spare.Put(t)
}

type liveKey struct{}

// Value makes a Live the context that FromContext looks for.
func (l *Live) Value(key any) any {
	if key == (liveKey{}) {
		return l
	}
	return l.Context.Value(key)
}

// FromContext returns the request that ctx belongs to, or nil.
func FromContext(ctx context.Context) *Live {
	l, _ := ctx.Value(liveKey{}).(*Live)
	return l
}

func (l *Live) now() time.Time {
	if l.Now == nil {
		return time.Now()
	}
	return l.Now()
}

// since is now().Sub(t), but reads only one of the two clocks of time.Now.
func (l *Live) since(t time.Time) time.Duration {
	if l.Now == nil {
		return time.Since(t)
	}
	return l.Now().Sub(t)
}

// Close ends the trace. What is added later is dropped.
func (l *Live) Close() {
	l.mu.Lock()
	l.ended = true
	l.id, l.run, l.guessed, l.start = l.Trace.ID, l.Trace.Run, l.Trace.RunGuessed, l.Trace.Start.UnixNano()
	l.Trace = nil
	l.mu.Unlock()
}

// Request returns the number and the run of the request, and whether the run is
// a guess, also when it has ended: what it has started may go on asking.
func (l *Live) Request() (id uint64, run string, guessed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return l.id, l.run, l.guessed
	}
	return l.Trace.ID, l.Trace.Run, l.Trace.RunGuessed
}

// Look calls f with the trace while nothing is added to it, unless the request
// has ended. A nil Live is legal.
func (l *Live) Look(f func(*Trace)) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended && l.Trace != nil {
		f(l.Trace)
	}
}

// Note adds a sentence about the step being taken, and which outcome of it the
// sentence explains. A nil Live is legal.
func (l *Live) Note(e Explains, sentence string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.Trace.Notes = append(l.Trace.Notes, Remark{l.Step, e, sentence})
	}
}

// above is Note, before the other notes.
func (l *Live) above(e Explains, sentence string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.Trace.Notes = slices.Insert(l.Trace.Notes, 0, Remark{l.Step, e, sentence})
	}
}

// Touch adds to what was changed by the user. A nil Live is legal.
func (l *Live) Touch(sentence string) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.Trace.Touched = append(l.Trace.Touched, sentence)
	}
}

// Hold begins a wait for the user, which the function it returns ends. It is no
// part of the duration of this request, nor of those that wait for it. A nil Live
// is legal.
func (l *Live) Hold() (end func()) {
	if l == nil {
		return func() {}
	}
	from := l.now()
	return func() {
		to := l.now()
		for l := l; l != nil; l = FromContext(l.Context) {
			l.waited(from, to)
		}
	}
}

// waited adds a wait. What two nested requests waited at the same time counts
// once.
func (l *Live) waited(from, to time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if d := to.UnixNano() - max(from.UnixNano(), l.start); d > 0 {
		l.Trace.Held += time.Duration(d)
		l.start = to.UnixNano()
	}
}

// Held is how long the request, and those that it has asked, waited for the user.
func (l *Live) Held() (d time.Duration) {
	l.Look(func(t *Trace) { d = t.Held })
	return d
}

// Fault adds something that failed.
func (l *Live) Fault(f Fault) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.Trace.Faults = append(l.Trace.Faults, f)
	}
}

// AddNote notes what is worth knowing about the step that the request of ctx is
// in, and explains no outcome.
func AddNote(ctx context.Context, sentence string) { FromContext(ctx).Note(NoOutcome, sentence) }

// Explain notes why the step answers as it does, or finds nothing. If the step
// fails, the sentence is a mere note.
func Explain(ctx context.Context, sentence string) { FromContext(ctx).Note(AnAnswer, sentence) }

// ExplainAbove is Explain, and goes before what was noted so far.
func ExplainAbove(ctx context.Context, sentence string) { FromContext(ctx).above(AnAnswer, sentence) }

// Done notes what became of an instance that was stored as it should be. A find whose
// cache did so is not explained by that.
func Done(ctx context.Context, sentence string) {
	l, e := FromContext(ctx), AnAnswer
	if l != nil && l.Trace.Verb == Find {
		e = NoOutcome
	}
	l.Note(e, sentence)
}

// ExplainFailure notes why the step fails, better than its error does.
func ExplainFailure(ctx context.Context, sentence string) {
	FromContext(ctx).Note(AnyFailure, sentence)
}

// An Active is a span that has not ended. A nil Active is legal and does
// nothing.
type Active struct {
	live  *Live
	span  Span
	above *Active       // nil directly below a step
	took  time.Duration // that another process measured; else 0
	small *small        // of a series; else nil
}

type spanKey struct{}

// Start opens a span below the current step of the request of ctx, or below
// the span that ctx carries. End must be called once.
func Start(ctx context.Context, kind Kind, name string) (context.Context, *Active) {
	l := FromContext(ctx)
	if l == nil {
		return ctx, nil
	}
	a := &Active{live: l, above: above(ctx, l)}
	a.span.Parent, a.span.Step = a.above.place(l)
	a.Begin(kind, name)
	return context.WithValue(ctx, spanKey{}, a), a
}

// Series is Start for spans that follow one another: the first begins when Begin is called,
// and another one may when it has ended. What begins below them is below the one that is
// open. Those that have no more than a name and an answer are kept small until Show, or until
// Finish, which must be called, leaves them for later.
func Series(ctx context.Context) (context.Context, *Active) {
	l := FromContext(ctx)
	if l == nil {
		return ctx, nil
	}
	a := &Active{live: l, above: above(ctx, l), small: newSmall()}
	a.span.Parent, a.span.Step = a.above.place(l)
	return context.WithValue(ctx, spanKey{}, a), a
}

// Expect makes room for about so many spans, and for no more than a thousand. A nil Live is
// legal.
func (l *Live) Expect(spans int) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		l.Trace.Spans = slices.Grow(l.Trace.Spans, min(spans, 1000))
	}
}

// Begin opens the next span of a series.
func (a *Active) Begin(kind Kind, name string) {
	if a == nil {
		return
	}
	a.took = 0
	a.span = Span{Parent: a.span.Parent, Step: a.span.Step, Kind: kind, Name: name}
	a.span.ID, a.span.At = a.live.number()
}

// Note adds a span of a series that begins and ends at once.
func (a *Active) Note(kind Kind, name, answer string, why Because, err error) {
	if a == nil {
		return
	}
	a.span = Span{Parent: a.span.Parent, Step: a.span.Step, Kind: kind, Name: name, Answer: answer, Because: why, Took: 1}
	if err != nil {
		a.span.Err = err.Error()
	}
	l := a.live
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.lastID++; !l.ended {
		a.span.ID, a.span.At = int(l.lastID), l.since(l.Trace.Start)
		l.append(&a.span, a.small)
		a.span.ID = 0
	}
}

// number numbers a span that begins, and returns when that is.
func (l *Live) number() (id int, at time.Duration) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.ended {
		at = l.since(l.Trace.Start)
	}
	l.lastID++
	return int(l.lastID), at
}

// end adds a span that ends now, or that took so long, to those of a series if there is one.
func (l *Live) end(s *Span, took time.Duration, of *small) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return
	}
	if s.Took = took; took == 0 {
		s.Took = max(l.since(l.Trace.Start)-s.At, 1)
	}
	l.append(s, of)
}

// append appends a span, under the lock.
func (l *Live) append(s *Span, of *small) {
	if of.add(s) {
		return
	}
	if l.Trace.Spans == nil {
		l.Trace.Spans = make([]Span, 0, 4) // hardly any request has just one
	}
	l.Trace.Spans = append(l.Trace.Spans, *s)
}

// A Leaf is a span below which none begins. It has no context and takes no memory of its
// own. The zero value does nothing.
type Leaf struct {
	live  *Live
	above *Active
	kind  Kind
	name  string
	id    int
	at    time.Duration
	attrs []Attr
}

// StartLeaf opens a span at the place where Start does. End must be called once.
func StartLeaf(ctx context.Context, kind Kind, name string) Leaf {
	l := FromContext(ctx)
	if l == nil {
		return Leaf{}
	}
	f := Leaf{live: l, above: above(ctx, l), kind: kind, name: name}
	f.id, f.at = l.number()
	return f
}

// Attr notes a fact about the span.
func (f *Leaf) Attr(key, value string) {
	if f.live != nil {
		f.attrs = append(f.attrs, Attr{key, value})
	}
}

// End ends the span with its answer. The error is kept as text.
func (f *Leaf) End(answer string, why Because, err error) {
	if f.live == nil {
		return
	}
	s := Span{ID: f.id, Kind: f.kind, Name: f.name, Answer: answer, Because: why, At: f.at, Attrs: f.attrs}
	s.Parent, s.Step = f.above.place(f.live)
	if err != nil {
		s.Err = err.Error()
	}
	var of *small
	if f.above != nil {
		of = f.above.small
	}
	f.live.end(&s, 0, of)
}

// Attr notes a fact about the span.
func (a *Active) Attr(key, value string) {
	if a != nil {
		a.span.Attrs = append(a.span.Attrs, Attr{key, value})
	}
}

// Request names the request that the span stands for.
func (a *Active) Request(id uint64) {
	if a != nil {
		a.span.Request = id
	}
}

// Measured gives the span the times that another process measured: how long after the
// span above it the work began, and how long it took, which is not 0.
func (a *Active) Measured(after, took time.Duration) {
	if a == nil {
		return
	}
	if a.took = took; a.above != nil {
		a.span.At = a.above.span.At + after
	}
}

// End ends the span with its answer. The error is kept as text.
func (a *Active) End(answer string, why Because, err error) {
	if a == nil {
		return
	}
	a.span.Answer, a.span.Because = answer, why
	if err != nil {
		a.span.Err = err.Error()
	}
	a.live.end(&a.span, a.took, a.small)
	if a.small != nil {
		a.span.ID = 0 // what begins before the next one is not below it
	}
}

// above is the span of l that ctx carries, or nil.
func above(ctx context.Context, l *Live) *Active {
	if a, ok := ctx.Value(spanKey{}).(*Active); ok && a.live == l {
		return a
	}
	return nil
}

// place is where a span of l below a belongs; a may be nil.
func (a *Active) place(l *Live) (parent int, step Step) {
	switch {
	case a == nil:
		return 0, l.Step
	case a.span.ID == 0: // of a series of which none is open
		return a.span.Parent, a.span.Step
	}
	return a.span.ID, a.span.Step
}

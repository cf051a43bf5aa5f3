package indirector

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"indirtui/traces"
)

// A Gate may stop a request between two questions: let it wait for a person,
// change it, answer for it, or fail it. It is called on the goroutine of the
// request, for many requests at once.
type Debugger interface {
	// Stops is where the Gate wants to see requests. It is asked for once, and
	// read at every stop, so that a Gate without a wish costs a load.
	Stops() *Stops
	// Hold lets the request go on when it returns. The Stop is the house's again
	// then; Freeze returns what may be kept. The error fails the step.
	Hold(context.Context, *Stop) (Verdict, error)
	// Left says that a request which Hold has seen has ended. Id is its number; 0
	// if nobody records.
	Left(id uint64)
}

// Stops is a set of places in the house, the same for all requests. It may be
// changed while requests read it. The zero Stops is empty.
type Stops struct{ set atomic.Uint32 }

// A StopSet is a set of places as a number.
type StopSet uint32

// AllStops is every place.
const AllStops StopSet = 1<<(2*traces.StepCount) - 1

// StopAt is the place before or after a step. Nothing comes after
// traces.Caller: before it is when the answer is handed over.
func StopAt(s traces.Step, done bool) StopSet {
	set := StopSet(1) << (2 * s)
	if done {
		set <<= 1
	}
	return set
}

// Set replaces the set.
func (s *Stops) Set(to StopSet) { s.set.Store(uint32(to)) }

// has reports whether one of the places in some is in the set.
func (s *Stops) has(some StopSet) bool { return StopSet(s.set.Load())&some != 0 }

// handsOver is the place where the answer is complete.
const handsOver StopSet = 1 << (2 * traces.Caller)

// A Stop is a request at a place between two questions. What it points to is
// the house's: it is read on the goroutine of the request, and kept by Freeze.
type Stop struct {
	Point   traces.Point
	Done    bool // false before the step, true after it
	Last    bool // after the last step: only traces.Caller follows
	Request *Request
	Trace   *traces.Trace // read Spans, Faults and Notes only within Look
	Value   any           // the answer so far
	Served  traces.Served // by whom; ByNobody if nobody has answered
	Err     error         // what the step failed with; nil before it

	flight *flight
	set    bool // whether the last verdict gave an answer
}

// Look calls f with the trace while nobody adds to it.
func (s *Stop) Look(f func(*traces.Trace)) { s.flight.live.Look(f) }

// Outcome is what would become of the request if nothing more happened to it;
// traces.Run before anybody was asked for an answer.
func (s *Stop) Outcome() traces.Outcome {
	answered := s.Trace.Steps[traces.Terminus].Answer != traces.NotReached && (s.Point.Step > traces.Terminus || s.Done)
	if s.Err == nil && s.Served == traces.ByNone && !answered {
		return traces.Run
	}
	return s.flight.live.Outcome(s.Served, s.Err != nil)
}

// A Verdict is how a request goes on. The zero Verdict lets it go on as it is.
type Verdict struct {
	// Waited is that time has passed which is nobody's.
	Waited bool
	// Request is what it goes on as: key, options, flags, environment, terminus,
	// cache and instance count, where a step that is still to come reads them.
	Request *Request
	// Skip leaves out the step before which the request stopped. Only the route
	// cannot be left out.
	Skip bool
	// Set makes Value the answer from here on, and says that it was injected. An
	// error that the request stopped with is forgotten. Before a step it goes
	// with Skip, as the answer of that step.
	Set   bool
	Value any
	// Err fails the step, before or after it was taken. Before a cache is read it
	// is a failure of the cache, which the house survives (IND-FIND-05).
	Err error
	// By says who decided, for the trace: "b1", "you"; "" is "you".
	By string
}

// Holds reports whether the gate wants to see requests, at present, when their
// terminus has answered or later: then an answer must not leave before.
func (x *Indirector) Holds() bool {
	return StopSet(x.stops.set.Load())>>(2*traces.Terminus+1) != 0
}

// hold lets the gate have its say before or after a step. It reports whether
// the step is to be left out.
func (f *flight) hold(s traces.Step, done, last bool, stepErr error) (skip bool, err error) {
	if f.stop == nil {
		f.stop = &Stop{flight: f, Request: &f.req, Trace: f.live.Trace}
	}
	stop := f.stop
	stop.Point, stop.Done, stop.Last = f.point(s), done, last
	stop.Value, stop.Served, stop.Err = f.value, f.resp.Served, stepErr
	v, err := f.x.cfg.Debugger.Hold(f.ctx(), stop)
	if v.Waited { // a person's coffee is no time of a step
		f.clock = time.Time{}
		if f.x.cfg.Recorder != nil {
			f.clock = f.x.now()
		}
	}
	stop.set = v.Set
	if err != nil {
		return false, err
	}
	if v.Request == nil && v.Err == nil && !v.Set && !v.Skip {
		return false, stepErr
	}
	if v.By == "" {
		v.By = "you"
	}
	if v.Request != nil {
		if err := f.edit(v.Request); err != nil {
			return false, err
		}
	}
	if v.Err != nil || v.Set {
		f.req.Wire().Forget()
	}
	if v.Err != nil {
		return f.failBy(s, done, v)
	}
	if v.Set {
		if err := f.inject(s, v); err != nil {
			return false, err
		}
		stepErr = nil
	}
	if v.Skip && !done {
		return f.leaveOut(s, v)
	}
	return false, stepErr
}

// failBy fails a step on behalf of a person.
func (f *flight) failBy(s traces.Step, done bool, v Verdict) (skip bool, err error) {
	q := &f.live.Trace.Steps[s]
	because := traces.Because{Reason: traces.ByYou, About: v.By + " let it fail"}
	if s == traces.CacheRead && f.req.Verb != Expire && f.to != nil {
		// A cache that fails is a miss, also after it has answered.
		f.value, f.resp.Served, f.resp.From = nil, traces.ByNone, traces.Point{}
		q.Answer, _, err = f.cacheFailed(v.Err)
		q.Because = because
		return true, err
	}
	if errors.Is(v.Err, ErrNotFound) && f.answers(s) {
		v.Value = nil
		if err := f.inject(s, v); err != nil {
			return false, err
		}
		q.Answer, q.Because = traces.Nothing, becauseOf(v.Err)
		f.resp.Served = traces.ByNone
		return true, nil
	}
	q.Answer, q.Because = traces.Raised, because
	return false, v.Err
}

// answers reports whether a step may have an answer for the caller.
func (f *flight) answers(s traces.Step) bool {
	return s >= traces.CacheRead
}

// inject makes a person's value the answer.
func (f *flight) inject(s traces.Step, v Verdict) error {
	ok := true
	switch f.req.Verb {
	case Find, Expire:
		_, ok = v.Value.(Instance)
	case Search:
		_, ok = v.Value.([]Instance)
	case Head:
		_, ok = v.Value.(bool)
	}
	switch {
	case !ok && v.Value != nil:
		return fmt.Errorf("inject an answer: %T is none of %s", v.Value, f.req.Verb)
	case !f.answers(s) && v.Value != nil:
		return fmt.Errorf("inject an answer: %s gives none", s)
	case !f.answers(s):
		return nil
	}
	f.value, f.resp.Served, f.resp.From = v.Value, traces.ByInjection, f.point(s)
	if s == traces.CacheRead && v.Value == nil {
		f.resp.Served, f.resp.From = traces.ByNone, traces.Point{} // a miss: the terminus is asked
	}
	q := &f.live.Trace.Steps[s]
	q.Because = traces.Because{Reason: traces.ByYou, About: v.By + " answered"}
	switch {
	case s == traces.CacheRead && v.Value == nil:
		q.Answer = traces.Miss
	case s == traces.CacheRead:
		q.Answer = traces.Found
	case v.Value == nil:
		q.Answer = traces.Nothing
	default:
		q.Answer = traces.OK
	}
	return nil
}

// leaveOut skips a step.
func (f *flight) leaveOut(s traces.Step, v Verdict) (skip bool, err error) {
	q := &f.live.Trace.Steps[s]
	because := traces.Because{Reason: traces.ByYou, About: v.By + " left it out"}
	switch s {
	case traces.Route:
		return false, errors.New("leave a step out: without a route there is nobody to ask")
	case traces.Authorize:
		*q = traces.Question{Answer: traces.Allowed, Because: because}
	case traces.Validate:
		*q = traces.Question{Answer: traces.OK, Because: because}
	case traces.Expiry:
		*q = traces.Question{Answer: traces.OK, Because: because}
		if f.resp.Served != traces.ByCache {
			q.Answer = traces.NotAsked
		}
	default:
		if !v.Set {
			*q = traces.Question{Answer: traces.NotAsked, Because: because}
		}
	}
	return true, nil
}

// edit makes next the request that goes on. Indirection and verb stay: the
// plan of a request is not changed on the way. So do those who wait for it.
func (f *flight) edit(next *Request) error {
	was := f.req
	f.req = *next
	f.req.Indirection, f.req.Verb, f.req.looks = was.Indirection, was.Verb, was.looks
	f.req.Caller, f.req.Rescue, f.req.Wants = was.Caller, was.Rescue, was.Wants
	if f.to != nil { // what the route has made of it must be made again
		if f.req.Key != was.Key {
			f.req.URI = nil
		}
		if err := f.x.resolve(&f.req, f.to); err != nil {
			return err
		}
		if f.req.Terminus != was.Terminus || f.req.Cache != was.Cache {
			if err := f.reroute(); err != nil {
				return err
			}
		}
		f.live.Trace.Environment = f.req.Environment
	}
	f.live.Trace.Key, f.live.Trace.Flags = f.req.Key, f.req.Flags
	f.live.Trace.Options = nil
	for _, o := range f.req.Options {
		f.live.Trace.Options = append(f.live.Trace.Options, traces.Option{Name: o.Name, Value: brief(o.Value)})
	}
	return nil
}

// reroute chooses again for a request whose terminus or cache was changed on
// the way.
func (f *flight) reroute() error {
	f.to = f.x.table.Load().by[f.req.Indirection]
	f.live.Trace.Primary, f.live.Trace.Cache = f.to.route.Primary, f.to.route.Cache
	if f.req.Terminus != "" || f.req.Cache != "" {
		f.ownRoute()
	}
	if f.to.primaryHolder == nil {
		return &Failure{Class: "Puppet::DevError", Message: fmt.Sprintf(msgNoSelection, f.req.Indirection), Err: ErrNoRoute}
	}
	return f.to.primaryHolder.open(f.x)
}

// handOver is the stop before the caller: the answer is complete.
func (f *flight) handOver(err error) error {
	f.live.Step = traces.Caller
	seen := err
	if errors.Is(err, ErrNotFound) {
		seen = nil // Puppet's nil is an answer
	}
	_, held := f.hold(traces.Caller, false, false, seen)
	switch {
	case held != nil && held != seen:
		return f.fail(traces.Caller, held)
	case f.stop.set:
		f.live.Look(func(t *traces.Trace) {
			for i := range t.Faults {
				t.Faults[i].Shown = false // of what the caller is told nothing now
			}
		})
		return f.answer()
	}
	return err
}

// A State is a request as it stood at a stop: a copy for those who look while
// it waits or goes on. It is not changed.
type State struct {
	Point   traces.Point
	Done    bool
	Last    bool
	Request Request
	Trace   traces.Trace
	Value   any
	Served  traces.Served
	Err     error

	x  *Indirector
	to *resolved // nil before the route
}

// Freeze returns the State of the request. It must be called before Hold
// returns.
func (s *Stop) Freeze() *State {
	st := &State{
		Point: s.Point, Done: s.Done, Last: s.Last, Request: *s.Request,
		Value: s.Value, Served: s.Served, Err: s.Err, x: s.flight.x, to: s.flight.to,
	}
	s.Look(func(t *traces.Trace) { st.Trace = t.Clone() })
	return st
}

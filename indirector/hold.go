package indirector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// A Debugger may stop a request between two steps: let it wait, change it,
// answer it, or fail it. It is called on the goroutine of each request, and
// must be safe for concurrent use.
type Debugger interface {
	// Stops returns where requests are to be stopped. It is called once; the
	// result is read at every stop, which costs one load if it is empty.
	Stops() *Stops
	// Hold returns when the request may go on. The Stop must not be used after
	// that; what is kept is a copy by Freeze. The error fails the step.
	Hold(context.Context, *Stop) (Verdict, error)
	// Left reports that a request which was held has ended. Id is its number, 0
	// if nothing is recorded.
	Left(id uint64)
}

// Stops is a set of points before and after steps. It may be changed while
// requests read it. The zero Stops is empty.
type Stops struct{ set atomic.Uint32 }

// A StopSet is such a set as bits.
type StopSet uint32

// AllStops is the set of all points.
const AllStops StopSet = 1<<(2*traces.StepCount) - 1

// StopAt returns the point before or after a step. The answer is handed over
// after the one before traces.Caller; nothing comes after that step.
func StopAt(s traces.Step, done bool) StopSet {
	set := StopSet(1) << (2 * s)
	if done {
		set <<= 1
	}
	return set
}

// Set replaces the set.
func (s *Stops) Set(to StopSet) { s.set.Store(uint32(to)) }

// has reports whether the set contains any of some.
func (s *Stops) has(some StopSet) bool { return StopSet(s.set.Load())&some != 0 }

// handsOver is the point at which the answer is complete.
const handsOver StopSet = 1 << (2 * traces.Caller)

// A Stop is a request between two steps. It belongs to the Indirector: it is
// read on the goroutine of the request, and copied by Freeze.
type Stop struct {
	Point   traces.Point
	Done    bool          // false before the step, true after it
	Last    bool          // after the last step: only traces.Caller follows
	set     bool          // the last verdict gave an answer
	Served  traces.Served // ByNone if there is no answer yet
	Request *Request
	Trace   *traces.Trace // read Spans, Faults and Notes only within Look
	Value   any           // the answer so far
	Err     error         // of the step; nil before it
	Code    *Code         // in a program that the terminus runs; nil between steps

	live   *traces.Live
	call   *call // nil if home is another process
	home   Home
	freeze func(*Code)
}

// NewStop returns a Stop of a request that runs elsewhere, for the caller to fill in
// what is exported but the Trace, which is that of live.
func NewStop(live *traces.Live, home Home) *Stop {
	return &Stop{Trace: live.Trace, live: live, home: home}
}

// A Home is where a stopped request runs: in this process, or in another one. It is
// safe for concurrent use.
type Home interface {
	// String names the process: "puppet agent (pid 4711)". "" is this one.
	String() string
	// Plan predicts the rest of a request that stopped there, going on as req, which is
	// not nil. Nothing is executed.
	Plan(ctx context.Context, st *State, req *Request) Forecast
	// Disabled returns why something cannot be done to the request there; "" if it can.
	// It is named as in breakpoints: an action ("fail") or what is set ("key", "opt.NAME").
	Disabled(what string) string
	// Waiters returns what else waits until the request goes on, or is about to give up.
	Waiters() []Waiter
}

// A Waiter waits until a stopped request goes on.
type Waiter struct {
	Name  string    // "http_read_timeout", "the whole server (1 JRuby instance)"
	Until time.Time // when it gives up; zero is never
}

// here is this process as the Home of a request.
type here struct {
	x  *Indirector
	to *resolved // nil before the route
}

func (here) String() string         { return "" }
func (here) Disabled(string) string { return "" }
func (here) Waiters() []Waiter      { return nil }

// Home returns where the request runs.
func (s *Stop) Home() Home {
	if s.call == nil {
		return s.home
	}
	return here{s.call.x, s.call.to}
}

// Look calls f with the trace while nothing is added to it.
func (s *Stop) Look(f func(*traces.Trace)) { s.live.Look(f) }

// Held is how long the request has waited for the user so far.
func (s *Stop) Held() time.Duration { return s.live.Held() }

// Outcome returns the outcome if the request ended here; traces.Run if neither
// cache nor terminus has been asked.
func (s *Stop) Outcome() traces.Outcome {
	answered := s.Trace.Steps[traces.Terminus].Answer != traces.NotReached && (s.Point.Step > traces.Terminus || s.Done)
	if s.Err == nil && s.Served == traces.ByNone && !answered {
		return traces.Run
	}
	return s.live.Outcome(s.Served, s.Err != nil)
}

// A Verdict is how a request goes on. The zero Verdict lets it go on as it is.
type Verdict struct {
	// Waited reports that the time since Hold was called belongs to no step.
	Waited bool
	// Request replaces key, options, flags, environment, terminus, cache and
	// instance for the steps to come. Nil changes nothing.
	Request *Request
	// Variables are given other values, in a program.
	Variables []data.Pair
	// Skip leaves out the step before which the request stopped, which must not
	// be the route.
	Skip bool
	// Again takes the step of a resource that failed once more.
	Again bool
	// Set makes Value the answer, marks it as injected, and clears the error
	// that the request stopped with. Before a step it goes with Skip.
	Set   bool
	Value any
	// Err fails the step, before or after it was taken. A cache read that fails
	// is a miss (IND-FIND-05).
	Err error
	// By is who decided, for the trace: "b1", "you". Empty is "you".
	By string
}

// Holds reports whether the debugger may stop requests after their terminus has
// answered, so that an answer must not be sent before.
func (x *Indirector) Holds() bool {
	return StopSet(x.stops.set.Load())&AllStops>>(2*traces.Terminus+1) != 0
}

// hold asks the debugger before or after a step, and reports whether to skip
// the step.
func (c *call) hold(s traces.Step, done, last bool, stepErr error) (skip bool, err error) {
	if c.stop == nil {
		c.stop = &Stop{live: &c.live, call: c, Request: &c.req, Trace: c.live.Trace}
	}
	stop := c.stop
	stop.Point, stop.Done, stop.Last = c.point(s), done, last
	stop.Value, stop.Served, stop.Err = c.value, c.resp.Served, stepErr
	v, err := c.x.cfg.Debugger.Hold(c.ctx(), stop)
	c.waited(v)
	stop.set = v.Set
	if err != nil {
		return false, err
	}
	if v.Request == nil && v.Err == nil && !v.Set && !v.Skip {
		return false, stepErr
	}
	v.By = cmp.Or(v.By, "you")
	if v.Request != nil {
		if err := c.edit(v.Request); err != nil {
			return false, err
		}
	}
	if v.Err != nil || v.Set {
		c.req.Wire().Forget()
	}
	if v.Err != nil {
		return c.failBy(s, done, v)
	}
	if v.Set {
		if err := c.inject(s, v); err != nil {
			return false, err
		}
		stepErr = nil
	}
	if v.Skip && !done {
		return c.leaveOut(s, v)
	}
	return false, stepErr
}

// waited reads the clock after the debugger, since a wait belongs to no step.
func (c *call) waited(v Verdict) {
	if v.Waited {
		c.readClock()
	}
}

// failBy fails a step as the debugger decided.
func (c *call) failBy(s traces.Step, done bool, v Verdict) (skip bool, err error) {
	q := &c.live.Trace.Steps[s]
	because := traces.Because{Reason: traces.ByYou, About: v.By + " let it fail"}
	if s == traces.CacheRead && c.req.Verb != Expire && c.to != nil {
		// A cache that fails is a miss, also after it has answered.
		c.value, c.resp.Served, c.resp.From = nil, traces.ByNone, ""
		q.Answer, _, err = c.cacheFailed(v.Err)
		q.Because = because
		return true, err
	}
	if errors.Is(v.Err, ErrNotFound) && c.answers(s) {
		v.Value = nil
		if err := c.inject(s, v); err != nil {
			return false, err
		}
		q.Answer, q.Because = traces.Nothing, BecauseOf(v.Err)
		c.resp.Served = traces.ByNone
		return true, nil
	}
	q.Answer, q.Because = traces.Raised, because
	return false, v.Err
}

// answers reports whether a step may give the caller an answer.
func (c *call) answers(s traces.Step) bool {
	return s >= traces.CacheRead
}

// inject makes the debugger's value the answer.
func (c *call) inject(s traces.Step, v Verdict) error {
	ok := true
	switch c.req.Verb {
	case Find, Expire:
		_, ok = v.Value.(Instance)
	case Search:
		_, ok = v.Value.([]Instance)
	case Head:
		_, ok = v.Value.(bool)
	}
	switch {
	case !ok && v.Value != nil:
		return fmt.Errorf("inject an answer: %T is none of %s", v.Value, c.req.Verb)
	case !c.answers(s) && v.Value != nil:
		return fmt.Errorf("inject an answer: %s gives none", s)
	case !c.answers(s):
		return nil
	}
	c.value, c.resp.Served, c.resp.From = v.Value, traces.ByInjection, c.point(s).Terminus
	if s == traces.CacheRead && v.Value == nil {
		c.resp.Served, c.resp.From = traces.ByNone, "" // a miss: the terminus is asked
	}
	q := &c.live.Trace.Steps[s]
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
func (c *call) leaveOut(s traces.Step, v Verdict) (skip bool, err error) {
	q := &c.live.Trace.Steps[s]
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
		if c.resp.Served != traces.ByCache {
			q.Answer = traces.NotAsked
		}
	default:
		if !v.Set {
			*q = traces.Question{Answer: traces.NotAsked, Because: because}
		}
	}
	return true, nil
}

// edit lets the request go on as next. Indirection and verb stay, and so does
// the caller.
func (c *call) edit(next *Request) error {
	was := c.req
	c.req = *next
	c.req.Indirection, c.req.Verb, c.req.looks = was.Indirection, was.Verb, was.looks
	c.req.Caller, c.req.Rescue, c.req.Wants = was.Caller, was.Rescue, was.Wants
	if w := c.req.Wire(); w != nil {
		w.Changed = true
	}
	if c.to != nil { // redo what the route has done
		if c.req.Key != was.Key {
			c.req.URI = nil
		}
		if err := c.x.resolve(&c.req, c.to); err != nil {
			return err
		}
		if c.req.Terminus != was.Terminus || c.req.Cache != was.Cache {
			c.choose()
			if err := c.openPrimary(); err != nil {
				return err
			}
		}
		c.live.Trace.Environment = c.req.Environment
	}
	c.live.Trace.Key, c.live.Trace.Flags = c.req.Key, c.req.Flags
	c.live.Trace.Options = nil
	c.traceOptions()
	return nil
}

// handOver stops before the caller gets the answer.
func (c *call) handOver(err error) error {
	c.live.Step = traces.Caller
	seen := err
	if errors.Is(err, ErrNotFound) {
		seen = nil // Puppet's nil is an answer
	}
	_, held := c.hold(traces.Caller, false, false, seen)
	switch {
	case held != nil && held != seen:
		return c.fail(traces.Caller, held)
	case c.stop.set:
		c.live.Look(func(t *traces.Trace) {
			for i := range t.Faults {
				t.Faults[i].Shown = false // the caller does not see them now
			}
		})
		return c.answer()
	}
	return err
}

// A State is a copy of a stopped request. It is not changed.
type State struct {
	Point   traces.Point
	Done    bool
	Last    bool
	Request Request
	Trace   traces.Trace
	Value   any
	Served  traces.Served
	Err     error
	Code    *Code // with calls and variables; nil between steps
	Home    Home
	// Trier judges what is to be saved instead; nil if that is not known. It may only be asked
	// while the request is held.
	Trier Trier
}

// A Trier returns why an instance would be refused where a request saves it; nil if it would
// not be, or that is not known.
type Trier interface{ Try(Instance) error }

type trierKey struct{}

// WithTrier returns a context for the requests that save what t judges.
func WithTrier(ctx context.Context, t Trier) context.Context {
	return context.WithValue(ctx, trierKey{}, t)
}

// TrierOf returns what judges the instances of a request, or nil.
func TrierOf(ctx context.Context) Trier {
	t, _ := ctx.Value(trierKey{}).(Trier)
	return t
}

// Plan predicts the rest of a stopped request, going on as req; nil is
// unchanged. Nothing is executed.
func (st *State) Plan(ctx context.Context, req *Request) Forecast {
	if req == nil {
		req = &st.Request
	}
	return st.Home.Plan(ctx, st, req)
}

// Freeze returns the State of the request. It must be called before Hold
// returns.
func (s *Stop) Freeze() *State {
	st := &State{
		Point: s.Point, Done: s.Done, Last: s.Last, Request: *s.Request,
		Value: s.Value, Served: s.Served, Err: s.Err, Home: s.Home(),
	}
	if s.call != nil {
		st.Trier = TrierOf(s.call.ctx())
	}
	s.Look(func(t *traces.Trace) { st.Trace = t.Completed().Clone() })
	if s.Code != nil {
		at := *s.Code
		s.freeze(&at)
		st.Code = &at
	}
	return st
}

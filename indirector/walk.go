package indirector

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
)

// A flight is a request on its way through the house. It lives on one
// goroutine, and is one allocation with what others may keep of it: the
// request, the answer and the context.
type flight struct {
	x     *Indirector
	req   Request
	to    *resolved
	resp  Response
	value any       // the answer so far
	clock time.Time // when the clock was last read; see now
	live  traces.Live
	list  *listing // of a search that yields; nil otherwise
	stop  *Stop    // what the gate sees of it; nil if it has not
}

// A step asks one question about a flight, and always says why its answer is so.
type step struct {
	name          traces.Step
	take          func(*flight) (traces.Answer, traces.Because, error)
	before, after StopSet // where a gate may hold the flight
	last          bool    // of its plan
}

// at is a step, taken by take.
func at(s traces.Step, take func(*flight) (traces.Answer, traces.Because, error)) step {
	return step{name: s, take: take, before: StopAt(s, false), after: StopAt(s, true)}
}

// plans is what happens for each verb, in order, and what the steps that it
// does not have say.
type plans struct {
	steps  [Expire + 1][]step
	blanks [Expire + 1][traces.StepCount]traces.Question
}

// newPlans writes the plans down. Held against the specification: 7.1 to 7.6.
func newPlans() *plans {
	p := &plans{steps: [...][]step{
		Find: {
			at(traces.Route, route), at(traces.Authorize, authorize), at(traces.Validate, validate),
			at(traces.CacheRead, readCache), at(traces.Expiry, checkExpiry), at(traces.Terminus, askTerminus),
			at(traces.ExpirySet, setExpiry), at(traces.CacheWrite, writeCache), at(traces.Filter, filter),
		},
		Search: {
			at(traces.Route, route), at(traces.Authorize, authorize), at(traces.Validate, validate),
			at(traces.Terminus, searchTerminus), at(traces.ExpirySet, setExpiries),
		},
		Head: {
			at(traces.Route, route), at(traces.Authorize, authorize), at(traces.Validate, validate),
			at(traces.CacheRead, readCache), at(traces.Expiry, checkExpiry), at(traces.Terminus, headTerminus),
		},
		Save: {
			at(traces.Route, route), at(traces.Authorize, authorize), at(traces.Validate, validate),
			at(traces.Terminus, saveTerminus), at(traces.CacheWrite, saveCache),
		},
		Destroy: {
			at(traces.Route, route), at(traces.Authorize, authorize), at(traces.Validate, validate),
			at(traces.Terminus, destroyTerminus), at(traces.CacheWrite, destroyCache),
		},
		Expire: {
			at(traces.Route, route), at(traces.CacheRead, findToExpire), at(traces.ExpirySet, expireNow), at(traces.CacheWrite, rewriteCache),
		},
	}}
	for verb, plan := range p.steps {
		if len(plan) > 0 {
			plan[len(plan)-1].last = true
		}
		b := &p.blanks[verb]
		for s := range b {
			b[s] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.VerbHasNoCache, About: Verb(verb).String()}}
		}
		b[traces.Filter] = traces.Question{Answer: traces.Unfiltered, Because: traces.Because{Reason: traces.TerminusHasNoFilter}}
		b[traces.Caller] = traces.Question{Because: traces.Because{Reason: traces.CallerUnknown}}
		for _, s := range plan {
			b[s.name] = traces.Question{Because: traces.Because{Reason: traces.EarlierStepRaised}}
		}
	}
	return p
}

// Do answers req: it takes the steps of its verb, one after the other. An
// error is always an *Error; Puppet's nil is one that is ErrNotFound, except
// for head, whose answer is then false, and for save, destroy and expire, whose
// answer is then a nil Value.
func (x *Indirector) Do(ctx context.Context, req *Request) (*Response, error) {
	f := &flight{x: x, req: *req}
	f.begin(ctx)
	if x.cfg.Recorder == nil {
		err := f.whole()
		// Neither a terminus nor the caller got hold of the trace.
		f.live.Trace.Free()
		f.live.Trace = nil
		return f.answered(err)
	}
	f.resp.Trace = x.cfg.Recorder.Begin(f.live.Trace)
	f.live.Trace.ID = f.resp.Trace
	err := f.whole()
	t := f.end(err)
	seen := f.value
	if t.Verb == Save {
		seen = f.req.Instance
	}
	x.cfg.Recorder.End(t, seen)
	return f.answered(err)
}

func (f *flight) begin(ctx context.Context) {
	r, t := &f.req, traces.NewTrace()
	f.live.Context, f.live.Trace, f.live.Now = ctx, t, f.x.cfg.Now
	if f.x.cfg.Recorder != nil {
		f.clock = f.x.now()
	}
	t.Start, t.Verb, t.Indirection, t.Key = f.clock, r.Verb, r.Indirection, r.Key
	t.RunGuessed = r.RunGuessed
	t.Caller, t.Run, t.Application, t.Flags, t.Previous = r.Caller, r.Run, f.x.cfg.Application, r.Flags, r.Replay
	if r.Verb <= Expire {
		// To copy the array as it is took three times as long: most of it is
		// zero, in both.
		for i := range t.Steps {
			q, blank := &t.Steps[i], &f.x.plans.blanks[r.Verb][i]
			q.Answer, q.Because.Reason = blank.Answer, blank.Because.Reason
			if blank.Because.About != "" {
				q.Because.About = blank.Because.About
			}
		}
	}
	if t.Key == "" && r.Instance != nil {
		t.Key = r.Instance.Key() // IND-REQ-03
	}
	parent, asker := traces.Within(ctx)
	t.Traceparent = asker
	if parent != nil {
		id, run, guessed := parent.Request()
		t.Parent, t.ParentStep = id, parent.Step
		if t.Run == "" {
			t.Run, t.RunGuessed = run, guessed
		}
		if t.Caller == "" {
			t.Caller = "terminus"
		}
	}
	if r.Wants != nil {
		t.Notes = append(t.Notes, r.Wants.Notes...)
	}
	for _, o := range r.Options {
		t.Options = append(t.Options, traces.Option{Name: o.Name, Value: brief(o.Value)})
	}
}

// brief is an option's value for the trace: never a whole instance.
func brief(v any) string {
	switch v := v.(type) {
	case string:
		if len(v) > 200 {
			return v[:200] + "…"
		}
		return v
	case Instance:
		return fmt.Sprintf("(%T %s)", v, v.Key())
	}
	return inspect(v)
}

// ctx is what termini get: the trace, or the caller's own if nobody records.
func (f *flight) ctx() context.Context {
	if f.x.cfg.Recorder == nil {
		return f.live.Context
	}
	return &f.live
}

// whole is the plan, and what comes after it for those few that somebody looks
// at or wants more of.
func (f *flight) whole() error {
	err := f.fly()
	if f.x.stops.has(handsOver) {
		err = f.handOver(err)
	}
	if wants := f.req.Wants; err == nil && wants != nil && wants.Take != nil && f.req.Verb == Find {
		err = f.take(wants.Take)
	}
	if f.stop != nil {
		f.x.cfg.Debugger.Left(f.resp.Trace)
	}
	return err
}

// fly walks the plan. A panic of a step is an error that carries the stack.
func (f *flight) fly() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = f.fail(f.live.Step, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	if f.req.Verb == traces.NoVerb || f.req.Verb > Expire {
		return f.fail(traces.Route, fmt.Errorf("no such verb: %v", f.req.Verb))
	}
	plan := f.x.plans.steps[f.req.Verb]
	for i := range plan {
		if err := f.watch(&plan[i]); err != nil {
			return err
		}
	}
	return f.answer()
}

// watch takes one step. It is the one place where the house is watched: it
// lets the gate hold, notes the answer, and says where an error began.
func (f *flight) watch(s *step) error {
	f.live.Step = s.name
	q := &f.live.Trace.Steps[s.name]
	if f.x.stops.has(s.before) {
		if skip, err := f.hold(s.name, false, false, nil); skip || err != nil {
			return f.taken(s, q, err)
		}
	}
	answer, because, err := s.take(f)
	q.Answer, q.Because = answer, because
	if err == nil && !f.x.stops.has(s.after) {
		return nil // as nearly all: the rest is kept out of their way
	}
	return f.taken(s, q, err)
}

// taken is what comes after a step that was taken or left out.
func (f *flight) taken(s *step, q *traces.Question, err error) error {
	if f.x.stops.has(s.after) {
		if err != nil {
			f.raise(q, err)
		}
		_, err = f.hold(s.name, true, s.last, err)
	}
	if err == nil || f.softens(s.name, q, err) {
		return nil
	}
	f.raise(q, err)
	return f.fail(s.name, err)
}

// softens swallows the failure of a save where the terminus has it so: nobody
// is told but the log.
func (f *flight) softens(s traces.Step, q *traces.Question, err error) bool {
	if s != traces.Terminus || f.req.Verb != Save || errors.Is(err, errors.ErrUnsupported) {
		return false
	}
	soft := f.to.primaryHolder.softener
	if soft == nil {
		return false
	}
	setting := soft.Soft()
	if setting == "" {
		return false
	}
	f.x.cfg.Log.Error(Message(err))
	f.fault(s, err, false)
	q.Answer, q.Because = traces.Swallowed, traces.Because{Reason: traces.SoftFailed, About: setting}
	return true
}

// ask puts a request to a verb of a terminus and takes the time.
func (f *flight) ask(h *holder, verb Verb, req *Request, q *traces.Question) (any, error) {
	handle := h.verbs[verb]
	if handle == nil {
		return nil, &VerbError{
			Indirection: h.indirection, Terminus: h.name, Verb: verb,
			Class: h.desc.Class(f.x.cfg.Registry.Spec(h.indirection)), Aborts: h.desc.REST,
		}
	}
	before := f.clock
	v, err := handle(f.ctx(), req)
	f.tick(q, before)
	if err != nil && errors.Is(err, ErrNotFound) {
		q.Because = becauseOf(err)
		if q.Because.Reason == traces.ByYou && q == &f.live.Trace.Steps[traces.Terminus] {
			f.resp.Served = traces.ByInjection // a wrapper answered
		}
		return nil, nil
	}
	return v, err
}

// now is the time, as of the last question. When nobody records, no clock is
// read before somebody must know.
func (f *flight) now() time.Time {
	if f.clock.IsZero() {
		f.clock = f.x.now()
	}
	return f.clock
}

// tick reads the clock, and says how long it was since it was last read.
func (f *flight) tick(q *traces.Question, before time.Time) {
	if f.x.cfg.Recorder == nil {
		f.clock = time.Time{}
		return
	}
	f.clock = f.x.now()
	q.At, q.Took = before.Sub(f.live.Trace.Start), max(f.clock.Sub(before), 1)
}

// answer is what the caller gets of the value.
func (f *flight) answer() error {
	f.resp.Value = f.value
	switch f.req.Verb {
	case Find, Search:
		if f.value == nil {
			return f.fail(traces.Terminus, NotFound(f.live.Trace.Steps[traces.Terminus].Because.Reason, f.live.Trace.Steps[traces.Terminus].Because.About))
		}
		if f.req.Verb == Search && f.req.yield() != nil {
			return f.yielded()
		}
	case Head:
		found, isBool := f.value.(bool)
		f.resp.Value = found || !isBool && f.value != nil
	}
	return nil
}

// take lets the caller do with the answer what is part of the request.
func (f *flight) take(take func(context.Context, *Response) error) (failed error) {
	f.live.Step = traces.Caller
	defer func() {
		if v := recover(); v != nil {
			failed = f.fail(traces.Caller, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	before := f.now()
	err := take(f.ctx(), &f.resp)
	f.tick(&f.live.Trace.Steps[traces.Caller], before)
	if err != nil {
		return f.fail(traces.Caller, err)
	}
	return nil
}

// end closes the trace, and returns it: it is the recorder's now.
func (f *flight) end(err error) *traces.Trace {
	t := f.live.Trace
	f.live.Close()
	t.Took = f.clock.Sub(t.Start)
	if err != nil && !errors.Is(err, ErrNotFound) {
		t.Error = Message(err)
	}
	t.Served = f.resp.Served
	t.Idle = idleFlags(t)
	slices.SortFunc(t.Spans, func(a, b traces.Span) int { return a.ID - b.ID })
	if inst, ok := f.value.(Instance); ok && t.Verb == Find && f.value != nil {
		if name := inst.Key(); name != "" && name != t.Key {
			t.Named = name
		}
	}
	t.Outcome = traces.Judge(t)
	if f.req.Caller != "" || t.Parent != 0 {
		q := &t.Steps[traces.Caller]
		q.Answer, q.Because = traces.Passed, traces.Because{Reason: traces.CallerReturned, About: t.Caller}
		switch {
		case t.Error == "":
		case f.req.Rescue != "":
			q.Answer, q.Because = traces.Swallowed, traces.Because{Reason: traces.Rescued, About: f.req.Rescue}
		default:
			q.Answer, q.Because = traces.Raised, traces.Because{Reason: traces.CallerRaised, About: t.Caller}
		}
	}
	return t
}

// idleFlags returns the flags that were given and changed nothing. Gap L5.
func idleFlags(t *traces.Trace) traces.Flags {
	if t.Flags == 0 {
		return 0
	}
	effective := map[Verb]traces.Flags{
		Find:   traces.IgnoreCache | traces.IgnoreCacheSave | traces.IgnoreTerminus,
		Head:   traces.IgnoreCache,
		Save:   traces.IgnoreCacheSave | traces.IgnoreTerminus,
		Expire: traces.IgnoreCacheSave,
	}
	may := effective[t.Verb] | traces.FailOn404
	if c := t.Cache.Winner().Terminus; c == "" || c == Off {
		may &^= traces.IgnoreCache | traces.IgnoreCacheSave
	}
	return t.Flags &^ may
}

// answered is what Do returns.
func (f *flight) answered(err error) (*Response, error) {
	if err != nil {
		return nil, err
	}
	return &f.resp, nil
}

func (f *flight) point(s traces.Step) traces.Point {
	p := traces.Point{Indirection: f.live.Trace.Indirection, Verb: f.live.Trace.Verb, Step: s}
	if f.to != nil {
		p.Terminus = f.to.primary.Terminus
		if s == traces.CacheRead || s == traces.CacheWrite {
			p.Terminus = f.to.cache.Terminus
		}
	}
	return p
}

// raise notes that a step failed, unless it has said why itself.
func (f *flight) raise(q *traces.Question, err error) {
	q.Answer = traces.Raised
	if q.Because.Reason == traces.EarlierStepRaised || q.Because.Reason == traces.NoReason {
		q.Because = traces.Because{Reason: traces.TerminusRaised, About: firstLine(Message(err))}
	}
}

// fail makes an error of the house out of one of a step.
func (f *flight) fail(s traces.Step, err error) error {
	if located := (*Error)(nil); errors.As(err, &located) && located.Trace == f.live.Trace.ID && located.Point.Step == s && located.Key == f.live.Trace.Key {
		return err
	}
	e := &Error{Point: f.point(s), Key: f.live.Trace.Key, Trace: f.live.Trace.ID, Origin: f.origin(s, err), Err: err}
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		e.Path = failure.Path
	}
	e.Done = f.sideEffects()
	f.fault(s, err, true)
	return e
}

// origin names where a failure began in the words of the UI: "terminus exec",
// "cache-read json › decode".
func (f *flight) origin(s traces.Step, err error) string {
	o := strings.ReplaceAll(s.String(), " ", "-")
	if f.to != nil {
		switch s {
		case traces.Terminus, traces.Filter:
			o += " " + f.to.primary.Terminus
		case traces.CacheRead, traces.CacheWrite:
			o += " " + f.to.cache.Terminus
		}
	}
	if failure := (*Failure)(nil); errors.As(err, &failure) && failure.Origin != "" {
		o += " › " + failure.Origin
	}
	return o
}

// sideEffects is what had been done when a request failed. Gap L7.
func (f *flight) sideEffects() []string {
	var done []string
	if f.list != nil && f.list.n > 0 {
		done = append(done, f.list.String()+" had been yielded")
	}
	if f.live.Trace.Steps[traces.Terminus].Answer == traces.Written {
		done = append(done, "terminus "+f.to.primary.Terminus+" stored it")
	}
	if f.live.Trace.Steps[traces.Terminus].Answer == traces.Removed {
		done = append(done, "terminus "+f.to.primary.Terminus+" removed it")
	}
	return done
}

// fault notes a failure, whether the caller sees it or not.
func (f *flight) fault(s traces.Step, err error, shown bool) {
	if errors.Is(err, ErrNotFound) {
		return
	}
	fault := traces.Fault{Origin: f.origin(s, err), Step: s, Message: Message(err), Shown: shown}
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		fault.Path, fault.Hidden = failure.Path, failure.unsaid()
	}
	f.live.Fault(fault)
}

// unsaid is what a failure knows and does not say. A sentinel below it tells
// only of which kind it is, and words that it repeats are said.
func (f *Failure) unsaid() string {
	switch {
	case f.Hidden != "" || f.Err == nil:
		return f.Hidden
	case slices.Contains(sentinels, f.Err) || strings.Contains(f.Message, f.Err.Error()):
		return ""
	}
	return f.Err.Error()
}

var sentinels = []error{ErrNoRoute, ErrDenied, ErrInvalid, ErrNotArray, errors.ErrUnsupported}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}

// Look is Do for who only looks: neither a find nor what termini ask on its way
// writes the caches that are routed. A cache that the request names is written.
func (x *Indirector) Look(ctx context.Context, req *Request) (*Response, error) {
	return x.Do(context.WithValue(ctx, lookKey{}, true), x.looking(req))
}

type lookKey struct{}

// looking returns the request as one who only looks asks it.
func (x *Indirector) looking(req *Request) *Request {
	r := x.table.Load().by[req.Indirection]
	if req.Verb != Find || req.Cache != "" || req.Flags&traces.IgnoreCacheSave != 0 || r == nil || r.cacheHolder == nil {
		return req
	}
	look := *req
	look.Flags |= traces.IgnoreCacheSave
	look.looks = true
	return &look
}

type depthKey struct{}

// nested is Do for termini that ask other indirections. It ends loops.
func (x *Indirector) nested(ctx context.Context, req *Request) (*Response, error) {
	if ctx.Value(lookKey{}) != nil {
		req = x.looking(req)
	}
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth >= maxDepth {
		return nil, fmt.Errorf(msgNestedTooDeep, maxDepth)
	}
	return x.Do(context.WithValue(ctx, depthKey{}, depth+1), req)
}

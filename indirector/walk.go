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

// A call is one request on its way through the steps. It lives on one goroutine
// and is one allocation, shared with those who keep the request or the context.
//
// One that only brief termini have seen is used again, see [Descriptor]. That
// saved half the time of a find in memory: a store that grows leaves little
// memory warm, and what is new costs a fault of a page for each nine calls.
type call struct {
	x     *Indirector
	req   Request
	to    *resolved
	resp  Response
	value any           // the answer so far
	at    time.Duration // when the clock was last read, since the trace began; see now
	live  traces.Live
	list  *listing // of a search that yields; nil otherwise
	stop  *Stop    // what the debugger sees of it; nil before it was stopped
}

// A step asks one question about a call and returns the answer with its reason.
type step struct {
	name          traces.Step
	take          func(*call) (traces.Answer, traces.Because, error)
	before, after StopSet // where the debugger may hold the call
	last          bool    // of its plan
}

// at returns the step s, taken by take.
func at(s traces.Step, take func(*call) (traces.Answer, traces.Because, error)) step {
	return step{name: s, take: take, before: StopAt(s, false), after: StopAt(s, true)}
}

// plans lists the steps of each verb, in order, and the answers of those that a
// verb does not have.
type plans struct {
	steps  [Expire + 1][]step
	blanks [Expire + 1][traces.StepCount]traces.Question
}

// newPlans follows the specification, 7.1 to 7.6.
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

// Do answers req. An error is always an *Error. Puppet's nil is an error that
// is ErrNotFound, except for head, which answers false, and for save, destroy
// and expire, which answer a nil Value. A Response beside an error is empty.
func (x *Indirector) Do(ctx context.Context, req *Request) (Response, error) {
	c, _ := x.spare.Get().(*call)
	if c == nil {
		c = new(call)
	}
	c.x, c.req = x, *req
	c.begin(ctx)
	if x.cfg.Recorder == nil {
		err := c.run()
		// Neither a terminus nor the caller has seen the trace.
		c.live.Trace.Free()
		c.live.Trace = nil
		return c.answered(err)
	}
	if x.keeper == nil {
		c.announce()
	}
	err := c.run()
	t := c.end(err)
	seen := c.value
	if t.Verb == Save {
		seen = c.req.Instance
	}
	if x.keeper != nil && c.resp.Trace == 0 {
		c.resp.Trace = x.keeper.Keep(t, seen)
	} else {
		x.cfg.Recorder.End(t, seen)
	}
	return c.answered(err)
}

// announce begins the request at the recorder, once: before others can learn of it.
func (c *call) announce() {
	if c.x.cfg.Recorder != nil && c.resp.Trace == 0 {
		c.resp.Trace = c.x.cfg.Recorder.Begin(c.live.Trace)
		c.live.Trace.ID = c.resp.Trace
	}
}

func (c *call) begin(ctx context.Context) {
	r, t := &c.req, traces.NewTrace()
	c.live.Context, c.live.Trace, c.live.Now = ctx, t, c.x.cfg.Now
	if c.x.cfg.Recorder != nil {
		t.Start = c.x.now()
	}
	t.Verb, t.Indirection, t.Key = r.Verb, r.Indirection, r.Key
	t.RunGuessed = r.RunGuessed
	t.Caller, t.Run, t.Application, t.Flags, t.Previous = r.Caller, r.Run, c.x.cfg.Application, r.Flags, r.Replay
	if r.Verb <= Expire {
		// Copying the whole array took three times as long; most of it is zero.
		blanks := &c.x.plans.blanks[r.Verb]
		for i := range t.Steps {
			q, blank := &t.Steps[i], &blanks[i]
			q.Answer, q.Because.Reason = blank.Answer, blank.Because.Reason
			if blank.Because.About != "" {
				q.Because.About = blank.Because.About
			}
		}
	}
	if t.Key == "" && !r.Keyed && r.Instance != nil {
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
		t.Notes, t.Transaction = append(t.Notes, r.Wants.Notes...), r.Wants.Transaction
	}
	c.traceOptions()
}

// ctx is the context for termini: with the trace, or the caller's own if
// nothing is recorded. They get it with the request, and may keep both.
func (c *call) ctx() context.Context {
	c.announce()
	c.live.Lent = true
	return c.briefly()
}

// briefly is ctx for those who keep neither.
func (c *call) briefly() context.Context {
	if c.x.cfg.Recorder == nil {
		return c.live.Context
	}
	return &c.live
}

// run walks the plan, then hands the answer to the debugger and to Take, if
// there are any.
func (c *call) run() error {
	err := c.walk()
	if c.x.stops.has(handsOver) {
		err = c.handOver(err)
	}
	if wants := c.req.Wants; err == nil && wants != nil && wants.Take != nil && c.req.Verb == Find {
		err = c.take(wants.Take)
	}
	if c.stop != nil {
		c.x.cfg.Debugger.Left(c.resp.Trace)
	}
	return err
}

// walk takes the steps of the plan. A panic becomes an error with the stack.
func (c *call) walk() (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = c.fail(c.live.Step, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	if c.req.Verb == traces.NoVerb || c.req.Verb > Expire {
		return c.fail(traces.Route, fmt.Errorf("no such verb: %v", c.req.Verb))
	}
	plan := c.x.plans.steps[c.req.Verb]
	for i := range plan {
		if err := c.watch(&plan[i]); err != nil {
			return err
		}
	}
	return c.answer()
}

// watch takes one step. All that surrounds a step is done here: it lets the
// debugger hold the call, records answer and reason, and locates errors.
func (c *call) watch(s *step) error {
	c.live.Step = s.name
	q := &c.live.Trace.Steps[s.name]
	if c.x.stops.has(s.before) {
		if skip, err := c.hold(s.name, false, false, nil); skip || err != nil {
			return c.taken(s, q, err)
		}
	}
	answer, because, err := s.take(c)
	q.Answer, q.Because = answer, because
	if err == nil && !c.x.stops.has(s.after) {
		return nil // the fast path
	}
	return c.taken(s, q, err)
}

// taken finishes a step that failed, was skipped, or after which the debugger
// may hold.
func (c *call) taken(s *step, q *traces.Question, err error) error {
	if c.x.stops.has(s.after) {
		if err != nil {
			c.raise(q, err)
		}
		_, err = c.hold(s.name, true, s.last, err)
	}
	if err == nil || c.softens(s.name, q, err) {
		return nil
	}
	c.raise(q, err)
	return c.fail(s.name, err)
}

// softens swallows the failure of a save if the terminus is a [Softener] with
// its setting on; it is logged only.
func (c *call) softens(s traces.Step, q *traces.Question, err error) bool {
	if s != traces.Terminus || c.req.Verb != Save || errors.Is(err, errors.ErrUnsupported) {
		return false
	}
	soft := c.to.primaryHolder.softener
	if soft == nil {
		return false
	}
	setting := soft.Soft()
	if setting == "" {
		return false
	}
	c.x.cfg.Log.Error(Message(err))
	c.fault(s, err, false)
	q.Answer, q.Because = traces.Swallowed, traces.Because{Reason: traces.SoftFailed, About: setting}
	return true
}

// ask calls a verb of a terminus and takes the time.
func (c *call) ask(h *holder, verb Verb, req *Request, q *traces.Question) (any, error) {
	handle := h.verbs[verb]
	if handle == nil {
		return nil, &VerbError{
			Indirection: h.indirection, Terminus: h.name, Verb: verb,
			Class: h.desc.Class(c.x.cfg.Registry.Spec(h.indirection)), Aborts: h.desc.REST,
		}
	}
	before, held := c.at, c.held()
	ctx := c.briefly()
	if !h.desc.Brief {
		ctx = c.ctx()
	}
	if h.desc.Code && c.x.cfg.Debugger != nil {
		ctx = context.WithValue(ctx, codeKey{}, c)
	}
	v, err := handle(ctx, req)
	c.tick(q, before, held)
	if err != nil && errors.Is(err, ErrNotFound) {
		q.Because = BecauseOf(err)
		if q.Because.Reason == traces.ByYou && q == &c.live.Trace.Steps[traces.Terminus] {
			c.resp.Served = traces.ByInjection // a wrapper answered
		}
		return nil, nil
	}
	return v, err
}

// now returns the time as of the last step. If nothing is recorded, the clock
// is read only when the time is needed.
func (c *call) now() time.Time {
	t := c.live.Trace
	if t.Start.IsZero() {
		t.Start = c.x.now()
	}
	return t.Start.Add(c.at)
}

// readClock notes the time that now returns.
func (c *call) readClock() {
	if c.x.cfg.Recorder == nil {
		c.live.Trace.Start = time.Time{}
		return
	}
	c.at = c.x.since(c.live.Trace.Start)
}

// held is how long the call, and what it has asked, waited for the user.
func (c *call) held() time.Duration {
	if c.x.cfg.Debugger == nil {
		return 0
	}
	return c.live.Held()
}

// tick reads the clock and records how long the step took. What it asked may have
// waited for the user, which does not count: held is how long it had before.
func (c *call) tick(q *traces.Question, before, held time.Duration) {
	c.readClock()
	if c.x.cfg.Recorder != nil {
		q.At, q.Took = before, max(c.at-before-(c.held()-held), 1)
	}
}

// answer puts the value into the response.
func (c *call) answer() error {
	c.resp.Value = c.value
	switch c.req.Verb {
	case Find, Search:
		if c.value == nil {
			return c.fail(traces.Terminus, NotFound(c.live.Trace.Steps[traces.Terminus].Because.Reason, c.live.Trace.Steps[traces.Terminus].Because.About))
		}
		if c.req.Verb == Search && c.req.yield() != nil {
			return c.yielded()
		}
	case Head:
		found, isBool := c.value.(bool)
		c.resp.Value = found || !isBool && c.value != nil
	}
	return nil
}

// take calls Take of [Wants].
func (c *call) take(take func(context.Context, Response) error) (failed error) {
	c.live.Step = traces.Caller
	defer func() {
		if v := recover(); v != nil {
			failed = c.fail(traces.Caller, fmt.Errorf("panic: %v\n%s", v, debug.Stack()))
		}
	}()
	before, held := c.at, c.held()
	err := take(c.ctx(), c.resp)
	c.tick(&c.live.Trace.Steps[traces.Caller], before, held)
	if err != nil {
		return c.fail(traces.Caller, err)
	}
	return nil
}

// end closes the trace and returns it. It belongs to the recorder then.
func (c *call) end(err error) *traces.Trace {
	t := c.live.Trace
	if c.lent() {
		c.live.Close() // else answered empties it
	}
	t.Took = max(c.at-t.Held, 0)
	if err != nil && !errors.Is(err, ErrNotFound) {
		t.Error = Message(err)
	}
	t.Served = c.resp.Served
	t.Idle = idleFlags(t)
	slices.SortFunc(t.Spans, func(a, b traces.Span) int { return a.ID - b.ID })
	if inst, ok := c.value.(Instance); ok && t.Verb == Find && c.value != nil {
		if name := inst.Key(); name != "" && name != t.Key {
			t.Named = name
		}
	}
	t.Outcome = traces.Judge(t)
	if report, ok := c.req.Instance.(RunEnder); ok && t.Verb == Save && t.Outcome == traces.Good {
		noteRunEnd(t, report.RunEnd())
	}
	if c.req.Caller != "" || t.Parent != 0 {
		q := &t.Steps[traces.Caller]
		q.Answer, q.Because = traces.Passed, traces.Because{Reason: traces.CallerReturned, About: t.Caller}
		switch {
		case t.Error == "":
		case c.req.Rescue != "":
			q.Answer, q.Because = traces.Swallowed, traces.Because{Reason: traces.Rescued, About: c.req.Rescue}
		default:
			q.Answer, q.Because = traces.Raised, traces.Because{Reason: traces.CallerRaised, About: t.Caller}
		}
	}
	return t
}

// noteRunEnd adds to the save of a report how the run ended. If an old catalog was
// applied, that is stale. What failed in the save itself comes first. Pain P1.
func noteRunEnd(t *traces.Trace, end traces.RunEnd) {
	if s := end.Sentence(); s != "" {
		t.Explain(s)
	}
	if end.Stale() {
		t.Outcome = traces.Stale
	}
}

// idleFlags returns the flags that were given and had no effect. Gap L5.
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

// lent reports whether others may keep c when it has ended.
func (c *call) lent() bool { return c.live.Lent || c.stop != nil }

// answered returns the answer. The call is used again, unless it is lent.
func (c *call) answered(err error) (resp Response, _ error) {
	if err == nil {
		resp = c.resp
	}
	if x := c.x; !c.lent() {
		*c = call{}
		x.spare.Put(c)
	}
	return resp, err
}

func (c *call) point(s traces.Step) traces.Point {
	p := traces.Point{Indirection: c.live.Trace.Indirection, Verb: c.live.Trace.Verb, Step: s}
	if c.to != nil {
		p.Terminus = c.to.primary.Terminus
		if s == traces.CacheRead || s == traces.CacheWrite {
			p.Terminus = c.to.cache.Terminus
		}
	}
	return p
}

// raise records that a step failed, unless it has given a reason itself.
func (c *call) raise(q *traces.Question, err error) {
	q.Answer = traces.Raised
	if q.Because.Reason == traces.EarlierStepRaised || q.Because.Reason == traces.NoReason {
		q.Because = traces.Because{Reason: traces.TerminusRaised, About: firstLine(Message(err))}
	}
}

// fail locates an error of a step.
func (c *call) fail(s traces.Step, err error) error {
	c.announce()
	if located := (*Error)(nil); errors.As(err, &located) && located.Trace == c.live.Trace.ID && located.Point.Step == s && located.Key == c.live.Trace.Key {
		return err
	}
	e := &Error{Point: c.point(s), Key: c.live.Trace.Key, Trace: c.live.Trace.ID, Origin: c.origin(s, err), Err: err}
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		e.Path = failure.Path
	}
	e.Done = c.sideEffects()
	c.fault(s, err, true)
	return e
}

// origin names where a failure began: "terminus exec", "cache-read json ›
// decode".
func (c *call) origin(s traces.Step, err error) string {
	o := strings.ReplaceAll(s.String(), " ", "-")
	if c.to != nil {
		switch s {
		case traces.Terminus, traces.Filter:
			o += " " + c.to.primary.Terminus
		case traces.CacheRead, traces.CacheWrite:
			o += " " + c.to.cache.Terminus
		}
	}
	if failure := (*Failure)(nil); errors.As(err, &failure) && failure.Origin != "" {
		o += " › " + failure.Origin
	}
	return o
}

// sideEffects lists what had been done when the call failed. Gap L7.
func (c *call) sideEffects() []string {
	var done []string
	if c.list != nil && c.list.n > 0 {
		done = append(done, c.list.String()+" had been yielded")
	}
	if c.live.Trace.Steps[traces.Terminus].Answer == traces.Written {
		done = append(done, "terminus "+c.to.primary.Terminus+" stored it")
	}
	if c.live.Trace.Steps[traces.Terminus].Answer == traces.Removed {
		done = append(done, "terminus "+c.to.primary.Terminus+" removed it")
	}
	return done
}

// fault records a failure. Shown is whether the caller sees it.
func (c *call) fault(s traces.Step, err error, shown bool) {
	if errors.Is(err, ErrNotFound) {
		return
	}
	fault := traces.Fault{Origin: c.origin(s, err), Step: s, Message: Message(err), Shown: shown}
	if failure := (*Failure)(nil); errors.As(err, &failure) {
		fault.Path, fault.Hidden = failure.Path, failure.unsaid()
	}
	c.live.Fault(fault)
}

// unsaid returns what the message of a failure leaves out. Sentinels only
// classify.
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

// Look is like Do but leaves routed caches unwritten, also those of nested
// requests. A cache that the request names is written.
func (x *Indirector) Look(ctx context.Context, req *Request) (Response, error) {
	return x.Do(context.WithValue(ctx, lookKey{}, true), x.looking(req))
}

type lookKey struct{}

// Looking reports whether the request of ctx was sent by Look: caches of its terminus
// are left unwritten, too.
func Looking(ctx context.Context) bool { return ctx.Value(lookKey{}) != nil }

// looking returns the request as Look sends it.
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
func (x *Indirector) nested(ctx context.Context, req *Request) (Response, error) {
	if Looking(ctx) {
		req = x.looking(req)
	}
	depth, _ := ctx.Value(depthKey{}).(int)
	if depth >= maxDepth {
		return Response{}, fmt.Errorf(msgNestedTooDeep, maxDepth)
	}
	return x.Do(context.WithValue(ctx, depthKey{}, depth+1), req)
}

package indirector

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// A flight is a request on its way through the Indirector. It lives on one
// goroutine; when it is over, a later request uses it again.
type flight struct {
	x *Indirector
	*kept
	to    *resolved
	value any       // the answer so far
	clock time.Time // when the clock was last read; see now
	live  *traces.Live
	list  *listing // of a search that yields; nil otherwise
	stop  *Stop    // what the gate sees of it; nil if it has not

	unrecorded struct { // live and its trace, if nothing is recorded
		live  traces.Live
		trace traces.Trace
	}
}

// kept is what termini and the caller may keep of a request, in one allocation.
type kept struct {
	req  Request
	resp Response
}

// recorded is what they may keep of one that is recorded: its context, too.
type recorded struct {
	kept
	live traces.Live
}

// flights has those that are over. To use them again saves a quarter of what a
// request allocates, and a sixth of the time of a find that nothing records.
var flights = sync.Pool{New: func() any { return new(flight) }}

func (x *Indirector) newFlight(req *Request) *flight {
	f := flights.Get().(*flight)
	f.x = x
	if x.cfg.Recorder == nil {
		f.kept, f.live = new(kept), &f.unrecorded.live
		f.live.Trace = &f.unrecorded.trace
	} else {
		r := new(recorded)
		f.kept, f.live = &r.kept, &r.live
		f.live.Trace = traces.NewTrace()
	}
	f.req = *req
	return f
}

// over gives f to a later request, unless a listing or a gate may still have it.
func (f *flight) over() {
	if f.list != nil || f.stop != nil {
		return
	}
	if f.x.cfg.Recorder == nil {
		f.unrecorded.live = traces.Live{}
		f.unrecorded.trace = traces.Trace{}
	}
	f.x, f.kept, f.to, f.value, f.live = nil, nil, nil, nil, nil
	f.clock = time.Time{}
	flights.Put(f)
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
	f := x.newFlight(req)
	f.begin(ctx)
	if x.cfg.Recorder == nil {
		return f.answered(f.whole())
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
		f.x.cfg.Gate.Left(f.resp.Trace)
	}
	return err
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

// answered ends the flight and returns what Do does.
func (f *flight) answered(err error) (*Response, error) {
	resp := &f.resp
	f.over()
	if err != nil {
		return nil, err
	}
	return resp, nil
}

// ctx is what termini get: the trace, or the caller's own if nobody records.
func (f *flight) ctx() context.Context {
	if f.x.cfg.Recorder == nil {
		return f.live.Context
	}
	return f.live
}

func (f *flight) begin(ctx context.Context) {
	r, t := &f.req, f.live.Trace
	f.live.Context, f.live.Now = ctx, f.x.cfg.Now
	if f.x.cfg.Recorder != nil {
		f.clock = f.x.now()
	}
	t.Start, t.Verb, t.Indirection, t.Key = f.clock, r.Verb, r.Indirection, r.Key
	t.RunGuessed = r.RunGuessed
	t.Caller, t.Run, t.Application, t.Flags, t.Previous = r.Caller, r.Run, f.x.cfg.Application, r.Flags, r.Replay
	if r.Verb <= Expire {
		// To copy the array as it is took three times as long: most of it is
		// zero, in both.
		blanks := &f.x.plans.blanks[r.Verb]
		for i := range t.Steps {
			q, blank := &t.Steps[i], &blanks[i]
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

// raise notes that a step failed, unless it has said why itself.
func (f *flight) raise(q *traces.Question, err error) {
	q.Answer = traces.Raised
	if q.Because.Reason == traces.EarlierStepRaised || q.Because.Reason == traces.NoReason {
		q.Because = traces.Because{Reason: traces.TerminusRaised, About: firstLine(Message(err))}
	}
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

// fail makes an error of the house out of one of a step.
func (f *flight) fail(s traces.Step, err error) error {
	if located := (*Error)(nil); errors.As(err, &located) && located.Trace == f.live.Trace.ID && located.Point.Step == s && located.Key == f.live.Trace.Key {
		return err
	}
	e := &Error{Point: f.point(s), Key: f.live.Trace.Key, Trace: f.live.Trace.ID, Origin: f.origin(s, err), Err: err, Kind: kindOf(s, err)}
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

func kindOf(s traces.Step, err error) Kind {
	switch {
	case errors.Is(err, ErrNotFound):
		return NotFoundKind
	case errors.Is(err, ErrDenied):
		return DeniedKind
	case errors.Is(err, ErrInvalid):
		return InvalidKind
	case errors.Is(err, errors.ErrUnsupported):
		return UnsupportedKind
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded), errors.Is(err, errStopped):
		return CanceledKind
	case errors.Is(err, ErrNoRoute), s == traces.Route:
		return RouteKind
	case s == traces.Terminus, s == traces.CacheRead, s == traces.CacheWrite:
		return UnavailableKind
	}
	return Internal
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

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
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

// ---- route, authorize, validate: what Puppet calls prepare ----

// route selects the terminus and the cache. It comes first, also when the
// terminus will not be asked. Rule IND-PREP-01.
func route(f *flight) (traces.Answer, traces.Because, error) {
	t := f.live.Trace
	f.to = f.x.table.Load().by[f.req.Indirection]
	if f.to == nil {
		return traces.Raised, traces.Because{}, &Failure{
			Class:   "ArgumentError",
			Message: fmt.Sprintf(msgNoIndirection, f.req.Indirection),
			Hidden:  hint(f.x.cfg.Registry.Nearest(f.req.Indirection)), Err: ErrNoRoute,
		}
	}
	t.Primary, t.Cache = f.to.route.Primary, f.to.route.Cache
	if f.req.Terminus != "" || f.req.Cache != "" {
		f.ownRoute()
	}
	because := traces.Because{Reason: f.to.primary.Source.Reason(), About: f.to.primary.Place}
	if err := f.x.resolve(&f.req, f.to); err != nil {
		t.Environment = f.req.Environment
		return traces.Raised, because, err
	}
	t.Environment = f.req.Environment
	if f.to.spec.BeforeSave != nil && f.req.Verb == Save {
		if err := f.to.spec.BeforeSave(f.ctx(), f.x, &f.req); err != nil {
			return traces.Raised, because, err
		}
	}
	if f.req.Verb == Expire {
		return traces.Chosen, because, nil // only the cache is used: IND-EXP-04
	}
	if f.to.primaryHolder == nil {
		return traces.Raised, because, &Failure{Class: "Puppet::DevError", Message: fmt.Sprintf(msgNoSelection, f.req.Indirection), Err: ErrNoRoute}
	}
	if err := f.to.primaryHolder.open(f.x); err != nil {
		return traces.Raised, because, err
	}
	return traces.Chosen, because, nil
}

// ownRoute is the route of a request that names its own terminus or cache. The
// table is not touched. Gap L3.
func (f *flight) ownRoute() {
	f.to = f.x.own(f.to, &f.req)
	f.live.Trace.Primary, f.live.Trace.Cache = f.to.route.Primary, f.to.route.Cache
}

// own returns the route with what the request says about it itself on top.
func (x *Indirector) own(to *resolved, req *Request) *resolved {
	source, place := req.By, req.Place
	if source == traces.NoSource {
		source, place = traces.FromRequest, "this request"
	}
	own := *to
	if req.Terminus != "" {
		own.primary = traces.Choice{Terminus: req.Terminus, Source: source, Place: place}
		own.primaryHolder = x.holder(req.Indirection, own.primary)
		own.route.Primary = push(own.route.Primary, own.primary)
	}
	if req.Cache != "" {
		own.cache, own.cacheHolder = traces.Choice{Terminus: Off, Source: source, Place: place}, nil
		if req.Cache != Off && req.Cache != "none" {
			own.cache.Terminus = req.Cache
			own.cacheHolder = x.holder(req.Indirection, own.cache)
		}
		own.route.Cache = push(own.route.Cache, own.cache)
	}
	return &own
}

// authorize asks the terminus about requests that carry a node. Rules
// IND-AUTH-01, IND-AUTH-02.
func authorize(f *flight) (traces.Answer, traces.Because, error) {
	if f.req.Remote == nil || f.req.Remote.Node == "" {
		return traces.NotChecked, traces.Because{Reason: traces.NoNodeInRequest}, nil
	}
	a := f.to.primaryHolder.authorizer
	if a == nil && f.req.Remote.Rule != "" {
		return traces.Allowed, traces.Because{Reason: traces.RuleAllowed, About: f.req.Remote.Rule}, nil
	}
	if a == nil {
		return traces.Allowed, traces.Because{Reason: traces.NoRule}, nil
	}
	if a.Authorized(f.ctx(), &f.req) {
		return traces.Allowed, traces.Because{Reason: traces.RuleAllowed, About: f.req.Remote.Node}, nil
	}
	msg := fmt.Sprintf(msgNotAuthorized, f.req.Verb, f.req.Description())
	if len(f.req.Options) > 0 {
		msg += " with " + inspectOptions(f.req.Options)
	}
	return traces.Denied, traces.Because{Reason: traces.RuleDenied, About: f.req.Remote.Node}, &Failure{Class: "ArgumentError", Message: msg, Err: ErrDenied}
}

// validate checks model and key of a save, as the primary terminus wants it;
// the cache is never asked. Rules IND-VAL-01 to IND-VAL-03.
func validate(f *flight) (traces.Answer, traces.Because, error) {
	inst := f.req.Instance
	if inst == nil {
		return traces.OK, traces.Because{Reason: traces.NothingToValidate}, nil
	}
	err := func() error {
		if v := f.to.primaryHolder.validator; v != nil {
			return v.Validate(f.ctx(), &f.req)
		}
		return f.to.spec.Validate(inst, f.req.Key)
	}()
	if err != nil {
		return traces.Invalid, traces.Because{Reason: traces.ValidationFailed, About: firstLine(Message(err))}, err
	}
	return traces.OK, traces.Because{}, nil
}

// Validate is the check that every terminus makes unless it has its own: is
// the instance of the model, and does its name match the key. Rule IND-VAL-01.
func (s *Spec) Validate(inst Instance, key string) error {
	if err := s.ValidateModel(inst); err != nil {
		return err
	}
	if s.KeyMatches != nil {
		return s.KeyMatches(inst, key)
	}
	if name := inst.Key(); name != key {
		return &Failure{Class: "Puppet::Indirector::ValidationError", Message: fmt.Sprintf(msgBadName, inspect(name), inspect(key)), Err: ErrInvalid}
	}
	return nil
}

// ValidateModel is the first half of Validate, for termini that do not care
// for the key. Rule IND-VAL-02.
func (s *Spec) ValidateModel(inst Instance) error {
	if s.Model == nil || s.Model(inst) {
		return nil
	}
	class := fmt.Sprintf("%T", inst)
	if c, ok := inst.(interface{ RubyClass() string }); ok {
		class = c.RubyClass()
	}
	return &Failure{Class: "Puppet::Indirector::ValidationError", Message: fmt.Sprintf(msgBadType, class, s.Class), Err: ErrInvalid}
}

// ---- asking a terminus ----

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

// readCache asks the cache first, with the same request. A failing cache is a
// miss, a failing terminus is not: the error is logged and swallowed. Rules
// IND-FIND-01, IND-FIND-02, IND-FIND-05.
func readCache(f *flight) (traces.Answer, traces.Because, error) {
	switch {
	case f.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted, About: f.to.cache.Place}, nil
	case f.req.Flags&traces.IgnoreCache != 0:
		return traces.NotAsked, traces.Because{Reason: traces.IgnoredByCaller, About: f.live.Trace.Caller}, nil
	}
	q := &f.live.Trace.Steps[traces.CacheRead]
	v, err := f.fromCache(q)
	if err == nil && usable(v) {
		if _, ok := v.(Expirer); !ok {
			err = &Failure{Class: "NoMethodError", Message: fmt.Sprintf(msgNoExpired, describe(v)), Hidden: "the file holds something else than " + f.to.spec.Class}
		}
	}
	if err != nil {
		return f.cacheFailed(err)
	}
	if !usable(v) {
		because := q.Because
		if because.Reason == traces.EarlierStepRaised || because.Reason == traces.ReturnedNil {
			because = traces.Because{Reason: traces.NotFound}
		}
		if f.to.cacheHolder.desc.AlwaysNil {
			because.Reason = traces.AlwaysNil
		}
		return traces.Miss, because, nil
	}
	f.value = v
	f.resp.Served, f.resp.From = traces.ByCache, f.point(traces.CacheRead)
	return traces.Found, traces.Because{Reason: traces.CacheFound}, nil
}

// fromCache finds in the cache, which is made here if need be: a constructor
// that fails is a read that fails. Rule IND-FIND-05.
func (f *flight) fromCache(q *traces.Question) (any, error) {
	if err := f.to.cacheHolder.open(f.x); err != nil {
		return nil, err
	}
	return f.ask(f.to.cacheHolder, Find, &f.req, q)
}

func (f *flight) cacheFailed(err error) (traces.Answer, traces.Because, error) {
	because := traces.Because{Reason: traces.ReadFailed, About: firstLine(Message(err))}
	if aborts(err) {
		return traces.Raised, because, err
	}
	f.x.cfg.Log.Error(fmt.Sprintf(msgCacheFailed, f.req.Indirection, f.req.Key, Message(err)))
	f.fault(traces.CacheRead, err, false)
	return traces.Swallowed, because, nil
}

// usable reports whether v is an answer of a cache: nil and false are none.
func usable(v any) bool {
	inst, ok := v.(Instance)
	return ok && inst != nil && inst != False
}

// describe is what Ruby calls v where it has no such method.
func describe(v any) string {
	if name, ok := v.(Name); ok {
		return data.InspectString(string(name)) + ":String"
	}
	if c, ok := v.(interface{ RubyClass() string }); ok {
		return "an instance of " + c.RubyClass()
	}
	return fmt.Sprintf("%v", v)
}

// checkExpiry drops what the cache gave if it is too old. Rules IND-FIND-03,
// IND-FIND-04, IND-EXP-01.
func checkExpiry(f *flight) (traces.Answer, traces.Because, error) {
	if f.resp.Served != traces.ByCache {
		return traces.NotAsked, traces.Because{Reason: f.live.Trace.Steps[traces.CacheRead].Because.Reason}, nil
	}
	at := f.value.(Expirer).Expiration()
	switch {
	case at.IsZero() && !f.to.cacheHolder.keepsExpiry:
		f.usingCached()
		return traces.OK, traces.Because{Reason: traces.NoExpiryKept, About: f.to.cache.Terminus}, nil
	case at.IsZero():
		f.usingCached()
		return traces.OK, traces.Because{Reason: traces.NoExpiration}, nil
	case !at.Before(f.now()):
		f.usingCached()
		return traces.OK, traces.Because{Reason: traces.NotExpired, About: "for " + round(at.Sub(f.now())).String()}, nil
	}
	f.x.cfg.Log.Info(fmt.Sprintf("Not using expired %s for %s from cache; expired at %s", f.req.Indirection, f.req.Key, at.Format("2006-01-02 15:04:05 MST")))
	f.value, f.resp = nil, Response{Trace: f.resp.Trace}
	return traces.Expired, traces.Because{Reason: traces.ExpiredAt, About: at.UTC().Format(time.RFC3339) + ", " + round(f.now().Sub(at)).String() + " ago"}, nil
}

func (f *flight) usingCached() {
	if f.x.cfg.Log.Enabled(f.ctx(), slog.LevelDebug) {
		f.x.cfg.Log.Debug(fmt.Sprintf("Using cached %s for %s", f.req.Indirection, f.req.Key))
	}
}

func round(d time.Duration) time.Duration {
	if d > 2*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// skipTerminus says whether the terminus is not asked, and why.
func (f *flight) skipTerminus(mayIgnore bool) (traces.Answer, traces.Because, bool) {
	switch {
	case f.resp.Served == traces.ByInjection:
		return traces.NotAsked, traces.Because{Reason: traces.ByYou}, true
	case mayIgnore && f.req.Flags&traces.IgnoreTerminus != 0:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreTerminus, About: f.live.Trace.Caller}, true
	case f.resp.Served == traces.ByCache:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedCacheHit}, true
	}
	return 0, traces.Because{}, false
}

// askTerminus finds in the terminus. Its errors go to the caller as they are:
// nothing falls back to the cache. Rules IND-FIND-06, IND-FIND-07.
func askTerminus(f *flight) (traces.Answer, traces.Because, error) {
	if a, because, skip := f.skipTerminus(true); skip {
		return a, because, nil
	}
	q := &f.live.Trace.Steps[traces.Terminus]
	v, err := f.ask(f.to.primaryHolder, Find, &f.req, q)
	if err != nil {
		return traces.Raised, f.raised(err), err
	}
	f.value = v
	switch v {
	case nil:
		if q.Because.Reason == traces.EarlierStepRaised {
			q.Because = traces.Because{Reason: traces.ReturnedNil}
		}
		f.noteTwin()
		if f.req.Flags&traces.FailOn404 != 0 && !f.to.primaryHolder.desc.REST {
			return traces.Nothing, q.Because, f.notFoundFails(q.Because)
		}
		return traces.Nothing, q.Because, nil
	case any(False):
		f.served(traces.Terminus)
		return traces.False, traces.Because{Reason: traces.Returned, About: "false"}, nil
	}
	f.served(traces.Terminus)
	return traces.OK, traces.Because{Reason: traces.Returned}, nil
}

// noteTwin tells of the other singleton of the same name, where there can be
// two. Rule IND-TERM-09.
func (f *flight) noteTwin() {
	if !f.x.cfg.Quirks["IND-TERM-09"] {
		return
	}
	c := f.to.primary
	if _, ok := f.x.holders.Load(holderKey{f.req.Indirection, c.Terminus, !c.Symbol}); ok {
		f.live.Note(fmt.Sprintf("two singletons: symbol and string; %q was asked, and :%s keeps its own instances", c.Terminus, c.Terminus))
	}
}

// notFoundFails makes fail_on_404 work for every terminus, not only for REST.
// Gap L8.
func (f *flight) notFoundFails(b traces.Because) error {
	return &Failure{Message: fmt.Sprintf("Find %s resulted in 404 with the message: %s", f.req.Description(), b)}
}

func (f *flight) raised(err error) traces.Because {
	if errors.Is(err, ErrVerbMissing) {
		return traces.Because{Reason: traces.VerbMissing, About: f.req.Verb.String()}
	}
	return traces.Because{Reason: traces.TerminusRaised, About: firstLine(Message(err))}
}

func (f *flight) served(s traces.Step) {
	f.resp.Served, f.resp.From = traces.ByTerminus, f.point(s)
}

// setExpiry gives what the terminus found its time to live, unless it has an
// expiration, even one in the past. Rules IND-EXP-03, IND-FIND-10.
func setExpiry(f *flight) (traces.Answer, traces.Because, error) {
	if f.resp.Served != traces.ByTerminus {
		return f.notFromTerminus()
	}
	e, ok := f.value.(Expirer)
	if !ok {
		return traces.NotAsked, traces.Because{Reason: traces.NoExpiration}, nil
	}
	if at := e.Expiration(); !at.IsZero() {
		return traces.Kept, traces.Because{Reason: traces.AlreadySet}, nil
	}
	ttl := f.x.ttl(f.req.Indirection, f.to.around)
	dated := e.WithExpiration(f.now().Add(ttl))
	f.shared(f.req.Key, e, dated)
	f.value = dated
	return traces.Set, traces.Because{Reason: traces.TTL}, nil
}

func (f *flight) shared(key string, was, is Instance) {
	if s := f.to.primaryHolder.sharer; s != nil {
		s.Shared(key, was, is)
	}
}

func (f *flight) notFromTerminus() (traces.Answer, traces.Because, error) {
	if f.resp.Served == traces.ByNobody {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	return traces.NotAsked, traces.Because{Reason: traces.EarlierStepAnswered}, nil
}

// writeCache saves what the terminus found, unfiltered, under the key that the
// caller gave. A cache that cannot be written fails the find, although there
// was an answer. Rules IND-FIND-08, IND-FIND-09, IND-FIND-11, IND-FIND-12.
func writeCache(f *flight) (traces.Answer, traces.Because, error) {
	switch {
	case f.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}, nil
	case f.resp.Served == traces.ByCache:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedCacheHit}, nil
	case f.resp.Served == traces.ByNobody:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	case f.resp.Served == traces.ByInjection:
		return traces.NotAsked, notStored, nil
	case f.req.looks:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: "read-only mode"}, nil
	case f.req.Flags&traces.IgnoreCacheSave != 0:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: f.live.Trace.Caller}, nil
	}
	if f.x.cfg.Log.Enabled(f.ctx(), slog.LevelInfo) {
		f.x.cfg.Log.Info(fmt.Sprintf("Caching %s for %s", f.req.Indirection, f.req.Key))
	}
	save := f.req
	save.Verb = Save
	save.Instance, _ = f.value.(Instance)
	if _, err := f.toCache(Save, &save); err != nil {
		f.x.cfg.Log.Error(Message(err))
		return traces.Raised, traces.Because{Reason: traces.StoreFailed, About: firstLine(Message(err))}, err
	}
	return traces.Written, f.written(), nil
}

// notStored is why what was injected is never kept: others would take it for
// true.
var notStored = traces.Because{Reason: traces.ByYou, About: "what is injected is not stored"}

func (f *flight) written() traces.Because {
	return traces.Because{Reason: traces.StoreWritten}
}

// toCache asks the cache to do something that is not finding.
func (f *flight) toCache(verb Verb, req *Request) (any, error) {
	if err := f.to.cacheHolder.open(f.x); err != nil {
		return nil, err
	}
	return f.ask(f.to.cacheHolder, verb, req, &f.live.Trace.Steps[traces.CacheWrite])
}

// filter changes what the caller sees of what the terminus found. Rule
// IND-FIND-09.
func filter(f *flight) (traces.Answer, traces.Because, error) {
	switch {
	case f.resp.Served != traces.ByTerminus && f.resp.Served != traces.ByCache:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	case f.to.primaryHolder.filter == nil:
		return traces.Unfiltered, traces.Because{Reason: traces.TerminusHasNoFilter}, nil
	case f.resp.Served == traces.ByCache:
		return traces.Unfiltered, traces.Because{Reason: traces.CacheNotFiltered}, nil
	}
	inst, ok := f.value.(Instance)
	if !ok {
		return traces.Unfiltered, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	filtered, err := f.to.primaryHolder.filter.Filter(f.ctx(), inst)
	if err != nil && !errors.Is(err, ErrNotFound) {
		if failure := (*Failure)(nil); errors.As(err, &failure) && !failure.Foreign() {
			f.x.cfg.Log.Error(Message(err))
		}
		return traces.Raised, traces.Because{Reason: traces.TerminusRaised, About: firstLine(Message(err))}, err
	}
	f.value = nil
	if filtered != nil {
		f.value = filtered
	}
	return traces.Filtered, traces.Because{Reason: traces.FilterApplied}, nil
}

// ---- head, search, save, destroy ----

// headTerminus asks whether the key exists. ignore_terminus is not honoured.
// Rules IND-HEAD-01 to IND-HEAD-03.
func headTerminus(f *flight) (traces.Answer, traces.Because, error) {
	if a, because, skip := f.skipTerminus(false); skip {
		return a, because, nil
	}
	q := &f.live.Trace.Steps[traces.Terminus]
	v, err := f.ask(f.to.primaryHolder, Head, &f.req, q)
	if err != nil {
		return traces.Raised, f.raised(err), err
	}
	f.value = v
	if v == true {
		f.served(traces.Terminus)
		return traces.OK, traces.Because{Reason: traces.Returned}, nil
	}
	if q.Because.Reason == traces.EarlierStepRaised {
		q.Because = traces.Because{Reason: traces.ReturnedNil}
	}
	return traces.Nothing, q.Because, nil
}

// searchTerminus lists what matches. A search is never cached, and no flag
// changes that. Rules IND-SRCH-01, IND-SRCH-02.
func searchTerminus(f *flight) (traces.Answer, traces.Because, error) {
	q := &f.live.Trace.Steps[traces.Terminus]
	req := &f.req
	if f.req.yield() != nil {
		req = f.newListing()
	}
	v, err := f.ask(f.to.primaryHolder, Search, req, q)
	if f.list != nil && f.list.stopped != nil {
		return traces.Raised, traces.Because{Reason: traces.CallerRaised, About: f.list.String()}, f.list.stopped
	}
	switch {
	case errors.Is(err, ErrNotArray):
		err = &Failure{Class: "Puppet::DevError", Message: fmt.Sprintf(msgNotArray, f.to.primary.Terminus), Err: err}
		return traces.Raised, f.raised(err), err
	case err != nil:
		return traces.Raised, f.raised(err), err
	case v == nil:
		return traces.Nothing, traces.Because{Reason: traces.ReturnedNil, About: q.Because.About}, nil
	}
	n := 0
	if f.list != nil {
		n, f.value = f.list.n, f.list.first
	} else {
		n, f.value = len(v.([]Instance)), v
	}
	f.served(traces.Terminus)
	return traces.OK, traces.Because{Reason: traces.Returned, About: strconv.Itoa(n)}, nil
}

// setExpiries does for each element what setExpiry does for one. Rule
// IND-SRCH-02.
func setExpiries(f *flight) (traces.Answer, traces.Because, error) {
	if f.resp.Served == traces.ByInjection {
		return f.notFromTerminus()
	}
	found, _ := f.value.([]Instance)
	if len(found) == 0 {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	if f.list != nil {
		return f.list.answer, f.list.because, nil // they were dated as they came
	}
	at := f.now().Add(f.x.ttl(f.req.Indirection, f.to.around))
	answer, because := traces.NotAsked, traces.Because{Reason: traces.NoExpiration}
	dated := make([]Instance, len(found))
	for i, inst := range found {
		dated[i], answer, because = f.date(inst, at)
	}
	f.value = dated
	return answer, because, nil
}

// date returns the instance with an expiration, if it can have one and has none.
func (f *flight) date(inst Instance, at time.Time) (Instance, traces.Answer, traces.Because) {
	e, ok := inst.(Expirer)
	switch {
	case !ok:
		return inst, traces.NotAsked, traces.Because{Reason: traces.NoExpiration}
	case !e.Expiration().IsZero():
		return inst, traces.Kept, traces.Because{Reason: traces.AlreadySet}
	}
	dated := e.WithExpiration(at)
	f.shared(inst.Key(), inst, dated)
	return dated, traces.Set, traces.Because{Reason: traces.TTL}
}

// keptOfListing is how many instances of a search that yields the recorder sees.
const keptOfListing = 1000

// errStopped is that a caller who takes instances as they come took no more.
var errStopped = errors.New("the caller took no more")

// A listing is a search whose instances go to the caller as they come. Rule
// IND-SRCH-02 is kept for each of them on its way.
type listing struct {
	n       int        // how many went to the caller
	first   []Instance // some of them, for the recorder
	at      time.Time  // when they are outdated
	answer  traces.Answer
	because traces.Because
	stopped error // why the caller took no more; nil while it does
}

func (l *listing) String() string {
	if l.n == 1 {
		return "1 instance"
	}
	return strconv.Itoa(l.n) + " instances"
}

// newListing returns the request as the terminus gets it.
func (f *flight) newListing() *Request {
	f.list = &listing{first: []Instance{}, at: f.now().Add(f.x.ttl(f.req.Indirection, f.to.around))}
	return f.req.Yielding(f.yield)
}

// yield hands one instance to the caller.
func (f *flight) yield(inst Instance) error {
	l := f.list
	if l.stopped == nil {
		l.stopped = f.ctx().Err()
	}
	if l.stopped != nil {
		return l.stopped
	}
	inst, l.answer, l.because = f.date(inst, l.at)
	if len(l.first) < keptOfListing {
		l.first = append(l.first, inst)
	}
	l.n++
	if err := f.req.yield()(inst); err != nil {
		l.stopped = fmt.Errorf("%w after %v: %w", errStopped, l, err)
	}
	return l.stopped
}

// yielded is the answer to who took the instances as they came. Those that a
// person injected are still to be taken.
func (f *flight) yielded() error {
	if f.list == nil {
		injected, _ := f.value.([]Instance)
		f.newListing()
		for _, inst := range injected {
			if err := f.yield(inst); err != nil {
				return f.fail(traces.Terminus, err)
			}
		}
	}
	if kept := len(f.list.first); f.list.n > kept && f.x.cfg.Recorder != nil {
		f.live.Note(fmt.Sprintf("the first %d of %v are recorded", kept, f.list))
	}
	f.resp.Value = f.list.n
	return nil
}

// saveTerminus stores the instance. If that fails the cache is not written.
// Rules IND-SAVE-01, IND-SAVE-02, IND-SAVE-04.
func saveTerminus(f *flight) (traces.Answer, traces.Because, error) {
	if f.req.Flags&traces.IgnoreTerminus != 0 {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreTerminus, About: f.live.Trace.Caller}, nil
	}
	v, err := f.ask(f.to.primaryHolder, Save, &f.req, &f.live.Trace.Steps[traces.Terminus])
	if err != nil {
		return traces.Raised, f.raised(err), err
	}
	f.value = v
	if f.resp.Served == traces.ByInjection {
		return traces.Nothing, f.live.Trace.Steps[traces.Terminus].Because, nil
	}
	f.served(traces.Terminus)
	return traces.Written, traces.Because{Reason: traces.StoreWritten}, nil
}

// saveCache stores the same request in the cache. ignore_cache has no effect
// here. If it fails, the terminus has already stored the instance. Rules
// IND-SAVE-02 to IND-SAVE-04.
func saveCache(f *flight) (traces.Answer, traces.Because, error) {
	switch {
	case f.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}, nil
	case f.resp.Served == traces.ByInjection:
		return traces.NotAsked, notStored, nil
	case f.req.Flags&traces.IgnoreCacheSave != 0:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: f.live.Trace.Caller}, nil
	}
	if _, err := f.toCache(Save, &f.req); err != nil {
		return traces.Raised, traces.Because{Reason: traces.StoreFailed, About: firstLine(Message(err))}, err
	}
	return traces.Written, f.written(), nil
}

// destroyTerminus removes the key. No flag is honoured. Rules IND-DEST-01,
// IND-DEST-02.
func destroyTerminus(f *flight) (traces.Answer, traces.Because, error) {
	v, err := f.ask(f.to.primaryHolder, Destroy, &f.req, &f.live.Trace.Steps[traces.Terminus])
	if err != nil {
		return traces.Raised, f.raised(err), err
	}
	f.value = v
	if f.resp.Served == traces.ByInjection {
		return traces.Nothing, f.live.Trace.Steps[traces.Terminus].Because, nil
	}
	if v == nil {
		return traces.Absent, traces.Because{Reason: traces.NotFound}, nil
	}
	f.served(traces.Terminus)
	return traces.Removed, traces.Because{Reason: traces.Returned}, nil
}

// destroyCache removes the key from the cache if it is found there: an entry
// that cannot be read cannot be removed. Rules IND-DEST-01, IND-DEST-02.
func destroyCache(f *flight) (traces.Answer, traces.Because, error) {
	if f.to.cacheHolder == nil {
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}, nil
	}
	if f.resp.Served == traces.ByInjection {
		return traces.NotAsked, notStored, nil
	}
	find := f.req
	find.Verb, find.Instance = Find, nil
	v, err := f.toCache(Find, &find)
	if err != nil {
		return traces.Raised, traces.Because{Reason: traces.ReadFailed, About: firstLine(Message(err))}, err
	}
	if !usable(v) {
		return traces.Absent, traces.Because{Reason: traces.NotFound}, nil
	}
	if _, err := f.toCache(Destroy, &f.req); err != nil {
		return traces.Raised, traces.Because{Reason: traces.StoreFailed, About: firstLine(Message(err))}, err
	}
	return traces.Removed, traces.Because{Reason: traces.CacheFound}, nil
}

// ---- expire ----

// findToExpire reads the cache directly; errors are not swallowed. Rule
// IND-EXP-04.
func findToExpire(f *flight) (traces.Answer, traces.Because, error) {
	switch {
	case f.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}, nil
	case f.req.Flags&traces.IgnoreCacheSave != 0:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: f.live.Trace.Caller}, nil
	}
	v, err := f.fromCache(&f.live.Trace.Steps[traces.CacheRead])
	if err != nil {
		return traces.Raised, traces.Because{Reason: traces.ReadFailed, About: firstLine(Message(err))}, err
	}
	if !usable(v) {
		return traces.Miss, traces.Because{Reason: traces.NotFound}, nil
	}
	f.value = v
	f.resp.Served, f.resp.From = traces.ByCache, f.point(traces.CacheRead)
	return traces.Found, traces.Because{Reason: traces.CacheFound}, nil
}

// expireNow outdates the cached instance by a minute. It never deletes. A
// cache that does not keep the expiration will serve it all the same. Rules
// IND-EXP-04, IND-EXP-05.
func expireNow(f *flight) (traces.Answer, traces.Because, error) {
	if f.resp.Served != traces.ByCache {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	e, ok := f.value.(Expirer)
	if _, text := f.value.(Name); ok || !text && f.value.(Instance).Key() != "" {
		f.x.cfg.Log.Info(fmt.Sprintf("Expiring the %s cache of %s", f.req.Indirection, f.value.(Instance).Key()))
	}
	if !ok {
		return traces.Raised, traces.Because{}, &Failure{Class: "NoMethodError", Message: fmt.Sprintf(msgNoExpired, describe(f.value))}
	}
	f.value = e.WithExpiration(f.now().Add(-time.Minute))
	if !f.to.cacheHolder.keepsExpiry {
		f.live.Note(fmt.Sprintf("no effect: %s/%s drops expiration", f.req.Indirection, f.to.cache.Terminus))
		return traces.Set, traces.Because{Reason: traces.NoExpiryKept, About: f.to.cache.Terminus}, nil
	}
	return traces.Set, traces.Because{Reason: traces.TTL, About: "now - 60 s"}, nil
}

// rewriteCache saves the outdated instance.
func rewriteCache(f *flight) (traces.Answer, traces.Because, error) {
	if f.resp.Served != traces.ByCache {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	save := f.req
	save.Verb = Save
	save.Instance, _ = f.value.(Instance)
	v, err := f.toCache(Save, &save)
	if err != nil {
		return traces.Raised, traces.Because{Reason: traces.StoreFailed, About: firstLine(Message(err))}, err
	}
	f.value = v
	return traces.Written, f.written(), nil
}

// ExpireNode is the BeforeSave of facts: saving them expires the cached node of
// the same name, with the same options. Rule IND-EXP-06.
func ExpireNode(ctx context.Context, x *Indirector, req *Request) error {
	_, err := x.Do(ctx, &Request{
		Indirection: "node", Verb: Expire, Key: req.Instance.Key(), Flags: req.Flags,
		Environment: req.Environment, Options: req.Options,
	})
	return err
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

package indirector

import (
	"cmp"
	"context"
	"fmt"

	"indirtui/traces"
)

// A Forecast predicts a request without asking anything. A step whose answer is
// open is NotReached, with the reason asked, or no reason if it may not be
// reached.
type Forecast struct {
	Steps    [traces.StepCount]traces.Question
	Outcome  traces.Outcome // Run if it depends on what the terminus answers
	Served   traces.Served
	Terminus string
	Cache    string
	Why      string // one sentence
	Unseen   string // why caches and termini were not looked into; "" if they were
}

// Plan predicts req under routes; nil is the routes in force. Nothing is
// executed; only a Peeker is looked into. Gap D1.
func (x *Indirector) Plan(ctx context.Context, req *Request, routes Routes) Forecast {
	t := x.table.Load()
	if routes != nil {
		t = x.newTable(routes, t, "", "")
	}
	p := planner{ctx: ctx, x: x, plans: x.plans, req: *req, to: t.by[req.Indirection], sure: true}
	if p.to == nil || req.Verb == traces.NoVerb || req.Verb > Expire {
		p.stop(traces.Route, traces.Because{Reason: traces.TerminusUnknown, About: req.Indirection}, fmt.Sprintf(msgNoIndirection, req.Indirection))
		return p.out
	}
	p.out.Steps = p.plans.blanks[req.Verb]
	p.goOn(p.plans.steps[req.Verb])
	return p.out
}

// Plan implements [Home].
func (h here) Plan(ctx context.Context, st *State, req *Request) Forecast {
	p := planner{ctx: ctx, x: h.x, plans: h.x.plans, req: *req, to: h.to, served: st.Served, sure: true, value: st.Value}
	p.req.Indirection, p.req.Verb, p.req.looks = st.Request.Indirection, st.Request.Verb, st.Request.looks
	if p.to == nil {
		p.to = h.x.table.Load().by[p.req.Indirection]
	} else if p.req.Terminus != st.Request.Terminus || p.req.Cache != st.Request.Cache {
		p.to = h.x.own(h.x.table.Load().by[p.req.Indirection], &p.req)
	}
	p.out.Steps = st.Trace.Steps
	if p.to == nil {
		p.stop(traces.Route, traces.Because{Reason: traces.TerminusUnknown, About: p.req.Indirection}, fmt.Sprintf(msgNoIndirection, p.req.Indirection))
		return p.out
	}
	if h.to != nil && p.to.primaryHolder != nil && p.req.Verb != Expire {
		if err := p.to.primaryHolder.open(h.x); err != nil {
			p.out.Terminus, p.out.Cache = p.to.primary.Terminus, p.to.cache.Terminus
			p.stop(traces.Terminus, traces.Because{Reason: traces.TerminusUnknown, About: p.out.Terminus}, Message(err))
			return p.out
		}
	}
	return p.rest(st)
}

// Foresee is Plan of a request that runs elsewhere: from the candidates in its trace
// alone. Unseen is why nothing else is looked into.
func (st *State) Foresee(req *Request, unseen string) Forecast {
	to := &resolved{primary: st.Trace.Primary.Winner(), cache: st.Trace.Cache.Winner()}
	named := func(name string) traces.Choice {
		return traces.Choice{Terminus: name, Kind: cmp.Or(req.By, traces.FromRequest), Source: req.Source}
	}
	if req.Terminus != "" && req.Terminus != to.primary.Terminus {
		to.primary = named(req.Terminus)
	}
	if req.Cache != "" && req.Cache != to.cache.Terminus {
		to.cache = named(req.Cache)
	}
	p := planner{plans: newPlans(), req: *req, to: to, served: st.Served, sure: true, value: st.Value}
	p.out.Steps, p.out.Unseen = st.Trace.Steps, unseen
	return p.rest(st)
}

// rest predicts the steps that a stopped request has not taken.
func (p *planner) rest(st *State) Forecast {
	p.out.Terminus, p.out.Cache = p.to.primary.Terminus, p.to.cache.Terminus
	if st.Err != nil {
		p.out.Outcome, p.out.Why = traces.Err, "it fails: "+firstLine(Message(st.Err))
		return p.out
	}
	steps := p.plans.steps[p.req.Verb]
	for len(steps) > 0 && (steps[0].name < st.Point.Step || st.Done && steps[0].name == st.Point.Step) {
		steps = steps[1:]
	}
	for _, s := range steps {
		p.out.Steps[s.name] = p.plans.blanks[p.req.Verb][s.name]
	}
	p.goOn(steps)
	return p.out
}

type planner struct {
	ctx     context.Context
	x       *Indirector // nil if the request runs elsewhere
	plans   *plans
	req     Request
	to      *resolved
	served  traces.Served
	sure    bool   // served is more than a guess
	value   any    // the answer so far
	found   Entry  // in cache or terminus, if that can be seen
	nothing string // why there will be no answer
	out     Forecast
	failed  bool
}

func (p *planner) stop(s traces.Step, because traces.Because, why string) {
	p.out.Steps[s] = traces.Question{Answer: traces.Raised, Because: because}
	p.out.Outcome, p.out.Served, p.out.Why, p.failed = traces.Err, traces.ByNone, why, true
}

// goOn predicts step by step.
func (p *planner) goOn(steps []step) {
	for _, s := range steps {
		if q, known := p.step(s.name); known {
			p.out.Steps[s.name] = q
		}
		if p.failed {
			return
		}
	}
	p.out.Terminus, p.out.Cache = p.to.primary.Terminus, p.to.cache.Terminus
	p.conclude()
}

// conclude sums up in one sentence.
func (p *planner) conclude() {
	out := &p.out
	out.Served = p.served
	switch {
	case !p.sure:
		out.Outcome, out.Served = traces.Run, traces.ByNone
		out.Why = "terminus " + p.owners(p.to.primary) + " would be asked"
		switch traces.Asked {
		case out.Steps[traces.Expiry].Because.Reason:
			out.Why = "cache " + p.owners(p.to.cache) + " would answer unless that has expired"
		case out.Steps[traces.CacheRead].Because.Reason:
			out.Why = "cache " + p.owners(p.to.cache) + " would be asked, and then perhaps terminus " + p.owners(p.to.primary)
		}
	case p.served == traces.ByInjection:
		out.Outcome, out.Why = traces.Sim, "the injected answer would be given"
	case p.served == traces.ByCache && p.req.Verb == Expire:
		out.Outcome, out.Why = traces.Good, "the entry of cache "+out.Cache+" would be outdated"
	case p.served == traces.ByCache:
		out.Outcome, out.Why = traces.Hit, "cache "+p.owners(p.to.cache)+" would answer"
	case p.served == traces.ByTerminus && p.req.Verb == Save:
		out.Outcome, out.Why = traces.Good, "terminus "+p.owners(p.to.primary)+" would store it"
	case p.served == traces.ByTerminus:
		out.Outcome, out.Why = traces.Good, "terminus "+p.owners(p.to.primary)+" would answer"
	default:
		out.Outcome, out.Why = traces.Nil, p.nothing
		if p.nothing == "" {
			out.Why = "nobody has an answer"
		}
	}
}

// step predicts one step; known is false if the plan's own answer stands.
func (p *planner) step(s traces.Step) (q traces.Question, known bool) {
	because := func(a traces.Answer, r traces.Reason, about string) (traces.Question, bool) {
		return traces.Question{Answer: a, Because: traces.Because{Reason: r, About: about}}, true
	}
	switch s {
	case traces.Route:
		return p.route()
	case traces.Authorize:
		switch {
		case p.req.Remote == nil || p.req.Remote.Node == "":
			return because(traces.NotChecked, traces.NoNodeInRequest, "")
		case p.here() && p.to.primaryHolder.authorizer == nil:
			return because(traces.Allowed, traces.NoRule, "")
		}
		return because(traces.NotReached, traces.Asked, "terminus "+p.to.primary.Terminus)
	case traces.Validate:
		switch {
		case p.req.Instance == nil:
			return because(traces.OK, traces.NothingToValidate, "")
		case !p.here() || p.to.primaryHolder.validator != nil:
			return because(traces.NotReached, traces.Asked, "terminus "+p.to.primary.Terminus)
		}
		if err := p.to.spec.Validate(p.req.Instance, p.req.Key); err != nil {
			p.stop(s, traces.Because{Reason: traces.ValidationFailed, About: firstLine(Message(err))}, Message(err))
			return q, false
		}
		return because(traces.OK, traces.NoReason, "")
	case traces.CacheRead:
		return p.cacheRead()
	case traces.Expiry:
		return p.expiry()
	case traces.Terminus:
		return p.terminus()
	case traces.ExpirySet:
		return p.expirySet()
	case traces.CacheWrite:
		return p.cacheWrite()
	case traces.Filter:
		return p.filter()
	}
	return q, false
}

// here reports whether the request runs in this process, where its termini are known.
func (p *planner) here() bool { return p.x != nil }

// caches reports whether there is a cache.
func (p *planner) caches() bool {
	if p.here() {
		return p.to.cacheHolder != nil
	}
	return p.to.cache.Terminus != "" && p.to.cache.Terminus != Off
}

func (p *planner) route() (q traces.Question, known bool) {
	if !p.here() {
		return p.chosen(), true
	}
	p.out.Terminus, p.out.Cache = p.to.primary.Terminus, p.to.cache.Terminus
	if p.req.Terminus != "" || p.req.Cache != "" {
		p.to = p.x.own(p.to, &p.req)
		p.out.Terminus, p.out.Cache = p.to.primary.Terminus, p.to.cache.Terminus
	}
	if p.to.primaryHolder == nil {
		p.stop(traces.Route, traces.Because{Reason: traces.TerminusUnknown}, fmt.Sprintf(msgNoSelection, p.req.Indirection))
		return q, false
	}
	if p.req.Verb != Expire {
		if err := p.to.primaryHolder.open(p.x); err != nil {
			p.stop(traces.Route, traces.Because{Reason: traces.TerminusUnknown, About: p.out.Terminus}, Message(err))
			return q, false
		}
	}
	if err := p.x.resolve(&p.req, p.to); err != nil {
		p.stop(traces.Route, traces.Because{Reason: traces.EnvNotFound, About: p.req.Environment}, Message(err))
		return q, false
	}
	return p.chosen(), true
}

func (p *planner) chosen() traces.Question {
	return traces.Question{Answer: traces.Chosen, Because: traces.Because{Reason: p.to.primary.Kind.Reason(), About: p.to.primary.Source}}
}

func (p *planner) cacheRead() (q traces.Question, known bool) {
	switch {
	case !p.caches():
		q.Answer, q.Because = traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}
		return q, true
	case p.req.Verb == Expire && p.req.Flags&traces.IgnoreCacheSave != 0:
		q.Answer, q.Because = traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave}
		return q, true
	case p.req.Verb != Expire && p.req.Flags&traces.IgnoreCache != 0:
		q.Answer, q.Because = traces.NotAsked, traces.Because{Reason: traces.IgnoredByCaller}
		return q, true
	}
	e, known, err := p.peek(p.to.cacheHolder)
	switch {
	case err != nil || known && e.Err != nil:
		q.Answer, q.Because = traces.Swallowed, traces.Because{Reason: traces.ReadFailed}
	case !known:
		q.Because, p.sure = traces.Because{Reason: traces.Asked, About: "cache " + p.owners(p.to.cache)}, false
	case e.Key == "":
		q.Answer, q.Because = traces.Miss, traces.Because{Reason: traces.NotFound}
	default:
		q.Answer, q.Because = traces.Found, traces.Because{Reason: traces.CacheFound}
		if !e.Written.IsZero() {
			q.Because.About = round(p.x.now().Sub(e.Written)).String() + " old"
		}
		p.found, p.served = e, traces.ByCache
	}
	return q, true
}

func (p *planner) expiry() (q traces.Question, known bool) {
	if !p.sure {
		return q, true
	}
	if p.served != traces.ByCache {
		q.Answer, q.Because = traces.NotAsked, traces.Because{Reason: p.out.Steps[traces.CacheRead].Because.Reason}
		return q, true
	}
	at := p.found.Expiration
	if e, ok := p.value.(Expirer); ok {
		at = e.Expiration()
	}
	if !p.here() {
		q.Because = traces.Because{Reason: traces.Asked, About: "cache " + p.to.cache.Terminus}
		p.sure = false
		return q, true
	}
	now := p.x.now()
	switch {
	case at.IsZero() && !p.to.cacheHolder.keepsExpiry:
		q.Answer, q.Because = traces.OK, traces.Because{Reason: traces.NoExpiryKept, About: p.to.cache.Terminus}
	case at.IsZero():
		q.Answer, q.Because = traces.OK, traces.Because{Reason: traces.NoExpiration}
	case at.Before(now):
		q.Answer, q.Because = traces.Expired, traces.Because{Reason: traces.ExpiredAt, About: round(now.Sub(at)).String() + " ago"}
		p.served, p.found, p.value = traces.ByNone, Entry{}, nil
	default:
		q.Answer, q.Because = traces.OK, traces.Because{Reason: traces.NotExpired, About: "for " + round(at.Sub(now)).String()}
	}
	return q, true
}

func (p *planner) terminus() (q traces.Question, known bool) {
	verb, name := p.req.Verb, p.to.primary.Terminus
	looks := verb == Find || verb == Head
	skip := func(r traces.Reason) (traces.Question, bool) {
		return traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: r}}, true
	}
	switch {
	case looks && p.served == traces.ByInjection:
		return skip(traces.ByYou)
	case p.req.Flags&traces.IgnoreTerminus != 0 && (verb == Find || verb == Save):
		if p.served == traces.ByNone {
			p.nothing = "nobody would be asked: ignore_terminus"
		}
		return skip(traces.SkippedIgnoreTerminus)
	case looks && p.served == traces.ByCache:
		return skip(traces.SkippedCacheHit)
	case p.here() && p.to.primaryHolder.verbs[verb] == nil:
		p.stop(traces.Terminus, traces.Because{Reason: traces.VerbMissing, About: verb.String()}, fmt.Sprintf("terminus %s has no %s", name, verb))
		return q, false
	case p.passedLacks(verb):
		p.stop(traces.Terminus, traces.Because{Reason: traces.VerbMissing, About: verb.String()}, fmt.Sprintf("terminus %s has no %s", p.owners(p.to.primary), verb))
		return q, false
	}
	q.Because = traces.Because{Reason: traces.Asked, About: "terminus " + p.owners(p.to.primary)}
	switch {
	case verb == Save:
		p.served = traces.ByTerminus
		return q, true
	case !looks:
		p.sure = false
		return q, true
	}
	e, known, err := p.peek(p.to.primaryHolder)
	switch {
	case err != nil || known && e.Err != nil:
		p.stop(traces.Terminus, traces.Because{Reason: traces.TerminusRaised}, "terminus "+p.owners(p.to.primary)+" would fail")
		return q, false
	case !known:
		p.sure = false
	case e.Key == "":
		q.Answer, q.Because = traces.Nothing, traces.Because{Reason: traces.NotFound}
		p.nothing = "terminus " + p.owners(p.to.primary) + " has nothing by that name"
	default:
		q.Answer, q.Because = traces.OK, traces.Because{Reason: traces.Returned}
		p.found, p.served, p.sure = e, traces.ByTerminus, true
	}
	return q, true
}

func (p *planner) expirySet() (q traces.Question, known bool) {
	switch {
	case p.req.Verb == Expire && p.served == traces.ByCache:
		return traces.Question{Answer: traces.Set, Because: traces.Because{Reason: traces.TTL, About: "now - 60 s"}}, true
	case p.sure && p.served == traces.ByNone:
		return traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.SkippedNoResult}}, true
	case p.sure && p.served != traces.ByTerminus:
		return traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.EarlierStepAnswered}}, true
	}
	ttl := traces.Because{Reason: traces.TTL, About: "now + its ttl"}
	if p.here() {
		ttl.About = "now + " + cmp.Or(p.to.dated.About, p.to.ttl().String())
	}
	switch v := p.value.(type) {
	case nil:
		return traces.Question{Because: ttl}, true
	case Expirer:
		if !v.Expiration().IsZero() {
			return traces.Question{Answer: traces.Kept, Because: traces.Because{Reason: traces.AlreadySet}}, true
		}
		return traces.Question{Answer: traces.Set, Because: ttl}, true
	}
	return traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.NoExpiration}}, true
}

func (p *planner) cacheWrite() (q traces.Question, known bool) {
	skip := func(b traces.Because) (traces.Question, bool) {
		return traces.Question{Answer: traces.NotAsked, Because: b}, true
	}
	verb := p.req.Verb
	switch {
	case !p.caches():
		return skip(traces.Because{Reason: traces.NoCacheRouted})
	case p.served == traces.ByInjection:
		return skip(notStored)
	case verb == Find && p.served == traces.ByCache:
		return skip(traces.Because{Reason: traces.SkippedCacheHit})
	case p.sure && p.served == traces.ByNone && (verb == Find || verb == Expire):
		return skip(traces.Because{Reason: traces.SkippedNoResult})
	case verb == Find && p.req.looks:
		return skip(traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: "read-only mode"})
	case (verb == Find || verb == Save) && p.req.Flags&traces.IgnoreCacheSave != 0:
		return skip(traces.Because{Reason: traces.SkippedIgnoreCacheSave})
	}
	return traces.Question{Because: traces.Because{Reason: traces.Asked, About: "cache " + p.to.cache.Terminus}}, true
}

func (p *planner) filter() (q traces.Question, known bool) {
	switch {
	case p.sure && p.served != traces.ByTerminus && p.served != traces.ByCache:
		return traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.SkippedNoResult}}, true
	case p.here() && p.to.primaryHolder.filter == nil:
		return traces.Question{Answer: traces.Unfiltered, Because: traces.Because{Reason: traces.TerminusHasNoFilter}}, true
	case p.sure && p.served == traces.ByCache:
		return traces.Question{Answer: traces.Unfiltered, Because: traces.Because{Reason: traces.CacheNotFiltered}}, true
	}
	return traces.Question{Because: traces.Because{Reason: traces.Asked, About: "terminus " + p.to.primary.Terminus}}, true
}

// passed returns the terminus to which that of a choice would pass the request on.
func (p *planner) passed(c traces.Choice) traces.Choice {
	if !p.here() {
		return traces.Choice{}
	}
	return p.x.Passed(p.req.Indirection, c.Terminus, &p.req)
}

// owners is the terminus of a choice, and the one to which it would pass the request
// on. Rule STORE-SC-10.
func (p *planner) owners(c traces.Choice) string {
	return traces.Owners(cmp.Or(c.Terminus, "of the process"), p.passed(c).Terminus)
}

// passedLacks reports whether the terminus to which the request would be passed on
// lacks the verb. What comes of a destroy is up to the one that passes it on.
func (p *planner) passedLacks(verb Verb) bool {
	if !p.here() {
		return false
	}
	d := p.x.cfg.Registry.Descriptor(p.req.Indirection, p.passed(p.to.primary).Terminus)
	return d != nil && verb != Destroy && VerbsOf(d.Type)[verb] == nil
}

// peek looks into a terminus, or into the one to which it would pass the request on.
func (p *planner) peek(h *holder) (e Entry, known bool, err error) {
	if !p.here() {
		return Entry{}, false, nil
	}
	if c := p.passed(traces.Choice{Terminus: h.name}); c.Terminus != "" {
		h = p.x.holder(h.indirection, traces.Choice{Terminus: c.Terminus})
	}
	if err := h.open(p.x); err != nil {
		return Entry{}, true, err
	}
	peeker, ok := h.terminus.(Peeker)
	if !ok {
		return Entry{}, false, nil
	}
	e, err = peeker.Peek(p.ctx, p.req.Key)
	return e, true, err
}

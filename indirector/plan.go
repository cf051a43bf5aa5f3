package indirector

import (
	"context"
	"fmt"

	"indirtui/traces"
)

// A Forecast is what would become of a request, as far as that can be said
// without asking anybody.
type Forecast struct {
	Steps    [traces.StepCount]traces.Question
	Outcome  traces.Outcome // Run if it depends on what the terminus answers
	Served   traces.Served
	Terminus string
	Cache    string
	Why      string // one sentence
}

// Plan tells what would become of req if routes were in force; nil routes are
// those that are. Nothing is executed: caches and termini that can be looked
// into (Peeker) are looked into, and the others "will be asked". Gap D1.
func (x *Indirector) Plan(ctx context.Context, req *Request, routes Routes) Forecast {
	t := x.table.Load()
	if routes != nil {
		t = x.newTable(routes)
	}
	p := planner{ctx: ctx, x: x, req: *req, to: t.by[req.Indirection]}
	if p.to == nil {
		p.stop(traces.Route, traces.Because{Reason: traces.TerminusUnknown, About: req.Indirection}, fmt.Sprintf(msgNoIndirection, req.Indirection))
		return p.out
	}
	p.forecast()
	return p.out
}

type planner struct {
	ctx context.Context
	x   *Indirector
	req Request
	to  *resolved
	out Forecast
}

func (p *planner) stop(s traces.Step, because traces.Because, why string) {
	p.out.Steps[s] = traces.Question{Answer: traces.Raised, Because: because}
	p.out.Outcome, p.out.Why = traces.Err, why
}

// forecast fills in what is to be said, step by step as a request would go.
func (p *planner) forecast() {
	out := &p.out
	out.Steps = p.x.plans.blanks[p.req.Verb]
	out.Terminus, out.Cache = p.to.primary.Terminus, p.to.cache.Terminus
	if p.to.primaryHolder == nil {
		p.stop(traces.Route, traces.Because{Reason: traces.TerminusUnknown}, fmt.Sprintf(msgNoSelection, p.req.Indirection))
		return
	}
	if err := p.to.primaryHolder.open(p.x); err != nil {
		p.stop(traces.Route, traces.Because{Reason: traces.TerminusUnknown, About: out.Terminus}, Message(err))
		return
	}
	if err := p.x.resolve(&p.req); err != nil {
		p.stop(traces.Route, traces.Because{Reason: traces.EnvNotFound, About: p.req.Environment}, Message(err))
		return
	}
	out.Steps[traces.Route] = traces.Question{Answer: traces.Chosen, Because: traces.Because{Reason: p.to.primary.Source.Reason(), About: p.to.primary.Place}}
	if p.req.Verb == Find || p.req.Verb == Head {
		if p.cacheAnswers() {
			return
		}
	}
	p.terminusAnswers()
}

// cacheAnswers says what the cache would do, and whether that is the end of it.
func (p *planner) cacheAnswers() bool {
	q := &p.out.Steps[traces.CacheRead]
	switch {
	case p.to.cacheHolder == nil:
		*q = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.NoCacheRouted}}
		return false
	case p.req.Flags&traces.IgnoreCache != 0:
		*q = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.IgnoredByCaller}}
		return false
	}
	e, known, err := p.peek(p.to.cacheHolder)
	switch {
	case err != nil || known && e.Err != nil:
		*q = traces.Question{Answer: traces.Swallowed, Because: traces.Because{Reason: traces.ReadFailed}}
		return false
	case !known:
		*q = traces.Question{Because: traces.Because{Reason: traces.Asked}}
		return false
	case e.Key == "":
		*q = traces.Question{Answer: traces.Miss, Because: traces.Because{Reason: traces.NotFound}}
		return false
	}
	*q = traces.Question{Answer: traces.Found, Because: traces.Because{Reason: traces.CacheFound}}
	if !e.Expiration.IsZero() && e.Expiration.Before(p.x.now()) {
		p.out.Steps[traces.Expiry] = traces.Question{Answer: traces.Expired, Because: traces.Because{Reason: traces.ExpiredAt}}
		return false
	}
	p.out.Outcome, p.out.Served, p.out.Why = traces.Hit, traces.ByCache, "cache "+p.out.Cache+" would answer"
	return true
}

// terminusAnswers says what the terminus would do.
func (p *planner) terminusAnswers() {
	out, q := &p.out, &p.out.Steps[traces.Terminus]
	verb := p.req.Verb
	switch {
	case p.req.Flags&traces.IgnoreTerminus != 0 && (verb == Find || verb == Save):
		*q = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.SkippedIgnoreTerminus}}
		out.Outcome, out.Why = traces.Nil, "nobody would be asked: ignore_terminus"
		return
	case p.to.primaryHolder.verbs[verb] == nil:
		p.stop(traces.Terminus, traces.Because{Reason: traces.VerbMissing, About: verb.String()}, fmt.Sprintf("terminus %s has no %s", out.Terminus, verb))
		return
	case verb == Save:
		out.Outcome, out.Served, out.Why = traces.Good, traces.ByTerminus, "terminus "+out.Terminus+" would store it"
		return
	case verb != Find && verb != Head:
		*q = traces.Question{Because: traces.Because{Reason: traces.Asked}}
		out.Why = "terminus " + out.Terminus + " would be asked"
		return
	}
	switch e, known, err := p.peek(p.to.primaryHolder); {
	case err != nil || known && e.Err != nil:
		p.stop(traces.Terminus, traces.Because{Reason: traces.TerminusRaised}, "terminus "+out.Terminus+" would fail")
	case !known:
		*q = traces.Question{Because: traces.Because{Reason: traces.Asked}}
		out.Why = "terminus " + out.Terminus + " would be asked"
	case e.Key == "":
		*q = traces.Question{Answer: traces.Nothing, Because: traces.Because{Reason: traces.NotFound}}
		out.Outcome, out.Why = traces.Nil, "terminus "+out.Terminus+" has nothing by that name"
	default:
		*q = traces.Question{Answer: traces.OK, Because: traces.Because{Reason: traces.Returned}}
		out.Outcome, out.Served, out.Why = traces.Good, traces.ByTerminus, "terminus "+out.Terminus+" would answer"
	}
}

func (p *planner) peek(h *holder) (e Entry, known bool, err error) {
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

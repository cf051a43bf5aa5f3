package indirector

import (
	"errors"
	"fmt"
	"log/slog"
	"time"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// readCache asks the cache first, with the same request. A failing cache is a
// miss, a failing terminus is not: the error is logged and swallowed. Rules
// IND-FIND-01, IND-FIND-02, IND-FIND-05.
func readCache(f *flight) (traces.Answer, traces.Because, error) {
	switch {
	case f.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted, About: f.to.cache.Source}, nil
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
	if f.resp.Served == traces.ByNone {
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
	case f.resp.Served == traces.ByNone:
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

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
// miss; the error is logged and swallowed. Rules IND-FIND-01, IND-FIND-02,
// IND-FIND-05.
func readCache(c *call) (traces.Answer, traces.Because, error) {
	switch {
	case c.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted, About: c.to.cache.Source}, nil
	case c.req.Flags&traces.IgnoreCache != 0:
		return traces.NotAsked, traces.Because{Reason: traces.IgnoredByCaller, About: c.live.Trace.Caller}, nil
	}
	q := &c.live.Trace.Steps[traces.CacheRead]
	v, err := c.fromCache(q)
	if err == nil && usable(v) {
		if _, ok := v.(Expirer); !ok {
			err = &Failure{Class: "NoMethodError", Message: fmt.Sprintf(msgNoExpired, describe(v)), Hidden: "the file holds something else than " + c.to.spec.Class}
		}
	}
	if err != nil {
		return c.cacheFailed(err)
	}
	if !usable(v) {
		because := q.Because
		if because.Reason == traces.EarlierStepRaised || because.Reason == traces.ReturnedNil {
			because = traces.Because{Reason: traces.NotFound}
		}
		if c.to.cacheHolder.desc.AlwaysNil {
			because.Reason = traces.AlwaysNil
		}
		return traces.Miss, because, nil
	}
	c.value = v
	c.resp.Served, c.resp.From = traces.ByCache, c.to.cache.Terminus
	return traces.Found, traces.Because{Reason: traces.CacheFound}, nil
}

// fromCache finds in the cache. A constructor that fails is a read that fails.
// Rule IND-FIND-05.
func (c *call) fromCache(q *traces.Question) (any, error) {
	if err := c.to.cacheHolder.open(c.x); err != nil {
		return nil, err
	}
	return c.ask(c.to.cacheHolder, Find, &c.req, q)
}

func (c *call) cacheFailed(err error) (traces.Answer, traces.Because, error) {
	because := traces.Because{Reason: traces.ReadFailed, About: firstLine(Message(err))}
	if aborts(err) || errors.Is(err, ErrLacking) { // what Puppet's cache would answer is unknown
		return traces.Raised, because, err
	}
	c.x.cfg.Log.Error(fmt.Sprintf(msgCacheFailed, c.req.Indirection, c.req.Key, Message(err)))
	c.fault(traces.CacheRead, err, false)
	return traces.Swallowed, because, nil
}

// usable reports whether v is an answer of a cache; nil and false are not.
func usable(v any) bool {
	inst, ok := v.(Instance)
	return ok && inst != nil && inst != False
}

// describe returns Ruby's words for v in "undefined method".
func describe(v any) string {
	if name, ok := v.(Name); ok {
		return data.InspectString(string(name)) + ":String"
	}
	if c, ok := v.(interface{ RubyClass() string }); ok {
		return "an instance of " + c.RubyClass()
	}
	return fmt.Sprintf("%v", v)
}

// checkExpiry drops a cached instance that has expired. Rules IND-FIND-03,
// IND-FIND-04, IND-EXP-01.
func checkExpiry(c *call) (traces.Answer, traces.Because, error) {
	if c.resp.Served != traces.ByCache {
		return traces.NotAsked, traces.Because{Reason: c.live.Trace.Steps[traces.CacheRead].Because.Reason}, nil
	}
	at := c.value.(Expirer).Expiration()
	switch {
	case at.IsZero() && !c.to.cacheHolder.keepsExpiry:
		c.usingCached()
		return traces.OK, traces.Because{Reason: traces.NoExpiryKept, About: c.to.cache.Terminus}, nil
	case at.IsZero():
		c.usingCached()
		return traces.OK, traces.Because{Reason: traces.NoExpiration}, nil
	case !at.Before(c.now()):
		c.usingCached()
		return traces.OK, traces.Because{Reason: traces.NotExpired, About: "for " + round(at.Sub(c.now())).String()}, nil
	}
	c.x.cfg.Log.Info(fmt.Sprintf("Not using expired %s for %s from cache; expired at %s", c.req.Indirection, c.req.Key, at.Format("2006-01-02 15:04:05 MST")))
	c.value, c.resp = nil, Response{Trace: c.resp.Trace}
	return traces.Expired, traces.Because{Reason: traces.ExpiredAt, About: at.UTC().Format(time.RFC3339) + ", " + round(c.now().Sub(at)).String() + " ago"}, nil
}

func (c *call) usingCached() {
	if c.x.cfg.Log.Enabled(c.briefly(), slog.LevelDebug) {
		c.x.cfg.Log.Debug(fmt.Sprintf("Using cached %s for %s", c.req.Indirection, c.req.Key))
	}
}

func round(d time.Duration) time.Duration {
	if d > 2*time.Second {
		return d.Round(time.Second)
	}
	return d.Round(time.Millisecond)
}

// askTerminus finds in the terminus. Its errors go to the caller: nothing falls
// back to the cache. Rules IND-FIND-06, IND-FIND-07.
func askTerminus(c *call) (traces.Answer, traces.Because, error) {
	if a, because, skip := c.skipTerminus(true); skip {
		return a, because, nil
	}
	q := &c.live.Trace.Steps[traces.Terminus]
	v, err := c.ask(c.to.primaryHolder, Find, &c.req, q)
	if err != nil {
		return traces.Raised, c.raised(err), err
	}
	c.value = v
	switch v {
	case nil:
		if q.Because.Reason == traces.EarlierStepRaised {
			q.Because = traces.Because{Reason: traces.ReturnedNil}
		}
		c.noteTwin()
		if c.req.Flags&traces.FailOn404 != 0 && !c.to.primaryHolder.desc.REST {
			return traces.Nothing, q.Because, &Failure{ // for every terminus, not only REST: gap L8
				Message: fmt.Sprintf("Find %s resulted in 404 with the message: %s", c.req.Description(), q.Because),
			}
		}
		return traces.Nothing, q.Because, nil
	case any(False):
		c.served()
		return traces.False, traces.Because{Reason: traces.Returned, About: "false"}, nil
	}
	c.served()
	return traces.OK, traces.Because{Reason: traces.Returned}, nil
}

// skipTerminus reports whether the terminus is left out, and why.
func (c *call) skipTerminus(mayIgnore bool) (traces.Answer, traces.Because, bool) {
	switch {
	case c.resp.Served == traces.ByInjection:
		return traces.NotAsked, traces.Because{Reason: traces.ByYou}, true
	case mayIgnore && c.req.Flags&traces.IgnoreTerminus != 0:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreTerminus, About: c.live.Trace.Caller}, true
	case c.resp.Served == traces.ByCache:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedCacheHit}, true
	}
	return 0, traces.Because{}, false
}

// noteTwin notes the other singleton of the same name, if there is one. Rule
// IND-TERM-09.
func (c *call) noteTwin() {
	if !c.x.cfg.Quirks["IND-TERM-09"] {
		return
	}
	own := c.to.primary
	if _, ok := c.x.holders.Load(holderKey{c.req.Indirection, own.Terminus, !own.Symbol}); ok {
		c.live.Note(traces.AnAnswer, traces.TwoStores(&own))
	}
}

func (c *call) raised(err error) traces.Because {
	if errors.Is(err, ErrVerbMissing) {
		return traces.Because{Reason: traces.VerbMissing, About: c.req.Verb.String()}
	}
	return traces.Because{Reason: traces.TerminusRaised, About: firstLine(Message(err))}
}

func (c *call) served() {
	c.resp.Served, c.resp.From = traces.ByTerminus, c.to.primary.Terminus
}

// setExpiry dates what the terminus found, unless it has an expiration, even
// one in the past. Rules IND-EXP-03, IND-FIND-10.
func setExpiry(c *call) (traces.Answer, traces.Because, error) {
	if c.resp.Served != traces.ByTerminus {
		return c.notFromTerminus()
	}
	e, ok := c.value.(Expirer)
	if !ok {
		return traces.NotAsked, traces.Because{Reason: traces.NoExpiration}, nil
	}
	if at := e.Expiration(); !at.IsZero() {
		return traces.Kept, traces.Because{Reason: traces.AlreadySet}, nil
	}
	dated := e.WithExpiration(c.now().Add(c.to.ttl()))
	c.shared(c.req.Key, e, dated)
	c.value = dated
	return traces.Set, c.to.dated, nil
}

func (c *call) shared(key string, was, is Instance) {
	if s := c.to.primaryHolder.sharer; s != nil {
		s.Shared(key, was, is)
	}
}

func (c *call) notFromTerminus() (traces.Answer, traces.Because, error) {
	if c.resp.Served == traces.ByNone {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	return traces.NotAsked, traces.Because{Reason: traces.EarlierStepAnswered}, nil
}

// writeCache saves what the terminus found, unfiltered, under the caller's key.
// A cache that cannot be written fails the find, although there was an answer.
// Rules IND-FIND-08, IND-FIND-09, IND-FIND-11, IND-FIND-12.
func writeCache(c *call) (traces.Answer, traces.Because, error) {
	switch {
	case c.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}, nil
	case c.resp.Served == traces.ByCache:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedCacheHit}, nil
	case c.resp.Served == traces.ByNone:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	case c.resp.Served == traces.ByInjection:
		return traces.NotAsked, notStored, nil
	case c.req.looks:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: "read-only mode"}, nil
	case c.req.Flags&traces.IgnoreCacheSave != 0:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: c.live.Trace.Caller}, nil
	}
	if c.x.cfg.Log.Enabled(c.briefly(), slog.LevelInfo) {
		c.x.cfg.Log.Info(fmt.Sprintf("Caching %s for %s", c.req.Indirection, c.req.Key))
	}
	save := c.req
	save.Verb = Save
	save.Instance, _ = c.value.(Instance)
	if _, err := c.toCache(Save, &save); err != nil {
		c.x.cfg.Log.Error(Message(err))
		return traces.Raised, traces.Because{Reason: traces.StoreFailed, About: firstLine(Message(err))}, err
	}
	return traces.Written, traces.Because{Reason: traces.StoreWritten}, nil
}

// notStored is why an injected answer is not cached: others would take it for
// real.
var notStored = traces.Because{Reason: traces.ByYou, About: "what is injected is not stored"}

// toCache asks the cache for any verb but the first find.
func (c *call) toCache(verb Verb, req *Request) (any, error) {
	if err := c.to.cacheHolder.open(c.x); err != nil {
		return nil, err
	}
	return c.ask(c.to.cacheHolder, verb, req, &c.live.Trace.Steps[traces.CacheWrite])
}

// filter changes what the caller sees, not what the cache keeps. Rule
// IND-FIND-09.
func filter(c *call) (traces.Answer, traces.Because, error) {
	switch {
	case c.resp.Served != traces.ByTerminus && c.resp.Served != traces.ByCache:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	case c.to.primaryHolder.filter == nil:
		return traces.Unfiltered, traces.Because{Reason: traces.TerminusHasNoFilter}, nil
	case c.resp.Served == traces.ByCache:
		return traces.Unfiltered, traces.Because{Reason: traces.CacheNotFiltered}, nil
	}
	inst, ok := c.value.(Instance)
	if !ok {
		return traces.Unfiltered, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	filtered, err := c.to.primaryHolder.filter.Filter(c.ctx(), inst)
	if err != nil && !errors.Is(err, ErrNotFound) {
		if failure := (*Failure)(nil); errors.As(err, &failure) && !failure.Foreign() {
			c.x.cfg.Log.Error(Message(err))
		}
		return traces.Raised, traces.Because{Reason: traces.TerminusRaised, About: firstLine(Message(err))}, err
	}
	c.value = nil
	if filtered != nil {
		c.value = filtered
	}
	return traces.Filtered, traces.Because{Reason: traces.FilterApplied}, nil
}

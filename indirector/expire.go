package indirector

import (
	"context"
	"fmt"
	"time"

	"indirtui/traces"
)

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

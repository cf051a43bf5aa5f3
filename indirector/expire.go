package indirector

import (
	"context"
	"fmt"
	"time"

	"indirtui/traces"
)

// findToExpire reads the cache. Its errors are not swallowed. Rule IND-EXP-04.
func findToExpire(c *call) (traces.Answer, traces.Because, error) {
	switch {
	case c.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}, nil
	case c.req.Flags&traces.IgnoreCacheSave != 0:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: c.live.Trace.Caller}, nil
	}
	v, err := c.fromCache(&c.live.Trace.Steps[traces.CacheRead])
	if err != nil {
		return traces.Raised, traces.Because{Reason: traces.ReadFailed, About: firstLine(Message(err))}, err
	}
	if !usable(v) {
		return traces.Miss, traces.Because{Reason: traces.NotFound}, nil
	}
	c.value = v
	c.resp.Served, c.resp.From = traces.ByCache, c.to.cache.Terminus
	return traces.Found, traces.Because{Reason: traces.CacheFound}, nil
}

// expireNow lets the cached instance expire a minute ago. It never deletes. A
// cache that does not keep expirations goes on serving it. Rules IND-EXP-04,
// IND-EXP-05.
func expireNow(c *call) (traces.Answer, traces.Because, error) {
	if c.resp.Served != traces.ByCache {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	e, ok := c.value.(Expirer)
	if _, text := c.value.(Name); ok || !text && c.value.(Instance).Key() != "" {
		c.x.cfg.Log.Info(fmt.Sprintf("Expiring the %s cache of %s", c.req.Indirection, c.value.(Instance).Key()))
	}
	if !ok {
		return traces.Raised, traces.Because{}, &Failure{Class: "NoMethodError", Message: fmt.Sprintf(msgNoExpired, describe(c.value))}
	}
	c.value = e.WithExpiration(c.now().Add(-time.Minute))
	if !c.to.cacheHolder.keepsExpiry {
		return traces.Set, traces.Because{Reason: traces.NoExpiryKept, About: c.to.cache.Terminus}, nil
	}
	return traces.Set, traces.Because{Reason: traces.TTL, About: "now - 60 s"}, nil
}

func rewriteCache(c *call) (traces.Answer, traces.Because, error) {
	if c.resp.Served != traces.ByCache {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	save := c.req
	save.Verb = Save
	save.Instance, _ = c.value.(Instance)
	v, err := c.toCache(Save, &save)
	if err != nil {
		return traces.Raised, traces.Because{Reason: traces.StoreFailed, About: firstLine(Message(err))}, err
	}
	c.value = v
	return traces.Written, traces.Because{Reason: traces.StoreWritten}, nil
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

package indirector

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"indirtui/traces"
)

// headTerminus asks whether the key exists. ignore_terminus has no effect.
// Rules IND-HEAD-01 to IND-HEAD-03.
func headTerminus(c *call) (traces.Answer, traces.Because, error) {
	if a, because, skip := c.skipTerminus(false); skip {
		return a, because, nil
	}
	q := &c.live.Trace.Steps[traces.Terminus]
	v, err := c.ask(c.to.primaryHolder, Head, &c.req, q)
	if err != nil {
		return traces.Raised, c.raised(err), err
	}
	c.value = v
	if v == true {
		c.served()
		return traces.OK, traces.Because{Reason: traces.Returned}, nil
	}
	if q.Because.Reason == traces.EarlierStepRaised {
		q.Because = traces.Because{Reason: traces.ReturnedNil}
	}
	return traces.Nothing, q.Because, nil
}

// searchTerminus lists what matches. A search is never cached. Rules
// IND-SRCH-01, IND-SRCH-02.
func searchTerminus(c *call) (traces.Answer, traces.Because, error) {
	q := &c.live.Trace.Steps[traces.Terminus]
	req := &c.req
	if c.req.yield() != nil {
		req = c.newListing()
	}
	v, err := c.ask(c.to.primaryHolder, Search, req, q)
	if c.list != nil && c.list.stopped != nil {
		return traces.Raised, traces.Because{Reason: traces.CallerRaised, About: c.list.String()}, c.list.stopped
	}
	switch {
	case errors.Is(err, ErrNotArray):
		err = &Failure{Class: "Puppet::DevError", Message: fmt.Sprintf(msgNotArray, c.to.primary.Terminus), Err: err}
		return traces.Raised, c.raised(err), err
	case err != nil:
		return traces.Raised, c.raised(err), err
	case v == nil:
		return traces.Nothing, traces.Because{Reason: traces.ReturnedNil, About: q.Because.About}, nil
	}
	n := 0
	if c.list != nil {
		n, c.value = c.list.n, c.list.first
	} else {
		n, c.value = len(v.([]Instance)), v
	}
	c.served()
	return traces.OK, traces.Because{Reason: traces.Returned, About: strconv.Itoa(n)}, nil
}

// setExpiries is setExpiry for each element. Rule IND-SRCH-02.
func setExpiries(c *call) (traces.Answer, traces.Because, error) {
	if c.resp.Served == traces.ByInjection {
		return c.notFromTerminus()
	}
	found, _ := c.value.([]Instance)
	if len(found) == 0 {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	}
	if c.list != nil {
		return c.list.answer, c.list.because, nil // they were dated as they came
	}
	at := c.now().Add(c.to.ttl())
	answer, because := traces.NotAsked, traces.Because{Reason: traces.NoExpiration}
	dated := make([]Instance, len(found))
	for i, inst := range found {
		dated[i], answer, because = c.date(inst, at)
	}
	c.value = dated
	return answer, because, nil
}

// date returns the instance with an expiration, if it is an [Expirer] without
// one.
func (c *call) date(inst Instance, at time.Time) (Instance, traces.Answer, traces.Because) {
	e, ok := inst.(Expirer)
	switch {
	case !ok:
		return inst, traces.NotAsked, traces.Because{Reason: traces.NoExpiration}
	case !e.Expiration().IsZero():
		return inst, traces.Kept, traces.Because{Reason: traces.AlreadySet}
	}
	dated := e.WithExpiration(at)
	c.shared(inst.Key(), inst, dated)
	return dated, traces.Set, c.to.dated
}

// Applied is what a terminus answers to a save that is more than writing: whether there was
// something to do, and why. The answer is one of those of [traces.Terminus].
type Applied struct {
	Answer  traces.Answer
	Because traces.Because
	Value   any // nil, or what a save answers
}

// saveTerminus stores the instance. If that fails the cache is not written, nor is it if
// the terminus leaves the instance out.
// Rules IND-SAVE-01, IND-SAVE-02, IND-SAVE-04.
func saveTerminus(c *call) (traces.Answer, traces.Because, error) {
	if c.req.Flags&traces.IgnoreTerminus != 0 {
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreTerminus, About: c.live.Trace.Caller}, nil
	}
	v, err := c.ask(c.to.primaryHolder, Save, &c.req, &c.live.Trace.Steps[traces.Terminus])
	if err != nil {
		return traces.Raised, c.raised(err), err
	}
	if applied, ok := v.(*Applied); ok {
		if c.value = applied.Value; applied.Answer != traces.Nothing {
			c.served()
		}
		return applied.Answer, applied.Because, nil
	}
	c.value = v
	if c.resp.Served == traces.ByInjection {
		return traces.Nothing, c.live.Trace.Steps[traces.Terminus].Because, nil
	}
	c.served()
	return traces.Written, traces.Because{Reason: traces.StoreWritten}, nil
}

// saveCache saves the same request in the cache. ignore_cache has no effect. If
// it fails, the terminus has stored the instance already. Rules IND-SAVE-02 to
// IND-SAVE-04.
func saveCache(c *call) (traces.Answer, traces.Because, error) {
	switch {
	case c.to.cacheHolder == nil:
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}, nil
	case c.resp.Served == traces.ByInjection:
		return traces.NotAsked, notStored, nil
	case c.live.Trace.Steps[traces.Terminus].Answer == traces.Nothing:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedNoResult}, nil
	case c.req.Flags&traces.IgnoreCacheSave != 0:
		return traces.NotAsked, traces.Because{Reason: traces.SkippedIgnoreCacheSave, About: c.live.Trace.Caller}, nil
	}
	if _, err := c.toCache(Save, &c.req); err != nil {
		return traces.Raised, traces.Because{Reason: traces.StoreFailed, About: firstLine(Message(err))}, err
	}
	return traces.Written, traces.Because{Reason: traces.StoreWritten}, nil
}

// destroyTerminus removes the key. No flag has an effect. Rules IND-DEST-01,
// IND-DEST-02.
func destroyTerminus(c *call) (traces.Answer, traces.Because, error) {
	v, err := c.ask(c.to.primaryHolder, Destroy, &c.req, &c.live.Trace.Steps[traces.Terminus])
	if err != nil {
		return traces.Raised, c.raised(err), err
	}
	c.value = v
	if c.resp.Served == traces.ByInjection {
		return traces.Nothing, c.live.Trace.Steps[traces.Terminus].Because, nil
	}
	if v == nil {
		return traces.Absent, traces.Because{Reason: traces.NotFound}, nil
	}
	c.served()
	return traces.Removed, traces.Because{Reason: traces.Returned}, nil
}

// destroyCache removes the key if the cache finds it: an entry that cannot be
// read cannot be removed. Rules IND-DEST-01, IND-DEST-02.
func destroyCache(c *call) (traces.Answer, traces.Because, error) {
	if c.to.cacheHolder == nil {
		return traces.NotAsked, traces.Because{Reason: traces.NoCacheRouted}, nil
	}
	if c.resp.Served == traces.ByInjection {
		return traces.NotAsked, notStored, nil
	}
	find := c.req
	find.Verb, find.Instance = Find, nil
	v, err := c.toCache(Find, &find)
	if err != nil {
		return traces.Raised, traces.Because{Reason: traces.ReadFailed, About: firstLine(Message(err))}, err
	}
	if !usable(v) {
		return traces.Absent, traces.Because{Reason: traces.NotFound}, nil
	}
	if _, err := c.toCache(Destroy, &c.req); err != nil {
		return traces.Raised, traces.Because{Reason: traces.StoreFailed, About: firstLine(Message(err))}, err
	}
	return traces.Removed, traces.Because{Reason: traces.CacheFound}, nil
}

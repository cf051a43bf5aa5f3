package indirector

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"indirtui/traces"
)

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

package indirector_test

import (
	"errors"
	"testing"

	"indirtui/indirector"
	"indirtui/traces"
)

// A request that runs elsewhere has a plan from its candidates: what its termini and
// caches would answer stays open.
func TestForesee(t *testing.T) {
	t.Parallel()
	yaml, json := traces.Choice{Terminus: "yaml", Kind: traces.FromApplication}, traces.Choice{Terminus: "json", Kind: traces.FromRoutesFile}
	for _, tt := range []struct {
		name    string
		verb    indirector.Verb
		step    traces.Step
		done    bool
		cache   traces.Choice
		flags   traces.Flags
		own     string // terminus of this request
		served  traces.Served
		err     error
		why     string
		outcome traces.Outcome
		answers map[traces.Step]traces.Answer
	}{
		{name: "a cache", verb: indirector.Find, step: traces.CacheRead, cache: json, why: "cache json would be asked, and then perhaps terminus yaml"},
		{name: "no cache", verb: indirector.Find, why: "terminus yaml would be asked", answers: map[traces.Step]traces.Answer{traces.Route: traces.Chosen, traces.CacheRead: traces.NotAsked, traces.CacheWrite: traces.NotAsked}},
		{name: "the cache is off", verb: indirector.Find, cache: traces.Choice{Terminus: indirector.Off}, why: "terminus yaml would be asked"},
		{name: "ignore_cache", verb: indirector.Find, cache: json, flags: traces.IgnoreCache, why: "terminus yaml would be asked", answers: map[traces.Step]traces.Answer{traces.CacheRead: traces.NotAsked}},
		{name: "ignore_terminus", verb: indirector.Find, step: traces.Terminus, flags: traces.IgnoreTerminus, outcome: traces.Nil, why: "nobody would be asked: ignore_terminus"},
		{name: "its own terminus", verb: indirector.Find, own: "exec", why: "terminus exec would be asked"},
		{name: "what the cache has may have expired", verb: indirector.Find, step: traces.CacheRead, done: true, cache: json, served: traces.ByCache, why: "cache json would answer unless that has expired"},
		{name: "the terminus has answered", verb: indirector.Find, step: traces.Terminus, done: true, served: traces.ByTerminus, outcome: traces.Good, why: "terminus yaml would answer"},
		{name: "save", verb: indirector.Save, cache: json, outcome: traces.Good, why: "terminus yaml would store it"},
		{name: "it failed", verb: indirector.Find, step: traces.Terminus, done: true, err: errors.New("refused"), outcome: traces.Err, why: "it fails: refused"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			st := &indirector.State{Point: traces.Point{Step: tt.step}, Done: tt.done, Served: tt.served, Err: tt.err}
			st.Request = indirector.Request{Indirection: "facts", Verb: tt.verb, Key: "web01", Flags: tt.flags}
			st.Trace.Primary, st.Trace.Cache = traces.Slot{yaml}, traces.Slot{tt.cache}
			next := st.Request
			next.Terminus = tt.own
			f := st.Foresee(&next, "not looked into")
			if f.Why != tt.why || f.Outcome != tt.outcome || f.Unseen != "not looked into" {
				t.Errorf("got %q, %v, %q; want %q, %v", f.Why, f.Outcome, f.Unseen, tt.why, tt.outcome)
			}
			for step, want := range tt.answers {
				if got := f.Steps[step].Answer; got != want {
					t.Errorf("%s: got %v, want %v", step, got, want)
				}
			}
		})
	}
}

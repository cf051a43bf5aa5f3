package transaction_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
	"indirtui/traces"
	"indirtui/traces/store"
)

// taker is the terminus of a run.
type taker struct{}

func (taker) Save(ctx context.Context, r *indirector.Request) (any, error) {
	taken, err := transaction.VisitOf(ctx).Take(ctx, r.Instance.(*model.Resource))
	if err != nil {
		return nil, err
	}
	if taken.Lost != "" {
		traces.FromContext(ctx).Fault(traces.Fault{Step: traces.Terminus, Origin: "refresh", Message: taken.Lost})
	}
	return taken.Applied(), nil
}

// flaky fails to set what is one.
type flaky struct {
	providers.Provider
	left *int
}

func (f flaky) Set(ctx context.Context, s providers.System, r *types.Resource, property string) error {
	if *f.left > 0 {
		*f.left--
		return errors.New("no space left")
	}
	return f.Provider.Set(ctx, s, r, property)
}

func (f flaky) Refresh(context.Context, providers.System, *types.Resource) error { return nil }

// holding is a run whose resources are requests that a debugger may hold.
type holding struct {
	*debugger.Debugger
	engine *indirector.Indirector
	store  *store.Store
}

func newHolding(t *testing.T, breaks ...string) *holding {
	t.Helper()
	s, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	d, err := debugger.New(debugger.Options{Recorder: s})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := indirector.NewRegistry([]indirector.Spec{{Name: "resource", Class: "Puppet::Resource", Default: "ral"}}, []indirector.Descriptor{{
		Indirection: "resource", Name: "ral", Type: taker{}, Code: true,
		New: func(indirector.Env) (indirector.Terminus, error) { return taker{}, nil },
	}})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := indirector.New(indirector.Config{
		Registry: registry, Recorder: s, Debugger: d,
		Routes: indirector.Routes{"resource": {Primary: traces.Slot{{Terminus: "ral", Kind: traces.FromDeclaration, Source: "test"}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		d.Close()
		if err := errors.Join(engine.Close(), s.Close()); err != nil {
			t.Error(err)
		}
	})
	for _, text := range breaks {
		b, err := debugger.Parse(text)
		if err == nil {
			_, err = d.Add(b)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return &holding{d, engine, s}
}

// run applies four probes: a is changed and refreshes c, which refreshes d; b waits for a.
func (h *holding) run(t *testing.T, fails int) {
	t.Helper()
	p := newPlace(t)
	m := p.system(systemtest.Case{}, p.settings(nil))
	world := &probetest.World{Root: p.dir + "/root"}
	c := with(with(with(probes("a", "b:a", "c", "d"), 0, "one", "x"), 2, "subscribe", "Probe[a]"), 3, "subscribe", "Probe[c]")
	transaction.Run(t.Context(), c, transaction.Options{
		Settings: agent(m), System: m, Types: allTypes(),
		Provider: func(r *types.Resource) providers.Provider {
			if p := world.Provider(r); p != nil {
				return flaky{p, &fails}
			}
			return nil
		},
		Request: func(ctx context.Context, v *transaction.Visit) error {
			wanted := v.Wanted()
			_, err := h.engine.Do(v.Context(ctx), &indirector.Request{
				Indirection: "resource", Verb: indirector.Save, Key: wanted.Key(), Keyed: true, Instance: wanted, Run: "r", Caller: "you",
			})
			return err
		},
	})
}

// changes lets the first resource go on, which is then changed, and awaits the end of the run.
func (h *holding) changes(t *testing.T, id uint64, done <-chan struct{}) {
	t.Helper()
	if err := h.Resume(id, debugger.Continue); err != nil {
		t.Error(err)
	}
	<-done
	if got, want := h.outcomes(t)[0], "a chg out-of-sync(one)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// outcomes are those of the probes, with their stories.
func (h *holding) outcomes(t *testing.T) (all []string) {
	t.Helper()
	if err := h.store.Flush(); err != nil {
		t.Fatal(err)
	}
	first, last := h.store.Range()
	for id := first; id <= last; id++ {
		tr, err := h.store.Trace(id)
		if err != nil {
			t.Fatal(err)
		}
		if key, is := strings.CutPrefix(tr.Key, "Probe/"); is {
			why := tr.Steps[traces.Terminus].Because.String()
			if tr.Error != "" {
				why = tr.Error
			}
			all = append(all, key+" "+tr.Outcome.String()+" "+why)
		}
	}
	return all
}

// TestHeldSteps: at its steps a resource is left out, failed, edited and taken again.
func TestHeldSteps(t *testing.T) {
	t.Parallel()
	changed, same, refreshed := "a chg out-of-sync(one)", "b same in-sync", []string{"c chg refreshed-by(Probe[a])", "d chg refreshed-by(Probe[c])"}
	untouched := []string{"c same in-sync", "d same in-sync"}
	for _, tt := range []struct {
		name, at string
		fails    int
		want     []string
	}{
		{"nothing", "at compare do log", 0, append([]string{changed, same}, refreshed...)},
		{"a property is left out", "at change one do skip", 0, append([]string{"a skip you(b1 left it out)", same}, untouched...)},
		{"a change fails", "key=probe/a at change do fail 'not now'", 0, []string{
			"a err change from 'absent' to 'x' failed: not now", "b skip dependency-failed(Probe[a])",
			"c skip dependency-failed(Probe[a])", "d skip dependency-failed(Probe[a])",
		}},
		{"a resource is left out", "key=probe/a at retrieve do skip", 0, append([]string{"a skip you(b1 left it out)", same}, untouched...)},
		{"one is left out before its first step", "key=probe/a at dependencies do skip", 0, append([]string{"a skip you(b1 left it out)", same}, untouched...)},
		{"events are left out", "key=probe/a at events-out do skip", 0, append([]string{changed, same}, untouched...)},
		{"a refresh is left out", "key=probe/c at refresh do skip", 0, []string{
			changed, same, "c skip you(b1 left it out)", "d skip you(not refreshed without Probe[c])",
		}},
		{"a refresh fails", "key=probe/c at refresh do fail 'no'", 0, []string{
			changed, same, "c err~ refresh-lost(Failed to call refresh: no)", "d skip dependency-failed(Probe[c])",
		}},
		{"once more", "at failure do retry first 3", 2, append([]string{changed, same}, refreshed...)},
		{"once more, without end", "at failure 'change one' do retry", 1000, []string{
			"a err change from 'absent' to 'x' failed: no space left", "b skip dependency-failed(Probe[a])",
			"c skip dependency-failed(Probe[a])", "d skip dependency-failed(Probe[a])",
		}},
		{"another value", "at change one do set $one=y", 0, append([]string{changed, same}, refreshed...)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newHolding(t, "ind=resource "+tt.at)
			h.run(t, tt.fails)
			if d := cmp.Diff(tt.want, h.outcomes(t)); d != "" {
				t.Errorf("want -, got +\n%s", d)
			}
		})
	}
}

// TestFinished holds a resource before its caller goes on with the run.
func TestFinished(t *testing.T) {
	t.Parallel()
	h := newHolding(t, "key=probe/a at retrieve")
	done := h.start(t)
	for _, want := range []struct {
		at  string
		how debugger.Go
	}{{"at retrieve", debugger.Finish}, {"before caller", debugger.Continue}} {
		held := h.await(t, done)
		if got := held.Where().String(); got != want.at {
			t.Errorf("held %s, want %s", got, want.at)
		}
		if err := h.Resume(held.ID, want.how); err != nil {
			t.Error(err)
		}
	}
	<-done
}

// TestByHand lets the user decide where a step failed.
func TestByHand(t *testing.T) {
	t.Parallel()
	for do, want := range map[debugger.Do]string{
		debugger.Retry: "a chg out-of-sync(one)", debugger.Skip: "a skip you left it out", debugger.Hold: "a err change from 'absent' to 'y' failed: no space left",
	} {
		t.Run(do.String(), func(t *testing.T) {
			t.Parallel()
			h := newHolding(t, "key=probe/a at failure")
			done := make(chan struct{})
			go func() {
				defer close(done)
				h.run(t, 1)
			}()
			held := h.await(t, done)
			if got := held.State.Code.String(); got != "at failure change one" {
				t.Errorf("held %s", got)
			}
			_, err := h.Edit(held.ID, debugger.Edit{Name: "$one", Value: "y"})
			if do == debugger.Hold {
				err = errors.Join(err, h.Resume(held.ID, debugger.Continue))
			} else {
				err = errors.Join(err, h.Inject(held.ID, debugger.Action{Do: do}, debugger.Continue))
			}
			if err != nil {
				t.Fatal(err)
			}
			<-done
			if got := h.outcomes(t)[0]; got != want {
				t.Errorf("got %s, want %s", got, want)
			}
		})
	}
}

// TestWrongValue refuses a value when it is given, in the words of the type: what was wanted
// stays.
func TestWrongValue(t *testing.T) {
	t.Parallel()
	h := newHolding(t, "key=probe/a at compare")
	done := h.start(t)
	held := h.await(t, done)
	if _, err := h.Edit(held.ID, debugger.Edit{Name: "$one", Value: "undef"}); err == nil || err.Error() != "Got nil value for one" {
		t.Errorf("undef: got %v", err)
	}
	if now, err := h.Get(held.ID); err != nil || len(now.Changes) > 0 {
		t.Errorf("it has %v, %v", now.Changes, err)
	}
	h.changes(t, held.ID, done)
}

// TestWrongInstance judges another resource when it is given, before the terminus has it.
func TestWrongInstance(t *testing.T) {
	t.Parallel()
	h := newHolding(t, "key=probe/a before terminus")
	done := h.start(t)
	held := h.await(t, done)
	for value, want := range map[string]string{
		`{"type":"Probe","title":"a","parameters":{"one":"y","none":1}}`:          "no parameter named 'none'",
		`{"type":"Probe","title":"a","parameters":{"one":"y","loglevel":"loud"}}`: `Parameter loglevel failed on Probe[a]: Invalid value "loud". Valid values are debug, info, notice, warning, err, alert, emerg, crit, verbose. (file: /site.pp, line: 1)`,
		`{"type":"Probe","title":"b","parameters":{"one":"y"}}`:                   `apply "Probe[b]": it is the turn of "Probe[a]" in this run`,
	} {
		if _, err := h.Edit(held.ID, debugger.Edit{Name: "value", Value: value}); err == nil || err.Error() != want {
			t.Errorf("%s: got %v, want %s", value, err, want)
		}
	}
	now, err := h.Edit(held.ID, debugger.Edit{Name: "value", Value: `{"type":"Probe","title":"a","parameters":{"one":"y"}}`})
	if err != nil || len(now.Changes) != 1 {
		t.Errorf("it has %v, %v", now.Changes, err)
	}
	h.changes(t, held.ID, done)
}

// start begins a run, and returns what is closed at its end.
func (h *holding) start(t *testing.T) (done chan struct{}) {
	t.Helper()
	done = make(chan struct{})
	go func() {
		defer close(done)
		h.run(t, 0)
	}()
	return done
}

// await returns the request that is held.
func (h *holding) await(t *testing.T, done chan struct{}) *debugger.Held {
	t.Helper()
	for {
		if all := h.Held(); len(all) == 1 {
			return &all[0]
		}
		select {
		case <-h.Changed():
		case <-done:
			t.Fatal("the run has ended")
		}
	}
}

// TestSteppedThrough goes from one step of a resource to the next, and on to the next
// resource; what can be changed is changed, and what is still to come is planned.
func TestSteppedThrough(t *testing.T) {
	t.Parallel()
	h := newHolding(t, "key=probe/a at compare")
	done := h.start(t)
	first := h.await(t, done)
	rest, ok := first.State.Code.Rest.(*transaction.Rest)
	if !ok || rest.Plan.Totals.String() != "0 to change, 2 restarts, 1 in sync" {
		t.Errorf("still to come: %+v", rest.Plan)
	}
	var names []string
	for _, v := range first.State.Code.Variables {
		names = append(names, v.Key.Str())
	}
	if want := []string{"one", "one is", "refreshes", "waited for by"}; !slices.Equal(names, want) {
		t.Errorf("sees %q, want %q", names, want)
	}
	if why := first.Disabled("$one is"); why == "" {
		t.Error("what is can be edited")
	}
	if _, err := h.Edit(first.ID, debugger.Edit{Name: "$one", Value: "z"}); err != nil {
		t.Error(err)
	}
	var places, seen []string
	for {
		at := h.await(t, done)
		places = append(places, strings.TrimPrefix(at.State.Trace.Key, "Probe/")+" "+at.State.Code.String())
		if at.ID == first.ID {
			seen = seen[:0]
			for _, s := range at.State.Trace.Spans {
				if s.Kind == traces.Note {
					seen = append(seen, s.Name)
				}
			}
		}
		if len(places) == 7 {
			if err := h.Resume(at.ID, debugger.Continue); err != nil {
				t.Error(err)
			}
			break
		}
		if err := h.Resume(at.ID, debugger.Step); err != nil {
			t.Error(err)
		}
	}
	<-done
	want := []string{"a at compare", "a at change one", "a at events out", "b at dependencies", "b at schedule and tags", "b at provider", "b at retrieve"}
	if d := cmp.Diff(want, places); d != "" {
		t.Errorf("want -, got +\n%s", d)
	}
	if want := []string{"dependencies", "schedule and tags", "provider", "retrieve", "compare one", "change one", "flush"}; !slices.Equal(seen, want) {
		t.Errorf("where it is held last, the steps %q are seen, want %q", seen, want)
	}
	tr, err := h.store.Trace(first.ID)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(tr.Spans, func(s traces.Span) bool { return s.Answer == "defined 'one' as 'z'" }) {
		t.Errorf("it was changed to something else: %v", tr.Spans)
	}
}

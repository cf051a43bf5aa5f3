package indirector_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// What a wrapper does to a find, what it asks, and what it adds to the trace.
func TestWrappers(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		terminus string
		fail     bool // whether main fails
		gone     bool // whether main has nothing
		want     string
		out      traces.Outcome
		asked    string // main, then spare
		took     time.Duration
		span     string
	}{
		{"fault(main, 503)", false, false, "Error 503 on SERVER: injected", traces.Err, "|", 0, "fault: main was not asked"},
		{"fault(main, 404)", false, false, "nil", traces.NilHidden, "|", 0, "fault: main was not asked"},
		{"fault(main, 'no, not now')", false, false, "no, not now", traces.Err, "|", 0, "fault: main was not asked"},
		{`fault( main , "a (b" )`, false, false, "a (b", traces.Err, "|", 0, "fault: main was not asked"},
		{"fault(main, nil)", false, false, "nil", traces.Sim, "|", 0, "fault: main was not asked"},
		{"fault(main, nil, verb=save)", false, false, "main", traces.Good, "find|", 0, ""},
		{"fault(main, nil, every=2)", false, false, "main", traces.Good, "find|", 0, ""},
		{"delay(main, 2s)", false, false, "main", traces.Good, "find|", 2 * time.Second, "delay: waited for main"},
		{"retry(main, 3, wait=1s)", true, false, "broken", traces.Err, "find find find|", 2 * time.Second, "retry: attempt 1 of 3 failed"},
		{"retry(main)", false, true, "nil", traces.Nil, "find|", 0, ""},
		{"retry(fault(main, 503, first=2), 3)", false, false, "main", traces.ErrHidden, "find|", 0, "fault: main was not asked"},
		{"retry(fault(main, 503, first=2), 2)", false, false, "Error 503 on SERVER: injected", traces.Err, "|", 0, "fault: main was not asked"},
		{"fallback(main, spare)", true, false, "spare", traces.ErrHidden, "find|find", 0, "fallback: main failed, spare is asked"},
		{"fallback(main, spare)", false, true, "nil", traces.Nil, "find|", 0, ""},
		{"fallback(main, spare, nil)", false, true, "spare", traces.Good, "find|find", 0, "fallback: main has nothing, spare is asked"},
		{"fallback(fault(main, 500), delay(spare, 1s))", false, false, "spare", traces.ErrHidden, "|find", time.Second, "fault: main was not asked"},
		{"tee(main, spare)", false, false, "main", traces.Good, "find|save", 0, "tee: save also to spare"},
		{"tee(main, fault(spare, full))", false, false, "main", traces.ErrHidden, "find|", 0, "fault: spare was not asked"},
		{"tee(main, spare)", true, false, "broken", traces.Err, "find|", 0, ""},
	} {
		t.Run(fmt.Sprintf("%s %v %v", tt.terminus, tt.fail, tt.gone), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				h := newFixture(t, nil)
				main, spare := h.fakes["node/main"], h.fakes["node/spare"]
				if !tt.gone {
					main.m["a"] = widget{name: "a", origin: "main", at: time.Now().Add(time.Hour)}
				}
				spare.m["a"] = widget{name: "a", origin: "spare", at: time.Now().Add(time.Hour)}
				if tt.fail {
					main.fail[indirector.Find] = errors.New("broken")
				}
				h.assign(t, "node", indirector.SlotTerminus, tt.terminus)
				began := time.Now()
				resp, err := h.find(t, "node", "a")
				got := "nil"
				switch {
				case err == nil:
					got = resp.Value.(widget).origin
				case !errors.Is(err, indirector.ErrNotFound):
					got = indirector.Message(err)
				}
				tr := h.keep.Last()
				if asked := strings.Join(main.asked, " ") + "|" + strings.Join(spare.asked, " "); got != tt.want || tr.Outcome != tt.out || asked != tt.asked || time.Since(began) != tt.took {
					t.Errorf("got %s, %v, asked %s, after %v", got, tr.Outcome, asked, time.Since(began))
				}
				span := ""
				if len(tr.Spans) > 0 {
					span = tr.Spans[0].Name
				}
				if span != tt.span {
					t.Errorf("spans: %+v", tr.Spans)
				}
				if w := tr.Primary.Winner(); w.Terminus != tt.terminus {
					t.Errorf("decided: %+v", w)
				}
			})
		})
	}
}

// The other verbs, the cache, and a request that names a wrapper itself.
func TestWrappersElsewhere(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	main, spare, cache := h.fakes["node/main"], h.fakes["node/spare"], h.fakes["node/cache"]
	h.assign(t, "node", indirector.SlotTerminus, "tee(main, spare)")
	h.assign(t, "node", indirector.SlotCache, "fault(cache, 'disk full', first=1)")
	if err := h.save(t, "node", "a"); err == nil || indirector.Message(err) != "disk full" || h.keep.Last().Outcome != traces.Part {
		t.Errorf("got %v, %v", err, h.keep.Last().Outcome)
	}
	if err := h.save(t, "node", "a"); err != nil || main.m["a"] == nil || spare.m["a"] == nil || cache.m["a"] == nil {
		t.Errorf("got %v", err)
	}
	if _, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Destroy, Key: "a"}); err != nil || main.m["a"] != nil || spare.m["a"] != nil {
		t.Errorf("got %v", err)
	}
	// The note on an injected answer reports that nothing was stored.
	_, err := h.Do(t.Context(), &indirector.Request{
		Indirection: "node", Verb: indirector.Save, Terminus: "fault(main, nil)", Instance: widget{name: "b"},
	})
	tr := h.keep.Last()
	if err != nil || tr.Outcome != traces.Sim || tr.Steps[traces.Terminus].Answer != traces.Nothing || main.m["b"] != nil || cache.m["b"] != nil {
		t.Errorf("got %v, %v: %+v", err, tr.Outcome, tr.Steps[traces.Terminus])
	}
	// Look writes nothing.
	main.m["c"] = widget{name: "c"}
	if _, err := h.Look(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "c", Terminus: "tee(main, spare)"}); err != nil || spare.m["c"] != nil {
		t.Errorf("got %v, kept %v", err, spare.m["c"])
	}
	// A wrapper is authorized by the wrapped terminus.
	main.authed = func() bool { return false }
	_, err = h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "c", Remote: &indirector.Remote{Node: "n"}})
	if !errors.Is(err, indirector.ErrDenied) {
		t.Errorf("got %v", err)
	}
}

// A wrapper counts from when it was chosen: what the finds of a come to, with
// what is done between them.
func TestWrappersCountAnew(t *testing.T) {
	t.Parallel()
	const once = "fault(main, broken, first=1)"
	for _, tt := range []struct {
		name, terminus string
		between        func(*testing.T, *fixture)
		want           string
		counts         string // after all
	}{
		{"nothing between", once, func(*testing.T, *fixture) {}, "broken main main", "acted 1 of 1 times, asked 3 times"},
		{"chosen once more", once, func(t *testing.T, h *fixture) { h.assign(t, "node", indirector.SlotTerminus, once) }, "broken broken broken", "acted 1 of 1 times, asked 1 times"},
		{"taken back and chosen", once, func(t *testing.T, h *fixture) {
			h.assign(t, "node", indirector.SlotTerminus, "main")
			h.assign(t, "node", indirector.SlotTerminus, once)
		}, "broken broken broken", "acted 1 of 1 times, asked 1 times"},
		{"undone and redone", once, func(t *testing.T, h *fixture) {
			h.SwapRoutes(h.SwapRoutes(indirector.Routes{"node": {Primary: traces.Slot{{Terminus: "main", Kind: traces.FromYou}}}}, "undo"), "redo")
		}, "broken broken broken", "acted 1 of 1 times, asked 1 times"},
		{"another route chosen", once, func(t *testing.T, h *fixture) { h.assign(t, "facts", indirector.SlotTerminus, "main") }, "broken main main", "acted 1 of 1 times, asked 3 times"},
		{"another slot chosen", once, func(t *testing.T, h *fixture) { h.assign(t, "node", indirector.SlotCache, "cache") }, "broken main main", "acted 1 of 1 times, asked 3 times"},
		{"in another wrapper", "retry(fault(main, broken, every=2), 1)", func(t *testing.T, h *fixture) {
			h.assign(t, "node", indirector.SlotTerminus, "retry(fault(main, broken, every=2), 1)")
		}, "main main main", "acted 0 times, asked 1 times, next at 2"},
		{"every second", "fault(main, broken, every=2)", func(*testing.T, *fixture) {}, "main broken main", "acted 1 times, asked 3 times, next at 4"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, nil)
			h.fakes["node/main"].m["a"] = widget{name: "a", origin: "main"}
			h.assign(t, "node", indirector.SlotTerminus, tt.terminus)
			var got []string
			for i := range 3 {
				if i > 0 {
					tt.between(t, h)
				}
				resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a", Flags: traces.IgnoreCache})
				if err != nil {
					got = append(got, indirector.Message(err))
				} else {
					got = append(got, resp.Value.(widget).origin)
				}
			}
			if got := strings.Join(got, " "); got != tt.want {
				t.Errorf("got %s, want %s", got, tt.want)
			}
			counts := h.WrapperCounts("node", indirector.SlotTerminus)
			if len(counts) != 1 || counts[0].String() != tt.counts {
				t.Errorf("counts: %v, want %s", counts, tt.counts)
			}
		})
	}
	t.Run("named by requests", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		h.assign(t, "node", indirector.SlotTerminus, "main")
		for range 2 {
			_, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a", Terminus: once})
			if err == nil || indirector.Message(err) != "broken" {
				t.Errorf("got %v, want broken", err)
			}
		}
		if counts := h.WrapperCounts("node", indirector.SlotTerminus); counts != nil {
			t.Errorf("counts of a route without wrappers: %v", counts)
		}
	})
}

func TestWrapperNames(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	for name, want := range map[string]string{
		"fault(absent, 503)":       `fault: node has no terminus "absent"`,
		"fault(main)":              "fault: with what? write a status, a text in quotes or nil",
		"fault(main, 200)":         "fault: 200 is no status of a failure; there are 400 to 599",
		"fault(main, 503, 0%)":     `fault: "0%": want a share from 0% to 100%`,
		"fault(main, 503, verb=x)": `fault: "x" is no verb`,
		"delay(main)":              "delay: how long? write 250ms or 2s",
		"delay(main, 3y)":          `delay: "3y": want a time such as 250ms or 2s`,
		"retry(main, 0)":           `retry: "0": want a number from 1 to 100`,
		"fallback(main)":           "fallback: want 2 termini",
		"tee(main, spare, x)":      `tee: "x" is not understood`,
		"fault(main, 'x)":          "fault: a quote or a parenthesis is not closed",
		"mirror(main)":             `no wrapper is called "mirror"; there are: fault, delay, retry, fallback, tee`,
		"retry(main":               "retry(main: want retry(TERMINUS, ...) with a parenthesis at the end",
		strings.Repeat("retry(", 12) + "main" + strings.Repeat(")", 12): "retry: more than 8 wrappers in each other",
		"fault(" + strings.Repeat("x", 2000) + ")":                      "the name of a terminus has at most 1000 bytes",
	} {
		err := h.Assign("node", indirector.SlotTerminus, traces.Choice{Terminus: name, Kind: traces.FromYou})
		f := (*indirector.Failure)(nil)
		if !errors.As(err, &f) || f.Hidden != want {
			t.Errorf("%.40s: got %v: %s", name, err, f.Hidden)
		}
	}
	// What is Puppet's names no wrappers.
	h.SwapRoutes(indirector.Routes{"node": {Primary: traces.Slot{{Terminus: "fault(main, 503)", Kind: traces.FromRoutesFile}}}}, "test")
	if _, err := h.find(t, "node", "a"); err == nil || indirector.Message(err) != "Could not find terminus fault(main, 503) for indirection node" {
		t.Errorf("got %v", err)
	}
}

func FuzzWrapper(f *testing.F) {
	for _, s := range []string{"fault(main, 503, 30%, first=2)", "retry(fallback(main, delay(spare, 1ms)), 2)", "tee(a,b", "fault('", "((("} {
		f.Add(s)
	}
	h := newFixture(f, nil)
	f.Fuzz(func(t *testing.T, name string) {
		err := h.Assign("node", indirector.SlotCache, traces.Choice{Terminus: name, Kind: traces.FromYou})
		if known := h.Registry().Descriptor("node", name) != nil; known != (err == nil) && name != indirector.Off {
			t.Errorf("%q: known %v, assigned %v", name, known, err)
		}
	})
}

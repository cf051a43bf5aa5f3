package ui_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/breaks"
	cacheplace "indirtui/ui/cache"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

// A hostileEngine keeps entries whose every text is hostile.
type hostileEngine struct{ r *rand.Rand }

func (h hostileEngine) Explain(string) (indirector.Route, bool) {
	slot := traces.Slot{{Terminus: uitest.HostileText(h.r), Kind: traces.FromYou, Source: uitest.HostileText(h.r)}}
	return indirector.Route{Primary: slot, Cache: slot}, true
}

func (h hostileEngine) Walk(_ context.Context, yield func(indirector.Entry) bool, _ ...string) error {
	r := rand.New(rand.NewPCG(1, 2)) // it is called from another goroutine
	for i := range 20 {
		e := indirector.Entry{
			Indirection: uitest.HostileText(r), Terminus: uitest.HostileText(r), Key: uitest.HostileText(r), Path: uitest.HostileText(r), Size: r.Int64N(1e12) - 1,
			Written: uitest.Began.Add(-time.Duration(r.Int64N(1e16))), KeepsExpiry: i%2 == 0,
		}
		if i%3 == 0 {
			e.Expiration = uitest.Began.Add(time.Duration(r.Int64N(1e15)) - 5e14)
		}
		if i%7 == 0 {
			e.Err = errors.New(uitest.HostileText(r))
		}
		if !yield(e) {
			return nil
		}
	}
	return errors.New(uitest.HostileText(r))
}

func (h hostileEngine) Plan(context.Context, *indirector.Request, indirector.Routes) indirector.Forecast {
	return indirector.Forecast{Why: uitest.Hostile()[3] + uitest.Hostile()[4]}
}

func (h hostileEngine) Ask(context.Context, *indirector.Request) (indirector.Response, error) {
	return indirector.Response{}, errors.New(uitest.Hostile()[1] + uitest.Hostile()[5])
}

func (h hostileEngine) Writes() bool { return true }

// hostileBreaks is a debugger that holds requests for hostile keys, and has
// breakpoints that name them.
func hostileBreaks(t testing.TB, r *rand.Rand) *debugger.Debugger {
	t.Helper()
	d, err := debugger.New(debugger.Options{HoldLimit: -1})
	if err != nil {
		t.Fatal(err)
	}
	find := finder(func(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
		return &inst{key: req.Key, json: "{}"}, nil
	})
	registry, err := indirector.NewRegistry([]indirector.Spec{{Name: "facts", Class: "Puppet::Node::Facts", Model: func(indirector.Instance) bool { return true }, Default: "script"}},
		[]indirector.Descriptor{{Indirection: "facts", Name: "script", Doc: "Answers.", Type: find, New: func(indirector.Env) (indirector.Terminus, error) { return find, nil }}})
	if err != nil {
		t.Fatal(err)
	}
	log, err := store.Open(store.Options{})
	if err != nil {
		t.Fatal(err)
	}
	engine, err := indirector.New(indirector.Config{
		Registry: registry, Recorder: log, Debugger: d,
		Routes: indirector.Routes{"facts": {Primary: traces.Slot{{Terminus: "script", Kind: traces.FromSetting, Source: uitest.Hostile()[1]}}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	b, err := debugger.Parse("before terminus do hold")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := d.Add(b); err != nil {
		t.Fatal(err)
	}
	for range 3 {
		if b, err := debugger.Parse("key=" + query.Quote(uitest.HostileText(r)) + " before terminus do log"); err == nil {
			_, _ = d.Add(b) // what is not kept
		}
	}
	var asked sync.WaitGroup
	for range 3 {
		req := &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: uitest.HostileText(r) + "x", Options: []indirector.Option{{Name: uitest.HostileText(r), Value: uitest.HostileText(r)}}}
		before := len(d.Held())
		asked.Go(func() { _, _ = engine.Do(t.Context(), req) })
		for len(d.Held()) == before {
			<-d.Changed()
		}
	}
	t.Cleanup(func() {
		d.Close()
		asked.Wait()
		_ = engine.Close()
		_ = log.Close()
	})
	return d
}

// keysToPress are those that show something. Text is typed into prompts.
var keysToPress = []string{
	"j", "k", "G", "g", "enter", "enter", "esc", "tab", "l", "L", "h", "H", "v", "v", "1", "2", "D", "d", "space", "y", "f", "o", ".", "i", "t",
	"<", ">", "]", "[", "}", "{", "/", "x\x1b", "e", "ctrl+u", ":", "log", "w", "story", "n", "N", "F", "6j", "m", "a", "'", "a", "z", "Z", "q", "~", "?", "ctrl+p", "backspace",
	"3", "4", "4", "5", "5", "b", "B", "c", "s", "O", "u", "u", "X", "I", "=", "T", "M", "R", "r", "L", "ctrl+r", "down", "up",
}

// Whatever the data, the size and the keys: exactly height lines of at most
// width cells, and nothing in them that a terminal obeys.
func TestAnyFrameIsExact(t *testing.T) {
	t.Parallel()
	for seed := range uint64(51) { // of which 50 has failed before
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			playAtRandom(t, seed, 60)
		})
	}
}

// TestFewKeys is the same for a few keys in many sizes, over logs that are made
// once. It is no fuzz target, as each input builds a program; what single texts
// may be is FuzzText's.
func TestFewKeys(t *testing.T) {
	t.Parallel()
	var logs [4]*store.Store
	for i := range logs {
		logs[i] = uitest.HostileLog(t, rand.New(rand.NewPCG(uint64(i), 7)), 30)
	}
	r := rand.New(rand.NewPCG(0, 8))
	for range 2000 {
		log, width, height := r.IntN(len(logs)), 1+r.IntN(160), 1+r.IntN(50)
		p := uitest.New(t, ui.Config{
			Log: logs[log], Theme: &term.Theme{Glyphs: term.Unicode},
			Save: func(string, string) (string, int, error) { return "f", 0, nil },
		}, width, height)
		var keys []string
		for range r.IntN(8) {
			if keys = append(keys, keysToPress[r.IntN(len(keysToPress))]); p.Quit {
				break
			}
			p.Keys(keys[len(keys)-1])
		}
		if !p.Quit {
			p.Exact()
		}
		if t.Failed() {
			t.Fatalf("log %d, %dx%d, keys %q", log, width, height, keys)
		}
	}
}

func playAtRandom(t *testing.T, seed uint64, n int) {
	r := rand.New(rand.NewPCG(seed, 7))
	width, height := 1+r.IntN(200), 1+r.IntN(60)
	th := &term.Theme{Glyphs: term.Unicode}
	d := hostileBreaks(t, r)
	p := uitest.New(t, ui.Config{
		Log: uitest.HostileLog(t, r, 30), Theme: th, Save: func(string, string) (string, int, error) { return "f", 0, nil }, Debugger: d,
		Places: func(env *session.Env) []ui.Place {
			return []ui.Place{
				{Key: "4", Name: "Cache", Screen: cacheplace.New(t.Context(), env, hostileEngine{r})}, {Key: "5", Name: "Breaks", Screen: breaks.New(env)},
			}
		},
	}, width, height)
	for range n {
		if p.Quit {
			return
		}
		p.Keys(keysToPress[r.IntN(len(keysToPress))])
		if r.IntN(6) == 0 {
			p.Size(1+r.IntN(200), 1+r.IntN(60))
		}
		p.Exact()
	}
}

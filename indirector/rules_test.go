package indirector_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/terminustest"
	"indirtui/traces"
)

// fake is a terminus whose verbs can be made to fail.
type fake struct {
	mem
	fail   map[indirector.Verb]error
	authed func() bool
	asked  []string
}

func newFake() *fake {
	return &fake{mem: mem{m: map[string]indirector.Instance{}}, fail: map[indirector.Verb]error{}}
}

func (f *fake) did(verb indirector.Verb) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked = append(f.asked, verb.String())
	return f.fail[verb]
}

func (f *fake) Find(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
	if err := f.did(indirector.Find); err != nil {
		return nil, err
	}
	return f.mem.Find(ctx, r)
}

func (f *fake) Search(ctx context.Context, r *indirector.Request) ([]indirector.Instance, error) {
	if err := f.did(indirector.Search); err != nil {
		return nil, err
	}
	return f.mem.Search(ctx, r)
}

func (f *fake) Head(ctx context.Context, r *indirector.Request) (bool, error) {
	if err := f.did(indirector.Head); err != nil {
		return false, err
	}
	return f.mem.Head(ctx, r)
}

func (f *fake) Save(ctx context.Context, r *indirector.Request) (any, error) {
	if err := f.did(indirector.Save); err != nil {
		return nil, err
	}
	return f.mem.Save(ctx, r)
}

func (f *fake) Destroy(ctx context.Context, r *indirector.Request) (any, error) {
	if err := f.did(indirector.Destroy); err != nil {
		return nil, err
	}
	return f.mem.Destroy(ctx, r)
}

func (f *fake) Authorized(context.Context, *indirector.Request) bool {
	return f.authed == nil || f.authed()
}

// finder can do nothing but find.
type finder struct{ err error }

func (f finder) Find(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
	if f.err != nil {
		return nil, f.err
	}
	return widget{name: r.Key, origin: "finder"}, nil
}

func isWidget(i indirector.Instance) bool { _, ok := i.(widget); return ok }

var specs = []indirector.Spec{
	{Name: "facts", Class: "Facts", Setting: "facts_terminus", Model: isWidget, BeforeSave: indirector.ExpireNode},
	{Name: "node", Class: "Node", Setting: "node_terminus", Model: isWidget},
	{Name: "report", Class: "Report", Default: "main", Model: isWidget},
}

// fixture is an Indirector over fakes, and the fakes by "indirection/terminus".
type fixture struct {
	*indirector.Indirector
	fakes map[string]*fake
	keep  *terminustest.Recorder
}

func newFixture(t testing.TB, change func(*indirector.Config, *[]indirector.Descriptor)) *fixture {
	t.Helper()
	h := &fixture{fakes: map[string]*fake{}, keep: new(terminustest.Recorder)}
	var termini []indirector.Descriptor
	routes := indirector.Routes{}
	for _, s := range specs {
		for _, name := range []string{"main", "cache", "spare"} {
			f := newFake()
			h.fakes[s.Name+"/"+name] = f
			termini = append(termini, indirector.Descriptor{
				Indirection: s.Name, Name: name, KeepsExpiry: true, Type: f,
				New: func(indirector.Env) (indirector.Terminus, error) { return f, nil },
			})
		}
		source := traces.FromDeclaration
		if s.Setting != "" {
			source = traces.FromSetting
		}
		routes[s.Name] = indirector.Route{Primary: traces.Slot{{Terminus: "main", Kind: source, Source: "test"}}}
	}
	cfg := indirector.Config{Routes: routes, Recorder: h.keep, Settings: settings{"runinterval": "30m"}}
	if change != nil {
		change(&cfg, &termini)
	}
	reg, err := indirector.NewRegistry(specs, termini)
	if err != nil {
		t.Fatal(err)
	}
	cfg.Registry = reg
	if h.Indirector, err = indirector.New(cfg); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := h.Close(); err != nil {
			t.Error(err)
		}
	})
	return h
}

func (h *fixture) assign(t testing.TB, ind, slot, terminus string) {
	t.Helper()
	if err := h.Assign(ind, slot, traces.Choice{Terminus: terminus, Kind: traces.FromYou, Source: "test"}); err != nil {
		t.Fatal(err)
	}
}

func (h *fixture) find(t testing.TB, ind, key string) (indirector.Response, error) {
	t.Helper()
	return h.Do(t.Context(), &indirector.Request{Indirection: ind, Verb: indirector.Find, Key: key})
}

func (h *fixture) save(t testing.TB, ind, key string) error {
	t.Helper()
	_, err := h.Do(t.Context(), &indirector.Request{Indirection: ind, Verb: indirector.Save, Instance: widget{name: key, origin: "saved"}})
	return err
}

func TestRegistry(t *testing.T) {
	t.Parallel()
	d := func(ind, name string) indirector.Descriptor {
		return indirector.Descriptor{Indirection: ind, Name: name, Type: finder{}, New: func(indirector.Env) (indirector.Terminus, error) { return finder{}, nil }}
	}
	for _, tt := range []struct {
		name    string
		specs   []indirector.Spec
		termini []indirector.Descriptor
		want    string
	}{
		{"IND-REG-02 twice", []indirector.Spec{{Name: "a", Class: "A", Default: "x"}, {Name: "a", Class: "B", Default: "x"}}, nil, "Indirection a is already defined"},
		{"IND-REG-03 one model twice", []indirector.Spec{{Name: "a", Class: "A", Default: "x"}, {Name: "b", Class: "A", Default: "x"}}, nil, "Already handling indirection for a; cannot also handle b"},
		{"IND-REG-04 nothing declared", []indirector.Spec{{Name: "a", Class: "A"}}, nil, "neither a terminus nor a setting"},
		{"IND-TERM-04 unknown indirection", nil, []indirector.Descriptor{d("zzz", "x")}, "Could not find indirection instance zzz for x"},
		{"terminus twice", specs, []indirector.Descriptor{d("node", "x"), d("node", "x")}, "terminus x of node is described twice"},
		{"IND-TERM-12 no verb", specs, []indirector.Descriptor{{Indirection: "node", Name: "x", Type: struct{}{}}}, "has no verb"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if _, err := indirector.NewRegistry(tt.specs, tt.termini); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	reg, err := indirector.NewRegistry(specs, []indirector.Descriptor{d("node", "exec"), d("node", "yaml")})
	if err != nil {
		t.Fatal(err)
	}
	t.Run("IND-REG-01 names in order, exact", func(t *testing.T) {
		if got := reg.Names(); !slices.Equal(got, []string{"facts", "node", "report"}) {
			t.Errorf("got %v", got)
		}
		if reg.Spec("Node") != nil || reg.Spec("node") == nil {
			t.Error("names are not exact")
		}
	})
	t.Run("nearest names", func(t *testing.T) {
		if got := reg.Nearest("nodes"); got != "node" {
			t.Errorf("got %q, want node", got)
		}
		if got := reg.NearestTerminus("node", "exce"); got != "exec" {
			t.Errorf("got %q, want exec", got)
		}
	})
	t.Run("IND-TERM-02 names and constants", func(t *testing.T) {
		for name, want := range map[string]string{"file_server": "FileServer", "yaml": "Yaml", "file_bucket_file": "FileBucketFile"} {
			if got := indirector.Constant(name); got != want {
				t.Errorf("Constant(%s): got %s, want %s", name, got, want)
			}
		}
	})
}

func (h *fixture) winner(indirection string) string {
	r, _ := h.Explain(indirection)
	return r.Primary.Winner().Terminus
}

func TestSelection(t *testing.T) {
	t.Parallel()
	t.Run("IND-SEL-01 the strongest source wins, whenever it spoke", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		for _, c := range []traces.Choice{{Terminus: "spare", Kind: traces.FromYou}, {Terminus: "cache", Kind: traces.FromRoutesFile}} {
			if err := h.Assign("node", indirector.SlotTerminus, c); err != nil {
				t.Fatal(err)
			}
		}
		if got := h.winner("node"); got != "spare" {
			t.Errorf("got %s, want spare", got)
		}
		h.Withdraw("node", traces.FromYou)
		if got := h.winner("node"); got != "cache" {
			t.Errorf("after withdrawing: got %s, want cache", got)
		}
	})
	t.Run("IND-SEL-03 IND-SEL-04 a terminus fixed in code, withdrawn, leaves nothing", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		h.Withdraw("report", traces.FromDeclaration)
		_, err := h.find(t, "report", "a")
		if got := indirector.Message(err); got != "No terminus class nor terminus setting was provided for indirection report" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("IND-SEL-05 bad names change nothing", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		for name, want := range map[string]string{"": `Invalid terminus name ""`, "mian": "Could not find terminus mian for indirection node"} {
			err := h.Assign("node", indirector.SlotTerminus, traces.Choice{Terminus: name, Kind: traces.FromYou})
			if got := indirector.Message(err); got != want {
				t.Errorf("got %q, want %q", got, want)
			}
			if f := (*indirector.Failure)(nil); name != "" && (!errors.As(err, &f) || !strings.HasPrefix(f.Hidden, "nearest: main;")) {
				t.Errorf("no help: %#v", err)
			}
		}
		if got := h.winner("node"); got != "main" || len(h.Journal()) != 0 {
			t.Errorf("something changed: %s %v", got, h.Journal())
		}
	})
	t.Run("IND-SEL-06 a cache can be switched off, and none is no terminus", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		h.assign(t, "node", indirector.SlotCache, "cache")
		if err := h.Assign("node", indirector.SlotCache, traces.Choice{Terminus: "none", Kind: traces.FromYou}); err == nil {
			t.Error("none was accepted")
		}
		h.assign(t, "node", indirector.SlotCache, indirector.Off)
		h.fakes["node/main"].m["a"] = widget{name: "a"}
		if _, err := h.find(t, "node", "a"); err != nil {
			t.Fatal(err)
		}
		if asked := h.fakes["node/cache"].asked; len(asked) != 0 {
			t.Errorf("cache was asked: %v", asked)
		}
	})
	t.Run("IND-SEL-09 a thread has its own choice", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		thread := h.Thread("worker 1")
		if err := thread.Assign("node", indirector.SlotTerminus, "spare"); err != nil {
			t.Fatal(err)
		}
		h.fakes["node/spare"].m["a"] = widget{name: "a"}
		req := &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a"}
		if _, err := thread.Do(t.Context(), req); err != nil {
			t.Error(err)
		}
		if got := traces.Story(h.keep.Last()); got != `only thread "worker 1" has another terminus (spare)` { // S-41
			t.Errorf("story: %q", got)
		}
		if _, err := h.Do(t.Context(), req); !errors.Is(err, indirector.ErrNotFound) {
			t.Errorf("the other thread sees it: %v", err)
		}
		if err := thread.Assign("node", "ttl", "1"); indirector.Message(err) != "The setting ttl is not a valid indirection setting." {
			t.Errorf("got %v", err)
		}
	})
}

func TestConstructors(t *testing.T) {
	t.Parallel()
	t.Run("IND-TERM-10 a constructor runs once and fails at every use", func(t *testing.T) {
		t.Parallel()
		made := 0
		h := newFixture(t, func(_ *indirector.Config, ds *[]indirector.Descriptor) {
			*ds = append(*ds, indirector.Descriptor{
				Indirection: "node", Name: "broken", Type: finder{},
				New: func(indirector.Env) (indirector.Terminus, error) { made++; return nil, errors.New("no library") },
			})
		})
		h.assign(t, "node", indirector.SlotTerminus, "broken")
		for range 2 {
			if _, err := h.find(t, "node", "a"); indirector.Message(err) != "no library" {
				t.Errorf("got %v", err)
			}
		}
		if made != 1 {
			t.Errorf("made %d times", made)
		}
	})
	t.Run("IND-PREP-01 a pure cache read fails when the primary cannot be made", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		h.assign(t, "node", indirector.SlotCache, "cache")
		h.fakes["node/cache"].m["a"] = widget{name: "a"}
		req := &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a", Terminus: "puppetdb", Flags: traces.IgnoreTerminus}
		_, err := h.Do(t.Context(), req)
		if got := indirector.Message(err); got != "Could not find terminus puppetdb for indirection node" {
			t.Errorf("got %q", got)
		}
	})
	t.Run("IND-TERM-09 S-39 symbol and string are two singletons with the quirk", func(t *testing.T) {
		t.Parallel()
		for _, quirk := range []bool{false, true} {
			h := newFixture(t, func(cfg *indirector.Config, ds *[]indirector.Descriptor) {
				cfg.Quirks = map[string]bool{"IND-TERM-09": quirk}
				*ds = append(*ds, indirector.Descriptor{
					Indirection: "node", Name: "memory", Type: newFake(),
					New: func(indirector.Env) (indirector.Terminus, error) { return newFake(), nil },
				})
			})
			choose := func(symbol bool) {
				if err := h.Assign("node", indirector.SlotTerminus, traces.Choice{Terminus: "memory", Kind: traces.FromYou, Symbol: symbol}); err != nil {
					t.Fatal(err)
				}
			}
			choose(true)
			if err := h.save(t, "node", "a"); err != nil {
				t.Fatal(err)
			}
			choose(false)
			_, err := h.find(t, "node", "a")
			if lost := errors.Is(err, indirector.ErrNotFound); lost != quirk {
				t.Errorf("quirk %v: got %v", quirk, err)
			}
			if quirk && !strings.HasSuffix(traces.Story(h.keep.Last()), "and :memory from code are two different stores") {
				t.Errorf("story: %q", traces.Story(h.keep.Last()))
			}
		}
	})
}

func TestTTL(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	if got := h.TTL("node"); got != 30*time.Minute {
		t.Errorf("IND-EXP-02: got %v, want runinterval", got)
	}
	for _, tt := range []struct {
		ttl  string
		want time.Duration
		err  bool
	}{
		{"60", time.Minute, false},
		{"0", 0, false},
		{"-5", -5 * time.Second, false},
		{"1m", -5 * time.Second, true},
		{"", -5 * time.Second, true},
		{"9000000000", -5 * time.Second, true},
	} {
		err := h.Assign("node", indirector.SlotTTL, traces.Choice{Terminus: tt.ttl, Kind: traces.FromYou, Source: "test"})
		if got := h.TTL("node"); got != tt.want || (err != nil) != tt.err {
			t.Errorf("IND-EXP-02: set to %q: got %v, %v, want %v", tt.ttl, got, err, tt.want)
		}
		if err != nil && indirector.Message(err) != "Indirection TTL must be an integer" {
			t.Errorf("IND-EXP-02: got %v", err)
		}
	}
	if got := h.TTL("facts"); got != 30*time.Minute {
		t.Errorf("IND-EXP-02: got %v for another indirection", got)
	}
	plan := h.Plan(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a"}, nil)
	if got := plan.Steps[traces.ExpirySet].Because.About; got != "now + -5 s, you test" {
		t.Errorf("the plan has %q", got)
	}
	h.Withdraw("node", traces.FromYou)
	if got := h.TTL("node"); got != 30*time.Minute {
		t.Errorf("IND-EXP-02: got %v after it was taken back", got)
	}
	for s, want := range map[string]time.Duration{"1800": 30 * time.Minute, "2h": 2 * time.Hour, "1d": 24 * time.Hour, "1y": 365 * 24 * time.Hour, "5s": 5 * time.Second} {
		if got, err := indirector.ParseDuration(s); err != nil || got != want {
			t.Errorf("ParseDuration(%s): got %v, %v", s, got, err)
		}
	}
}

// Gap L1: no global state, a journal, snapshots, no race.
func TestClosureL1(t *testing.T) {
	t.Parallel()
	t.Run("two share nothing", func(t *testing.T) {
		t.Parallel()
		a, b := newFixture(t, nil), newFixture(t, nil)
		b.assign(t, "facts", indirector.SlotTerminus, "spare")
		for i := range 4 {
			if err := errors.Join(a.save(t, "facts", fmt.Sprint("a", i)), b.save(t, "facts", fmt.Sprint("b", i))); err != nil {
				t.Fatal(err)
			}
		}
		if len(a.fakes["facts/main"].m) != 4 || len(a.fakes["facts/spare"].m) != 0 || len(b.fakes["facts/main"].m) != 0 || len(b.fakes["facts/spare"].m) != 4 {
			t.Error("leakage")
		}
	})
	t.Run("every change is in the journal and can be undone", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		h.assign(t, "facts", indirector.SlotTerminus, "spare")
		h.assign(t, "facts", indirector.SlotCache, "cache")
		j := h.Journal()
		if len(j) != 2 || j[0].Old.Terminus != "main" || j[0].New.Terminus != "spare" || j[0].At.IsZero() || j[1].Slot != indirector.SlotCache {
			t.Fatalf("got %+v", j)
		}
		h.SwapRoutes(j[0].Before(), "undo")
		if r, _ := h.Explain("facts"); r.Primary.Winner().Terminus != "main" || r.Cache.Winner().Terminus != "" {
			t.Errorf("not restored: %+v", r)
		}
	})
	t.Run("a hundred goroutines switch and call", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		var wg sync.WaitGroup
		for i := range 100 {
			wg.Go(func() {
				h.assign(t, "facts", indirector.SlotTerminus, []string{"main", "spare"}[i%2])
				if err := h.save(t, "facts", "a"); err != nil {
					t.Error(err)
				}
				if _, err := h.find(t, "facts", "a"); err != nil && !errors.Is(err, indirector.ErrNotFound) {
					t.Error(err)
				}
			})
		}
		wg.Wait()
		if got := len(h.Journal()); got != 100 {
			t.Errorf("got %d changes", got)
		}
	})
}

// Gap L2: every slot and ttl of every indirection can be set by every source.
func TestClosureL2(t *testing.T) {
	t.Parallel()
	for source := traces.FromDeclaration; source <= traces.FromYou; source++ {
		h := newFixture(t, nil)
		for _, name := range h.Registry().Names() {
			for slot, terminus := range map[string]string{indirector.SlotTerminus: "spare", indirector.SlotCache: "cache", indirector.SlotTTL: "60"} {
				c := traces.Choice{Terminus: terminus, Kind: source, Source: "here"}
				if err := h.Assign(name, slot, c); err != nil {
					t.Fatal(err)
				}
				r, _ := h.Explain(name)
				got := r.Slot(slot)
				i := slices.IndexFunc(got, func(c traces.Choice) bool { return c.Kind == source && c.Source == "here" })
				if i < 0 {
					t.Errorf("%s %s: %v left no mark: %+v", name, slot, source, got)
				}
				if slot != indirector.SlotTerminus && got.Winner().Kind != source {
					t.Errorf("%s %s: %v does not decide", name, slot, source)
				}
			}
		}
	}
}

// Gap L3: a call names its own terminus and cache, and the table is untouched.
func TestClosureL3(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.fakes["node/spare"].m["a"] = widget{name: "a"}
	before := h.Routes()
	got, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a", Terminus: "spare"})
	if err != nil {
		t.Fatal(err)
	}
	save := &indirector.Request{Indirection: "node", Verb: indirector.Save, Instance: got.Instance(), Terminus: "cache"}
	if _, err := h.Do(t.Context(), save); err != nil || h.fakes["node/cache"].m["a"] == nil {
		t.Errorf("find here, save there: %v", err)
	}
	h.fakes["node/spare"].fail[indirector.Find] = errors.New("down")
	if _, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a", Terminus: "spare", Cache: indirector.Off}); err == nil {
		t.Error("no error")
	}
	if len(h.Journal()) != 0 || fmt.Sprint(h.Routes()) != fmt.Sprint(before) {
		t.Error("the table changed")
	}
	w := h.keep.Last().Primary.Winner()
	if w.Terminus != "spare" || w.Kind != traces.FromRequest || len(h.keep.Last().Primary) != 2 {
		t.Errorf("provenance: %+v", h.keep.Last().Primary)
	}
	// Whatever source a call names, it is asked before what the table has.
	stronger := traces.Choice{Terminus: "main", Kind: traces.FromRoutesFile, Source: "routes.yaml:4"}
	if err := h.Assign("node", indirector.SlotTerminus, stronger); err != nil {
		t.Fatal(err)
	}
	_, _ = h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Head, Key: "a", Terminus: "spare", By: traces.FromApplication, Source: "proxy"})
	if w := h.keep.Last().Primary.Winner(); w.Terminus != "spare" || w.Source != "proxy" {
		t.Errorf("provenance of an application's own: %+v", h.keep.Last().Primary)
	}
}

// Gap L4: a second destination is a role of its own. One that only takes is
// never read, whether its saves succeed or not, and there may be several; a
// cache is read and written; a fallback is asked when the first fails.
func TestClosureL4(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	main, spare, cache := h.fakes["node/main"], h.fakes["node/spare"], h.fakes["node/cache"]
	for _, sink := range []*fake{spare, cache} {
		sink.fail[indirector.Find] = errors.New("a sink was read")
		sink.fail[indirector.Search] = errors.New("a sink was read")
	}
	h.assign(t, "node", indirector.SlotTerminus, "tee(tee(main, spare), cache)")
	if err := h.save(t, "node", "a"); err != nil || main.m["a"] == nil || spare.m["a"] == nil || cache.m["a"] == nil {
		t.Errorf("save to all three: %v", err)
	}
	main.m["b"] = widget{name: "b"}
	for _, key := range []string{"a", "b"} {
		if _, err := h.find(t, "node", key); err != nil {
			t.Errorf("find %s: %v", key, err)
		}
	}
	if spare.m["b"] == nil || cache.m["b"] == nil {
		t.Error("what was found is not kept by the sinks")
	}
	if _, err := h.find(t, "node", "none"); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("what only a sink could have: got %v, want not found", err)
	}
	spare.fail[indirector.Save] = errors.New("full")
	if err := h.save(t, "node", "c"); err != nil || main.m["c"] == nil || cache.m["c"] == nil {
		t.Errorf("save with a sink that is full: %v", err)
	}
	if h.keep.Last().Outcome != traces.ErrHidden {
		t.Errorf("a sink that is full: got %v, want a hidden error", h.keep.Last().Outcome)
	}

	h.assign(t, "node", indirector.SlotTerminus, "fallback(main, spare)")
	spare.fail[indirector.Find], spare.m["d"] = nil, widget{name: "d"}
	main.fail[indirector.Find] = errors.New("down")
	if _, err := h.find(t, "node", "d"); err != nil {
		t.Errorf("fallback: %v", err)
	}
}

// Gap L5: flags are seen, and those without effect are named.
func TestClosureL5(t *testing.T) {
	t.Parallel()
	all := traces.IgnoreCache | traces.IgnoreCacheSave | traces.IgnoreTerminus
	for verb, idle := range map[indirector.Verb]traces.Flags{
		indirector.Find:    0,
		indirector.Head:    traces.IgnoreCacheSave | traces.IgnoreTerminus, // IND-HEAD-02
		indirector.Search:  all,                                            // IND-SRCH-01
		indirector.Save:    traces.IgnoreCache,                             // IND-SAVE-03
		indirector.Destroy: all,                                            // IND-DEST-02
	} {
		h := newFixture(t, nil)
		h.assign(t, "node", indirector.SlotCache, "cache")
		req := &indirector.Request{Indirection: "node", Verb: verb, Key: "a", Flags: all, Caller: "configurer"}
		if verb == indirector.Save {
			req.Instance = widget{name: "a"}
		}
		_, _ = h.Do(t.Context(), req)
		got := h.keep.Last()
		if got.Flags != all || got.Idle != idle || got.Caller != "configurer" {
			t.Errorf("%s: got flags %v, idle %v, want idle %v", verb, got.Flags.Names(), got.Idle.Names(), idle.Names())
		}
	}
}

// Gap L7: eight stages, each verb; every error names where it began, and what
// had been done.
func TestClosureL7(t *testing.T) {
	t.Parallel()
	down := errors.New("down")
	type want struct {
		origin  string // "" if the caller sees no error
		outcome traces.Outcome
	}
	verbs := []indirector.Verb{indirector.Find, indirector.Search, indirector.Head, indirector.Save, indirector.Destroy}
	for stage, tt := range map[string]struct {
		inject func(*fixture, *indirector.Request)
		want   map[indirector.Verb]want
	}{
		"select": {
			func(_ *fixture, r *indirector.Request) { r.Terminus = "nowhere" },
			all5(verbs, want{"route", traces.Err}),
		},
		"construct": {
			func(_ *fixture, r *indirector.Request) { r.Terminus = "broken" },
			all5(verbs, want{"route", traces.Err}),
		},
		"authorize": {
			func(h *fixture, r *indirector.Request) {
				r.Remote = &indirector.Remote{Node: "n"}
				h.fakes["node/main"].authed = func() bool { return false }
			},
			all5(verbs, want{"authorize", traces.Err}),
		},
		"validate": {
			func(_ *fixture, r *indirector.Request) {
				if r.Instance != nil {
					r.Instance = widget{name: "b"}
				}
			},
			map[indirector.Verb]want{indirector.Save: {"validate", traces.Err}},
		},
		"cache.read": {
			func(h *fixture, _ *indirector.Request) { h.fakes["node/cache"].fail[indirector.Find] = down },
			map[indirector.Verb]want{
				indirector.Find: {"", traces.ErrHidden}, indirector.Head: {"", traces.ErrHidden},
				indirector.Search: {"", traces.Good}, indirector.Save: {"", traces.Good},
				indirector.Destroy: {"cache-write cache", traces.Part},
			},
		},
		"primary": {
			func(h *fixture, _ *indirector.Request) {
				for _, v := range verbs {
					h.fakes["node/main"].fail[v] = down
				}
			},
			all5(verbs, want{"terminus main", traces.Err}),
		},
		"cache.write": {
			func(h *fixture, _ *indirector.Request) {
				h.fakes["node/cache"].fail[indirector.Save] = down
				h.fakes["node/cache"].fail[indirector.Destroy] = down
			},
			map[indirector.Verb]want{
				indirector.Find: {"cache-write cache", traces.Err}, indirector.Head: {"", traces.Good},
				indirector.Search: {"", traces.Good}, indirector.Save: {"cache-write cache", traces.Part},
				indirector.Destroy: {"", traces.Good}, // nothing is cached, so nothing is destroyed there
			},
		},
		"filter": {
			func(_ *fixture, r *indirector.Request) { r.Terminus = "filtering" },
			map[indirector.Verb]want{indirector.Find: {"filter filtering", traces.Err}},
		},
	} {
		for _, verb := range verbs {
			expected, ok := tt.want[verb]
			if !ok {
				continue
			}
			t.Run(stage+" "+verb.String(), func(t *testing.T) {
				t.Parallel()
				h := newFixture(t, func(_ *indirector.Config, ds *[]indirector.Descriptor) {
					*ds = append(*ds,
						indirector.Descriptor{Indirection: "node", Name: "broken", Type: finder{}, New: func(indirector.Env) (indirector.Terminus, error) { return nil, down }},
						indirector.Descriptor{Indirection: "node", Name: "filtering", Type: failingFilter{}, New: func(indirector.Env) (indirector.Terminus, error) { return failingFilter{}, nil }})
				})
				h.assign(t, "node", indirector.SlotCache, "cache")
				h.fakes["node/main"].m["a"] = widget{name: "a"}
				req := &indirector.Request{Indirection: "node", Verb: verb, Key: "a"}
				if verb == indirector.Save {
					req.Instance = widget{name: "a"}
				}
				tt.inject(h, req)
				_, err := h.Do(t.Context(), req)
				got := h.keep.Last()
				if got.Outcome != expected.outcome {
					t.Errorf("outcome: got %v, want %v", got.Outcome, expected.outcome)
				}
				e := (*indirector.Error)(nil)
				switch {
				case expected.origin == "" && err != nil:
					t.Errorf("got %v", err)
				case expected.origin != "" && !errors.As(err, &e):
					t.Errorf("got %v, want origin %s", err, expected.origin)
				case e != nil && (e.Origin != expected.origin || e.Point.Indirection != "node" || e.Key != "a"):
					t.Errorf("got %+v, want origin %s", e, expected.origin)
				case e != nil && expected.outcome == traces.Part && len(e.Done) == 0:
					t.Error("the error does not say what had been done")
				}
				if expected.outcome == traces.ErrHidden && (len(got.Faults) != 1 || got.Faults[0].Shown || got.Faults[0].Origin != "cache-read cache") {
					t.Errorf("the swallowed error is not in the trace: %+v", got.Faults)
				}
			})
		}
	}
}

func all5[V any](verbs []indirector.Verb, v V) map[indirector.Verb]V {
	m := map[indirector.Verb]V{}
	for _, verb := range verbs {
		m[verb] = v
	}
	return m
}

type failingFilter struct{ finder }

func (failingFilter) Filter(context.Context, indirector.Instance) (indirector.Instance, error) {
	return nil, errors.New("filter broke")
}

// Gap L11: a terminus is made of another in a few lines, which Puppet does not
// forbid either (rule IND-TERM-06); a missing verb is a typed error that names
// it.
func TestClosureL11(t *testing.T) {
	t.Parallel()
	h := newFixture(t, func(_ *indirector.Config, ds *[]indirector.Descriptor) {
		*ds = append(*ds,
			indirector.Descriptor{
				Indirection: "facts", Name: "main_apply", Type: applied{},
				New: func(env indirector.Env) (indirector.Terminus, error) {
					main, err := env.Sibling("main")
					return applied{indirector.VerbsOf(main)}, err
				},
			},
			indirector.Descriptor{Indirection: "node", Name: "finder", Type: finder{}, New: func(indirector.Env) (indirector.Terminus, error) { return finder{}, nil }})
	})
	h.assign(t, "facts", indirector.SlotTerminus, "main_apply")
	if err := h.save(t, "facts", "a"); err != nil {
		t.Fatal(err)
	}
	if _, err := h.find(t, "facts", "a"); !errors.Is(err, indirector.ErrNotFound) || h.fakes["facts/main"].m["a"] == nil {
		t.Errorf("saved to main, never found there: %v", err)
	}
	h.assign(t, "node", indirector.SlotTerminus, "finder")
	_, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Head, Key: "a"})
	v := (*indirector.VerbError)(nil)
	if !errors.As(err, &v) || v.Verb != indirector.Head || v.Terminus != "finder" || !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("IND-TERM-12: got %v", err)
	}
	if got := traces.Story(h.keep.Last()); got != "terminus finder cannot do head" { // S-36
		t.Errorf("story: %q", got)
	}
}

// applied saves to another terminus of its indirection and finds nothing, as
// facts/puppetdb_apply does.
type applied struct{ main indirector.Verbs }

func (applied) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.NotFound(traces.AlwaysNil, "main_apply")
}

func (a applied) Save(ctx context.Context, r *indirector.Request) (any, error) {
	return a.main[indirector.Save](ctx, r)
}

// Gap D1: for any request, who decided; and what would be, without asking.
func TestClosureD1(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	if err := h.Assign("node", indirector.SlotCache, traces.Choice{Terminus: "cache", Kind: traces.FromRoutesFile, Source: "routes.yaml:4"}); err != nil {
		t.Fatal(err)
	}
	h.fakes["node/cache"].m["a"] = widget{name: "a", at: time.Now().Add(17*time.Minute + time.Second)}
	if _, err := h.find(t, "node", "a"); err != nil {
		t.Fatal(err)
	}
	got := traces.HeadlineOf(h.keep.Last())
	want := traces.Headline{
		Answered: "cache cache", Asked: "cache cache: found", NotAsked: "terminus main (the cache answered)",
		Decided: "main: setting, test; cache cache: routes file, routes.yaml:4",
	}
	if got != want {
		t.Errorf("got %+v\nwant %+v", got, want)
	}
	if got := traces.Story(h.keep.Last()); got != "cached node, good for 17 more minutes; terminus main was not asked" { // S-05
		t.Errorf("story: %q", got)
	}
	candidate := indirector.Routes{"node": {Primary: traces.Slot{{Terminus: "spare", Kind: traces.FromYou}}}}
	h.fakes["node/spare"].asked = nil
	f := h.Plan(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a"}, candidate)
	if f.Terminus != "spare" || f.Outcome != traces.Run || len(h.fakes["node/spare"].asked) != 0 || len(h.Journal()) != 1 {
		t.Errorf("what-if: %+v", f)
	}
}

func TestPanicIsAnErrorWithAPlace(t *testing.T) {
	t.Parallel()
	h := newFixture(t, nil)
	h.fakes["node/main"].authed = func() bool { panic("oops") }
	_, err := h.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a", Remote: &indirector.Remote{Node: "n"}})
	e := (*indirector.Error)(nil)
	if !errors.As(err, &e) || e.Origin != "authorize" || !strings.Contains(e.Error(), "panic: oops") {
		t.Errorf("got %v", err)
	}
}

func TestNestedLoopEnds(t *testing.T) {
	t.Parallel()
	h := newFixture(t, func(_ *indirector.Config, ds *[]indirector.Descriptor) {
		*ds = append(*ds, indirector.Descriptor{
			Indirection: "node", Name: "loop", Type: loop{},
			New: func(env indirector.Env) (indirector.Terminus, error) { return loop{env}, nil },
		})
	})
	h.assign(t, "node", indirector.SlotTerminus, "loop")
	_, err := h.find(t, "node", "a")
	if err == nil || !strings.Contains(err.Error(), "nest deeper than 64") {
		t.Errorf("got %v", err)
	}
	if last := h.keep.Last(); last.Parent != 0 || h.keep.All()[0].Parent == 0 {
		t.Error("nested requests have no parent")
	}
}

type loop struct{ env indirector.Env }

func (l loop) Find(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
	resp, err := l.env.Do(ctx, &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: r.Key})
	return resp.Instance(), err
}

// A debugger holds, edits, answers and fails requests; cancelling lets go.
func TestDebuggerDecides(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		g := &holder{resume: make(chan indirector.Verdict)}
		g.stops.Set(indirector.StopAt(traces.Terminus, false))
		h := newFixture(t, func(cfg *indirector.Config, _ *[]indirector.Descriptor) { cfg.Debugger = g })
		h.fakes["node/main"].m["b"] = widget{name: "b"}
		ctx, cancel := context.WithCancel(t.Context())
		results := make(chan error)
		ask := func() {
			go func() {
				_, err := h.Do(ctx, &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "a"})
				results <- err
			}()
			synctest.Wait()
		}
		ask()
		edited := g.state.Request
		edited.Key = "b"
		g.resume <- indirector.Verdict{Request: &edited}
		if err := <-results; err != nil {
			t.Errorf("edited: %v", err)
		}
		ask()
		g.resume <- indirector.Verdict{Skip: true, Set: true, Value: indirector.Instance(widget{name: "mine"})}
		if err := <-results; err != nil || h.keep.Last().Outcome != traces.Sim {
			t.Errorf("answered: %v, %v", err, h.keep.Last().Outcome)
		}
		ask()
		g.resume <- indirector.Verdict{Err: errors.New("injected")}
		if err := <-results; indirector.Message(err) != "injected" || h.keep.Last().Outcome != traces.Err {
			t.Errorf("failed: %v, %v", err, h.keep.Last().Outcome)
		}
		ask()
		cancel()
		if err := <-results; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

type holder struct {
	stops  indirector.Stops
	resume chan indirector.Verdict
	state  *indirector.State
}

func (g *holder) Stops() *indirector.Stops { return &g.stops }

func (g *holder) Left(uint64) {}

func (g *holder) Hold(ctx context.Context, s *indirector.Stop) (indirector.Verdict, error) {
	g.state = s.Freeze()
	select {
	case v := <-g.resume:
		return v, nil
	case <-ctx.Done():
		return indirector.Verdict{}, context.Cause(ctx)
	}
}

// An instance may carry its content as a reader, which is passed on unread (gap
// L10).
type content struct{ io.Reader }

func (content) Key() string { return "big" }

type opener struct{}

func (opener) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return content{untouchable{}}, nil
}

type untouchable struct{}

func (untouchable) Read([]byte) (int, error) { panic("the content was read") }

func TestContentIsNotRead(t *testing.T) {
	t.Parallel()
	h := newFixture(t, func(_ *indirector.Config, ds *[]indirector.Descriptor) {
		*ds = append(*ds, indirector.Descriptor{Indirection: "node", Name: "opener", Type: opener{}, New: func(indirector.Env) (indirector.Terminus, error) { return opener{}, nil }})
	})
	h.assign(t, "node", indirector.SlotTerminus, "opener")
	if resp, err := h.find(t, "node", "big"); err != nil || resp.Instance().Key() != "big" {
		t.Errorf("got %v, %v", resp, err)
	}
}

func FuzzKey(f *testing.F) {
	for _, key := range []string{"web01", "puppet:///modules/a/b", "file:///x", "C:/x", "::1", "puppet://[::1]:8140/x", "1://x", "a_b:/c", "\x00:/", "x:/\xff"} {
		f.Add(key)
	}
	saw := new(seen)
	reg, err := indirector.NewRegistry([]indirector.Spec{{Name: "w", Class: "W", Default: "x"}}, []indirector.Descriptor{{
		Indirection: "w", Name: "x", Type: saw, New: func(indirector.Env) (indirector.Terminus, error) { return saw, nil },
	}})
	if err != nil {
		f.Fatal(err)
	}
	x, err := indirector.New(indirector.Config{Registry: reg, Routes: indirector.Routes{"w": {Primary: traces.Slot{{Terminus: "x", Kind: traces.FromDeclaration}}}}})
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, key string) {
		saw.req = nil
		_, err := x.Do(t.Context(), &indirector.Request{Indirection: "w", Verb: indirector.Find, Key: key})
		e := (*indirector.Error)(nil)
		switch {
		case errors.Is(err, indirector.ErrNotFound) && saw.req == nil:
			t.Errorf("%q: nothing was asked", key)
		case !errors.Is(err, indirector.ErrNotFound) && (!errors.As(err, &e) || !strings.HasPrefix(indirector.Message(err), "Could not understand URL")):
			t.Errorf("%q: got %v", key, err)
		}
	})
}

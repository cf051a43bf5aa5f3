package indirector_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/terminustest"
	"indirtui/traces"
)

// A scene is an Indirector in which nodes come from main and are cached in
// cache, at a time that stands still.
type scene struct {
	*fixture
	t           *testing.T
	main, cache *fake // of nodes
	log         *terminustest.Log
}

func newScene(t *testing.T, more ...indirector.Descriptor) *scene {
	s := &scene{t: t, log: &terminustest.Log{Least: slog.LevelDebug}}
	s.fixture = newFixture(t, func(cfg *indirector.Config, ds *[]indirector.Descriptor) {
		cfg.Now, cfg.Log = func() time.Time { return now }, slog.New(s.log)
		*ds = append(*ds, more...)
	})
	s.main, s.cache = s.fakes["node/main"], s.fakes["node/cache"]
	s.use(indirector.SlotCache, "cache")
	return s
}

func (s *scene) use(slot, terminus string) {
	s.t.Helper()
	s.assign(s.t, "node", slot, terminus)
}

// ask asks for the node a, unless the request differs, and returns the value of
// the answer.
func (s *scene) ask(verb indirector.Verb, flags traces.Flags, change ...func(*indirector.Request)) (any, error) {
	req := &indirector.Request{Indirection: "node", Verb: verb, Key: "a", Flags: flags}
	if verb == indirector.Save {
		req.Instance = widget{name: "a", origin: "caller"}
	}
	for _, c := range change {
		c(req)
	}
	resp, err := s.Do(s.t.Context(), req)
	if err != nil {
		return nil, err
	}
	return resp.Value, nil
}

// gives compares an answer with what is wanted: an instance, or part of an
// error. "nil" is Puppet's nil.
func (s *scene) gives(want any) func(got any, err error) {
	s.t.Helper()
	return func(got any, err error) {
		s.t.Helper()
		if err != nil {
			got = indirector.Message(err)
		}
		if errors.Is(err, indirector.ErrNotFound) {
			got = "nil"
		}
		if got != want {
			s.t.Errorf("got %v (%v), want %v", got, err, want)
		}
	}
}

// asked returns which verbs a terminus was asked since the last call.
func (s *scene) asked(f *fake, want string) {
	s.t.Helper()
	if got := strings.Join(f.asked, " "); got != want {
		s.t.Errorf("asked: got %q, want %q", got, want)
	}
	f.asked = nil
}

// logged returns what was logged since the last call.
func (s *scene) logged(want ...string) {
	s.t.Helper()
	var got []string
	for _, l := range s.log.Take() {
		got = append(got, l.Level+" "+l.Message)
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		s.t.Errorf("log: got %q, want %q", got, want)
	}
}

type ruleTest struct {
	name string
	more []indirector.Descriptor
	test func(*scene)
}

func runRules(t *testing.T, tests []ruleTest) {
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			tt.test(newScene(t, tt.more...))
		})
	}
}

const (
	find, search, head    = indirector.Find, indirector.Search, indirector.Head
	save, destroy, expire = indirector.Save, indirector.Destroy, indirector.Expire
)

var (
	fresh    = widget{name: "a", origin: "cache", at: future}
	stale    = widget{name: "a", origin: "cache", at: past}
	original = widget{name: "a", origin: "main"}
	dated    = widget{name: "a", origin: "main", at: now.Add(30 * time.Minute)} // original as a find gives it
	errDown  = errors.New("down")
)

// broken is a terminus that cannot be made.
var broken = indirector.Descriptor{
	Indirection: "node", Name: "broken", Type: finder{},
	New: func(indirector.Env) (indirector.Terminus, error) { return nil, errors.New("no library") },
}

// keyed asks for another key.
func keyed(key string) func(*indirector.Request) {
	return func(r *indirector.Request) { r.Key = key }
}

// stranger is of no model, and can expire.
type stranger struct{ widget }

// redactor is a terminus with a filter.
type redactor struct{ *fake }

func (redactor) Filter(_ context.Context, inst indirector.Instance) (indirector.Instance, error) {
	w := inst.(widget)
	w.origin = "filtered"
	return w, nil
}

// saver can do nothing but save.
type saver struct{}

func (saver) Save(context.Context, *indirector.Request) (any, error) { return "saved", nil }

// lists answers a search with a fixed result.
type lists struct {
	found []indirector.Instance
	err   error
}

func (l lists) Search(context.Context, *indirector.Request) ([]indirector.Instance, error) {
	return l.found, l.err
}

// careless is a terminus that does not compare the key.
type careless struct{ *fake }

func (careless) Validate(context.Context, *indirector.Request) error { return nil }

func TestFindRules(t *testing.T) {
	t.Parallel()
	saw := new(seen)
	guarded := redactor{newFake()}
	guarded.m["a"] = original
	rest := descriptor("node", "rest", saver{})
	rest.REST = true
	runRules(t, []ruleTest{
		{"IND-FIND-01 the cache is asked first, by the same request", []indirector.Descriptor{descriptor("node", "seen", saw)}, func(s *scene) {
			s.cache.m["a"] = fresh
			s.gives(fresh)(s.ask(find, 0))
			s.asked(s.main, "")
			s.use(indirector.SlotCache, "seen")
			s.gives("nil")(s.ask(find, traces.IgnoreTerminus, func(r *indirector.Request) {
				r.Options, r.Environment = []indirector.Option{{Name: "x", Value: 1}}, "staging"
			}))
			if r := saw.req; r.Verb != find || r.Key != "a" || r.Option("x") != 1 || r.Environment != "staging" || r.Flags != traces.IgnoreTerminus {
				s.t.Errorf("the cache saw %+v", r)
			}
		}},
		{"IND-FIND-01 not without a cache, not with ignore_cache", nil, func(s *scene) {
			s.cache.m["a"], s.main.m["a"] = fresh, original
			s.gives(dated)(s.ask(find, traces.IgnoreCache|traces.IgnoreCacheSave))
			s.use(indirector.SlotCache, indirector.Off)
			s.gives(dated)(s.ask(find, 0))
			s.asked(s.cache, "")
		}},
		{"IND-FIND-02 nil and false are a miss", nil, func(s *scene) {
			s.main.m["a"], s.main.m["b"] = original, widget{name: "b"}
			s.cache.m["b"] = indirector.False
			s.gives(dated)(s.ask(find, 0))
			s.gives(widget{name: "b", at: dated.at})(s.ask(find, 0, keyed("b")))
			s.asked(s.main, "find find")
			s.logged("info Caching node for a", "info Caching node for b") // and no failure
		}},
		{"IND-FIND-02 a hit of a wrong type is a hit", nil, func(s *scene) {
			odd := stranger{widget{name: "a", at: future}}
			s.cache.m["a"] = odd
			s.gives(odd)(s.ask(find, 0))
			s.asked(s.main, "")
		}},
		{"IND-FIND-03 an expired hit is a miss, and logged", nil, func(s *scene) {
			s.cache.m["a"] = stale
			s.gives("nil")(s.ask(find, 0))
			s.logged("info Not using expired node for a from cache; expired at 2020-01-02 03:04:05 UTC")
			s.asked(s.main, "find")
			s.gives("nil")(s.ask(find, traces.IgnoreTerminus))
			s.asked(s.main, "")
		}},
		{"IND-FIND-04 a hit is invisible at info level", nil, func(s *scene) {
			s.cache.m["a"] = fresh
			s.gives(fresh)(s.ask(find, 0))
			s.logged("debug Using cached node for a")
		}},
		{"IND-FIND-05 a cache that cannot be read is a miss, and logged", []indirector.Descriptor{broken}, func(s *scene) {
			s.main.m["a"] = original
			s.cache.fail[find] = errDown
			s.gives(dated)(s.ask(find, traces.IgnoreCacheSave))
			s.logged("err Cached node for a failed: down")
			s.use(indirector.SlotCache, "broken")
			s.gives(dated)(s.ask(find, traces.IgnoreCacheSave))
			s.logged("err Cached node for a failed: no library")
		}},
		{"IND-FIND-05 so is one whose answer knows no expiry", nil, func(s *scene) {
			s.cache.m["a"], s.main.m["a"] = bare{"a", "cache"}, original
			s.gives(dated)(s.ask(find, traces.IgnoreCacheSave))
			s.logged("err Cached node for a failed: undefined method `expired?' for #<GoldenBare:0xXXXX @name=\"a\", @origin=\"cache\">")
		}},
		{"IND-FIND-05 what is no StandardError ends the request", []indirector.Descriptor{rest}, func(s *scene) {
			s.main.m["a"] = original
			s.use(indirector.SlotCache, "rest")
			s.gives("Node::Rest")(s.ask(find, 0))
			s.asked(s.main, "")
			s.logged()
		}},
		{"IND-FIND-06 a failing terminus is not logged, and nothing falls back", nil, func(s *scene) {
			s.cache.m["a"], s.main.fail[find] = stale, errDown
			_, err := s.ask(find, 0)
			if !errors.Is(err, errDown) || indirector.Message(err) != "down" {
				s.t.Errorf("got %v", err)
			}
			s.cache.m["a"] = fresh
			s.gives("down")(s.ask(find, traces.IgnoreCache))
			s.asked(s.cache, "find")
			s.logged("info Not using expired node for a from cache; expired at 2020-01-02 03:04:05 UTC")
		}},
		{"IND-FIND-07 false is cached and returned", nil, func(s *scene) {
			s.main.m["a"] = indirector.False
			s.gives(indirector.False)(s.ask(find, 0))
			if s.cache.m["a"] != indirector.False {
				s.t.Errorf("cached: %v", s.cache.m["a"])
			}
		}},
		{"IND-FIND-07 nil leaves the cache as it is", nil, func(s *scene) {
			s.gives("nil")(s.ask(find, 0))
			s.asked(s.cache, "find")
		}},
		{"IND-FIND-08 a cache that cannot be written fails the find", nil, func(s *scene) {
			s.main.m["a"], s.cache.fail[save] = original, errDown
			s.gives("down")(s.ask(find, 0))
			s.logged("info Caching node for a", "err down")
		}},
		{"IND-FIND-09 the cache keeps what was not filtered", []indirector.Descriptor{descriptor("node", "guarded", guarded)}, func(s *scene) {
			s.use(indirector.SlotTerminus, "guarded")
			filtered := dated
			filtered.origin = "filtered"
			s.gives(filtered)(s.ask(find, 0))
			s.gives(dated)(s.ask(find, 0)) // from the cache
			s.asked(s.cache, "find save find")
		}},
		{"IND-FIND-10 an expiration is kept, also one in the past", nil, func(s *scene) {
			s.main.m["a"] = stale
			s.gives(stale)(s.ask(find, 0))
			if s.cache.m["a"] != indirector.Instance(stale) {
				s.t.Errorf("cached: %v", s.cache.m["a"])
			}
			s.gives(stale)(s.ask(find, 0))
			s.asked(s.main, "find find")
		}},
		{"IND-FIND-11 the cache is saved by the caller's key, without validation", nil, func(s *scene) {
			s.main.m["x/y"] = widget{name: "b", at: future}
			s.gives(s.main.m["x/y"])(s.ask(find, 0, keyed("puppet://h/x/y")))
			if s.cache.m["x/y"] == nil || len(s.cache.m) != 1 {
				s.t.Errorf("cached: %v", s.cache.m)
			}
			s.main.m["a"] = stranger{fresh}
			s.gives(s.main.m["a"])(s.ask(find, 0)) // of no model
		}},
		{"IND-FIND-12 ignore_cache is for reading, ignore_cache_save for writing", nil, func(s *scene) {
			s.main.m["a"] = original
			s.gives(dated)(s.ask(find, traces.IgnoreCache))
			s.asked(s.cache, "save")
			s.cache.m = map[string]indirector.Instance{}
			s.gives(dated)(s.ask(find, traces.IgnoreCacheSave))
			s.asked(s.cache, "find")
		}},
	})
}

func TestHeadRules(t *testing.T) {
	t.Parallel()
	saw := new(seen)
	runRules(t, []ruleTest{
		{"IND-HEAD-01 the cache is asked to find, then the terminus", []indirector.Descriptor{descriptor("node", "seen", saw)}, func(s *scene) {
			s.cache.m["a"], s.main.m["b"] = fresh, original
			s.gives(true)(s.ask(head, 0))
			s.asked(s.main, "")
			s.gives(true)(s.ask(head, 0, keyed("b")))
			s.gives(false)(s.ask(head, 0, keyed("c")))
			s.asked(s.main, "head head")
			s.asked(s.cache, "find find find") // and never save
			s.use(indirector.SlotCache, "seen")
			s.gives(false)(s.ask(head, 0))
			if saw.req.Verb != head {
				s.t.Errorf("the cache saw the method %v", saw.req.Verb)
			}
		}},
		{"IND-HEAD-01 an expired or unreadable entry counts as none", nil, func(s *scene) {
			s.cache.m["a"] = stale
			s.gives(false)(s.ask(head, 0))
			s.cache.fail[find] = errDown
			s.gives(false)(s.ask(head, 0))
			s.asked(s.main, "head head")
		}},
		{"IND-HEAD-02 ignore_terminus is not honoured", nil, func(s *scene) {
			s.main.m["a"] = original
			s.gives(true)(s.ask(head, traces.IgnoreTerminus))
			s.asked(s.main, "head")
		}},
		{"IND-HEAD-03 without head only the cache can answer", []indirector.Descriptor{descriptor("node", "finder", finder{})}, func(s *scene) {
			s.use(indirector.SlotTerminus, "finder")
			s.gives("undefined method `head' for #<Node::Finder>")(s.ask(head, 0))
			s.cache.m["a"] = fresh
			s.gives(true)(s.ask(head, 0))
		}},
	})
}

func TestSearchRules(t *testing.T) {
	t.Parallel()
	all := traces.IgnoreCache | traces.IgnoreCacheSave | traces.IgnoreTerminus
	runRules(t, []ruleTest{
		{"IND-SRCH-01 the cache is never asked, and no flag counts", nil, func(s *scene) {
			s.main.m["a"], s.cache.m["a"] = original, fresh
			for _, flags := range []traces.Flags{0, all} {
				got, err := s.ask(search, flags)
				if list, _ := got.([]indirector.Instance); err != nil || len(list) != 1 || list[0] != indirector.Instance(dated) {
					s.t.Errorf("got %v, %v", got, err)
				}
			}
			s.asked(s.cache, "")
			s.asked(s.main, "search search")
		}},
		{"IND-SRCH-02 nil is nil, and what is no array fails", []indirector.Descriptor{
			descriptor("node", "empty", lists{err: indirector.ErrNotFound}), descriptor("node", "odd", lists{err: indirector.ErrNotArray}),
		}, func(s *scene) {
			s.use(indirector.SlotTerminus, "empty")
			s.gives("nil")(s.ask(search, 0))
			s.use(indirector.SlotTerminus, "odd")
			s.gives("Search results from terminus odd are not an array")(s.ask(search, 0))
		}},
		{"IND-SRCH-02 each that can expire gets an expiration, the others stay", []indirector.Descriptor{
			descriptor("node", "three", lists{found: []indirector.Instance{original, stale, indirector.Name("x")}}),
		}, func(s *scene) {
			s.use(indirector.SlotTerminus, "three")
			got, err := s.ask(search, 0)
			if want := []indirector.Instance{dated, stale, indirector.Name("x")}; fmt.Sprint(got) != fmt.Sprint(want) {
				s.t.Errorf("got %v (%v), want %v", got, err, want)
			}
		}},
	})
}

func TestSaveRules(t *testing.T) {
	t.Parallel()
	given := widget{name: "a", origin: "caller"}
	runRules(t, []ruleTest{
		{"IND-SAVE-01 the key is the name of the instance unless there is one", nil, func(s *scene) {
			s.gives(given)(s.ask(save, 0, keyed("")))
			if s.main.m["a"] == nil {
				s.t.Errorf("saved: %v", s.main.m)
			}
		}},
		{"IND-SAVE-02 terminus and cache, and the answer is the terminus's", []indirector.Descriptor{descriptor("node", "saver", saver{})}, func(s *scene) {
			s.use(indirector.SlotTerminus, "saver")
			s.gives("saved")(s.ask(save, 0))
			s.asked(s.cache, "save")
			s.gives(nil)(s.ask(save, traces.IgnoreTerminus))
			s.asked(s.cache, "save")
			s.gives("saved")(s.ask(save, traces.IgnoreCacheSave))
			s.asked(s.cache, "")
		}},
		{"IND-SAVE-02 ignore_terminus saves to the cache only", nil, func(s *scene) {
			s.gives(nil)(s.ask(save, traces.IgnoreTerminus))
			s.asked(s.main, "")
		}},
		{"IND-SAVE-03 ignore_cache has no effect", nil, func(s *scene) {
			s.gives(given)(s.ask(save, traces.IgnoreCache))
			s.asked(s.cache, "save")
		}},
		{"IND-SAVE-04 a failing terminus leaves the cache as it is", nil, func(s *scene) {
			s.main.fail[save] = errDown
			s.gives("down")(s.ask(save, 0))
			s.asked(s.cache, "")
		}},
		{"IND-SAVE-04 a failing cache fails the save that was done", nil, func(s *scene) {
			s.cache.fail[save] = errDown
			s.gives("down")(s.ask(save, 0))
			if s.main.m["a"] == nil {
				s.t.Error("the terminus has nothing")
			}
		}},
		{"IND-SAVE-05 no expiration is set", nil, func(s *scene) {
			s.gives(given)(s.ask(save, 0))
			if s.main.m["a"] != indirector.Instance(given) || s.cache.m["a"] != indirector.Instance(given) {
				s.t.Errorf("saved: %v, %v", s.main.m, s.cache.m)
			}
		}},
		{"IND-SAVE-06 saving facts expires the node before anything else", nil, func(s *scene) {
			s.cache.m["a"] = fresh
			s.fakes["facts/main"].fail[save] = errDown
			s.gives("down")(s.ask(save, 0, func(r *indirector.Request) { r.Indirection = "facts" }))
			if got := s.cache.m["a"].(widget).at; !got.Equal(now.Add(-time.Minute)) {
				s.t.Errorf("the cached node expires at %v", got)
			}
		}},
	})
}

func TestDestroyRules(t *testing.T) {
	t.Parallel()
	all := traces.IgnoreCache | traces.IgnoreCacheSave | traces.IgnoreTerminus
	runRules(t, []ruleTest{
		{"IND-DEST-01 the terminus, then the cache if it has it", nil, func(s *scene) {
			s.main.m["a"], s.main.m["b"], s.cache.m["a"] = original, original, fresh
			s.gives(original)(s.ask(destroy, 0))
			s.asked(s.cache, "find destroy")
			s.gives(original)(s.ask(destroy, 0, keyed("b")))
			s.asked(s.cache, "find")
			if len(s.main.m)+len(s.cache.m) != 0 {
				s.t.Errorf("left: %v, %v", s.main.m, s.cache.m)
			}
		}},
		{"IND-DEST-02 no flag is honoured", nil, func(s *scene) {
			s.main.m["a"], s.cache.m["a"] = original, fresh
			s.gives(original)(s.ask(destroy, all))
			s.asked(s.cache, "find destroy")
		}},
		{"IND-DEST-02 an entry that cannot be read cannot be removed", nil, func(s *scene) {
			s.main.m["a"], s.cache.m["a"], s.cache.fail[find] = original, fresh, errDown
			s.gives("down")(s.ask(destroy, 0))
			s.asked(s.cache, "find")
			s.logged()
		}},
		{"IND-DEST-02 nor one whose removal fails", nil, func(s *scene) {
			s.main.m["a"], s.cache.m["a"], s.cache.fail[destroy] = original, fresh, errDown
			s.gives("down")(s.ask(destroy, 0))
		}},
	})
}

func TestExpiryRules(t *testing.T) {
	t.Parallel()
	drops := newFake()
	forgetful := descriptor("node", "forgetful", drops)
	forgetful.KeepsExpiry = false
	runRules(t, []ruleTest{
		{"IND-EXP-01 strictly earlier than now, and none is never", nil, func(s *scene) {
			for at, want := range map[time.Time]any{
				{}: true, now: true, now.Add(time.Nanosecond): true, now.Add(-time.Nanosecond): false,
			} {
				s.cache.m["a"] = widget{name: "a", at: at}
				s.gives(want)(s.ask(head, 0))
			}
		}},
		{"IND-EXP-02 runinterval is read once", nil, func(s *scene) {
			changing := settings{"runinterval": "60"}
			s.fixture = newFixture(s.t, func(cfg *indirector.Config, _ *[]indirector.Descriptor) { cfg.Settings = changing })
			first := s.TTL("node")
			changing["runinterval"] = "120"
			if got := s.TTL("node"); first != time.Minute || got != time.Minute {
				s.t.Errorf("got %v, then %v", first, got)
			}
		}},
		{"IND-EXP-02 a ttl set by code", nil, func(s *scene) {
			s.main.m["a"] = original
			if err := s.Assign("node", indirector.SlotTTL, traces.Choice{Terminus: "60", Kind: traces.FromYou, Source: "test"}); err != nil {
				s.t.Fatal(err)
			}
			s.gives(widget{name: "a", origin: "main", at: now.Add(time.Minute)})(s.ask(find, 0))
			if got := s.keep.Last().Steps[traces.ExpirySet].Because.String(); got != "ttl(60 s, you test)" {
				s.t.Errorf("the trace has %q", got)
			}
		}},
		{"IND-EXP-03 a find gives now and ttl", nil, func(s *scene) {
			s.main.m["a"] = original
			s.gives(widget{name: "a", origin: "main", at: now.Add(30 * time.Minute)})(s.ask(find, 0))
		}},
		{"IND-EXP-04 expiring saves the entry as of a minute ago", nil, func(s *scene) {
			s.cache.m["a"] = fresh
			if _, err := s.ask(expire, 0); err != nil {
				s.t.Error(err)
			}
			if got := s.cache.m["a"].(widget).at; !got.Equal(now.Add(-time.Minute)) {
				s.t.Errorf("it expires at %v", got)
			}
			s.logged("info Expiring the node cache of a")
			s.asked(s.cache, "find save")
			s.asked(s.main, "")
		}},
		{"IND-EXP-04 nothing without a cache, with ignore_cache_save, or without an entry", nil, func(s *scene) {
			s.gives(nil)(s.ask(expire, 0))
			s.asked(s.cache, "find")
			s.gives(nil)(s.ask(expire, traces.IgnoreCacheSave))
			s.use(indirector.SlotCache, indirector.Off)
			s.gives(nil)(s.ask(expire, 0))
			s.asked(s.cache, "")
			s.logged()
		}},
		{"IND-EXP-04 its errors are not swallowed", nil, func(s *scene) {
			s.cache.fail[find] = errDown
			s.gives("down")(s.ask(expire, 0))
		}},
		{"IND-EXP-05 a cache that drops expirations is told of", []indirector.Descriptor{forgetful}, func(s *scene) {
			s.use(indirector.SlotCache, "forgetful")
			drops.m["a"] = widget{name: "a"}
			if _, err := s.ask(expire, 0); err != nil {
				s.t.Error(err)
			}
			if got := s.keep.Last(); traces.Story(got) != "nothing expires: forgetful does not store an expiry for nodes" {
				s.t.Errorf("the first line is %q", traces.Story(got))
			}
			drops.m["a"] = widget{name: "a"} // as a file gives it back
			s.gives(widget{name: "a"})(s.ask(find, 0))
			if got := s.keep.Last().Steps[traces.Expiry].Because.Reason; got != traces.NoExpiryKept {
				s.t.Errorf("expiry: %v", got)
			}
		}},
		{"IND-EXP-06 saving facts expires the node of the same name, with the same options", nil, func(s *scene) {
			facts := func(r *indirector.Request) { r.Indirection = "facts" }
			s.cache.m["a"], s.cache.m["b"] = fresh, fresh
			s.gives(nil)(s.ask(save, traces.IgnoreCacheSave|traces.IgnoreTerminus, facts))
			s.asked(s.cache, "")
			if _, err := s.ask(save, 0, facts); err != nil {
				s.t.Error(err)
			}
			if s.cache.m["a"] == indirector.Instance(fresh) || s.cache.m["b"] != indirector.Instance(fresh) {
				s.t.Errorf("cached: %v", s.cache.m)
			}
			if first := s.keep.All()[len(s.keep.All())-2]; first.Verb != expire || first.Indirection != "node" {
				s.t.Errorf("nested: %v %v", first.Verb, first.Indirection)
			}
		}},
		{"IND-EXP-07 an expired entry stays", nil, func(s *scene) {
			s.cache.m["a"] = stale
			s.gives("nil")(s.ask(find, 0))
			s.gives(false)(s.ask(head, 0))
			if s.cache.m["a"] != indirector.Instance(stale) {
				s.t.Errorf("cached: %v", s.cache.m)
			}
		}},
	})
}

// TestPrepareRules is about what comes before every verb.
func TestPrepareRules(t *testing.T) {
	t.Parallel()
	lenient := careless{newFake()}
	remote := func(node, ip string, options ...indirector.Option) func(*indirector.Request) {
		return func(r *indirector.Request) {
			r.Remote, r.Options = &indirector.Remote{Node: node, IP: ip}, options
		}
	}
	instance := func(inst indirector.Instance) func(*indirector.Request) {
		return func(r *indirector.Request) { r.Instance = inst }
	}
	runRules(t, []ruleTest{
		{"IND-PREP-01 a terminus that cannot be made fails a pure cache read", []indirector.Descriptor{broken}, func(s *scene) {
			s.use(indirector.SlotTerminus, "broken")
			s.cache.m["a"] = fresh
			s.gives("no library")(s.ask(find, traces.IgnoreTerminus))
			s.asked(s.cache, "")
		}},
		{"IND-AUTH-01 only requests with a node are checked", []indirector.Descriptor{descriptor("node", "finder", finder{})}, func(s *scene) {
			s.main.m["a"], s.main.authed = original, func() bool { return false }
			s.gives(dated)(s.ask(find, traces.IgnoreCache))
			s.gives(dated)(s.ask(find, traces.IgnoreCache, remote("", "10.0.0.1")))
			s.gives("Not authorized to call find on /node/a")(s.ask(find, 0, remote("n", "")))
			s.use(indirector.SlotTerminus, "finder") // has no rule
			s.gives(dated)(s.ask(find, 0, remote("n", "")))
		}},
		{"IND-AUTH-02 the refusal names verb, request and options", nil, func(s *scene) {
			s.main.authed = func() bool { return false }
			s.gives(`Not authorized to call save on /node/a with {:x=>"y", :z=>1}`)(s.ask(save, 0,
				remote("n", "", indirector.Option{Name: "x", Value: "y"}, indirector.Option{Name: "z", Value: 1})))
			s.gives(`Not authorized to call save on /node/a with {:"two words"=>"\#{x}\e", :q?=>[1.0e+20, nil]}`)(s.ask(save, 0,
				remote("n", "", indirector.Option{Name: "two words", Value: "#{x}\x1b"}, indirector.Option{Name: "q?", Value: []any{1e20, nil}})))
			_, err := s.ask(find, 0, remote("n", ""))
			if f := (*indirector.Failure)(nil); !errors.As(err, &f) || f.Class != "ArgumentError" || !errors.Is(err, indirector.ErrDenied) {
				s.t.Errorf("got %#v", err)
			}
			s.asked(s.main, "")
		}},
		{"IND-VAL-01 first the model, then the key", nil, func(s *scene) {
			s.gives("Invalid instance type GoldenOther, expected Node")(s.ask(save, 0, instance(other{"b"})))
			s.gives(`Instance name "b" does not match requested key "a"`)(s.ask(save, 0, instance(widget{name: "b"})))
			s.asked(s.main, "")
			s.asked(s.cache, "")
		}},
		{"IND-VAL-01 the cache does not validate", []indirector.Descriptor{descriptor("node", "careless", lenient)}, func(s *scene) {
			s.use(indirector.SlotCache, "careless")
			s.gives(`Instance name "b" does not match requested key "a"`)(s.ask(save, 0, instance(widget{name: "b"})))
		}},
		{"IND-VAL-02 a terminus may validate in its own way", []indirector.Descriptor{descriptor("node", "careless", lenient)}, func(s *scene) {
			s.use(indirector.SlotTerminus, "careless")
			s.gives(widget{name: "b"})(s.ask(save, 0, instance(widget{name: "b"})))
		}},
		{"IND-VAL-02 an indirection may compare in its own way", nil, func(s *scene) {
			spec := indirector.Spec{Name: "resource", Class: "Resource", Model: isWidget, KeyMatches: func(inst indirector.Instance, key string) error {
				if strings.EqualFold(inst.Key(), key) {
					return nil
				}
				return errDown
			}}
			for key, want := range map[string]error{"FILE/x": nil, "file/x": nil, "file/y": errDown} {
				if err := spec.Validate(widget{name: "File/x"}, key); !errors.Is(err, want) {
					s.t.Errorf("%s: got %v", key, err)
				}
			}
			if err := spec.Validate(other{"File/x"}, "file/x"); !errors.Is(err, indirector.ErrInvalid) {
				s.t.Errorf("another model: got %v", err)
			}
		}},
		{"IND-VAL-03 nil reaches the terminus", nil, func(s *scene) {
			s.gives(indirector.Instance(nil))(s.ask(save, 0, instance(nil)))
			s.asked(s.main, "save")
		}},
		{"IND-VAL-04 the core takes any key", nil, func(s *scene) {
			for _, key := range []string{"../x", "a/b", "x\x00"} {
				s.gives("nil")(s.ask(find, 0, keyed(key)))
			}
			s.asked(s.main, "find find find")
		}},
		{"IND-SEL-02 the setting is not read again", nil, func(s *scene) {
			changing := settings{"node_terminus": "main"}
			s.fixture = newFixture(s.t, func(cfg *indirector.Config, _ *[]indirector.Descriptor) { cfg.Settings = changing })
			s.fakes["node/main"].m["a"] = fresh
			changing["node_terminus"] = "spare"
			s.gives(fresh)(s.ask(find, 0))
		}},
		{"IND-TERM-11 a name that is none", nil, func(s *scene) {
			s.gives("Could not find terminus nowhere for indirection node")(s.ask(find, 0, func(r *indirector.Request) { r.Terminus = "nowhere" }))
		}},
		{"IND-TERM-12 a missing verb fails as in Ruby", []indirector.Descriptor{descriptor("node", "finder", finder{})}, func(s *scene) {
			s.use(indirector.SlotTerminus, "finder")
			for _, verb := range []indirector.Verb{search, save, destroy, head} {
				s.gives(fmt.Sprintf("undefined method `%s' for #<Node::Finder>", verb))(s.ask(verb, 0))
			}
		}},
	})
	t.Run("IND-TERM-01 a terminus is made when it is first referenced", func(t *testing.T) {
		t.Parallel()
		made := 0
		lazy := descriptor("node", "lazy", finder{})
		lazy.New = func(indirector.Env) (indirector.Terminus, error) { made++; return finder{}, nil }
		s := newScene(t, lazy)
		s.use(indirector.SlotTerminus, "lazy")
		if made != 0 {
			t.Error("made before it was needed")
		}
		for range 2 {
			if _, err := s.ask(find, 0); err != nil || made != 1 {
				t.Errorf("made %d times, %v", made, err)
			}
		}
	})
}

// TestCallerRules tests the flags that callers give.
func TestCallerRules(t *testing.T) {
	t.Parallel()
	in := func(indirection string) func(*indirector.Request) {
		return func(r *indirector.Request) { r.Indirection = indirection }
	}
	runRules(t, []ruleTest{
		{"IND-CALL-01 a node that is not found is an error with fail_on_404", nil, func(s *scene) {
			s.cache.m["a"] = fresh
			s.gives("Find /node/a resulted in 404 with the message: nil")(s.ask(find, traces.IgnoreCache|traces.FailOn404))
		}},
		{"IND-CALL-02 a new catalog neither comes from the cache nor goes there", nil, func(s *scene) {
			s.main.m["a"], s.cache.m["a"] = original, fresh
			s.gives(dated)(s.ask(find, traces.IgnoreCache|traces.IgnoreCacheSave|traces.FailOn404))
			s.asked(s.cache, "")
		}},
		{"IND-CALL-03 ignore_terminus asks the cache alone", nil, func(s *scene) {
			s.main.m["a"], s.cache.m["a"] = original, widget{name: "a"} // keeps no expiration
			s.gives(widget{name: "a"})(s.ask(find, traces.IgnoreTerminus))
			s.cache.fail[find] = errDown
			s.gives("nil")(s.ask(find, traces.IgnoreTerminus))
			s.asked(s.main, "")
		}},
		{"IND-CALL-04 the cache alone is saved, by the name of the instance", nil, func(s *scene) {
			s.gives(widget{name: "own"})(s.ask(save, 0, func(r *indirector.Request) {
				r.Terminus, r.Cache, r.Key, r.Instance = "cache", indirector.Off, "", widget{name: "own"}
			}))
			s.asked(s.main, "")
			s.asked(s.cache, "save")
		}},
		{"IND-CALL-05 a report is written twice when it was sent, else once", nil, func(s *scene) {
			s.assign(s.t, "report", indirector.SlotCache, "cache")
			s.gives(widget{name: "a", origin: "caller"})(s.ask(save, traces.IgnoreCache, in("report")))
			s.gives(nil)(s.ask(save, traces.IgnoreTerminus, in("report")))
			s.asked(s.fakes["report/cache"], "save save")
			s.fakes["report/main"].fail[save] = errDown
			s.gives("down")(s.ask(save, traces.IgnoreCache, in("report")))
			s.gives(nil)(s.ask(save, traces.IgnoreTerminus, in("report")))
			s.asked(s.fakes["report/cache"], "save")
		}},
		{"IND-CALL-06 a plain find of facts honours a cache", nil, func(s *scene) {
			s.assign(s.t, "facts", indirector.SlotCache, "cache")
			main := s.fakes["facts/main"]
			main.m["a"] = original
			s.gives(dated)(s.ask(find, 0, in("facts")))
			main.m["a"] = widget{name: "a", origin: "newer"}
			s.gives(dated)(s.ask(find, 0, in("facts")))
			s.asked(main, "find")
		}},
	})
}

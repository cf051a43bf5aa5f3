package debugger_test

import (
	"context"
	"errors"
	"sync"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/debugger"
	"indirtui/indirector/model"
	"indirtui/traces"
	"indirtui/traces/leaktest"
	"indirtui/traces/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// shelf is a terminus that has what was put there, and may ask another
// indirection.
type shelf struct {
	env   indirector.Env
	mu    sync.Mutex
	has   map[string]indirector.Instance
	asked []string
	asks  string // an indirection that is asked before an answer is given
	fails error
}

func (s *shelf) did(verb string, r *indirector.Request) (indirector.Instance, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asked = append(s.asked, verb+" "+r.Key)
	return s.has[r.Key], s.fails
}

func (s *shelf) log() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.asked...)
}

func (s *shelf) Find(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
	if s.asks != "" {
		if _, err := s.env.Do(ctx, &indirector.Request{Indirection: s.asks, Verb: indirector.Find, Key: r.Key}); err != nil && !errors.Is(err, indirector.ErrNotFound) {
			return nil, err
		}
	}
	inst, err := s.did("find", r)
	if err != nil {
		return nil, err
	}
	if inst == nil {
		return nil, indirector.NotFound(traces.NotFound, r.Key)
	}
	return inst, nil
}

func (s *shelf) Search(_ context.Context, r *indirector.Request) ([]indirector.Instance, error) {
	inst, err := s.did("search", r)
	if inst == nil || err != nil {
		return nil, err
	}
	return []indirector.Instance{inst}, nil
}

func (s *shelf) Head(_ context.Context, r *indirector.Request) (bool, error) {
	inst, err := s.did("head", r)
	return inst != nil, err
}

func (s *shelf) Save(_ context.Context, r *indirector.Request) (any, error) {
	_, err := s.did("save", r)
	return 0, err
}

func (s *shelf) Destroy(_ context.Context, r *indirector.Request) (any, error) {
	inst, err := s.did("destroy", r)
	if inst == nil {
		return nil, err
	}
	return 1, err
}

func (s *shelf) Peek(_ context.Context, key string) (indirector.Entry, error) {
	if s.has[key] == nil {
		return indirector.Entry{}, nil
	}
	return indirector.Entry{Key: key}, nil
}

// fixture is an Indirector with a debugger and a store.
type fixture struct {
	*indirector.Indirector
	*debugger.Debugger
	store   *store.Store
	shelves map[string]*shelf // by "node/main"
}

// newFixture has node and facts, each with the termini main, cache and spare; no
// cache is routed. Find of node asks for the facts if nested.
func newFixture(t testing.TB, o debugger.Options, nested bool) *fixture {
	t.Helper()
	h := &fixture{shelves: map[string]*shelf{}}
	var err error
	if h.store, err = store.Open(store.Options{}); err != nil {
		t.Fatal(err)
	}
	o.Recorder = h.store
	if h.Debugger, err = debugger.New(o); err != nil {
		t.Fatal(err)
	}
	specs := []indirector.Spec{{Name: "node", Class: "Puppet::Node", Default: "main"}, {Name: "facts", Class: "Puppet::Node::Facts", Default: "main"}}
	var termini []indirector.Descriptor
	routes := indirector.Routes{}
	for _, spec := range specs {
		for _, name := range []string{"main", "cache", "spare"} {
			s := &shelf{has: map[string]indirector.Instance{}}
			h.shelves[spec.Name+"/"+name] = s
			if nested && spec.Name == "node" && name == "main" {
				s.asks = "facts"
			}
			termini = append(termini, indirector.Descriptor{
				Indirection: spec.Name, Name: name, Type: s, KeepsExpiry: true,
				New: func(env indirector.Env) (indirector.Terminus, error) {
					s.env = env
					return s, nil
				},
			})
		}
		routes[spec.Name] = indirector.Route{Primary: traces.Slot{{Terminus: "main", Kind: traces.FromDeclaration, Source: "test"}}}
	}
	registry, err := indirector.NewRegistry(specs, termini)
	if err != nil {
		t.Fatal(err)
	}
	h.Indirector, err = indirector.New(indirector.Config{Registry: registry, Routes: routes, Recorder: h.store, Debugger: h.Debugger})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		h.Debugger.Close()
		if err := errors.Join(h.Indirector.Close(), h.store.Close()); err != nil {
			t.Error(err)
		}
	})
	h.shelves["node/main"].has["web01"] = node("web01", "main")
	h.shelves["node/spare"].has["web01"] = node("web01", "spare")
	h.shelves["facts/main"].has["web01"] = &model.Facts{Name: "web01"}
	return h
}

func node(name, origin string) *model.Node {
	return &model.Node{Name: name, Parameters: data.OfHash([]data.Pair{data.P("origin", data.OfString(origin))})}
}

// add arms a breakpoint.
func (h *fixture) add(t testing.TB, text string) string {
	t.Helper()
	b, err := debugger.Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	info, err := h.Add(b)
	if err != nil {
		t.Fatal(err)
	}
	return info.ID
}

// answer is what became of a request.
type answer struct {
	resp indirector.Response
	err  error
}

// ask asks in a goroutine of its own.
func (h *fixture) ask(ctx context.Context, req indirector.Request) <-chan answer {
	done := make(chan answer, 1)
	go func() {
		resp, err := h.Do(ctx, &req)
		done <- answer{resp, err}
	}()
	return done
}

func find(ind, key string) indirector.Request {
	return indirector.Request{Indirection: ind, Verb: indirector.Find, Key: key, Caller: "you"}
}

// origin is where a node was made.
func origin(t testing.TB, a answer) string {
	t.Helper()
	if a.err != nil {
		return "error: " + indirector.Message(a.err)
	}
	n, ok := a.resp.Value.(*model.Node)
	if !ok {
		t.Fatalf("got %T", a.resp.Value)
	}
	return n.Parameters.Get("origin").Str()
}

// last is the newest trace.
func (h *fixture) last(t testing.TB) *traces.Trace {
	t.Helper()
	_, id := h.store.Range()
	tr, err := h.store.Trace(id)
	if err != nil {
		t.Fatal(err)
	}
	return tr
}

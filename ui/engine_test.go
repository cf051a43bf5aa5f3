package ui_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/uitest"
)

// An inst is an instance that is its own JSON.
type inst struct {
	key, json string
	until     time.Time
}

func (i *inst) Key() string           { return i.key }
func (i *inst) Expiration() time.Time { return i.until }
func (i *inst) WithExpiration(t time.Time) indirector.Instance {
	c := *i
	c.until = t
	return &c
}

// finder is a terminus with one verb.
type finder func(context.Context, *indirector.Request) (indirector.Instance, error)

func (f finder) Find(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
	return f(ctx, r)
}

// cache keeps what is saved.
type cache struct {
	mu     sync.Mutex
	kept   map[string]indirector.Instance
	expiry bool // it keeps the expiration
}

func (c *cache) Find(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if i := c.kept[r.Key]; i != nil {
		return i, nil
	}
	return nil, indirector.NotFound(traces.NotFound, r.Key+".json")
}

func (c *cache) Save(_ context.Context, r *indirector.Request) (any, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.kept[r.Key] = r.Instance
	if i := r.Instance.(*inst); !c.expiry {
		c.kept[r.Key] = &inst{key: i.key, json: i.json}
	}
	return 0, nil
}

// A testEngine is a real indirector over termini that do what the journeys need.
type testEngine struct {
	*indirector.Indirector
	log *store.Store
	mu  sync.Mutex
	now time.Time
}

func (h *testEngine) clock() time.Time {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(time.Millisecond)
	return h.now
}

func (h *testEngine) pass(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.now = h.now.Add(d)
}

func newTestEngine(t *testing.T) *testEngine {
	t.Helper()
	h := &testEngine{now: time.Date(2025, 11, 20, 12, 30, 0, 0, time.UTC)}
	var err error
	h.log, err = store.Open(store.Options{Now: h.clock, Render: func(model string, instance any) traces.Value {
		i, ok := instance.(*inst)
		if !ok {
			return traces.Value{}
		}
		body := strings.ReplaceAll(i.json, "hunter2", "(masked Sensitive, 7 B, tag 9f3a)")
		return traces.Value{Model: model, Format: "json", Size: len(body), Body: []byte(body), Redacted: strings.Count(i.json, "hunter2")}
	}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.log.Close() })
	any := func(indirector.Instance) bool { return true }
	registry, err := indirector.NewRegistry([]indirector.Spec{
		{Name: "facts", Class: "Puppet::Node::Facts", Model: any, Default: "facter"},
		{Name: "node", Class: "Puppet::Node", Model: any, Default: "exec"},
		{Name: "catalog", Class: "Puppet::Resource::Catalog", Model: any, Default: "rest"},
	}, h.termini())
	if err != nil {
		t.Fatal(err)
	}
	h.Indirector, err = indirector.New(indirector.Config{
		Registry: registry, Recorder: h.log, Now: h.clock, Application: "agent",
		Routes: indirector.Routes{
			"facts": {
				Primary: traces.Slot{{Terminus: "facter", Kind: traces.FromSetting, Source: "setting facts_terminus, puppet.conf:3"}},
				Cache:   traces.Slot{{Terminus: "json", Kind: traces.FromStoreconfigs, Source: "puppet.conf:4"}},
			},
			"node":    {Primary: traces.Slot{{Terminus: "exec", Kind: traces.FromSetting, Source: "setting node_terminus, puppet.conf:5"}}},
			"catalog": {Primary: traces.Slot{{Terminus: "rest", Kind: traces.FromApplication, Source: "application agent"}}, Cache: traces.Slot{{Terminus: "json", Kind: traces.FromSetting, Source: "setting catalog_cache_terminus"}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = h.Close() })
	return h
}

const classes = `{"name":%q,"environment":"production","classes":["web","base"],"parameters":{"password":"hunter2"}}`

func (h *testEngine) termini() []indirector.Descriptor {
	terminus := func(ind, name string, expiry bool, make func(indirector.Env) indirector.Terminus) indirector.Descriptor {
		d := indirector.Descriptor{Indirection: ind, Name: name, Type: finder(nil), KeepsExpiry: expiry}
		d.New = func(e indirector.Env) (indirector.Terminus, error) { return make(e), nil }
		return d
	}
	simple := func(f finder) func(indirector.Env) indirector.Terminus {
		return func(indirector.Env) indirector.Terminus { return f }
	}
	keep := func(env indirector.Env) indirector.Terminus {
		return &cache{kept: map[string]indirector.Instance{}, expiry: env.Indirection == "facts"}
	}
	return []indirector.Descriptor{
		terminus("facts", "facter", false, simple(func(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
			return &inst{key: r.Key, json: fmt.Sprintf(`{"name":%q,"values":{"kernel":"Linux"}}`, r.Key)}, nil
		})),
		terminus("facts", "json", true, keep),
		terminus("node", "exec", false, simple(func(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
			_, span := traces.Start(ctx, traces.Exec, "exec enc "+r.Key)
			if strings.HasPrefix(r.Key, "db07") {
				span.Attr("stderr", "enc: no such host")
				span.End("exit 0, stdout 0 B", traces.Because{}, nil)
				return nil, indirector.NotFound(traces.NilFromEmptyOutput, "enc "+r.Key)
			}
			span.End("exit 0, stdout 91 B", traces.Because{}, nil)
			return &inst{key: r.Key, json: fmt.Sprintf(classes, r.Key)}, nil
		})),
		terminus("node", "plain", false, simple(func(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
			return &inst{key: r.Key, json: fmt.Sprintf(`{"name":%q,"environment":"production","classes":[],"parameters":{}}`, r.Key)}, nil
		})),
		terminus("catalog", "rest", false, func(env indirector.Env) indirector.Terminus {
			return finder(func(ctx context.Context, r *indirector.Request) (indirector.Instance, error) {
				return h.compile(ctx, env, r)
			})
		}),
		terminus("catalog", "json", false, keep),
	}
}

// compile answers a catalog as a server would: it asks for the node first, and
// fails when it is asked to.
func (h *testEngine) compile(ctx context.Context, env indirector.Env, r *indirector.Request) (indirector.Instance, error) {
	if strings.HasPrefix(r.Key, "db07") {
		if _, err := env.Do(ctx, &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: r.Key}); err != nil {
			return nil, &indirector.Failure{Message: "Could not find node '" + r.Key + "'; cannot compile"}
		}
	}
	_, span := traces.Start(ctx, traces.Network, "POST catalog")
	if r.Option("fail") != nil {
		err := errors.New("Error 500 on SERVER: Unknown variable: 'role'")
		span.End("500, 214 bytes", traces.Because{}, err)
		return nil, &indirector.Failure{Message: err.Error(), Origin: "network"}
	}
	span.End("200, 4 kB", traces.Because{}, nil)
	return &inst{key: r.Key, json: fmt.Sprintf(`{"name":%q,"resources":[{"type":"File","title":"/etc/app","parameters":{"mode":"0644"}}]}`, r.Key)}, nil
}

// ask asks; the answer is in the log.
func (h *testEngine) ask(r indirector.Request) {
	if r.Verb == 0 {
		r.Verb = indirector.Find
	}
	if r.Caller == "" {
		r.Caller = "agent"
	}
	_, _ = h.Do(context.Background(), &r)
	h.pass(time.Second)
}

const (
	web = "web01.example.com"
	db  = "db07.example.com"
)

// play asks all that the journeys are about, in the order of their numbers.
func (h *testEngine) play() *testEngine {
	h.ask(indirector.Request{Indirection: "catalog", Key: web, Run: "5a1b"}) // 1: good, and cached
	h.pass(91 * time.Minute)
	h.ask(indirector.Request{Indirection: "facts", Key: web, Run: "8f3c"})                                                                                                                  // 2: facter, and cached
	h.ask(indirector.Request{Indirection: "facts", Key: web, Run: "8f3c"})                                                                                                                  // 3: hit
	h.ask(indirector.Request{Indirection: "catalog", Key: web, Run: "8f3c", Flags: traces.IgnoreCache | traces.IgnoreCacheSave, Options: []indirector.Option{{Name: "fail", Value: true}}}) // 4: err
	h.ask(indirector.Request{Indirection: "catalog", Key: web, Run: "8f3c", Flags: traces.IgnoreTerminus})                                                                                  // 5: stale
	h.ask(indirector.Request{Indirection: "catalog", Key: db, Run: "9c02"})                                                                                                                 // 6: err, asks 7
	h.ask(indirector.Request{Indirection: "node", Key: web, Run: "9d00"})                                                                                                                   // 8: ok
	_ = h.log.Flush()
	return h
}

// commands understands find.
type commands struct{ engine *testEngine }

func (c commands) Run(text string) (tea.Cmd, error) {
	words := strings.Fields(text)
	if len(words) < 3 || words[0] != "find" {
		return nil, fmt.Errorf("there is no command %s", text)
	}
	r := &indirector.Request{Verb: indirector.Find, Indirection: words[1], Key: words[2], Caller: "you"}
	for _, w := range words[3:] {
		if t, ok := strings.CutPrefix(w, "terminus="); ok {
			r.Terminus = t
		}
	}
	return func() tea.Msg {
		resp, err := c.engine.Do(context.Background(), r)
		if err != nil {
			return screen.Toast{Text: err.Error(), Bad: true}
		}
		_ = c.engine.log.Flush()
		return screen.Toast{Text: fmt.Sprintf("#%d", resp.Trace)}
	}, nil
}

func (c commands) Complete(string) ([]screen.Completion, []string) { return nil, nil }
func (c commands) Names() []screen.Completion                      { return nil }
func (c commands) Screen() screen.Screen                           { return nil }

func start(t *testing.T, h *testEngine, width, height int) *uitest.Player {
	t.Helper()
	saved := map[string]string{}
	return uitest.New(t, ui.Config{
		Log: h.log, Routes: h, Asker: h, Now: h.clock,
		Commands: func(*session.Env) session.Commander { return commands{h} },
		Save: func(name, text string) (string, int, error) {
			saved[name] = text
			return "dir/" + name, strings.Count(text, "(masked"), nil
		},
		Clear: func(instance any) (data.Value, bool) {
			return data.OfHash([]data.Pair{data.P("parameters", data.OfHash([]data.Pair{data.P("password", data.OfString("hunter2"))}))}), true
		},
	}, width, height)
}

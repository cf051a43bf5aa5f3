package storeconfigs_test

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/golden"
	"indirtui/indirector/model"
	"indirtui/indirector/routes"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
)

// A recorded is what Puppet's store_configs did with one request.
type recorded struct {
	ID          string         `json:"id"`
	Indirection string         `json:"indirection"`
	Verb        string         `json:"verb"`
	Key         string         `json:"key"`      // "" is that of all others
	Instance    string         `json:"instance"` // likewise
	As          string         `json:"as"`       // "cache", or "" of the terminus
	Found       bool           `json:"found"`
	Settings    map[string]any `json:"settings"`
	Value       any            `json:"value"`
	Remote      *bool          `json:"remote_allowed"`
	Saw         [][]any        `json:"backend_saw"`
	Error       string         `json:"error"`
	Exception   string         `json:"exception"`
	RubyError   bool           `json:"ruby_error"`

	Selection map[string]struct{ Terminus, Cache string } `json:"selection"`
	Cache     *string                                     `json:"catalog_cache_terminus"`
}

// Rules STORE-SC-01 to STORE-SC-08.
func TestGoldenStoreConfigs(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(golden.PathBeside(t, "../../indirector/puppetdb", "stores", "store_configs.json"))
	if err != nil {
		t.Fatal(err)
	}
	var cases []recorded
	if err := json.Unmarshal(text, &cases); err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no cases")
	}
	for _, c := range cases {
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			if c.Selection != nil {
				c.checkSelection(t)
				return
			}
			c.checkRequest(t)
		})
	}
}

// overrides are the settings of a case.
func (c *recorded) overrides() (all []settings.Override) {
	for name, value := range c.Settings {
		text, ok := value.(string)
		if !ok {
			text = map[any]string{true: "true", false: "false"}[value]
		}
		all = append(all, settings.Override{Name: name, Value: text, Source: "puppet.conf:9 [main]"})
	}
	return all
}

func (c *recorded) checkSelection(t *testing.T) {
	conf, err := settings.Load(settings.Options{ConfDir: t.TempDir(), Layout: settings.VendorLayout, Overrides: c.overrides()})
	if err != nil {
		t.Fatal(err)
	}
	registry, err := indirector.NewRegistry(termini.Specs(), termini.All())
	if err != nil {
		t.Fatal(err)
	}
	result, err := routes.Load(routes.Input{Registry: registry, Settings: conf, Bare: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range c.Selection {
		r := result.Routes[name]
		if got := r.Primary.Winner().Terminus; got != want.Terminus {
			t.Errorf("terminus of %s: got %q, want %q", name, got, want.Terminus)
		}
		if got := r.Cache.Winner().Terminus; got != want.Cache {
			t.Errorf("cache of %s: got %q, want %q", name, got, want.Cache)
		}
	}
	if got, _ := conf.Get("catalog_cache_terminus"); c.Cache != nil && got != *c.Cache {
		t.Errorf("catalog_cache_terminus: got %q, want %q", got, *c.Cache)
	}
}

func (c *recorded) checkRequest(t *testing.T) {
	b := &backend{indirection: c.Indirection, found: c.Found}
	e := b.engine(t, c.overrides()...)
	assign(t, e, c.Indirection, c.As)
	verb := traces.ParseVerb(c.Verb)
	req := &indirector.Request{Indirection: c.Indirection, Verb: verb, Key: cmp.Or(c.Key, keyOf(c.Indirection))}
	if verb == indirector.Save {
		req.Instance = instance(c.Indirection, cmp.Or(c.Instance, req.Key))
	}
	resp, err := e.Do(t.Context(), req)
	if diff := gocmp.Diff(c.Saw, b.saw); diff != "" {
		t.Errorf("the backend was asked (-want +got):\n%s", diff)
	}
	if c.Exception != "" {
		c.checkError(t, err)
		return
	}
	if err != nil && !errors.Is(err, indirector.ErrNotFound) {
		t.Fatal(err)
	}
	var value any
	if err == nil {
		value = shown(t, e, c.Indirection, resp.Value)
	}
	if diff := gocmp.Diff(c.Value, value); diff != "" {
		t.Errorf("value (-want +got):\n%s", diff)
	}
	if allowed := e.Admits(c.Indirection, "production") == nil; c.Remote != nil && allowed != *c.Remote {
		t.Errorf("requests from the network: got %v, want %v", allowed, *c.Remote)
	}
}

// checkError compares an error. That of a stack which ends is ours: it names the setting.
// Rule STORE-SC-07.
func (c *recorded) checkError(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		t.Fatalf("it went well, want the error %s", c.Error)
	}
	var f *indirector.Failure
	class := ""
	if errors.As(err, &f) {
		class = f.Class
	}
	switch {
	case c.RubyError:
	case class != c.Exception:
		t.Errorf("got %q, %v; want %s", class, err, c.Exception)
	case c.Exception == "SystemStackError":
		if want := "setting storeconfigs_backend, puppet.conf:9"; !strings.Contains(indirector.Message(err), want) {
			t.Errorf("got %v, which lacks %q", err, want)
		}
	case indirector.Message(err) != c.Error:
		t.Errorf("got %q, want %q", indirector.Message(err), c.Error)
	}
}

// assign routes to store_configs as a cache, or as the terminus.
func assign(t *testing.T, e *engine.Engine, indirection, as string) {
	t.Helper()
	choose := func(slot, name string) {
		if err := e.Assign(indirection, slot, traces.Choice{Terminus: name, Kind: traces.FromYou}); err != nil {
			t.Fatal(err)
		}
	}
	if as == "cache" {
		choose(indirector.SlotTerminus, "recorder")
		choose(indirector.SlotCache, "store_configs")
		return
	}
	choose(indirector.SlotTerminus, "store_configs")
	choose(indirector.SlotCache, indirector.Off)
}

func keyOf(indirection string) string {
	if indirection == "resource" {
		return "Notify/n"
	}
	return "n1"
}

func instance(indirection, key string) indirector.Instance {
	switch indirection {
	case "catalog":
		return &model.Catalog{Name: key}
	case "facts":
		return &model.Facts{Name: key}
	case "node":
		return &model.Node{Name: key}
	}
	kind, title, _ := strings.Cut(key, "/")
	return &model.Resource{Type: kind, Title: title}
}

// shown is an answer as the recordings have it: the classes of instances.
func shown(t *testing.T, e *engine.Engine, indirection string, v any) any {
	t.Helper()
	spec := e.Registry().Spec(indirection)
	switch v := v.(type) {
	case []indirector.Instance:
		out := []any{}
		for _, inst := range v {
			out = append(out, shown(t, e, indirection, inst))
		}
		return out
	case indirector.Instance:
		if err := spec.ValidateModel(v); err != nil {
			t.Fatal(err)
		}
		return spec.Class
	}
	return v
}

// A backend notes what it is asked.
type backend struct {
	indirection string
	found       bool
	saw         [][]any
}

// engine returns an engine whose backend is the terminus recorder of each indirection.
func (b *backend) engine(t *testing.T, set ...settings.Override) *engine.Engine {
	t.Helper()
	return b.engineWith(t, nil, set...)
}

// engineWith is engine with more termini.
func (b *backend) engineWith(t *testing.T, more []indirector.Descriptor, set ...settings.Override) *engine.Engine {
	t.Helper()
	return b.engineIn(t, "", more, set...)
}

// engineIn is engineWith a puppet.conf.
func (b *backend) engineIn(t *testing.T, conf string, more []indirector.Descriptor, set ...settings.Override) *engine.Engine {
	t.Helper()
	b.saw = [][]any{}
	all := append(termini.All(), more...)
	for _, name := range []string{"catalog", "facts", "node", "resource"} {
		all = append(all, indirector.Descriptor{
			Indirection: name, Name: "recorder", Doc: "Notes what it is asked.", Type: (*backend)(nil),
			New: func(indirector.Env) (indirector.Terminus, error) { return b, nil },
		})
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "puppet.conf"), []byte(conf), 0o600); err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(engine.Options{
		Specs: termini.Specs(), Termini: all, ConfDir: dir, VarDir: dir, Application: "server", Write: true,
		Log: slog.New(slog.DiscardHandler), Set: set,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

func (b *backend) note(verb string, req *indirector.Request) {
	var class any
	if req.Instance != nil {
		class = map[string]string{"catalog": "Puppet::Resource::Catalog", "facts": "Puppet::Node::Facts", "node": "Puppet::Node", "resource": "Puppet::Resource"}[b.indirection]
	}
	options := []any{}
	for _, o := range req.Options {
		options = append(options, o.Name)
	}
	b.saw = append(b.saw, []any{verb, req.Key, class, options})
}

func (b *backend) Find(_ context.Context, req *indirector.Request) (indirector.Instance, error) {
	b.note("find", req)
	if !b.found {
		return nil, indirector.ErrNotFound
	}
	return instance(b.indirection, req.Key), nil
}

func (b *backend) Search(_ context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	b.note("search", req)
	if !b.found {
		return nil, indirector.ErrNotFound
	}
	return []indirector.Instance{instance(b.indirection, req.Key)}, nil
}

func (b *backend) Head(_ context.Context, req *indirector.Request) (bool, error) {
	b.note("head", req)
	return b.found, nil
}

func (b *backend) Save(_ context.Context, req *indirector.Request) (any, error) {
	b.note("save", req)
	return "saved", nil
}

func (b *backend) Destroy(_ context.Context, req *indirector.Request) (any, error) {
	b.note("destroy", req)
	return "destroyed", nil
}

package storeconfigs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/settings"
	"indirtui/traces"
)

// by names the backend as line 9 of a puppet.conf.
func by(name string) settings.Override {
	return settings.Override{Name: "storeconfigs_backend", Value: name, Source: "puppet.conf:9 [main]"}
}

// trace returns the trace of a request.
func trace(t *testing.T, e *engine.Engine, req *indirector.Request) *traces.Trace {
	t.Helper()
	resp, err := e.Do(t.Context(), req)
	id := resp.Trace
	if located := (*indirector.Error)(nil); errors.As(err, &located) {
		id = located.Trace
	}
	if err := e.Store.Flush(); err != nil {
		t.Fatal(err)
	}
	found, err := e.Store.Trace(id)
	if err != nil {
		t.Fatal(err)
	}
	return found
}

// The terminus that is passed on to has a span of its own, and both are named as those who
// answered. Rule STORE-SC-10.
func TestBothOwnersAreShown(t *testing.T) {
	t.Parallel()
	e := (&backend{indirection: "facts", found: true}).engine(t, by("recorder"))
	assign(t, e, "facts", "")
	tr := trace(t, e, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "n1"})
	text := string(traces.AppendStory(traces.AppendSteps(nil, tr), tr))
	for _, want := range []string{
		"choose delegated to recorder: setting storeconfigs_backend, puppet.conf:9 ",
		"answered  terminus store_configs → recorder",
		"asked     terminus store_configs → recorder: ok",
		"decided   store_configs: you, recorder: setting storeconfigs_backend, puppet.conf:9",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is missing in:\n%s", want, text)
		}
	}
	plan := e.Plan(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "n1"}, nil)
	if want := "terminus store_configs → recorder would be asked"; plan.Why != want {
		t.Errorf("plan: got %q, want %q", plan.Why, want)
	}
}

// What the backend lacks is known before it is asked.
func TestPlanLooksBehind(t *testing.T) {
	t.Parallel()
	e := (&backend{indirection: "facts"}).engine(t, by("facter"))
	assign(t, e, "facts", "")
	plan := e.Plan(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Search, Key: "n1"}, nil)
	if want := "terminus store_configs → facter has no search"; plan.Why != want || plan.Outcome != traces.Err {
		t.Errorf("got %q, %v; want %q", plan.Why, plan.Outcome, want)
	}
}

// A stored is a backend whose find of catalogs never answers, as that of PuppetDB.
type stored struct{ *backend }

func (stored) Find(context.Context, *indirector.Request) (indirector.Instance, error) {
	return nil, indirector.NotFound(traces.AlwaysNil, "")
}

// First lines of the story. Gap S-44.
func TestFirstLines(t *testing.T) {
	t.Parallel()
	const destroyed = "store_configs destroy calls save: nothing was deactivated"
	for _, tt := range []struct {
		name, indirection, as string
		verb                  indirector.Verb
		backend               indirector.Terminus
		want                  string
	}{
		{
			"catalog", "catalog", "cache", indirector.Find,
			stored{&backend{indirection: "catalog"}},
			"catalog goes to other: storeconfigs_backend, puppet.conf:9; answers nil by contract, so terminus recorder was asked",
		},
		{"IND-DEST-03 destroy", "node", "", indirector.Destroy, &backend{indirection: "node"}, destroyed},
		{"destroy that fails", "facts", "", indirector.Destroy, failing{}, destroyed},
		{"destroy in the cache", "facts", "cache", indirector.Destroy, &backend{indirection: "facts", found: true}, destroyed},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := &backend{indirection: tt.indirection, found: true}
			e := b.engineWith(t, []indirector.Descriptor{{
				Indirection: tt.indirection, Name: "other", Doc: "Stands for a store.", Type: tt.backend,
				New: func(indirector.Env) (indirector.Terminus, error) { return tt.backend, nil },
			}}, by("other"))
			assign(t, e, tt.indirection, tt.as)
			tr := trace(t, e, &indirector.Request{Indirection: tt.indirection, Verb: tt.verb, Key: "n1"})
			if got := traces.Story(tr); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// failing is a store that refuses what it cannot read, as that of PuppetDB does.
type failing struct{}

func (failing) Save(context.Context, *indirector.Request) (any, error) {
	return nil, &indirector.Failure{Class: "NoMethodError", Message: "undefined method `values' for nil:NilClass"}
}

// A backend that cannot be is a problem of the routes, with the line of the setting, and
// an error of each request. Rules STORE-SC-01, STORE-SC-07.
func TestRefusedBackends(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, conf, want string }{
		{"itself", "store_configs", "store_configs would pass requests on to itself: setting storeconfigs_backend, puppet.conf:3"},
		{"empty", "", "store_configs has no terminus to pass requests on to: setting storeconfigs_backend, puppet.conf:3"},
		{"unknown", "nosuch", "Could not find terminus nosuch for indirection facts"},
		{"a fault", "fault(store_configs, 503)", `Invalid terminus name "fault(store_configs, 503)": setting storeconfigs_backend, puppet.conf:3`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := &backend{indirection: "facts"}
			conf := "[main]\nstoreconfigs = true\nstoreconfigs_backend = " + tt.conf + "\n"
			e := b.engineIn(t, conf, nil)
			var problems []string
			for _, p := range e.Configuration().Problems {
				problems = append(problems, p.String())
			}
			if all := strings.Join(problems, "\n"); !strings.Contains(all, tt.want) || !strings.Contains(all, "puppet.conf:3") {
				t.Errorf("problems:\ngot  %s\nwant %s", all, tt.want)
			}
			_, err := e.Do(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "n1", Terminus: "store_configs"})
			if got := indirector.Message(err); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// The setting is read once; other settings at run time are a new start. What the other
// terminus reads is not kept beyond its own life.
func TestSetAnew(t *testing.T) {
	t.Parallel()
	e := (&backend{indirection: "facts"}).engine(t)
	assign(t, e, "facts", "")
	dirs := []string{t.TempDir(), t.TempDir()}
	set := func(all ...settings.Override) {
		t.Helper()
		if _, err := e.Override(all, ":set"); err != nil {
			t.Fatal(err)
		}
	}
	save := func() {
		t.Helper()
		if _, err := e.Do(t.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: instance("facts", "n1")}); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range dirs {
		set(settings.Override{Name: "storeconfigs_backend", Value: "yaml"}, settings.Override{Name: "yamldir", Value: dir})
		save()
		if _, err := os.Stat(filepath.Join(dir, "facts", "n1.yaml")); err != nil {
			t.Error(err)
		}
	}
	set(settings.Override{Name: "storeconfigs_backend", Value: "exec"})
	assign(t, e, "node", "")
	find := &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "n1"}
	if _, err := e.Do(t.Context(), find); err == nil || errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("got %v, want that there is no command", err)
	}
	set(settings.Override{Name: "storeconfigs_backend", Value: "exec"}, settings.Override{Name: "external_nodes", Value: "/bin/true"})
	if _, err := e.Do(t.Context(), find); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("got %v, want nothing of a command that prints nothing", err)
	}
	set(settings.Override{Name: "storeconfigs_backend", Value: "memory"})
	tr := trace(t, e, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "n1"})
	if diff := gocmp.Diff("store_configs → memory", tr.Owners(traces.Terminus)); diff != "" {
		t.Error(diff)
	}
}

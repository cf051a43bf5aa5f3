// Package storeconfigs has the store_configs termini. Each passes what it is asked on to
// another terminus of its indirection, the one that the setting storeconfigs_backend names:
// Puppet's applications and servers route to store_configs, and the setting decides which
// store that is.
//
// The terminus that is passed on to has its own span in the trace, and its errors are its
// own. What destroy does is Puppet's accident: it saves.
package storeconfigs

import (
	"context"
	"errors"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/traces"
)

const (
	name    = "store_configs"
	backend = "storeconfigs_backend"
)

// The store_configs termini. Those of facts and resources refuse requests from the
// network, whatever the other terminus allows. Rule STORE-SC-05.
var (
	Catalog  = describe("catalog", (*Terminus)(nil))
	Facts    = describe("facts", (*Local)(nil), "STORE-SC-05")
	Node     = describe("node", (*Terminus)(nil))
	Resource = describe("resource", (*Local)(nil), "STORE-SC-05", "STORE-SC-06")
)

func describe(indirection string, typ indirector.Terminus, rules ...string) indirector.Descriptor {
	rules = append(rules, "STORE-SC-01", "STORE-SC-02", "STORE-SC-03", "STORE-SC-04", "STORE-SC-07", "STORE-SC-10")
	slices.Sort(rules)
	return indirector.Descriptor{
		Indirection: indirection,
		Name:        name,
		Note:        "passes on; destroy saves",
		Doc: "Passes find, search, head and save on to the terminus of " + indirection + " that storeconfigs_backend names. " +
			"Destroy calls its save, as in Puppet, so that nothing is removed. The setting storeconfigs routes to it.",
		Settings: []indirector.Setting{{Name: backend, Doc: "The terminus to which everything is passed on."}},
		Rules:    rules,
		Type:     typ,
		New: func(env indirector.Env) (indirector.Terminus, error) {
			t, err := newTerminus(env)
			if _, local := typ.(*Local); local {
				return &Local{t}, err
			}
			return t, err
		},
		Passes: func(env indirector.Env, _ *indirector.Request) traces.Choice { return choice(env) },
	}
}

// choice returns the terminus that the setting names. The line alone is its source: it
// has one section.
func choice(env indirector.Env) traces.Choice {
	to, source := env.Settings.Get(backend)
	source, _, _ = strings.Cut(source, " [")
	return traces.Choice{Terminus: to, Kind: traces.FromSetting, Source: "setting " + backend + ", " + source, Setting: backend, Symbol: true}
}

// A Terminus passes on what it is asked. It is safe for concurrent use.
type Terminus struct {
	env indirector.Env
	to  traces.Choice
}

var (
	_ indirector.Finder    = (*Terminus)(nil)
	_ indirector.Searcher  = (*Terminus)(nil)
	_ indirector.Yielder   = (*Terminus)(nil)
	_ indirector.Header    = (*Terminus)(nil)
	_ indirector.Saver     = (*Terminus)(nil)
	_ indirector.Destroyer = (*Terminus)(nil)
	_ indirector.Keeper    = (*Terminus)(nil)
	_ indirector.Local     = (*Local)(nil)
	_ indirector.Softener  = (*Terminus)(nil)
)

// A Local is a Terminus that refuses requests from the network.
type Local struct{ *Terminus }

func (*Local) LocalOnly() bool { return true }

// newTerminus reads the setting, once: only an engine that gets other settings makes the
// terminus anew, as if Puppet had been started with them. The terminus that is named must
// be there; whether it can be made depends on its own settings. Rules STORE-SC-01, STORE-SC-07.
func newTerminus(env indirector.Env) (*Terminus, error) {
	t := &Terminus{env: env, to: choice(env)}
	if err := indirector.CheckPassed(name, t.to); err != nil {
		return nil, err
	}
	if env.Described(t.to.Terminus) == nil {
		_, err := env.Sibling(t.to.Terminus) // in Puppet's words
		return nil, err
	}
	return t, nil
}

// KeepsExpiry reports what is true of the terminus that is named.
func (t *Terminus) KeepsExpiry() bool {
	other, _ := t.env.Sibling(t.to.Terminus)
	if k, ok := other.(indirector.Keeper); ok {
		return k.KeepsExpiry()
	}
	d := t.env.Described(t.to.Terminus)
	return d != nil && d.KeepsExpiry
}

// Soft returns the setting of the other terminus.
func (t *Terminus) Soft() string {
	other, _ := t.env.Sibling(t.to.Terminus)
	if s, ok := other.(indirector.Softener); ok {
		return s.Soft()
	}
	return ""
}

func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	v, err := t.pass(ctx, indirector.Find, req)
	inst, _ := v.(indirector.Instance)
	return inst, err
}

func (t *Terminus) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	v, err := t.pass(ctx, indirector.Search, req)
	found, _ := v.([]indirector.Instance)
	return found, err
}

func (t *Terminus) Yield(ctx context.Context, req *indirector.Request, yield func(indirector.Instance) error) error {
	_, err := t.pass(ctx, indirector.Search, req.Yielding(yield))
	return err
}

func (t *Terminus) Head(ctx context.Context, req *indirector.Request) (bool, error) {
	v, err := t.pass(ctx, indirector.Head, req)
	found, _ := v.(bool)
	return found, err
}

func (t *Terminus) Save(ctx context.Context, req *indirector.Request) (any, error) {
	return t.pass(ctx, indirector.Save, req)
}

// Destroy saves, and the request has no instance. Rule STORE-SC-03.
func (t *Terminus) Destroy(ctx context.Context, req *indirector.Request) (any, error) {
	save := *req
	save.Verb = indirector.Save
	v, err := t.pass(ctx, indirector.Save, &save)
	if err != nil {
		traces.ExplainFailure(ctx, traces.DestroySaves)
	} else {
		traces.ExplainAbove(ctx, traces.DestroySaves) // the save has its own
	}
	return v, err
}

// pass asks the other terminus, in a span of its own. Rules STORE-SC-02, STORE-SC-10.
func (t *Terminus) pass(ctx context.Context, verb indirector.Verb, req *indirector.Request) (any, error) {
	ctx, span := traces.Start(ctx, traces.Choose, "delegated to "+t.to.Terminus)
	span.Attr(traces.AttrTerminus, t.to.Terminus)
	v, err := t.ask(ctx, verb, req)
	failed := err
	if errors.Is(err, indirector.ErrNotFound) {
		failed = nil
	}
	span.End(t.to.Source, traces.Because{Reason: traces.BySetting, About: t.to.Source}, failed)
	return v, err
}

func (t *Terminus) ask(ctx context.Context, verb indirector.Verb, req *indirector.Request) (any, error) {
	other, err := t.env.Sibling(t.to.Terminus) // another one, if it was made anew by other settings
	if err != nil {
		return nil, err
	}
	handle := indirector.VerbsOf(other)[verb]
	if handle == nil { // Rule STORE-SC-04
		d := t.env.Described(t.to.Terminus)
		return nil, &indirector.VerbError{
			Indirection: t.env.Indirection, Terminus: t.to.Terminus, Verb: verb, Class: d.Class(t.env.Spec), Aborts: d.REST,
		}
	}
	return handle(ctx, req)
}

// Package hiera has the terminus that looks data up in the levels of hiera 5.
//
// Puppet does not ask this indirection for hiera, it looks data up directly; its
// terminus of this name is hiera 3. Here every lookup is a request, so that it can
// be routed, held, compared and replayed like all others. Rule HIERA-IND-01.
package hiera

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/site"
	"indirtui/indirector/model"
	"indirtui/termini/internal/nested"
	"indirtui/traces"
)

// DataBinding describes the hiera terminus of the data_binding indirection.
var DataBinding = indirector.Descriptor{
	Indirection: "data_binding",
	Name:        "hiera",
	Note:        "levels: global, environment, module",
	Doc: "Looks a key up through the levels of hiera 5: the global layer, the environment, the module of the key. " +
		"Files hiera.yaml of versions 3 and 4 are read, too. A level may be a function that a module defines in the Puppet language, or in Ruby where that may run. Each level is a span: found, no such key, path not found, or not asked because a higher one had it. " +
		"The variables are those of the node that the option certname names, else of this host; the option merge is first, unique, hash or deep. " +
		"In Puppet this terminus is hiera 3, and lookups do not pass through the indirection.",
	Settings: []indirector.Setting{
		{Name: "hiera_config", Doc: "The hiera.yaml of the global layer."},
		{Name: "environmentpath", Doc: "Where environments are; each may have a hiera.yaml."},
		{Name: "modulepath", Doc: "Where modules are; each may have a hiera.yaml."},
		{Name: "codedir", Doc: "Where hiera.yaml of version 3 looks for data."},
		{Name: "environment_data_provider", Doc: "What environments had before they had a hiera.yaml: none, hiera or function."},
		{Name: "data_binding_terminus", Doc: "Unless it is hiera, that terminus is asked in place of the global layer; none switches it off."},
		{Name: "strict", Doc: "Whether variables that do not exist are warned of, or refused."},
		{Name: "strict_variables", Doc: "Whether functions of modules fail at variables that do not exist."},
		{Name: "max_errors", Doc: "How many errors of a manifest are logged."},
		{Name: "max_warnings", Doc: "How many warnings of a manifest are logged."},
		{Name: "max_deprecations", Doc: "How many warnings of what is deprecated in a manifest are logged."},
		{Name: "disable_warnings", Doc: "Kinds of warnings that are not logged."},
		{Name: "manifest", Doc: "Which definitions are no part of modules, for functions of these."},
		{Name: "certname", Doc: "The node, if no other is named."},
	},
	Rules: []string{"HIERA-IND-01", "HIERA-LAY-01", "HIERA-LAY-04", "HIERA-TRACE-01"},
	Type:  (*Terminus)(nil),
	New: func(env indirector.Env) (indirector.Terminus, error) {
		return &Terminus{env: env, cache: hiera.NewCache(), programs: site.NewPrograms()}, nil
	},
}

// A Terminus looks data up. What it reads it keeps until the file changes.
type Terminus struct {
	env      indirector.Env
	cache    *hiera.Cache
	programs *loader.Cache
}

// Find returns the value of a key as a *model.Binding.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	s, end, err := t.session(ctx, req)
	if err != nil {
		return nil, err
	}
	defer end()
	r, err := s.Compile.Find(ctx, req.Key, hiera.Query{Merge: mergeOf(req.Option("merge")), Record: s.Record, Scope: s.Scope})
	switch {
	case err != nil:
		return nil, failed(err)
	case !r.Found:
		return nil, indirector.NotFound(traces.NotFound, "no level has the key "+req.Key)
	}
	if where := r.Sentence; where != "" {
		if _, compiled := req.Option(hiera.OptionSession).(*hiera.Session); !compiled {
			where += "; no catalog was compiled for that, so variables of manifests do not count"
		}
		traces.Explain(ctx, where)
	}
	return &model.Binding{Name: req.Key, Value: r.Value, Secret: r.Secret}, nil
}

// session is what the request is looked up in: what comes with it, or a compile for
// it alone, which has an end.
func (t *Terminus) session(ctx context.Context, req *indirector.Request) (s hiera.Session, end func(), err error) {
	end = func() {}
	if given, ok := req.Option(hiera.OptionSession).(*hiera.Session); ok {
		s = *given
	} else {
		own, err := t.compile(ctx, req)
		if err != nil {
			return s, end, err
		}
		s.Compile, end = own.Data, own.Close
	}
	if s.Record == nil {
		s.Record = &hiera.Record{OriginOnly: true}
	}
	return s, end, nil
}

// mergeOf is the option merge, from a program or from a command line.
func mergeOf(option any) data.Value {
	switch m := option.(type) {
	case data.Value:
		return m
	case string:
		return data.OfString(m)
	}
	return data.Value{}
}

// failed is an error in Puppet's words.
func failed(err error) error {
	f := &indirector.Failure{Class: string(hiera.Failed), Message: err.Error(), Err: err}
	if e := (*hiera.Error)(nil); errors.As(err, &e) {
		f.Class, f.Path = string(e.Class), e.File
		if e.Class == hiera.Lacking {
			f.Class = string(hiera.LookupFailed)
		}
	}
	return f
}

// compile is what a request alone is looked up in, with the variables of its node.
func (t *Terminus) compile(ctx context.Context, req *indirector.Request) (*site.Site, error) {
	settings := t.env.Settings
	if t.env.SettingsIn != nil {
		settings = t.env.SettingsIn(req.Environment)
	}
	get := func(name string) string { v, _ := settings.Get(name); return v }
	o := hiera.FromSettings(get, req.Environment)
	o.Cache = t.cache
	o.Warnings = &hiera.Warnings{Log: func(m string) {
		t.env.Log.Warn(m)
		// The second line is about the place, which there is none of.
		first, _, _ := strings.Cut(m, "\n")
		traces.AddNote(ctx, strings.TrimRight(first, "; "))
	}}
	if o.Binding == "hiera" || o.Binding == t.env.Terminus {
		o.Binding = "hiera"
	}
	o.Ask = t.ask(ctx, req)
	if scope, ok := req.Option("variables").(hiera.Scope); ok {
		o.Scope = scope
		return t.withLanguage(ctx, req, get, o), nil
	}
	name, ok := req.Option("certname").(string)
	if !ok {
		name = get("certname")
	}
	var err error
	if o.Scope, err = t.variables(ctx, req, name, o.Environment); err != nil {
		return nil, err
	}
	return t.withLanguage(ctx, req, get, o), nil
}

// withLanguage adds the functions and types of modules.
func (t *Terminus) withLanguage(ctx context.Context, req *indirector.Request, get func(string) string, h hiera.Options) *site.Site {
	o := site.FromSettings(get, h, t.programs)
	o.Context, o.Ruby = ctx, t.env.Ruby.For(req)
	o.Eval.Log = func(e eval.LogEntry) {
		if e.Level != "debug" && e.Level != "info" {
			h.Warnings.Log(e.String())
		}
	}
	return site.New(o)
}

// ask asks another terminus of this indirection, which the setting names in place
// of the global layer. Rule HIERA-LAY-04.
func (t *Terminus) ask(ctx context.Context, req *indirector.Request) func(terminus, key string, merge data.Value) (data.Value, bool, error) {
	return func(terminus, key string, merge data.Value) (data.Value, bool, error) {
		options := []indirector.Option{}
		if !merge.IsNil() {
			options = append(options, indirector.Option{Name: "merge", Value: merge})
		}
		inst, err := nested.Find(ctx, t.env.Do, &indirector.Request{
			Indirection: "data_binding", Verb: indirector.Find, Key: key, Terminus: terminus, Environment: req.Environment, Options: options,
		})
		if inst == nil || err != nil {
			return data.Value{}, false, err
		}
		v, ok := inst.(interface{ Data() data.Value })
		if !ok {
			return data.Value{}, false, fmt.Errorf("the answer to %q is no data", key)
		}
		return v.Data(), true, nil
	}
}

// variables are those of a node and its facts. What is not found has none.
func (t *Terminus) variables(ctx context.Context, req *indirector.Request, name, environment string) (hiera.Variables, error) {
	inst, err := nested.Find(ctx, t.env.Do, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: name, Environment: req.Environment})
	if err != nil {
		return nil, err
	}
	facts, _ := inst.(*model.Facts)
	if facts == nil {
		facts = &model.Facts{Name: name, Values: data.OfHash(nil)}
		traces.AddNote(ctx, "there are no facts of "+name+", so paths with facts in them lead nowhere")
	}
	node := &indirector.Request{
		Indirection: "node", Verb: indirector.Find, Key: name, Environment: req.Environment, Options: []indirector.Option{{Name: "facts", Value: facts}},
	}
	if t.env.Application == "agent" {
		// An agent would ask its server, which is to compile. What is looked up here is
		// looked up as puppet lookup does it.
		node.Terminus, node.Source = "plain", "puppet lookup"
	}
	inst, err = nested.Find(ctx, t.env.Do, node)
	if err != nil {
		return nil, err
	}
	parameters := facts.Values
	if node, ok := inst.(*model.Node); ok {
		parameters = node.Parameters
	}
	return hiera.OfNode(parameters, facts.Values, hiera.LocalTrust(parameters.Get("clientcert")), environment), nil
}

package compiler

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/compile"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/site"
	"indirtui/indirector/model"
	"indirtui/indirector/puppetdb"
	"indirtui/termini/internal/nested"
	"indirtui/traces"
)

// A language compiles manifests. What it reads it keeps until the files change.
type language struct {
	env      indirector.Env
	programs *loader.Cache
	data     *hiera.Cache
	db       *puppetdb.Client // for the function puppetdb_query
	spans    atomic.Int64     // of the last compile, as many as the next may have

	mu       sync.Mutex               // guards what follows
	settings map[string]settingsScope // by environment
}

func newLanguage(env indirector.Env) *language {
	return &language{env: env, programs: site.NewPrograms(), data: hiera.NewCache(), db: puppetdb.Of(env)}
}

// compile compiles the catalog of a node.
func (l *language) compile(ctx context.Context, in *Input) (*model.Catalog, error) {
	settings := l.env.Settings
	if l.env.SettingsIn != nil {
		settings = l.env.SettingsIn(in.Environment)
	}
	get := func(name string) string { v, _ := settings.Get(name); return v }
	o := l.site(ctx, get, in.Environment)
	o.Ruby = in.Ruby
	o.Origins = in.Receiver != nil || traces.FromContext(ctx) != nil
	o.Validate = notValidated
	if in.Commands {
		o.Generate, o.Validate = generate, validate
	}
	if l.env.Environments != nil {
		if err := l.env.Environments(in.Environment); err != nil {
			return nil, &indirector.Failure{Class: "Puppet::Environments::EnvironmentNotFound", Message: err.Error(), Path: get("environmentpath"), Err: err}
		}
	}
	if u := newUses(ctx, o.Hiera.EnvironmentDir, in.Facts, l.env.Now); u != nil {
		o.Used, o.Eval.Called, o.Eval.Calls, o.Eval.Read = u.file, u.call, u, u.read
		search := o.Search
		o.Query = func(ctx context.Context, query data.Value) (data.Value, error) {
			v, err := l.db.Query(ctx, query)
			if err != nil && ctx.Err() == nil {
				return v, eval.Errorf("%s", indirector.Message(err))
			}
			return v, err
		}
		o.Search = func(ctx context.Context, c *hiera.Compile, key string, q hiera.Query) (data.Value, bool, error) {
			v, found, err := search(ctx, c, key, q)
			u.looked(found)
			return v, found, err
		}
		defer u.end()
	}
	if stops := indirector.CodeStopsOf(ctx); stops != nil {
		o.Eval.Stopper = stopper{stops}
	}
	var collected collections
	options := compile.Options{
		Node: nodeOf(in), RichData: get("rich_data") != "false", Version: l.version(get("config_version"), in.Commands), UUID: model.NewUUID(), CodeID: in.CodeID,
		Settings: l.settingsIn(in.Environment, settings),
		Exported: func(ctx context.Context, typ string, filter data.Value) (compile.Exports, error) {
			return l.exported(ctx, in, typ, filter)
		},
	}
	if traces.FromContext(ctx) != nil {
		options.Collected = collected.add
	}
	live := traces.FromContext(ctx)
	live.Expect(int(l.spans.Load()))
	result, err := site.Compile(ctx, o, options, get("code"))
	live.Look(func(t *traces.Trace) { l.spans.Store(int64(len(t.Spans))) })
	collected.note(ctx, l.env.Now(), err)
	if err != nil {
		return nil, failed(ctx, err)
	}
	if in.Receiver != nil {
		in.Receiver.Catalog = result.Catalog
	}
	return result.Catalog, nil
}

// A stopper lets the debugger stop a compile.
type stopper struct{ *indirector.CodeStops }

// Stop implements eval.Stopper.
func (s stopper) Stop(ctx context.Context, at *eval.Stop) error {
	return s.Hold(ctx, indirector.Code{Kind: at.Kind, Name: at.Name, File: at.File, Line: at.Line, Depth: at.Depth()}, codePlace{at})
}

// A codePlace is a stop of the language as the debugger sees it.
type codePlace struct{ *eval.Stop }

// Freeze implements indirector.CodePlace.
func (p codePlace) Freeze(c *indirector.Code) {
	for _, call := range p.Calls() {
		c.Calls = append(c.Calls, indirector.CodeCall(call))
	}
	c.Variables = p.Variables()
	for _, v := range c.Variables {
		if name := v.Key.Str(); eval.Fixed(name) {
			c.Fixed = append(c.Fixed, name)
		}
	}
}

// version returns what finds the version of a catalog: the time, or a command of
// environment.conf, where manifests may run commands. Rule LANG-LOAD-13.
func (l *language) version(command string, runs bool) func(context.Context) (data.Value, error) {
	return func(ctx context.Context) (data.Value, error) {
		switch {
		case command == "":
		case !runs:
			traces.AddNote(ctx, "config_version is not run where a catalog is looked at: its version is the time")
		default:
			text, err := execute(ctx, command)
			if err != nil {
				message := fmt.Sprintf("Execution of config_version command `%s` failed: %v", command, err)
				return data.Value{}, &indirector.Failure{Class: "Puppet::ParseError", Message: message, Err: err}
			}
			return data.OfString(strings.TrimSpace(text)), nil
		}
		return data.OfInt(l.env.Now().Unix()), nil
	}
}

// site returns what programs have around them: every key is looked up by a request. Rule
// LANG-TRACE-03.
func (l *language) site(ctx context.Context, get func(string) string, environment string) site.Options {
	h := hiera.FromSettings(get, environment)
	h.Cache = l.data
	h.Warnings = &hiera.Warnings{Log: func(m string) { l.log(ctx, eval.LogEntry{Level: "warning", Message: m}) }}
	o := site.FromSettings(get, h, l.programs)
	o.Eval.Log = func(e eval.LogEntry) { l.log(ctx, e) }
	o.Eval.StoreConfigs = get("storeconfigs") == "true"
	o.Search = func(ctx context.Context, c *hiera.Compile, key string, q hiera.Query) (data.Value, bool, error) {
		return l.lookup(ctx, environment, key, q, &hiera.Session{Compile: c, Scope: q.Scope, Record: q.Record})
	}
	return o
}

// lookup asks for a key of data. The option parameter marks a key that nothing asked for
// but a class with a parameter of that name.
func (l *language) lookup(ctx context.Context, environment, key string, q hiera.Query, session *hiera.Session) (data.Value, bool, error) {
	req := &indirector.Request{
		Indirection: "data_binding", Verb: indirector.Find, Key: key, Environment: environment,
		Options: append(make([]indirector.Option, 0, 3), indirector.Option{Name: hiera.OptionSession, Value: session}),
	}
	if !q.Merge.IsNil() {
		req.Options = append(req.Options, indirector.Option{Name: "merge", Value: q.Merge})
	}
	if q.Parameter {
		req.Options = append(req.Options, indirector.Option{Name: "parameter", Value: true})
	}
	resp, err := nested.Ask(ctx, l.env.Do, req)
	if err != nil {
		var known *hiera.Error
		if errors.As(err, &known) {
			return data.Value{}, false, known
		}
		return data.Value{}, false, bare(err)
	}
	inst := resp.Instance()
	if inst == nil {
		return data.Value{}, false, nil
	}
	if r := session.Record; r != nil && (r.Empty() || resp.Served == traces.ByInjection) {
		r.Elsewhere = elsewhere(resp)
	}
	v, ok := inst.(interface{ Data() data.Value })
	if !ok {
		return data.Value{}, false, fmt.Errorf("the answer to %q is no data", key)
	}
	return v.Data(), true, nil
}

// elsewhere is what answered in place of the levels of hiera.
func elsewhere(resp indirector.Response) string {
	switch resp.Served {
	case traces.ByInjection:
		return "injected"
	case traces.ByCache:
		return "cache " + resp.From
	}
	return "terminus " + resp.From
}

// log passes on what programs log. Warnings are notes of the request, too.
func (l *language) log(ctx context.Context, e eval.LogEntry) {
	l.env.Log.Log(ctx, indirector.Levels[e.Level], e.String())
	if e.Level == "warning" {
		first, _, _ := strings.Cut(e.String(), "\n")
		traces.AddNote(ctx, first)
	}
}

// nodeOf returns the node as compilers know it.
func nodeOf(in *Input) compile.Node {
	out := compile.NodeOf(in.Node)
	out.Environment, out.Trusted, out.ServerFacts, out.Facts = in.Environment, in.Trusted, in.Server, in.Facts
	return out
}

// A settingsScope is the class settings of the settings that it was made of, which do not
// change. To make it takes as long as a tenth of a small compile.
type settingsScope struct {
	settings manifestSettings
	scope    *eval.Scope
}

// manifestSettings are settings that manifests see.
type manifestSettings interface {
	Each(f func(name string, value any))
}

// settingsIn returns the variables of the class settings in an environment.
func (l *language) settingsIn(environment string, s indirector.Settings) *eval.Scope {
	all, ok := s.(manifestSettings)
	if !ok {
		return nil
	}
	const most = 64 // environments
	l.mu.Lock()
	defer l.mu.Unlock()
	if known := l.settings[environment]; known.scope != nil && known.settings == all {
		return known.scope
	}
	var pairs []data.Pair
	all.Each(func(name string, value any) { pairs = append(pairs, data.P(name, data.OfAny(value))) })
	if l.settings == nil || len(l.settings) >= most {
		l.settings = map[string]settingsScope{}
	}
	known := settingsScope{all, compile.SettingsOf(pairs)}
	l.settings[environment] = known
	return known.scope
}

// failed is the error of a compile in Puppet's words. The trace has what contains the
// resource that failed, and where a class was looked for that is not found.
func failed(ctx context.Context, err error) error {
	f := &indirector.Failure{Message: err.Error(), Origin: "compile", Err: err}
	var where *eval.Error
	if errors.As(err, &where) && where.File != "" {
		f.Path = where.File
		if where.Line > 0 {
			f.Path = fmt.Sprintf("%s:%d", where.File, where.Line)
		}
	}
	var failed *compile.Error
	if errors.As(err, &failed) {
		if failed.Why != "" {
			traces.ExplainFailure(ctx, failed.Why)
		}
		if len(failed.Containers) > 0 {
			traces.AddNote(ctx, "within "+strings.Join(failed.Containers, ", "))
		}
		for _, name := range slices.Sorted(maps.Keys(failed.Tried)) {
			if strings.Contains(f.Message, name) { // others are what was not found on the way
				traces.AddNote(ctx, name+" was looked for in "+strings.Join(failed.Tried[name], ", "))
			}
		}
	}
	return f
}

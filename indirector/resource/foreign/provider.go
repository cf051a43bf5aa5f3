package foreign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// Provider returns what does a resource in the child, or nil if this program does it itself:
// its type, and the provider of the resource.
func (h *Helper) Provider(r *types.Resource) providers.Provider {
	if Native(r.Type) && (r.Provider == nil || providers.HasProvider(r.Type, r.Provider.Name)) {
		return nil
	}
	return whole{h}
}

// Native reports whether this program does resources of a type itself.
func Native(t *types.Type) bool { return types.Find(t.Name) == t && providers.Has(t) }

// A whole does resources in the child, each at once.
type whole struct{ h *Helper }

var (
	_ providers.Whole     = whole{}
	_ providers.Suitabler = whole{}
	_ providers.Generator = whole{}
)

// Retrieve reads what is by a look at all that would be done.
func (w whole) Retrieve(ctx context.Context, s providers.System, r *types.Resource) ([]data.Pair, error) {
	done, err := w.Do(ctx, s, r, true)
	if err != nil {
		return nil, err
	}
	return done.Is, done.Err
}

// Set fails: a property is no question to the child.
func (whole) Set(_ context.Context, _ providers.System, r *types.Resource, property string) error {
	return fmt.Errorf("set %s of %q: resources of this type are done as a whole", property, r.Ref())
}

// Suitable asks Ruby, which may find now what was missing before. It chooses the provider of
// a resource that has none.
func (w whole) Suitable(ctx context.Context, r *types.Resource) (bool, error) {
	v, err := w.h.ask(ctx, asked("suitable", r, true))
	if r.Provider == nil {
		r.Provider = r.Type.Provider(v.Get("provider").Text())
	}
	return v.Get("suitable").Truthy(), err
}

// Do applies a resource. Rules RES-EV-02 and RES-EV-07.
func (w whole) Do(ctx context.Context, _ providers.System, r *types.Resource, noop bool) (*providers.Done, error) {
	return w.work(ctx, "apply", r, noop)
}

// Restart refreshes a resource. Rule RES-REF-07.
func (w whole) Restart(ctx context.Context, _ providers.System, r *types.Resource) (*providers.Done, error) {
	return w.work(ctx, "refresh", r, false)
}

func (w whole) work(ctx context.Context, do string, r *types.Resource, noop bool) (*providers.Done, error) {
	q := asked(do, r, noop)
	q.limit = w.h.o.Work
	v, err := w.h.ask(ctx, q)
	if err != nil {
		return nil, err
	}
	done := &providers.Done{}
	for _, p := range pairs(v.Get("is")) {
		if isProperty(r, p.Key.Str()) {
			done.Is = append(done.Is, p)
		}
	}
	for _, d := range v.Get("did").List() {
		if e, ok := d.Lookup("event"); ok {
			event, err := eventOf(r, e)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", &q, err)
			}
			done.Did = append(done.Did, providers.Did{Event: event})
			continue
		}
		done.Did = append(done.Did, providers.Did{Line: lineOf(r, d.Get("line"))})
	}
	if problem, ok := v.Lookup("error"); ok {
		done.Err = failure(problem)
	}
	return done, nil
}

// asked is a question about a resource.
func asked(do string, r *types.Resource, noop bool) question {
	var sensitive []data.Value
	var given []data.Pair
	for _, name := range r.Names() {
		a := r.Type.Attribute(name)
		if r.Sensitive(name) {
			sensitive = append(sensitive, data.OfString(name))
		}
		if r.ByDefault(name) { // defaults are Ruby's
			continue
		}
		if v, ok := original(r, a); ok {
			given = append(given, data.P(name, v))
		}
	}
	q := question{do: do, about: r.Ref(), sees: true, secret: len(sensitive) > 0, fields: []data.Pair{
		data.P("type", data.OfString(r.Type.Name)), data.P("title", data.OfString(r.Title)), data.P("parameters", data.OfHash(given)),
		data.P("sensitive", data.OfList(sensitive)), data.P("noop", data.OfBool(noop)),
	}}
	if r.File != "" {
		q.fields = append(q.fields, data.P("file", data.OfString(r.File)), data.P("line", data.OfInt(r.Line)))
	}
	return q
}

// original is what an attribute was set to: the types of Ruby make of it what they make of
// it. An attribute that is only audited was not set.
func original(r *types.Resource, a *types.Attribute) (data.Value, bool) {
	all := r.Original(a.Name)
	switch {
	case all == nil:
		return data.Value{}, false
	case len(all) == 1:
		return forRuby(all[0]), true
	}
	return forRuby(data.OfList(all)), true
}

// forRuby is a value with the rich data of which Ruby makes what is closed in it.
func forRuby(v data.Value) data.Value {
	switch v.Kind() {
	case data.List, data.Hash:
		return v.Map(forRuby)
	case data.Rich:
		if r, ok := v.Rich().(interface{ RichData() data.Value }); ok {
			return r.RichData()
		}
	}
	return v
}

func isProperty(r *types.Resource, name string) bool {
	a := r.Type.Attribute(name)
	return a != nil && a.Kind == types.Property
}

// statuses are those that events of a resource have.
var statuses = []string{"success", "noop", "failure"}

func eventOf(r *types.Resource, v data.Value) (*providers.Event, error) {
	e := &providers.Event{
		Property: v.Get("property").Text(), Name: v.Get("name").Text(), Status: v.Get("status").Text(), Message: v.Get("message").Text(),
		Is: symbols(v.Get("is")), Should: symbols(v.Get("should")), Unschedules: v.Get("unschedules").Truthy(),
	}
	if !isProperty(r, e.Property) || !slices.Contains(statuses, e.Status) {
		return nil, fmt.Errorf("it answers with the event %q of %q, which is none", e.Status, e.Property)
	}
	return e, nil
}

var levels = []string{"debug", "info", "notice", "warning", "err", "alert", "emerg", "crit"}

// lineOf is a line of the log: of a property, of the provider, of the resource, or of Puppet.
func lineOf(r *types.Resource, v data.Value) *providers.Line {
	l := &providers.Line{Level: v.Get("level").Text(), Message: v.Get("message").Text()}
	if !slices.Contains(levels, l.Level) {
		l.Level = "notice"
	}
	source := v.Get("source").Text()
	_, property, _ := strings.Cut(source, r.Ref()+"/")
	switch {
	case strings.HasSuffix(source, ")") && strings.Contains(source, r.Ref()+"(provider="):
		l.Resource, l.ByProvider = r, true
	case strings.HasSuffix(source, r.Ref()):
		l.Resource = r
	case isProperty(r, property):
		l.Resource, l.Property = r, property
	}
	return l
}

// failed is an error in the words of Ruby.
func failed(err error) (f *indirector.Failure, ok bool) {
	ok = errors.As(err, &f)
	return f, ok
}

// Package ral answers with the resources of this machine: what they are, as their
// providers read it. A save applies one; everything else changes nothing.
package ral

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/foreign"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/system"
	"indirtui/indirector/resource/types"
	"indirtui/traces"
)

// Resource describes the ral terminus of the resource indirection.
var Resource = indirector.Descriptor{
	Indirection: "resource",
	Name:        "ral",
	Note:        "this machine, read anew",
	Code:        true,
	Doc: "Reads resources of this machine: files, users, packages, services and others. The key is a type and a title; without a title a search lists all. " +
		"What is not there is found as well, as a resource that is absent. Each command that is run is in the trace. A save makes one what it should be, by itself or as part of a run; nothing else changes anything. " +
		"Types that this program does not have itself are done by a helper process with Ruby and Puppet, where the configuration ruby allows it.",
	Settings: []indirector.Setting{
		{Name: "certname", Doc: "Whose facts are asked for: they decide which providers are used."},
		{Name: "digest_algorithm", Doc: "The checksum of files."},
		{Name: "noop", Doc: "Whether a save only shows what it would do."},
		{Name: "tags", Doc: "What a save must be tagged with."},
		{Name: "statefile", Doc: "Where a save notes that it was done."},
		{Name: "clientbucketdir", Doc: "Where a save keeps what it replaces."},
		{Name: "environment", Doc: "The environment of the helper."},
		{Name: "modulepath", Doc: "Where modules with types are."},
		{Name: "confdir", Doc: "The helper's."},
		{Name: "codedir", Doc: "The helper's."},
		{Name: "vardir", Doc: "The helper's."},
		{Name: "libdir", Doc: "Types that were synced."},
		{Name: "environmentpath", Doc: "The helper's."},
	},
	Rules: []string{"RES-RAL-01"},
	Type:  (*Terminus)(nil),
	New:   func(env indirector.Env) (indirector.Terminus, error) { return &Terminus{env: env}, nil },
}

// Options that belong to a request, and filter nothing. Rule RES-RAL-04.
var ofRequest = []string{"ip", "node", "authenticated", "ignore_terminus", "ignore_cache", "ignore_cache_save", "instance", "environment"}

// A Terminus reads the machine at each request.
type Terminus struct {
	env indirector.Env
	// System is the machine, and Host what types ask of it; nil is the one that this
	// program runs on.
	System providers.System
	Host   types.Host

	mu     sync.Mutex
	helper *foreign.Helper // nil until a type needs it
}

var (
	_ indirector.Finder   = (*Terminus)(nil)
	_ indirector.Searcher = (*Terminus)(nil)
	_ indirector.Saver    = (*Terminus)(nil)
	_ indirector.Local    = (*Terminus)(nil)
)

// LocalOnly reports true: Rule RES-RAL-07.
func (*Terminus) LocalOnly() bool { return true }

// A look is one request.
type look struct {
	machine providers.System // on which everything may be done
	system  providers.System // on which it is looked only
	host    types.Host
	set     *providers.Set
	typ     *types.Type
	title   string
}

// look finds the type that a key names. Rule RES-RAL-01.
func (t *Terminus) look(ctx context.Context, key string) (*look, error) {
	return t.lookOn(ctx, key, nil)
}

// lookOn is look on another machine, if that is not nil.
func (t *Terminus) lookOn(ctx context.Context, key string, other providers.System) (*look, error) {
	name, title, _ := strings.Cut(key, "/")
	l := &look{typ: types.All()[strings.ToLower(name)], title: title, set: &providers.Set{}}
	machine, host := t.System, t.Host
	switch {
	case other != nil:
		machine, host = other, other
	case machine == nil:
		var err error
		if host, err = t.machine(ctx); err != nil {
			return nil, err
		}
		machine = machineOf(host)
	}
	l.machine, l.system, l.host = machine, system.ReadOnly(machine), types.NewSelection(host, nil)
	return l, nil
}

// Find returns a resource as it is. One that is not there is found, too. Rules RES-RAL-02
// and RES-RAL-03.
func (t *Terminus) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	if isForeign(req) {
		return t.findForeign(ctx, req)
	}
	l, err := t.look(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	titled := func(is providers.Found) bool { return is.Name == l.title }
	all, err := l.instances(ctx, func(_ *types.Provider, found []providers.Found) bool { return slices.ContainsFunc(found, titled) })
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(all, titled); i >= 0 {
		return l.listed(ctx, all[i])
	}
	if l.title == "" {
		return nil, &indirector.Failure{Message: "Title or name must be provided"}
	}
	return l.fresh(ctx)
}

// fresh reads a resource that no list has.
func (l *look) fresh(ctx context.Context) (indirector.Instance, error) {
	names := []data.Value{}
	for _, a := range l.typ.Attributes {
		if a.Kind == types.Property {
			names = append(names, data.OfString(a.Name))
		}
	}
	r, err := types.New(l.typ, l.host, types.Given{Title: l.title, Values: []data.Pair{data.P("audit", data.OfList(names))}}, nil)
	if err != nil {
		return nil, refused(err)
	}
	is, err := l.retrieve(ctx, r)
	if err != nil {
		return nil, err
	}
	if l.typ.Instances == types.ByProviders && len(is) > 0 && is[0].Value.Text() == "absent" {
		note(ctx, r.Ref(), "nothing has this name: Puppet answers with a resource that is absent")
	}
	return l.resource(r, is, every), nil
}

// refused is an error of making a resource, of the class that Puppet has for it.
func refused(err error) error {
	class := "Puppet::ResourceError"
	if !strings.HasPrefix(err.Error(), "Parameter ") && !strings.HasPrefix(err.Error(), "Validation of ") {
		class = "Puppet::Error"
	}
	return &indirector.Failure{Class: class, Message: err.Error(), Err: err}
}

// note leaves something in the trace that Puppet keeps to itself.
func note(ctx context.Context, about, text string) {
	_, span := traces.Start(ctx, traces.Note, about)
	span.End(text, traces.Because{}, nil)
}

// instances lists what there is, up to what is enough, and notes how.
func (l *look) instances(ctx context.Context, enough func(*types.Provider, []providers.Found) bool) ([]providers.Found, error) {
	return l.set.List(ctx, l.system, l.host, l.typ, providers.Listing{Note: func(about, text string) { note(ctx, about, text) }, Enough: enough})
}

// listed makes a resource of what was listed.
func (l *look) listed(ctx context.Context, is providers.Found) (indirector.Instance, error) {
	r, err := is.Resource(l.host)
	if err != nil {
		return nil, refused(err)
	}
	properties := is.Properties
	if properties == nil {
		if err := r.Set("audit", data.OfSymbol("all")); err != nil {
			return nil, refused(err)
		}
		r.Unset("audit")
		if properties, err = l.retrieve(ctx, r); err != nil {
			return nil, err
		}
	}
	return l.resource(r, properties, every), nil
}

func (l *look) retrieve(ctx context.Context, r *types.Resource) ([]data.Pair, error) {
	name := ""
	if r.Provider != nil {
		name = r.Provider.Name
	}
	provider, ok := l.set.Of(l.typ, name)
	if !ok {
		return nil, &indirector.Failure{
			Message: fmt.Sprintf("Provider %s is not functional on this host", name), Hidden: "this program lacks the provider",
		}
	}
	is, err := provider.Retrieve(ctx, l.system, r)
	if errors.Is(err, system.ErrReadOnly) {
		return nil, fmt.Errorf("read %q: %w", r.Ref(), err)
	}
	return is, err
}

func every(string) bool { return true }

// resource is what Puppet answers: namevars that are not the title, properties in the
// type's order, then the parameters that are set. Rule RES-RAL-03.
func (l *look) resource(r *types.Resource, is []data.Pair, shown func(property string) bool) *model.Resource {
	var all []data.Pair
	title := r.Title
	if l.typ.Name == "sshkey" && r.Value("type").IsNil() {
		title += "@" // Puppet's title of a key without a type
		all = []data.Pair{data.P("name", r.Value("name")), data.P("type", data.OfString(""))}
	}
	gone := len(is) > 0 && is[0].Key.Str() == "ensure" && is[0].Value.Text() == "absent"
	named := func(name string) bool { // by the title
		return slices.Contains(l.typ.Namevars, name) && name != "provider" && !r.ByDefault(name)
	}
	for _, name := range l.typ.Namevars {
		if v := r.Value(name); l.typ.Attribute(name).Kind == types.Parameter && named(name) && !v.IsNil() && v.Text() != title && find(all, name).IsNil() {
			all = append(all, data.P(name, plain(v)))
		}
	}
	for _, a := range l.typ.Attributes {
		if a.Kind != types.Property || !shown(a.Name) || r.Provider != nil && !r.Provider.Supports(a.Features) {
			continue
		}
		v := find(is, a.Name)
		if gone {
			v = data.OfString("absent")
		}
		if l.typ.Name == "file" && a.Name == "target" && v.Text() == "notlink" {
			continue
		}
		all = append(all, data.P(a.Name, plain(v)))
	}
	for _, name := range r.Names() {
		if a := l.typ.Attribute(name); a == nil || a.Kind == types.Property || named(name) {
			continue
		}
		all = append(all, data.P(name, plain(r.Value(name))))
	}
	return &model.Resource{
		Type: l.typ.Title(), Title: title, Tags: r.Tags, Kind: "compilable_type", Parameters: data.OfHash(all),
	}
}

func find(pairs []data.Pair, name string) data.Value {
	for _, p := range pairs {
		if p.Key.Str() == name {
			return p.Value
		}
	}
	return data.Value{}
}

// plain makes texts of symbols.
func plain(v data.Value) data.Value {
	switch v.Kind() {
	case data.Symbol:
		return data.OfString(v.Str())
	case data.List:
		list := make([]data.Value, v.Len())
		for i, e := range v.List() {
			list[i] = plain(e)
		}
		return data.OfList(list)
	}
	return v
}

// Search returns all resources of a type whose attributes, as texts, are those of the
// options, in order of titles. Rule RES-RAL-04.
func (t *Terminus) Search(ctx context.Context, req *indirector.Request) ([]indirector.Instance, error) {
	if isForeign(req) {
		return t.searchForeign(ctx, req)
	}
	l, err := t.look(ctx, req.Key)
	if err != nil {
		return nil, err
	}
	wanted := conditions(ctx, req, l.title)
	all, err := l.instances(ctx, func(p *types.Provider, _ []providers.Found) bool { return p.Name == wanted["provider"] })
	if err != nil {
		return nil, err
	}
	var found []*model.Resource
	for _, is := range all {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		r, err := l.listed(ctx, is)
		if err != nil {
			return nil, err
		}
		if res := r.(*model.Resource); fits(res, wanted, l.typ.Namevars) {
			found = append(found, res)
		}
	}
	return sorted(found), nil
}

// conditions are the attributes that a search asks for, as texts. Rule RES-RAL-04.
func conditions(ctx context.Context, req *indirector.Request, title string) map[string]string {
	wanted := map[string]string{}
	if req.Remote != nil {
		note(ctx, "options ip, node, authenticated", "belong to the request and filter nothing")
	}
	for _, o := range req.Options {
		if slices.Contains(ofRequest, o.Name) {
			note(ctx, "option "+o.Name, "belongs to the request and filters nothing")
			continue
		}
		wanted[o.Name] = data.OfAny(o.Value).Text()
	}
	if title != "" {
		wanted["name"] = title
	}
	return wanted
}

// sorted returns resources in order of titles.
func sorted(found []*model.Resource) []indirector.Instance {
	slices.SortStableFunc(found, func(a, b *model.Resource) int { return strings.Compare(a.Title, b.Title) })
	list := make([]indirector.Instance, len(found))
	for i, r := range found {
		list[i] = r
	}
	return list
}

func fits(r *model.Resource, wanted map[string]string, namevars []string) bool {
	for name, want := range wanted {
		v, ok := r.Parameters.Lookup(name)
		if !ok && (name == "name" || slices.Contains(namevars, name)) {
			v = data.OfString(r.Title)
		}
		if v.Text() != want {
			return false
		}
	}
	return true
}

package foreign

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
)

// typeName is what names of types look like: names of files are made of them.
var typeName = regexp.MustCompile(`\A[a-z][a-z0-9_]{0,99}\z`)

// Type returns a type as Ruby has it. The error is Puppet's if there is none.
func (h *Helper) Type(ctx context.Context, name string) (*types.Type, error) {
	name = strings.ToLower(name)
	if !typeName.MatchString(name) {
		return nil, fmt.Errorf("%q is no name of a resource type", name)
	}
	h.mu.Lock()
	known := h.types[name]
	h.mu.Unlock()
	if known != nil {
		return known, nil
	}
	v, err := h.ask(ctx, question{do: "type", about: name, fields: []data.Pair{data.P("type", data.OfString(name))}})
	if err != nil {
		return nil, err
	}
	t, err := h.defined(name, v)
	if err != nil {
		return nil, fmt.Errorf("type %s by helper: %w", name, err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.types[name], h.checks[name] = t, v.Get("pre_run_check").Truthy()
	return t, nil
}

// Types returns those that are known, and the others of a catalog as Ruby has them. Those
// that it does not have, either, are left out, with the errors. From then on types in Ruby
// see this catalog.
func (h *Helper) Types(ctx context.Context, known map[string]*types.Type, c *model.Catalog) (map[string]*types.Type, []error) {
	h.mu.Lock()
	h.catalog = c
	h.mu.Unlock()
	all := maps.Clone(known)
	var problems []error
	for _, name := range Missing(known, c) {
		t, err := h.Type(ctx, name)
		if err != nil {
			problems = append(problems, err)
		}
		if errors.Is(err, ErrNoPuppet) {
			break // nor is it there for the next one
		}
		if err == nil {
			all[name] = t
		}
	}
	return all, problems
}

// Missing are the names of the types of a catalog that are not known, each once.
func Missing(known map[string]*types.Type, c *model.Catalog) (names []string) {
	seen := map[string]bool{}
	for i := range c.Resources {
		name := strings.ToLower(c.Resources[i].Type)
		if c.Resources[i].Kind == "compilable_type" && known[name] == nil && !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	return names
}

// defined makes a type of what the child answered.
func (h *Helper) defined(name string, v data.Value) (*types.Type, error) {
	t := types.Type{
		Name: name, Doc: v.Get("doc").Text(), Namevars: texts(v.Get("namevars")), Features: texts(v.Get("features")),
		ApplyTo: v.Get("apply_to").Text(), Repeats: v.Get("repeats").Truthy(), SelfRefresh: v.Get("self_refresh").Truthy(),
		Refreshable: v.Get("refreshes").Truthy(), Instances: types.ByProviders,
		Generates: v.Get("generates").Truthy(), EvalGenerates: v.Get("eval_generates").Truthy(),
	}
	named := map[string]bool{}
	for _, a := range v.Get("attributes").List() {
		if x := attribute(a); x.Name != "provider" && x.Name != "" && !named[x.Name] { // Define adds provider
			named[x.Name] = true
			t.Attributes = append(t.Attributes, x)
		}
	}
	if len(t.Namevars) == 0 {
		return nil, errors.New("it has no namevar")
	}
	for _, n := range t.Namevars {
		if !named[n] {
			return nil, fmt.Errorf("its namevar %q is no attribute", n)
		}
	}
	for _, p := range v.Get("providers").List() {
		t.Providers = append(t.Providers, provider(p))
	}
	if v.Get("titles").Truthy() {
		t.Titles = h.titles(name)
	}
	h.automatic(&t, v.Get("auto").List())
	return types.Define(t), nil
}

func texts(v data.Value) []string {
	all := make([]string, 0, v.Len())
	for _, x := range v.List() {
		all = append(all, x.Text())
	}
	return all
}

func attribute(v data.Value) *types.Attribute {
	a := &types.Attribute{
		Name: v.Get("name").Text(), Kind: types.Parameter, Doc: v.Get("doc").Text(), Features: texts(v.Get("features")), All: v.Get("all").Truthy(),
	}
	if v.Get("property").Truthy() {
		a.Kind = types.Property
	}
	for _, c := range v.Get("values").List() {
		a.Choices = append(a.Choices, types.Choice{
			Name: c.Get("name").Text(), Aliases: texts(c.Get("aliases")), Features: texts(c.Get("features")),
			Event: c.Get("event").Text(), Unschedules: c.Get("unschedules").Truthy(),
		})
	}
	unread := false
	for _, source := range texts(v.Get("patterns")) {
		if _, err := regexp.Compile("(?m)" + source); err != nil {
			unread = true // Ruby's expressions have more
			continue
		}
		a.Patterns = append(a.Patterns, types.NewPattern(source))
	}
	if unread || v.Get("checks").Truthy() { // the child checks it when the resource is done
		a.Validate = func(*types.Resource, data.Value) error { return nil }
	}
	if v.Get("munges").Truthy() {
		a.Munge = func(_ *types.Resource, v data.Value) (data.Value, error) { return v, nil }
	}
	switch d := v.Get("default"); d.Get("kind").Text() {
	case "value":
		a.Preset = symbols(d.Get("value"))
	case "computed":
		a.Default = func(*types.Resource) (data.Value, bool) { return data.Value{}, false }
	}
	return a
}

// provider is one with what Ruby thinks of it here: this program's facts do not count.
func provider(v data.Value) *types.Provider {
	p := &types.Provider{Name: v.Get("name").Text(), Doc: v.Get("doc").Text(), Features: texts(v.Get("features"))}
	for _, why := range texts(v.Get("why")) {
		p.Confines = append(p.Confines, types.Confine{Kind: "ruby", Name: why})
	}
	if !v.Get("suitable").Truthy() && len(p.Confines) == 0 {
		p.Confines = []types.Confine{{Kind: "never"}}
	}
	if v.Get("default").Truthy() {
		p.DefaultFor = []types.Facts{{}}
	}
	return p
}

// symbols makes symbols of the hashes that stand for them.
func symbols(v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		all := make([]data.Value, v.Len())
		for i, x := range v.List() {
			all[i] = symbols(x)
		}
		return data.OfList(all)
	case data.Hash:
		if name, ok := v.Lookup(":"); ok && v.Len() == 1 {
			return data.OfSymbol(name.Text())
		}
		all := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			all[i] = data.Pair{Key: p.Key, Value: symbols(p.Value)}
		}
		return data.OfHash(all)
	}
	return v
}

// pairs reads a list of names and values.
func pairs(v data.Value) []data.Pair {
	var all []data.Pair
	for _, x := range v.List() {
		if x.Len() == 2 && x.Kind() == data.List {
			all = append(all, data.P(x.List()[0].Text(), symbols(x.List()[1])))
		}
	}
	return all
}

// titles asks what a title gives, where there are several namevars.
func (h *Helper) titles(name string) func(string) ([]data.Pair, error) {
	return func(title string) ([]data.Pair, error) {
		v, err := h.ask(context.Background(), question{do: "titles", about: types.Capital(name) + "[" + title + "]", fields: []data.Pair{
			data.P("type", data.OfString(name)), data.P("title", data.OfString(title)),
		}})
		return pairs(v), err
	}
}

// automatic adds the automatic relationships, which are asked for once for each resource.
func (h *Helper) automatic(t *types.Type, auto []data.Value) {
	var mu sync.Mutex
	var last *types.Resource
	var found [][]string
	for i, v := range auto {
		if v.Len() != 2 || v.Kind() != data.List {
			continue
		}
		a := types.Auto{Type: v.List()[1].Text(), Titles: func(r *types.Resource) []string {
			mu.Lock()
			defer mu.Unlock()
			if r != last { // those of one resource are asked for one after the other
				last, found = r, h.related(r)
			}
			if i < len(found) {
				return found[i]
			}
			return nil
		}}
		switch v.List()[0].Text() {
		case "require":
			t.Require = append(t.Require, a)
		case "before":
			t.Before = append(t.Before, a)
		case "notify":
			t.Notify = append(t.Notify, a)
		case "subscribe":
			t.Subscribe = append(t.Subscribe, a)
		}
	}
}

// related asks for the titles of all automatic relationships of a resource. That it fails is
// a warning: the resource itself may fail, too, when it is its turn.
func (h *Helper) related(r *types.Resource) [][]string {
	h.mu.Lock()
	err := h.quiet
	h.mu.Unlock()
	var v data.Value
	if err == nil {
		v, err = h.ask(context.Background(), asked("auto", r, true))
		if _, ok := failed(err); err != nil && !ok { // the child broke: it would break for each
			h.mu.Lock()
			h.quiet = err
			h.mu.Unlock()
		}
	}
	if err != nil && r.Log != nil {
		r.Log("warning", "automatic relationships are not known: "+err.Error())
	}
	all := make([][]string, 0, v.Len())
	for _, x := range v.List() {
		all = append(all, texts(x))
	}
	return all
}

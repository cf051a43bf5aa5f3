package probetest

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/format/psych"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// A World is where probes are: a directory, and the calls that were made. It is for one
// run at a time; what its probes have become is read anew by the next World.
type World struct {
	Root  string
	Calls []string

	is map[*types.Resource][]data.Pair
}

// Provider returns what does a probe, or nil if the resource is none.
func (w *World) Provider(r *types.Resource) providers.Provider {
	if r.Type.Name != "probe" || r.Provider == nil {
		return nil
	}
	if r.Provider.Name == "eager" {
		return eager{good{w}}
	}
	return good{w}
}

type good struct{ w *World }

func (g good) call(r *types.Resource, what string) { g.w.Calls = append(g.w.Calls, r.Name()+"."+what) }

// trip fails if the probe is to break in a phase.
func trip(r *types.Resource, phase string) error {
	if text := r.Value("breaks").Get(phase); text.Truthy() {
		return &indirector.Failure{Message: text.Text()}
	}
	return nil
}

func (g good) file(r *types.Resource) string {
	return filepath.Join(g.w.Root, ".probe-"+strings.ReplaceAll(r.Name(), "/", "_"))
}

// state is what is there: a file that an earlier run left, or the parameter is.
func (g good) state(r *types.Resource) ([]data.Pair, error) {
	if is, ok := g.w.is[r]; ok {
		return is, nil
	}
	text, err := os.ReadFile(g.file(r))
	if errors.Is(err, fs.ErrNotExist) {
		return slices.Clone(r.Value("is").Hash()), nil
	}
	if err != nil {
		return nil, err
	}
	doc, err := psych.Decode(text, psych.Limits{})
	if err != nil {
		return nil, err
	}
	return doc.Value.Hash(), nil
}

func (g good) keep(r *types.Resource, is []data.Pair) {
	if g.w.is == nil {
		g.w.is = map[*types.Resource][]data.Pair{}
	}
	g.w.is[r] = is
}

func (g good) Retrieve(_ context.Context, _ providers.System, r *types.Resource) ([]data.Pair, error) {
	g.call(r, "ensure")
	is, err := g.state(r)
	if err != nil {
		return nil, err
	}
	g.keep(r, is)
	there := data.OfHash(is)
	ensure := data.OfSymbol("present")
	if v := there.Get("ensure"); v.Truthy() {
		ensure = data.OfSymbol(v.Text())
	} else if r.Managed("ensure") {
		ensure = data.OfSymbol("absent")
	}
	pairs := []data.Pair{data.P("ensure", ensure)}
	for _, name := range r.Properties() {
		if name == "ensure" {
			continue
		}
		v := data.OfSymbol("absent")
		if ensure.Str() != "absent" {
			g.call(r, name)
			if err := trip(r, "retrieve"); err != nil {
				return pairs, err
			}
			if x := there.Get(name); !x.IsNil() {
				v = x
			}
		}
		pairs = append(pairs, data.P(name, v))
	}
	return pairs, nil
}

func (g good) Set(_ context.Context, _ providers.System, r *types.Resource, property string) error {
	want := r.Wanted(property, data.OfSymbol("absent"))
	switch {
	case property != "ensure":
		return g.put(r, property, want)
	case want.Str() == "present":
		g.call(r, "create")
		if err := trip(r, "create"); err != nil {
			return err
		}
		for _, a := range r.Type.Attributes {
			if v := r.Wanted(a.Name, data.OfSymbol("absent")); a.Kind == types.Property && v.Truthy() {
				g.keep(r, with(g.w.is[r], a.Name, v))
			}
		}
		return g.put(r, "ensure", data.OfString("present"))
	}
	g.call(r, "destroy")
	if err := trip(r, "destroy"); err != nil {
		return err
	}
	g.keep(r, nil)
	return g.put(r, "ensure", data.OfString("absent"))
}

// put sets a property, and writes the file.
func (g good) put(r *types.Resource, name string, v data.Value) error {
	g.call(r, name+"="+strings.Join(Titles(v), ","))
	if err := trip(r, name); err != nil {
		return err
	}
	is := with(g.w.is[r], name, v)
	g.keep(r, is)
	pairs := make([]data.Pair, len(is))
	for i, p := range is {
		pairs[i] = data.Pair{Key: p.Key, Value: text(p.Value)}
	}
	return os.WriteFile(g.file(r), psych.Encode(data.OfHash(pairs), ""), 0o644)
}

func with(is []data.Pair, name string, v data.Value) []data.Pair {
	return data.OfHash(slices.Clone(is)).With(name, v).Hash()
}

func text(v data.Value) data.Value {
	if v.Kind() == data.List {
		return data.OfStrings(Titles(v))
	}
	return data.OfString(v.Text())
}

func (g good) Flush(_ context.Context, _ providers.System, r *types.Resource) error {
	g.call(r, "flush")
	return trip(r, "flush")
}

func (g good) Refresh(_ context.Context, _ providers.System, r *types.Resource) error {
	g.call(r, "refresh")
	return trip(r, "refresh")
}

// Generate makes probes at the start of a run.
func (g good) Generate(_ context.Context, _ providers.System, r *types.Resource) ([]*types.Resource, error) {
	if err := trip(r, "generate"); err != nil {
		return nil, err
	}
	return children(r, Titles(r.Value("makes")))
}

// EvalGenerate makes probes when one is evaluated.
func (g good) EvalGenerate(_ context.Context, _ providers.System, r *types.Resource) ([]*types.Resource, error) {
	if err := trip(r, "eval_generate"); err != nil {
		return nil, err
	}
	return children(r, Titles(r.Value("spawns")))
}

func children(r *types.Resource, titles []string) ([]*types.Resource, error) {
	var all []*types.Resource
	for _, title := range titles {
		child, err := types.New(r.Type, r.Host, types.Given{Title: title, Values: []data.Pair{
			data.P("one", data.OfString("child")),
			data.P("is", data.OfHash([]data.Pair{data.P("one", data.OfString("other"))})),
		}}, nil)
		if err != nil {
			return nil, err
		}
		all = append(all, child)
	}
	return all, nil
}

// PreRunCheck refuses the whole run.
func (g good) PreRunCheck(_ context.Context, _ providers.System, r *types.Resource) error {
	return trip(r, "pre_run")
}

// eager reads for all probes at once, as far as the calls show.
type eager struct{ good }

func (e eager) Prefetch(_ context.Context, _ providers.System, all []*types.Resource) error {
	var names []string
	var failed error
	for _, r := range all {
		names = append(names, r.Name())
		if failed == nil {
			failed = trip(r, "prefetch")
		}
	}
	slices.Sort(names)
	e.w.Calls = append(e.w.Calls, "prefetch "+strings.Join(names, ","))
	return failed
}

func (e eager) PostResourceEval(context.Context, providers.System) error {
	e.w.Calls = append(e.w.Calls, "post_resource_eval")
	return nil
}

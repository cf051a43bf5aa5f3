package transaction_test

import (
	"context"
	"io"
	"io/fs"
	"regexp"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/types"
)

// This file is what the agent that was recorded has not: facts, by which it would compute
// what is deferred, the loader of the language, and modules.

// unresolved is what is left of rich data where nothing is computed: an object.
func unresolved(ctx context.Context, v data.Value) (data.Value, error) {
	switch name := v.Get("__ptype").Str(); {
	case name == "Sensitive":
		inner, err := unresolved(ctx, v.Get("__pvalue"))
		return data.OfHash([]data.Pair{data.P("__ptype", data.OfString(name)), data.P("__pvalue", inner)}), err
	case name == "Default":
		return data.OfSymbol("default"), nil
	case name == "" && (v.Kind() == data.List || v.Kind() == data.Hash):
		return v.Map(func(x data.Value) data.Value { x, _ = unresolved(ctx, x); return x }), nil
	case name != "":
		return data.OfRich(object{name, data.OfHash(slices.DeleteFunc(slices.Clone(v.Hash()), func(p data.Pair) bool { return p.Key.Str() == "__ptype" }))}), nil
	}
	return v, nil
}

// An object is one of Ruby that messages show by its attributes.
type object struct {
	class      string
	attributes data.Value
}

var _ types.Literal = object{}

var breaks = regexp.MustCompile(`\n *`)

func (o object) String() string {
	return strings.ReplaceAll(strings.ReplaceAll(breaks.ReplaceAllString(o.Literal(), " "), "({ ", "({"), " })", "})")
}

func (o object) EqualRich(x data.RichValue) bool {
	y, ok := x.(object)
	return ok && o.class == y.class && data.Equal(o.attributes, y.attributes)
}

func (o object) RubyClass() string { return "#<Class:0xXXXX>" }

func (o object) Literal() string { return o.class + "(" + types.Display(o.attributes) + ")" }

// withoutLoaders are the rich data that the agent could read; of the others it needs the
// language.
var withoutLoaders = []string{"Sensitive", "Default", "Symbol", "Hash", "LocalRef"}

// unreadable reports whether the agent could not read a value in its cache.
func unreadable(v data.Value) bool {
	switch v.Kind() {
	case data.List:
		return slices.ContainsFunc(v.List(), unreadable)
	case data.Hash:
		_, isScalar := v.Lookup("__pvalue")
		return isScalar && !slices.Contains(withoutLoaders, v.Get("__ptype").Str()) ||
			slices.ContainsFunc(v.Hash(), func(p data.Pair) bool { return unreadable(p.Value) })
	}
	return false
}

// recordedCatalog is the catalog that was applied: in place of one that it could not read,
// the agent found no server, and compiled one without resources. What it logged of that is
// taken out of the recording.
func recordedCatalog(t *testing.T, text []byte, recorded *reportRow) *model.Catalog {
	t.Helper()
	c := catalogOf(t, text)
	if !slices.ContainsFunc(c.Resources, func(r model.Resource) bool { return unreadable(r.Parameters) }) {
		return c
	}
	c.Resources = slices.DeleteFunc(c.Resources, func(r model.Resource) bool { return r.Type != "Stage" && r.Type != "Class" })
	c.Edges = slices.DeleteFunc(c.Edges, func(e model.Edge) bool { return !strings.HasPrefix(e.Target, "Class[") })
	if n := len(recorded.Logs); n == 0 || !strings.HasPrefix(recorded.Logs[0].Message, "Cached catalog for ") {
		t.Errorf("the recorded agent has read rich data: %v", recorded.Logs)
	} else {
		end := slices.IndexFunc(recorded.Logs, func(l logRow) bool { return strings.HasPrefix(l.Message, "Compiled catalog for ") })
		recorded.Logs = recorded.Logs[end+1:]
	}
	return c
}

// noModules has no file of any server.
type noModules struct{}

var _ providers.Sources = noModules{}

func (noModules) Find(context.Context, string, providers.Query) (*providers.Source, error) {
	return nil, nil
}

func (noModules) Search(context.Context, string, providers.Query) ([]providers.Source, error) {
	return nil, nil
}

func (noModules) Open(context.Context, *providers.Source) (io.ReadCloser, error) {
	return nil, fs.ErrNotExist
}

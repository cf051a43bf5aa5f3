package types_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/golden"
	"indirtui/indirector/resource/types"
)

// TestGoldenRalTypes compares every type with what is recorded of it.
func TestGoldenRalTypes(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(golden.PathBeside(t, "..", "ral", "types.json"))
	if err != nil {
		t.Fatal(err)
	}
	text = placeholders.ReplaceAll(text, []byte("/$1"))
	doc, err := format.DecodeJSON(text, format.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	var metas []string
	for _, a := range types.Metaparameters() {
		metas = append(metas, a.Name)
	}
	if want := doc.Get("metaparameters"); !data.Equal(data.OfStrings(metas), want) {
		t.Errorf("metaparameters %v, want %s", metas, want)
	}
	for _, p := range doc.Get("types").Hash() {
		t.Run(p.Key.Str(), func(t *testing.T) {
			t.Parallel()
			typ := typeOf(p.Key.Str())
			if typ == nil {
				t.Fatal("there is no such type")
			}
			compare(t, "", described(typ), p.Value)
		})
	}
	if got := len(types.All()); got != doc.Get("types").Len() {
		t.Errorf("%d types, want %d", got, doc.Get("types").Len())
	}
}

// compare reports each difference with where it is.
func compare(t *testing.T, at string, got, want data.Value) {
	t.Helper()
	if got.Kind() != data.Hash || want.Kind() != data.Hash {
		if !data.Equal(got, want) {
			t.Errorf("%s is\n%s, want\n%s", at, got, want)
		}
		return
	}
	for _, p := range want.Hash() {
		compare(t, at+"/"+p.Key.Str(), got.Get(p.Key.Str()), p.Value)
	}
	for _, p := range got.Hash() {
		if _, ok := want.Lookup(p.Key.Str()); !ok {
			t.Errorf("%s/%s is %s, want none", at, p.Key.Str(), p.Value)
		}
	}
}

// described is a type in the form of the recordings.
func described(t *types.Type) data.Value {
	h := fields{}
	h.set("namevars", data.OfStrings(t.Namevars))
	h.set("apply_to", data.OfString(t.ApplyTo))
	h.set("isomorphic", data.OfBool(!t.Repeats))
	h.set("ensurable", data.OfBool(t.Attribute("ensure") != nil))
	var order []string
	properties, parameters := data.OfHash(nil), data.OfHash(nil)
	for _, a := range t.Attributes {
		order = append(order, a.Name)
		if a.Kind == types.Property {
			properties = properties.With(a.Name, attribute(a))
		} else {
			parameters = parameters.With(a.Name, attribute(a))
		}
	}
	h.set("attribute_order", data.OfStrings(order))
	h.set("self_refresh", data.OfBool(t.SelfRefresh))
	h.set("refreshable", data.OfBool(t.Refreshable))
	h.set("generate", data.OfBool(t.Generates))
	h.set("eval_generate", data.OfBool(t.EvalGenerates))
	instances := "providers"
	if t.Instances == types.Own {
		instances = "own"
	}
	h.set("instances", data.OfString(instances))
	h.set("properties", properties)
	h.set("parameters", parameters)
	for name, all := range map[string][]types.Auto{"require": t.Require, "before": t.Before, "subscribe": t.Subscribe, "notify": t.Notify} {
		var names []string
		for _, a := range all {
			names = append(names, a.Type)
		}
		h.filled("auto"+name, names)
	}
	h.filled("features", t.Features)
	providers := data.OfHash(nil)
	for _, p := range t.Providers {
		providers = providers.With(p.Name, provider(p))
	}
	if providers.Len() > 0 {
		h.set("providers", providers)
	}
	return h.value
}

// fields is a hash that is being written.
type fields struct{ value data.Value }

func (f *fields) set(name string, v data.Value) { f.value = f.value.With(name, v) }

func (f *fields) filled(name string, words []string) {
	if len(words) > 0 {
		f.set(name, data.OfStrings(words))
	}
}

func attribute(a *types.Attribute) data.Value {
	h := fields{data.OfHash(nil)}
	var names, patterns []string
	aliases := data.OfHash(nil)
	for _, c := range a.Choices {
		names = append(names, c.Name)
		if len(c.Aliases) > 0 {
			aliases = aliases.With(c.Name, data.OfStrings(c.Aliases))
		}
	}
	for _, p := range a.Patterns {
		patterns = append(patterns, p.String())
	}
	h.filled("values", names)
	h.filled("patterns", patterns)
	h.filled("features", a.Features)
	if aliases.Len() > 0 {
		h.set("aliases", aliases)
	}
	if a.All {
		h.set("array", data.OfString("all"))
	}
	if a.Always {
		h.set("idempotent", data.OfBool(false))
	}
	if a.Creates {
		h.set("kind", data.OfString("ensure"))
	}
	if d := defaultText(a); d != "" {
		h.set("default", data.OfString(d))
	}
	return h.value
}

func defaultText(a *types.Attribute) string {
	switch {
	case !a.Preset.IsNil():
		return a.Preset.Text()
	case a.Setting != "":
		text, _ := debian{}.Setting(a.Setting)
		return text
	case a.Default != nil:
		return "computed"
	}
	return ""
}

func provider(p *types.Provider) data.Value {
	h := fields{}
	h.filled("features", p.Features)
	h.filled("parents", p.Parents)
	source := p.Source
	if source == "" {
		source = p.Name
	}
	h.set("source", data.OfString(source))
	if len(p.DefaultFor) > 0 {
		h.set("defaultfor", facts(p.DefaultFor))
	}
	if len(p.NotDefaultFor) > 0 {
		h.set("notdefaultfor", facts(p.NotDefaultFor))
	}
	commands := data.OfHash(nil)
	for _, c := range p.Commands {
		commands = commands.With(c.Name, data.OfString(c.Path))
	}
	if commands.Len() > 0 {
		h.set("commands", commands)
	}
	return h.value
}

func facts(all []types.Facts) data.Value {
	var list []data.Value
	for _, f := range all {
		h := data.OfHash(nil)
		for name, values := range f {
			h = h.With(name, data.OfStrings(values))
		}
		list = append(list, h)
	}
	return data.OfList(list)
}

// TestDocs: every type, attribute and provider is documented, in a sentence.
func TestDocs(t *testing.T) {
	t.Parallel()
	check := func(at, doc string) {
		if doc == "" || !strings.HasSuffix(doc, ".") {
			t.Errorf("%s: %q is no documentation", at, doc)
		}
	}
	for name, typ := range types.All() {
		check(name, typ.Doc)
		for _, a := range slices.Concat(typ.Attributes, types.Metaparameters()) {
			check(name+"/"+a.Name, a.Doc)
		}
		for _, p := range typ.Providers {
			check(name+"/"+p.Name, p.Doc)
		}
	}
}

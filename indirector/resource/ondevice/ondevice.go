// Package ondevice does the resources of a catalog on a device that is a program: what a
// resource is there is asked of the program, and what it should be is given to it, as a
// whole. Types that this program does not know are what the catalog has of them: each
// parameter is a property, and ensure is present or absent. Rules RES-DEV-05 and RES-DEV-06.
package ondevice

import (
	"context"
	"fmt"
	"regexp"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
)

// A Device is asked for a resource, and given what it should be.
type Device interface {
	Get(ctx context.Context, kind, name string) (data.Value, error)
	Set(ctx context.Context, kind, name string, wanted data.Value) (data.Value, error)
}

// Adapt lets a run or plan of a catalog be that of a device: resources of types that this
// program knows are skipped, unless their types are for devices, too.
func Adapt(o *transaction.Options, c *model.Catalog, d Device) {
	o.Device = true
	known := map[string]*types.Type{}
	for name, t := range o.Types {
		known[name] = t
	}
	for name, t := range definedBy(known, c) {
		known[name] = t
	}
	here := o.Types
	o.Types = known
	o.Provider = func(r *types.Resource) providers.Provider {
		if here[r.Type.Name] != nil {
			return nil
		}
		return provider{d}
	}
}

// name is what names of types and parameters look like: the program gets them as words.
var name = regexp.MustCompile(`\A[a-z][a-z0-9_]{0,99}\z`)

// definedBy makes the types that a catalog has and this program does not, of what their
// resources have. Those with names that are none are left out.
func definedBy(known map[string]*types.Type, c *model.Catalog) map[string]*types.Type {
	attributes := map[string][]*types.Attribute{}
	seen := map[[2]string]bool{}
	for i := range c.Resources {
		r := &c.Resources[i]
		kind := strings.ToLower(r.Type)
		if r.Kind != "compilable_type" || known[kind] != nil || !name.MatchString(kind) {
			continue
		}
		if attributes[kind] == nil {
			attributes[kind] = []*types.Attribute{
				{Name: "name", Kind: types.Parameter},
				{Name: "ensure", Creates: true, Choices: []types.Choice{{Name: "present"}, {Name: "absent"}}},
			}
			seen[[2]string{kind, "name"}], seen[[2]string{kind, "ensure"}] = true, true
		}
		for _, p := range r.Parameters.Hash() {
			key := [2]string{kind, p.Key.Text()}
			if seen[key] || !name.MatchString(key[1]) || isMeta(key[1]) {
				continue
			}
			seen[key] = true
			attributes[kind] = append(attributes[kind], &types.Attribute{Name: key[1], All: p.Value.Kind() == data.List})
		}
	}
	defined := map[string]*types.Type{}
	for kind, all := range attributes {
		defined[kind] = types.Define(types.Type{Name: kind, ApplyTo: "device", Namevars: []string{"name"}, Attributes: all})
	}
	return defined
}

func isMeta(name string) bool {
	for _, a := range types.Metaparameters() {
		if a.Name == name {
			return true
		}
	}
	return false
}

// A provider asks the device for each resource.
type provider struct{ device Device }

var _ providers.Flusher = provider{}

// Retrieve reads what is there. Null and nothing are no resource; a list has one.
func (p provider) Retrieve(ctx context.Context, _ providers.System, r *types.Resource) ([]data.Pair, error) {
	v, err := p.device.Get(ctx, r.Type.Name, r.Name())
	if err != nil {
		return nil, err
	}
	if v.Kind() == data.List && v.Len() == 1 {
		v = v.List()[0]
	}
	if v.Kind() != data.Hash && v.Truthy() && v.Len() > 0 {
		return nil, fmt.Errorf("get %s %q: a resource was expected, got a %s", r.Type.Name, r.Name(), v.Kind())
	}
	if v.Len() == 0 || v.Get("ensure").Text() == "absent" {
		return []data.Pair{data.P("ensure", data.OfSymbol("absent"))}, nil
	}
	pairs := []data.Pair{data.P("ensure", data.OfSymbol("present"))}
	for _, property := range r.Properties() {
		if property != "ensure" {
			pairs = append(pairs, data.P(property, asWanted(v.Get(property), r.Should(property))))
		}
	}
	return pairs, nil
}

// asWanted is what is there; a number that is wanted as a text, or the reverse, is the same.
func asWanted(is data.Value, should []data.Value) data.Value {
	if is.IsNil() {
		return data.OfSymbol("absent")
	}
	if len(should) == 1 && is.Text() == should[0].Text() {
		return should[0]
	}
	return is
}

// Set does nothing: the device is given all properties at once.
func (provider) Set(context.Context, providers.System, *types.Resource, string) error { return nil }

// Flush gives the device what the resource should be.
func (p provider) Flush(ctx context.Context, _ providers.System, r *types.Resource) error {
	var wanted []data.Pair
	for _, property := range r.Properties() {
		given := r.Original(property)
		switch {
		case len(given) == 1:
			wanted = append(wanted, data.P(property, given[0]))
		case len(given) > 1:
			wanted = append(wanted, data.P(property, data.OfList(given)))
		}
	}
	_, err := p.device.Set(ctx, r.Type.Name, r.Name(), data.OfHash(wanted))
	return err
}

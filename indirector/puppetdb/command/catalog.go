package command

import (
	"slices"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/rtype"
	"indirtui/indirector/model"
)

// Catalog returns the command that replaces the catalog of a node. Its error is in
// Puppet's words: a relation that leads nowhere. Rules PDB-CAT-01 to PDB-CAT-07.
func Catalog(cat *model.Catalog, o Options) (*Command, error) {
	c := o.command(ReplaceCatalog, 9, cat.Name)
	d := cat.Data()
	m := munger{cat: cat, types: map[string]model.ResourceType{}}
	resources := m.resources(d.Get("resources").List())
	edges, err := m.relations()
	if err != nil {
		return nil, err
	}
	uuid := d.Get("catalog_uuid")
	if uuid.IsNil() {
		uuid = orNull(o.TransactionUUID)
	}
	c.Payload = data.OfHash([]data.Pair{
		data.P("version", data.OfString(cat.Version.Text())),
		data.P("code_id", d.Get("code_id")),
		data.P("catalog_uuid", uuid),
		data.P("resources", resources),
		data.P("edges", edges),
		data.P("job_id", orNull(o.JobID)),
		data.P("certname", data.OfString(cat.Name)),
		data.P("transaction_uuid", orNull(o.TransactionUUID)),
		data.P("environment", data.OfString(o.Environment)),
		data.P("producer_timestamp", wireTime(o.Produced)),
		data.P("producer", data.OfString(o.Producer)),
	})
	return c, nil
}

// A munger makes what a store gets of the resources of a catalog.
type munger struct {
	cat     *model.Catalog
	types   map[string]model.ResourceType // by the names in the catalog: "File"
	params  []data.Value                  // of each resource, with those that are sensitive
	secrets int                           // how many values were replaced by a text
}

// builtIn are the types that are built into Puppet.
var builtIn = sync.OnceValue(rtype.BuiltIn)

// typeOf returns what is known of a type: what the compiler knew, or what is built in.
// Others are named by name alone, and no name is there twice.
func (m *munger) typeOf(name string) model.ResourceType {
	t, ok := m.types[name]
	if ok {
		return t
	}
	t, ok = m.cat.Types[name]
	if b := builtIn()[strings.ToLower(name)]; !ok && b != nil {
		t = model.ResourceType{Keys: b.Keys, Many: b.Many}
	}
	m.types[name] = t
	return t
}

// resources returns the resources as the store gets them. Rule PDB-CAT-02.
func (m *munger) resources(all []data.Value) data.Value {
	const usual = 8 // keys of a resource
	out := make([]data.Value, len(all))
	pairs := make([]data.Pair, 0, usual*len(all))
	m.params = make([]data.Value, len(all))
	for i := range all {
		r := &m.cat.Resources[i]
		start := len(pairs)
		known := all[i].Len() - len(r.Extra) // the keys that are not Puppet's are the last
		for _, p := range all[i].Hash()[:known] {
			switch p.Key.Str() {
			case "parameters", "sensitive_parameters":
			default:
				pairs = append(pairs, p)
			}
		}
		m.params[i] = m.parameters(r, all[i].Get("parameters"))
		shown := m.params[i]
		if len(r.Sensitive) > 0 {
			shown = shown.Without(r.Sensitive...)
		}
		pairs = append(pairs, data.P("parameters", shown))
		out[i] = data.OfHash(pairs[start:len(pairs):len(pairs)])
	}
	return data.OfList(out)
}

// parameters returns the parameters of a resource as text, with its other names, and with
// its lists sorted that have no order. Rules PDB-CAT-03 to PDB-CAT-05.
func (m *munger) parameters(r *model.Resource, v data.Value) data.Value {
	v = orEmpty(m.plain(v))
	if other := aliases(m.typeOf(r.Type), v); len(other) > 0 {
		v = v.With("alias", data.OfList(other))
	}
	for _, p := range v.Hash() {
		if l := p.Value.List(); len(l) > 1 && slices.Contains(unordered, p.Key.Str()) && !slices.IsSortedFunc(l, byText) {
			v = v.With(p.Key.Str(), data.OfList(slices.SortedStableFunc(slices.Values(l), byText)))
		}
	}
	return v
}

var unordered = []string{"alias", "audit", "before", "check", "notify", "require", "subscribe", "tag"}

func byText(a, b data.Value) int { return strings.Compare(a.Text(), b.Text()) }

// aliases returns the names beside the title by which relations may find a resource:
// none where its parameter alias stays as it is. A name that the title has is not among
// the parameters. Rule PDB-CAT-04.
func aliases(t model.ResourceType, parameters data.Value) []data.Value {
	if len(t.Keys) > 1 {
		return nil
	}
	all := flat(nil, parameters.Get("alias"))
	if t.Many {
		return all
	}
	key := "name"
	if len(t.Keys) == 1 {
		key = t.Keys[0]
	}
	name := parameters.Get(key)
	if name.IsNil() || slices.ContainsFunc(all, func(x data.Value) bool { return data.Equal(x, name) }) {
		return all
	}
	return append(all, name)
}

// flat appends a value or, of a list, its elements at any depth; nil is left out.
func flat(l []data.Value, v data.Value) []data.Value {
	switch v.Kind() {
	case data.Nil:
		return l
	case data.List:
		for _, x := range v.List() {
			l = flat(l, x)
		}
		return l
	}
	return append(l, v)
}

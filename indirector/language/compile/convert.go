package compile

import (
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
	"indirtui/indirector/model"
)

// result returns the catalog as others know it. Rules LANG-COMP-08, LANG-COMP-09.
func (c *compilation) result() (*Result, error) {
	out := &model.Catalog{
		Name: c.o.Node.Name, Version: c.version, CodeID: c.o.CodeID, CatalogUUID: c.o.UUID, Format: 2,
		Environment: c.o.Node.Environment, Classes: c.classList,
	}
	var tags tagSet
	for _, name := range c.classList {
		if err := c.tag(&tags, name); err != nil {
			return nil, err
		}
	}
	tags.merge(&c.tags)
	out.Tags = c.tagTexts(&tags)
	out.Resources = make([]model.Resource, 0, len(c.all))
	for _, r := range c.all {
		if r.virtual && !r.exported {
			continue
		}
		m, err := c.resource(r)
		if err != nil {
			return nil, err
		}
		out.Resources = append(out.Resources, m)
	}
	edges := 0
	for _, r := range c.all {
		edges += len(r.in)
	}
	out.Edges = make([]model.Edge, 0, edges)
	refs := make([]string, len(c.all))
	ref := func(r *resource) string {
		if refs[r.index] == "" {
			refs[r.index] = r.ref()
		}
		return refs[r.index]
	}
	for _, r := range c.all {
		if r.virtual && !r.exported {
			continue
		}
		for _, from := range r.in {
			if !from.virtual || from.exported {
				out.Edges = append(out.Edges, model.Edge{Source: ref(from), Target: ref(r)})
			}
		}
	}
	out.Types = c.moduleTypes()
	if c.o.Origins {
		out.Origins = c.originTable()
	}
	return &Result{out}, nil
}

// moduleTypes returns what names the resources of types that modules bring, which stores
// have to know. Rule PDB-CAT-04.
func (c *compilation) moduleTypes() map[string]model.ResourceType {
	var all map[string]model.ResourceType
	for _, t := range c.types {
		if t == nil || len(t.members) == 0 || t.builtin == nil || t.builtin.File == "" {
			continue
		}
		if all == nil {
			all = map[string]model.ResourceType{}
		}
		all[t.name] = model.ResourceType{Keys: t.builtin.Keys, Many: t.builtin.Many}
	}
	return all
}

// ForAgent returns the catalog without the resources that are exported and not collected
// here. Rule TERM-COMP-10.
func (r *Result) ForAgent() *model.Catalog {
	out := *r.Catalog
	gone := map[string]bool{}
	out.Resources = slices.DeleteFunc(slices.Clone(out.Resources), func(x model.Resource) bool {
		if x.Virtual {
			gone[x.Ref()] = true
		}
		return x.Virtual
	})
	if len(gone) > 0 {
		out.Edges = slices.DeleteFunc(slices.Clone(out.Edges), func(e model.Edge) bool { return gone[e.Source] || gone[e.Target] })
	}
	return &out
}

func (c *compilation) resource(r *resource) (model.Resource, error) {
	m := model.Resource{
		Type: r.typ.name, Title: r.title, Tags: c.tagTexts(&r.tags), File: r.file, Line: int64(r.line),
		Exported: r.exported, Virtual: r.virtual, Kind: r.kind, Sensitive: r.sensitive,
	}
	if m.Kind == "" {
		m.Kind = "unknown"
		if r.typ.builtin != nil {
			m.Kind = r.typ.kind()
		}
	}
	if r.unset {
		m.UnsetExported()
	}
	if r.symbol {
		m.KeepName()
	}
	params, err := c.parameters(r)
	m.Parameters = params
	return m, err
}

// parameters returns those of a resource, the ones that its title names first.
func (c *compilation) parameters(r *resource) (data.Value, error) {
	namevar := r.typ.namevar
	if namevar == "" {
		namevar = "name"
	}
	titled := []data.Pair{data.P("name", data.OfString(r.title))}
	if r.typ.builtin != nil {
		var err error
		if titled, err = r.typ.byTitle(r.title); err != nil {
			return data.Value{}, err
		}
	}
	h := append(make([]data.Pair, 0, len(r.params)+len(titled)), titled...)
	for i := range r.params {
		p := &r.params[i]
		if p.value.IsNil() {
			continue
		}
		v := p.value
		if isRelationship(p.name) && v.Kind() == data.List {
			v = data.OfList(present(eval.Flatten(v.List())))
		}
		h = put(h, strings.ToLower(p.name), v)
	}
	if namevar != "name" {
		h = renamed(h, namevar)
	}
	kept := h[:0]
	c.converted = r.ref()
	for _, p := range h {
		if p.Key.Str() == namevar && !r.symbol && p.Value.Kind() == data.String && p.Value.Str() == r.title {
			continue
		}
		c.secret = slices.Contains(r.sensitive, p.Key.Str())
		kept = append(kept, data.Pair{Key: p.Key, Value: c.toWire(r, below("", p.Key.Str()), p.Value)})
	}
	if c.unwritten != nil {
		return data.Value{}, c.unwritten
	}
	if len(kept) == 0 {
		return data.Value{}, nil
	}
	return data.OfHash(kept), nil
}

// put sets a value in its place, or behind the others.
func put(h []data.Pair, name string, v data.Value) []data.Pair {
	for i := range h {
		if h[i].Key.Str() == name {
			h[i].Value = v
			return h
		}
	}
	return append(h, data.P(name, v))
}

// renamed gives a parameter called name its real name.
func renamed(h []data.Pair, namevar string) []data.Pair {
	for i, p := range h {
		if p.Key.Str() == "name" {
			return put(append(h[:i:i], h[i+1:]...), namevar, p.Value)
		}
	}
	return h
}

// written returns the name that an attribute has in the catalog.
func (t *resourceType) written(name string) string {
	name = strings.ToLower(name)
	if name == "name" && t.namevar != "" {
		return t.namevar
	}
	return name
}

func present(l []data.Value) []data.Value {
	out := make([]data.Value, 0, len(l))
	for _, v := range l {
		if !v.IsNil() {
			out = append(out, v)
		}
	}
	return out
}

// below returns the path of a value in a hash or, if the key is a number, in a list.
func below(path string, key any) string {
	if i, ok := key.(int); ok {
		return path + "[" + strconv.Itoa(i) + "]"
	}
	return path + "['" + key.(string) + "']"
}

// toWire returns a value of a resource as a catalog has it. The path is where it is among
// the parameters. Rule LANG-RES-06.
func (c *compilation) toWire(r *resource, path string, v data.Value) data.Value {
	switch v.Kind() {
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			l[i] = c.toWire(r, c.within(path, i), x)
		}
		return data.OfList(l)
	case data.Hash:
		return c.hashToWire(r, path, v)
	case data.Symbol, data.Rich:
		return c.richToWire(r, path, v)
	}
	return v
}

// within is like below, but spares a path that no message will have.
func (c *compilation) within(path string, key any) string {
	if c.o.RichData {
		return path
	}
	return below(path, key)
}

func (c *compilation) hashToWire(r *resource, path string, v data.Value) data.Value {
	plain := true
	for _, p := range v.Hash() {
		plain = plain && p.Key.Kind() == data.String
	}
	if plain || !c.o.RichData {
		h := make([]data.Pair, v.Len())
		for i, p := range v.Hash() {
			k := p.Key
			switch k.Kind() {
			case data.String:
			case data.Symbol:
				k = data.OfString(k.Str())
			default:
				k = c.asText(r, path, "a hash with ", " key", k)
			}
			h[i] = data.Pair{Key: k, Value: c.toWire(r, c.within(path, k.Str()), p.Value)}
		}
		return data.OfHash(h)
	}
	l := make([]data.Value, 0, 2*v.Len())
	for _, p := range v.Hash() {
		l = append(l, c.toWire(r, path, p.Key), c.toWire(r, path, p.Value))
	}
	return data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Hash")), data.P("__pvalue", data.OfList(l))})
}

func (c *compilation) richToWire(r *resource, path string, v data.Value) data.Value {
	if t, ok := types.AsType(v); ok {
		if ref, ok := types.AsReference(t); ok && !c.secret {
			of, title, err := c.reference(ref.Type, ref.Title)
			if err == nil && of.builtin != nil && title == "" {
				_, err = of.byTitle(title)
			}
			if err != nil {
				c.unwritten = err
			}
			return data.OfString(c.refText(of, title))
		}
	}
	if inner, secret := types.Unwrap(v); secret {
		before := c.secret
		c.secret = true
		v = c.toWire(r, path, inner)
		c.secret = before
		return data.OfHash([]data.Pair{data.P("__ptype", data.OfString("Sensitive")), data.P("__pvalue", v)})
	}
	if !c.o.RichData {
		return c.asText(r, path, "", " value", v)
	}
	if t, ok := types.AsType(v); ok {
		if out, ok := types.ToPcore(t); ok {
			return out
		}
	}
	out, _ := types.ToData(v)
	return out
}

// asText returns the text of a value or a key that catalogs cannot have without rich data.
// Puppet appends the path of each message to that of the one before.
func (c *compilation) asText(r *resource, path, before, after string, v data.Value) data.Value {
	what, text := withArticle(eval.ClassName(v)), eval.Text(v)
	switch t, isType := types.AsType(v); {
	case v.Kind() == data.Symbol:
		what, after = "the special value default", ""
	case isType:
		name, _, _ := strings.Cut(t.String(), "[")
		if ref, ok := types.AsReference(t); ok && ref.Type != "Class" {
			name = "Resource" // however it is written
		} else if strings.Contains(name, " = ") {
			name = "TypeAlias"
		}
		what = withArticle(name) + "-Type"
	}
	c.converted += path
	message := c.converted + " contains " + before + what + after + ". It will be converted to the String '" + text + "'"
	if c.o.Eval.Strict == syntax.StrictError {
		if c.unwritten == nil {
			c.unwritten = &unwrittenError{"Evaluation Error: " + message + place(r.file, r.line)}
		}
		return data.OfString(text)
	}
	c.log(eval.LogEntry{Level: "warning", File: r.file, Line: r.line, Message: message})
	return data.OfString(text)
}

// An unwrittenError is a catalog that cannot be written without rich data. Puppet has
// compiled it by then, so the error names no node and is not logged.
type unwrittenError struct{ text string }

func (e *unwrittenError) Error() string { return e.text }

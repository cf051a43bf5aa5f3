package transaction

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
)

// A Catalog is one whose resources became instances of their types. It belongs to one
// goroutine. Rules RES-CONV-01 to RES-CONV-06.
type Catalog struct {
	Name, Environment string
	Version           data.Value
	Classes           []string

	Conversion
	resources []*Resource          // in order
	added     []*Resource          // in the order in which they were added
	table     map[string]*Resource // by type and title, alias, or what is unique
	keys      []string             // of table, in the order in which they were added
	uniques   map[string]string    // keys by what was not found as it is written
}

// A Conversion is how a catalog is converted.
type Conversion struct {
	Types map[string]*types.Type
	Host  types.Host
	// Foreign takes resources of types that are not known for what they are, instead of
	// refusing the catalog: they can be ordered, but not applied. Refused takes those that
	// their types refuse, too.
	Foreign, Refused bool
	// Log takes what types warn of; it may be nil.
	Log TypeLog
}

// A TypeLog takes what types warn of: the resource is the one that is made, or nil.
type TypeLog func(r *Resource, level, message string)

func (l TypeLog) puppet(level, message string) { l.note(nil, level, message) }

func (l TypeLog) note(r *Resource, level, message string) {
	if l != nil {
		l(r, level, message)
	}
}

// Convert makes instances of the resources of c. Errors are in Puppet's words. Rules
// RES-CONV-01 and RES-CONV-02.
func Convert(c *model.Catalog, by Conversion) (*Catalog, error) {
	by.Host = types.NewSelection(by.Host, by.Log.puppet)
	out := &Catalog{
		Name: c.Name, Environment: c.Environment, Version: c.Version, Classes: c.Classes,
		Conversion: by, table: make(map[string]*Resource, 2*len(c.Resources)),
	}
	converted := make(map[string]*Resource, len(c.Resources))
	for i := range c.Resources {
		m := &c.Resources[i]
		if m.Virtual && !m.Exported {
			continue
		}
		r, err := out.convert(m, c.Format)
		if err != nil {
			return nil, err
		}
		converted[m.Ref()] = r
		if err := out.insert(r, len(out.resources)); err != nil {
			return nil, err
		}
	}
	for _, e := range c.Edges {
		source, target := converted[e.Source], converted[e.Target]
		if source != nil && target != nil {
			contain(source, target)
		}
	}
	return out, nil
}

// convert makes one instance. The kind of a resource decides of what. Rule RES-CONV-02.
func (c *Catalog) convert(m *model.Resource, format int64) (*Resource, error) {
	r := &Resource{Type: m.Type, Title: m.Title, File: m.File, Line: m.Line, Tags: m.Tags, virtual: m.Virtual, declared: m}
	t := c.Types[strings.ToLower(m.Type)]
	switch {
	case m.Kind == "compilable_type" && t == nil && c.Foreign:
		r.Kind = Foreign
		return r, r.relations(m)
	case m.Kind == "compilable_type" && t == nil:
		return nil, failf("Resource type '%s' was not found", m.Type)
	case m.Kind != "compilable_type" && (format >= 2 || t == nil):
		r.Kind = Component
		if r.Type == "Class" {
			r.Title = capitalize(r.Title)
		}
		return r, r.relations(m)
	}
	ral, err := types.New(t, c.Host, types.Given{
		Title: m.Title, File: m.File, Line: m.Line, Tags: m.Tags, Exported: m.Exported, Virtual: m.Virtual,
		Values: m.Parameters.Hash(), Sensitive: m.Sensitive, Catalog: c,
		LogPuppet: c.Log.puppet,
	}, func(level, message string) { c.Log.note(r, level, message) })
	if err != nil && c.Refused {
		r.Kind, r.problem = Foreign, err
		return r, r.relations(m)
	}
	if err != nil {
		return nil, err
	}
	return r, r.tagged(ral, m.Tags)
}

// tagged makes r the resource of an instance that has only the tags of the catalog, and
// those of its metaparameter: the compiler has added what follows from type and title.
func (r *Resource) tagged(ral *types.Resource, tags []string) error {
	ral.Tags = slices.Clip(tags)
	for _, tag := range ral.Value("tag").List() {
		if err := ral.Tag(tag.Text()); err != nil {
			return err
		}
	}
	r.adopt(ral)
	return nil
}

// relations reads the parameters of a resource that is no instance of a type: those
// that are relationships are all that counts.
func (r *Resource) relations(m *model.Resource) error {
	for _, k := range relationships {
		v, ok := m.Parameters.Lookup(string(k.kind))
		if !ok {
			continue
		}
		refs, err := parseRefs(v)
		if err != nil {
			return failf("Parameter %s failed on %s: %v%s", k.kind, r.Ref(), err, at(r.File, r.Line))
		}
		r.waits = append(r.waits, relation{k.kind, refs})
	}
	return nil
}

func parseRefs(v data.Value) ([]types.Ref, error) {
	all := v.List()
	if v.Kind() != data.List {
		all = []data.Value{v}
	}
	refs := make([]types.Ref, len(all))
	for i, x := range all {
		ref, ok := types.ParseRef(x.Text())
		if !ok {
			return nil, failf("No title provided and %s is not a valid resource reference", x.Inspect())
		}
		refs[i] = ref
	}
	return refs, nil
}

// adopt makes r the resource of an instance.
func (r *Resource) adopt(ral *types.Resource) {
	r.RAL, r.Tags = ral, ral.Tags
	r.Type = ral.Type.Title()
	r.Title = strings.TrimSuffix(strings.TrimPrefix(ral.Ref(), r.Type+"["), "]") // a type may have its own
	r.ref = r.Type + "[" + r.Title + "]"
	for _, k := range relationships {
		if refs := ral.Refs(string(k.kind)); len(refs) > 0 {
			r.waits = append(r.waits, relation{k.kind, refs})
		}
	}
}

// failf is an error of Puppet's own, in its words.
func failf(format string, args ...any) error {
	return &indirector.Failure{Message: fmt.Sprintf(format, args...)}
}

// at is where something is declared, as errors have it at their end.
func at(file string, line int64) string {
	if where := place(file, line); where != "" {
		return " " + where
	}
	return ""
}

func place(file string, line int64) string {
	switch {
	case file != "" && line > 0:
		return fmt.Sprintf("(file: %s, line: %d)", file, line)
	case file != "":
		return fmt.Sprintf("(file: %s)", file)
	case line > 0:
		return fmt.Sprintf("(line: %d)", line)
	}
	return ""
}

// insert adds a resource at a place of the order, and by its aliases.
func (c *Catalog) insert(r *Resource, index int) error {
	key := tableKey(r.Type, r.Title)
	if first := c.table[key]; first != nil {
		where := ""
		if p := place(first.File, first.Line); p != "" {
			where = " at " + p
		}
		return failf("Duplicate declaration: %s is already declared%s; cannot redeclare%s", r.Ref(), where, at(r.File, r.Line))
	}
	c.enter(key, r)
	c.resources = slices.Insert(c.resources, index, r)
	c.added = append(c.added, r)
	if r.RAL == nil {
		return nil
	}
	for _, v := range r.RAL.Value("alias").List() {
		if alias := v.Text(); v.Kind() == data.String && alias != r.Title { // what is no text is found by none
			if err := c.alias(r, alias, v.Inspect()); err != nil {
				return err
			}
		}
	}
	return c.aliasUnique(r)
}

// aliasUnique makes a resource known by what is unique of it, unless resources of its
// type may repeat that. Rule RES-TYPE-10.
func (c *Catalog) aliasUnique(r *Resource) error {
	t := r.RAL.Type
	if t.Repeats {
		return nil
	}
	unique, shown := uniqueOf(t, r.RAL.Value)
	if len(shown) == 0 || unique == r.Title {
		return nil
	}
	return c.alias(r, unique, data.OfList(shown).Inspect())
}

// uniqueOf joins the values of the namevars, sorted by their names.
func uniqueOf(t *types.Type, value func(string) data.Value) (string, []data.Value) {
	names := slices.Sorted(slices.Values(t.Namevars))
	texts, shown := make([]string, len(names)), make([]data.Value, len(names))
	set := false
	for i, n := range names {
		shown[i] = value(n)
		texts[i] = shown[i].Text()
		set = set || shown[i].Truthy()
	}
	if !set {
		return "", nil
	}
	return strings.Join(texts, "\x00"), shown
}

func (c *Catalog) alias(r *Resource, key, shown string) error {
	k := tableKey(r.Type, key)
	first := c.table[k]
	if first == r {
		return nil
	}
	if first == nil {
		c.enter(k, r)
		return nil
	}
	where := ""
	if p := place(r.File, r.Line); p != "" {
		where = " at " + p
	}
	parts := []string{r.Type}
	taken := data.OfStrings(append(parts, strings.Split(key, "\x00")...)).Inspect()
	return failf("Cannot alias %s to %s%s; resource %s already declared%s", r.Ref(), shown, where, taken, at(first.File, first.Line))
}

func (c *Catalog) enter(key string, r *Resource) {
	c.table[key] = r
	c.keys = append(c.keys, key)
}

func tableKey(typ, title string) string { return typ + "\x00" + title }

// find returns the resource that a reference means, by its title, an alias or what is
// unique of it, or nil.
func (c *Catalog) find(ref types.Ref) *Resource {
	typ, title := capitalize(ref.Type), ref.Title
	if typ == "Class" {
		title = capitalize(title)
	}
	if r := c.table[tableKey(typ, title)]; r != nil {
		return r
	}
	t := c.Types[strings.ToLower(typ)]
	if t == nil || t.Titles == nil {
		return nil
	}
	key, known := c.uniques[tableKey(typ, title)]
	if !known {
		pairs, err := t.Titles(title)
		if err != nil {
			return nil
		}
		unique, _ := uniqueOf(t, data.OfHash(pairs).Get)
		key = tableKey(typ, unique)
		if c.uniques == nil {
			c.uniques = map[string]string{}
		}
		c.uniques[tableKey(typ, title)] = key
	}
	return c.table[key]
}

// Resource implements types.Catalog.
func (c *Catalog) Resource(ref types.Ref) *types.Resource {
	if r := c.find(ref); r != nil {
		return r.RAL
	}
	return nil
}

// Resources implements types.Catalog.
func (c *Catalog) Resources(typ string) []*types.Resource {
	var all []*types.Resource
	for _, r := range c.resources {
		if r.RAL != nil && strings.EqualFold(r.Type, typ) {
			all = append(all, r.RAL)
		}
	}
	return all
}

var _ types.Catalog = (*Catalog)(nil)

package compile

import (
	"fmt"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
	"indirtui/indirector/origins"
)

// scopeOf returns the scope in the catalog that a statement is in.
func scopeOf(s *eval.Scope) *scope { return s.Owner.(*scope) }

// params returns the attributes of a statement as those of a resource.
func (c *compilation) params(s *scope, attrs []eval.Attribute, kind origins.Kind) []param {
	out := make([]param, len(attrs), len(attrs)+2)
	for i, a := range attrs {
		out[i] = param{a.Name, a.Value, s.source, a.Append, c.origin(origins.Origin{Kind: kind, File: a.File, Line: a.Line})}
	}
	return out
}

// Declare implements eval.Catalog. Rules LANG-RES-01 to LANG-RES-05.
func (c *compilation) Declare(st eval.Statement, form syntax.Form, typ string, titles []string, attrs []eval.Attribute) ([]data.Value, error) {
	s := scopeOf(st.Scope)
	return c.declare(s, st, declaration{form, typ, titles, c.params(s, attrs, origins.Literal), false, false})
}

// A declaration is one body of a resource expression, or what a function declares.
type declaration struct {
	form   syntax.Form
	typ    string
	titles []string
	params []param // the resource's from then on
	unset  bool    // see resource
	symbol bool    // see resource
}

func (c *compilation) declare(s *scope, st eval.Statement, d declaration) ([]data.Value, error) {
	isClass := strings.EqualFold(d.typ, "class")
	t := c.classType
	if !isClass {
		var err error
		if t, err = c.typeNamed(d.typ); err != nil {
			return nil, err
		}
		if t == nil {
			return nil, eval.Errorf("Unknown resource type: '%s'", d.typ)
		}
	}
	out := make([]data.Value, len(d.titles))
	for i, title := range d.titles {
		params := d.params
		if i < len(d.titles)-1 {
			params = append(make([]param, 0, len(params)+2), params...)
		}
		r := &resource{
			typ: t, title: title, key: title, kind: t.kind(), file: st.File, line: st.Line, scope: s, source: s.source,
			virtual: d.form != syntax.Regular, exported: d.form == syntax.Exported, unset: d.unset, symbol: d.symbol, def: t.def,
			params: params,
		}
		if isClass {
			if err := c.asClass(r); err != nil {
				return nil, err
			}
		}
		if err := c.complete(r, s); err != nil {
			return nil, err
		}
		if err := c.instantiate(s, r); err != nil {
			return nil, err
		}
		if err := c.addResource(s, r); err != nil {
			return nil, err
		}
		if isClass {
			if _, err := c.evaluateClasses(s, []string{title}, origins.Origin{File: st.File, Line: st.Line}); err != nil {
				return nil, err
			}
		}
		out[i] = types.OfDeclared(t.name, r.title)
	}
	return out, nil
}

func (t *resourceType) kind() string {
	if t.def != nil {
		return "defined_type"
	}
	return "compilable_type"
}

// asClass makes a resource the declaration of a class.
func (c *compilation) asClass(r *resource) error {
	def, err := c.findClass(r.title)
	if err != nil {
		return err
	}
	if def == nil {
		return eval.Errorf("Could not find declared class %s", r.title)
	}
	r.def, r.kind, r.key, r.title = def, "class", def.name, capitalized(def.name)
	return nil
}

// complete tags a resource and gives it the defaults of its scope. Rule LANG-RES-10.
func (c *compilation) complete(r *resource, s *scope) error {
	r.tags.ids = make([]int32, 0, 8)
	for _, p := range r.params {
		if p.name == "tag" {
			if err := c.tagValue(r, p.value); err != nil {
				return err
			}
		}
	}
	if err := c.tag(&r.tags, r.typ.name); err != nil {
		return err
	}
	if !r.symbol {
		c.tagIfValid(&r.tags, r.title)
	}
	if c.hasDefaults {
		return c.addDefaults(r, s)
	}
	return nil
}

func (c *compilation) addDefaults(r *resource, s *scope) error {
	for _, p := range s.defaultsFor(r.typ.name) {
		if r.param(p.name) != nil {
			continue
		}
		r.params = append(r.params, p)
		if p.name == "tag" {
			if err := c.tagValue(r, p.value); err != nil {
				return err
			}
		}
	}
	return nil
}

// defaultsFor returns the defaults of a type, those of outer scopes first. Nearer ones
// replace them in their places. Rule LANG-SC-06.
func (s *scope) defaultsFor(typ string) []param {
	var out []param
	if s.parent != nil {
		out = s.parent.defaultsFor(typ)
	}
	own := s.defaults[typ]
	if len(own) == 0 {
		return out
	}
	if len(out) == 0 {
		return own
	}
	out = append([]param(nil), out...)
next:
	for _, p := range own {
		for i := range out {
			if out[i].name == p.name {
				out[i] = p
				continue next
			}
		}
		out = append(out, p)
	}
	return out
}

// isDefault reports whether a value is the default of an attribute.
func (s *scope) isDefault(typ, name string, v data.Value) bool {
	for at := s; at != nil; at = at.parent {
		for _, p := range at.defaults[typ] {
			if p.name == name && data.Equal(p.value, v) {
				return true
			}
		}
	}
	return false
}

// addResource adds a resource to the catalog, within the one whose body declares it.
func (c *compilation) addResource(s *scope, r *resource) error {
	if err := c.insert(r); err != nil {
		return err
	}
	if c.thread.IsArmed() {
		if err := c.thread.Declared(s.vars, r.ref(), r.file, r.line); err != nil {
			return err
		}
	}
	if r.isClass(c) {
		c.pending = append(c.pending, r)
		return nil
	}
	if r.get("stage").Truthy() {
		return eval.Errorf("Only classes can set 'stage'; normal resources like %s cannot change run stage", r.ref())
	}
	if r.typ == c.mainStage.typ {
		return nil
	}
	c.addEdge(s.resource, r)
	if r.def == nil {
		return nil
	}
	c.pending = append(c.pending, r)
	if r.depth = s.resource.depth + 1; r.depth > c.o.MaxContainers {
		return eval.Issuef("%d containers within each other: %s", r.depth, cycle(r))
	}
	return nil
}

// cycle names the containers of a resource that repeat, from the outermost on.
func cycle(r *resource) string {
	text, seen := r.short(), 0
	for at := r.scope.resource; at != nil && seen < 10; at = at.scope.resource {
		text = at.short() + " contains " + text
		if seen++; at.typ == r.typ {
			break
		}
		if at.scope == nil || at.scope.resource == at {
			break
		}
	}
	return text
}

// short returns the reference, with the beginning of a long title.
func (r *resource) short() string {
	const most = 60
	if len(r.title) <= most {
		return r.ref()
	}
	return r.typ.name + "[" + strings.ToValidUTF8(r.title[:most], "") + "…]"
}

// insert adds a resource to the tables. Rule LANG-RES-05.
func (c *compilation) insert(r *resource) error {
	k := key{r.typ, r.key}
	if old := c.table[k]; old != nil {
		at := ""
		if old.file != "" || old.line != 0 {
			at = " at" + place(old.file, old.line)
		}
		return eval.Errorf("Duplicate declaration: %s is already declared%s; cannot redeclare%s", r.ref(), at, place(r.file, r.line))
	}
	if len(c.all) >= c.o.MaxResources {
		return eval.Issuef("the catalog has more than %d resources", c.o.MaxResources)
	}
	c.table[k] = r
	r.index = len(c.all)
	c.all = append(c.all, r)
	r.typ.members = append(r.typ.members, r)
	return c.aliases(r)
}

// aliases makes a resource known by its other names.
func (c *compilation) aliases(r *resource) error {
	if v := r.get("alias"); !v.IsNil() {
		for _, x := range eval.Flatten([]data.Value{v}) {
			if x.IsNil() {
				continue
			}
			if name := eval.Text(x); name != r.title {
				if err := c.alias(r, name, data.OfString(name).Inspect(), []data.Value{data.OfString(name)}); err != nil {
					return err
				}
			}
		}
	}
	if r.typ.builtin != nil && r.typ.builtin.Many || r.symbol && r.title == "main" {
		return nil
	}
	values, other, err := r.typ.identity(r.title, r.get)
	if err != nil || !other {
		return err
	}
	return c.alias(r, keyOf(values), data.OfList(values).Inspect(), values)
}

func (c *compilation) alias(r *resource, name, shown string, values []data.Value) error {
	k := key{r.typ, name}
	old := c.table[k]
	if old == r {
		return nil
	}
	if old == nil {
		c.table[k] = r
		return nil
	}
	at := ""
	if r.file != "" || r.line != 0 {
		at = " at" + place(r.file, r.line)
	}
	whole := data.OfList(append([]data.Value{data.OfString(r.typ.name)}, values...)).Inspect()
	return eval.Errorf("Cannot alias %s to %s%s; resource %s already declared%s", r.ref(), shown, at, whole, place(old.file, old.line))
}

// lookup returns a resource by its type and title, or by what else names it; or nil.
func (c *compilation) lookup(t *resourceType, title string) *resource {
	name := title
	if t == c.classType {
		name = strings.ToLower(strings.TrimPrefix(title, "::"))
		if name == "main" && title == "main" {
			return nil // the class of that name, which is not the one of the manifest
		}
	}
	if r := c.table[key{t, name}]; r != nil {
		return r
	}
	if t.builtin == nil || t.isPlain() {
		return nil
	}
	values, _, err := t.identity(title, func(string) data.Value { return data.Value{} })
	if err != nil {
		return nil
	}
	return c.table[key{t, keyOf(values)}]
}

// reference returns the type that a reference names, and its title. A type that is not
// known is the class, as in Puppet.
func (c *compilation) reference(typ, title string) (*resourceType, string, error) {
	switch strings.ToLower(typ) {
	case "class":
		return c.classType, title, nil
	case "node":
		return c.nodeType, title, nil
	}
	t, err := c.typeNamed(strings.ToLower(typ))
	if t == nil {
		return c.classType, title, err
	}
	return t, title, nil
}

// refText returns a reference as Puppet writes it.
func (c *compilation) refText(t *resourceType, title string) string {
	if t == c.classType {
		if title == "" {
			title = "main"
		} else {
			title = capitalized(title)
		}
	}
	return t.name + "[" + title + "]"
}

// Default implements eval.Catalog.
func (c *compilation) Default(st eval.Statement, typ string, attrs []eval.Attribute) error {
	s := scopeOf(st.Scope)
	for _, p := range c.params(s, attrs, origins.Default) {
		for _, old := range s.defaults[typ] {
			if old.name == p.name {
				return placed(c.placeOf(&p), "Default already defined for %s { %s }; cannot redefine", typ, p.name)
			}
		}
		if s.defaults == nil {
			s.defaults = map[string][]param{}
		}
		s.defaults[typ] = append(s.defaults[typ], p)
		c.hasDefaults = true
	}
	return nil
}

// Override implements eval.Catalog. Rule LANG-RES-11.
func (c *compilation) Override(st eval.Statement, typ, title string, attrs []eval.Attribute) error {
	s := scopeOf(st.Scope)
	t, title, err := c.reference(typ, title)
	if err != nil {
		return err
	}
	o := &resource{typ: t, title: title, file: st.File, line: st.Line, scope: s, source: s.source}
	for _, p := range c.params(s, attrs, origins.Override) {
		if o.param(p.name) != nil {
			return placed(c.placeOf(&p), "Duplicate parameter '%s' for on %s", p.name, o.ref())
		}
		o.params = append(o.params, p)
	}
	return c.override(o)
}

// override changes a resource now, or when the catalog is finished.
func (c *compilation) override(o *resource) error {
	if r := c.lookup(o.typ, o.title); r != nil {
		return c.merge(r, o)
	}
	k := key{o.typ, o.title}
	if c.overrides[k] == nil {
		c.overrideOrder = append(c.overrideOrder, k)
	}
	c.overrides[k] = append(c.overrides[k], o)
	return nil
}

// merge changes a resource by an override.
func (c *compilation) merge(r, o *resource) error {
	at := origins.Origin{File: o.file, Line: o.line}
	if r.source != o.source && !o.source.childOf(r.source) {
		return placed(at, "Only subclasses can override parameters")
	}
	if r.evaluated && c.o.Eval.Strict != syntax.StrictOff {
		text := "Attempt to override an already evaluated resource with new values"
		if r.file != "" || r.line != 0 {
			text = "Attempt to override an already evaluated resource, defined at" + place(r.file, r.line) + ", with new values"
		}
		if c.o.Eval.Strict == syntax.StrictError {
			return placed(at, "%s", text)
		}
		c.log(eval.LogEntry{Level: "warning", Message: text + place(o.file, o.line)})
	}
	for _, p := range o.params {
		if err := c.overrideParam(r, p); err != nil {
			return err
		}
	}
	return nil
}

func (c *compilation) overrideParam(r *resource, p param) error {
	old := r.param(p.name)
	if old == nil {
		return c.set(r, p)
	}
	if r.scope.isDefault(r.typ.name, p.name, p.value) {
		return nil
	}
	if !p.source.childOf(old.source) && (p.source != old.source || !r.scope.isDefault(r.typ.name, p.name, old.value)) {
		text := fmt.Sprintf("Parameter '%s' is already set on %s by #<Puppet::Resource::Type>", p.name, r.ref())
		if o := c.placeOf(old); o.File != "" || o.Line != 0 {
			text += " at" + place(o.File, o.Line)
		}
		return placed(c.placeOf(&p), "%s; cannot redefine", text)
	}
	if p.append {
		p.value = data.OfList(eval.Flatten([]data.Value{old.value, p.value}))
	}
	return c.set(r, p)
}

// Attribute implements eval.Catalog. Rule LANG-ACC-05.
func (c *compilation) Attribute(typ, title, name string) (data.Value, error) {
	t, title, err := c.reference(typ, title)
	if err != nil {
		return data.Value{}, err
	}
	shown := capitalized(typ)
	r := c.lookup(t, title)
	if r == nil {
		return data.Value{}, eval.Issuef("Resource not found: %s['%s']", shown, title)
	}
	valid := t.has(name)
	if t == c.classType && r.def != nil {
		valid = name == "name" || metaparameters()[name] || isParam(r.def.paramList(), name)
	}
	if !valid {
		return data.Value{}, eval.Issuef("The resource %s['%s'] does not have a parameter called '%s'", shown, title, name)
	}
	v := r.get(name)
	if v.IsNil() && c.hasDefaults {
		for _, p := range r.scope.defaultsFor(r.typ.name) {
			if p.name == name {
				return p.value, nil
			}
		}
	}
	return v, nil
}

// HasType implements eval.Catalog.
func (c *compilation) HasType(name string) (bool, error) {
	t, err := c.typeNamed(name)
	return t != nil, err
}

// HasClass implements eval.Catalog.
func (c *compilation) HasClass(name string) (bool, error) {
	def, err := c.findClass(name)
	return def != nil, err
}

// ClassScope implements eval.Catalog. Rule LANG-SC-02.
func (c *compilation) ClassScope(name string) *eval.Scope {
	if s := c.scopes[name]; s != nil {
		return s.vars
	}
	return nil
}

// evaluateClasses declares classes without parameters and evaluates those that are new.
// The place is that of the call. It returns the resources: those that were there first. Rule LANG-DEF-03.
func (c *compilation) evaluateClasses(s *scope, names []string, at origins.Origin) ([]*resource, error) {
	var known, made []*resource
	defs := make([]*definition, len(names))
	for i, name := range names {
		def, err := c.findClass(name)
		if err != nil {
			return nil, err
		}
		if def == nil {
			return nil, eval.Errorf("Could not find class %s for %s", name, c.o.Node.Name)
		}
		defs[i] = def
	}
	for _, def := range defs {
		if old := c.scopes[def.name]; old != nil {
			known = append(known, old.resource)
			continue
		}
		r, err := c.ensure(s, def, nil, at)
		if err != nil {
			return nil, err
		}
		made = append(made, r)
	}
	for _, r := range made {
		if err := c.evaluateResource(r); err != nil {
			return nil, err
		}
	}
	return append(known, made...), nil
}

package compile

import (
	"context"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/rtype"
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
)

// A compilation is one that is under way.
type compilation struct {
	ctx     context.Context
	o       Options
	version data.Value
	thread  *eval.Thread
	library eval.Library

	// What is defined, by names in small letters.
	classes map[string]*definition
	defines map[string]*definition
	nodes   []*definition
	absent  map[string]bool // names that were searched in vain
	tried   map[string][]string
	defined map[*eval.Program]bool
	types   map[string]*resourceType
	mainDef *definition

	// What is declared.
	all       []*resource
	table     map[key]*resource // by titles, and by what else names them
	main      *resource
	mainStage *resource
	classList []string
	tags      tagSet
	classType *resourceType
	nodeType  *resourceType

	// How far it is evaluated.
	top, nodeScope *scope
	scopes         map[string]*scope // of classes and nodes that are evaluated
	pending, ready []*resource
	evaluating     *resource // the innermost
	match          []data.Value
	collectors     []*collector
	relations      []relation
	overrides      map[key][]*resource
	overrideOrder  []key
	hasDefaults    bool

	tagNames []string
	tagInfos map[string]*tagInfo
	origins  []origins.Origin

	why       string // what other nodes have to do with a failure
	unwritten error  // why a value cannot be part of the catalog
	secret    bool   // whether a Sensitive value is written: references in it stay types
	converted string // where in a resource values became texts, as messages have it
}

// A key finds a resource: by its title, or by its key attributes.
type key struct {
	typ  *resourceType
	name string
}

func newCompilation(ctx context.Context, o Options) *compilation {
	if o.MaxContainers == 0 {
		o.MaxContainers = 500
	}
	if o.MaxResources == 0 {
		o.MaxResources = 1_000_000
	}
	c := &compilation{
		ctx: ctx, o: o, library: Library(), mainDef: &definition{kind: eval.ClassKind},
		classes: map[string]*definition{}, defines: map[string]*definition{}, absent: map[string]bool{}, tried: map[string][]string{}, defined: map[*eval.Program]bool{}, types: map[string]*resourceType{},
		table: map[key]*resource{}, scopes: map[string]*scope{}, overrides: map[key][]*resource{},
		tagInfos: map[string]*tagInfo{},
		origins:  make([]origins.Origin, 1, 128), // the first stands for none
	}
	c.classType = &resourceType{plain: "class", name: "Class"}
	c.nodeType = &resourceType{plain: "node", name: "Node"}
	o.Eval.Catalog = c
	c.thread = eval.NewThread(o.Eval)
	if o.Begin != nil {
		o.Begin(c.thread)
	}
	c.top = &scope{c: c, vars: c.thread.Top(), source: c.mainDef}
	c.top.vars.Owner = c.top
	return c
}

// A definition is a class, a define or a node that a program has.
type definition struct {
	*eval.Container // nil of classes without a program: main and settings

	kind      eval.Kind
	name      string // in small letters; "" of main
	host      string // of a node: the name that it is matched with
	regexp    *onig.Regexp
	module    string
	parentDef *definition // nil before it was looked up, or if there is none
	overrides bool        // whether a collector of it overrides: it may override all from then on
}

// childOf reports whether a definition inherits another.
func (d *definition) childOf(o *definition) bool {
	if d.overrides {
		return true
	}
	for p := d.parentDef; p != nil; p = p.parentDef {
		if p == o || p.overrides {
			return true
		}
	}
	return false
}

// A resourceType is what the resources of a type have in common.
type resourceType struct {
	plain   string // "apache::vhost"
	name    string // "Apache::Vhost"
	builtin *rtype.Type
	def     *definition // of a define
	namevar string
	keys    []string // sorted
	titles  []titlePattern
	attrs   map[string]bool // those of a resource type; nil if any
	members []*resource     // in the order of their declaration
}

// A titlePattern is one of those of a resource type; without a pattern the title is
// the only key.
type titlePattern struct {
	pattern *onig.Regexp
	slashes bool // it only drops slashes at the end
	attrs   []string
}

// A resource is one that is declared.
type resource struct {
	typ   *resourceType
	title string
	key   string // as the table has it
	// symbol marks a title that is no string in Puppet: those of the stage and the class
	// main, and numbers that create_resources is given.
	symbol bool
	kind   string
	params []param
	tags   tagSet
	file   string
	line   int
	scope  *scope
	source *definition
	def    *definition // of classes, defines and nodes
	depth  int         // how many containers are around it
	at     int32       // the origin that has the place of include, where there is no file

	virtual, exported   bool
	exporter            string // the other node that exports it
	unset               bool   // create_resources leaves open whether it is exported
	evaluated, finished bool
	tagged              bool // with the tags of its container

	sensitive []string
	in        []*resource // that contain it
	inOne     [1]*resource
	out       []*resource
	index     int
}

func (r *resource) ref() string { return r.typ.name + "[" + r.title + "]" }

func (r *resource) isClass(c *compilation) bool { return r.typ == c.classType }

// A param is an attribute of a resource.
type param struct {
	name   string
	value  data.Value
	source *definition
	append bool
	origin int32 // in the table of the compilation
}

func (r *resource) param(name string) *param {
	for i := range r.params {
		if r.params[i].name == name {
			return &r.params[i]
		}
	}
	return nil
}

// get returns the value of an attribute, or undef.
func (r *resource) get(name string) data.Value {
	if name == "title" {
		return data.OfString(r.title)
	}
	if p := r.param(name); p != nil {
		return p.value
	}
	return data.Value{}
}

// set sets an attribute.
func (c *compilation) set(r *resource, p param) error {
	if p.name == "tag" {
		if err := c.tagValue(r, p.value); err != nil {
			return err
		}
	}
	if old := r.param(p.name); old != nil {
		if old.origin != p.origin {
			p.origin = c.replacing(p.origin, old.origin)
		}
		*old = p
		return nil
	}
	r.params = append(r.params, p)
	return nil
}

// A scope is an eval.Scope in the catalog: the owner of that one.
type scope struct {
	c        *compilation
	vars     *eval.Scope
	parent   *scope // where it was declared; nil of the top scope
	resource *resource
	source   *definition
	defaults map[string][]param // by names of types
	match    []data.Value       // of a regular expression, where the class that is being declared is named
}

// global returns the scope of the node or the top scope around s.
func (s *scope) global() *scope {
	for s.parent != nil && !s.isNode() {
		s = s.parent
	}
	return s
}

// String returns the resource, as the source of what is logged.
func (s *scope) String() string {
	if s.resource == nil {
		return "Class[main]"
	}
	return s.resource.ref()
}

func (s *scope) isNode() bool { return s.resource != nil && s.resource.typ == s.c.nodeType }

// newScope returns the scope of a class, a define or a node. Rule LANG-SC-01.
func (c *compilation) newScope(parent *scope, source *definition, r *resource) *scope {
	s := &scope{c: c, parent: parent, source: source, resource: r}
	outer := parent
	for outer.parent != nil && !outer.isNode() {
		outer = outer.parent
	}
	s.vars = &eval.Scope{Owner: s, Outer: outer.vars}
	return s
}

// A tagSet has tags in the order in which they were added.
type tagSet struct {
	ids  []int32
	seen map[int32]struct{} // nil while there are few
}

// fewTags is how many tags are looked through one by one.
const fewTags = 32

func (t *tagSet) has(id int32) bool {
	if t.seen != nil {
		_, ok := t.seen[id]
		return ok
	}
	return slices.Contains(t.ids, id)
}

func (t *tagSet) add(id int32) {
	if t.has(id) {
		return
	}
	t.ids = append(t.ids, id)
	switch {
	case t.seen != nil:
		t.seen[id] = struct{}{}
	case len(t.ids) > fewTags:
		t.seen = make(map[int32]struct{}, 2*len(t.ids))
		for _, id := range t.ids {
			t.seen[id] = struct{}{}
		}
	}
}

func (t *tagSet) merge(o *tagSet) {
	if cap(t.ids) < len(t.ids)+len(o.ids) {
		t.ids = slices.Grow(t.ids, len(o.ids))
	}
	for _, id := range o.ids {
		t.add(id)
	}
}

// A tagInfo is what a text means as a tag.
type tagInfo struct {
	id    int32
	valid bool
	parts []int32 // segments of a qualified name
	lower string
}

func (c *compilation) tagInfo(text string) *tagInfo {
	if info, ok := c.tagInfos[text]; ok {
		return info
	}
	lower := strings.ToLower(text)
	if lower != text {
		info := c.tagInfo(lower)
		c.tagInfos[text] = info
		return info
	}
	info := &tagInfo{id: int32(len(c.tagNames)), valid: model.ValidTag(lower), lower: lower}
	c.tagNames = append(c.tagNames, lower)
	c.tagInfos[lower] = info
	if info.valid && strings.Contains(lower, "::") {
		for part := range strings.SplitSeq(strings.TrimRight(lower, ":"), "::") {
			info.parts = append(info.parts, c.tagInfo(part).id)
		}
	}
	return info
}

// tag adds a tag. Rule LANG-TAG-01.
func (c *compilation) tag(t *tagSet, text string) error {
	info := c.tagInfo(text)
	if t.has(info.id) {
		return nil
	}
	if !info.valid {
		return eval.Errorf("Invalid tag '%s'", info.lower)
	}
	info.addTo(t)
	return nil
}

func (i *tagInfo) addTo(t *tagSet) {
	t.add(i.id)
	for _, id := range i.parts {
		t.add(id)
	}
}

// tagIfValid adds a title if it is a valid tag.
func (c *compilation) tagIfValid(t *tagSet, title string) {
	if !model.ValidTag(title) {
		return
	}
	if info := c.tagInfo(title); !t.has(info.id) {
		info.addTo(t)
	}
}

// tagValue adds the tags that are the value of an attribute, or arguments.
func (c *compilation) tagValue(r *resource, v data.Value) error {
	if v.Kind() == data.Hash {
		v = data.OfList(eval.PairsOf(v))
	}
	for _, x := range eval.Flatten([]data.Value{v}) {
		if x.IsNil() {
			continue
		}
		if err := c.tag(&r.tags, eval.Text(x)); err != nil {
			if r.file == "" && r.line == 0 {
				return err
			}
			return placed(origins.Origin{File: r.file, Line: r.line}, "%s", err)
		}
	}
	return nil
}

func (c *compilation) tagTexts(t *tagSet) []string {
	out := make([]string, len(t.ids))
	for i, id := range t.ids {
		out[i] = c.tagNames[id]
	}
	return out
}

package compile

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/origins"
)

// define adds the classes, defines and nodes of a program. Rules LANG-DEF-01, LANG-DEF-02.
func (c *compilation) define(p *eval.Program) error {
	if c.defined[p] {
		return nil
	}
	if err := c.thread.Define(p); err != nil {
		return err
	}
	c.defined[p] = true
	for _, container := range p.Containers() {
		if err := c.metaparams(container); err != nil {
			return err
		}
		err := c.thread.Resolve(container)
		if err != nil {
			return err
		}
		switch container.Kind {
		case eval.ClassKind:
			err = c.add(c.classes, c.newDefinition(container))
		case eval.DefineKind:
			err = c.add(c.defines, c.newDefinition(container))
		default:
			err = c.addNodes(container)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// metaparams warns about parameters that every resource has.
func (c *compilation) metaparams(container *eval.Container) error {
	for _, p := range container.Params {
		if !metaparameters()[p.Name] {
			continue
		}
		if !p.HasDefault {
			return placed(origins.Origin{}, "%s is a metaparameter; please choose another parameter name in the %s definition", p.Name, container.Name)
		}
		c.log(eval.LogEntry{
			Level:   "warning",
			Message: p.Name + " is a metaparam; this value will inherit to all contained resources in the " + container.Name + " definition",
		})
	}
	return nil
}

func (c *compilation) newDefinition(container *eval.Container) *definition {
	d := &definition{Container: container, kind: container.Kind, name: container.Name}
	if c.o.Module != nil {
		d.module = c.o.Module(container.File)
	}
	return d
}

// add adds a class or a define, whose name no other may have.
func (c *compilation) add(to map[string]*definition, d *definition) error {
	if d.kind == eval.ClassKind && d.name == "settings" {
		return redefined(c.classes["settings"], d)
	}
	for _, old := range []*definition{c.classes[d.name], c.defines[d.name], c.nodeNamed(d.name)} {
		if old != nil && old.Container != d.Container && (d.kind == eval.ClassKind || old.kind != eval.NodeKind) {
			return redefined(old, d)
		}
	}
	to[d.name] = d
	delete(c.absent, d.name)
	return nil
}

func (c *compilation) nodeNamed(name string) *definition {
	for _, d := range c.nodes {
		if d.name == name {
			return d
		}
	}
	return nil
}

// redefined returns Puppet's error for a name that has two definitions.
func redefined(old, d *definition) error {
	at := ""
	if old.Container != nil {
		at = place(old.File, old.Line)
	}
	text := ""
	switch of := [2]eval.Kind{d.kind, old.kind}; of {
	case [2]eval.Kind{eval.DefineKind, eval.DefineKind}:
		return eval.Errorf("Attempt to redefine entity 'http://puppet.com/2016.1/runtime/type/%s'. Originally set at file://%s?line=%d&pos=%d.",
			d.name, old.File, old.Line, old.Column)
	case [2]eval.Kind{eval.DefineKind, eval.ClassKind}:
		text = "'" + d.name + "' is already defined" + at + " as a class; cannot redefine as a definition"
	default:
		text = map[eval.Kind]string{eval.ClassKind: "Class", eval.DefineKind: "Definition", eval.NodeKind: "Node"}[old.kind]
		text += " '" + d.name + "' is already defined" + at
		switch {
		case of[0] == of[1]:
			text += "; cannot redefine"
		case d.kind == eval.ClassKind:
			text += "; cannot be redefined as a class"
		default:
			text += "; cannot be redefined as a node"
		}
	}
	return placed(origins.Origin{File: d.File, Line: d.Line}, "%s", text)
}

// place returns a place as messages have it in their middle.
func place(file string, line int) string {
	return (&eval.Error{File: file, Line: line}).Error()
}

// addNodes adds a definition for each name that a node statement has.
func (c *compilation) addNodes(container *eval.Container) error {
	for _, h := range container.Hosts {
		d := c.newDefinition(container)
		d.host, d.name = h.Name, h.Name
		if h.Regexp != "" {
			re, err := onig.Shared(h.Regexp)
			if err != nil {
				return err
			}
			d.regexp, d.host = re, ""
			d.name = "__node_regexp__" + hostName(h.Regexp)
		}
		for _, old := range []*definition{c.nodeNamed(d.name), c.classes[d.name]} {
			if old != nil {
				return redefined(old, d)
			}
		}
		c.nodes = append(c.nodes, d)
	}
	return nil
}

// hostName is what Puppet makes of a regular expression in the name of a node.
func hostName(source string) string {
	name := strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9', r == '-', r == '_', r == ':', r == '.':
			return r
		}
		return -1
	}, strings.ToLower(source))
	return strings.TrimLeft(name, ".")
}

// findClass returns the class of a name, or nil. Rule LANG-LOAD-10.
func (c *compilation) findClass(name string) (*definition, error) {
	return c.find(eval.ClassKind, c.classes, name)
}

func (c *compilation) findDefine(name string) (*definition, error) {
	return c.find(eval.DefineKind, c.defines, name)
}

func (c *compilation) find(kind eval.Kind, in map[string]*definition, name string) (*definition, error) {
	if d := in[name]; d != nil {
		return d, nil
	}
	name = strings.ToLower(strings.TrimPrefix(name, "::"))
	if d := in[name]; d != nil {
		return d, nil
	}
	if c.absent[name] || c.o.Eval.Load == nil || name == "" {
		return nil, nil
	}
	found, err := c.o.Eval.Load(kind, name, "")
	if err != nil {
		return nil, err
	}
	for _, p := range found.Programs {
		if err := c.define(p); err != nil {
			return nil, err
		}
	}
	if c.classes[name] == nil && c.defines[name] == nil {
		c.absent[name] = true
		c.tried[name] = found.Tried
	}
	return in[name], nil
}

// parentOf returns the class that one inherits, or nil.
func (c *compilation) parentOf(d *definition) (*definition, error) {
	if d.Container == nil || d.Parent == "" || d.parentDef != nil {
		return d.parentDef, nil
	}
	parent, err := c.findClass(d.Parent)
	if err != nil {
		return nil, err
	}
	if parent == nil {
		return nil, placed(origins.Origin{File: d.File, Line: d.Line}, "Could not find parent resource type '::%s' of type hostclass in %s", d.Parent, c.o.Node.Environment)
	}
	d.parentDef = parent
	return parent, nil
}

// ensure declares a class or node if it is not declared yet. The parameters are nil if
// none are given; Puppet treats an empty list of them as given. The place is that of what
// declares it, which the resource does not have in Puppet.
func (c *compilation) ensure(s *scope, def *definition, params []data.Pair, at origins.Origin) (*resource, error) {
	typ := c.classType
	if def.kind == eval.NodeKind {
		typ = c.nodeType
	}
	if params == nil {
		if r := c.table[key{typ, def.name}]; r != nil {
			return r, nil
		}
	}
	given := make([]param, 0, len(params)+len(def.paramList()))
	for _, p := range params {
		given = append(given, param{name: p.Key.Str(), value: p.Value, source: def, origin: c.origin(origins.Origin{Kind: origins.Classifier})})
	}
	title := def.name
	if def.kind == eval.ClassKind {
		title = capitalized(def.name)
	}
	r := &resource{typ: typ, title: title, key: def.name, kind: "unknown", scope: s, source: def, def: def, params: given}
	if at.File != "" || at.Line > 0 {
		r.at = c.origin(at)
	}
	if err := c.complete(r, s); err != nil {
		return nil, err
	}
	if err := c.instantiate(s, r); err != nil {
		return nil, err
	}
	return r, c.addResource(s, r)
}

func (d *definition) paramList() []eval.ContainerParam {
	if d.Container == nil {
		return nil
	}
	return d.Params
}

// instantiate declares the class that one inherits, and tags the catalog.
func (c *compilation) instantiate(s *scope, r *resource) error {
	if r.def == nil || r.def.kind == eval.DefineKind {
		return nil
	}
	parent, err := c.parentOf(r.def)
	if err != nil {
		return err
	}
	if parent != nil && c.table[key{r.typ, parent.name}] == nil {
		if err := c.checkInheritance(r.def); err != nil {
			return err
		}
		if _, err := c.ensure(s, parent, nil, origins.Origin{File: r.def.File, Line: r.def.Line}); err != nil {
			return err
		}
	}
	c.tags.merge(&r.tags)
	return nil
}

// checkInheritance fails if a class inherits itself, through whatever classes.
func (c *compilation) checkInheritance(d *definition) error {
	names := []string{d.name}
	for at := d; ; {
		parent, err := c.parentOf(at)
		if parent == nil || err != nil {
			return err
		}
		names = append(names, parent.name)
		if slices.Contains(names[:len(names)-1], parent.name) {
			return placed(origins.Origin{File: at.File, Line: at.Line}, "Class %s inherits itself: %s", d.name, strings.Join(names, ", "))
		}
		at = parent
	}
}

// evaluateResource evaluates a class, a define or a node, once.
func (c *compilation) evaluateResource(r *resource) error {
	if r.evaluated {
		return nil
	}
	r.evaluated = true
	outer := c.evaluating
	c.evaluating = r
	c.tagWithContainer(r)
	end := c.partOf(r)
	err := c.evaluateCode(r)
	end(err)
	if err == nil {
		c.evaluating = outer
	}
	return err
}

// partOf begins the part that a class, a define or a node is.
func (c *compilation) partOf(r *resource) (end func(error)) {
	if !c.thread.IsTraced() {
		return func(error) {}
	}
	kind, name := "define", r.ref()
	switch {
	case r.isClass(c):
		kind, name = "class", r.def.name
	case r.typ == c.nodeType:
		kind, name = "node", r.title
	}
	if r.def.Container == nil {
		return c.part(kind, name, "", 0)
	}
	return c.part(kind, name, r.def.File, r.def.Line)
}

// tagWithContainer gives a resource the tags of its container.
func (c *compilation) tagWithContainer(r *resource) {
	if r.tagged {
		return
	}
	r.tagged = true
	if around := r.scope.resource; around != nil && around != r {
		r.tags.merge(&around.tags)
	}
}

func (c *compilation) evaluateCode(r *resource) error {
	around := r.scope
	parent, err := c.parentOf(r.def)
	if err != nil {
		return err
	}
	if parent != nil {
		if pr := c.table[key{c.classType, parent.name}]; pr != nil {
			if err := c.evaluateResource(pr); err != nil {
				return err
			}
			if around = c.scopes[parent.name]; around == nil {
				return eval.Errorf("Could not find scope for %s", parent.name)
			}
		}
	}
	s := c.newScope(around, r.def, r)
	if parent != nil {
		s.vars.Inherits = around.vars
	}
	if r.def.kind != eval.DefineKind {
		if err := c.addClass(r.def.name); err != nil {
			return err
		}
	}
	if err := c.bind(r, s); err != nil {
		return err
	}
	if r.isClass(c) {
		if err := c.stageOf(r); err != nil {
			return err
		}
	}
	if r.def.Container == nil {
		return nil
	}
	var match []data.Value
	switch {
	case r.def.kind == eval.NodeKind:
		match = c.match
	case r.def.kind == eval.ClassKind && parent == nil:
		match = around.global().match // classes see that of what declares them at the top
	}
	return c.thread.RunContainer(r.def.Container, s.vars, match)
}

// bind gives a class or define its variables. Rules LANG-SC-05, LANG-DEF-04.
func (c *compilation) bind(r *resource, s *scope) error {
	s.vars.Set("module_name", data.OfString(r.def.module)) // "" outside of modules
	if caller := s.parent.source; caller != nil {
		s.vars.Set("caller_module_name", data.OfString(caller.module))
	}
	params := r.def.paramList()
	if r.def.kind == eval.ClassKind {
		if err := c.fromData(r, params); err != nil {
			return err
		}
	}
	name := r.get("name")
	if name.IsNil() {
		name = data.OfString(r.title)
	}
	title := data.OfString(r.title)
	if r.def.kind == eval.ClassKind {
		title, name = data.OfString(strings.ToLower(r.title)), data.OfString(strings.ToLower(eval.Text(name)))
	}
	s.vars.Set("title", title)
	s.vars.Set("name", name)
	if r.def.kind != eval.DefineKind {
		c.scopes[r.def.name] = s
	}
	if len(params) > 0 {
		names := make([]string, len(params))
		for i := range params {
			names[i] = params[i].Name
		}
		s.vars.Expect(names)
	}
	for _, p := range r.params {
		if p.name != "name" && p.name != "title" {
			s.vars.Set(p.name, p.value)
		}
	}
	for i := range params {
		p := &params[i]
		if !p.HasDefault || !r.get(p.Name).IsNil() {
			continue
		}
		v, err := c.thread.Default(p, s.vars)
		if err != nil {
			return placedIn(r.def, err)
		}
		at := c.origin(origins.Origin{Kind: origins.Parameter, File: r.def.File, Line: p.Line})
		if err := c.set(r, param{name: p.Name, value: v, source: r.source, origin: at}); err != nil {
			return err
		}
		s.vars.Set(p.Name, v)
	}
	return c.checkParams(r)
}

// placedIn returns an error of a default expression. What has no place, such as a lookup
// that finds nothing, gets that of the definition.
func placedIn(d *definition, err error) error {
	if e, ok := err.(*eval.Error); ok && e.File == "" && e.Line == 0 {
		at := *e
		at.File, at.Line = d.File, d.Line
		return &at
	}
	return err
}

// fromData asks the data for parameters of a class that were not given.
func (c *compilation) fromData(r *resource, params []eval.ContainerParam) error {
	if c.o.Data == nil {
		return nil
	}
	for _, p := range params {
		if !r.get(p.Name).IsNil() {
			continue
		}
		v, from, found, err := c.o.Data(c.thread.Context(), r.def.name+"::"+p.Name)
		if err != nil {
			return err
		}
		if !found || v.IsNil() && p.HasDefault {
			continue
		}
		at := c.origin(origins.Origin{Kind: origins.Data, File: from.File, Line: from.Line, Level: from.Level})
		if err := c.set(r, param{name: p.Name, value: v, source: r.source, origin: at}); err != nil {
			return err
		}
	}
	return nil
}

// checkParams holds the parameters of a class or define against their types. Rule
// LANG-DEF-04.
func (c *compilation) checkParams(r *resource) error {
	params := r.def.paramList()
	var lines []string
	for _, p := range r.params {
		if p.name != "name" && !metaparameters()[p.name] && !isParam(params, p.name) {
			lines = append(lines, " has no parameter named '"+p.name+"'")
		}
	}
	for i := range params {
		p := r.param(params[i].Name)
		if p == nil {
			if !params[i].HasDefault {
				lines = append(lines, " expects a value for parameter '"+params[i].Name+"'")
			}
			continue
		}
		wrong, err := c.thread.Wrong(&params[i], p.value, c.library)
		if err != nil {
			return err
		}
		lines = append(lines, wrong...)
	}
	switch len(lines) {
	case 0:
		return nil
	case 1:
		return eval.Errorf("%s:%s", r.ref(), lines[0])
	}
	return eval.Errorf("%s:\n %s", r.ref(), strings.Join(lines, "\n "))
}

func isParam(params []eval.ContainerParam, name string) bool {
	for i := range params {
		if params[i].Name == name {
			return true
		}
	}
	return false
}

// stageOf puts a class into its stage. Rules LANG-CON-01, LANG-CON-02.
func (c *compilation) stageOf(r *resource) error {
	stage := c.mainStage
	name := r.get("stage")
	if name.IsNil() && r.scope.resource != nil {
		name = r.scope.resource.get("stage")
	}
	if !name.IsNil() {
		if stage = c.table[key{stage.typ, eval.Text(name)}]; stage == nil {
			asked := r.get("stage")
			if asked.IsNil() {
				asked = data.OfString("main")
			}
			return eval.Errorf("Could not find stage %s specified by %s", eval.Text(asked), r.ref())
		}
	}
	if stage != c.mainStage && r.get("stage").IsNil() {
		if err := c.set(r, param{name: "stage", value: data.OfString(stage.title), source: r.source}); err != nil {
			return err
		}
	}
	c.addEdge(stage, r)
	return nil
}

func (c *compilation) addEdge(from, to *resource) {
	if to.in == nil {
		to.in = to.inOne[:0]
	}
	to.in = append(to.in, from)
	from.out = append(from.out, to)
}

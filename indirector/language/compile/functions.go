package compile

import (
	"maps"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/fn"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
	"indirtui/indirector/origins"
)

// Library returns the functions of package fn, and those that work on catalogs. It is the
// same for all callers, who must not change it.
var Library = sync.OnceValue(func() eval.Library {
	all := maps.Clone(fn.Library())
	for name, way := range map[string]eval.Way{
		"include": {Params: "Any names+", Do: include},
		"contain": {Params: "Any names+", Do: contain},
		"require": {Params: "Any names+", Do: require},
		"defined": {Params: "Variant[String, Type[CatalogEntry], Type[Type[CatalogEntry]]] vals+", Do: defined},
	} {
		all[name] = &eval.Builtin{Name: name, Ways: []eval.Way{way}}
	}
	all["hiera_include"] = &eval.Builtin{Name: "hiera_include", Types: fn.LocalTypes, Ways: fn.OlderLookup("hiera_include", "unique", includeFound)}
	for name, do := range map[string]func(c *eval.Invocation) (data.Value, error){"realize": realize, "tag": tag, "tagged": tagged} {
		all[name] = &eval.Builtin{Name: name, Ways: []eval.Way{{Params: "Any args*", Do: some(name, do)}}, Old: true}
	}
	all["create_resources"] = &eval.Builtin{Name: "create_resources", Ways: []eval.Way{{Params: "Any args*", Do: createResources}}, Old: true}
	return all
})

// some refuses a call without arguments.
func some(name string, do func(c *eval.Invocation) (data.Value, error)) func(c *eval.Invocation) (data.Value, error) {
	return func(c *eval.Invocation) (data.Value, error) {
		if len(c.Args) == 0 {
			return data.Value{}, eval.Errorf("%s(): Wrong number of arguments given (0 for minimum 1)", name)
		}
		return do(c)
	}
}

// Find returns the parameters of a resource of the catalog that a call works on, with the
// defaults that it has now.
func Find(call *eval.Invocation, kind, title string) (parameters data.Value, ok bool) {
	s, err := scopeFor(call)
	if err != nil {
		return parameters, false
	}
	t, title, err := s.c.reference(kind, title)
	if err != nil {
		return parameters, false
	}
	r := s.c.lookup(t, title)
	if r == nil {
		return parameters, false
	}
	h := make([]data.Pair, 0, len(r.params))
	for _, p := range r.params {
		if !p.value.IsNil() {
			h = append(h, data.P(p.name, p.value))
		}
	}
	return data.OfHash(h), true
}

// Defaults returns the parameters that resources of a type get from the scope of a call and
// from those around it, the nearest of each.
func Defaults(call *eval.Invocation, kind string) data.Value {
	s, err := scopeFor(call)
	if err != nil {
		return data.OfHash(nil)
	}
	b := eval.NewHash(0)
	t, _, err := s.c.reference(kind, "")
	if err != nil {
		return b.Value()
	}
	for _, p := range s.defaultsFor(t.name) {
		b.Put(data.OfString(p.name), p.value)
	}
	return b.Value()
}

// Names returns the classes of the catalog that a call works on, or with "all_tags" its
// tags.
func Names(call *eval.Invocation, what string) ([]string, error) {
	s, err := scopeFor(call)
	if err != nil {
		return nil, err
	}
	if what == "all_tags" {
		return s.c.tagTexts(&s.c.tags), nil
	}
	return s.c.classList, nil
}

// Changed replaces a variable of the scope of a call, which a template has changed in
// place. To Ruby it is one object with the parameter of the class or define.
func Changed(call *eval.Invocation, name string, v data.Value) {
	s, err := scopeFor(call)
	if err != nil || s.resource == nil {
		return
	}
	if _, own := s.vars.Get(name); !own {
		return
	}
	s.vars.Set(name, v)
	if p := s.resource.param(name); p != nil {
		p.value = v
	}
}

// scopeFor returns the scope of a call. It fails where there is no catalog.
func scopeFor(c *eval.Invocation) (*scope, error) {
	s, ok := c.Scope().Owner.(*scope)
	if !ok {
		return nil, eval.Unsupported("functions that work on a catalog")
	}
	return s, nil
}

// classNames returns the names that arguments mean, as Puppet writes them in messages.
func classNames(args []data.Value) ([]string, error) {
	var out []string
	for _, v := range eval.Flatten(args) {
		name := ""
		t, isType := types.AsType(v)
		switch {
		case v.IsNil():
			return nil, eval.Errorf("Cannot use undef as a class name")
		case v.Kind() == data.String && v.Str() == "":
			return nil, eval.Errorf("Cannot use empty string as a class name")
		case v.Kind() == data.String:
			name = v.Str()
		case isType:
			ref, ok := types.AsReference(t)
			switch {
			case !ok:
				return nil, eval.Errorf("undefined method `downcase' for nil:NilClass")
			case ref.Type == "Class" && !ref.Titled:
				return nil, eval.Errorf("Cannot use an unspecific Class[] Type")
			case ref.Type == "":
				return nil, eval.Errorf("Cannot use an unspecific Resource[] where a Resource['class', name] is expected")
			case ref.Type != "Class":
				return nil, eval.Errorf("Cannot use a Resource[%s] where a Resource['class', name] is expected", ref.Type)
			}
			name = ref.Title
		default:
			return nil, eval.Errorf("undefined method `downcase' for %s:%s", v.Inspect(), eval.RubyClass(v))
		}
		if !strings.HasPrefix(name, ":") && (len(name) < 2 || name[1] != ':') {
			name = "::" + name
		}
		out = append(out, strings.ToLower(name))
	}
	return out, nil
}

// declared declares classes for one of the functions, and returns what it returns.
func declared(c *eval.Invocation) (s *scope, all []*resource, result data.Value, err error) {
	if s, err = scopeFor(c); err != nil {
		return s, nil, result, err
	}
	names, err := classNames(c.Args)
	if err != nil {
		return s, nil, result, err
	}
	refs := make([]data.Value, len(names))
	for i, name := range names {
		refs[i] = types.OfReference(types.Reference{Type: "Class", Title: strings.TrimPrefix(name, "::"), Titled: true})
	}
	file, line := c.Place()
	before := s.match
	s.match = c.Match()
	defer func() { s.match = before }()
	all, err = s.c.evaluateClasses(s, names, origins.Origin{File: file, Line: line})
	return s, all, data.OfList(refs), err
}

func include(c *eval.Invocation) (data.Value, error) {
	_, _, result, err := declared(c)
	return result, err
}

// includeFound includes the classes that data names.
func includeFound(c *eval.Invocation, v data.Value) (data.Value, error) {
	if v.IsNil() {
		return v, eval.Errorf("Could not find data item %s", c.Arg(0).Text())
	}
	c.Args = []data.Value{v}
	_, err := include(c)
	return data.Value{}, err
}

func contain(c *eval.Invocation) (data.Value, error) {
	s, all, result, err := declared(c)
	if err != nil {
		return result, err
	}
	for _, r := range all {
		if !hasEdge(s.resource, r) {
			s.c.addEdge(s.resource, r)
		}
	}
	return result, nil
}

func hasEdge(from, to *resource) bool {
	for _, r := range to.in {
		if r == from {
			return true
		}
	}
	return false
}

func require(c *eval.Invocation) (data.Value, error) {
	s, _, result, err := declared(c)
	if err != nil {
		return result, err
	}
	file, line := c.Place()
	at := s.c.origin(origins.Origin{Kind: origins.Function, File: file, Line: line})
	l := listOf(s.resource.get("require"))
	l = append(l, result.List()...)
	return result, s.c.set(s.resource, param{name: "require", value: data.OfList(l), source: s.resource.source, origin: at})
}

func realize(c *eval.Invocation) (data.Value, error) {
	s, err := scopeFor(c)
	if err != nil {
		return data.Value{}, err
	}
	col := &collector{c: s.c, scope: s, isFixed: true, has: map[*resource]bool{}}
	col.fixed = eval.Flatten(c.Args) // what is no reference fails when it is looked for
	s.c.collectors = append(s.c.collectors, col)
	return data.Value{}, nil
}

func tag(c *eval.Invocation) (data.Value, error) {
	s, err := scopeFor(c)
	if err != nil {
		return data.Value{}, err
	}
	names := eval.Flatten(c.Args)
	for i, v := range names {
		if !v.IsNil() {
			names[i] = data.OfString(eval.OldText(v))
		}
	}
	return data.Value{}, s.c.tagValue(s.resource, data.OfList(names))
}

func tagged(c *eval.Invocation) (data.Value, error) {
	s, err := scopeFor(c)
	if err != nil {
		return data.Value{}, err
	}
	for _, v := range c.Args {
		name := eval.Text(v)
		if !s.c.tags.has(s.c.tagInfo(name).id) && !s.c.isTagged(s.resource, name) {
			return data.OfBool(false), nil
		}
	}
	return data.OfBool(true), nil
}

func createResources(c *eval.Invocation) (data.Value, error) {
	s, err := scopeFor(c)
	if err != nil {
		return data.Value{}, err
	}
	switch n := len(c.Args); {
	case n < 2:
		return data.Value{}, eval.Errorf("create_resources(): Wrong number of arguments given (%d for minimum 2)", n)
	case n > 3:
		return data.Value{}, eval.Errorf("create_resources(): wrong number of arguments (%d; must be 2 or 3)", n)
	case c.Args[1].Kind() != data.Hash:
		return data.Value{}, eval.Errorf("create_resources(): second argument must be a hash")
	case n == 3 && c.Args[2].Kind() != data.Hash:
		return data.Value{}, eval.Errorf("create_resources(): third argument, if provided, must be a hash")
	}
	if c.Args[0].Kind() != data.String {
		return data.Value{}, eval.Errorf("undefined method `sub' for %s:%s", c.Args[0].Inspect(), eval.RubyClass(c.Args[0]))
	}
	typ, form := c.Args[0].Str(), syntax.Regular
	if rest, ok := strings.CutPrefix(typ, "@"); ok {
		typ, form = rest, syntax.Virtual
		if rest, ok := strings.CutPrefix(typ, "@"); ok {
			typ, form = rest, syntax.Exported
		}
	}
	typ = strings.ToLower(typ)
	if typ == "class" && form != syntax.Regular {
		return data.Value{}, eval.Issuef("Classes are not virtualizable")
	}
	st := c.Statement()
	for _, p := range c.Args[1].Hash() {
		var params []param
		at := s.c.origin(origins.Origin{Kind: origins.Function, File: st.File, Line: st.Line})
		add := func(h data.Value) {
			for _, a := range h.Hash() {
				name := eval.Text(a.Key)
				for i := range params {
					if params[i].name == name {
						params[i].value = a.Value
						name = ""
						break
					}
				}
				if name != "" {
					params = append(params, param{name: name, value: a.Value, source: s.source, origin: at})
				}
			}
		}
		if len(c.Args) == 3 {
			add(c.Args[2])
		}
		if p.Value.Kind() != data.Hash {
			return data.Value{}, eval.Errorf("no implicit conversion of %s into Hash", eval.RubyClass(p.Value))
		}
		add(p.Value)
		if _, err := s.c.declare(s, st, declaration{form, typ, []string{eval.Text(p.Key)}, params, form != syntax.Exported, p.Key.Kind() != data.String}); err != nil {
			return data.Value{}, err
		}
	}
	return data.Value{}, nil
}

func defined(c *eval.Invocation) (data.Value, error) {
	s, err := scopeFor(c)
	if err != nil {
		return data.Value{}, err
	}
	for _, v := range c.Args {
		ok, err := s.c.isDefined(c, v)
		if err != nil || ok {
			return data.OfBool(ok), err
		}
	}
	return data.OfBool(false), nil
}

func (c *compilation) isDefined(call *eval.Invocation, v data.Value) (bool, error) {
	if text, ok := v.AsStr(); ok {
		return c.isNamed(call, text)
	}
	t, _ := types.AsType(v)
	ref, ok := types.AsReference(t)
	if ok && eval.RubyClass(v) == "Puppet::Pops::Types::PTypeAliasType" {
		return false, eval.Errorf("Invalid argument of type 'Puppet::Pops::Types::PTypeAliasType' to 'defined'")
	}
	if !ok {
		inner, ok := types.TypeOf(t)
		if !ok {
			return false, nil
		}
		if ref, ok = types.AsReference(inner); !ok {
			return false, nil
		}
		if ref.Type == "Class" {
			if !ref.Titled {
				return false, eval.Errorf("The given class type is a reference to all classes")
			}
			def, err := c.findClass(ref.Title)
			return def != nil, err
		}
	}
	switch {
	case ref.Type == "Class" && !ref.Titled:
		return false, eval.Errorf("The given class type is a reference to all classes")
	case ref.Type == "":
		return false, eval.Errorf("The given resource type is a reference to all kind of types")
	case ref.Type == "Class":
		return c.lookup(c.classType, ref.Title) != nil, nil
	}
	typ, err := c.typeNamed(strings.ToLower(ref.Type))
	if err != nil || typ == nil || !ref.Titled {
		return typ != nil, err
	}
	return c.lookup(typ, ref.Title) != nil, nil
}

// isNamed reports whether there is a variable, a type or a class of a name.
func (c *compilation) isNamed(call *eval.Invocation, name string) (bool, error) {
	if variable, ok := strings.CutPrefix(name, "$"); ok {
		_, known := call.Variable(variable)
		return known || variable == "module_name" || variable == "caller_module_name", nil
	}
	switch name {
	case "":
		return false, nil
	case "main":
		return true, nil
	}
	t, err := c.typeNamed(strings.ToLower(name))
	if t != nil || err != nil {
		return t != nil, err
	}
	def, err := c.findClass(name)
	return def != nil, err
}

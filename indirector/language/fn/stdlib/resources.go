package stdlib

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// resources are functions that look at the catalog, or add to it.
func resources() map[string]older {
	return map[string]older{
		"assert_private":      {most: 1, wrong: "assert_private(): Wrong number of arguments given (%d}) for 0 or 1)", do: assertPrivate, statement: true},
		"private":             {do: private, statement: true},
		"defined_with_params": {do: definedWithParams},
		"ensure_resource":     {do: ensureResource, statement: true},
		"ensure_resources":    {do: ensureResources, statement: true},
		"getparam":            {do: getparam},
	}
}

// newResources are those of Puppet's newer kind.
func newResources() map[string][]way {
	return map[string][]way{
		"deprecation": {{"String key; String message", func(c *call) (data.Value, error) {
			return undef, c.deprecate(c.Args[0].Str(), c.Args[1].Str())
		}}},
		"ensure_packages": {{"Variant[String[1], Array[String[1]], Hash[String[1], Any]] packages; Hash default_attributes?", ensurePackages}},
		"stdlib::str2resource": {{"String res_string", func(c *call) (data.Value, error) {
			kind, title, ok := splitReference(c.Args[0].Str())
			if !ok {
				return undef, eval.Errorf("No title provided and %s is not a valid resource reference", data.InspectString(c.Args[0].Str()))
			}
			if _, found, err := c.find(kind, title); err != nil {
				return undef, err
			} else if !found {
				return undef, refusef("stdlib::str2resource(): could not find %s[%s], this is parse order dependent and values should not be quoted", kind, title)
			}
			t, err := types.Parse("Resource["+quoted(kind)+", "+quoted(title)+"]", nil)
			if err != nil {
				return undef, err
			}
			return types.OfType(t), nil
		}}},
	}
}

func quoted(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(s) + "'"
}

// find returns the parameters of a resource.
func (c *call) find(kind, title string) (parameters data.Value, ok bool, err error) {
	if c.set.Find == nil {
		return undef, false, eval.Unsupported("resources")
	}
	parameters, ok = c.set.Find(c.Invocation, kind, title)
	return parameters, ok, nil
}

// splitReference reads a reference such as File[/tmp/x].
func splitReference(s string) (kind, title string, ok bool) {
	kind, rest, found := strings.Cut(s, "[")
	title, closed := strings.CutSuffix(rest, "]")
	return kind, title, found && closed && kind != "" && title != ""
}

// reference returns the kind and the title of a resource, which is a reference or a text.
func reference(v data.Value) (kind, title string, err error) {
	t, isType := types.AsType(v)
	_, refers := types.AsReference(t)
	switch {
	case !refers && !isString(v):
		return "", "", eval.Errorf("Reference is not understood: '%s'", eval.ClassName(v))
	case isType:
		kind, title, _ = splitReference(t.String())
		return kind, strings.Trim(title, "'"), nil
	}
	kind, title, ok := splitReference(v.Str())
	if !ok {
		err = eval.Errorf("No title provided and %s is not a valid resource reference", v.Inspect())
	}
	return kind, title, err
}

func assertPrivate(c *call) (data.Value, error) {
	inside, _ := c.Variable("module_name")
	from, _ := c.Variable("caller_module_name")
	if isString(inside) == isString(from) && inside.Str() == from.Str() {
		return undef, nil
	}
	if v := c.Arg(0); isString(v) {
		return undef, refusef("%s", v.Str())
	}
	return undef, refusef("%s is private", owner(c.Scope().Owner.String()))
}

// owner is what a class or a define is called that a scope belongs to, which is known as
// Class[Name] or Name[title].
func owner(of string) string {
	typ, title, _ := strings.Cut(strings.TrimSuffix(of, "]"), "[")
	if typ == "Class" {
		return "Class " + strings.ToLower(strings.TrimPrefix(title, "main"))
	}
	return "Definition " + strings.ToLower(typ)
}

func private(c *call) (data.Value, error) {
	c.Log("warning", "private() DEPRECATED: This function will cease to function on Puppet 4; please use assert_private() before upgrading to puppet 4 for backwards-compatibility, or migrate to the new parser's typing system.")
	c.autoloader("loaded?", "assert_private")
	c.autoloader("load", "assert_private")
	return c.older("assert_private", c.Arg(0))
}

func definedWithParams(c *call) (data.Value, error) {
	if !c.Arg(0).Truthy() || len(c.Args) == 0 {
		return undef, eval.Errorf("Must specify a reference")
	}
	kind, title, err := reference(c.Args[0])
	if err != nil {
		return undef, err
	}
	parameters, found, err := c.find(kind, title)
	if err != nil || !found {
		return boolean(false), err
	}
	for _, p := range c.Arg(1).Hash() {
		v, _ := eval.Lookup(parameters, p.Key)
		if !same(v, p.Value) {
			return boolean(false), nil
		}
	}
	return boolean(true), nil
}

// specified fails unless there are a type and a title.
func specified(c *call) error {
	switch {
	case !c.Arg(0).Truthy():
		return eval.Errorf("Must specify a type")
	case !c.Arg(1).Truthy():
		return eval.Errorf("Must specify a title")
	}
	return nil
}

func parametersOf(c *call) data.Value {
	if v := c.Arg(2); v.Truthy() {
		return v
	}
	return data.OfHash(nil)
}

func ensureResource(c *call) (data.Value, error) {
	if err := specified(c); err != nil {
		return undef, err
	}
	kind, parameters := c.Args[0].Text(), parametersOf(c)
	for _, title := range eval.Flatten([]data.Value{c.Args[1]}) {
		there, err := c.older("defined_with_params", str(kind+"["+title.Text()+"]"), parameters)
		if err != nil {
			return undef, err
		}
		if there.Bool() {
			c.LogPlain("debug", "Resource "+kind+"["+title.Text()+"] with params "+parameters.Text()+" not created because it already exists")
			continue
		}
		c.LogPlain("debug", "Create new resource "+kind+"["+title.Text()+"] with params "+parameters.Text())
		if kind != "" {
			kind = strings.ToUpper(kind[:1]) + strings.ToLower(kind[1:])
		}
		if _, err := c.function("create_resources", str(kind), data.OfHash([]data.Pair{{Key: title, Value: parameters}})); err != nil {
			return undef, err
		}
	}
	return undef, nil
}

func ensureResources(c *call) (data.Value, error) {
	if err := specified(c); err != nil {
		return undef, err
	}
	if !isHash(c.Args[1]) {
		return undef, refusef("ensure_resources(): Requires second argument to be a Hash")
	}
	for _, p := range c.Args[1].Hash() {
		parameters := parametersOf(c)
		if p.Value.Truthy() {
			out := eval.HashOf(parameters)
			putAll(out, p.Value)
			parameters = out.Value()
		}
		if _, err := c.older("ensure_resource", c.Args[0], p.Key, parameters); err != nil {
			return undef, err
		}
	}
	return undef, nil
}

// calls reports that a function calls another by its name. The function that it returns
// reports that the call has ended.
func (c *call) calls(name string) (end func()) {
	c.Loads(name)
	return c.Called(name)
}

// ensurePackages calls functions as the one of Ruby does: by their names.
func ensurePackages(c *call) (data.Value, error) {
	defaults := eval.NewHash(1)
	defaults.Put(str("ensure"), str("installed"))
	putAll(defaults, c.Arg(1))
	if v, _ := defaults.Get(str("ensure")); same(v, str("present")) {
		defaults.Put(str("ensure"), str("installed"))
	}
	attributes := defaults.Value()
	if isHash(c.Args[0]) {
		defer c.calls("ensure_resources")()
		return c.older("ensure_resources", str("package"), c.Args[0], attributes)
	}
	for _, name := range asList(c.Args[0]) {
		end := c.calls("ensure_resource")
		_, err := c.older("ensure_resource", str("package"), name, attributes)
		end()
		if err != nil {
			return undef, err
		}
	}
	return undef, nil
}

func getparam(c *call) (data.Value, error) {
	switch {
	case !c.Arg(0).Truthy():
		return undef, eval.Errorf("Must specify a reference")
	case !isString(c.Arg(1)):
		return undef, eval.Errorf("Must specify name of a parameter")
	case c.Args[1].Str() == "":
		return str(""), nil
	}
	kind, title, err := reference(str(eval.OldText(c.Args[0])))
	if err != nil {
		return undef, err
	}
	parameters, _, err := c.find(kind, title)
	if v, _ := eval.Lookup(parameters, c.Args[1]); !v.IsNil() {
		return v, err
	}
	return str(""), err
}

package fn

import (
	"slices"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// blocks are functions that call a lambda once, if at all.
func blocks() map[string][]eval.Way {
	return map[string][]eval.Way{
		"with": {way("Any arg*; Callable &block", func(c *eval.Invocation) (data.Value, error) { return c.Block.Call(c.Args...) })},
		"then": {way("Any arg; Callable[1, 1] &block", func(c *eval.Invocation) (data.Value, error) {
			if c.Args[0].IsNil() {
				return undef, nil
			}
			return c.Block.Call(c.Args[0])
		})},
		"lest": {way("Any arg; Callable[0, 0] &block", func(c *eval.Invocation) (data.Value, error) {
			if !c.Args[0].IsNil() {
				return c.Args[0], nil
			}
			return c.Block.Call()
		})},
	}
}

// control are functions that leave others, or call them.
func control() map[string][]eval.Way {
	leave := func(name string) do {
		return func(c *eval.Invocation) (data.Value, error) { return undef, c.Jump(name, c.Arg(0)) }
	}
	return map[string][]eval.Way{
		"next":   {way("Any value?", leave("next"))},
		"return": {way("Any value?", leave("return"))},
		"break":  {way("", leave("break"))},
		"call": {way("String function_name; Any arguments*; Callable &block?", func(c *eval.Invocation) (data.Value, error) {
			name := c.Args[0].Str()
			v, known, err := c.Call(name, c.Args[1:], Library())
			if err == nil && !known {
				err = eval.Errorf("Unknown function '%s'", name)
			}
			return v, err
		}), way("Deferred deferred", func(c *eval.Invocation) (data.Value, error) { return resolved(c, c.Arg(0)) })},
		"import": {way("Any args*", func(*eval.Invocation) (data.Value, error) {
			return undef, eval.Issuef("Use of 'import' has been discontinued in favor of a manifest directory. See http://links.puppet.com/puppet-import-deprecation")
		})},
	}
}

// logging are functions that log the texts of their arguments.
func logging() map[string][]eval.Way {
	out := map[string][]eval.Way{}
	for _, level := range []string{"debug", "info", "notice", "warning", "err", "alert", "crit", "emerg"} {
		log := func(c *eval.Invocation) (data.Value, error) {
			text, err := joined(c)
			if err == nil {
				c.Log(level, text)
			}
			return undef, err
		}
		out[level] = []eval.Way{{Params: "Any values*", Do: log, Returns: "Undef"}}
	}
	return out
}

// joined returns the texts of the arguments.
func joined(c *eval.Invocation) (string, error) {
	words := make([]string, len(c.Args))
	for i, v := range c.Args {
		var err error
		if words[i], err = c.Text(v); err != nil {
			return "", err
		}
	}
	return strings.Join(words, " "), nil
}

// resolved calls what a Deferred stands for, and what is deferred within its arguments. One
// whose name begins with $ is a variable, and the arguments are a path into it.
func resolved(c *eval.Invocation, v data.Value) (data.Value, error) {
	nameOf, _ := types.Member(v, "name")
	given, _ := types.Member(v, "arguments")
	args := make([]data.Value, given.Len())
	for i, x := range given.List() {
		var err error
		if args[i], err = withResolved(c, x); err != nil {
			return undef, err
		}
	}
	name := nameOf.Str()
	if variable, ok := strings.CutPrefix(name, "$"); ok {
		value, err := deferredVariable(c, variable)
		if err != nil {
			return undef, err
		}
		name, args = "dig", slices.Insert(args, 0, value)
	}
	if err := c.Step(); err != nil {
		return undef, err
	}
	result, known, err := c.Call(name, args, Library())
	if err == nil && !known {
		err = eval.Errorf("Unknown function '%s'", name)
	}
	return result, err
}

// deferredVariable returns a variable that a Deferred names. Puppet warns of one that is
// unknown in other words than elsewhere.
func deferredVariable(c *eval.Invocation, name string) (data.Value, error) {
	v, ok := c.Variable(name)
	if ok || c.Strict() == syntax.StrictOff {
		return v, nil
	}
	reason := ""
	if i := strings.LastIndex(name, "::"); i > 0 {
		reason = "class " + strings.TrimPrefix(name[:i], "::") + " could not be found"
	}
	text := "Undefined variable '" + name + "'; " + reason
	if c.Strict() == syntax.StrictError {
		return v, eval.Errorf("%s", text)
	}
	c.WarnOnce(eval.UndefinedVariables, text, false)
	return v, nil
}

var deferredType = sync.OnceValue(func() types.Type { return eval.MustType("Deferred") })

// withResolved returns a value without what is deferred within it.
func withResolved(c *eval.Invocation, v data.Value) (data.Value, error) {
	switch v.Kind() {
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			var err error
			if l[i], err = withResolved(c, x); err != nil {
				return undef, err
			}
		}
		return data.OfList(l), nil
	case data.Hash:
		b := eval.NewHash(v.Len())
		for _, p := range v.Hash() {
			key, err := withResolved(c, p.Key)
			if err != nil {
				return undef, err
			}
			value, err := withResolved(c, p.Value)
			if err != nil {
				return undef, err
			}
			b.Put(key, value)
		}
		return b.Value(), nil
	}
	if types.Instance(deferredType(), v) {
		return resolved(c, v)
	}
	return v, nil
}

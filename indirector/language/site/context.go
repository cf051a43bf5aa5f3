package site

import (
	"errors"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/helper"
	"indirtui/indirector/language/types"
)

// errNotFound ends a function that has no value for its key.
var errNotFound = errors.New("not found")

// failed is an error of a program as one of hiera, by the Ruby class that Puppet's has.
func failed(err error) error {
	if err == nil {
		return nil
	}
	known, isKnown := errors.AsType[*hiera.Error](err)
	program, isProgram := errors.AsType[*eval.Error](err)
	raised, isRaised := errors.AsType[*helper.Raised](err)
	switch {
	case isRaised && raised.IsPuppet && (!isProgram || program.Line == 0):
		// What a level in Ruby raises of Puppet's own ends the lookup as it is.
		return &hiera.Error{Class: hiera.LookupFailed, Message: raised.Message}
	case isKnown && (!isProgram || program.Message == known.Message):
		return known
	case isProgram:
		return &hiera.Error{Class: hiera.Failed, Message: program.Error()}
	}
	return &hiera.Error{Class: hiera.WrongArg, Message: err.Error()}
}

// inPrograms is an error of hiera in a program. Those of lookups are final, all others get
// the place of the call. Rule LANG-ERR-03.
func inPrograms(err error) error {
	if e, ok := errors.AsType[*hiera.Error](err); ok && e.Class == hiera.LookupFailed {
		return &eval.Error{Message: e.Message, File: e.File, Line: e.Line, Wrapped: err}
	}
	return err
}

// A lookupContext is the value that functions of levels are given. Rule HIERA-DATA-05.
type lookupContext struct {
	*hiera.Context
	cached *eval.HashBuilder
}

// contextOf returns the value for a context, which is the same as long as that is used.
func contextOf(c *hiera.Context) *lookupContext {
	own, ok := c.Own.(*lookupContext)
	if !ok {
		own = &lookupContext{c, eval.NewHash(0)}
		c.Own = own
	}
	return own
}

func (c *lookupContext) String() string { return "Puppet::LookupContext({})" }

// EqualRich implements data.RichValue.
func (c *lookupContext) EqualRich(o data.RichValue) bool { return data.RichValue(c) == o }

// ObjectType implements types.Object.
func (c *lookupContext) ObjectType() types.Type { return types.LookupContext }

// functions are those of a context.
var functions = map[string]*eval.Builtin{
	"not_found": does("not_found", "", func(*lookupContext, *eval.Invocation) (data.Value, error) {
		return data.Value{}, eval.Leave(errNotFound)
	}),
	"environment_name": does("environment_name", "", func(c *lookupContext, _ *eval.Invocation) (data.Value, error) {
		return data.OfString(c.Environment()), nil
	}),
	"module_name": does("module_name", "", func(c *lookupContext, _ *eval.Invocation) (data.Value, error) {
		if c.Module() == "" {
			return data.Value{}, nil
		}
		return data.OfString(c.Module()), nil
	}),
	"interpolate": does("interpolate", "Any -", func(c *lookupContext, call *eval.Invocation) (data.Value, error) {
		v, err := c.Interpolate(call.Arg(0))
		return types.OfData(v), inPrograms(err)
	}),
	"explain": does("explain", "Callable[0, 0] &block", (*lookupContext).explain),
	"cache": does("cache", "Optional[Scalar] -; Any -", func(c *lookupContext, call *eval.Invocation) (data.Value, error) {
		c.cached.Put(call.Arg(0), call.Arg(1))
		return call.Arg(1), nil
	}),
	"cache_all": does("cache_all", "Hash[Optional[Scalar], Any] -", func(c *lookupContext, call *eval.Invocation) (data.Value, error) {
		for _, p := range call.Arg(0).Hash() {
			c.cached.Put(p.Key, p.Value)
		}
		return data.Value{}, nil
	}),
	"cache_has_key": does("cache_has_key", "Optional[Scalar] -", func(c *lookupContext, call *eval.Invocation) (data.Value, error) {
		_, ok := c.cached.Get(call.Arg(0))
		return data.OfBool(ok), nil
	}),
	"cached_value": does("cached_value", "Optional[Scalar] -", func(c *lookupContext, call *eval.Invocation) (data.Value, error) {
		v, _ := c.cached.Get(call.Arg(0))
		return v, nil
	}),
	"cached_entries":   does("cached_entries", "Callable &block?", (*lookupContext).entries),
	"cached_file_data": does("cached_file_data", "String -; Callable[1, 1] &block?", (*lookupContext).fileData),
}

// does returns a function of contexts with one signature.
func does(name, params string, do func(*lookupContext, *eval.Invocation) (data.Value, error)) *eval.Builtin {
	return &eval.Builtin{Name: "function Puppet::LookupContext[" + name + "]", Ways: []eval.Way{{Params: params, Do: func(call *eval.Invocation) (data.Value, error) {
		return do(call.Self.(*lookupContext), call)
	}}}}
}

// Receive implements eval.Receiver.
func (c *lookupContext) Receive(call *eval.Invocation, name string) (v data.Value, known bool, err error) {
	f, known := functions[name]
	if known {
		v, err = f.Call(call)
	}
	return v, known, err
}

// BuiltIn implements fn.LevelContext.
func (c *lookupContext) BuiltIn(function, path string) (data.Value, error) {
	v, err := c.Context.BuiltIn(function, path)
	return v, inPrograms(err)
}

// Decrypted implements fn.LevelContext.
func (c *lookupContext) Decrypted(key string, options data.Value) (data.Value, error) {
	v, found, err := c.Decrypt(key, options.Get("path").Text(), options)
	if err == nil && !found {
		return v, eval.Leave(errNotFound)
	}
	return types.OfData(v), inPrograms(err)
}

// explain adds the text of a lambda, which is called only if a record is kept.
func (c *lookupContext) explain(call *eval.Invocation) (data.Value, error) {
	if !c.Explaining() {
		return data.Value{}, nil
	}
	v, err := call.Block.Call()
	if err != nil {
		return v, err
	}
	text, err := call.Text(v)
	if err == nil {
		c.Explain(text)
	}
	return data.Value{}, err
}

// entries calls a lambda for every pair that is cached, or returns the hash of them.
func (c *lookupContext) entries(call *eval.Invocation) (data.Value, error) {
	if call.Block == nil {
		return c.cached.Value(), nil
	}
	for _, p := range eval.PairsOf(c.cached.Value()) {
		args := []data.Value{p}
		if call.Block.Arity() == 2 {
			args = p.List()
		}
		if _, err := call.Block.Call(args...); err != nil {
			if eval.IsBreak(err) {
				break
			}
			return data.Value{}, err
		}
	}
	return data.Value{}, nil
}

// fileData returns what a lambda makes of a file, or its text.
func (c *lookupContext) fileData(call *eval.Invocation) (data.Value, error) {
	return c.FileData(call.Arg(0).Str(), func(content string) (data.Value, error) {
		if err := call.Spend(len(content)); err != nil {
			return data.Value{}, err
		}
		text := data.OfString(content)
		if call.Block == nil {
			return text, nil
		}
		return call.Block.Call(text)
	})
}

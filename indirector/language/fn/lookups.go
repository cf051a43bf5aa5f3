package fn

import (
	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// lookups are functions that look data up. Rules HIERA-FN-01, HIERA-FN-02.
func lookups() map[string][]eval.Way {
	withOptions := func(c *eval.Invocation, name, options data.Value) (data.Value, error) {
		q := Query{Merge: options.Get("merge"), Overrides: options.Get("override"), Defaults: options.Get("default_values_hash")}
		q.Default, q.HasDefault = options.Lookup("default_value")
		return lookup(c, name, options.Get("value_type"), q)
	}
	out := map[string][]eval.Way{
		"lookup": {
			way("NameType name; ValueType value_type?; MergeType merge?", func(c *eval.Invocation) (data.Value, error) {
				return lookup(c, c.Arg(0), c.Arg(1), Query{Merge: c.Arg(2)})
			}),
			way("NameType name; Optional[ValueType] value_type; Optional[MergeType] merge; DefaultValueType default_value", func(c *eval.Invocation) (data.Value, error) {
				return lookup(c, c.Arg(0), c.Arg(1), Query{Merge: c.Arg(2), Default: c.Arg(3), HasDefault: true})
			}),
			way("NameType name; ValueType value_type?; MergeType merge?; BlockType &block", func(c *eval.Invocation) (data.Value, error) {
				return lookup(c, c.Arg(0), c.Arg(1), Query{Merge: c.Arg(2)})
			}),
			way("OptionsWithName options_hash; BlockType &block?", func(c *eval.Invocation) (data.Value, error) {
				return withOptions(c, c.Arg(0).Get("name"), c.Arg(0))
			}),
			way("Variant[String, Array[String]] name; OptionsWithoutName options_hash; BlockType &block?", func(c *eval.Invocation) (data.Value, error) {
				return withOptions(c, c.Arg(0), c.Arg(1))
			}),
		},
	}
	for name, merge := range map[string]string{"hiera": "first", "hiera_array": "unique", "hiera_hash": "hash"} {
		out[name] = OlderLookup(name, merge, func(_ *eval.Invocation, v data.Value) (data.Value, error) { return v, nil })
	}
	for _, name := range []string{"yaml_data", "json_data", "hocon_data"} {
		out[name] = []eval.Way{
			way("Struct[{path => String[1]}] options; Puppet::LookupContext context", func(c *eval.Invocation) (data.Value, error) {
				level, ok := c.Arg(1).Rich().(LevelContext)
				if !ok {
					return undef, eval.Errorf("%s() is called for no level of hiera", name)
				}
				return level.BuiltIn(name, c.Arg(0).Get("path").Str())
			}),
			{Params: "Hash options; Puppet::LookupContext context", Refusal: true, Do: func(*eval.Invocation) (data.Value, error) {
				return undef, eval.Errorf("'%s' one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this data_hash function", name)
			}},
		}
	}
	out["eyaml_lookup_key"] = []eval.Way{
		way("String[1] key; Hash[String[1], Any] options; Puppet::LookupContext context", func(c *eval.Invocation) (data.Value, error) {
			level, ok := c.Arg(2).Rich().(LevelContext)
			if !ok {
				return undef, eval.Errorf("eyaml_lookup_key() is called for no level of hiera")
			}
			if c.Arg(1).Get("path").IsNil() {
				return undef, eval.Errorf("'eyaml_lookup_key': one of 'path', 'paths' 'glob', 'globs' or 'mapped_paths' must be declared in hiera.yaml when using this lookup_key function")
			}
			return level.Decrypted(c.Arg(0).Str(), c.Arg(1))
		}),
	}
	return out
}

// A LevelContext is the Puppet::LookupContext that functions of levels are given.
type LevelContext interface {
	// BuiltIn returns what one of Puppet's own data_hash functions makes of a file.
	BuiltIn(function, path string) (data.Value, error)
	// Decrypted returns what eyaml_lookup_key has for a key; options name the file and the
	// private key. If there is nothing, the error ends the function that called it.
	Decrypted(key string, options data.Value) (data.Value, error)
}

// OlderLookup returns the ways of a function from before lookup, which does something with
// what is found. Rule HIERA-FN-02.
func OlderLookup(name, merge string, then func(c *eval.Invocation, v data.Value) (data.Value, error)) []eval.Way {
	look := func(c *eval.Invocation, args []data.Value, hasDefault bool) (data.Value, error) {
		v, err := hiera(c, name, merge, args, hasDefault)
		if err != nil {
			return undef, err
		}
		return then(c, v)
	}
	older := func(hasDefault bool) do {
		return func(c *eval.Invocation) (data.Value, error) { return look(c, c.Args, hasDefault) }
	}
	return []eval.Way{
		way("Tuple[String, Any, Any, 1, 3] args", func(c *eval.Invocation) (data.Value, error) {
			return undef, eval.Errorf("undefined method `hiera' for the function %s", name) // Puppet calls what is not there
		}),
		way("String key", older(false)),
		way("String key; Any default; Any override?", older(true)),
		way("String key; Callable[1, 1] &default_block", older(false)),
		way("String key; Any override; Callable[1, 1] &default_block", older(false)),
	}
}

// lookup asks for the first of the names that has a value.
func lookup(c *eval.Invocation, name, of data.Value, q Query) (data.Value, error) {
	h, err := hostOf(c, "lookup")
	if err != nil {
		return undef, err
	}
	q.Keys = []string{name.Text()}
	if name.Kind() == data.List {
		q.Keys = nil
		for _, x := range name.List() {
			q.Keys = append(q.Keys, x.Text())
		}
	}
	q.Type, _ = types.AsType(of)
	if c.Block != nil {
		q.Otherwise = func() (data.Value, error) { return c.Block.Call(name) }
	}
	return h.Lookup(c, q)
}

// hiera is one of the functions from before lookup, which each warn once.
func hiera(c *eval.Invocation, name, merge string, args []data.Value, hasDefault bool) (data.Value, error) {
	if c.Strict() != syntax.StrictOff {
		c.WarnOnce(eval.Deprecations, "The function '"+name+"' is deprecated in favor of using 'lookup'. See https://puppet.com/docs/puppet/7.23/deprecated_language.html", false)
	}
	q := Query{Merge: data.OfString(merge), Older: true}
	if hasDefault {
		q.Default, q.HasDefault = args[1], true
	}
	return lookup(c, args[0], undef, q)
}

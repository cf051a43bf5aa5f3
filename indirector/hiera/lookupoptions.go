package hiera

import (
	"errors"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
)

// keyOptions are the lookup_options of a module, or of no module: by literal keys,
// and by patterns in their order. Rule HIERA-OPT-01.
type keyOptions struct {
	literal  data.Value
	patterns []pattern
}

type pattern struct {
	match   *onig.Regexp
	options data.Value
}

// of returns the options of a key, by its root; nil if there are none. Patterns take their
// time from a budget.
func (o *keyOptions) of(k key, b *onig.Budget) (data.Value, error) {
	if o == nil {
		return data.Value{}, nil
	}
	if v := o.literal.Get(k.root); !v.IsNil() {
		return v, nil
	}
	for _, p := range o.patterns {
		switch ok, err := p.match.Within(b).Match(k.root); {
		case err != nil:
			return data.Value{}, &Error{Class: WrongRegexp, Message: "lookup_options: " + err.Error()}
		case ok:
			return p.options, nil
		}
	}
	return data.Value{}, nil
}

// optionsOf returns the lookup_options of a key, which are collected when a key of
// its module is first looked up. Rule HIERA-OPT-04.
func (in *invocation) optionsOf(k key) (data.Value, error) {
	o, ok := in.c.options[k.module]
	if !ok {
		var err error
		if o, err = in.collect(k); err != nil {
			return data.Value{}, err
		}
		in.c.options[k.module] = o
	}
	return o.of(k, in.c.matching)
}

// collect merges the lookup_options of the layers, the global ones over those of
// the environment over those of the module.
func (in *invocation) collect(k key) (*keyOptions, error) {
	meta := in.child()
	meta.overrides, meta.defaults = data.Value{}, data.Value{}
	meta.top, meta.module, meta.one = lookupOptions, in.module, in.one
	defer meta.into(node{kind: rootNode, name: lookupOptions}).pop()
	if meta.only {
		v, err := meta.globalLookupOptions()
		if err != nil {
			return nil, err
		}
		return compilePatterns(v)
	}
	options, err := meta.environmentLookupOptions()
	if err != nil || !k.one {
		return orCompiled(options, err)
	}
	if _, ok := in.c.options[""]; !ok {
		if in.c.options[""], err = compilePatterns(options); err != nil {
			return nil, err
		}
	}
	own, found, err := meta.askModule(optionsKey, hashStrategy)
	if err == nil && found {
		err = checkOptions(own, k.module)
	}
	switch {
	case err != nil:
		return nil, err
	case found && options.IsNil():
		options = own
	case found:
		if options, err = meta.mergeOptions(options, own); err != nil {
			return nil, err
		}
	}
	return compilePatterns(options)
}

func orCompiled(options data.Value, err error) (*keyOptions, error) {
	if err != nil {
		return nil, err
	}
	return compilePatterns(options)
}

// mergeOptions merges the options of a module below all others, for all to see.
func (in *invocation) mergeOptions(all, own data.Value) (data.Value, error) {
	v, _, err := in.over(hashStrategy, 2, func(i int) (data.Value, bool, error) {
		name, v := "Global and Environment", all
		if i == 1 {
			name, v = "Module "+in.module, own
		}
		in.leafFound(node{kind: scopeNode, name: name}, lookupOptions, v)
		return v, true, nil
	})
	return v, err
}

// leafFound adds a node that has a value, without anything below it.
func (in *invocation) leafFound(n node, key string, v data.Value) {
	n.event, n.key, n.keyed, n.value = foundEvent, key, true, v
	in.leaf(n)
}

func (in *invocation) globalLookupOptions() (data.Value, error) {
	g := &in.c.globalOptions
	if g.done {
		return g.value, nil
	}
	// Puppet does not try again after an error either.
	g.done = true
	v, found, err := in.askGlobal(optionsKey, hashStrategy.value())
	if err != nil || !found {
		return data.Value{}, err
	}
	if err := checkOptions(v, ""); err != nil {
		return data.Value{}, err
	}
	g.value = v
	return v, nil
}

func (in *invocation) environmentLookupOptions() (data.Value, error) {
	e := &in.c.environmentOptions
	if e.done {
		return e.value, nil
	}
	global, err := in.globalLookupOptions()
	if err != nil {
		return data.Value{}, err
	}
	own, found, err := in.askEnvironment(optionsKey, hashStrategy)
	if err == nil && found {
		err = checkOptions(own, "")
	}
	if err != nil {
		return data.Value{}, err
	}
	switch {
	case !found || own.IsNil():
		e.value = global
	case global.IsNil():
		e.value = own
	default:
		if e.value, err = hashStrategy.merge(global, own); err != nil {
			return data.Value{}, err
		}
	}
	e.done = true
	return e.value, nil
}

// checkOptions refuses lookup_options that are no hash, and in a module those of
// foreign keys.
func checkOptions(v data.Value, module string) error {
	if v.IsNil() {
		return nil
	}
	if v.Kind() != data.Hash {
		return lookupError("value of lookup_options must be a hash")
	}
	if module == "" {
		return nil
	}
	prefix := module + "::"
	for _, p := range v.Hash() {
		k := p.Key.Text()
		if rest, ok := strings.CutPrefix(k, "^"); ok {
			if !strings.HasPrefix(rest, prefix) {
				return lookupError("all lookup_options patterns must match a key starting with module name '%s'", module)
			}
		} else if !strings.HasPrefix(k, prefix) {
			return lookupError("all lookup_options keys must start with module name '%s'", module)
		}
	}
	return nil
}

// compilePatterns separates literal keys from patterns. No options are nil.
func compilePatterns(v data.Value) (*keyOptions, error) {
	if v.IsNil() {
		return nil, nil
	}
	var o keyOptions
	var literal []data.Pair
	for _, p := range v.Hash() {
		k := p.Key.Text()
		if !strings.HasPrefix(k, "^") {
			literal = append(literal, p)
			continue
		}
		match, err := rubyRegexp(k)
		if err != nil {
			return nil, err
		}
		o.patterns = append(o.patterns, pattern{match, p.Value})
	}
	o.literal = data.OfHash(slices.Clip(literal))
	return &o, nil
}

// rubyRegexp compiles a regular expression of Ruby. What that refuses is refused in its
// words.
func rubyRegexp(text string) (*onig.Regexp, error) {
	re, err := onig.Shared(text)
	switch {
	case err == nil:
		return re, nil
	case errors.Is(err, errors.ErrUnsupported):
		return nil, lacking("the pattern /%s/ in lookup_options uses what only Ruby's regular expressions have: %s", text, err)
	}
	return nil, &Error{Class: WrongRegexp, Message: err.Error()}
}

// moduleDefault asks the default_hierarchy of a key's module. Only its own
// lookup_options count. Rule HIERA-LAY-03.
func (in *invocation) moduleDefault(k key) (v data.Value, found bool, err error) {
	if !in.one {
		return v, false, nil
	}
	l, err := in.c.moduleLayer(in.module)
	if l == nil || err != nil || !l.config.hasDefault {
		return v, false, err
	}
	defer in.into(node{kind: scopeNode, name: `Searching default_hierarchy of module "` + in.module + `"`}).pop()
	options, ok := in.c.defaultOptions[in.module]
	if !ok {
		if options, err = in.collectDefault(l); err != nil {
			return v, false, err
		}
		in.c.defaultOptions[in.module] = options
	}
	of, err := options.of(k, in.c.matching)
	if err != nil {
		return v, false, err
	}
	s, err := in.c.strategy(of.Get("merge"))
	if err != nil {
		return v, false, err
	}
	defer in.into(node{kind: scopeNode, name: `Searching for "` + k.text + `"`}).pop()
	return l.lookupDefault(in, k, s)
}

func (in *invocation) collectDefault(l *layer) (*keyOptions, error) {
	meta := in.child()
	meta.overrides, meta.defaults, meta.top = data.Value{}, data.Value{}, lookupOptions
	defer meta.into(node{kind: scopeNode, name: `Searching for "lookup_options"`}).pop()
	v, found, err := l.lookupDefault(meta, optionsKey, hashStrategy)
	if err != nil || !found {
		return nil, err
	}
	if err := checkOptions(v, in.module); err != nil {
		return nil, err
	}
	return compilePatterns(v)
}

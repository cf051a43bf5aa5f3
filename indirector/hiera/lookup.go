package hiera

import (
	"errors"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// A Query is one call of Puppet's function lookup. Rule HIERA-FN-01.
type Query struct {
	Keys       []string   // the first that has a value counts
	Type       string     // the value must be of; "" is any
	Of         types.Type // the same, where it is known; nil is Type
	Default    data.Value // if no key has a value
	HasDefault bool       // Default is given, even if it is nil
	Overrides  data.Value // a hash of values that win; nil is none
	Defaults   data.Value // a hash of values for keys without one; nil is none
	Merge      data.Value // a name or a hash; nil is what lookup_options demand
	Record     *Record    // what happens is added to it; nil is not recorded
	Scope      Scope      // if nil, the compile's own

	// Otherwise makes the value if no key has one, before Default counts. If nil, it does
	// not.
	Otherwise func() (data.Value, error)
	// Older marks a query of the functions from before lookup, which ask the global layer
	// alone if the environment has no data. Rule HIERA-FN-02.
	Older bool
	// Parameter marks a key that a class with a parameter of its name asks for. What is
	// found is the same.
	Parameter bool
}

// Lookup returns the value of the first key that has one. Not finding any is an
// error that is [ErrNotFound].
func (c *Compile) Lookup(q Query) (data.Value, error) {
	in := c.invoke(q)
	if q.Older {
		environment, err := c.environmentLayer()
		if err != nil {
			return data.Value{}, err
		}
		in.only = environment == nil
	}
	return in.first(q)
}

// LookupBy is Lookup with each key searched for by a function, as by a request.
func (c *Compile) LookupBy(q Query, search func(key string) (v data.Value, found bool, err error)) (data.Value, error) {
	return c.first(q, search)
}

// A Result is what one key has.
type Result struct {
	Value  data.Value
	Found  bool // there is a value, which may be nil
	Secret bool // something was decrypted for it
}

// Search looks up one key as a class parameter is: without a default, and without
// an error if there is no value. Rule HIERA-APL-01.
func (c *Compile) Search(key string, q Query) (Result, error) {
	in := c.invoke(q)
	c.secret = false
	v, found, err := in.search(key, q.Merge)
	return Result{v, found, c.secret}, err
}

// OptionSession is the option of a request of data_binding that holds a *Session.
const OptionSession = "session"

// A Session is what the requests of one lookup share: a compile with its caches and
// variables, and a record that they add to, which may be nil.
type Session struct {
	Compile *Compile
	Record  *Record
	Scope   Scope // the variables of who asks; nil means those of the compile
}

// Key names the session where options are shown.
func (*Session) Key() string { return "of a lookup" }

// String is what the trace of each lookup shows, which would be made each time.
func (*Session) String() string { return "*hiera.Session of a lookup" }

func (c *Compile) invoke(q Query) *invocation {
	in := &invocation{c: c, scope: c.o.Scope, overrides: q.Overrides, defaults: q.Defaults, record: q.Record}
	if q.Scope != nil {
		in.scope = q.Scope
	}
	if outer := c.calling; outer != nil { // a function of a level asks
		in.names = slices.Clip(outer.names)
		if in.record == nil {
			in.record = outer.record
		}
	}
	return in
}

// child is an invocation for a lookup within this one. It knows which keys are
// being looked up, and adds to the same record.
func (in *invocation) child() *invocation {
	sub := *in
	sub.names = slices.Clip(in.names)
	return &sub
}

// ErrNotFound reports that no key has a value.
var ErrNotFound = errors.New("no value")

// A notFoundError is one that Puppet words.
type notFoundError struct{ cause *Error }

func (e *notFoundError) Error() string { return e.cause.Error() }

func (e *notFoundError) Unwrap() []error { return []error{ErrNotFound, e.cause} }

// NotFound is Puppet's error for keys without a value.
func NotFound(keys []string) error {
	if len(keys) == 1 {
		return &notFoundError{lookupError("Function lookup() did not find a value for the name '%s'", keys[0])}
	}
	quoted := make([]string, len(keys))
	for i, key := range keys {
		quoted[i] = "'" + key + "'"
	}
	return &notFoundError{lookupError("Function lookup() did not find a value for any of the names [%s]", strings.Join(quoted, ", "))}
}

func (in *invocation) first(q Query) (data.Value, error) {
	return in.c.first(q, func(key string) (data.Value, bool, error) { return in.search(key, q.Merge) })
}

func (c *Compile) first(q Query, search func(key string) (data.Value, bool, error)) (data.Value, error) {
	for _, k := range q.Keys {
		if v, ok := q.Overrides.Lookup(k); ok {
			return v, c.assert("Value found for key '"+k+"' in override hash", q, v)
		}
		v, found, err := search(k)
		if err != nil {
			return v, err
		}
		if found {
			return v, c.assert("Found value", q, v)
		}
	}
	for _, k := range q.Keys {
		if v, ok := q.Defaults.Lookup(k); ok {
			return v, c.assert("Value found for key '"+k+"' in default values hash", q, v)
		}
	}
	if q.Otherwise != nil {
		v, err := q.Otherwise()
		if err != nil {
			return v, err
		}
		return v, c.assert("Value returned from default block", q, v)
	}
	if q.HasDefault {
		return q.Default, c.assert("Default value", q, q.Default)
	}
	return data.Value{}, NotFound(q.Keys)
}

// search looks a key up with all that belongs to it: lookup_options, merging,
// conversion, and the default_hierarchy of its module.
func (in *invocation) search(name string, merge data.Value) (v data.Value, found bool, err error) {
	if name == lookupOptions || strings.HasPrefix(name, lookupOptions+".") {
		in.leaf(node{kind: invalidKeyNode, name: lookupOptions})
		return v, false, nil
	}
	k, err := parseKey(name)
	if err != nil {
		return v, false, err
	}
	in.top, in.module, in.one = name, k.module, k.one
	if in.record != nil && in.record.OptionsOnly {
		_, _, err := in.layers(optionsKey, data.OfString("hash"))
		return v, err == nil, err
	}
	options, err := in.optionsOf(k)
	if err != nil {
		return v, false, err
	}
	if options.Kind() == data.List {
		return v, false, &Error{Class: WrongKind, Message: "no implicit conversion of String into Integer"}
	}
	if merge.IsNil() {
		if merge = options.Get("merge"); !merge.IsNil() {
			in.leaf(node{kind: mergeSourceNode, name: lookupOptions})
		}
	}
	v, found, err = in.data(k, merge)
	if !found || err != nil {
		return v, false, err
	}
	return in.convert(name, options.Get("convert_to"), v)
}

// data is the lookup itself: the layers, then the default_hierarchy.
func (in *invocation) data(k key, merge data.Value) (v data.Value, found bool, err error) {
	defer in.into(node{kind: rootNode, name: k.text}).pop()
	v, found, err = in.layers(k, merge)
	if found || err != nil || in.only {
		return v, found, err
	}
	v, found, err = in.moduleDefault(k)
	if !found || err != nil {
		return v, false, err
	}
	return in.dig(k.text, k.segments, v)
}

// layers asks the layers in their order, and digs into the result. Rule
// HIERA-LAY-01.
func (in *invocation) layers(k key, merge data.Value) (v data.Value, found bool, err error) {
	if in.only {
		v, found, err = in.askGlobal(k, merge)
	} else {
		var s *strategy
		if s, err = in.c.strategy(merge); err != nil {
			return v, false, err
		}
		v, found, err = in.over(s, 3, func(i int) (data.Value, bool, error) {
			switch i {
			case 0:
				return in.askGlobal(k, s.value())
			case 1:
				return in.askEnvironment(k, s)
			default:
				return in.askModule(k, s)
			}
		})
	}
	if !found || err != nil {
		return v, false, err
	}
	return in.dig(k.text, k.segments, v)
}

// enter begins the lookup of a key or variable, unless it goes on already. Rule
// HIERA-INT-04.
func (in *invocation) enter(name string) error {
	if slices.Contains(in.names, name) {
		return lookupError("Recursive lookup detected in [%s]", strings.Join(in.names, ", "))
	}
	in.names = append(in.names, name)
	return nil
}

// leave ends what enter began last.
func (in *invocation) leave() { in.names = in.names[:len(in.names)-1] }

// askGlobal asks the global layer, or the data binding in its place. Rule
// HIERA-LAY-04.
func (in *invocation) askGlobal(k key, merge data.Value) (v data.Value, found bool, err error) {
	switch in.c.o.Binding {
	case "", "hiera":
		s, err := in.c.strategy(merge)
		if err != nil {
			return v, false, err
		}
		v, found, err = in.c.globalLayer().lookup(in, k, s)
		return v, found, inGlobal(err, in.top)
	case "none":
		in.notFound(k.text)
		return v, false, nil
	}
	defer in.into(node{kind: globalNode, name: in.c.o.Binding}).pop()
	if in.c.o.Ask != nil {
		if v, found, err = in.c.o.Ask(in.c.o.Binding, k.root, merge); err != nil {
			return v, false, inGlobal(asLookup(err), in.top)
		}
	}
	if !found {
		in.notFound(k.text)
		return v, false, nil
	}
	in.found(k.text, v)
	return v, true, nil
}

func (in *invocation) askEnvironment(k key, s *strategy) (v data.Value, found bool, err error) {
	l, err := in.c.environmentLayer()
	if l == nil || err != nil {
		return v, false, err
	}
	return l.lookup(in, k, s)
}

func (in *invocation) askModule(k key, s *strategy) (v data.Value, found bool, err error) {
	if !in.one {
		return v, false, nil
	}
	l, err := in.c.moduleLayer(in.module)
	if err != nil {
		return v, false, err
	}
	if l == nil {
		e := noProviderEvent
		if in.c.missing[in.module] {
			e = noModuleEvent
		}
		in.leaf(node{kind: moduleNode, name: in.module, event: e})
		return v, false, nil
	}
	return l.lookup(in, k, s)
}

// convert applies convert_to to what was found. Rule HIERA-OPT-03.
func (in *invocation) convert(name string, to, v data.Value) (data.Value, bool, error) {
	if to.IsNil() {
		return v, true, nil
	}
	in.c.unlike = true
	arguments := to.List()
	if to.Kind() != data.List {
		arguments = []data.Value{to}
	}
	converted, shown, err := in.c.converted(arguments, v)
	if to.Kind() != data.List && to.Kind() != data.String {
		err = errors.New("'new' parameter 'type' expects a Type value, got " + types.Generalized(to).String())
	}
	if e, ok := errors.AsType[*typeTextError](err); ok {
		// Puppet's message lacks the quote at its end.
		return v, false, lookupError("Invalid data type in lookup_options for key '%s' could not parse '%s', error: '%s", name, e.text, e.cause)
	}
	if in.c.o.Called != nil {
		in.c.o.Called("new")
	}
	if err != nil {
		return v, false, lookupError("The convert_to lookup_option for key '%s' raised error: %s", name, err)
	}
	in.text("Applying convert_to lookup_option with arguments " + shown)
	return converted, true, nil
}

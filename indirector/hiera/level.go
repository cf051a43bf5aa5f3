package hiera

import (
	"errors"
	"fmt"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// A level is an entry of a hierarchy: a function that has data, and the locations
// where it looks.
type level struct {
	layer      *layer
	name       string
	kind       string // data_hash, lookup_key, data_dig, …
	function   string
	options    data.Value // a hash; nil is none
	locations  []*location
	everywhere bool // it has no locations, and is asked once
	rich       bool // its function may return rich values

	run      func(c *Context, l *level, k key) (data.Value, bool, error) // nil until first asked
	contexts []*Context                                                  // by location

	shown shown
}

// A Context is what a function of a level gets, and keeps for one location while
// a compile lasts. Rule HIERA-DATA-05.
type Context struct {
	level    *level
	location *location   // nil if there is none
	in       *invocation // the lookup that asks

	hash   map[string]data.Value // of data_hash, by key
	file   *file                 // where hash is from; nil if it is no file
	values map[string]data.Value // of lookup_key and data_dig, by key

	secrets map[string]bool // whether something was decrypted for the keys among them

	// Own is what functions of the language keep between calls. Hiera does not look at it.
	Own any
}

func (l *level) title() string {
	if l.kind == "v4_data_hash" {
		return `Deprecated API function "` + l.function + `"`
	}
	return `Hierarchy entry "` + l.name + `"`
}

// origin names the function and its location in messages.
func (c *Context) origin() string {
	name := fmt.Sprintf("%s function '%s'", c.level.kind, c.level.function)
	if c.level.kind == "v4_data_hash" {
		name = "deprecated API function '" + c.level.function + "'"
	}
	if c.location != nil {
		name += fmt.Sprintf(", when using location '%s',", c.location.where)
	}
	return name
}

// lookup asks all locations for the root of a key.
func (l *level) lookup(in *invocation, k key, s *strategy) (v data.Value, found bool, err error) {
	defer in.into(node{kind: levelNode, of: l}).pop()
	if l.everywhere {
		return l.ask(in, k, s, 0, nil)
	}
	return in.over(s, len(l.locations), func(i int) (data.Value, bool, error) {
		defer in.into(node{kind: locationNode, of: l.locations[i]}).pop()
		return l.ask(in, k, s, i, l.locations[i])
	})
}

// ask asks one location, which may be none. Rule HIERA-DATA-06.
func (l *level) ask(in *invocation, k key, s *strategy, i int, at *location) (v data.Value, found bool, err error) {
	if at != nil && !at.exists {
		in.happened(noLocationEvent, data.Value{})
		return v, false, nil
	}
	if l.run == nil {
		if l.run, err = l.load(); err != nil {
			return v, false, err
		}
	}
	c := l.context(i, at)
	outer := c.in
	c.in = in
	v, found, err = l.run(c, l, k)
	c.in = outer
	if errors.Is(err, errNoData) {
		return v, false, nil
	}
	if err != nil {
		return v, false, err
	}
	name := k.root
	if l.kind == "data_dig" {
		name = k.text
	}
	if !found {
		in.notFound(name)
		return v, false, nil
	}
	in.found(name, v)
	if l.kind == "data_dig" {
		v = undig(k.segments, v)
	}
	return v, true, nil
}

// context returns what the function gets for a location, which may be none.
func (l *level) context(i int, at *location) *Context {
	if l.contexts == nil {
		l.contexts = make([]*Context, max(len(l.locations), 1))
	}
	if l.contexts[i] == nil {
		l.contexts[i] = &Context{level: l, location: at}
	}
	return l.contexts[i]
}

// undig makes the value that segments lead into, so that digging gives v again.
func undig(segments []data.Value, v data.Value) data.Value {
	for i := len(segments) - 1; i >= 0; i-- {
		if s := segments[i]; s.Kind() == data.Int && s.Int() >= 0 && s.Int() < maxLocations {
			list := make([]data.Value, s.Int()+1)
			list[s.Int()] = v
			v = data.OfList(list)
			continue
		}
		v = data.OfHash([]data.Pair{{Key: segments[i], Value: v}})
	}
	return v
}

// load finds the function of the level. Rules HIERA-CFG-04, HIERA-CFG-12.
func (l *level) load() (func(*Context, *level, key) (data.Value, bool, error), error) {
	kind := strings.TrimPrefix(l.kind, "v3_")
	switch {
	case kind == "hiera3_backend":
		return nil, lacking("the backend '%s' of hiera 3 is written in Ruby, which is not run here (file: %s)", l.function, l.layer.config.path)
	case kind == "data_hash" && builtin[l.function] != nil:
		return dataHash(fileReader(l.function)), nil
	case kind == "lookup_key" && l.function == "eyaml_lookup_key":
		return byKey(eyamlLookupKey), nil
	}
	takes, gets := 2, 3
	if kind == "data_hash" {
		takes, gets = 3, 2
	}
	if l.function == "eyaml_lookup_key" && takes == 3 || builtin[l.function] != nil && takes == 2 {
		return nil, argumentError("'%s' expects %d arguments, got %d", l.function, takes, gets)
	}
	f, err := l.layer.c.language.Function(l.function)
	if err != nil {
		return nil, err
	}
	if f == nil {
		return nil, l.layer.config.fail(nil, "Unable to find '%s' function named '%s'", kind, l.function)
	}
	l.rich = true
	f = f.within(l.layer.c)
	switch kind {
	case "data_hash", "v4_data_hash":
		return dataHash(func(c *Context) (*file, error) {
			args := []data.Value{c.options()}
			if kind == "v4_data_hash" {
				args = nil
			}
			v, found, err := f(c, args...)
			if err == nil && !found {
				err = errNoData
			}
			return &file{value: v, index: indexOf(v)}, err
		}), nil
	case "lookup_key":
		return byKey(func(c *Context, k key) (data.Value, bool, error) { return f(c, data.OfString(k.root), c.options()) }), nil
	default:
		return byKey(func(c *Context, k key) (data.Value, bool, error) {
			segments := append([]data.Value{data.OfString(k.root)}, k.segments...)
			return f(c, data.OfList(segments), c.options())
		}), nil
	}
}

// errNoData reports that a function gives no data at all, which explanations do not mention.
var errNoData = errors.New("no data")

// within returns a function whose own lookups are part of the lookup that calls it: they
// must not ask for the same keys, and are recorded there. Rule HIERA-INT-04.
func (f Function) within(compile *Compile) Function {
	return func(c *Context, args ...data.Value) (data.Value, bool, error) {
		outer := compile.calling
		compile.calling = c.in
		defer func() { compile.calling = outer }()
		return f(c, args...)
	}
}

// options are what the function gets: those of the level, and the location.
func (c *Context) options() data.Value {
	o := c.level.options
	if o.IsNil() {
		o = data.OfHash(nil)
	}
	switch {
	case c.location == nil:
		return o
	case c.location.uri:
		return o.With("uri", data.OfString(c.location.where))
	}
	return o.With("path", data.OfString(c.location.where))
}

// dataHash makes a level of a function that gives all data at once, which is
// called once for each location.
func dataHash(load func(*Context) (*file, error)) func(*Context, *level, key) (data.Value, bool, error) {
	return func(c *Context, l *level, k key) (v data.Value, found bool, err error) {
		if err := c.load(load); err != nil {
			return v, false, err
		}
		if v, found = c.hash[k.root]; !found {
			return v, false, nil
		}
		if v, err = c.checked("Value for key '"+k.root+"', in hash returned from ", v); err != nil {
			return v, false, err
		}
		v, err = c.in.interpolate(v, true)
		return v, err == nil, err
	}
}

// load gets the data of a level that gives it all at once, unless it has.
func (c *Context) load(load func(*Context) (*file, error)) error {
	if c.hash != nil {
		return nil
	}
	f, err := load(c)
	if err == nil {
		err = c.level.checkHash(c, f.value)
	}
	if err == nil {
		c.file, c.hash = f, f.index
	}
	return err
}

// byKey makes a level of a function that is called once for each key.
func byKey(f func(*Context, key) (data.Value, bool, error)) func(*Context, *level, key) (data.Value, bool, error) {
	return func(c *Context, l *level, k key) (v data.Value, found bool, err error) {
		name := k.root
		if l.kind == "data_dig" {
			name = k.text
		}
		if v, found = c.values[name]; found {
			l.layer.c.secret = l.layer.c.secret || c.secrets[name]
			return v, true, nil
		}
		// Whether this value is secret is asked apart from what was looked up before.
		compile := l.layer.c
		before := compile.secret
		compile.secret = false
		if v, found, err = f(c, k); found && err == nil {
			v, err = c.checked("Value for key '"+name+"', returned from ", v)
		}
		secret := compile.secret
		compile.secret = secret || before
		if !found || err != nil {
			return v, false, err
		}
		if c.values == nil {
			c.values, c.secrets = map[string]data.Value{}, map[string]bool{}
		}
		c.values[name], c.secrets[name] = v, secret
		return v, true, nil
	}
}

// checkHash refuses what is no hash, and warns of keys that module data may not
// have. Such keys are never asked for, so they need not be dropped. Rule
// HIERA-LAY-02.
func (l *level) checkHash(c *Context, v data.Value) error {
	if err := assertType("Value returned from "+c.origin(), hashType(), v); err != nil {
		return err
	}
	if l.layer.kind != moduleLayer {
		return nil
	}
	for _, p := range v.Hash() {
		if k := p.Key.Text(); k != lookupOptions && !strings.HasPrefix(k, l.layer.module+"::") {
			l.layer.c.warnings.warn("Module '%s': Value returned from %s must use keys qualified with the name of the module", l.layer.module, c.origin())
		}
	}
	return nil
}

// checked returns a value as rich data, and refuses what is none. Rule HIERA-DATA-04.
func (c *Context) checked(what string, v data.Value) (data.Value, error) {
	if !types.Instance(richData(), v) {
		return v, &Error{Class: WrongType, Message: what + c.origin() + " has wrong type, expects Puppet::LookupValue, got " + types.Reduced(v).String()}
	}
	if c.level.rich {
		v = c.level.layer.c.plain(v)
	}
	return v, nil
}

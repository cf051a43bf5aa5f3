package types

import (
	"fmt"
	"slices"
	"strconv"

	"indirtui/indirector/data"
)

// A Resource is an instance of a Type with its attributes set. It belongs to one
// goroutine.
type Resource struct {
	Type     *Type
	Title    string
	File     string // "" is unset
	Line     int64  // 0 is unset
	Tags     []string
	Exported bool
	Virtual  bool
	Provider *Provider // nil: there is none, or none is suitable
	// Latest is what the value latest of a package is, once that was asked: messages show it.
	Latest  data.Value
	Host    Host
	Catalog Catalog // nil outside of one
	// Log takes warnings of setting attributes, in Puppet's words. It may be nil.
	Log func(level, message string)
	// LogPuppet takes what Puppet logs in its own name: such a line has no source. If it is
	// nil, Log takes it.
	LogPuppet func(level, message string)

	values map[string]*value
	order  []string // of values: that in which they were set
}

// A value is an attribute of a resource.
type value struct {
	of        *Attribute
	given     []data.Value // as it was set first
	should    []data.Value // what became of it: one for parameters; nil: not managed
	sensitive bool
	byDefault bool
	settled   data.Value // what a value like latest has turned out to be
}

// Given is what a resource is made of.
type Given struct {
	Title     string
	File      string
	Line      int64
	Tags      []string
	Exported  bool
	Virtual   bool
	Values    []data.Pair
	Sensitive []string
	Catalog   Catalog // nil: there is none, and aliases are refused
	// LogPuppet becomes that of the Resource.
	LogPuppet func(level, message string)
}

// New makes a resource: attributes are set in the type's order, then defaults, then
// the whole is validated. Errors are those of Puppet: "Parameter mode failed on
// File[/x]: ...". If host is a *Selection, each type's default provider is chosen once.
// log may be nil. Rules RES-TYPE-01 and RES-TYPE-02.
func New(t *Type, host Host, g Given, log func(level, message string)) (*Resource, error) {
	r := &Resource{
		Type: t, Title: g.Title, File: g.File, Line: g.Line, Exported: g.Exported, Virtual: g.Virtual,
		Host: host, Catalog: g.Catalog, Log: log, LogPuppet: g.LogPuppet, values: make(map[string]*value, len(g.Values)+t.presets),
	}
	r.ownTags(g.Tags)
	values, err := r.withTitle(g)
	if err != nil {
		return nil, err
	}
	if len(t.Namevars) == 1 {
		if err := r.setFrom(values, t.Namevars[0]); err != nil {
			return nil, err
		}
	}
	if err := r.setDefault(t.index["provider"]); err != nil {
		return nil, err
	}
	if err := r.setAll(values); err != nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	r.markSensitive(g.Sensitive)
	if t.Finish != nil {
		if err := t.Finish(r); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// withTitle returns the values with what the title gives, unless they were given.
func (r *Resource) withTitle(g Given) (map[string]data.Value, error) {
	values := make(map[string]data.Value, len(g.Values)+1)
	if r.Type.Titles == nil {
		values[r.Type.Namevars[0]] = data.OfString(g.Title)
	} else {
		pairs, err := r.Type.Titles(g.Title)
		if err != nil {
			return nil, err
		}
		for _, p := range pairs {
			values[p.Key.Str()] = p.Value
		}
	}
	for _, p := range g.Values {
		name := p.Key.Str()
		if a := r.Type.Attribute(name); a != nil {
			name = a.Name
		}
		values[name] = p.Value
	}
	return values, nil
}

func (r *Resource) setFrom(values map[string]data.Value, name string) error {
	v, ok := values[name]
	if !ok {
		return nil
	}
	delete(values, name)
	return r.Set(name, v)
}

// setAll sets values in the type's order, then those that there are not, which fails,
// then defaults of what was not set.
func (r *Resource) setAll(values map[string]data.Value) error {
	var unset []*Attribute
	for _, a := range r.Type.all {
		if _, ok := values[a.Name]; !ok {
			unset = append(unset, a)
			continue
		}
		if err := r.setFrom(values, a.Name); err != nil {
			return err
		}
	}
	for _, name := range sortedKeys(values) {
		if err := r.Set(name, values[name]); err != nil {
			return err
		}
	}
	for _, a := range unset {
		if err := r.setDefault(a); err != nil {
			return err
		}
	}
	return nil
}

// setDefault sets an attribute to its default, if it has one and was not set. A default
// that is false is none: the attribute stays unset, as in Puppet.
func (r *Resource) setDefault(a *Attribute) error {
	if a == nil || r.values[a.Name] != nil {
		return nil
	}
	v := a.Preset
	switch {
	case a.Default != nil:
		var ok bool
		if v, ok = a.Default(r); !ok {
			return nil
		}
	case a.Setting != "":
		text, _ := r.Host.Setting(a.Setting)
		v = data.OfString(text)
	}
	if !v.Truthy() {
		return nil
	}
	x := r.attribute(a)
	if x == nil {
		return nil
	}
	x.byDefault = true
	return r.assign(x, v)
}

// attribute returns the value of an attribute, which it makes if need be, or nil if the
// provider lacks what that takes. Rule RES-TYPE-06.
func (r *Resource) attribute(a *Attribute) *value {
	if r.Provider != nil && !r.Provider.Supports(a.Features) {
		r.debugUnsupported(a)
		return nil
	}
	x := r.values[a.Name]
	if x == nil {
		x = &value{of: a}
		r.values[a.Name] = x
		r.order = append(r.order, a.Name)
	}
	return x
}

func (r *Resource) debugUnsupported(a *Attribute) {
	var lacking []string
	for _, f := range a.Features {
		if !r.Provider.Supports([]string{f}) {
			lacking = append(lacking, f)
		}
	}
	r.log("debug", fmt.Sprintf("Provider %s does not support features %s; not managing attribute %s",
		r.Provider.Name, joined(lacking), a.Name))
}

// Set sets one attribute: validates, then munges. Rule RES-TYPE-02.
func (r *Resource) Set(name string, v data.Value) error {
	a := r.Type.Attribute(name)
	if a == nil {
		return refuse("no parameter named '%s'", name)
	}
	if v.IsNil() {
		return refuse("Got nil value for %s", a.Name)
	}
	x := r.attribute(a)
	if x == nil {
		return nil
	}
	x.byDefault = false
	if err := r.assign(x, v); err != nil {
		return r.at(refuse("Parameter %s failed on %s: %s", a.Name, r.Ref(), err))
	}
	return nil
}

// assign validates and munges v for an attribute. A Sensitive is opened, and its
// attribute redacted from then on; a Deferred is kept as it is until it is resolved.
// Rule RES-TYPE-09.
func (r *Resource) assign(x *value, v data.Value) error {
	if inner, ok := Unwrap(v); ok {
		x.sensitive = true
		v = inner
	}
	all := []data.Value{v}
	if x.of.Kind == Property && v.Kind() == data.List {
		all = v.List()
	}
	x.given = all
	for _, v := range all {
		if err := r.validate(x.of, v); err != nil {
			return err
		}
	}
	should := make([]data.Value, len(all))
	for i, v := range all {
		if IsDeferred(v) {
			should[i] = v
			continue
		}
		m, err := r.munge(x.of, v)
		if err != nil {
			return err
		}
		should[i] = m
	}
	x.should = should
	return nil
}

func (r *Resource) validate(a *Attribute, v data.Value) error {
	if IsDeferred(v) {
		return nil
	}
	if a.Validate != nil {
		return named(a, v, a.Validate(r, v))
	}
	return r.Check(a, v)
}

func (r *Resource) munge(a *Attribute, v data.Value) (data.Value, error) {
	if a.Munge == nil {
		return a.Choose(v), nil
	}
	m, err := a.Munge(r, v)
	return m, named(a, v, err)
}

// named adds the value and the attribute to an error that asks for them.
func named(a *Attribute, v data.Value, err error) error {
	if bad, ok := err.(argumentError); ok {
		return refuse("Munging failed for value %s in class %s: %s", v.Inspect(), a.Name, string(bad))
	}
	return err
}

// Validate checks the resource as a whole. As long as a value is deferred, it does not.
func (r *Resource) Validate() error {
	if r.Type.Validate == nil || len(r.Deferred()) > 0 {
		return nil
	}
	if err := r.Type.Validate(r); err != nil {
		return r.at(refuse("Validation of %s failed: %s", r.Ref(), err))
	}
	return nil
}

// Deferred are the attributes whose values are still to be resolved. Rule RES-CONV-03.
func (r *Resource) Deferred() []string {
	var names []string
	for _, name := range r.order {
		if slices.ContainsFunc(r.values[name].should, IsDeferred) {
			names = append(names, name)
		}
	}
	return names
}

// at adds where the resource is declared.
func (r *Resource) at(err error) error {
	switch {
	case r.File != "" && r.Line > 0:
		return refuse("%s (file: %s, line: %d)", err, r.File, r.Line)
	case r.File != "":
		return refuse("%s (file: %s)", err, r.File)
	case r.Line > 0:
		return refuse("%s (line: %s)", err, strconv.FormatInt(r.Line, 10))
	}
	return err
}

func (r *Resource) log(level, message string) {
	if r.Log != nil {
		r.Log(level, message)
	}
}

// warnPuppet logs a warning in the name of Puppet.
func (r *Resource) warnPuppet(message string) {
	if r.LogPuppet != nil {
		r.LogPuppet("warning", message)
		return
	}
	r.log("warning", message)
}

// deprecated logs a warning that names where the resource is.
func (r *Resource) deprecated(message string) {
	r.warnPuppet(fmt.Sprintf("%s\n   (file: %s, line: %d)", message, r.File, r.Line))
}

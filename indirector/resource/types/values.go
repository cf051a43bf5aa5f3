package types

import (
	"slices"

	"indirtui/indirector/data"
)

// Ref is "File[/etc/motd]", with the title. That of a component is its title.
func (r *Resource) Ref() string {
	if r.Type.Ref != nil {
		return r.Type.Ref(r)
	}
	return r.Type.Title() + "[" + r.Title + "]"
}

// Name is the value of the (first) namevar.
func (r *Resource) Name() string { return r.Value(r.Type.Namevars[0]).Text() }

// UniqueKey is the namevars as one text: `["/etc/motd"]`, sorted by their names.
// Rule RES-TYPE-10.
func (r *Resource) UniqueKey() string {
	names := slices.Sorted(slices.Values(r.Type.Namevars))
	key := make([]data.Value, len(names))
	for i, n := range names {
		key[i] = r.Value(n)
	}
	return data.OfList(key).Inspect()
}

// Has reports whether an attribute is there: by a manifest, by its default, or because
// it is audited.
func (r *Resource) Has(name string) bool { return r.values[r.name(name)] != nil }

// name resolves a name to that of an attribute: that of the namevar for "name".
func (r *Resource) name(name string) string {
	if name == "name" && len(r.Type.Namevars) == 1 {
		return r.Type.Namevars[0]
	}
	return name
}

// Names are the attributes that are there, in the order in which they were set.
func (r *Resource) Names() []string { return slices.Clone(r.order) }

// Value returns that of a parameter, or the first wanted one of a property (all of them,
// as a list, where the property takes all); nil if it is not set.
func (r *Resource) Value(name string) data.Value {
	x := r.values[r.name(name)]
	if x == nil || x.should == nil {
		return data.Value{}
	}
	return x.wanted(r, data.OfSymbol("absent"))
}

// Wanted is what a property should be, given what it is: the value of events, and what
// providers set. Rule RES-TYPE-08.
func (r *Resource) Wanted(property string, is data.Value) data.Value {
	x := r.values[property]
	if x == nil || x.should == nil {
		return data.Value{}
	}
	return x.wanted(r, is)
}

func (x *value) wanted(r *Resource, is data.Value) data.Value {
	if len(x.should) == 1 && IsDeferred(x.should[0]) {
		return x.should[0]
	}
	shown := x.shown()
	switch {
	case x.of.Wanted != nil:
		return x.of.Wanted(r, shown, is)
	case x.of.All:
		return data.OfList(shown)
	case len(shown) == 0:
		return data.Value{}
	}
	return shown[0]
}

func (x *value) shown() []data.Value {
	if x.of.Unmunge == nil {
		return x.should
	}
	all := make([]data.Value, len(x.should))
	for i, v := range x.should {
		all[i] = x.of.Unmunge(v)
	}
	return all
}

// Should is all wanted values of a property, as they are compared; nil if it is not
// managed.
func (r *Resource) Should(name string) []data.Value {
	if x := r.values[r.name(name)]; x != nil {
		return x.should
	}
	return nil
}

// Original is what an attribute was set to, before it was munged: the text of a
// file's content.
func (r *Resource) Original(name string) []data.Value {
	if x := r.values[r.name(name)]; x != nil {
		return x.given
	}
	return nil
}

// ByDefault reports whether an attribute has its default, which was not set.
func (r *Resource) ByDefault(name string) bool {
	x := r.values[r.name(name)]
	return x != nil && x.byDefault
}

// Settle records what a wanted value, like latest, has turned out to be. Messages show it.
func (r *Resource) Settle(property string, v data.Value) {
	if x := r.values[property]; x != nil {
		x.settled = v
	}
}

// Managed reports whether a property has a value that should be.
func (r *Resource) Managed(property string) bool { return r.Should(property) != nil }

// Unset takes an attribute away.
func (r *Resource) Unset(name string) {
	delete(r.values, name)
	r.order = slices.DeleteFunc(r.order, func(n string) bool { return n == name })
}

// Properties are the names of those that are there, in the type's order: ensure first.
// Those that are only audited are not managed.
func (r *Resource) Properties() []string {
	var names []string
	for _, a := range r.Type.Attributes {
		if a.Kind == Property && r.values[a.Name] != nil {
			names = append(names, a.Name)
		}
	}
	return names
}

// AnyManaged reports whether a property is managed: ensure defaults to present then.
// Rule RES-TYPE-07.
func (r *Resource) AnyManaged() bool {
	for _, name := range r.Properties() {
		if r.Value(name).Truthy() {
			return true
		}
	}
	return false
}

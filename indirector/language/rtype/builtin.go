package rtype

import (
	"sync"

	"indirtui/indirector/resource/types"
)

// builtin are the types that are built into Puppet, made of those that an agent has.
// Rule LANG-RT-01.
var builtin = sync.OnceValue(func() map[string]Type {
	all := map[string]Type{}
	for name, t := range types.All() {
		if t.Module == "" { // those of modules are read from the modules
			all[name] = compiled(t)
		}
	}
	return all
})

// compiled is what a compiler knows of a type of an agent.
func compiled(t *types.Type) Type {
	c := Type{Name: t.Name, Keys: t.Namevars, Titles: WholeTitle(t.Namevars[0]), Many: t.Repeats}
	if len(t.TitlePatterns) > 0 {
		c.Titles = nil
	}
	for _, p := range t.TitlePatterns {
		options := 0
		if p.Dotall {
			options = 4
		}
		c.Titles = append(c.Titles, TitlePattern{Pattern: p.Pattern, Options: options, Attributes: p.Namevars})
	}
	var parameters []Attribute
	for _, a := range t.Declared() {
		if a.Kind == types.Property {
			c.Attributes = append(c.Attributes, Attribute{a.Name, Property})
		} else {
			parameters = append(parameters, Attribute{a.Name, Parameter})
		}
	}
	c.Attributes = append(c.Attributes, parameters...)
	return c
}

// BuiltIn returns the types that are built into Puppet, by their names. The map and
// the types are the caller's.
func BuiltIn() map[string]*Type {
	all := map[string]*Type{}
	for name, t := range builtin() {
		all[name] = &t
	}
	return all
}

// Metaparameters returns the names of the attributes that every type has, in
// Puppet's order.
func Metaparameters() []string {
	var names []string
	for _, a := range types.Metaparameters() {
		names = append(names, a.Name)
	}
	return names
}

package rtype

import (
	_ "embed"
	"encoding/json"
	"sync"
)

// builtin.json was written by testdata/types.rb from Puppet 7.23. It holds names
// and patterns, no texts of documentation. Rule LANG-RT-01.
//
//go:embed builtin.json
var builtinJSON []byte

// A table is a file of testdata/types.rb.
type table struct {
	Metaparameters []string
	Types          map[string]entry
}

type entry struct {
	Keys       []string
	Titles     []TitlePattern
	Properties []string
	Parameters []string
	Many       bool
}

// builtin is the table of what is built in.
var builtin = sync.OnceValue(func() table {
	var t table
	if err := json.Unmarshal(builtinJSON, &t); err != nil {
		panic(err) // it is of this program
	}
	return t
})

// BuiltIn returns the types that are built into Puppet, by their names. The map and
// the types are the caller's.
func BuiltIn() map[string]*Type {
	all := map[string]*Type{}
	for name, e := range builtin().Types {
		t := &Type{Name: name, Keys: e.Keys, Titles: e.Titles, Many: e.Many}
		for _, p := range e.Properties {
			t.Attributes = append(t.Attributes, Attribute{p, Property})
		}
		for _, p := range e.Parameters {
			t.Attributes = append(t.Attributes, Attribute{p, Parameter})
		}
		all[name] = t
	}
	return all
}

// Metaparameters returns the names of the attributes that every type has, in
// Puppet's order.
func Metaparameters() []string { return builtin().Metaparameters }

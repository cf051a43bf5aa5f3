// Package fn has the functions that Puppet brings along, as far as they need no catalog.
//
// Each file is a group of functions: a table of their signatures, as messages show them,
// and what they do. [Library] has all of them. Functions see values only; what they
// need of an evaluation is in [eval.Invocation], and what they need of the environment is
// in [Host].
package fn

import (
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/types"
)

// library is made when it is asked for first: functions call others by their names.
var library struct {
	sync.Once
	all eval.Library
}

// Library returns the functions by their names. It is the same for all callers, who must
// not change it.
func Library() eval.Library {
	library.Do(func() {
		library.all = eval.Library{}
		for _, group := range []map[string][]eval.Way{
			iteration(), blocks(), control(), logging(), typing(), numbers(), texts(), matching(), collections(), digging(), comparing(), timing(),
			lookups(), files(), templates(),
		} {
			for name, ways := range group {
				library.all[name] = &eval.Builtin{Name: name, Ways: ways, Types: LocalTypes}
			}
		}
		for name, do := range older() {
			library.all[name] = &eval.Builtin{Name: name, Ways: []eval.Way{{Params: "Any args*", Do: do}}, Old: true}
		}
	})
	return library.all
}

// A do is what a function does.
type do = func(c *eval.Invocation) (data.Value, error)

// way is a short form for tables.
func way(params string, f do) eval.Way { return eval.Way{Params: params, Do: f} }

var undef data.Value

// local are types that signatures name, and messages show.
var local = map[string]struct{ name, definition string }{
	"stringdata":  {"StringData", "Variant[String, Numeric, Array[StringData], Hash[StringData, StringData]]"},
	"optionstype": {"OptionsType", treeOptions},

	"nametype":         {"NameType", "Variant[String, Array[String]]"},
	"valuetype":        {"ValueType", "Type"},
	"defaultvaluetype": {"DefaultValueType", "Any"},
	"mergetype":        {"MergeType", "Variant[String[1], Hash[String, Scalar]]"},
	"blocktype":        {"BlockType", "Callable[NameType]"},
	"optionswithname": {
		"OptionsWithName", "Struct[{name => NameType, value_type => Optional[ValueType], default_value => Optional[DefaultValueType], " +
			"override => Optional[Hash[String, Any]], default_values_hash => Optional[Hash[String, Any]], merge => Optional[MergeType]}]",
	},
	"optionswithoutname": {
		"OptionsWithoutName", "Struct[{value_type => Optional[ValueType], default_value => Optional[DefaultValueType], " +
			"override => Optional[Hash[String, Any]], default_values_hash => Optional[Hash[String, Any]], merge => Optional[MergeType]}]",
	},
}

// LocalTypes finds the types that signatures of this package name.
func LocalTypes(name string) types.Type {
	def, ok := local[name]
	if !ok {
		return nil
	}
	t, err := types.NewAlias(def.name, func(self types.Type) (types.Type, error) {
		return types.Parse(def.definition, func(other string) types.Type {
			if other == name {
				return self
			}
			return LocalTypes(other)
		})
	})
	if err != nil {
		panic("fn: type " + def.name + ": " + err.Error())
	}
	return t
}

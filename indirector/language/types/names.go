package types

import (
	"math"
	"strings"
	"sync"
)

// Aliases that the language has itself. They are parts of themselves. Rule
// LANG-TYPE-11.
var (
	dataAlias = builtinAlias("Data", func(self Type) []Type {
		return []Type{scalarData, undefType, newHash(stringType{}, self, nil), newArray(self, nil)}
	})
	richKey  = builtinAlias("RichDataKey", func(Type) []Type { return []Type{stringType{}, numericType} })
	richData = builtinAlias("RichData", func(self Type) []Type {
		return []Type{
			scalarType, rangeType, binaryType, newSensitive(nil),
			containedType{typeOf, nil},
			typeSetType,
			uriType{},
			objectType,
			undefType, defaultType, newHash(richKey, self, nil), newArray(self, nil),
		}
	})
)

// LookupContext is the Object type of what functions are given that look data up. What its
// instances can do is not described here. Rule HIERA-DATA-05.
var LookupContext Type = &definedType{name: "Puppet::LookupContext", includeType: true}

func builtinAlias(name string, types func(self Type) []Type) *aliasType {
	a := &aliasType{name: name, builtin: true}
	a.resolved = variantType{types(a)}
	findRecursion(a, nil)
	return a
}

// resources are the resource types that every environment has.
const resources = "Component Exec File Filebucket Group Node Notify Package Resources Schedule Service Stage Tidy User Whit"

// standard returns the types without parameters, by their names in small letters.
var standard = sync.OnceValue(func() map[string]Type {
	all := map[string]Type{}
	for name, t := range map[string]Type{
		"Integer": integerType{interval: unlimited}, "Float": floatType{math.Inf(-1), math.Inf(1)}, "String": stringType{}, "Enum": enumType{},
		"Pattern": patternType{}, "Regexp": regexpType{}, "Boolean": booleanType{}, "Timestamp": timestampType{always},
		"Timespan": timespanType{always}, "SemVer": versionType{}, "URI": uriType{}, "Collection": collectionType{},
		"Array": newArray(nil, nil), "Hash": newHash(nil, nil, nil), "Tuple": tupleType{}, "Struct": structType{},
		"Variant": variantType{}, "Init": initType{}, "Callable": callableType{}, "Class": classType{}, "Resource": resourceType{},
		"Runtime": runtimeType{}, "TypeReference": referenceType{"UnresolvedReference"},
		"Data": dataAlias, "RichData": richData, "RichDataKey": richKey, "Puppet::LookupKey": richKey, "Puppet::LookupValue": richData,
		"Puppet::LookupContext": LookupContext,
		"TypeAlias":             &aliasType{name: "UnresolvedAlias", resolved: referenceType{"UnresolvedReference"}},
	} {
		all[strings.ToLower(name)] = t
	}
	for _, t := range []plain{anyType, undefType, defaultType, unitType, scalarType, scalarData, numericType, binaryType, rangeType, catalogEntry, objectType, typeSetType} {
		all[strings.ToLower(string(t))] = t
	}
	for _, c := range []container{optionalOf, notUndefOf, iterableOf, iteratorOf, typeOf, sensitiveOf} {
		all[strings.ToLower(string(c))] = containedType{c, nil}
	}
	for name := range strings.FieldsSeq(resources) {
		all[strings.ToLower(name)] = resourceType{name: name}
	}
	return all
})

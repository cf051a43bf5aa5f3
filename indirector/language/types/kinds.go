package types

// simpleName returns the name of the kind of a type, without parameters. All aliases
// are of one kind.
func simpleName(t Type) string {
	switch t := t.(type) {
	case plain:
		return string(t)
	case containedType:
		return string(t.container)
	case integerType:
		return "Integer"
	case floatType:
		return "Float"
	case stringType:
		return "String"
	case enumType:
		return "Enum"
	case patternType:
		return "Pattern"
	case regexpType:
		return "Regexp"
	case booleanType:
		return "Boolean"
	case timestampType:
		return "Timestamp"
	case timespanType:
		return "Timespan"
	case versionType:
		return "SemVer"
	case uriType:
		return "URI"
	case collectionType:
		return "Collection"
	case arrayType:
		return "Array"
	case hashType:
		return "Hash"
	case tupleType:
		return "Tuple"
	case structType:
		return "Struct"
	case variantType:
		return "Variant"
	case initType:
		return "Init"
	case callableType:
		return "Callable"
	case classType:
		return "Class"
	case resourceType:
		return "Resource"
	case runtimeType:
		return "Runtime"
	case referenceType:
		return "TypeReference"
	case *setType:
		return string(typeSetType)
	case *definedType:
		return string(objectType)
	case extendedType:
		return "ObjectTypeExtension"
	}
	return "TypeAlias"
}

// nameOf is simpleName, but aliases have their own names.
func nameOf(t Type) string {
	if a, ok := t.(*aliasType); ok {
		return a.name
	}
	switch t := t.(type) {
	case *setType:
		return t.name
	case *definedType:
		return t.label()
	case extendedType:
		return t.base.label()
	case plain:
		if t == typeSetType {
			return "DefaultTypeSet"
		}
	}
	return simpleName(t)
}

// shortName returns a name with that of the only inner type.
func shortName(t Type) string {
	var inner Type
	switch t := t.(type) {
	case containedType:
		inner = t.inner
	case initType:
		inner = t.inner
	}
	if inner == nil || inner == anyType {
		return nameOf(t)
	}
	return nameOf(t) + "[" + nameOf(inner) + "]"
}

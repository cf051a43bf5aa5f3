package types

import (
	"regexp"
	"strings"

	"indirtui/indirector/data"
)

// ofCollection makes types of collections, with a size.
func ofCollection(t Type, args []data.Value) (Type, error) {
	switch t.(type) {
	case arrayType:
		return ofArray(args)
	case hashType:
		return ofHash(args)
	}
	if len(args) < 1 || len(args) > 2 {
		return nil, badArity("Collection-Type", 1, 2, len(args))
	}
	size, err := sizeFrom(args...)
	if err != nil {
		return nil, err
	}
	return collectionType{size.toSize()}, nil
}

func ofArray(args []data.Value) (Type, error) {
	if len(args) < 1 || len(args) > 3 {
		return nil, badArity("Array-Type", 1, 3, len(args))
	}
	element, ok := AsType(args[0])
	switch {
	case !ok && len(args) != 2:
		return nil, notType("Array", args[0])
	case ok && len(args) == 1:
		return newArray(element, nil), nil
	case ok:
		args = args[1:]
	}
	size, err := sizeFrom(args...)
	if err != nil {
		return nil, err
	}
	return newArray(element, size), nil
}

func ofHash(args []data.Value) (Type, error) {
	if len(args) == 2 && args[0].Kind() == data.Int && args[1].Kind() == data.Int {
		size, err := intervalOf(args...)
		if err != nil {
			return nil, err
		}
		return newHash(nil, nil, size), nil
	}
	for _, a := range args[:min(2, len(args))] {
		if !isTypeValue(a) {
			return nil, notType("Hash", a)
		}
	}
	if len(args) < 2 || len(args) > 4 {
		return nil, badArity("Hash-Type", 2, 4, len(args))
	}
	var size *interval
	if len(args) > 2 {
		var err error
		if size, err = sizeFrom(args[2:]...); err != nil {
			return nil, err
		}
	}
	types := typesOf(args[:2])
	return newHash(types[0], types[1], size), nil
}

func ofStruct(t structType, args []data.Value) (Type, error) {
	if len(args) != 1 {
		return nil, badArity(upperArticle(label(t)), 1, 1, len(args))
	}
	if args[0].Kind() != data.Hash {
		return nil, cannotUse(t, args[0], "Hash")
	}
	var out structType
	for _, p := range args[0].Hash() {
		value, err := typeOfArgument(p.Value)
		if err != nil {
			return nil, err
		}
		m, err := memberOf(p.Key, value)
		if err != nil {
			return nil, err
		}
		out.members = append(out.members, m)
	}
	return out, nil
}

// memberOf reads the key of a Struct. A text may be missing if its value may be
// undef; Optional always may, and NotUndef never.
func memberOf(key data.Value, value Type) (member, error) {
	if s, ok := text(key); ok {
		if s == "" {
			return member{}, errorf("Struct element key cannot be an empty String")
		}
		return member{s, assignable(value, undefType), value}, nil
	}
	t, ok := AsType(key)
	if !ok {
		return member{}, errorf("Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: %s", rubyClass(key))
	}
	inner, optional := t, false
	switch k := t.(type) {
	case containedType:
		switch k.container {
		case optionalOf:
			inner, optional = k.inner, true
		case notUndefOf:
			t, inner = k.inner, k.inner
		default:
			return member{}, errorf("Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: %s", rubyClass(key))
		}
	case stringType:
	case enumType:
		if inner = nil; len(k.values) == 1 {
			inner = stringOf(k.values[0])
		}
	default:
		return member{}, errorf("Illegal Struct member key type. Expected NotUndef, Optional, String, or Enum. Got: %s", rubyClass(key))
	}
	if s, ok := inner.(stringType); ok && s.literal {
		return member{s.value, optional, value}, nil
	}
	shown := "undef"
	if t != nil {
		shown = t.String()
	}
	return member{}, errorf("Unable to extract a non-empty literal string from Struct member key type %s", shown)
}

// ofCallable reads parameters, their number, and a block; a result if the parameters
// are in a list of their own. Rule LANG-TYPE-07.
func ofCallable(t callableType, args []data.Value) (Type, error) {
	var result Type
	if len(args) > 0 && args[0].Kind() == data.List {
		if len(args) != 2 {
			return nil, badArity(upperArticle(label(t)), 2, 2, len(args))
		}
		var ok bool
		if result, ok = AsType(args[1]); !ok {
			return nil, cannotUse(t, args[1], "Any-Type")
		}
		args = args[0].List()
	}
	var block Type
	if n := len(args); n > 0 {
		if last, ok := AsType(args[n-1]); ok && isCallable(last, true) {
			block, args = last, args[:n-1]
		}
	}
	args, size, err := trailingSize(args)
	if err != nil {
		return nil, err
	}
	var types []Type
	for _, a := range args {
		t, err := typeOfArgument(a)
		if err != nil {
			return nil, err
		}
		types = append(types, t)
	}
	if len(types) == 0 && size != nil && (size.noTo || size.to > 0) {
		types = []Type{unitType}
	}
	return newCallable(&tupleType{types, size}, block, result), nil
}

// isCallable reports whether a type is one of blocks.
func isCallable(t Type, optional bool) bool {
	switch t := resolve(t).(type) {
	case callableType:
		return true
	case containedType:
		return optional && t.container == optionalOf && t.inner != nil && isCallable(t.inner, optional)
	case variantType:
		for _, x := range t.types {
			if !isCallable(x, optional) {
				return false
			}
		}
		return len(t.types) > 0
	}
	return false
}

// Names of classes and of resource types.
var (
	className    = regexp.MustCompile(`\A(?:::)?[a-z]\w*(?:::[a-z]\w*)*\z`)
	resourceName = regexp.MustCompile(`\A(?:::)?[A-Z]\w*(?:::[A-Z]\w*)*\z`)
)

// several returns a type, or the list of types if several were asked for.
func several(types []data.Value, list bool) data.Value {
	if list {
		return data.OfList(types)
	}
	return types[len(types)-1]
}

// present drops what is undef from flat arguments.
func present(args []data.Value) (out []data.Value, list bool) {
	list = len(args) > 1 || len(args) == 1 && args[0].Kind() == data.List
	for _, a := range flatten(args) {
		if !a.IsNil() {
			out = append(out, a)
		}
	}
	return out, list
}

// nothing is what a reference without titles is.
func nothing(list bool) data.Value {
	if list {
		return data.OfList(nil)
	}
	return data.Value{}
}

// ofResources makes references to resources. Rule LANG-TYPE-08.
func ofResources(t resourceType, args []data.Value) (data.Value, error) {
	if len(args) == 0 {
		return data.Value{}, badArity(t.String(), 1, -1, 0)
	}
	if t.title != nil {
		return data.Value{}, errorf("Resource not found: %s['%s']", FullName(t.name), *t.title)
	}
	name := t.name
	if name == "" {
		if r, ok := AsType(args[0]); ok && len(args) == 1 {
			if _, whole := r.(resourceType); whole {
				return args[0], nil
			}
		}
		var err error
		if name, err = resourceTypeName(args[0]); err != nil {
			return data.Value{}, err
		}
		if args = args[1:]; len(args) == 0 {
			return OfType(resourceType{name: name}), nil
		}
	}
	titles, list := present(args)
	if len(titles) == 0 {
		return nothing(list), nil
	}
	var out []data.Value
	for _, v := range titles {
		title, ok := text(v)
		if !ok {
			return data.Value{}, cannotUse(t, v, "a resource title String")
		}
		out = append(out, OfType(resourceType{name, &title}))
	}
	return several(out, list), nil
}

func resourceTypeName(v data.Value) (string, error) {
	name, ok := text(v)
	if t, isType := AsType(v); isType {
		var r resourceType
		if r, ok = t.(resourceType); ok {
			name = r.name
		}
	}
	if !ok {
		return "", errorf("First argument to Resource[] must be a resource type or a String. Got %s.", kindName(v))
	}
	if name = FullName(name); !resourceName.MatchString(name) {
		return "", errorf("Illegal type reference. The given name '%s' does not conform to the naming rule", name)
	}
	return name, nil
}

// ofClasses makes references to classes.
func ofClasses(t classType, args []data.Value) (data.Value, error) {
	if len(args) == 0 {
		return data.Value{}, badArity(t.String(), 1, -1, 0)
	}
	if t.name != "" {
		return data.Value{}, errorf("Resource not found: Class['%s']", t.name)
	}
	names, list := present(args)
	if len(names) == 0 {
		return nothing(list), nil
	}
	var out []data.Value
	for _, v := range names {
		s, ok := text(v)
		if !ok {
			return data.Value{}, errorf("Illegal Class name in class reference. %s cannot be used where a String is expected", upperArticle(valueLabel(v)))
		}
		name := strings.TrimPrefix(strings.ToLower(s), "::")
		if !className.MatchString(name) {
			return data.Value{}, errorf("Illegal name. The given name '%s' does not conform to the naming rule /^((::)?[a-z_]\\w*)(::[a-z]\\w*)*$/", s)
		}
		out = append(out, OfType(classType{name}))
	}
	return several(out, list), nil
}

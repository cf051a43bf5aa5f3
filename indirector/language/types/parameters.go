package types

import (
	"math"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// Parametrize returns a type with parameters, as Type[…] does: a type, or a list of
// types if several titles of resources or names of classes are given. Errors are in
// Puppet's words. Rule LANG-TYPE-24.
func Parametrize(t Type, args []data.Value) (of data.Value, err error) {
	defer caught(&err)
	switch t := t.(type) {
	case resourceType:
		return ofResources(t, args)
	case classType:
		return ofClasses(t, args)
	}
	out, err := parametrize(t, args)
	if err != nil {
		return data.Value{}, err
	}
	return OfType(out), nil
}

func parametrize(t Type, args []data.Value) (Type, error) {
	switch t := t.(type) {
	case structType:
		return ofStruct(t, args)
	case callableType:
		return ofCallable(t, args)
	case initType:
		if len(args) == 0 {
			return nil, badArity("Init-Type", 1, -1, 0)
		}
		inner, ok := AsType(args[0])
		if !ok {
			return nil, notType("Init", args[0])
		}
		return initType{inner, args[1:]}, nil
	}
	if t, ok := t.(*definedType); ok {
		return t.extend(args)
	}
	args = flatten(args)
	switch t := t.(type) {
	case integerType:
		return ofIntegers(args)
	case floatType:
		return ofFloats(args)
	case stringType:
		return ofString(args)
	case booleanType, enumType, patternType, regexpType, variantType, tupleType, runtimeType, versionType:
		return ofChecked(t, args)
	case timestampType, timespanType:
		return ofTimes(t, args)
	case uriType:
		return ofURI(args)
	case collectionType, arrayType, hashType:
		return ofCollection(t, args)
	case containedType:
		return ofContained(t.container, args)
	case plain:
		switch t {
		case objectType:
			return ofObject(args)
		case typeSetType:
			return ofSet(args)
		}
	case referenceType:
		return nil, errorf("Resource type not found: %s", t.text)
	}
	return nil, errorf("Operator '[]' is not applicable to %s.", withArticle(label(t)))
}

func flatten(l []data.Value) []data.Value {
	var out []data.Value
	for _, v := range l {
		if v.Kind() == data.List {
			out = append(out, flatten(v.List())...)
		} else {
			out = append(out, v)
		}
	}
	return out
}

// label is what messages call a type.
func label(t Type) string {
	if r, ok := t.(resourceType); ok && r.title != nil {
		return t.String() + " Resource-Reference"
	}
	return t.String() + "-Type"
}

func badArity(label string, least, most, got int) error {
	switch {
	case most < 0:
		return errorf("%s[] accepts %d or more arguments. Got %d", label, least, got)
	case most != least:
		return errorf("%s[] accepts %d to %d arguments. Got %d", label, least, most, got)
	case least == 1:
		return errorf("%s[] accepts 1 argument. Got %d", label, got)
	}
	return errorf("%s[] accepts %d arguments. Got %d", label, least, got)
}

func upperArticle(s string) string { return strings.ToUpper(article(s)[:1]) + withArticle(s)[1:] }

// notType reports an argument that should be a type.
func notType(name string, v data.Value) error {
	return errorf("%s-Type[] arguments must be types. Got %s", name, rubyClass(v))
}

// cannotUse reports an argument of the wrong kind.
func cannotUse(t Type, v data.Value, expected string) error {
	return errorf("Error creating type specialization of %s, Cannot use %s where %s is expected", withArticle(label(t)), kindName(v), expected)
}

func kindName(v data.Value) string {
	return Generalized(v).String()
}

// rubyClass returns the name of the class that a value has in Puppet, which messages
// show.
func rubyClass(v data.Value) string {
	switch v.Kind() {
	case data.Nil:
		return "NilClass"
	case data.Bool:
		return map[bool]string{true: "TrueClass", false: "FalseClass"}[v.Bool()]
	case data.Int, data.Big:
		return "Integer"
	case data.Float:
		return "Float"
	case data.String:
		return "String"
	case data.Symbol:
		return "Symbol"
	case data.List:
		return "Array"
	case data.Hash:
		return "Hash"
	}
	switch r := v.Rich().(type) {
	case *regex:
		return "Regexp"
	case typeValue:
		return "Puppet::Pops::Types::P" + simpleName(r.Type) + "Type"
	case timestamp:
		return "Puppet::Pops::Time::Timestamp"
	case timespan:
		return "Puppet::Pops::Time::Timespan"
	case secret:
		return "Puppet::Pops::Types::PSensitiveType::Sensitive"
	case binary:
		return "Puppet::Pops::Types::PBinaryType::Binary"
	case version:
		return "SemanticPuppet::Version"
	case versions:
		return "SemanticPuppet::VersionRange"
	case object:
		return r.t.label()
	}
	if u, ok := v.Rich().(uri); ok {
		scheme, _, _ := strings.Cut(string(u), ":")
		if slices.Contains([]string{"http", "https", "ftp", "file", "ldap", "ldaps", "mailto", "ws", "wss"}, strings.ToLower(scheme)) {
			return "URI::" + map[bool]string{true: "MailTo", false: strings.ToUpper(scheme)}[scheme == "mailto"]
		}
	}
	return "URI::Generic"
}

// valueLabel is what messages call a value.
func valueLabel(v data.Value) string {
	if t, ok := AsType(v); ok {
		return label(t)
	}
	switch v.Rich().(type) {
	case version:
		return "Semver"
	case versions:
		return "SemverRange"
	case secret:
		return "Sensitive"
	case uri:
		return "Object"
	}
	switch v.Kind() {
	case data.Symbol:
		return "Object"
	case data.Bool:
		return "Boolean"
	}
	class := rubyClass(v)
	return class[strings.LastIndexByte(class, ':')+1:]
}

// typeOfArgument returns the type that a parameter means: a text is the name of a Ruby
// class, and another value stands for its type.
func typeOfArgument(v data.Value) (Type, error) {
	if t, ok := AsType(v); ok {
		return t, nil
	}
	if s, ok := text(v); ok {
		if s == "" {
			return nil, errorf("Runtime 'name_or_pattern' has wrong type, expects a value of type String[1] or Tuple[Regexp, String[1]], got String")
		}
		return runtimeType{"ruby", s}, nil
	}
	return Generalized(v), nil
}

func isBound(v data.Value) bool { return v.Kind() == data.Int || isDefault(v) }

// intervalOf returns a range from one or two bounds.
func intervalOf(args ...data.Value) (*interval, error) {
	out := unlimited
	if !isDefault(args[0]) {
		out.from, out.noFrom = args[0].Int(), false
	}
	if len(args) > 1 && !isDefault(args[1]) {
		out.to, out.noTo = args[1].Int(), false
	}
	if out.isFinite() && out.from > out.to {
		return nil, errorf("'from' must be less or equal to 'to'. Got (%d, %d", out.from, out.to)
	}
	return &out, nil
}

func ofIntegers(args []data.Value) (Type, error) {
	if len(args) < 1 || len(args) > 2 {
		return nil, errorf("Integer-Type supports [] with one or two arguments (from, to). Got %d", len(args))
	}
	for _, a := range args {
		if !isBound(a) {
			return nil, errorf("Integer-Type [] requires all arguments to be integers (or default). Got %s", rubyClass(a))
		}
	}
	r, err := intervalOf(args...)
	if err != nil {
		return nil, err
	}
	return integerType{interval: *r}, nil
}

func ofFloats(args []data.Value) (Type, error) {
	if len(args) < 1 || len(args) > 2 {
		return nil, errorf("Float-Type supports [] with one or two arguments (from, to). Got %d", len(args))
	}
	ends := [2]float64{math.Inf(-1), math.Inf(1)}
	for i, a := range args {
		switch {
		case a.Kind() == data.Int:
			ends[i] = float64(a.Int())
		case a.Kind() == data.Float:
			ends[i] = a.Float()
		case !isDefault(a):
			return nil, errorf("Float-Type [] requires all arguments to be floats, or integers (or default). Got %s", rubyClass(a))
		}
	}
	if ends[0] > ends[1] {
		return nil, errorf("'from' must be less or equal to 'to'. Got (%s, %s", data.FormatFloat(ends[0]), data.FormatFloat(ends[1]))
	}
	return floatType{ends[0], ends[1]}, nil
}

// sizeFrom returns a size from a type of integers, or one or two bounds.
func sizeFrom(args ...data.Value) (*interval, error) {
	if len(args) == 1 {
		if t, ok := AsType(args[0]); ok {
			if i, ok := t.(integerType); ok {
				return &i.interval, nil
			}
		}
	}
	for _, a := range args {
		if !isBound(a) {
			class := rubyClass(a)
			if t, ok := AsType(a); ok {
				class = simpleName(t) + "-Type"
			}
			return nil, errorf("A Type's size constraint arguments must be a single Integer type, or 1-2 integers (or default). Got %s", withArticle(class))
		}
	}
	return intervalOf(args...)
}

func ofString(args []data.Value) (Type, error) {
	if len(args) < 1 || len(args) > 2 {
		return nil, errorf("String supports [] with one or two arguments. Got %d", len(args))
	}
	size, err := sizeFrom(args...)
	if err != nil {
		return nil, err
	}
	return stringType{size: size.toSize()}, nil
}

// checks are what the arguments of a type may be, and how many, by the name of the
// type.
var checks = map[string]struct {
	most     int // -1 is any number
	expected string
	fits     func(data.Value) bool
}{
	"Boolean": {1, "TrueClass or FalseClass", func(v data.Value) bool { return v.Kind() == data.Bool }},
	"Enum":    {-1, "String", isText},
	"Regexp":  {1, "String or Regexp", isPatternText},
	"Pattern": {-1, "String or Regexp or Pattern-Type or Regexp-Type", func(v data.Value) bool {
		t, _ := AsType(v)
		switch t.(type) {
		case patternType, regexpType:
			return true
		}
		return isPatternText(v)
	}},
	"Variant": {-1, "Any-Type", isTypeValue},
	"Tuple":   {-1, "Any-Type", isTypeValue},
	"Runtime": {2, "String or String", isText},
	"SemVer":  {-1, "String or SemanticPuppet::VersionRange", func(v data.Value) bool { _, ok := v.Rich().(versions); return ok || isText(v) }},
}

func isText(v data.Value) bool { return v.Kind() == data.String }

func isTypeValue(v data.Value) bool { _, ok := AsType(v); return ok }

func isPatternText(v data.Value) bool {
	_, ok := v.Rich().(*regex)
	return ok || isText(v)
}

// ofChecked makes the types whose arguments are all of one kind.
func ofChecked(t Type, args []data.Value) (Type, error) {
	fold := false
	var size *interval
	var err error
	switch t.(type) {
	case enumType:
		if n := len(args); n > 0 && args[n-1].Kind() == data.Bool {
			fold, args = args[n-1].Bool(), args[:n-1]
		}
	case tupleType:
		if args, size, err = trailingSize(args); err != nil {
			return nil, err
		}
	}
	name := simpleName(t)
	check := checks[name]
	if least := max(check.most, 1); len(args) < least || check.most > 0 && len(args) > check.most {
		return nil, badArity(upperArticle(label(t)), 1, check.most, len(args))
	}
	for _, a := range args {
		if !check.fits(a) {
			return nil, cannotUse(t, a, check.expected)
		}
	}
	switch t.(type) {
	case booleanType:
		b := args[0].Bool()
		return booleanType{&b}, nil
	case enumType:
		return newEnum(texts(args), fold), nil
	case regexpType:
		r, err := regexOf(args[0])
		return regexpType{r}, err
	case patternType:
		return ofPatterns(args)
	case variantType:
		return newVariant(typesOf(args)), nil
	case tupleType:
		return tupleType{typesOf(args), size.toSize()}, nil
	case runtimeType:
		return runtimeType{args[0].Str(), args[1].Str()}, nil
	}
	return ofVersions(args)
}

func texts(args []data.Value) []string {
	out := make([]string, len(args))
	for i, a := range args {
		out[i] = a.Str()
	}
	return out
}

func typesOf(args []data.Value) []Type {
	out := make([]Type, len(args))
	for i, a := range args {
		out[i], _ = AsType(a)
	}
	return out
}

func regexOf(v data.Value) (*regex, error) {
	if r, ok := v.Rich().(*regex); ok {
		return r, nil
	}
	return newRegex(v.Str())
}

func ofPatterns(args []data.Value) (Type, error) {
	var out patternType
	for _, a := range args {
		switch t, _ := AsType(a); t := t.(type) {
		case patternType:
			out.patterns = append(out.patterns, t.patterns...)
		case regexpType:
			if t.pattern == nil {
				t.pattern, _ = newRegex("")
			}
			out.patterns = append(out.patterns, t.pattern)
		default:
			r, err := regexOf(a)
			if err != nil {
				return nil, err
			}
			out.patterns = append(out.patterns, r)
		}
	}
	return out, nil
}

// trailingSize takes one or two bounds from the end of arguments.
func trailingSize(args []data.Value) ([]data.Value, *interval, error) {
	n := len(args)
	bounds := 0
	for bounds < 2 && bounds < n && isBound(args[n-1-bounds]) {
		bounds++
	}
	if bounds == 0 {
		return args, nil, nil
	}
	size, err := intervalOf(args[n-bounds:]...)
	return args[:n-bounds], size.toSize(), err
}

func ofContained(c container, args []data.Value) (Type, error) {
	if len(args) == 0 && c == notUndefOf {
		return newNotUndef(nil), nil
	}
	if len(args) != 1 {
		least := 1
		if c == notUndefOf {
			least = 0
		}
		return nil, badArity(string(c)+"-Type", least, 1, len(args))
	}
	v := args[0]
	inner, ok := AsType(v)
	switch {
	case !ok && isText(v) && (c == optionalOf || c == notUndefOf):
		inner = stringOf(v.Str())
	case !ok && c == notUndefOf:
		return nil, errorf("NotUndef-Type[] argument must be a Type or a String. Got %s", rubyClass(v))
	case !ok:
		return nil, notType(string(c), v)
	}
	switch c {
	case sensitiveOf:
		return newSensitive(inner), nil
	case notUndefOf:
		return newNotUndef(inner), nil
	}
	return containedType{c, inner}, nil
}

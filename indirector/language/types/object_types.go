package types

import (
	"slices"
	"strings"
	"sync"

	"indirtui/indirector/data"
)

// A definedType is an Object type with a definition. It has a parent at most, whose
// features are its own, too. Rules LANG-TYPE-10, LANG-TYPE-26.
type definedType struct {
	name        string // "" if it has none
	definition  data.Value
	parent      Type // an Object type, or another; nil if there is none
	parameters  []*feature
	attributes  []*feature
	functions   []*feature
	equality    []string
	hasEquality bool // equality is given; else all attributes but constants are compared
	includeType bool // instances of other types are never equal

	once     sync.Once
	identity string // see exactly
}

// featureKind is the name of a kind of features in messages.
type featureKind string

const (
	attributeKind featureKind = "attribute"
	functionKind  featureKind = "function"
	parameterKind featureKind = "type_parameter"
)

// A feature is an attribute, a function or a type parameter of an Object type.
type feature struct {
	kind            featureKind
	owner           *definedType
	name            string
	t               Type
	role            string // of an attribute: constant, derived, given_or_derived, reference, or ""
	value           data.Value
	hasValue        bool
	final, override bool
}

func (f *feature) label() string {
	return string(f.kind) + " " + f.owner.label() + "[" + f.name + "]"
}

func (f *feature) isConstant() bool { return f.role == constantRole }

const constantRole = "constant"

func (t *definedType) label() string {
	if t.name == "" {
		return string(objectType)
	}
	return t.name
}

// Definitions are instances of these, which are read when the first is checked.
const (
	typeNamePattern   = `Pattern[/\A[A-Z][\w]*(?:::[A-Z][\w]*)*\z/]`
	simpleNamePattern = `Pattern[/\A[A-Z]\w*\z/]`
	memberNamePattern = `Pattern[/\A[a-z_]\w*\z/]`
	annotationsText   = `Optional[Hash[Type, Hash[` + memberNamePattern + `, Any]]]`
)

var definitions onceTypes

// onceTypes are types that are read from texts when one is asked for first: to read a text
// may need them, so that they cannot be initialised with the package.
type onceTypes struct {
	sync.Once
	all map[string]Type
}

func (o *onceTypes) get(name string, read func() map[string]Type) Type {
	o.Do(func() { o.all = read() })
	return o.all[name]
}

func readDefinitions() map[string]Type {
	out := map[string]Type{}
	for name, text := range map[string]string{
		"object": `Struct[{Optional[name] => ` + typeNamePattern + `, Optional[parent] => Type, Optional[type_parameters] => Hash[` + memberNamePattern + `, NotUndef], ` +
			`Optional[attributes] => Hash[` + memberNamePattern + `, NotUndef], Optional[constants] => Hash[` + memberNamePattern + `, Any], ` +
			`Optional[functions] => Hash[Variant[` + memberNamePattern + `, Enum['[]']], NotUndef], ` +
			`Optional[equality] => Variant[` + memberNamePattern + `, Array[` + memberNamePattern + `]], Optional[equality_include_type] => Boolean, ` +
			`Optional[checks] => Any, Optional[annotations] => ` + annotationsText + `}]`,
		"attribute": `Struct[{type => Type, Optional[final] => Boolean, Optional[override] => Boolean, ` +
			`Optional[kind] => Enum[constant, derived, given_or_derived, reference], value => Any, Optional[annotations] => ` + annotationsText + `}]`,
		"function": `Struct[{type => Type[Callable], Optional[final] => Boolean, Optional[override] => Boolean, Optional[annotations] => ` + annotationsText + `}]`,
		"set": `Struct[{Optional[pcore_uri] => String[1], pcore_version => Variant[String[1], SemVer], Optional[name_authority] => String[1], ` +
			`Optional[name] => ` + typeNamePattern + `, Optional[version] => Variant[String[1], SemVer], ` +
			`Optional[types] => Hash[` + simpleNamePattern + `, Variant[Type, Hash], 1], ` +
			`Optional[references] => Hash[` + simpleNamePattern + `, Struct[{name => ` + typeNamePattern + `, version_range => Variant[String[1], SemVerRange], ` +
			`Optional[name_authority] => String[1], Optional[annotations] => ` + annotationsText + `}], 1], Optional[annotations] => ` + annotationsText + `}]`,
		"type": "Type", "callable": "Type[Callable]",
	} {
		t, err := Parse(text, nil)
		if err != nil {
			panic("types: " + text + ": " + err.Error())
		}
		out[name] = t
	}
	return out
}

// assertDefinition returns Puppet's error if a part of a definition is not what it must be.
func assertDefinition(subject, name string, v data.Value) error {
	t := definitions.get(name, readDefinitions)
	if isInstance(t, v) {
		return nil
	}
	return errorf("%s", Mismatch(subject+" has wrong type,", t, v))
}

// defineObject returns the Object type of a definition. A name that is given counts more than
// that of the definition.
func defineObject(name string, definition data.Value) (*definedType, error) {
	if err := assertDefinition("object initializer", "object", definition); err != nil {
		return nil, err
	}
	t := &definedType{name: name, definition: definition, includeType: true}
	if name == "" {
		t.name = definition.Get("name").Str()
	}
	if v, ok := definition.Lookup("equality_include_type"); ok {
		t.includeType = v.Bool()
	}
	parent, ok := AsType(definition.Get("parent"))
	if ok {
		t.parent = parent
	}
	if r, ok := resolve(orAny(t.parent)).(referenceType); ok {
		return nil, errorf("reference to unresolved type '%s'", r.text)
	}
	for _, define := range []func() error{t.defineParameters, t.defineAttributes, t.defineFunctions, t.defineEquality} {
		if err := define(); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// above returns the parent, if it is an Object type with a definition.
func (t *definedType) above() *definedType {
	if t.parent == nil {
		return nil
	}
	parent, _ := resolve(t.parent).(*definedType)
	return parent
}

// all returns the features of one kind, those of the parents first. What overrides a feature
// has its place.
func (t *definedType) all(kind featureKind) []*feature {
	var out []*feature
	if parent := t.above(); parent != nil {
		out = parent.all(kind)
	}
	own := map[featureKind][]*feature{attributeKind: t.attributes, functionKind: t.functions, parameterKind: t.parameters}[kind]
	for _, f := range own {
		if i := slices.IndexFunc(out, func(o *feature) bool { return o.name == f.name }); i >= 0 {
			out[i] = f
		} else {
			out = append(out, f)
		}
	}
	return out
}

func named(features []*feature, name string) *feature {
	if i := slices.IndexFunc(features, func(f *feature) bool { return f.name == name }); i >= 0 {
		return features[i]
	}
	return nil
}

// inherited returns an attribute or function of the parents.
func (t *definedType) inherited(name string) *feature {
	parent := t.above()
	if parent == nil {
		return nil
	}
	if f := named(parent.all(attributeKind), name); f != nil {
		return f
	}
	return named(parent.all(functionKind), name)
}

func (t *definedType) defineParameters() error {
	for _, p := range t.definition.Get("type_parameters").Hash() {
		f := &feature{kind: parameterKind, owner: t, name: p.Key.Str()}
		spec := p.Value
		if spec.Kind() == data.Hash {
			f.value, f.hasValue = spec.Lookup("value")
			spec = spec.Get("type")
		}
		if err := assertDefinition(f.label(), "type", spec); err != nil {
			return err
		}
		f.t, _ = AsType(spec)
		if _, ok := isContained(f.t, optionalOf); !ok {
			f.t = containedType{optionalOf, f.t}
		}
		var over *feature
		if parent := t.above(); parent != nil {
			over = named(parent.all(parameterKind), f.name)
		}
		if err := f.checkOverride(over); err != nil {
			return err
		}
		t.parameters = append(t.parameters, f)
	}
	return nil
}

func (t *definedType) defineAttributes() error {
	specs := t.definition.Get("attributes")
	for _, p := range t.definition.Get("constants").Hash() {
		if _, ok := specs.Lookup(p.Key.Str()); ok {
			return errorf("attribute %s[%s] is defined as both a constant and an attribute", t.label(), p.Key.Str())
		}
	}
	for _, p := range specs.Hash() {
		if err := t.defineAttribute(p.Key.Str(), p.Value); err != nil {
			return err
		}
	}
	for _, p := range t.definition.Get("constants").Hash() {
		name := p.Key.Str()
		spec := []data.Pair{data.P("type", OfType(Generalized(p.Value))), data.P("value", p.Value), data.P("kind", data.OfString(constantRole))}
		if t.inherited(name) != nil {
			spec = append(spec, data.P("override", data.OfBool(true)))
		}
		if err := t.defineAttribute(name, data.OfHash(spec)); err != nil {
			return err
		}
	}
	return nil
}

func (t *definedType) defineAttribute(name string, spec data.Value) error {
	f := &feature{kind: attributeKind, owner: t, name: name}
	if spec.Kind() != data.Hash {
		if err := assertDefinition(f.label(), "type", spec); err != nil {
			return err
		}
		inner, _ := AsType(spec)
		h := []data.Pair{data.P("type", spec)}
		if _, ok := isContained(inner, optionalOf); ok {
			h = append(h, data.P("value", data.Value{}))
		}
		spec = data.OfHash(h)
	}
	if err := f.read(spec, "attribute"); err != nil {
		return err
	}
	if name == richName || name == richValue {
		return errorf("The attribute '%s' is reserved and cannot be used", name)
	}
	f.role = spec.Get("kind").Str()
	f.value, f.hasValue = spec.Lookup("value")
	final, isGiven := spec.Lookup("final")
	switch {
	case f.isConstant() && isGiven && !final.Bool():
		return errorf("%s of kind 'constant' cannot be combined with final => false", f.label())
	case f.isConstant() && !f.hasValue:
		return errorf("%s of kind 'constant' requires a value", f.label())
	case f.hasValue && (f.role == "derived" || f.role == "given_or_derived"):
		return errorf("%s of kind '%s' cannot be combined with an attribute value", f.label(), f.role)
	case f.hasValue && !isDefault(f.value) && !isInstance(f.t, f.value):
		return errorf("%s", Mismatch(f.label()+" value has wrong type,", f.t, f.value))
	}
	f.final = f.final || f.isConstant()
	t.attributes = append(t.attributes, f)
	return f.checkOverride(t.inherited(name))
}

// read takes what attributes and functions have in common.
func (f *feature) read(spec data.Value, as string) error {
	if err := assertDefinition("initializer for "+f.label(), as, spec); err != nil {
		return err
	}
	f.t, _ = AsType(spec.Get("type"))
	f.final, f.override = spec.Get("final").Bool(), spec.Get("override").Bool()
	return nil
}

func (t *definedType) defineFunctions() error {
	for _, p := range t.definition.Get("functions").Hash() {
		f := &feature{kind: functionKind, owner: t, name: p.Key.Str()}
		spec := p.Value
		if spec.Kind() != data.Hash {
			if err := assertDefinition(f.label(), "callable", spec); err != nil {
				return err
			}
			spec = data.OfHash([]data.Pair{data.P("type", spec)})
		}
		if err := f.read(spec, "function"); err != nil {
			return err
		}
		if named(t.attributes, f.name) != nil {
			return errorf("%s conflicts with attribute with the same name", f.label())
		}
		t.functions = append(t.functions, f)
		if err := f.checkOverride(t.inherited(f.name)); err != nil {
			return err
		}
	}
	return nil
}

// checkOverride reports a feature that may not take the place of that of a parent, which is
// nil if there is none.
func (f *feature) checkOverride(over *feature) error {
	problem := ""
	switch {
	case over == nil && f.override:
		return errorf("expected %s to override an inherited %s, but no such %s was found", f.label(), f.kind, f.kind)
	case over == nil:
		return nil
	case over.kind != f.kind:
	case over.final && !(over.isConstant() && f.isConstant()):
		return errorf("%s attempts to override final %s", f.label(), over.label())
	case !f.override:
		problem = " without having override => true"
	case !assignable(over.t, f.t):
		problem = " with a type that does not match"
	default:
		return nil
	}
	return errorf("%s attempts to override %s%s", f.label(), over.label(), problem)
}

func (t *definedType) defineEquality() error {
	given := t.definition.Get("equality")
	switch given.Kind() {
	case data.String:
		t.equality, t.hasEquality = []string{given.Str()}, true
	case data.List:
		t.equality, t.hasEquality = texts(given.List()), true
	}
	if len(t.equality) > 0 && !t.includeType {
		return errorf("equality_include_type = false cannot be combined with non empty equality specification")
	}
	for _, name := range t.equality {
		f := t.inherited(name)
		if f != nil && f.kind == attributeKind && slices.Contains(t.above().compared(), name) {
			return errorf("%s equality is referencing %s which is included in equality of %s", t.label(), f.label(), t.above().comparerOf(name).label())
		}
		if f == nil {
			if f = named(t.attributes, name); f == nil {
				f = named(t.functions, name)
			}
		}
		switch {
		case f == nil:
			return errorf("%s equality is referencing non existent attribute '%s'", t.label(), name)
		case f.kind != attributeKind:
			return errorf("%s equality is referencing %s. Only attribute references are allowed", t.label(), f.label())
		case f.isConstant():
			return errorf("%s equality is referencing constant %s. Reference to constant is not allowed in equality", t.label(), f.label())
		}
	}
	return nil
}

// compared returns the names of the attributes in which equal instances agree.
func (t *definedType) compared() []string {
	var out []string
	if parent := t.above(); parent != nil {
		out = parent.compared()
	}
	if t.hasEquality {
		return append(out, t.equality...)
	}
	for _, f := range t.attributes {
		if !f.isConstant() {
			out = append(out, f.name)
		}
	}
	return out
}

// comparerOf returns the first of the parents that compares an attribute.
func (t *definedType) comparerOf(name string) *definedType {
	for {
		parent := t.above()
		if parent == nil || !slices.Contains(parent.compared(), name) {
			return t
		}
		t = parent
	}
}

// accepts reports whether o is t or has it among its parents.
func (t *definedType) accepts(o Type) bool {
	for {
		switch x := resolve(o).(type) {
		case *definedType:
			if x == t || equal(t, x) {
				return true
			}
			if x.parent == nil {
				return false
			}
			o = x.parent
		case extendedType:
			o = x.base
		default:
			return false
		}
	}
}

// knownObjects are Object types that the language has itself.
var knownObjects onceTypes

func readObjects() map[string]Type {
	out := map[string]Type{}
	parameter := "Optional[Variant[String, Regexp, Type[Enum], Type[Pattern], Type[NotUndef], Type[Undef]]]"
	for name, text := range map[string]string{
		"Error": "type_parameters => {kind => " + parameter + ", issue_code => " + parameter + "}, " +
			"attributes => {msg => String[1], kind => Optional[String[1]], details => Optional[Hash[String[1], Data]], issue_code => Optional[String[1]]}, " +
			"functions => {message => Callable[[], String[1]]}",
		"Deferred": `attributes => {name => Pattern[/\A[$]?[a-z][a-z0-9_]*(?:::[a-z][a-z0-9_]*)*\z/], arguments => Optional[Array]}`,
	} {
		t, err := Parse("Object[{name => '"+name+"', "+text+"}]", nil)
		if err != nil {
			panic("types: " + text + ": " + err.Error())
		}
		out[strings.ToLower(name)] = t
	}
	return out
}

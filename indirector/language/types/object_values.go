package types

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/rich"
)

// An object is an instance of an Object type, with a value for each attribute that is no
// constant and not derived.
type object struct {
	t      *definedType
	values []data.Value // of t.given(), in their order
}

// given returns the attributes that instances are made of: those that have no value of their
// own first, as arguments are given.
func (t *definedType) given() []*feature {
	var required, optional []*feature
	for _, f := range t.all(attributeKind) {
		switch {
		case f.isConstant() || f.role == "derived":
		case f.hasValue:
			optional = append(optional, f)
		default:
			required = append(required, f)
		}
	}
	return append(required, optional...)
}

// get returns the value of an attribute.
func (o object) get(name string) (data.Value, bool) {
	for i, f := range o.t.given() {
		if f.name == name {
			return o.values[i], true
		}
	}
	if f := named(o.t.all(attributeKind), name); f != nil && f.hasValue {
		return f.value, true
	}
	return data.Value{}, false
}

// Attributes returns the attributes of an object, those that only refer to values if asked for;
// nil if the value is none.
func Attributes(v data.Value, references bool) []data.Pair {
	o, ok := v.Rich().(object)
	if !ok {
		return nil
	}
	var out []data.Pair
	for _, f := range o.t.all(attributeKind) {
		if x, ok := o.get(f.name); ok && (references || f.role != "reference") {
			out = append(out, data.P(f.name, x))
		}
	}
	return out
}

// OfError returns an instance of the type Error. As in Puppet, its details may be what a
// program could not give it.
func OfError(message, kind, code string, details data.Value) data.Value {
	e := knownObjects.get("error", readObjects).(*definedType)
	values := map[string]data.Value{"msg": data.OfString(message), "kind": data.OfString(kind), "issue_code": data.OfString(code), "details": details}
	o := object{t: e}
	for _, f := range e.given() {
		o.values = append(o.values, values[f.name])
	}
	return data.OfRich(o)
}

// String returns what would make the object again, without what it has anyhow.
func (o object) String() string {
	var b strings.Builder
	b.WriteString(o.t.label() + "({")
	given := o.t.given()
	for _, f := range o.t.all(attributeKind) {
		i := slices.Index(given, f)
		if i < 0 || f.hasValue && data.Equal(f.value, o.values[i]) {
			continue
		}
		if b.Len() > len(o.t.label())+2 {
			b.WriteString(", ")
		}
		b.WriteString(rich.Quote(f.name) + " => " + string(appendProgram(nil, o.values[i])))
	}
	return b.String() + "})"
}

// toData returns the notation of an object: the attributes that have not their own values.
func (o object) toData() (plain data.Value, hasSecret bool) {
	h := []data.Pair{data.P(richName, data.OfString(o.t.label()))}
	given := o.t.given()
	for _, f := range o.t.all(attributeKind) {
		i := slices.Index(given, f)
		if i < 0 || f.hasValue && data.Equal(f.value, o.values[i]) {
			continue
		}
		v, secret := ToData(o.values[i])
		h, hasSecret = append(h, data.P(f.name, v)), hasSecret || secret
	}
	return data.OfHash(h), hasSecret
}

// EqualRich compares the attributes that the type names for that.
func (o object) EqualRich(v data.RichValue) bool {
	x, ok := v.(object)
	if !ok || o.t.comparesType() && !equal(o.t, x.t) {
		return false
	}
	for _, name := range o.t.compared() {
		a, _ := o.get(name)
		b, ok := x.get(name)
		if !ok || !data.Equal(a, b) {
			return false
		}
	}
	return true
}

// comparesType reports whether instances of other types are different for t or a parent.
func (t *definedType) comparesType() bool {
	return t.includeType || t.above() != nil && t.above().comparesType()
}

// ObjectType implements Object. The type has the values of its type parameters.
func (o object) ObjectType() Type {
	parameters := o.t.all(parameterKind)
	if len(parameters) == 0 {
		return o.t
	}
	out := extendedType{base: o.t}
	for _, p := range parameters {
		v, _ := o.get(p.name)
		out.values = append(out.values, data.P(p.name, v))
	}
	return out
}

// mayMiss reports whether an instance can be made without a value for f.
func (f *feature) mayMiss() bool { return f.hasValue || assignable(f.t, undefType) }

// constructor makes instances from a hash, or from arguments in the order of given.
func (t *definedType) constructor() *constructor {
	given := t.given()
	arguments := signature{}
	var members structType
	for _, f := range t.all(attributeKind) {
		if slices.Contains(given, f) {
			members.members = append(members.members, member{f.name, f.mayMiss(), f.t})
		}
	}
	for _, f := range given {
		arguments.names, arguments.types = append(arguments.names, f.name), append(arguments.types, f.t)
		if !f.mayMiss() {
			arguments.required++
		}
	}
	c := &constructor{name: "new_" + t.label(), ways: []way{
		{signature: signature{[]string{"hash"}, []Type{members}, 1}, make: func(args []data.Value) (data.Value, error) {
			values := make([]data.Value, len(given))
			for i, f := range given {
				var ok bool
				if values[i], ok = args[0].Lookup(f.name); !ok {
					values[i] = f.value
				}
			}
			return data.OfRich(object{t, values}), nil
		}},
		{signature: arguments, make: func(args []data.Value) (data.Value, error) {
			values := slices.Clone(args)
			for _, f := range given[len(args):] {
				if !f.hasValue { // in the words of Ruby
					return data.Value{}, errorf("wrong number of arguments (given %d, expected %d)", len(args), len(given))
				}
				values = append(values, f.value)
			}
			return data.OfRich(object{t, values}), nil
		}},
	}}
	c.compiled.Do(func() {}) // it was made of types
	return c
}

// An extendedType is an Object type with values for its type parameters, which instances must
// match. Rule LANG-TYPE-26.
type extendedType struct {
	base   *definedType
	values []data.Pair
}

// extend returns an Object type with type parameters, by their order or by their names.
func (t *definedType) extend(args []data.Value) (Type, error) {
	parameters := t.all(parameterKind)
	if len(parameters) == 0 {
		return nil, errorf("The %s-Type cannot be parameterized using []", t.label())
	}
	out := extendedType{base: t}
	given := map[string]data.Value{}
	if len(args) == 1 && args[0].Kind() == data.Hash && !isInstance(parameters[0].t, args[0]) {
		for _, p := range args[0].Hash() {
			if named(parameters, p.Key.Text()) == nil {
				return nil, errorf("'%s' is not a known type parameter for %s-Type", p.Key.Text(), t.label())
			}
			given[p.Key.Text()] = p.Value
		}
	} else {
		for i, p := range parameters[:min(len(parameters), len(args))] {
			given[p.name] = args[i]
		}
	}
	for _, p := range parameters {
		v, ok := given[p.name]
		if !ok || isDefault(v) {
			continue
		}
		if !isInstance(p.t, v) {
			return nil, errorf("%s", Mismatch(p.label()+" has wrong type,", p.t, v))
		}
		out.values = append(out.values, data.P(p.name, v))
	}
	if len(out.values) == 0 {
		return nil, errorf("The %s-Type cannot be parameterized using an empty parameter list", t.label())
	}
	return out, nil
}

// accepts compares with the values of another extension; a type without has none.
func (t extendedType) accepts(o Type) bool {
	if !t.base.accepts(o) {
		return false
	}
	x, _ := resolve(o).(extendedType)
	return t.fits(func(name string) (data.Value, bool) { return data.OfHash(x.values).Lookup(name) })
}

func (t extendedType) has(v data.Value) bool {
	o, ok := v.Rich().(object)
	return ok && t.base.accepts(o.t) && t.fits(o.get)
}

// fits reports whether the values of parameters match.
func (t extendedType) fits(get func(name string) (data.Value, bool)) bool {
	return !slices.ContainsFunc(t.values, func(p data.Pair) bool {
		v, ok := get(p.Key.Str())
		return !ok || !matchesParameter(v, p.Value)
	})
}

// matchesParameter compares as the options of a case do. Rule LANG-EV-04.
func matchesParameter(v, want data.Value) bool {
	if t, ok := AsType(want); ok {
		if x, ok := AsType(v); ok && assignable(t, x) {
			return true
		}
		return isInstance(t, v)
	}
	s, isText := text(v)
	if r, ok := want.Rich().(*regex); ok {
		return isText && r.match(s) || data.Equal(v, want)
	}
	if w, ok := text(want); ok && isText {
		return foldsTo(w, s)
	}
	return data.Equal(v, want)
}

func (t extendedType) print(p *printer) {
	p.with(t.base.label(), func() {
		parameters := t.base.all(parameterKind)
		if len(parameters) > 2 {
			p.b = appendProgram(p.b, data.OfHash(t.values))
			return
		}
		from, skipped := len(p.b), 0
		for _, x := range parameters {
			v, ok := data.OfHash(t.values).Lookup(x.name)
			if !ok {
				skipped++
				continue
			}
			for ; skipped > 0; skipped-- {
				p.next(from)
				p.b = append(p.b, "default"...)
			}
			p.next(from)
			p.b = appendProgram(p.b, v)
		}
	})
}

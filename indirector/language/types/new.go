package types

import (
	"slices"
	"strings"
	"sync"

	"indirtui/indirector/data"
)

// New returns the instance of a type that is made of arguments, as Type.new(…) does.
// Errors are in Puppet's words. Rules LANG-NEW-01 to LANG-NEW-03.
func New(t Type, args []data.Value) (made data.Value, err error) {
	defer caught(&err)
	_, isInit := t.(initType)
	if len(args) == 1 && !isInit && isInstance(t, args[0]) {
		return args[0], nil
	}
	v, err := create(t, args)
	if err != nil {
		return data.Value{}, err
	}
	if !isInstance(t, v) {
		return data.Value{}, errorf("%s", Mismatch("Converted value from "+t.String()+".new() has wrong type,", t, v))
	}
	return v, nil
}

// create asks the constructor of the kind of t.
func create(t Type, args []data.Value) (data.Value, error) {
	switch x := t.(type) {
	case *aliasType:
		return create(x.resolved, args)
	case initType:
		if x.inner != nil {
			return createInit(x, args)
		}
	case containedType:
		if x.container == optionalOf && x.inner != nil || x.container == notUndefOf && x.inner != nil {
			return create(x.inner, args)
		}
	}
	c := constructorOf(t)
	if c == nil {
		return data.Value{}, errorf("Creation of new instance of type '%s' is not supported", t)
	}
	return c.call(args)
}

// A constructor makes instances. It is the first way that takes the arguments; if
// there is none, the first refusal that takes them has the message.
type constructor struct {
	name     string // in messages
	aliases  string // types with names, one a line, for the parameters
	ways     []way
	refusals []refusal
	compiled sync.Once
}

type way struct {
	params string // see newSignature
	make   func(args []data.Value) (data.Value, error)
	signature
}

// A refusal returns a message about arguments, or an error that has a subject of its
// own.
type refusal struct {
	params string
	why    func(args []data.Value) (string, error)
	signature
}

// compile reads the parameters when they are needed first.
func (c *constructor) compile() {
	c.compiled.Do(func() {
		local := map[string]Type{}
		lookup := func(name string) Type { return local[name] }
		for line := range strings.SplitSeq(c.aliases, "\n") {
			name, text, ok := strings.Cut(line, " = ")
			if !ok {
				continue
			}
			t, err := NewAlias(name, func(Type) (Type, error) { return Parse(text, lookup) })
			if err != nil {
				panic("types: " + line + ": " + err.Error())
			}
			local[strings.ToLower(name)] = t
		}
		for i := range c.ways {
			c.ways[i].signature = newSignature(c.ways[i].params, lookup)
		}
		for i := range c.refusals {
			c.refusals[i].signature = newSignature(c.refusals[i].params, lookup)
		}
	})
}

func (c *constructor) call(args []data.Value) (data.Value, error) {
	c.compile()
	var signatures []signature
	for _, w := range c.ways {
		if w.takes(args) {
			return w.make(args)
		}
		signatures = append(signatures, w.signature)
	}
	for _, r := range c.refusals {
		if r.takes(args) {
			why, err := r.why(args)
			if err == nil {
				err = errorf("'%s' %s", c.name, why)
			}
			return data.Value{}, err
		}
	}
	return data.Value{}, errorf("%s", rejection(c.name, signatures, args))
}

// constructorOf returns the constructor of a kind of types, or nil.
func constructorOf(t Type) *constructor {
	switch t := t.(type) {
	case *definedType:
		return t.constructor()
	case extendedType:
		return t.base.constructor()
	}
	switch kind := simpleName(t); kind {
	case "Tuple":
		return constructors()["Array"]
	case "Struct":
		return constructors()["Hash"]
	case "NotUndef":
		return constructors()["Unit"]
	default:
		return constructors()[kind]
	}
}

// known are the constructors, which are made when one is asked for first: they need
// types, and types need them.
var known struct {
	sync.Once
	all map[string]*constructor
}

func constructors() map[string]*constructor {
	known.Do(func() { known.all = allConstructors() })
	return known.all
}

func allConstructors() map[string]*constructor {
	return map[string]*constructor{
		"Integer": integerConstructor(), "Float": floatConstructor(), "Numeric": numericConstructor(), "Boolean": booleanConstructor(),
		"String": stringConstructor(), "Array": arrayConstructor(), "Hash": hashConstructor(), "Regexp": regexpConstructor(),
		"Sensitive": sensitiveConstructor(), "Type": typeConstructor(), "Unit": unitConstructor(),
		"Timestamp": timestampConstructor(), "Timespan": timespanConstructor(), "SemVer": versionConstructor(),
		"SemVerRange": rangeConstructor(), "Binary": binaryConstructor(), "URI": uriConstructor(),
	}
}

// cannotConvert is the message about a value that no way takes.
func cannotConvert(to string) func(args []data.Value) (string, error) {
	return func(args []data.Value) (string, error) {
		if s, ok := text(args[0]); ok {
			return "The string '" + s + "' cannot be converted to " + to, nil
		}
		return "Value of type " + Generalized(args[0]).String() + " cannot be converted to " + to, nil
	}
}

// singles returns the types of what an Init makes an instance of when it is the only
// argument, and the types of lists of arguments.
func (t initType) singles() (single []Type, lists []tupleType, err error) {
	inner, ok := t.inner.(containedType)
	_, nested := t.inner.(initType)
	c := constructorOf(resolve(t.inner))
	if nested || ok && (inner.container == optionalOf || inner.container == notUndefOf) || c == nil {
		return nil, nil, errorf("Creation of new instance of type '%s' is not supported", t.inner)
	}
	c.compile()
	single = []Type{t.inner}
	for _, w := range c.ways {
		sizes := w.sizes()
		switch {
		case len(t.args) > 0:
			types := append(slices.Clone(w.types[:min(1, len(w.types))]), each(t.args, Infer)...)
			if sizes.contains(int64(len(types))) && assignable(w.tuple(), tupleType{types: types}) {
				single = append(single, w.types[0])
			}
		case sizes == exactly(1):
			single = append(single, w.types[0])
		default:
			lists = append(lists, w.tuple())
		}
	}
	if len(t.args) > 0 && len(single) == 1 {
		return nil, nil, errorf("The type '%s' does not represent a valid set of parameters for %s.new()", t, nameOf(generalize(t.inner)))
	}
	return single, lists, nil
}

// has reports whether v could be given to new. Rule LANG-TYPE-06.
func (t initType) has(v data.Value) bool {
	if t.inner == nil {
		return isInstance(richData, v)
	}
	single, lists, err := t.singles()
	if err != nil {
		return false
	}
	for _, x := range single {
		if isInstance(x, v) {
			return true
		}
	}
	for _, x := range lists {
		if isInstance(x, v) || x.sizes().from == 1 && isInstance(x, data.OfList([]data.Value{v})) {
			return true
		}
	}
	return false
}

func (c *comparison) acceptsInit(t initType, o Type) bool {
	if o, ok := o.(initType); ok {
		return t.inner == nil || o.inner != nil && c.assignable(t.inner, o.inner)
	}
	if t.inner == nil {
		return c.assignable(richData, o)
	}
	single, lists, err := t.singles()
	if err != nil {
		return false
	}
	for _, x := range single {
		if c.assignable(x, o) {
			return true
		}
	}
	for _, x := range lists {
		if c.assignable(x, o) || x.sizes().from == 1 && c.assignable(x, tupleType{types: []Type{o}}) {
			return true
		}
	}
	return false
}

// createInit gives a list as several arguments, unless it is one by itself.
func createInit(t initType, args []data.Value) (data.Value, error) {
	single, lists, err := t.singles()
	if err != nil {
		return data.Value{}, err
	}
	s := signature{[]string{"value"}, []Type{anyType}, 1}
	if len(args) != 1 {
		return data.Value{}, errorf("%s", rejection("new_Init", []signature{s}, args))
	}
	if len(t.args) > 0 {
		return New(t.inner, append(args, t.args...))
	}
	v := args[0]
	whole := v.Kind() != data.List
	for _, x := range single {
		whole = whole || isInstance(x, v)
	}
	for _, x := range lists {
		whole = whole || !isInstance(x, v) && x.sizes().from == 1 && isInstance(x, data.OfList(args))
	}
	if whole {
		return New(t.inner, args)
	}
	return New(t.inner, v.List())
}

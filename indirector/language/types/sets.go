package types

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// A setType is a TypeSet: types below one name, with a version, and names for other sets.
// Rule LANG-TYPE-10.
type setType struct {
	name       string
	definition data.Value // without the types
	types      []setMember
	references []setReference
	read       func(name string) (*setType, error) // again, with a name; nil if it has one
}

// A setMember is a type of a set, by the name that it has there.
type setMember struct {
	name string
	t    Type
}

// A setReference is a name for another set, whose version must be in a range.
type setReference struct {
	alias, name string
	versions    versions
	lookup      Lookup
}

// runtimeAuthority is who gives names to the types of manifests.
const runtimeAuthority = "http://puppet.com/2016.1/runtime"

// ofSet reads the definition of a set without types, which an expression cannot name.
func ofSet(args []data.Value) (Type, error) {
	switch {
	case len(args) != 1:
		return nil, badArity("TypeSet-Type", 1, 1, len(args))
	case args[0].Kind() != data.Hash:
		return nil, errorf("undefined method `empty?' for %s:%s", args[0].Inspect(), rubyClass(args[0]))
	case args[0].Len() == 0:
		return typeSetType, nil
	}
	s := &setType{name: args[0].Get("name").Str()}
	s.refer(args[0].Get("references"), nil)
	return s, s.define(args[0])
}

// refer takes the names of other sets. What is wrong with them define reports.
func (s *setType) refer(references data.Value, lookup Lookup) {
	for _, p := range references.Hash() {
		accepted, err := New(rangeType, []data.Value{p.Value.Get("version_range")})
		if err != nil {
			continue
		}
		s.references = append(s.references, setReference{p.Key.Str(), p.Value.Get("name").Str(), accepted.Rich().(versions), lookup})
	}
}

// define checks a definition, and takes what is left of it.
func (s *setType) define(definition data.Value) error {
	if err := assertDefinition("TypeSet initializer", "set", definition); err != nil {
		return err
	}
	if v := definition.Get("pcore_version").Text(); v != "1.0.0" {
		return errorf("The pcore version for TypeSet '%s' is not understood by this runtime. Expected range 1.x, got %s", s.name, v)
	}
	if v, ok := text(definition.Get("version")); ok {
		if _, err := parseVersion(v); err != nil {
			return err
		}
	}
	for _, r := range s.references {
		if slices.ContainsFunc(s.types, func(m setMember) bool { return m.name == r.alias }) {
			return errorf("TypeSet '%s' references a TypeSet using alias '%s'. The alias collides with the name of a declared type", s.name, r.alias)
		}
	}
	s.definition = definition.Without("types", "references", "name")
	return nil
}

// set reads a TypeSet of an alias. The names of its types are no types there; and what
// they are made of may name each other without the name of the set.
func (c constants) set(definition *syntax.Hash, name string) (*setType, error) {
	s := &setType{name: name}
	if name == "" {
		s.read = func(name string) (*setType, error) { return c.set(definition, name) }
	}
	var types *syntax.Hash
	var plain []data.Pair
	for _, e := range definition.Entries {
		key, err := c.value(e.Key)
		if err != nil {
			return nil, err
		}
		inner, isHash := e.Value.(*syntax.Hash)
		var v data.Value
		switch {
		case isHash && key.Str() == "types":
			types = inner
			continue
		case isHash && key.Str() == "references":
			v, err = c.byName(inner)
		default:
			v, err = c.value(e.Value)
		}
		if err != nil {
			return nil, err
		}
		plain = append(plain, data.Pair{Key: key, Value: v})
	}
	v := data.OfHash(plain)
	if s.name == "" {
		s.name = v.Get("name").Str()
	}
	s.refer(v.Get("references"), c.lookup)
	if types != nil && s.read == nil {
		if err := s.defineTypes(c, types); err != nil {
			return nil, err
		}
		known := make([]data.Pair, len(s.types))
		for i, m := range s.types {
			known[i] = data.P(m.name, OfType(m.t))
		}
		v = v.With("types", data.OfHash(known))
	}
	if s.read == nil && v.Get("name_authority").IsNil() {
		v = v.With("name_authority", data.OfString(runtimeAuthority))
	}
	return s, s.define(v)
}

// nameOfKey returns the key of a hash, which may be written as the name of a type.
func (c constants) nameOfKey(node syntax.Node) (data.Value, error) {
	if n, ok := node.(*syntax.TypeName); ok {
		return data.OfString(n.Value), nil
	}
	return c.value(node)
}

// byName returns a hash whose keys may be written as names of types.
func (c constants) byName(n *syntax.Hash) (data.Value, error) {
	out := make([]data.Pair, len(n.Entries))
	for i, e := range n.Entries {
		key, err := c.nameOfKey(e.Key)
		if err != nil {
			return key, err
		}
		v, err := c.value(e.Value)
		if err != nil {
			return v, err
		}
		out[i] = data.Pair{Key: key, Value: v}
	}
	return data.OfHash(out), nil
}

// defineTypes makes aliases and Object types of the members, each when it is named first.
func (s *setType) defineTypes(c constants, types *syntax.Hash) error {
	made := map[string]Type{}
	var failed error
	var named Lookup
	define := func(name string, value syntax.Node) Type {
		key := strings.ToLower(name)
		if t, ok := made[key]; ok {
			return t
		}
		t, err := NewAlias(s.name+"::"+name, func(self Type) (Type, error) {
			made[key] = self
			inner := constants{lookup: named}
			v, err := inner.value(value)
			if err != nil {
				return nil, err
			}
			if v.Kind() == data.Hash {
				return parametrize(objectType, []data.Value{v})
			}
			t, ok := AsType(v)
			if !ok {
				return nil, assertDefinition("TypeSet initializer", "set", data.OfHash([]data.Pair{data.P("types", data.OfHash([]data.Pair{data.P(name, v)}))}))
			}
			return t, nil
		})
		if err != nil {
			failed = err
			return nil
		}
		made[key] = t
		return t
	}
	named = func(name string) Type {
		short := strings.TrimPrefix(name, strings.ToLower(s.name)+"::")
		for _, e := range types.Entries {
			if n, ok := e.Key.(*syntax.TypeName); ok && strings.EqualFold(n.Value, short) {
				return define(n.Value, e.Value)
			}
		}
		if t := s.inReferences(short); t != nil {
			return t
		}
		if c.lookup == nil {
			return nil
		}
		return c.lookup(name)
	}
	for _, e := range types.Entries {
		key, err := c.nameOfKey(e.Key)
		if err != nil {
			return err
		}
		t := define(key.Str(), e.Value)
		if failed != nil {
			return failed
		}
		s.types = append(s.types, setMember{key.Str(), t})
	}
	return nil
}

// InSet returns the type that a set has by a name without that of the set, in whatever
// case; nil if it has none, or if t is no set.
func InSet(t Type, name string) Type {
	s, ok := t.(*setType)
	if !ok {
		return nil
	}
	for _, m := range s.types {
		if strings.EqualFold(m.name, name) {
			return m.t
		}
	}
	return s.inReferences(name)
}

// inReferences returns a type of another set, or that set.
func (s *setType) inReferences(name string) Type {
	first, rest, more := strings.Cut(name, "::")
	for _, r := range s.references {
		if !strings.EqualFold(r.alias, first) || r.lookup == nil {
			continue
		}
		other, ok := r.lookup(strings.ToLower(r.name)).(*setType)
		if !ok || !r.accepts(other) {
			return nil
		}
		if !more {
			return other
		}
		return InSet(other, rest)
	}
	return nil
}

func (r setReference) accepts(s *setType) bool {
	v, err := parseVersion(s.definition.Get("version").Text())
	return err == nil && r.versions.include(v)
}

// print shows the types by their definitions, or by their names within other text.
func (s *setType) print(p *printer) {
	p.b = append(p.b, "TypeSet[{"...)
	from := len(p.b)
	entry := func(key string, v data.Value) {
		if !v.IsNil() {
			p.next(from)
			p.b = appendProgram(append(p.b, key+" => "...), v)
		}
	}
	for _, key := range []string{"annotations", "pcore_uri", "pcore_version", "name_authority"} {
		entry(key, s.definition.Get(key))
	}
	if s.name != "" {
		entry("name", data.OfString(s.name))
	}
	entry("version", s.definition.Get("version"))
	if len(s.types) > 0 {
		p.next(from)
		p.b = append(p.b, "types => {"...)
		for i, m := range s.types {
			if i > 0 {
				p.b = append(p.b, ", "...)
			}
			p.b = append(p.b, m.name+" => "...)
			switch alias, isAlias := m.t.(*aliasType); {
			case !p.objects && !p.exact:
				p.b = append(p.b, m.name...)
			case isAlias:
				alias.resolved.print(p)
			default:
				m.t.print(p)
			}
		}
		p.b = append(p.b, '}')
	}
	p.b = append(p.b, "}]"...)
}

// String returns the definition.
func (s *setType) String() string {
	p := printer{objects: true}
	s.print(&p)
	return string(p.b)
}

// Equal compares the names and versions.
func (s *setType) Equal(o Type) bool { return equal(s, o) }

package types

import (
	"math"

	"indirtui/indirector/data"
)

// ToPcore returns a type as catalogs have it: as the object of Pcore with those of its
// attributes that are not the usual ones. It is false of types that Puppet cannot write
// so, or that programs define.
func ToPcore(t Type) (data.Value, bool) {
	p := pcore{ok: true}
	name := simpleName(t)
	if x, ok := t.(plain); ok {
		name = string(x)
	} else if !p.scalar(t) && !p.collection(t) && !p.other(t) {
		return data.Value{}, false
	}
	return data.OfHash(append([]data.Pair{data.P(richName, data.OfString("Pcore::"+name+"Type"))}, p.attrs...)), p.ok
}

// A pcore is a type that is being written.
type pcore struct {
	attrs []data.Pair
	ok    bool // whether what it consists of could be written
}

func (p *pcore) put(name string, v data.Value) { p.attrs = append(p.attrs, data.P(name, v)) }

// inner returns a type that is part of another; nil is undef.
func (p *pcore) inner(t Type) data.Value {
	if t == nil {
		return data.Value{}
	}
	v, ok := ToPcore(t)
	p.ok = p.ok && ok
	return v
}

// part puts a type that is part of another, unless it is any.
func (p *pcore) part(name string, t Type) {
	if t != nil && t != anyType {
		p.put(name, p.inner(t))
	}
}

func (p *pcore) list(name string, l []Type) {
	out := make([]data.Value, len(l))
	for i, t := range l {
		out[i] = p.inner(t)
	}
	p.put(name, data.OfList(out))
}

func (p *pcore) size(name string, r *interval) {
	if r != nil {
		p.put(name, p.inner(integerType{interval: *r}))
	}
}

// scalar writes the attributes of a type of single values, and reports whether t is one.
func (p *pcore) scalar(t Type) bool {
	switch t := t.(type) {
	case integerType:
		p.attrs = pcoreEnds(t.interval)
	case floatType:
		p.float(t)
	case stringType:
		if t.literal {
			p.put("size_type_or_value", data.OfString(t.value))
		} else {
			p.size("size_type_or_value", t.size)
		}
	case enumType:
		p.put("values", data.OfStrings(t.values))
		if t.fold {
			p.put("case_insensitive", data.OfBool(true))
		}
	case patternType:
		l := make([]Type, len(t.patterns))
		for i, re := range t.patterns {
			l[i] = regexpType{re}
		}
		p.list("patterns", l)
	case regexpType:
		if t.pattern != nil {
			p.put("pattern", data.OfString(t.pattern.source))
		}
	case versionType:
		l := make([]data.Value, len(t.ranges))
		for i, r := range t.ranges {
			l[i], _ = ToData(data.OfRich(r))
		}
		if len(l) > 0 {
			p.put("ranges", data.OfList(l))
		}
	case booleanType, timestampType, timespanType, uriType:
	default:
		return false
	}
	return true
}

func (p *pcore) float(t floatType) {
	switch {
	case !math.IsInf(t.from, 0):
		p.put("from", data.OfFloat(t.from))
	case !math.IsInf(t.to, 0):
		p.put("from", data.Value{})
	}
	if !math.IsInf(t.to, 0) {
		p.put("to", data.OfFloat(t.to))
	}
}

// collection is scalar of collections.
func (p *pcore) collection(t Type) bool {
	switch t := t.(type) {
	case collectionType:
		p.size("size_type", t.size)
	case arrayType:
		p.part("element_type", t.element)
		p.size("size_type", t.size)
	case hashType:
		p.part("key_type", t.key)
		p.part("value_type", t.value)
		p.size("size_type", t.size)
	case tupleType:
		p.list("types", t.types)
		p.size("size_type", t.size)
	case structType:
		l := make([]data.Value, len(t.members))
		for i, m := range t.members {
			l[i] = data.OfHash([]data.Pair{
				data.P(richName, data.OfString("Pcore::StructElement")), data.P("key_type", p.inner(m.key())), data.P("value_type", p.inner(m.value)),
			})
		}
		p.put("elements", data.OfList(l))
	default:
		return false
	}
	return true
}

// other is scalar of types of types, and of what catalogs have.
func (p *pcore) other(t Type) bool {
	switch t := t.(type) {
	case variantType:
		p.list("types", t.types)
	case containedType:
		if t.inner != nil && t.container != sensitiveOf {
			p.put("type", p.inner(t.inner))
		}
	case initType:
		if t.inner != nil {
			p.put("type", p.inner(t.inner))
		}
	case callableType:
		params := data.Value{}
		if t.params != nil {
			params = p.inner(*t.params)
		}
		p.put("param_types", params)
		p.put("block_type", p.inner(t.block))
		p.put("return_type", p.inner(t.result))
	case *aliasType:
		if t.recursive { // it consists of itself, which is written as a place in it
			return false
		}
		p.put("name", data.OfString(t.name))
		p.put("type_expr", data.Value{}) // Puppet has it no more once the alias is resolved
		p.put("resolved_type", p.inner(t.resolved))
	case classType:
		if t.name != "" {
			p.put("class_name", data.OfString(t.name))
		}
	case resourceType:
		if t.name != "" {
			p.put("type_name", data.OfString(FullName(t.name)))
		}
		if t.title != nil {
			p.put("title", data.OfString(*t.title))
		}
	case runtimeType:
		if t.runtime != "" {
			p.put("runtime", data.OfString(t.runtime))
			p.put("name_or_pattern", data.OfString(t.name))
		}
	default:
		return false
	}
	return true
}

func pcoreEnds(r interval) []data.Pair {
	var out []data.Pair
	switch {
	case !r.noFrom:
		out = append(out, data.P("from", data.OfInt(r.from)))
	case !r.noTo:
		out = append(out, data.P("from", data.Value{}))
	}
	if !r.noTo {
		out = append(out, data.P("to", data.OfInt(r.to)))
	}
	return out
}

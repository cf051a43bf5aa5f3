package types

import (
	"slices"

	"indirtui/indirector/data"
)

// sizeOf returns the sizes of a type of collections.
func sizeOf(t Type) (interval, bool) {
	switch t := t.(type) {
	case collectionType:
		return t.size.orAny(), true
	case arrayType:
		return t.size.orAny(), true
	case hashType:
		return t.size.orAny(), true
	case tupleType:
		if t.size == nil {
			return exactly(len(t.types)), true
		}
		return *t.size, true
	case structType:
		return exactly(len(t.members)), true
	}
	return interval{}, false
}

// sizes returns how many elements a tuple may have: any if no types are known.
func (t tupleType) sizes() interval {
	switch {
	case t.size != nil:
		return *t.size
	case len(t.types) == 0:
		return anySize
	}
	return exactly(len(t.types))
}

// at returns the type of an element; the last one repeats.
func (t tupleType) at(i int) Type { return t.types[min(i, len(t.types)-1)] }

func (c *comparison) acceptsArray(t arrayType, o Type) bool {
	size, _ := sizeOf(o)
	switch o := o.(type) {
	case tupleType:
		return t.size.orAny().covers(size) && c.all(o.types, func(x Type) bool { return c.assignable(t.element, x) })
	case arrayType:
		return t.size.orAny().covers(size) && c.assignable(t.element, o.element)
	}
	return false
}

func (c *comparison) acceptsHash(t hashType, o Type) bool {
	switch o := o.(type) {
	case hashType:
		if o.size != nil && o.size.isZero() && t.size.orAny().contains(0) {
			return true
		}
		return c.assignable(t.key, o.key) && c.assignable(t.value, o.value) && t.size.orAny().covers(o.size.orAny())
	case structType:
		return t.size.orAny().contains(int64(len(o.members))) && !slices.ContainsFunc(o.members, func(m member) bool {
			return !isInstance(t.key, data.OfString(m.name)) || !c.assignable(t.value, m.value)
		})
	}
	return false
}

func (c *comparison) acceptsTuple(t tupleType, o Type) bool {
	switch o := o.(type) {
	case tupleType:
		size := t.sizes()
		switch {
		case equal(t, o):
			return true
		case !size.covers(o.sizes()):
			return false
		case len(t.types) == 0:
			return true
		case len(o.types) == 0:
			return size.from == 0
		}
		for i, x := range o.types {
			if !c.assignable(t.at(i), x) {
				return false
			}
		}
		return true
	case arrayType:
		size := o.size.orAny()
		if !t.sizes().covers(size) {
			return false
		}
		for i, x := range t.types {
			if (size.noTo || int64(i) < size.to) && !c.assignable(x, o.element) {
				return false
			}
		}
		return true
	}
	return false
}

// near returns the member of a name, which most often has the same place on both sides.
func (t structType) near(name string, i int) (member, bool) {
	if i < len(t.members) && t.members[i].name == name {
		return t.members[i], true
	}
	return t.find(name)
}

func (t structType) find(name string) (member, bool) {
	i := slices.IndexFunc(t.members, func(m member) bool { return m.name == name })
	if i < 0 {
		return member{}, false
	}
	return t.members[i], true
}

// sizes returns how many entries a struct may have.
func (t structType) sizes() interval {
	required := 0
	for _, m := range t.members {
		if !m.optional {
			required++
		}
	}
	return interval{from: int64(required), to: int64(len(t.members))}
}

func (c *comparison) acceptsStruct(t structType, o Type) bool {
	switch o := o.(type) {
	case structType:
		missing := t.sizes().from
		for i, x := range o.members {
			m, ok := t.near(x.name, i)
			if !ok || x.optional && !m.optional || !c.assignable(m.value, x.value) {
				return false
			}
			if !m.optional {
				missing--
			}
		}
		return missing == 0
	case hashType: // it cannot be known which keys it has
		for _, m := range t.members {
			if !m.optional && (!c.assignable(m.value, o.value) || !c.assignable(stringType{}, o.key)) {
				return false
			}
		}
		return t.sizes().covers(o.size.orAny())
	}
	return false
}

func (c *comparison) acceptsContained(t containedType, o Type) bool {
	x, ok := o.(containedType)
	same := ok && x.container == t.container
	switch t.container {
	case optionalOf:
		switch {
		case o == undefType || t.inner == nil:
			return true
		case same:
			return x.inner == nil || c.assignable(t.inner, x.inner)
		}
		return c.assignable(t.inner, o)
	case notUndefOf:
		return !c.assignable(o, undefType) && (t.inner == nil || c.assignable(t.inner, o))
	case typeOf:
		return same && (t.inner == nil || x.inner != nil && c.assignable(t.inner, x.inner))
	case sensitiveOf:
		return same && (t.inner == nil || c.assignable(t.inner, innerOrAny(x)))
	case iteratorOf:
		return same && (t.inner == nil || x.inner != nil && c.assignable(t.inner, x.inner))
	}
	element, ok := elementOf(o)
	if t.inner == nil || c.assignable(t.inner, anyType) {
		return ok
	}
	return ok && element != nil && c.assignable(t.inner, element)
}

func innerOrAny(t containedType) Type {
	if t.inner == nil {
		return anyType
	}
	return t.inner
}

// elementOf returns what the instances of a type yield when they are iterated, which
// is nil if it is not known, and whether they can be.
func elementOf(t Type) (Type, bool) {
	switch t := resolve(t).(type) {
	case integerType:
		return integerType{interval: unlimited}, true
	case stringType, enumType:
		return stringType{size: sized(1, 1)}, true
	case collectionType:
		return nil, true
	case arrayType:
		if t.element == anyType {
			return nil, true
		}
		return t.element, true
	case hashType:
		if t.key == anyType && t.value == anyType && t.size == nil || t.size != nil && t.size.isZero() {
			return tupleType{[]Type{unitType, unitType}, sized(2, 2)}, true
		}
		return tupleType{[]Type{t.key, t.value}, sized(2, 2)}, true
	case structType:
		var keys, values []Type
		for _, m := range t.members {
			keys, values = append(keys, m.key()), append(values, m.value)
		}
		if len(keys) == 0 {
			return tupleType{[]Type{unitType, unitType}, sized(2, 2)}, true
		}
		return tupleType{[]Type{newVariant(keys), newVariant(values)}, sized(2, 2)}, true
	case tupleType:
		return newVariant(t.types), true
	case containedType:
		return elementOfContained(t)
	}
	return nil, false
}

func elementOfContained(t containedType) (Type, bool) {
	switch t.container {
	case iterableOf, iteratorOf:
		return t.inner, true
	case typeOf: // a type that has few instances is iterated by them
		switch x := t.inner.(type) {
		case enumType:
			return x, true
		case integerType:
			if x.isFinite() {
				return x, true
			}
		}
	}
	return nil, false
}

// acceptsCallable takes what expects no more and returns no more.
func (c *comparison) acceptsCallable(t, o callableType) bool {
	if t.result != nil && !c.assignable(t.result, orAny(o.result)) {
		return false
	}
	if t.params == nil {
		return true
	}
	if o.params == nil || !c.assignable(*o.params, *t.params) {
		return false
	}
	return c.assignable(orUndef(o.block), orUndef(t.block))
}

func orAny(t Type) Type {
	if t == nil {
		return anyType
	}
	return t
}

func orUndef(t Type) Type {
	if t == nil {
		return undefType
	}
	return t
}

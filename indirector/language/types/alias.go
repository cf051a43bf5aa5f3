package types

import (
	"errors"
	"slices"

	"indirtui/indirector/data"
)

// Answers of reallyInstance. Puppet does not decide what it is asked again within the
// same question; so a value may be no instance of an alias that is part of another,
// even if it looks like one.
const (
	no        = -1
	undecided = 0
	yes       = 1
)

// An aliasWalk holds the aliases, and the depths of values, that are being looked at,
// and whether one of either kind was met again. Rule LANG-TYPE-20.
type aliasWalk struct {
	aliases            []*aliasType
	depths             []int
	again, valuesAgain bool
}

// enter answers a question about something that is being looked at until then. What is
// met again is remembered until the question ends that began to look.
func enter[T comparable](open *[]T, again *bool, x T, answer func() int) int {
	if *again {
		return answer()
	}
	if slices.Contains(*open, x) {
		*again = true
		return answer()
	}
	*open = append(*open, x)
	result := answer()
	*again = false
	*open = slices.DeleteFunc(*open, func(o T) bool { return o == x })
	return result
}

// reallyInstance is instance with a third answer.
func reallyInstance(t Type, v data.Value, w *aliasWalk, depth int) int {
	switch t := t.(type) {
	case variantType:
		result := no
		for _, x := range t.types {
			if result = max(result, reallyInstance(x, v, w, depth)); result == yes {
				break
			}
		}
		return result
	case *aliasType:
		if !t.recursive {
			return reallyInstance(t.resolved, v, w, depth)
		}
		if w == nil {
			w = &aliasWalk{}
		}
		return enter(&w.depths, &w.valuesAgain, depth, func() int {
			return enter(&w.aliases, &w.again, t, func() int {
				if w.again && w.valuesAgain {
					return undecided
				}
				return reallyInstance(t.resolved, v, w, depth)
			})
		})
	}
	if instance(t, v, w, depth) {
		return yes
	}
	return no
}

// findRecursion marks the aliases within a type that are part of themselves. It does not
// write to those that are marked, which others may be reading.
func findRecursion(t Type, path []*aliasType) {
	if a, ok := t.(*aliasType); ok {
		if i := slices.Index(path, a); i >= 0 {
			for _, part := range path[i:] {
				if !part.recursive {
					part.recursive = true
				}
			}
			return
		}
		if a.resolved != nil {
			findRecursion(a.resolved, append(path, a))
		}
		return
	}
	for _, x := range parts(t) {
		findRecursion(x, path)
	}
}

// NewAlias returns a type that is a name for another; resolve is given the name
// first, since it may be part of its own definition. Rule LANG-TYPE-25.
func NewAlias(name string, resolve func(self Type) (Type, error)) (Type, error) {
	a := &aliasType{name: name, resolved: referenceType{"UnresolvedReference"}}
	t, err := resolve(a)
	if e, ok := errors.AsType[*definitionError](err); ok { // whose words name the type
		_, err = defineObject(name, e.definition)
	}
	if err != nil {
		return nil, err
	}
	if s, ok := t.(*setType); ok && s.read != nil {
		if s, err = s.read(name); err != nil {
			return nil, err
		}
		a.resolved = s
		return s, nil
	}
	if o, ok := t.(*definedType); ok && o.name == "" { // the alias is its name
		if o, err = defineObject(name, o.definition); err != nil {
			return nil, err
		}
		a.resolved = o
		findRecursion(a, nil)
		return o, nil
	}
	if t = dropSelf(normalize(t), a); t == nil {
		return nil, errorf("Type alias '%s' cannot be resolved to a real type", name)
	}
	a.resolved = t
	findRecursion(a, nil)
	return a, nil
}

// dropSelf returns what an alias is beside itself, or nil if it is nothing else. What
// leads back to it through alternatives alone means nothing, and would never end.
func dropSelf(t Type, a *aliasType) Type {
	switch x := t.(type) {
	case *aliasType:
		switch {
		case x == a:
			return nil
		case leadsTo(x.resolved, a):
			return dropSelf(x.resolved, a)
		}
	case variantType:
		if len(x.types) == 0 {
			return t
		}
		var rest []Type
		for _, alternative := range x.types {
			if alternative = dropSelf(alternative, a); alternative != nil {
				rest = append(rest, alternative)
			}
		}
		if len(rest) == 0 {
			return nil
		}
		return newVariant(rest)
	case containedType:
		if x.inner == nil || x.container != optionalOf && x.container != notUndefOf {
			return t
		}
		inner := dropSelf(x.inner, a)
		switch {
		case inner != nil:
			return containedType{x.container, inner}
		case x.container == optionalOf:
			return undefType
		}
		return nil
	}
	return t
}

// leadsTo reports whether an alias is one of the alternatives of a type.
func leadsTo(t Type, a *aliasType) bool {
	switch x := t.(type) {
	case *aliasType:
		return x == a || leadsTo(x.resolved, a)
	case variantType:
		return slices.ContainsFunc(x.types, func(t Type) bool { return leadsTo(t, a) })
	case containedType:
		return x.inner != nil && (x.container == optionalOf || x.container == notUndefOf) && leadsTo(x.inner, a)
	}
	return false
}

package types

import (
	"strings"

	"indirtui/indirector/data"
)

// A Reference is what a type Class or Resource with parameters refers to.
type Reference struct {
	Type   string // "Class" for classes; else as the language writes it: "Apache::Vhost"; "" if any
	Title  string // the name of a class in small letters
	Titled bool   // whether there is a title
}

// AsReference returns what a type refers to, and whether it is Class or Resource, or one
// of them with parameters.
func AsReference(t Type) (Reference, bool) {
	switch t := t.(type) {
	case classType:
		return Reference{"Class", t.name, t.name != ""}, true
	case resourceType:
		if t.title == nil {
			return Reference{Type: FullName(t.name)}, true
		}
		r := Reference{FullName(t.name), *t.title, true}
		if r.Type == "Class" {
			r.Title = strings.ToLower(r.Title)
		}
		return r, true
	}
	return Reference{}, false
}

// OfReference returns the type that refers to a resource.
func OfReference(r Reference) data.Value {
	switch {
	case r.Type == "Class":
		return OfType(classType{r.Title})
	case !r.Titled:
		return OfType(resourceType{name: r.Type})
	}
	return OfType(resourceType{r.Type, &r.Title})
}

// OfDeclared returns the type of a resource as its declaration returns it, which is that of
// a resource for a class, too.
func OfDeclared(kind, title string) data.Value { return OfType(resourceType{kind, &title}) }

// TypeOf returns what a type Type has as its parameter, and whether it is one.
func TypeOf(t Type) (Type, bool) {
	c, ok := t.(containedType)
	if !ok || c.container != "Type" {
		return nil, false
	}
	return c.inner, true
}

// OfSensitive returns a value as a secret.
func OfSensitive(v data.Value) data.Value { return data.OfRich(secret{v}) }

package types

import "fmt"

// Sensitive reports whether the values of an attribute are to be redacted.
func (r *Resource) Sensitive(name string) bool {
	x := r.values[r.name(name)]
	return x != nil && (x.sensitive || x.of.Secret)
}

// MarkSensitive redacts an attribute, which is made if need be.
func (r *Resource) MarkSensitive(name string) {
	if a := r.Type.Attribute(name); a != nil {
		if x := r.attribute(a); x != nil {
			x.sensitive = true
		}
	}
}

// markSensitive marks attributes as sensitive. Parameters cannot be redacted, except
// where the type knows how. Rule RES-TYPE-09.
func (r *Resource) markSensitive(names []string) {
	if r.Type.Redact != nil {
		names = r.Type.Redact(r, names)
	}
	for _, name := range names {
		x := r.values[r.name(name)]
		switch {
		case x != nil && x.of.Kind == Property:
			x.sensitive = true
		case x != nil:
			r.unmarked("warning", name, name+" is a parameter and not a property, and cannot be automatically redacted.")
		case r.Type.Attribute(name) != nil:
			r.unmarked("warning", name, "the property itself was not assigned a value.")
		default:
			r.unmarked("err", name, "the property itself is not defined on "+r.Type.Name+".")
		}
	}
}

func (r *Resource) unmarked(level, name, why string) {
	r.log(level, fmt.Sprintf("Unable to mark '%s' as sensitive: %s", name, why))
}

package indirector

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/traces/spell"
)

// A Registry knows the indirections and their termini. It never changes and may
// be shared. Rules IND-REG-01, IND-TERM-01.
type Registry struct {
	specs   []Spec
	byName  map[string]*Spec
	termini map[string]map[string]*Descriptor
	order   map[string][]string
}

// NewRegistry returns a registry, or an error that names both sides of each
// clash. Rules IND-REG-02, IND-REG-03, IND-TERM-04.
func NewRegistry(specs []Spec, termini []Descriptor) (*Registry, error) {
	r := &Registry{
		specs:   slices.Clone(specs),
		byName:  make(map[string]*Spec, len(specs)),
		termini: make(map[string]map[string]*Descriptor, len(specs)),
		order:   make(map[string][]string, len(specs)),
	}
	classes := make(map[string]string, len(specs))
	var errs []error
	for i := range r.specs {
		s := &r.specs[i]
		switch other, taken := classes[s.Class]; {
		case r.byName[s.Name] != nil:
			errs = append(errs, words("ArgumentError", msgDefined, s.Name))
			continue
		case taken && s.Class != "":
			errs = append(errs, words("ArgumentError", msgAlreadyHandling, other, s.Name))
			continue
		case s.Setting == "" && s.Default == "":
			errs = append(errs, fmt.Errorf("indirection %s: neither a terminus nor a setting that names one is declared", s.Name))
			continue
		}
		classes[s.Class] = s.Name
		r.byName[s.Name] = s
		r.termini[s.Name] = make(map[string]*Descriptor)
	}
	for i := range termini {
		d := &termini[i]
		of := r.termini[d.Indirection]
		switch {
		case of == nil:
			errs = append(errs, words("ArgumentError", msgNoInstance, d.Indirection, d.Name))
		case of[d.Name] != nil:
			errs = append(errs, fmt.Errorf("terminus %s of %s is described twice", d.Name, d.Indirection))
		case VerbsOf(d.Type).none():
			errs = append(errs, fmt.Errorf("terminus %s of %s has no verb: %T", d.Name, d.Indirection, d.Type))
		case d.New == nil:
			errs = append(errs, fmt.Errorf("terminus %s of %s cannot be made", d.Name, d.Indirection))
		default:
			of[d.Name] = d
			r.order[d.Indirection] = append(r.order[d.Indirection], d.Name)
		}
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return r, nil
}

func (v Verbs) none() bool {
	for _, h := range v {
		if h != nil {
			return false
		}
	}
	return true
}

// Names returns the names of the indirections in the order of declaration.
func (r *Registry) Names() []string {
	names := make([]string, len(r.specs))
	for i := range r.specs {
		names[i] = r.specs[i].Name
	}
	return names
}

// Specs returns the indirections in the order of declaration. Read only.
func (r *Registry) Specs() []Spec { return r.specs }

// Spec returns the indirection called name, or nil.
func (r *Registry) Spec(name string) *Spec { return r.byName[name] }

// Termini returns the names of the termini of an indirection in the order of
// declaration. Read only.
func (r *Registry) Termini(indirection string) []string { return r.order[indirection] }

// Descriptor returns the descriptor of a terminus, or nil; of a wrapped one,
// see [Wrapper], that of the first terminus in it.
func (r *Registry) Descriptor(indirection, terminus string) *Descriptor {
	if strings.Contains(terminus, "(") {
		d, _ := r.wrapped(indirection, terminus, 0)
		return d
	}
	return r.termini[indirection][terminus]
}

// CheckTerminus returns nil if the terminus exists, wrapped or not; otherwise
// the error reports what is wrong with the name.
func (r *Registry) CheckTerminus(indirection, terminus string) error {
	switch {
	case strings.Contains(terminus, "("):
		_, err := r.wrapped(indirection, terminus, 0)
		return err
	case !r.Has(indirection, terminus):
		return fmt.Errorf("%s has no terminus %q", indirection, terminus)
	}
	return nil
}

// Has reports whether Puppet would know a terminus by that name; wrappers are
// not.
func (r *Registry) Has(indirection, terminus string) bool {
	return r.termini[indirection][terminus] != nil
}

// Nearest returns the known indirection closest to name, or "".
func (r *Registry) Nearest(name string) string { return spell.Nearest(name, r.Names()) }

// NearestTerminus returns the known terminus of the indirection closest to
// name, or "".
func (r *Registry) NearestTerminus(indirection, name string) string {
	return spell.Nearest(name, r.order[indirection])
}

package eval

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// A Scope has variables with names: the top scope; and, when a catalog is compiled,
// those of classes, defines and nodes. Rules LANG-SC-01, LANG-SC-05.
type Scope struct {
	// Owner is what the scope belongs to, as the source of what is logged has it.
	Owner fmt.Stringer
	// Inherits is the scope of the class that a class inherits; or nil.
	Inherits *Scope
	// Outer is the scope of the node, or the top scope; nil of that.
	Outer *Scope

	vars     []variable
	index    map[string]int32 // of vars; nil while there are few
	expected []string         // parameters, see Expect
	sealed   bool             // whether a default expression is being evaluated
}

// A variable of a scope.
type variable struct {
	name  string
	value data.Value
	ready bool // false of a parameter that has no value yet
}

// A label is the owner of a scope that is known by name only.
type label string

func (l label) String() string { return string(l) }

// fewVars is how many variables a scope has that it looks through one by one.
const fewVars = 12

func (s *Scope) find(name string) *variable {
	if s.index != nil {
		if i, ok := s.index[name]; ok {
			return &s.vars[i]
		}
		return nil
	}
	for i := range s.vars {
		if s.vars[i].name == name {
			return &s.vars[i]
		}
	}
	return nil
}

// Set binds a variable, which may be one that programs cannot assign.
func (s *Scope) Set(name string, v data.Value) { s.put(variable{name, v, true}) }

// Share gives s, which has no variables, those of another scope. Neither may get more
// of them.
func (s *Scope) Share(all *Scope) { s.vars, s.index = all.vars, all.index }

func (s *Scope) put(v variable) {
	if old := s.find(v.name); old != nil {
		*old = v
		return
	}
	if s.vars == nil {
		s.vars = make([]variable, 0, 6)
	}
	s.vars = append(s.vars, v)
	switch {
	case s.index != nil:
		s.index[v.name] = int32(len(s.vars) - 1)
	case len(s.vars) > fewVars:
		s.index = make(map[string]int32, 2*len(s.vars))
		for i := range s.vars {
			s.index[s.vars[i].name] = int32(i)
		}
	}
}

// Expect names the parameters of a class or define, in their order. A default expression
// that reads one fails until it is set.
func (s *Scope) Expect(names []string) {
	s.expected = names
	s.vars = slices.Grow(s.vars, len(names)+4)
	for _, name := range names {
		s.put(variable{name: name})
	}
}

// Get returns a variable of this scope alone.
func (s *Scope) Get(name string) (data.Value, bool) {
	if v := s.find(name); v != nil && v.ready {
		return v.value, true
	}
	return data.Value{}, false
}

// reach returns a variable of this scope or of those around it, and the one that has it; nil
// if none has. An error is that of a parameter without a value.
func (s *Scope) reach(name string) (data.Value, *Scope, error) {
	for at := s; at != nil; at = at.next() {
		if v := at.find(name); v != nil {
			if !v.ready {
				return data.Value{}, nil, &unreadyError{name}
			}
			return v.value, at, nil
		}
	}
	return data.Value{}, nil, nil
}

func (s *Scope) next() *Scope {
	if s.Inherits != nil {
		return s.Inherits
	}
	return s.Outer
}

// global returns the first scope from this one on that is a node's or the top scope.
func (s *Scope) global() *Scope {
	for s.next() != nil && !strings.HasPrefix(s.Owner.String(), "Node[") {
		s = s.next()
	}
	return s
}

// An unreadyError is a default expression that reads a parameter which has no value yet.
// It ends the evaluation of the expression as a whole.
type unreadyError struct{ name string }

func (u *unreadyError) Error() string { return "parameter $" + u.name + " has no value" }

// about returns Puppet's words for the expression of a parameter of a scope.
func (u *unreadyError) about(s *Scope, from string) string {
	owner := s.Owner.String()
	if slices.Index(s.expected, u.name) < slices.Index(s.expected, from) {
		return owner + ": expects a value for parameter $" + u.name
	}
	return owner + ": default expression for $" + from + " tries to illegally access not yet evaluated $" + u.name
}

// A slot is a variable of a lambda or function.
type slot struct {
	value data.Value
	bound bool
}

// A frame is one run of a lambda, a function, or the top of a program.
type frame struct {
	thread *Thread
	locals *locals // nil at the top of a program
	slots  []slot
	outer  *frame       // around a lambda; nil for others
	scope  *Scope       // what lies behind all slots
	match  []data.Value // groups of the last regular expression that matched
	called syntax.Node  // the call that is being made
	giving int          // one more than the parameter of a template whose default is evaluated; 0 is none
	extra  data.Value   // arguments of a template that has no parameters, by their names
}

// locals are the variables of a lambda or function, in the order of their slots. The
// compiler fills them in; then they do not change.
type locals struct {
	names  []string
	around *locals // of the lambda around; nil for others
	open   bool    // of a template, which is called with variables that are not known here
	params int     // of a template: how many of them are parameters
	// giving are the parameters from the one on whose default is being compiled; nil if none is.
	giving []*syntax.Parameter
}

// find returns the slot of a name, or -1.
func (l *locals) find(name string) int {
	for i, n := range l.names {
		if n == name {
			return i
		}
	}
	return -1
}

// isUnset reports whether a name is that of a parameter which has no value while the default of
// another is evaluated.
func (l *locals) isUnset(name string) bool {
	for ; l != nil && l.find(name) < 0; l = l.around {
		if slices.ContainsFunc(l.giving, func(p *syntax.Parameter) bool { return p.Name == name }) {
			return true
		}
	}
	return false
}

// slotOf returns the slot of a name that is assigned here.
func (l *locals) slotOf(name string) int {
	i := l.find(name)
	if i < 0 {
		i = len(l.names)
		l.names = append(l.names, name)
	}
	return i
}

// enter returns a frame, which leave takes back: nothing in the language keeps a lambda
// longer than the call it was given to.
func (t *Thread) enter(l *locals, s *Scope, outer *frame) *frame {
	var f *frame
	if n := len(t.free); n > 0 {
		f = t.free[n-1]
		t.free = t.free[:n-1]
	} else {
		f = &frame{thread: t}
	}
	f.locals, f.scope, f.outer = l, s, outer
	if l != nil {
		n := len(l.names)
		if cap(f.slots) < n {
			f.slots = make([]slot, n)
		}
		f.slots = f.slots[:n]
	}
	if outer != nil {
		f.match = outer.match
	}
	return f
}

func (t *Thread) leave(f *frame) {
	clear(f.slots)
	f.slots, f.outer, f.match, f.called, f.giving, f.extra = f.slots[:0], nil, nil, nil, 0, data.Value{}
	t.free = append(t.free, f)
}

// lookup finds a variable by its name, without leading colons or of another scope, as
// functions do that are given names. Rule LANG-SC-01.
func (f *frame) lookup(name string) (data.Value, bool) {
	if strings.Contains(name, "::") {
		return f.thread.qualified(name)
	}
	if isNumeric(name) {
		return f.matched(name)
	}
	for at := f; at != nil; at = at.outer {
		if at.locals == nil {
			break
		}
		if i := at.locals.find(name); i >= 0 && i < len(at.slots) && at.slots[i].bound {
			return at.slots[i].value, true
		}
		if v, ok := at.extra.Lookup(name); ok {
			return v, true
		}
	}
	v, at, _ := f.scope.reach(name)
	return v, at != nil
}

// qualified returns a variable of the top scope or of a class. Rule LANG-SC-02.
func (t *Thread) qualified(name string) (data.Value, bool) {
	name = strings.TrimPrefix(name, "::")
	if v, ok := t.top.Get(name); ok {
		return v, true
	}
	i := strings.LastIndex(name, "::")
	if i < 0 || t.opts.Catalog == nil {
		return data.Value{}, false
	}
	for s := t.opts.Catalog.ClassScope(strings.ToLower(name[:i])); s != nil; s = s.Inherits {
		if v, ok := s.Get(name[i+2:]); ok {
			return v, true
		}
	}
	return data.Value{}, false
}

// unready returns the error of a parameter without a value, if that is what the qualified
// name of a variable means.
func (t *Thread) unready(name string) error {
	name = strings.TrimPrefix(name, "::")
	i := strings.LastIndex(name, "::")
	if i < 0 || t.opts.Catalog == nil {
		return nil
	}
	s := t.opts.Catalog.ClassScope(strings.ToLower(name[:i]))
	if s == nil {
		return nil
	}
	if v := s.find(name[i+2:]); v == nil || v.ready {
		return nil
	}
	return &unreadyError{name[i+2:]}
}

// isOpen reports whether a lambda is part of a template.
func (l *locals) isOpen() bool {
	for ; l != nil; l = l.around {
		if l.open {
			return true
		}
	}
	return false
}

func isNumeric(name string) bool { return name != "" && name[0] >= '0' && name[0] <= '9' }

// matched returns what a group of the last regular expression matched. Rule LANG-OP-08.
func (f *frame) matched(name string) (data.Value, bool) {
	n := 0
	for i := range len(name) {
		if n = n*10 + int(name[i]-'0'); n > len(f.match) {
			break
		}
	}
	if n >= len(f.match) {
		return data.Value{}, false
	}
	return f.match[n], true
}

package eval

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// A scope has variables with names: the top scope; and, when the catalog is compiled,
// those of classes, defines and nodes. Rules LANG-SC-01, LANG-SC-05.
type scope struct {
	label string // as the source of what is logged
	vars  map[string]data.Value
}

func newScope(label string) *scope { return &scope{label, map[string]data.Value{}} }

func (s *scope) set(name string, v data.Value) { s.vars[name] = v }

func (s *scope) get(name string) (data.Value, bool) {
	v, ok := s.vars[name]
	return v, ok
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
	scope  *scope       // what lies behind all slots
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
func (t *Thread) enter(l *locals, s *scope, outer *frame) *frame {
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
	if rest, absolute := strings.CutPrefix(name, "::"); absolute {
		return f.thread.top.get(rest)
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
	return f.scope.get(name)
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

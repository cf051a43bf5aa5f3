package eval

import (
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// A place is a slot of a lambda or function, and how many lambdas lie between.
type place struct{ up, slot int }

// placesOf returns where a variable may be, the nearest first: a slot that is not bound
// yet hides nothing.
func (c *compiler) placesOf(name string) []place {
	var out []place
	for up, l := 0, c.locals; l != nil; up, l = up+1, l.around {
		if i := l.find(name); i >= 0 {
			out = append(out, place{up, i})
		}
	}
	return out
}

// variable compiles the value of a variable, which is at the place of a node. Rules
// LANG-SC-01 to LANG-SC-03.
func (c *compiler) variable(n syntax.Node, name string) code {
	s := c.site(n)
	if isNumeric(name) {
		return func(f *frame) (data.Value, error) {
			v, _ := f.matched(name)
			return v, nil
		}
	}
	if c.locals.isOpen() && !strings.Contains(name, "::") {
		return func(f *frame) (data.Value, error) {
			if err := f.early(name); err != nil {
				return data.Value{}, err
			}
			if v, ok := f.lookup(name); ok {
				return v, nil
			}
			return s.named(f, name)
		}
	}
	if c.locals.isUnset(name) {
		return func(*frame) (data.Value, error) { return data.Value{}, &earlyError{name} }
	}
	places := c.placesOf(name)
	if len(places) == 1 && places[0].up == 0 {
		i := places[0].slot
		return func(f *frame) (data.Value, error) {
			if f.slots[i].bound {
				return f.slots[i].value, nil
			}
			return s.named(f, name)
		}
	}
	return func(f *frame) (data.Value, error) {
		for _, p := range places {
			at := f
			for range p.up {
				at = at.outer
			}
			if x := &at.slots[p.slot]; x.bound {
				return x.value, nil
			}
		}
		return s.named(f, name)
	}
}

// named returns a variable of a scope with names.
func (s site) named(f *frame, name string) (data.Value, error) {
	v, ok, err := s.resolved(f, name)
	if ok || err != nil {
		return v, err
	}
	if name == "module_name" || name == "caller_module_name" {
		return data.Value{}, nil
	}
	strict := f.thread.opts.Strict
	if f.thread.opts.StrictVariables {
		strict = syntax.StrictError
	}
	s.read(f, name, true)
	return data.Value{}, s.warn(f, strict, s.node, "Unknown variable: '"+name+"'.")
}

// resolved is named for a variable that may be unknown.
func (s site) resolved(f *frame, name string) (data.Value, bool, error) {
	if !strings.Contains(name, "::") {
		v, at, err := f.scope.reach(name)
		if at == f.thread.top {
			s.read(f, name, false)
		}
		return v, at != nil, err
	}
	if top, ok := strings.CutPrefix(name, "::"); ok {
		if v, ok := f.thread.top.Get(top); ok {
			s.read(f, top, false)
			return v, true, nil
		}
	}
	v, ok := f.thread.qualified(name)
	if !ok {
		return v, false, f.thread.unready(name)
	}
	return v, true, nil
}

// warn logs a message at the place of a node, or fails, as a setting wants it.
func (s site) warn(f *frame, strict syntax.Strictness, at syntax.Node, message string) error {
	switch strict {
	case syntax.StrictOff:
		return nil
	case syntax.StrictError:
		return s.fail(f, &issue{message, at})
	}
	line, column := s.position(at)
	f.thread.log(LogEntry{Level: "warning", Message: message, File: s.source.File, Line: line, Column: column})
	return nil
}

func (t *Thread) log(e LogEntry) {
	if t.opts.Log != nil {
		t.opts.Log(e)
	}
}

// reserved are variables of the top scope that no scope may bind.
var reserved = map[string]bool{"trusted": true, "facts": true, "server_facts": true}

// assignment compiles = , whose target the checker has looked at. Rule LANG-EV-02.
func (c *compiler) assignment(n *syntax.Binary) code {
	right := c.node(n.Right)
	assign := c.target(n, n.Left)
	return func(f *frame) (data.Value, error) {
		v, err := right(f)
		if err != nil {
			return v, err
		}
		return v, assign(f, v)
	}
}

// target returns what assigns a value to a node.
func (c *compiler) target(n *syntax.Binary, left syntax.Node) func(f *frame, v data.Value) error {
	switch left := left.(type) {
	case *syntax.Variable:
		return c.binding(n, left.Name)
	case *syntax.Array:
		return c.targets(n, left)
	}
	fail := c.failing(n, Issuef("Illegal attempt to assign to '%s'. Not an assignable reference", withArticle(syntax.Label(left))))
	return func(f *frame, _ data.Value) error {
		_, err := fail(f)
		return err
	}
}

func (c *compiler) binding(n syntax.Node, name string) func(f *frame, v data.Value) error {
	s, locals, slot := c.site(n), c.locals, -1
	if locals != nil {
		slot = locals.slotOf(name)
	}
	return func(f *frame, v data.Value) error {
		bound := false
		if slot >= 0 {
			bound = f.slots[slot].bound
		} else {
			bound = f.scope.find(name) != nil
		}
		switch {
		case name == "server_facts", bound && reserved[name]:
			return s.fail(f, Issuef("Attempt to assign to a reserved variable name: '$%s'", name))
		case bound && (name == "name" || name == "title"):
			return s.fail(f, Issuef("Cannot reassign built in (or already assigned) variable '$%s'", name))
		case bound:
			return s.fail(f, Issuef("Cannot reassign variable '$%s'", name))
		}
		switch {
		case slot >= 0:
			f.slots[slot] = slotWith(v)
		case reserved[name]:
			return s.fail(f, Errorf("Attempt to assign to a reserved variable name: '%s'", name))
		case f.scope.sealed:
			return s.fail(f, Errorf("Attempt to assign variable %s when evaluating parameters", name))
		default:
			f.scope.Set(name, v)
		}
		return nil
	}
}

func slotWith(v data.Value) slot { return slot{v, true} }

// targets assigns to several variables: the elements of a list, or the values of the
// keys of a hash that have their names.
func (c *compiler) targets(n *syntax.Binary, list *syntax.Array) func(f *frame, v data.Value) error {
	s := c.site(n)
	all := make([]func(f *frame, v data.Value) error, len(list.Values))
	names := make([]string, len(list.Values))
	for i, x := range list.Values {
		all[i] = c.target(n, x)
		if v, ok := x.(*syntax.Variable); ok {
			names[i] = v.Name
		}
	}
	return func(f *frame, v data.Value) error {
		if t, ok := types.AsType(v); ok && strings.HasPrefix(t.String(), "Class") {
			return s.fail(f, Unsupported("variables of classes"))
		}
		values := v.List()
		switch {
		case v.Kind() == data.Hash:
			values = make([]data.Value, len(all))
			for i, name := range names {
				x, ok := v.Lookup(name)
				if !ok {
					return s.fail(f, Issuef("No value for required key '%s' in assignment to variables from hash", name))
				}
				values[i] = x
			}
		case v.Kind() != data.List:
			values = []data.Value{v}
		}
		if len(values) != len(all) {
			return s.fail(f, Issuef("Mismatched number of assignable entries and values, expected %d, got %d", len(all), len(values)))
		}
		for i, assign := range all {
			if err := assign(f, values[i]); err != nil {
				return err
			}
		}
		return nil
	}
}

package rtype

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/language/ruby"
)

// harmless are calls in the block of a type, or of an attribute, that declare no
// attribute.
var harmless = wordSet(`desc doc feature validate autorequire autobefore autonotify autosubscribe apply_to apply_to_all apply_to_device
	apply_to_host include extend require require_relative attr_accessor attr_reader attr_writer alias_method private protected
	public private_class_method public_class_method module_function private_constant define_method define_singleton_method
	remove_method undef_method raise fail warn puts debug info notice warning
	defaultto`)

func wordSet(text string) map[string]bool {
	all := map[string]bool{}
	for _, w := range strings.Fields(text) {
		all[w] = true
	}
	return all
}

// body walks the statements of the block of a type.
func (r *reader) body(t *Type, s *scope, nodes []ruby.Node) {
	if r.nesting > maxDepth {
		t.open(t.Line, "it nests too deep")
		return
	}
	for _, n := range nodes {
		if !r.step() {
			return
		}
		r.statement(t, s, n)
	}
}

func (r *reader) statement(t *Type, s *scope, n ruby.Node) {
	switch n := n.(type) {
	case *ruby.Call:
		r.call(t, s, n)
	case *ruby.Def:
		if n.Self {
			r.methods[n.Name] = n
		} else {
			r.defined = append(r.defined, n.Name)
			if declares(&ruby.Block{Body: n.Body}) {
				t.open(n.At(), n.Name+" declares attributes, and it is not known when")
			}
		}
	case *ruby.Module:
		if n.Name == "" { // class << self
			for _, inner := range n.Body {
				if d, ok := inner.(*ruby.Def); ok {
					r.methods[d.Name] = d
				}
			}
		}
	case *ruby.Assign:
		r.settle(t, s, n)
	case *ruby.Branch:
		if declares(n) {
			t.note(n.At(), fmt.Sprintf("what is declared depends on %q; all of it is taken", n.Word))
		}
		r.nested(func() {
			for _, inner := range n.Bodies {
				r.body(t, s, inner)
			}
		})
	case *ruby.Binary:
		if c, ok := n.Left.(*ruby.Call); ok && n.Op == "<<" && c.Receiver == nil {
			s.set(c.Name, nil) // a list that grows
		} else if declares(n) {
			t.open(n.At(), "the operator "+n.Op+" is not understood")
		}
	case *ruby.Other:
		t.open(n.At(), "this statement is not understood")
	}
}

// settle reads an assignment: of a name, or of what makes a type not isomorphic.
func (r *reader) settle(t *Type, s *scope, a *ruby.Assign) {
	name := ""
	switch target := a.Target.(type) {
	case *ruby.Variable:
		name = target.Name
	case *ruby.Call:
		if _, ok := target.Receiver.(*ruby.Self); ok {
			name = "@" + target.Name
		}
	}
	if name == "@isomorphic" {
		same, ok := a.Value.(*ruby.Bool)
		t.Many = ok && !same.Value
		return
	}
	if c, ok := a.Value.(*ruby.Call); ok && declaring[c.Name] { // p = newparam(:x)
		r.call(t, s, c)
	}
	r.assign(s, a)
}

// call reads a call in the block of a type.
func (r *reader) call(t *Type, s *scope, c *ruby.Call) {
	if _, self := c.Receiver.(*ruby.Self); c.Receiver != nil && !self {
		r.foreign(t, s, c)
		return
	}
	switch c.Name {
	case "newparam", "newproperty":
		r.attribute(t, s, c)
	case "ensurable":
		r.add(t, "ensure", Property, c.At())
	case "provide":
		t.addProvider()
	case "send", "public_send", "__send__":
		r.send(t, s, c)
	case "newmetaparam":
		t.note(c.At(), "a metaparameter is declared, which other types do not get here")
		r.named(t, s, c, Parameter)
	case "class_eval", "class_exec", "instance_eval", "instance_exec", "tap":
		if c.Block != nil && len(c.Args) == 0 {
			r.nested(func() { r.body(t, s, c.Block.Body) })
			return
		}
		t.open(c.At(), c.Name+" may declare attributes")
	default:
		r.unknown(t, s, c)
	}
}

// unknown reads a call of something that Puppet does not have.
func (r *reader) unknown(t *Type, s *scope, c *ruby.Call) {
	switch d := r.methods[c.Name]; {
	case d != nil:
		r.helper(t, s, c, d)
	case c.Receiver == nil && len(c.Args) == 0 && c.Block == nil && isVariable(s, c.Name):
	case !harmless[c.Name], c.Block != nil && declares(c.Block):
		t.open(c.At(), c.Name+" may declare attributes")
	}
}

func isVariable(s *scope, name string) bool {
	for ; s != nil; s = s.outer {
		if _, ok := s.values[name]; ok {
			return true
		}
	}
	return false
}

// helper follows a method of the type that may declare attributes.
func (r *reader) helper(t *Type, s *scope, c *ruby.Call, d *ruby.Def) {
	r.called[d.Name] = true
	inner := (&scope{map[string]any{}, nil}).inner()
	for i, param := range d.Params {
		var v any
		if i < len(c.Args) {
			v, _ = r.value(s, c.Args[i])
		}
		inner.values[param] = v
	}
	r.nested(func() { r.body(t, inner, d.Body) })
}

// foreign reads a call of something else than the type.
func (r *reader) foreign(t *Type, s *scope, c *ruby.Call) {
	if c.Block == nil {
		if slices.ContainsFunc(c.Args, isSelf) {
			t.open(c.At(), c.Name+" gets the type, and may declare attributes")
		}
		if target, ok := c.Receiver.(*ruby.Call); ok && target.Receiver == nil && len(c.Args) > 0 {
			s.set(target.Name, nil) // what was called may have changed it
		}
		return
	}
	r.nested(func() {
		r.each(s, c, func(s *scope) { r.body(t, s, c.Block.Body) }, func() {
			if declares(c.Block) {
				t.open(c.At(), "attributes are declared for each of a list that is not literal")
			}
		})
	})
}

func isSelf(n ruby.Node) bool {
	_, ok := n.(*ruby.Self)
	return ok
}

// loops are the methods that call their block for each of a list.
var loops = wordSet(`each each_pair each_key map collect each_entry flat_map reverse_each sort each_with_index`)

// each calls do for each of a literal list, with the parameters of the block set,
// or otherwise once.
func (r *reader) each(s *scope, c *ruby.Call, do func(*scope), otherwise func()) {
	var list []any
	v, ok := any(nil), false
	if c.Receiver != nil && loops[c.Name] {
		v, ok = r.value(s, c.Receiver)
	}
	switch v := v.(type) {
	case []any:
		list = v
	case pairs:
		for _, p := range v {
			if c.Name == "each_key" {
				list = append(list, p.key)
			} else {
				list = append(list, []any{p.key, p.value})
			}
		}
	default:
		ok = false
	}
	if !ok {
		otherwise()
		return
	}
	for i, element := range list {
		if !r.step() {
			return
		}
		inner := s.inner()
		bind(inner, c.Block.Params, element, c.Name == "each_with_index", i)
		do(inner)
	}
}

// bind sets the parameters of a block: a list is taken apart if there are several.
func bind(s *scope, params []string, element any, indexed bool, index int) {
	parts, isList := element.([]any)
	if len(params) < 2 || !isList || indexed {
		parts = []any{element}
	}
	for i, p := range params {
		s.values[p] = nil
		if i < len(parts) {
			s.values[p] = parts[i]
		}
	}
}

// send reads send(:newparam, :x).
func (r *reader) send(t *Type, s *scope, c *ruby.Call) {
	if len(c.Args) > 0 {
		if name, ok := r.value(s, c.Args[0]); ok {
			if method, ok := name.(string); ok && method != c.Name {
				sent := *c
				sent.Name, sent.Args = method, c.Args[1:]
				r.nested(func() { r.call(t, s, &sent) })
				return
			}
		}
	}
	t.open(c.At(), c.Name+" may declare attributes")
}

// declaring are the methods that declare attributes.
var declaring = wordSet(`newparam newproperty ensurable newmetaparam send`)

// declares reports whether an attribute is declared somewhere in a node. Methods
// are not looked into.
func declares(n ruby.Node) bool { return calls(n, declaring, 0) }

// calls reports whether one of some methods is called in a node.
func calls(n ruby.Node, names map[string]bool, depth int) bool {
	if depth > maxDepth {
		return false
	}
	any := func(all []ruby.Node) bool {
		return slices.ContainsFunc(all, func(n ruby.Node) bool { return calls(n, names, depth+1) })
	}
	switch n := n.(type) {
	case *ruby.Call:
		if n.Receiver == nil || isSelf(n.Receiver) {
			if names[n.Name] {
				return true
			}
		}
		return n.Receiver != nil && calls(n.Receiver, names, depth+1) || any(n.Args) || n.Block != nil && any(n.Block.Body)
	case *ruby.Block:
		return any(n.Body)
	case *ruby.Branch:
		for _, body := range n.Bodies {
			if any(body) {
				return true
			}
		}
	case *ruby.Binary:
		return calls(n.Left, names, depth+1) || calls(n.Right, names, depth+1)
	case *ruby.Unary:
		return calls(n.Value, names, depth+1)
	case *ruby.Assign:
		return calls(n.Value, names, depth+1)
	}
	return false
}

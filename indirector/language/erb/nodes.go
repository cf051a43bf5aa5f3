package erb

import (
	"strings"
)

// A node is a part of a program.
type node interface {
	eval(r *run) (value, error)
}

type (
	statement struct {
		line int
		node node
	}
	literal    struct{ value value }
	stringPart struct {
		text string
		code []node // nil if the part is literal
	}
	stringOf struct {
		line  int
		parts []stringPart
	}
	symbolNode struct{ text node }
	regexpOf   struct {
		line    int
		parts   []stringPart
		options int
	}
	arrayOf struct{ values []node }
	hashOf  struct {
		keys, values []node
		options      bool // without braces, at the end of arguments
	}
	rangeOf struct {
		from, to  node
		exclusive bool
	}
	local struct {
		line int
		name string
	}
	instance struct{ name string }
	constant struct {
		line int
		name string
	}
	splat     struct{ value node }
	blockPass struct{ value node }
	callNode  struct {
		line     int
		receiver node // nil means the template
		name     string
		args     []node
		block    node
		safe     bool // nil stays nil
		parens   bool
	}
	param struct {
		name  string
		rest  bool
		usual node    // nil if there is none
		parts []param // of a list that is taken apart
	}
	blockNode struct {
		line     int
		params   []param
		body     []node
		isLambda bool
	}
	assign struct {
		line   int
		target node
		op     string // "" is plain
		value  node
	}
	// A namingMatch assigns groups with names to variables.
	namingMatch struct {
		match *callNode
		names []string
	}
	multiAssign struct {
		targets []node
		value   node
	}
	not         struct{ value node }
	and         struct{ left, right node }
	or          struct{ left, right node }
	definedNode struct{ value node }
	block       struct{ body []node }
	branch      struct {
		condition node
		yes, no   []node
	}
	while struct {
		condition node
		body      []node
		until     bool
	}
	forNode struct {
		names []param
		over  node
		body  []node
	}
	when struct {
		options []node
		body    []node
	}
	caseNode struct {
		subject   node // nil if there is none
		whens     []when
		otherwise []node
	}
	rescue struct {
		classes  []string
		variable string
		body     []node
	}
	begin struct {
		body      []node
		rescues   []rescue
		otherwise []node
		ensure    []node
	}
	defNode struct {
		line   int
		name   string
		params []param
		body   []node
	}
	jumpNode struct {
		line  int
		word  string
		value node
	}
)

func (n *statement) eval(r *run) (value, error) {
	r.line = n.line
	if err := r.step(); err != nil {
		return nil, err
	}
	return n.node.eval(r)
}

func (r *run) body(body []node) (v value, err error) {
	for _, n := range body {
		if v, err = n.eval(r); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (n *literal) eval(*run) (value, error) { return n.value, nil }

func (n *stringOf) eval(r *run) (value, error) {
	s, err := r.joined(n.parts)
	return str(s), err
}

func (r *run) joined(parts []stringPart) (string, error) {
	var b strings.Builder
	for _, p := range parts {
		if p.code == nil {
			b.WriteString(p.text)
			continue
		}
		v, err := r.body(p.code)
		if err != nil {
			return "", err
		}
		s, err := r.text(v)
		if err != nil {
			return "", err
		}
		b.WriteString(s)
	}
	return b.String(), r.spend(b.Len())
}

func (n *symbolNode) eval(r *run) (value, error) {
	v, err := n.text.eval(r)
	if err != nil {
		return nil, err
	}
	return symbol(toS(v)), nil
}

func (n *namingMatch) eval(r *run) (value, error) {
	v, err := n.match.eval(r)
	if err != nil {
		return nil, err
	}
	for _, name := range n.names {
		var group value
		if v != nil && r.last != nil {
			if group, err = r.call(r.last, "[]", []value{str(name)}, nil); err != nil {
				return nil, err
			}
		}
		to := &assign{target: &local{n.match.line, name}, value: &literal{group}}
		if _, err := to.eval(r); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (n *regexpOf) eval(r *run) (value, error) {
	source, err := r.joined(n.parts)
	if err != nil {
		return nil, err
	}
	return r.pattern(source, n.options)
}

func (n *arrayOf) eval(r *run) (value, error) {
	l, err := r.values(n.values)
	return &list{l: l}, err
}

// values evaluates nodes, and puts lists behind * in their place.
func (r *run) values(nodes []node) ([]value, error) {
	out := make([]value, 0, len(nodes))
	for _, n := range nodes {
		s, isSplat := n.(*splat)
		if isSplat {
			n = s.value
		}
		v, err := n.eval(r)
		if err != nil {
			return nil, err
		}
		if isSplat {
			out = append(out, asList(v)...)
		} else {
			out = append(out, v)
		}
	}
	return out, r.spend(16 * len(out))
}

func (n *splat) eval(r *run) (value, error)     { return n.value.eval(r) }
func (n *blockPass) eval(r *run) (value, error) { return n.value.eval(r) }

func (n *hashOf) eval(r *run) (value, error) {
	t := newTable()
	for i := range n.keys {
		k, err := n.keys[i].eval(r)
		if err == nil {
			err = r.weigh(k)
		}
		if err != nil {
			return nil, err
		}
		v, err := n.values[i].eval(r)
		if err != nil {
			return nil, err
		}
		t.put(k, v)
	}
	return t, r.spend(64 * len(n.keys))
}

func (n *rangeOf) eval(r *run) (value, error) {
	from, err := n.from.eval(r)
	if err != nil {
		return nil, err
	}
	to, err := n.to.eval(r)
	return &span{from, to, n.exclusive}, err
}

func (n *local) eval(r *run) (value, error) {
	if v, ok := r.frame.get(n.name); ok {
		return v, nil
	}
	r.line = n.line
	return r.function(n.name, nil, nil, true)
}

func (n *instance) eval(r *run) (value, error) { return r.variable(n.name) }

func (n *constant) eval(r *run) (value, error) { return r.constant(n.name) }

func (n *callNode) eval(r *run) (value, error) {
	var receiver value
	if n.receiver != nil {
		var err error
		if receiver, err = n.receiver.eval(r); err != nil {
			return nil, err
		}
		if n.safe && receiver == nil {
			return nil, nil
		}
	}
	args, err := r.values(n.args)
	if err != nil {
		return nil, err
	}
	b, err := r.blockOf(n.block)
	if err != nil {
		return nil, err
	}
	r.line = n.line
	if err := r.step(); err != nil {
		return nil, err
	}
	r.line = n.line
	var v value
	if n.receiver == nil {
		v, err = r.function(n.name, args, b, false)
	} else {
		v, err = r.call(receiver, n.name, args, b)
	}
	if j, ok := err.(*jump); ok && b != nil && j.word == "break" && j.from == b {
		return j.value, nil
	}
	return v, err
}

// blockOf returns the block of a call, which may be a symbol that names a method.
func (r *run) blockOf(n node) (*proc, error) {
	switch n := n.(type) {
	case nil:
		return nil, nil
	case *blockNode:
		return r.closure(n), nil
	}
	v, err := n.eval(r)
	if err != nil {
		return nil, err
	}
	switch v := v.(type) {
	case nil:
		return nil, nil
	case *proc:
		return v, nil
	case symbol:
		return &proc{arity: 1, native: func(args []value) (value, error) {
			if len(args) == 0 {
				return nil, fail("ArgumentError", "no receiver given")
			}
			return r.call(args[0], string(v), args[1:], nil)
		}}, nil
	}
	return nil, fail("TypeError", "wrong argument type %s (expected Proc)", classOf(v))
}

func (n *blockNode) eval(r *run) (value, error) { return r.closure(n), nil }

func (r *run) closure(n *blockNode) *proc {
	return &proc{params: n.params, body: n.body, frame: r.frame, isLambda: n.isLambda, arity: len(n.params)}
}

func (n *assign) eval(r *run) (value, error) {
	switch t := n.target.(type) {
	case *local:
		return r.assigned(n, func() (value, error) {
			v, _ := r.frame.get(t.name)
			return v, nil
		}, func(v value) error {
			r.frame.set(t.name, v)
			return nil
		})
	case *instance:
		return r.assigned(n, func() (value, error) { return r.variable(t.name) }, func(v value) error {
			if strings.HasPrefix(t.name, "$") {
				return &unsupported{r.line, "an assignment to a global variable"}
			}
			r.instances[t.name] = v
			return nil
		})
	}
	c := n.target.(*callNode)
	if c.receiver == nil {
		return nil, &unsupported{n.line, "an assignment to a call"}
	}
	receiver, err := c.receiver.eval(r)
	if err != nil {
		return nil, err
	}
	args, err := r.values(c.args)
	if err != nil {
		return nil, err
	}
	return r.assigned(n, func() (value, error) { return r.call(receiver, c.name, args, nil) }, func(v value) error {
		_, err := r.call(receiver, c.name+"=", append(args, v), nil)
		return err
	})
}

// assigned assigns what an operator makes of the old value and another.
func (r *run) assigned(n *assign, get func() (value, error), set func(value) error) (value, error) {
	if n.op == "" {
		v, err := n.value.eval(r)
		if err != nil {
			return nil, err
		}
		return v, set(v)
	}
	old, err := get()
	if err != nil {
		return nil, err
	}
	if n.op == "||" && truthy(old) || n.op == "&&" && !truthy(old) {
		return old, nil
	}
	v, err := n.value.eval(r)
	if err == nil && n.op != "||" && n.op != "&&" {
		v, err = r.call(old, n.op, []value{v}, nil)
	}
	if err != nil {
		return nil, err
	}
	return v, set(v)
}

func (n *multiAssign) eval(r *run) (value, error) {
	v, err := n.value.eval(r)
	if err != nil {
		return nil, err
	}
	l := []value{v}
	if x, ok := v.(*list); ok {
		l = x.l
	}
	at := 0
	for i, t := range n.targets {
		var x value
		if s, ok := t.(*splat); ok {
			count := max(0, len(l)-at-(len(n.targets)-1-i))
			x = &list{l: append([]value{}, l[min(at, len(l)):min(at+count, len(l))]...)}
			t, at = s.value, at+count
		} else {
			if at < len(l) {
				x = l[at]
			}
			at++
		}
		var to node = &assign{target: t, value: &literal{x}}
		if group, ok := t.(*multiAssign); ok {
			to = &multiAssign{group.targets, &literal{x}}
		}
		if _, err := to.eval(r); err != nil {
			return nil, err
		}
	}
	return v, nil
}

func (n *not) eval(r *run) (value, error) {
	v, err := n.value.eval(r)
	return !truthy(v), err
}

func (n *and) eval(r *run) (value, error) {
	v, err := n.left.eval(r)
	if err != nil || !truthy(v) {
		return v, err
	}
	return n.right.eval(r)
}

func (n *or) eval(r *run) (value, error) {
	v, err := n.left.eval(r)
	if err != nil || truthy(v) {
		return v, err
	}
	return n.right.eval(r)
}

func (n *definedNode) eval(r *run) (value, error) {
	known := func(ok bool, what string) (value, error) {
		if !ok {
			return nil, nil
		}
		return str(what), nil
	}
	switch n := n.value.(type) {
	case *local:
		if _, ok := r.frame.get(n.name); ok {
			return known(true, "local-variable")
		}
		return known(r.methods[n.name] != nil || isFunction(n.name), "method")
	case *instance:
		_, ok := r.instance(n.name)
		return known(ok, "instance-variable")
	case *constant:
		_, err := r.constant(n.name)
		return known(err == nil, "constant")
	case *assign, *multiAssign:
		return known(true, "assignment")
	}
	_, err := n.value.eval(r)
	if f, ok := err.(*failure); err != nil && !ok {
		return nil, err
	} else if f != nil {
		return nil, nil
	}
	return known(true, "expression")
}

func (n *block) eval(r *run) (value, error) { return r.body(n.body) }

func (n *branch) eval(r *run) (value, error) {
	c, err := n.condition.eval(r)
	switch {
	case err != nil:
		return nil, err
	case truthy(c):
		return r.body(n.yes)
	}
	return r.body(n.no)
}

func (n *while) eval(r *run) (value, error) {
	for {
		if err := r.step(); err != nil {
			return nil, err
		}
		c, err := n.condition.eval(r)
		if err != nil || truthy(c) == n.until {
			return nil, err
		}
		_, err = r.turn(n.body)
		if v, done, err := loopEnd(err); done || err != nil {
			return v, err
		}
	}
}

// turn evaluates the body of a loop, which next and break in it mean.
func (r *run) turn(body []node) (value, error) {
	r.frame.loops++
	defer func(f *frame) { f.loops-- }(r.frame)
	return r.body(body)
}

// loopEnd returns whether a turn of a loop ends it.
func loopEnd(err error) (v value, done bool, failed error) {
	j, ok := err.(*jump)
	switch {
	case !ok || j.word == "return":
		return nil, false, err
	case j.from != nil && j.word == "break":
		return nil, false, err
	}
	return j.value, j.word == "break", nil
}

func (n *forNode) eval(r *run) (value, error) {
	over, err := n.over.eval(r)
	if err != nil {
		return nil, err
	}
	all, err := r.elements(over)
	if err != nil {
		return nil, err
	}
	for _, v := range all {
		if err := r.step(); err != nil {
			return nil, err
		}
		if err := r.bind(r.frame.set, n.names, []value{v}, false); err != nil {
			return nil, err
		}
		_, err := r.turn(n.body)
		if v, done, err := loopEnd(err); done || err != nil {
			return v, err
		}
	}
	return over, nil
}

func (n *caseNode) eval(r *run) (value, error) {
	var subject value
	if n.subject != nil {
		var err error
		if subject, err = n.subject.eval(r); err != nil {
			return nil, err
		}
	}
	for _, w := range n.whens {
		options, err := r.values(w.options)
		if err != nil {
			return nil, err
		}
		for _, o := range options {
			hit := truthy(o)
			if n.subject != nil {
				v, err := r.call(o, "===", []value{subject}, nil)
				if err != nil {
					return nil, err
				}
				hit = truthy(v)
			}
			if hit {
				return r.body(w.body)
			}
		}
	}
	return r.body(n.otherwise)
}

func (n *begin) eval(r *run) (v value, err error) {
	v, err = r.body(n.body)
	if f, ok := err.(*failure); ok {
		v, err = r.rescued(n, f)
	} else if err == nil && n.otherwise != nil {
		v, err = r.body(n.otherwise)
	}
	if n.ensure != nil {
		if _, err := r.body(n.ensure); err != nil {
			return nil, err
		}
	}
	return v, err
}

func (r *run) rescued(n *begin, f *failure) (value, error) {
	for _, x := range n.rescues {
		if !f.is(x.classes) {
			continue
		}
		if x.variable != "" {
			r.frame.set(x.variable, f)
		}
		return r.body(x.body)
	}
	return nil, f
}

func (n *defNode) eval(r *run) (value, error) {
	r.methods[n.name] = n
	return symbol(n.name), nil
}

func (n *jumpNode) eval(r *run) (value, error) {
	v, err := n.value.eval(r)
	if err != nil {
		return nil, err
	}
	return nil, &jump{word: n.word, value: v, from: r.frame.owner(n.word)}
}

package eval

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// call compiles f(…) and Type(…).
func (c *compiler) call(n *syntax.Call) code {
	switch functor := n.Functor.(type) {
	case *syntax.Name:
		return c.callNamed(n, functor.Value, c.parts(n.Args), n.Lambda)
	case *syntax.TypeName:
		return c.callNamed(n, "new", slices.Insert(c.parts(n.Args), 0, part{code: c.node(functor)}), n.Lambda)
	case *syntax.Access:
		if beginsWithType(functor) {
			return c.callNamed(n, "new", slices.Insert(c.parts(n.Args), 0, part{code: c.node(functor)}), n.Lambda)
		}
	}
	return c.failing(n, issueAt(n.Functor, "Illegal expression. %s is unacceptable as function name in %s",
		"A"+withArticle(syntax.Label(n.Functor))[1:], withArticle(syntax.Label(n))))
}

// method compiles x.f(…), which is f(x, …). Rule LANG-EV-06.
func (c *compiler) method(n *syntax.Method) code {
	args := append(c.parts([]syntax.Node{n.Functor.Left}), c.parts(n.Args)...)
	return c.callNamed(n, n.Functor.Name.Value, args, n.Lambda)
}

// callNamed compiles a call of a function, which is looked up now if it is part of the
// language.
func (c *compiler) callNamed(n syntax.Node, name string, args []part, lambda *syntax.Lambda) code {
	name = strings.TrimPrefix(name, "::")
	s, builtin := c.site(n), c.library[name]
	_, isMethod := n.(*syntax.Method)
	var block *lambdaCode
	if lambda != nil {
		block = c.lambda(lambda)
	}
	return func(f *frame) (data.Value, error) {
		values, err := appendParts(f, make([]data.Value, 0, len(args)), args)
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		var given *Lambda
		if block != nil {
			given = &Lambda{code: block, outer: f}
		}
		var v data.Value
		isMember := false
		if isMethod && len(values) > 0 && values[0].Kind() == data.Rich {
			v, isMember, err = s.callMember(f, name, values, given)
		}
		if called := f.thread.opts.Called; called != nil && !isMember {
			called(name)
		}
		if calls := f.thread.opts.Calls; calls != nil && !isMember {
			calls.Began(name)
			defer calls.Ended(name)
		}
		if f.thread.IsArmed() && err == nil && !isMember {
			err = f.stop(AtFunction, name, s)
		}
		switch {
		case isMember || err != nil:
		case builtin != nil && !(f.thread.shadows && f.thread.functions[name] != nil):
			v, err = s.callBuiltin(f, builtin, values, given)
		default:
			v, err = s.callByName(f, name, values, given)
		}
		if err != nil {
			return v, s.fail(f, err)
		}
		return v, nil
	}
}

func (s site) callBuiltin(f *frame, b *Builtin, args []data.Value, block *Lambda) (data.Value, error) {
	if block == nil {
		if err := f.thread.step(); err != nil {
			return data.Value{}, err
		}
		before := f.thread.calling
		f.thread.calling = s
		v, err := b.Call(&Invocation{Args: args, frame: f, site: s})
		f.thread.calling = before
		return v, err
	}
	if err := f.thread.push(b.Name, s); err != nil {
		return data.Value{}, err
	}
	v, err := b.Call(&Invocation{Args: args, Block: block, frame: f, site: s})
	f.thread.pop()
	return v, err
}

// A Receiver is a value with functions of its own, which programs call as x.f(…). They come
// before those of the language. Rule LANG-EV-06.
type Receiver interface {
	data.RichValue
	// Receive calls a function of the value, with the arguments behind it. It is false if
	// there is none of the name.
	Receive(c *Invocation, name string) (v data.Value, known bool, err error)
}

// callMember calls a function of a value by its name, if the value has one.
func (s site) callMember(f *frame, name string, values []data.Value, block *Lambda) (data.Value, bool, error) {
	if r, ok := values[0].Rich().(Receiver); ok {
		return r.Receive(&Invocation{Args: values[1:], Block: block, Self: r, frame: f, site: s}, name)
	}
	v, ok := member(values[0], name)
	return v, ok, nil
}

func (s site) callByName(f *frame, name string, args []data.Value, block *Lambda) (data.Value, error) {
	fn, err := f.thread.function(name, s.source.File)
	if err != nil {
		return data.Value{}, err
	}
	if fn == nil {
		return data.Value{}, Issuef("Unknown function: '%s'.", name)
	}
	return s.callFunction(f, fn, args, block)
}

// A callable is what functions and lambdas have in common.
type callable struct {
	subject string // in messages
	name    string // of the function, or lambda
	params  []parameter
	sizes   counts
	locals  *locals
	body    code
	returns *typed // nil if any
	isTyped bool   // whether a parameter has a type
	// misplaced fails at a parameter that must be given behind one that need not. Puppet
	// looks when the function is called first. If nil, there is none.
	misplaced code
}

// A parameter has the slot of its place.
type parameter struct {
	name  string
	typed *typed // nil means any
	usual code   // nil if there is no default
	// missing fails at the parameter of a lambda, which is not looked at before it is called.
	missing code
}

// A function is one that a program defines, or what stands for it. Rule LANG-EV-08.
type function struct {
	callable
	name    string
	shadows bool     // a function of the language has its name
	origin  string   // where it is defined, as Puppet writes it
	builtin *Builtin // a function of a module that is part of this program; or nil
}

// function compiles a definition, whose body sees nothing around it.
func (c *compiler) function(n *syntax.Function) *function {
	fn := &function{name: n.Name, shadows: c.library[n.Name] != nil, origin: originOf(c.source, n)}
	around := c.locals
	c.locals = &locals{}
	c.callable(&fn.callable, n.Params, n.Returns, n.Body)
	c.locals = around
	fn.subject, fn.callable.name = "'"+n.Name+"'", n.Name
	return fn
}

// A lambdaCode is a lambda in a program.
type lambdaCode struct{ callable }

func (c *compiler) lambda(n *syntax.Lambda) *lambdaCode {
	l := &lambdaCode{}
	around := c.locals
	c.locals = &locals{around: around}
	c.callable(&l.callable, n.Params, n.Returns, n.Body)
	c.locals = around
	l.subject, l.name = "block", "lambda"
	return l
}

// callable compiles parameters and a body, with the variables of the compiler.
func (c *compiler) callable(out *callable, params []*syntax.Parameter, returns, body syntax.Node) {
	out.locals = c.locals
	for i, p := range params {
		x := parameter{name: p.Name, typed: c.typed(p.Type)}
		x.missing = c.failing(p, Issuef("Parameter $%s is required but no value was given", p.Name))
		if p.Default != nil {
			out.locals.giving = params[i:]
			x.usual = c.node(p.Default)
			out.locals.giving = nil
		}
		out.locals.names = append(out.locals.names, p.Name)
		out.isTyped = out.isTyped || x.typed != nil
		if p.Default == nil && !p.Rest && out.sizes.most > out.sizes.least {
			out.misplaced = c.failing(p, Issuef("Parameter $%s is required but appears after optional parameters", p.Name))
		}
		switch {
		case p.Rest:
			out.sizes.most = many
		case p.Default != nil:
			out.sizes.most++
		default:
			out.sizes = counts{out.sizes.least + 1, out.sizes.most + 1}
		}
		out.params = append(out.params, x)
	}
	out.body, out.returns = c.body(body), c.typed(returns)
}

// signature returns what a call is checked against.
func (c *callable) signature(f *frame) (*Signature, error) {
	s := &Signature{params: make([]Param, len(c.params)), sizes: c.sizes}
	for i, p := range c.params {
		s.params[i].Name = p.name
		if p.typed == nil {
			continue
		}
		t, err := p.typed.typeFrom(f)
		if err != nil {
			return nil, err
		}
		s.params[i].Type = t
		if c.sizes.most == many && i == len(c.params)-1 {
			s.params[i].Type, s.sizes = rest(t, s.sizes)
		}
	}
	return s, nil
}

// rest returns the type of each argument that the last parameter takes, and how many there
// may be in all. An Array is a type of elements and their number there.
func rest(t types.Type, all counts) (types.Type, counts) {
	element, least, most, ok := types.ArrayOf(t)
	if !ok {
		return t, all
	}
	if all.least += least; most != many {
		all.most = all.least - least + most
	}
	return element, all
}

// bind puts arguments and defaults into the slots of a frame, and checks them.
func (c *callable) bind(f *frame, args []data.Value) error {
	if c.misplaced != nil {
		_, err := c.misplaced(f)
		return err
	}
	s := &Signature{sizes: c.sizes}
	if c.isTyped || !c.sizes.has(len(args)) {
		var err error
		if s, err = c.signature(f); err != nil {
			return err
		}
	}
	if !s.sizes.has(len(args)) {
		return Errorf("%s", rejection(c.subject, []*Signature{s}, args, nil))
	}
	all := args
	for i, p := range c.params {
		if c.sizes.most == many && i == len(c.params)-1 {
			v, err := c.rest(f, args, i)
			if err != nil {
				return err
			}
			all, f.slots[i] = append(all[:i:i], v.List()...), slot{v, true}
			break
		}
		if i >= len(args) {
			v, err := c.usual(f, p)
			if err != nil {
				return err
			}
			all = append(all[:i:i], v)
		}
		f.slots[i] = slot{all[i], true}
	}
	if !c.isTyped {
		return nil
	}
	for i, v := range all {
		of := s.at(i).Type
		if of == nil {
			continue
		}
		ok, err := f.thread.check(of, v)
		if err == nil && !ok {
			err = Errorf("%s", rejection(c.subject, []*Signature{s}, all, nil))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// usual returns the default of a parameter.
func (c *callable) usual(f *frame, p parameter) (data.Value, error) {
	v, err := p.usual(f)
	if early, ok := err.(*earlyError); ok {
		err = Errorf("%s: default expression for $%s tries to illegally access not yet evaluated $%s", c.name, p.name, early.text)
	}
	return v, err
}

// rest returns the arguments that the last parameter takes. Its default also stands for a
// single undef.
func (c *callable) rest(f *frame, args []data.Value, from int) (data.Value, error) {
	last := c.params[from]
	if last.usual != nil && (from >= len(args) || from == len(args)-1 && args[from].IsNil()) {
		v, err := c.usual(f, last)
		if err == nil && v.Kind() != data.List {
			v = data.OfList([]data.Value{v})
		}
		return v, err
	}
	if from >= len(args) {
		return data.OfList(nil), nil
	}
	return data.OfList(args[from:len(args):len(args)]), nil
}

// callFunction calls a function of a program.
func (s site) callFunction(f *frame, fn *function, args []data.Value, block *Lambda) (data.Value, error) {
	if fn.builtin != nil {
		return s.callBuiltin(f, fn.builtin, args, block)
	}
	t := f.thread
	if err := t.push(fn.name, s); err != nil {
		return data.Value{}, err
	}
	defer t.pop()
	inside := t.enter(fn.locals, t.top, nil)
	defer t.leave(inside)
	err := fn.bind(inside, args)
	if err == nil && block != nil {
		err = Errorf("%s does not expect a block", fn.subject)
	}
	if err != nil {
		return data.Value{}, outside(err)
	}
	v, err := fn.body(inside)
	if j, ok := err.(*jump); ok && j.kind != toBreak {
		if v, err = j.value, nil; j.kind == toReturn {
			return v, nil // whose type Puppet does not check
		}
	}
	if err != nil {
		return v, err // also a break, which ends the iteration that called
	}
	return fn.result(inside, v)
}

// result checks what a function returns.
func (fn *function) result(f *frame, v data.Value) (data.Value, error) {
	if fn.returns == nil {
		return v, nil
	}
	t, err := fn.returns.typeFrom(f)
	if err != nil {
		return v, err
	}
	ok, err := f.thread.check(t, v)
	if err == nil && !ok {
		err = Errorf("%s", Mismatch("value returned from "+fn.name+" has wrong type,", t, v))
	}
	return v, err
}

// A Lambda is one that a function was given. It must not be called after the function
// returned. Rule LANG-EV-05.
type Lambda struct {
	code  *lambdaCode
	outer *frame
	do    func(args []data.Value) (data.Value, error) // in place of a body; or nil
}

// NewLambda returns a lambda that is no part of a program. It takes from least to most
// arguments; -1 is any number.
func NewLambda(least, most int, do func(args []data.Value) (data.Value, error)) *Lambda {
	return &Lambda{code: &lambdaCode{callable{sizes: counts{least, most}}}, do: do}
}

func (l *Lambda) sizes() counts { return l.code.sizes }

// Arity returns how many parameters the lambda has at most; -1 is any number.
func (l *Lambda) Arity() int { return l.code.sizes.most }

// Call calls the lambda. An error may be one that [IsBreak] reports; every other is
// passed on.
func (l *Lambda) Call(args ...data.Value) (data.Value, error) {
	if l.do != nil {
		return l.do(args)
	}
	t := l.outer.thread
	if err := t.step(); err != nil {
		return data.Value{}, err
	}
	f := t.enter(l.code.locals, l.outer.scope, l.outer)
	defer t.leave(f)
	if n := l.code.sizes.least; len(args) < n {
		return l.code.params[len(args)].missing(f)
	}
	if n := l.code.sizes.most; n != many && len(args) > n {
		args = args[:n]
	}
	if err := l.code.bind(f, args); err != nil {
		return data.Value{}, err
	}
	v, err := l.code.body(f)
	if j, ok := err.(*jump); ok && j.kind == toNext {
		v, err = j.value, nil
	}
	if err != nil || l.code.returns == nil {
		return v, err
	}
	result, err := l.code.returns.typeFrom(f)
	if err != nil {
		return v, err
	}
	ok, err := t.check(result, v)
	if err == nil && !ok {
		err = Errorf("%s", Mismatch("value returned from lambda has wrong type,", result, v))
	}
	return v, err
}

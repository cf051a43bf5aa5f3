package eval

import (
	"path/filepath"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// A template is what a source of EPP means: a lambda whose parameters are given by their
// names. Rule LANG-EPP-02.
type template struct {
	lambdaCode
	hasParams bool // also if there are none in the list
}

// template compiles one. A name that it does not bind may be one of what calls, which is
// not known before it is called.
func (c *compiler) template(n *syntax.Lambda) *template {
	epp, ok := n.Body.(*syntax.EPP)
	if !ok {
		return nil
	}
	t := &template{hasParams: epp.HasParams}
	c.locals = &locals{open: true}
	c.callable(&t.callable, n.Params, nil, epp.Body)
	c.definitions(epp.Body)
	t.subject, t.locals.params = "lambda", len(n.Params)
	c.locals = nil
	return t
}

// An output is what a template writes.
type output struct {
	text   strings.Builder
	secret bool // a part of it is Sensitive
}

// renderText compiles the text between tags.
func (c *compiler) renderText(n *syntax.RenderText) code {
	s := c.site(n)
	return func(f *frame) (data.Value, error) {
		f.thread.output.text.WriteString(n.Value)
		if err := f.thread.spend(len(n.Value)); err != nil {
			return data.Value{}, s.fail(f, err)
		}
		return data.Value{}, nil
	}
}

// render compiles <%= expression %>. Rule LANG-EPP-03.
func (c *compiler) render(n *syntax.Render) code {
	s, expr := c.site(n), c.node(n.Expr)
	return func(f *frame) (data.Value, error) {
		v, err := expr(f)
		if err != nil {
			return v, err
		}
		out := f.thread.output
		if inner, ok := types.Unwrap(v); ok {
			v, out.secret = inner, true
		}
		text, err := f.thread.text(v)
		if err != nil {
			return data.Value{}, s.fail(f, err)
		}
		out.text.WriteString(text)
		return data.Value{}, nil
	}
}

// Render evaluates a template, with arguments by their names; nil is none. It sees the
// variables of the place of the call if it is part of the program there; else those of the
// node's statement and of the top scope. Errors of its syntax are returned in Puppet's words, for the function that
// was called. Rules LANG-EPP-02, LANG-EPP-03.
func (c *Invocation) Render(function string, p *Program, args data.Value, inline bool) (data.Value, error) {
	t := c.frame.thread
	if err := t.reportOf(p); err != nil {
		return data.Value{}, Errorf("%s(): Invalid EPP: %s", function, err)
	}
	if p.template == nil {
		return data.Value{}, Errorf("%s(): the parser did not produce a LambdaExpression", function)
	}
	if len(p.defined) > 0 {
		return data.Value{}, Errorf("%s(): The EPP template contains illegal expressions (definitions)", function)
	}
	if err := t.push(function, c.site); err != nil {
		return data.Value{}, err
	}
	defer t.pop()
	part := t.templatePart(p.source.File, function)
	v, err := c.renderIn(function, p, args, inline)
	part.End(made(part, v), err)
	return v, err
}

// templatePart begins the part that a template is, or the function that was given its
// text.
func (t *Thread) templatePart(file, function string) Part {
	name := function
	if file != "" {
		name = filepath.Base(file)
	}
	return t.Part("template", name, file, 0)
}

// made is the answer of a part that makes a text.
func made(p Part, v data.Value) string {
	if !p.IsTraced() {
		return ""
	}
	return strconv.Itoa(len(Text(v))) + " bytes"
}

func (c *Invocation) renderIn(function string, p *Program, args data.Value, inline bool) (data.Value, error) {
	t := c.frame.thread
	scope, outer := c.frame.scope.global(), (*frame)(nil)
	if inline {
		scope, outer = c.frame.scope, c.frame
	}
	f := t.enter(p.template.locals, scope, outer)
	defer t.leave(f)
	before := t.output
	t.output = &output{}
	defer func() { t.output = before }()
	if err := p.template.give(f, args); err != nil {
		return data.Value{}, err
	}
	_, err := p.template.body(f)
	if j, ok := err.(*jump); ok && j.kind != toBreak {
		return j.value, rendered(function, j)
	}
	text := data.OfString(t.output.text.String())
	if err != nil || !t.output.secret {
		return text, err
	}
	return newRich("Sensitive", text)
}

// rendered returns Puppet's error if a template ends itself with a value that is no text.
// Puppet does not look at what return returns.
func rendered(function string, j *jump) error {
	want := MustType("Variant[String, Sensitive[String]]")
	if j.kind == toReturn || Accepts(want, j.value) {
		return nil
	}
	return Errorf("%s", Mismatch("value returned from function '"+function+"' has wrong type,", want, j.value))
}

// give binds arguments, which are a hash or nil. Without parameters there may be any.
func (t *template) give(f *frame, args data.Value) error {
	if !t.hasParams && !args.IsNil() {
		f.extra = args
		return nil
	}
	given := HashOf(args)
	for i, p := range t.params {
		name := data.OfString(p.name)
		v, ok := given.Get(name)
		if v.IsNil() && p.usual != nil {
			var err error
			f.giving = i + 1
			v, err = p.usual(f)
			f.giving = 0
			if early, ok := err.(*earlyError); ok {
				return Errorf("%s", early)
			}
			if err != nil {
				return err
			}
			given.Put(name, v)
			ok = true
		}
		if ok {
			f.slots[i] = slot{v, true}
		}
	}
	s, err := t.signature(f)
	if err != nil {
		return err
	}
	return mismatchOfNamed(t.subject, s, given.Value(), func(name string) bool {
		i := t.locals.find(name)
		return i >= len(t.params) || t.params[i].usual == nil
	})
}

// An earlyError reports a default that uses a parameter that has no value. Puppet does not
// name the place in the default, but that of the call.
type earlyError struct{ text string } // of a function: the name of the parameter

func (e *earlyError) Error() string { return e.text }

// early returns the error if a parameter of the template around has no value yet, while the
// default of another is evaluated. Rule LANG-EV-08.
func (f *frame) early(name string) error {
	i := -1
	for ; f.locals != nil; f = f.outer {
		if i = f.locals.find(name); i >= 0 && f.slots[i].bound {
			return nil
		}
		if f.locals.open || f.outer == nil {
			break
		}
	}
	switch {
	case f.giving == 0 || i < 0 || i >= f.locals.params:
		return nil
	case i < f.giving-1:
		return &earlyError{"lambda: expects a value for parameter $" + name}
	}
	return &earlyError{"lambda: default expression for $" + f.locals.names[f.giving-1] + " tries to illegally access not yet evaluated $" + name}
}

// mismatchOfNamed returns Puppet's error if arguments that are given by names do not fit
// parameters: first those that no parameter is named like. Rule LANG-TYPE-30.
func mismatchOfNamed(subject string, s *Signature, given data.Value, required func(name string) bool) error {
	var wrong []string
	for _, p := range given.Hash() {
		if !containsParam(s.params, p.Key.Text()) {
			wrong = append(wrong, " has no parameter named '"+p.Key.Text()+"'")
		}
	}
	for _, p := range s.params {
		v, ok := given.Lookup(p.Name)
		switch {
		case !ok && required(p.Name):
			wrong = append(wrong, " expects a value for parameter '"+p.Name+"'")
		case ok && p.Type != nil && !Accepts(p.Type, v):
			for line := range strings.SplitSeq(Mismatch("parameter '"+p.Name+"'", p.Type, v), "\n") {
				wrong = append(wrong, " "+strings.TrimSpace(line))
			}
		}
	}
	switch len(wrong) {
	case 0:
		return nil
	case 1:
		return Errorf("%s:%s", subject, wrong[0])
	}
	return Errorf("%s:\n %s", subject, strings.Join(wrong, "\n "))
}

func containsParam(params []Param, name string) bool {
	for _, p := range params {
		if p.Name == name {
			return true
		}
	}
	return false
}

// Inline returns the program of a template that is a text. A thread keeps those that it
// has seen.
func (c *Invocation) Inline(text string, library Library) *Program {
	t := c.frame.thread
	if p, ok := t.inline[text]; ok {
		return p
	}
	p := Read(&syntax.Source{File: "inlined-epp-text", Text: text}, syntax.Options{EPP: true, DuplicateKeys: t.opts.Strict}, library)
	if t.inline == nil || len(t.inline) >= maxInline {
		t.inline = map[string]*Program{}
	}
	t.inline[text] = p
	return p
}

// maxInline is how many templates of texts a thread keeps.
const maxInline = 1000

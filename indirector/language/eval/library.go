package eval

import (
	"context"
	"slices"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// A Library has the functions that are part of the language, by their names.
type Library map[string]*Builtin

// A Builtin is a function that is part of the language. It calls the first of its ways
// that takes the arguments. Rule LANG-FN-01.
type Builtin struct {
	Name string
	Ways []Way
	// Old marks a function of Puppet's older kind: it is given texts for undef and for
	// rich values, and checks arguments by itself.
	Old bool
	// Types finds the types that signatures name beyond those of the language. It may be
	// nil.
	Types types.Lookup

	compiled sync.Once
}

// A Way is one of the signatures of a function, and what it does then.
type Way struct {
	Params string // see [ParseSignature]
	// Signature is what the way takes, in place of Params. It may be nil.
	Signature *Signature
	Do        func(c *Invocation) (data.Value, error)
	// Refusal marks arguments that the function knows and refuses in words of its own,
	// which Do returns. Messages do not name it among the signatures.
	Refusal bool
	// Returns is the type of what a way returns, if Puppet's function has one.
	Returns string

	signature Signature
}

// An Invocation is what a function is called with.
type Invocation struct {
	Args  []data.Value
	Block *Lambda        // nil if there is none
	Self  data.RichValue // the value whose function it is; or nil

	frame *frame
	site  site
}

// compile reads the signatures when they are needed first.
func (b *Builtin) compile() {
	b.compiled.Do(func() {
		for i := range b.Ways {
			if w := &b.Ways[i]; w.Signature != nil {
				w.signature = *w.Signature
			} else {
				w.signature = ParseSignature(w.Params, b.Types)
			}
		}
	})
}

// Call calls the function with what another was called with, or a [Receiver].
func (b *Builtin) Call(c *Invocation) (data.Value, error) {
	b.compile()
	if b.Old {
		args := make([]data.Value, len(c.Args))
		for i, v := range c.Args {
			old, err := toOld(v)
			if err != nil {
				return data.Value{}, err
			}
			args[i] = old
		}
		c.Args, c.Block = args, nil
	}
	for i := range b.Ways {
		if w := &b.Ways[i]; w.signature.takes(c.Args, c.Block) {
			v, err := w.Do(c)
			if err == nil {
				err = c.frame.thread.bounded(v)
			}
			return v, err
		}
	}
	var signatures []*Signature
	for i := range b.Ways {
		if !b.Ways[i].Refusal {
			signatures = append(signatures, &b.Ways[i].signature)
		}
	}
	return data.Value{}, Errorf("%s", rejection("'"+b.Name+"'", signatures, c.Args, c.Block))
}

// toOld returns a value as functions of the older kind are given it: undef only by itself
// as a text, not within lists and hashes.
func toOld(v data.Value) (data.Value, error) {
	if v.IsNil() {
		return data.OfString(""), nil
	}
	return toOldPart(v)
}

func toOldPart(v data.Value) (data.Value, error) {
	switch v.Kind() {
	case data.List:
		l := make([]data.Value, v.Len())
		for i, x := range v.List() {
			old, err := toOldPart(x)
			if err != nil {
				return v, err
			}
			l[i] = old
		}
		return data.OfList(l), nil
	case data.Hash:
		b := NewHash(v.Len())
		for _, p := range v.Hash() {
			key, err := toOldPart(p.Key)
			if err != nil {
				return v, err
			}
			value, err := toOldPart(p.Value)
			if err != nil {
				return v, err
			}
			b.Put(key, value)
		}
		return b.Value(), nil
	case data.Rich:
		return toOldRich(v)
	}
	return v, nil
}

func toOldRich(v data.Value) (data.Value, error) {
	if isIterating(v) {
		return v, Errorf("Use of an Iterator is not supported here")
	}
	switch kindOf(v) {
	case isType:
		t, _ := types.AsType(v)
		if ref, ok := types.AsReference(t); ok && ref.Type == "Class" && !ref.Titled {
			return v, Errorf(`No title provided and "class" is not a valid resource reference`)
		}
	case isRegexp, isVersion, isVersions, isBinary, isTimespan, isTimestamp:
		return data.OfString(v.Text()), nil
	}
	return v, nil
}

// OldText returns the text of a value as functions of the older kind see it, to which a
// type of a class or of a resource is a resource.
func OldText(v data.Value) string {
	if t, ok := types.AsType(v); ok {
		if ref, ok := types.AsReference(t); ok && ref.Type != "" {
			if ref.Type == "Class" {
				ref.Title = types.FullName(ref.Title)
			}
			return ref.Type + "[" + ref.Title + "]"
		}
	}
	return v.Text()
}

// Arg returns an argument, or undef if there are fewer.
func (c *Invocation) Arg(i int) data.Value {
	if i < len(c.Args) {
		return c.Args[i]
	}
	return data.Value{}
}

// Host returns what the options of the thread have.
func (c *Invocation) Host() any { return c.frame.thread.opts.Host }

// Context ends with the evaluation.
func (c *Invocation) Context() context.Context { return c.frame.thread.ctx }

// Strict is Puppet's setting of that name.
func (c *Invocation) Strict() syntax.Strictness { return c.frame.thread.opts.Strict }

// Step counts a turn of a loop. The error ends the evaluation.
func (c *Invocation) Step() error { return c.frame.thread.step() }

// Spend counts bytes of values that are made. The error ends the evaluation.
func (c *Invocation) Spend(bytes int) error { return c.frame.thread.spend(bytes) }

// Regexp compiles a regular expression, whose matches take their time from that of the
// evaluation.
func (c *Invocation) Regexp(source string) (*onig.Regexp, error) {
	re, err := onig.Shared(source)
	if err != nil {
		return nil, err
	}
	return c.frame.thread.Within(re), nil
}

// Within returns an expression whose matches take their time from that of the evaluation.
func (t *Thread) Within(re *onig.Regexp) *onig.Regexp { return re.Within(t.matching) }

// Made counts a list or hash that is made with all that is in it. The error ends the
// evaluation.
func (c *Invocation) Made(v data.Value) error { return c.frame.thread.charge(v) }

// Text returns the form that a value has within a string, and counts it.
func (c *Invocation) Text(v data.Value) (string, error) { return c.frame.thread.text(v) }

// Place returns where the call stands.
func (c *Invocation) Place() (file string, line int) {
	line, _ = c.site.position(c.site.node)
	return c.site.source.File, line
}

// Log logs a message at one of Puppet's levels, by the scope that calls. Rule LANG-FN-03.
func (c *Invocation) Log(level, message string) {
	file, line := c.Place()
	c.frame.thread.log(LogEntry{Level: level, Message: message, Source: "Scope(" + c.frame.scope.Owner.String() + ")", File: file, Line: line})
}

// Kinds of warnings, which Puppet's setting disable_warnings names.
const (
	Deprecations       = "deprecations"
	UndefinedVariables = "undefined_variables"
)

// WarnOnce logs a warning of a kind whose place is part of the text, once for each text. Without a
// place it is what Puppet writes about none. Rule LANG-ERR-07.
func (c *Invocation) WarnOnce(kind, message string, placed bool) {
	t := c.frame.thread
	if t.logged[message] || slices.Contains(t.opts.DisableWarnings, kind) {
		return
	}
	t.logged[message] = true
	place := "(file & line not available)"
	if placed {
		file, line := c.Place()
		if file == "" {
			file = "unknown"
		}
		p := syntax.Problem{Message: "", File: file, Line: line}
		place = strings.TrimSpace(p.Error())
	}
	t.log(LogEntry{Level: "warning", Message: message + "\n   " + place})
}

// Variable returns a variable as the place of the call sees it.
func (c *Invocation) Variable(name string) (data.Value, bool) {
	c.readAt(name)
	return c.frame.lookup(name)
}

// Match returns what the groups of a regular expression matched, as the place of the call sees it.
func (c *Invocation) Match() []data.Value { return c.frame.match }

// Unready returns the error of a variable that is a parameter without a value yet, which ends
// the default expression that reads it. It is nil for every other.
func (c *Invocation) Unready(name string) error {
	if strings.Contains(name, "::") {
		return c.frame.thread.unready(name)
	}
	_, _, err := c.frame.scope.reach(name)
	return err
}

// Call calls a function by its name. It is false if there is none.
func (c *Invocation) Call(name string, args []data.Value, library Library) (v data.Value, known bool, err error) {
	name = strings.TrimPrefix(name, "::")
	if b, ok := library[name]; ok {
		v, err = b.Call(&Invocation{Args: args, Block: c.Block, frame: c.frame, site: c.site})
		return v, true, err
	}
	fn, err := c.frame.thread.function(name, c.site.source.File)
	if err != nil || fn == nil {
		return v, fn != nil, err
	}
	v, err = c.site.callFunction(c.frame, fn, args, c.Block)
	return v, true, err
}

// Jump ends lambdas, functions or iterations with a value: next, return or break.
func (c *Invocation) Jump(name string, v data.Value) error {
	file, line := c.Place()
	for kind, n := range jumpNames {
		if n == name {
			return &jump{jumpKind(kind), v, file, line}
		}
	}
	panic("eval: no jump is named " + name)
}

// TypeNamed returns the type of a text, which may name those of programs. A name that means
// nothing is a type that no value is of.
func (c *Invocation) TypeNamed(text string) (types.Type, error) {
	return types.Parse(text, func(name string) types.Type {
		t, err := c.frame.thread.named(name)
		if t == nil || err != nil {
			return types.Unresolved(name)
		}
		return t
	})
}

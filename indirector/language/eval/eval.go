// Package eval evaluates programs of the Puppet language.
//
//	prog, report := syntax.Parse(src, syntax.Options{})
//	p := eval.Compile(prog, fn.Library())
//	t := eval.NewThread(eval.Options{Log: log})
//	v, err := t.Run(ctx, p)
//
// [Compile] turns a tree into closures once; the [Program] that it returns does not
// change and is shared by all evaluations. A [Thread] is one evaluation: its variables,
// limits and stack. Within lambdas and functions variables are slots, whose numbers the
// compiler knows; those of the top scope have names, since facts and data ask for them.
//
// Functions of the language are no part of this package: a [Library] is given to the
// compiler, which finds them by name once, and [Builtin] chooses among their signatures.
//
// Messages are Puppet's, letter by letter. An operation that fails returns an error
// without a place; the node that asked for it adds what Puppet adds, once. See [Error].
package eval

import (
	"context"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/language/onig"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// A LogEntry is a message for users.
type LogEntry struct {
	Level   string // Puppet's: debug, info, notice, warning, err, alert, emerg, crit
	Message string
	Source  string // what logs, as "Scope(Class[main])"; "" if it is the evaluation itself
	File    string // "" if it is not known
	Line    int    // from 1; 0 if it is not known
	Column  int    // from 1; 0 if it is not known
}

// String returns the message as Puppet prints it, without its level.
func (e LogEntry) String() string {
	if e.Source != "" {
		return e.Source + ": " + e.Message
	}
	p := syntax.Problem{Message: e.Message, File: e.File, Line: e.Line, Column: e.Column}
	return p.Error()
}

// Options are how a [Thread] evaluates. The zero value means Puppet's defaults.
type Options struct {
	// Strict is Puppet's setting of that name.
	Strict syntax.Strictness
	// StrictVariables makes an unknown variable an error.
	StrictVariables bool
	// DisableWarnings is Puppet's setting of that name: kinds of warnings.
	DisableWarnings []string
	// Log takes messages, in their order. If nil, they are dropped.
	Log func(LogEntry)
	// Load finds what a name means beyond the programs that are run; see [Found]. If nil,
	// there is no more.
	Load func(kind Kind, name, from string) (Found, error)

	// Stopper is asked at every statement whether the evaluation is to stop. If nil, it
	// does not.
	Stopper Stopper
	// Called receives the name of every function that a program or a template calls. It
	// may be nil.
	Called func(name string)
	// Calls is informed of the same calls, beside Called. It may be nil.
	Calls Calls
	// Read receives each variable of the top scope that is read, and each that is unknown,
	// where it was read first. It may be nil. Rule LANG-TRACE-06.
	Read func(VariableRead)

	// Host is what functions find in [Invocation.Host]. This package does not look at it.
	Host any
	// Catalog takes what is declared. If nil, declarations fail.
	Catalog Catalog
	// StoreConfigs is Puppet's setting of that name.
	StoreConfigs bool

	// Limits of ours; 0 means 1000 calls within each other, 10 million steps, 512 MiB of
	// values, and 10 s for matches of regular expressions that go back. Rule LANG-EV-10.
	MaxDepth    int
	MaxSteps    int64
	MaxBytes    int64
	MaxMatching time.Duration
}

// A Program is a compiled source. It does not change, and may be shared.
type Program struct {
	source    *syntax.Source
	body      syntax.Node
	main      code
	functions []*function
	aliases   []*syntax.TypeAlias
	defined   []Definition
	template  *template      // nil if the source is none
	report    *syntax.Report // nil if it is not known

	containers []*Container
}

// A code is a compiled node. What it returns as an error is final: an [Error] with its
// place, or a jump.
type code func(f *frame) (data.Value, error)

// A Thread evaluates programs, one after the other, in one top scope. It is for one
// goroutine.
type Thread struct {
	opts      Options
	ctx       context.Context
	top       *Scope
	defined   map[*Program]bool
	functions map[string]*function
	shadows   bool                  // one of them has the name of a function of the language
	loaded    map[loadKey]*function // nil if there is none of the name
	aliases   map[string]*alias
	checked   map[syntax.Node]types.Type // types of parameters, once they were evaluated
	logged    map[string]bool            // what is logged once
	reads     map[string]bool            // names that Options.Read received
	stack     []call
	calling   site                // the function without a lambda that is called now; its node may be nil
	program   string              // the file of the program that is run in the top scope
	isRunning bool                // whether one is
	output    *output             // of the template that is evaluated
	inline    map[string]*Program // templates by their texts
	steps     int64
	bytes     int64
	matching  *onig.Budget
	free      []*frame

	parts   int            // that were begun
	omitted map[string]int // parts that are no spans, by their kinds
	failed  failedPart     // the one that failed last
}

// NewThread returns a thread without variables beyond those that every top scope has.
func NewThread(opts Options) *Thread {
	opts.MaxDepth = orDefault(opts.MaxDepth, 1000)
	opts.MaxSteps = orDefault(opts.MaxSteps, 10_000_000)
	opts.MaxBytes = orDefault(opts.MaxBytes, 512<<20)
	opts.MaxMatching = orDefault(opts.MaxMatching, 10*time.Second)
	t := &Thread{
		matching: onig.NewBudget(opts.MaxMatching),
		opts:     opts, top: &Scope{Owner: label("Class[main]")}, defined: map[*Program]bool{}, functions: map[string]*function{}, loaded: map[loadKey]*function{}, aliases: map[string]*alias{},
		checked: map[syntax.Node]types.Type{}, logged: map[string]bool{},
	}
	t.Set("title", data.OfString("main"))
	t.Set("name", data.OfString("main"))
	t.Set("module_name", data.OfString(""))
	return t
}

func orDefault[N int | int64 | time.Duration](n, usual N) N {
	if n == 0 {
		return usual
	}
	return n
}

// Set binds a variable of the top scope, whose name has no leading colons. It may be one
// that programs cannot assign. Rule LANG-SC-04.
func (t *Thread) Set(name string, v data.Value) { t.top.Set(name, v) }

// Get returns a variable of the top scope or, by its whole name, of a class, and whether
// there is one.
func (t *Thread) Get(name string) (data.Value, bool) {
	return t.qualified(name)
}

// Run adds the definitions of a program and evaluates it. It returns the value of the
// last statement. An error is an [*Error], that of the context included. Panics of this
// program end here, too.
func (t *Thread) Run(ctx context.Context, p *Program) (data.Value, error) {
	return t.guarded(ctx, func() (data.Value, error) {
		if err := t.Define(p); err != nil {
			return data.Value{}, err
		}
		return t.statements(t.top, p)
	})
}

// statements evaluates those of a program outside of its definitions in a scope.
func (t *Thread) statements(s *Scope, p *Program) (data.Value, error) {
	f := t.enter(nil, s, nil)
	defer t.leave(f)
	program, isRunning := t.program, t.isRunning
	defer func() { t.program, t.isRunning = program, isRunning }()
	t.program, t.isRunning = p.source.File, true
	return p.main(f)
}

// Call calls a function that programs or modules have, from outside of programs. What has
// no place is returned as it is. A program that is run may be what asks.
func (t *Thread) Call(ctx context.Context, name string, args ...data.Value) (data.Value, error) {
	return t.guarded(ctx, func() (data.Value, error) {
		s := site{source: &syntax.Source{}}
		fn, err := t.function(name, "")
		if err != nil {
			return data.Value{}, err
		}
		if fn == nil {
			return data.Value{}, Issuef("Unknown function: '%s'.", name)
		}
		f := t.enter(nil, t.top, nil)
		v, err := s.callFunction(f, fn, args, nil)
		t.leave(f)
		return v, err
	})
}

// CallKnown is [Thread.Call] for functions of a library, too. It is false if there is no
// function of that name.
func (t *Thread) CallKnown(ctx context.Context, library Library, name string, args ...data.Value) (v data.Value, known bool, err error) {
	v, err = t.guarded(ctx, func() (data.Value, error) {
		f := t.enter(nil, t.top, nil)
		defer t.leave(f)
		c := Invocation{frame: f, site: site{source: &syntax.Source{}}}
		v, known, err = c.Call(name, args, library)
		return v, err
	})
	return v, known, err
}

// Knows reports whether there is a function that [Thread.Call] can call.
func (t *Thread) Knows(name string) (bool, error) {
	fn, err := t.function(name, "")
	return fn != nil, err
}

// TypeNamed returns the type that a name in small letters means beyond those of the
// language, or nil.
func (t *Thread) TypeNamed(name string) (types.Type, error) { return t.named(name) }

// guarded evaluates within what goes on already.
func (t *Thread) guarded(ctx context.Context, do func() (data.Value, error)) (v data.Value, err error) {
	before, depth := t.ctx, len(t.stack)
	t.ctx = ctx
	defer func() {
		t.ctx, t.stack = before, t.stack[:depth]
		if r := recover(); r != nil {
			err = panicked(r)
		}
	}()
	v, err = do()
	return v, outside(err)
}

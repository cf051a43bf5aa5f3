// Package site puts together what programs need beyond themselves in one compile: the
// definitions of an environment and its modules, and data lookup.
//
//	s := site.New(site.Options{Open: open, Programs: cache, Hiera: hieraOptions})
//	v, err := s.Run(ctx, program)
//	v, err = s.Data.Lookup(query)
//
// Programs look data up, and data comes from functions that are programs: both halves of a
// [Site] know each other, and share the variables of the top scope.
package site

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/helper"
	"indirtui/indirector/language/loader"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
	"indirtui/traces"
)

// Options are what a Site is made of.
type Options struct {
	// Open opens the environment, when it is needed first. If nil, there are no
	// definitions beyond those of programs.
	Open     func() (*loader.Environment, error)
	Programs *loader.Cache // of the programs of files; see [NewPrograms]
	// Hiera is how data is looked up. Its Language is set here, and its Scope if it is nil:
	// then it is the top scope.
	Hiera hiera.Options
	// Eval is how programs are evaluated. Its Load is set here.
	Eval eval.Options
	// Syntax is how programs are read. Its DuplicateKeys are those of Eval.
	Syntax syntax.Options
	// Generate runs a command for the function generate. If nil, there is no such function.
	Generate func(ctx context.Context, command []string) (string, error)
	// Validate runs a command on a file with the content for the function validate_cmd. If
	// nil, there is no such function.
	Validate func(ctx context.Context, content, command string) error
	// Query asks PuppetDB for the function puppetdb_query: PQL, a text, or an AST, a list.
	// If nil, the function fails.
	Query func(ctx context.Context, query data.Value) (data.Value, error)
	// Ruby is the interpreter that runs functions and templates which this program cannot run
	// itself, in a process of its own. If empty, they are refused. Rule LANG-ERB-10.
	Ruby string
	// Search looks up one key, as by a request. If nil, it is looked up in Data.
	Search func(ctx context.Context, c *hiera.Compile, key string, q hiera.Query) (v data.Value, found bool, err error)
	// Finished is called when the catalog of a compile is finished, with the data that is
	// looked up in its top scope. It may be nil.
	Finished func(*hiera.Compile)
	// Origins makes a catalog know where everything in it is from: the level, file and line
	// of data, too.
	Origins bool
	// Used receives every file that the compile uses, each time that it is asked for, by
	// what it is used as: manifest, function, type, data or template. It may be nil.
	Used func(ctx context.Context, kind, path string)
	// Variables are those of the top scope, without leading colons.
	Variables hiera.Variables
	// Context ends functions that lookups call from outside of programs. If nil, they
	// cannot be ended.
	Context context.Context
}

// FromSettings returns what Puppet's settings stand for, in the environment of the options
// of hiera. The variables are those of their scope, if they are at hand as a whole. What
// is read is kept among the programs.
func FromSettings(get func(name string) string, o hiera.Options, programs *loader.Cache) Options {
	variables, _ := o.Scope.(hiera.Variables)
	parse := syntax.OptionsOf(get)
	return Options{
		Open: func() (*loader.Environment, error) {
			return loader.Open(loader.Options{
				Dir: o.EnvironmentDir, Modulepath: get("modulepath"), Manifest: get("manifest"), Strict: get("strict"), Cache: programs,
			})
		},
		Programs: programs, Hiera: o, Variables: variables,
		Syntax: parse,
		Eval: eval.Options{
			Strict: parse.DuplicateKeys, StrictVariables: get("strict_variables") == "true",
			DisableWarnings: strings.FieldsFunc(get("disable_warnings"), func(r rune) bool { return r == ',' || r == ' ' }),
		},
	}
}

// A Site is what one compile evaluates and looks up. It is not safe for concurrent use.
// [Site.Close] ends it.
type Site struct {
	Thread *eval.Thread
	Data   *hiera.Compile

	o           Options
	env         *loader.Environment // nil before it is opened
	definitions *loader.Definitions
	record      *hiera.Record  // of the last parameter, for the next
	helper      *helper.Helper // nil if there is none
}

// Close ends what runs for the site.
func (s *Site) Close() {
	if s.helper != nil {
		s.helper.Close()
	}
}

// New returns a Site. No file is read yet.
func New(o Options) *Site {
	s := prepare(o)
	s.bind(eval.NewThread(s.o.Eval))
	for name, v := range o.Variables {
		s.Thread.Set(name, v)
	}
	return s
}

// prepare returns a Site without a thread.
func prepare(o Options) *Site {
	s := &Site{o: o}
	if s.o.Context == nil {
		s.o.Context = context.Background()
	}
	s.o.Eval.Load, s.o.Eval.Host = s.load, host{s}
	if s.o.Ruby != "" {
		s.helper = helper.New(s.helperOptions())
	}
	return s
}

// bind joins a thread and data, which know each other.
func (s *Site) bind(t *eval.Thread) {
	s.Thread = t
	o := s.o.Hiera
	o.Language, o.Called = language{s}, s.o.Eval.Called
	if used := s.o.Used; used != nil {
		o.Used = func(path string) { used(t.Context(), "data", path) }
	}
	if o.Scope == nil {
		o.Scope = topScope{t}
	}
	elsewhere := o.Module
	o.Module = func(name string) (string, bool) {
		if s.env != nil { // which has found most modules
			if dir, ok := s.env.ModuleDir(name); ok {
				return filepath.Clean(dir), true
			}
		}
		if elsewhere == nil {
			return "", false
		}
		return elsewhere(name)
	}
	s.Data = hiera.New(o)
}

// Run evaluates a program of the environment, as its initial manifest.
func (s *Site) Run(ctx context.Context, prog *syntax.Program) (data.Value, error) {
	return s.Thread.Run(ctx, eval.Compile(prog, s.o.Programs.Library()))
}

// topScope is the top scope as hiera asks it.
type topScope struct{ thread *eval.Thread }

// Variable implements hiera.Scope.
func (t topScope) Variable(name string) (data.Value, bool) {
	return t.thread.Get(name)
}

// environment opens the environment, once. It is nil if there is none.
func (s *Site) environment() (*loader.Environment, error) {
	if s.env != nil || s.o.Open == nil {
		return s.env, nil
	}
	var err error
	if s.env, err = s.o.Open(); err != nil {
		return nil, err
	}
	read := s.o.Syntax
	read.DuplicateKeys = s.o.Eval.Strict
	s.definitions = s.env.Definitions(s.o.Programs, read)
	s.definitions.Reading = s.reading
	if s.helper != nil {
		s.definitions.Ruby = s.rubyFunction
	}
	if s.o.Used != nil {
		s.definitions.Used = func(kind, path string) { s.o.Used(s.context(), kind, path) }
	}
	return s.env, nil
}

// context returns the context of what is evaluated now.
func (s *Site) context() context.Context {
	if s.Thread == nil || s.Thread.Context() == nil { // nothing is evaluated yet
		return s.o.Context
	}
	return s.Thread.Context()
}

// reading is a span of the request for each file that is read. Rule LANG-TRACE-01.
func (s *Site) reading(path string) (end func(bytes int, parsed bool, err error)) {
	_, span := traces.Start(s.context(), traces.Code, "parse "+filepath.Base(path))
	span.Attr("path", path)
	return func(bytes int, parsed bool, err error) {
		answer := strconv.Itoa(bytes) + " bytes"
		switch {
		case errors.Is(err, fs.ErrNotExist): // a name is looked for in several files
			answer, err = "no such file", nil
		case err != nil:
			answer = "failed"
		case !parsed:
			answer += ", as before"
		}
		span.End(answer, traces.Because{}, err)
	}
}

// load is the Load of the thread.
func (s *Site) load(kind eval.Kind, name, from string) (eval.Found, error) {
	env, err := s.environment()
	if env == nil || err != nil {
		return eval.Found{}, err
	}
	return s.definitions.Load(kind, name, from)
}

// language is what hiera needs of programs.
type language struct{ s *Site }

// Type implements hiera.Language.
func (l language) Type(name string) (types.Type, error) { return l.s.Thread.TypeNamed(name) }

// Function implements hiera.Language. Rule HIERA-DATA-05.
func (l language) Function(name string) (hiera.Function, error) {
	known, err := l.s.Thread.Knows(name)
	if !known || err != nil {
		return nil, failed(err)
	}
	return func(c *hiera.Context, args ...data.Value) (v data.Value, found bool, err error) {
		for i, x := range args {
			args[i] = types.OfData(x)
		}
		if len(args) > 0 { // one of before hiera.yaml gets nothing
			args = append(args, data.OfRich(contextOf(c)))
		}
		v, err = l.s.Thread.Call(l.s.o.Context, name, args...)
		if err == errNotFound {
			return v, false, nil
		}
		return v, err == nil, failed(err)
	}, nil
}

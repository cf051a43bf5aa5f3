package hiera

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/language/types"
)

// ofType returns a type that is read when it is needed first.
func ofType(text string) func() types.Type {
	return sync.OnceValue(func() types.Type {
		t, err := types.Parse(text, nil)
		if err != nil {
			panic("hiera: " + text + ": " + err.Error())
		}
		return t
	})
}

var (
	hashType = ofType("Hash")
	richData = ofType("RichData")
	texts    = ofType("String")
)

// assertType returns Puppet's error if v is not of type t.
func assertType(subject string, t types.Type, v data.Value) error {
	if types.Instance(t, v) {
		return nil
	}
	return &Error{Class: WrongType, Message: types.Mismatch(subject+" has wrong type,", t, v)}
}

// constants serves what lookups need of the Puppet language where no programs are
// evaluated: all types, with the aliases that files of the environment and of its
// modules define, and errors that name the functions that are missing.
type constants struct{ c *Compile }

// Assert implements Language.
func (k constants) Assert(subject, text string, v data.Value) error {
	t, err := types.Parse(text, k.named)
	if err != nil {
		return &Error{Class: Failed, Message: err.Error()}
	}
	return assertType(subject, t, types.OfData(v))
}

// A typeTextError reports a convert_to that does not begin with a type.
type typeTextError struct {
	text  string
	cause error
}

func (e *typeTextError) Error() string { return e.cause.Error() }

// Convert implements Language. Rich values become rich data. Rule HIERA-OPT-03.
func (k constants) Convert(to []data.Value, v data.Value) (data.Value, string, error) {
	if len(to) == 0 || to[0].Kind() != data.String {
		return v, "", errors.New("'new' parameter 'type' expects a Type value, got " + types.Generalized(data.OfList(to)).String())
	}
	t, err := types.Parse(to[0].Str(), k.named)
	if err != nil {
		return v, "", &typeTextError{to[0].Str(), err}
	}
	made, err := types.New(t, append([]data.Value{v}, to[1:]...))
	if err != nil {
		return v, "", err
	}
	shown, err := types.New(texts(), []data.Value{data.OfList(append([]data.Value{types.OfType(t)}, to[1:]...))})
	if err != nil {
		return v, "", err
	}
	plain, hasSecret := types.ToData(made)
	k.c.secret = k.c.secret || hasSecret
	return plain, shown.Str(), nil
}

// named returns the type that a name stands for: an alias, or what Puppet makes of
// names that mean nothing.
func (k constants) named(name string) types.Type {
	if t, ok := k.c.aliases[name]; ok {
		return t
	}
	t := k.alias(name)
	if t == nil {
		t = types.Unresolved(name)
	}
	k.c.aliases[name] = t
	return t
}

// alias returns the type that Puppet would load by a name: from a file of its own, or from
// the TypeSet of its module; nil if there is none. Rules LANG-TYPE-10, LANG-TYPE-25.
func (k constants) alias(name string) types.Type {
	module, rest, ok := strings.Cut(name, "::")
	dir := k.c.o.EnvironmentDir
	if module != "environment" {
		var exists bool
		if dir, exists = k.c.module(module); !exists {
			return nil
		}
	}
	dir = filepath.Join(dir, "types")
	if !ok {
		return k.defined(filepath.Join(dir, "init_typeset.pp"), name)
	}
	if t := k.defined(filepath.Join(dir, filepath.FromSlash(strings.ReplaceAll(rest, "::", "/"))+".pp"), name); t != nil {
		return t
	}
	return types.InSet(k.named(module), rest)
}

// defined returns the type that a file defines, if that has the name.
func (k constants) defined(file, name string) types.Type {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil
	}
	prog, report := syntax.Parse(&syntax.Source{Text: string(text)}, syntax.Options{})
	if report.Failure != nil {
		return nil
	}
	def, ok := prog.Body.(*syntax.TypeAlias)
	if block, isBlock := prog.Body.(*syntax.Block); isBlock && len(block.Statements) == 1 {
		def, ok = block.Statements[0].(*syntax.TypeAlias)
	}
	if !ok || !strings.EqualFold(strings.TrimPrefix(def.Name, "::"), name) {
		return nil
	}
	t, err := types.NewAlias(def.Name, func(self types.Type) (types.Type, error) {
		k.c.aliases[name] = self
		v, err := types.Constant(def.Type, k.named)
		if err != nil {
			return nil, err
		}
		if t, ok := types.AsType(v); ok {
			return t, nil
		}
		return nil, errors.New("no type")
	})
	if err != nil {
		return nil
	}
	return t
}

// Function finds the file of a function in the language or in Ruby, and returns
// one that refuses. Where Puppet has none either there is none.
func (k constants) Function(name string) (Function, bool) {
	dir, path := k.c.o.EnvironmentDir, name
	if module, rest, ok := strings.Cut(name, "::"); ok {
		path = rest
		if module != "environment" {
			if dir, ok = k.c.module(module); !ok {
				return nil, false
			}
		}
	}
	path = filepath.FromSlash(strings.ReplaceAll(path, "::", "/"))
	for _, file := range []string{
		filepath.Join(dir, "functions", path+".pp"),
		filepath.Join(dir, "lib", "puppet", "functions", filepath.FromSlash(strings.ReplaceAll(name, "::", "/"))+".rb"),
	} {
		if _, err := os.Stat(file); err == nil {
			return func(*Context, ...data.Value) (data.Value, bool, error) {
				return data.Value{}, false, lacking("the function '%s' (%s) needs the Puppet language, which is not in this program", name, file)
			}, true
		}
	}
	return nil, false
}

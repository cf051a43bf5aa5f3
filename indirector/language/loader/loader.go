// Package loader finds what a name of the language means on disk: the resource
// type or the define that an environment has by a name, in which file, and which
// files were tried in which order.
//
//	env, err := loader.Open(loader.Options{Dir: dir, Modulepath: path})
//	cache := loader.NewCache(fn.Library(), nil) // of all environments
//	t := eval.NewThread(eval.Options{Load: env.Definitions(cache, syntax.Options{}).Load})
//
// [Definitions] has what programs ask for while they run: functions, types, classes and
// defines, from a name to compiled programs. A [Cache] keeps these, as long as their
// files do not change.
//
// It reads the files of the environment and of its modules, and nothing else of
// the machine: a link that leads out of a module is not followed, and neither
// devices nor pipes are opened. Nothing is executed.
package loader

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/modules"
)

// Options name an environment, as Puppet's settings have it. Rule LANG-LOAD-01.
type Options struct {
	Dir        string // its directory; "" if there is none
	Modulepath string
	Manifest   string // the initial manifest: a file, or a directory of files
	Strict     string // "error": a module whose metadata.json is broken is left out
	Cache      *Cache // keeps what metadata.json has; nil reads it each time
	Lib        string // where agents keep the plugins of all modules; its functions in Ruby come first; "" is none
}

// A Module is a module of an environment.
type Module struct {
	modules.Module
	Version      string   // "" if metadata.json does not have one
	Dependencies []string // the names of modules, in the order of metadata.json
}

// An Environment knows its modules. It keeps no contents of files, and is safe for
// concurrent use.
type Environment struct {
	o        Options
	modules  []Module
	problems []error
	logs     []eval.LogEntry

	mu          sync.Mutex
	directories map[[2]string]*directory // by what they are below of, and where there
}

// Open finds the modules of an environment.
func Open(o Options) (*Environment, error) {
	e := &Environment{o: o, directories: map[[2]string]*directory{}}
	all, err := modules.AllOf(modules.Path(o.Modulepath), e.list)
	if err != nil {
		return nil, fmt.Errorf("find the modules: %w", err)
	}
	for _, m := range all {
		metadata, ok := e.metadata(m)
		if ok {
			e.modules = append(e.modules, Module{m, metadata.Version, metadata.Dependencies})
		}
	}
	// The order in a directory is that of the file system, but results should be the
	// same each time.
	slices.SortStableFunc(e.modules, func(a, b Module) int {
		if a.In != b.In {
			return 0
		}
		return strings.Compare(a.Name, b.Name)
	})
	return e, nil
}

// Problems returns what is wrong with modules that were left out, or whose
// metadata.json was.
func (e *Environment) Problems() []error { return e.problems }

// Logs returns what Puppet logs of metadata.json files that cannot be used.
func (e *Environment) Logs() []eval.LogEntry { return e.logs }

// Libs returns the directory of plugins, if there is one, and the directories lib of all
// modules, in their order: where Ruby looks for the files that their functions require.
func (e *Environment) Libs() []string {
	var out []string
	if e.o.Lib != "" {
		out = append(out, e.o.Lib)
	}
	for _, m := range e.modules {
		out = append(out, filepath.Join(m.Dir, "lib"))
	}
	return out
}

// Module returns the name and the version of the module that a file belongs to, or
// "" if it belongs to none.
func (e *Environment) Module(file string) (name, version string) {
	if m := e.moduleOf(file); m != nil {
		return m.Name, m.Version
	}
	return "", ""
}

// moduleOf returns the module that a file belongs to, or nil.
func (e *Environment) moduleOf(file string) *Module {
	for i := range e.modules {
		if strings.HasPrefix(file, e.modules[i].Dir+"/") {
			return &e.modules[i]
		}
	}
	return nil
}

// module returns the module of a name, or nil.
func (e *Environment) module(name string) *Module {
	for i := range e.modules {
		if e.modules[i].Name == name {
			return &e.modules[i]
		}
	}
	return nil
}

// metadata reads the metadata.json of a module, and reports whether the module may be
// used. Rule LANG-LOAD-03.
func (e *Environment) metadata(m modules.Module) (data modules.Metadata, ok bool) {
	type decoded struct {
		modules.Metadata
		err     error
		message string // what Puppet logs
	}
	if !e.directory(m.Dir, "").mayHave("metadata.json") {
		return data, true
	}
	made, err := e.o.Cache.made(os.Stat, m.Dir, "metadata.json", func(text string) any {
		data, err := m.Metadata([]byte(text))
		bad := (*json.SyntaxError)(nil)
		switch {
		case errors.As(err, &bad):
			return decoded{data, err, m.Name + " has an invalid and unparsable metadata.json file. The parse error: " + syntax.JSONProblem(text)}
		case err != nil:
			return decoded{data, err, err.Error()}
		}
		return decoded{Metadata: data}
	})
	if errors.Is(err, fs.ErrNotExist) {
		return data, true
	}
	if err == nil {
		data, err = made.(decoded).Metadata, made.(decoded).err
	}
	if err == nil {
		return data, true
	}
	e.problems = append(e.problems, fmt.Errorf("%s: %w", filepath.Join(m.Dir, "metadata.json"), err))
	bad := (*json.SyntaxError)(nil)
	ok = errors.As(err, &bad) && e.o.Strict != "error"
	level := "err"
	switch {
	case ok && e.o.Strict == "off":
		level = "debug"
	case ok:
		level = "warning"
	}
	if d, read := made.(decoded); read {
		e.logs = append(e.logs, eval.LogEntry{Level: level, Message: d.message})
	}
	return data, ok
}

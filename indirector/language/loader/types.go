package loader

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"slices"
	"sync"

	"indirtui/indirector/language/rtype"
)

// Where resource types and their providers are, below an environment or a module.
// Rule LANG-LOAD-10.
const (
	generatedDir = ".resource_types"
	typeDir      = "lib/puppet/type"
	providerDir  = "lib/puppet/provider"
)

// Names returns the names of all resource types, in order: of those that are built
// in, of the modules, and of those that "puppet generate types" wrote. The error is
// of directories that cannot be listed.
func (e *Environment) Names() ([]string, error) {
	known := map[string]bool{}
	var problems []error
	add := func(dir, below, ending string) {
		all, err := names(dir, below, ending)
		if err != nil {
			problems = append(problems, err)
		}
		for _, name := range all {
			known[name] = true
		}
	}
	if e.o.Dir != "" {
		add(e.o.Dir, generatedDir, ".pp")
	}
	for _, m := range e.modules {
		add(m.Dir, typeDir, ".rb")
	}
	for name := range rtype.BuiltIn() {
		known[name] = true
	}
	return slices.Sorted(maps.Keys(known)), errors.Join(problems...)
}

// Types returns all resource types in the order of their names. Those that cannot
// be read are open; the error names their files.
func (e *Environment) Types() ([]*rtype.Type, error) {
	known, err := e.Names()
	problems := []error{err}
	builtin := rtype.BuiltIn()
	var all []*rtype.Type
	for _, name := range known {
		t, err := e.resourceType(nil, name, builtin)
		problems = append(problems, err)
		if t != nil {
			all = append(all, t)
		}
	}
	return all, errors.Join(problems...)
}

// ResourceType returns the resource type of a name, or nil. One that cannot be read is
// open; the error is that of its file.
func (d *Definitions) ResourceType(name string) (*rtype.Type, error) {
	return d.env.resourceType(d.cache, name, builtIn())
}

// builtIn are the types of Puppet, which many environments share.
var builtIn = sync.OnceValue(rtype.BuiltIn)

// resourceType returns the resource type of a name, or nil. What was generated comes first,
// then the modules, in the order of the modulepath, also for the name of a built-in type.
// What is read of files is kept by the cache, which may be nil.
func (e *Environment) resourceType(c *Cache, name string, builtin map[string]*rtype.Type) (*rtype.Type, error) {
	if e.o.Dir != "" && e.mayHave(e.o.Dir, generatedDir, name+".pp") {
		if t, err := generated(e.o.Dir, name, under(e.o.Dir, generatedDir+"/"+name+".pp")); t != nil || err != nil {
			return t, err
		}
	}
	for _, m := range e.modules {
		if !e.mayHave(m.Dir, typeDir, name+".rb") {
			continue
		}
		file := under(m.Dir, typeDir+"/"+name+".rb")
		made, err := c.made(os.Stat, m.Dir, typeDir+"/"+name+".rb", func(text string) any { return rtype.Ruby(name, file, text) })
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return rtype.Unreadable(name, file, err), err
		}
		t := made.(*rtype.Type)
		if e.hasProvider(c, name) {
			t = t.WithProvider()
		}
		return t, nil
	}
	return builtin[name], nil
}

// typeFiles returns the files that may have a resource type, in their order.
func (e *Environment) typeFiles(name string) (files []string) {
	if e.o.Dir != "" {
		files = append(files, under(e.o.Dir, generatedDir+"/"+name+".pp"))
	}
	for _, m := range e.modules {
		files = append(files, under(m.Dir, typeDir+"/"+name+".rb"))
	}
	return files
}

func generated(dir, name, file string) (*rtype.Type, error) {
	text, err := read(dir, generatedDir+"/"+name+".pp")
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	var t *rtype.Type
	if err == nil {
		t, err = rtype.Generated(name, file, text)
	}
	if err != nil {
		return rtype.Unreadable(name, file, err), err
	}
	return t, nil
}

// hasProvider reports whether a module has a provider for a type, which makes
// provider one of its parameters. What cannot be read is none.
func (e *Environment) hasProvider(c *Cache, name string) bool {
	return slices.ContainsFunc(e.modules, func(m Module) bool {
		if !e.mayHave(m.Dir, providerDir, name) {
			return false
		}
		dir := providerDir + "/" + name
		files, _ := names(m.Dir, dir, ".rb")
		return slices.ContainsFunc(files, func(file string) bool {
			provides, err := c.made(os.Stat, m.Dir, dir+"/"+file+".rb", func(text string) any { return rtype.Provides(text) })
			return err == nil && provides.(bool)
		})
	})
}

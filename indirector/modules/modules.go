// Package modules finds the modules of an environment: directories with the name
// of a module in the directories of its modulepath, of which the first of a name
// counts. Rule LANG-LOAD-03.
package modules

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A Module is a directory with the name of a module.
type Module struct {
	Name string
	Dir  string
	In   string // the directory of the modulepath
}

// Path returns the directories of a modulepath that exist, in its order.
func Path(modulepath string) []string {
	return slices.DeleteFunc(filepath.SplitList(modulepath), func(dir string) bool { return !isDir(dir) })
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// isName reports whether a line of name is a small letter and then letters, digits
// and underscores.
func isName(name string) bool {
	return slices.ContainsFunc(strings.Split(name, "\n"), func(line string) bool {
		if line == "" || line[0] < 'a' || 'z' < line[0] {
			return false
		}
		return strings.Trim(line, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	})
}

func in(dir, name string) Module {
	return Module{name, strings.TrimRight(dir, "/") + "/" + name, dir}
}

// All returns the modules by precedence: in the order of the directories, and
// within one in the arbitrary order of the file system. The error is that of a
// directory that cannot be listed.
func All(dirs []string) ([]Module, error) { return AllOf(dirs, list) }

// AllOf is All with directories that are listed in another way.
func AllOf(dirs []string, list func(dir string) ([]fs.DirEntry, error)) ([]Module, error) {
	var all []Module
	seen := map[string]bool{}
	for _, dir := range dirs {
		entries, err := list(dir)
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			m := in(dir, e.Name())
			if seen[m.Name] || !isName(m.Name) || !e.IsDir() && !isDir(m.Dir) { // it may be a link
				continue
			}
			seen[m.Name] = true
			all = append(all, m)
		}
	}
	return all, nil
}

func list(dir string) ([]fs.DirEntry, error) {
	d, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.ReadDir(-1)
}

// Find returns the module of a name, and whether there is one.
func Find(dirs []string, name string) (Module, bool) {
	if name == "" || strings.Contains(name, "/") || !isName(name) {
		return Module{}, false
	}
	for _, dir := range dirs {
		if m := in(dir, name); isDir(m.Dir) {
			return m, true
		}
	}
	return Module{}, false
}

// Metadata is what is used of a metadata.json.
type Metadata struct {
	Version      string
	Dependencies []string // the names of modules, without those of their authors
}

// Metadata reads the text of metadata.json. A *json.SyntaxError is one that Puppet
// may forgive, by its setting strict; others are in Puppet's words, and the module
// must not be used.
func (m Module) Metadata(text []byte) (Metadata, error) {
	var known map[string]json.RawMessage
	if err := json.Unmarshal(text, &known); err != nil || len(known) == 0 {
		return Metadata{}, err
	}
	for _, name := range []string{"source", "author", "version", "license", "dependencies"} {
		if v, ok := known[name]; !ok || string(v) == "null" {
			return Metadata{}, refused("No %s module metadata provided for %s", name, m.Name)
		}
	}
	if d := strings.TrimSpace(string(known["dependencies"])); !strings.HasPrefix(d, "[") {
		return Metadata{}, refused("The value for the key dependencies in the file metadata.json of the module %s must be an array, not: '%s'", m.Name, d)
	}
	var all Metadata
	_ = json.Unmarshal(known["version"], &all.Version) // a version that is no text is none
	var dependencies []struct{ Name string }
	_ = json.Unmarshal(known["dependencies"], &dependencies) // what has no name is no module
	for _, d := range dependencies {
		if i := strings.IndexAny(d.Name, "/-"); i > 0 {
			all.Dependencies = append(all.Dependencies, d.Name[i+1:])
		}
	}
	return all, nil
}

// refused is an error in Puppet's words, which begin with a capital letter.
func refused(format string, args ...any) error { return fmt.Errorf(format, args...) }

package loader

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector/language/rtype"
	"indirtui/indirector/language/syntax"
	"indirtui/traces/spell"
)

// A MissingError reports a name that no type and no define has.
type MissingError struct {
	Name    string
	Tried   []string // files, in order; those that exist have other names in them
	Nearest string   // a name that there is, or ""
}

func (m *MissingError) Error() string {
	text := fmt.Sprintf("there is no resource type %q", m.Name)
	if m.Nearest != "" {
		text += fmt.Sprintf("; did you mean %q?", m.Nearest)
	}
	return text
}

// Type returns the resource type of a name, or the define, which is looked for
// after it. The error is a *[MissingError], or that of a file that cannot be read.
// Rule LANG-RES-01.
func (e *Environment) Type(name string) (*rtype.Type, error) {
	plain := strings.ToLower(strings.TrimPrefix(name, "::"))
	t, tried, err := e.find(plain)
	if t != nil || err != nil {
		return t, err
	}
	missing := &MissingError{Name: name, Tried: tried}
	if near := spell.Nearest(plain, e.all()); near != "" {
		if t, _, err := e.find(near); t != nil && err == nil { // it may be a class
			missing.Nearest = near
		}
	}
	return nil, missing
}

func (e *Environment) find(name string) (t *rtype.Type, tried []string, err error) {
	if !isName(name) {
		return nil, nil, nil
	}
	if !strings.Contains(name, "::") {
		tried = e.typeFiles(name)
		if t, err = e.resourceType(nil, name, rtype.BuiltIn()); t != nil || err != nil {
			return t, tried, err
		}
	}
	t, more, err := e.define(name)
	return t, append(tried, more...), err
}

// nameLetters are those of names. Functions of Ruby may have capital ones.
const nameLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

// isName reports whether every part of a name may be the name of a file, and
// nothing else.
func isName(name string) bool {
	for part := range strings.SplitSeq(name, "::") {
		if part == "" || strings.Trim(part, nameLetters) != "" {
			return false
		}
	}
	return true
}

// define looks for a define: in the initial manifest, which is parsed at the
// beginning of each compile, then in the files of the module that its name names.
func (e *Environment) define(name string) (t *rtype.Type, tried []string, err error) {
	for _, file := range e.initial(os.Stat) {
		tried = append(tried, file)
		t, err := defineIn(filepath.Dir(file), filepath.Base(file), name)
		if t != nil || err != nil {
			return t, tried, err
		}
	}
	module, _, _ := strings.Cut(name, "::")
	if m := e.module(module); m != nil {
		for _, file := range filesOf(name) {
			tried = append(tried, filepath.Join(m.Dir, file))
			t, err := defineIn(m.Dir, file, name)
			if t != nil || err != nil {
				return t, tried, err
			}
		}
	}
	return nil, tried, nil
}

// filesOf returns the files of a module that may have a class or define, in the
// order in which they are parsed until one has it. Rule LANG-LOAD-10.
func filesOf(name string) []string {
	parts := strings.Split(name, "::")
	var files []string
	for n := len(parts); n > 1; n-- {
		files = append(files, "manifests/"+strings.Join(parts[1:n], "/")+".pp")
	}
	return append(files, initFile)
}

// initFile is the first manifest of a module.
const initFile = "manifests/init.pp"

// noManifest is the setting manifest of an environment that has none.
const noManifest = "no_manifest"

// initial returns the files of the initial manifest, in the order of their paths.
// Rule LANG-LOAD-02.
func (e *Environment) initial(look looker) []string {
	info, err := look(e.o.Manifest)
	switch {
	case err != nil, e.o.Manifest == noManifest:
		return nil
	case !info.IsDir():
		return []string{e.o.Manifest}
	}
	var files []string
	for _, name := range below(e.o.Manifest, ".") {
		files = append(files, filepath.Join(e.o.Manifest, name))
	}
	return files
}

// below returns the manifests below a directory of another.
func below(dir, sub string) (files []string) {
	_ = within(dir, func(root fs.FS) error { // what cannot be listed has none
		return fs.WalkDir(root, sub, func(path string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(path) == ".pp" {
				files = append(files, path)
			}
			if len(files) > maxNames {
				return fs.SkipAll
			}
			return nil
		})
	})
	return files
}

// all returns the names that there may be: of resource types, and of what the
// manifests of modules are called.
func (e *Environment) all() []string {
	all, _ := e.Names() // what cannot be listed is not near
	for _, m := range e.modules {
		for _, file := range below(m.Dir, "manifests") {
			if len(all) > maxNames {
				return all
			}
			name := strings.TrimSuffix(strings.TrimPrefix(file, "manifests/"), ".pp")
			all = append(all, m.Name+"::"+strings.ReplaceAll(name, "/", "::"))
		}
	}
	return all
}

// defineIn returns the define of a name that a file has, or nil.
func defineIn(dir, file, name string) (*rtype.Type, error) {
	text, err := read(dir, file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	src := &syntax.Source{File: filepath.Join(dir, file), Text: text}
	prog, report := syntax.Parse(src, syntax.Options{})
	if report.Failure != nil {
		return nil, report.Failure
	}
	d := definition(prog.Body, name)
	if d == nil {
		return nil, nil
	}
	t := &rtype.Type{Name: name, Define: true, File: src.File, Keys: []string{"name"}, Titles: rtype.WholeTitle("name")}
	offset, _ := d.Span()
	t.Line, _ = src.Position(offset)
	for _, p := range d.Params {
		t.Attributes = append(t.Attributes, rtype.Attribute{Name: p.Name, Kind: rtype.Parameter})
	}
	return t, nil
}

// definition returns the define of a name, which may stand in a class.
func definition(n syntax.Node, name string) *syntax.Define {
	switch n := n.(type) {
	case *syntax.Block:
		for _, s := range n.Statements {
			if d := definition(s, name); d != nil {
				return d
			}
		}
	case *syntax.Class:
		return definition(n.Body, name)
	case *syntax.Define:
		if strings.EqualFold(n.Name, name) {
			return n
		}
	}
	return nil
}

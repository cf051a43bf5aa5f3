package loader

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/syntax"
)

// ModuleDir returns the directory of a module, and whether there is one.
func (e *Environment) ModuleDir(name string) (string, bool) {
	if m := e.module(name); m != nil {
		return m.Dir, true
	}
	return "", false
}

// File returns the path of a file that programs name as module/path, below a directory of
// the module; and whether there is one. A path that begins with / is that of any file of
// the machine, as in Puppet. Rule LANG-EPP-04.
func (d *Definitions) File(below, name string) (string, bool) {
	if filepath.IsAbs(name) {
		_, err := os.Stat(name)
		return name, err == nil
	}
	module, rest, ok := strings.Cut(name, "/")
	m := d.env.module(module)
	if !ok || m == nil {
		return "", false
	}
	path := filepath.Join(m.Dir, below, rest)
	return path, d.cache.holds(d.look, m.Dir, path)
}

// Made returns what make makes of the text of a file that File found. It is kept as long as
// the file does not change, if that is one of a module, and may be shared.
func (d *Definitions) Made(path string, make func(text string) any) (any, error) {
	if m := d.env.moduleOf(path); m != nil {
		return d.cache.made(d.look, m.Dir, d.env.within(m, path), make)
	}
	b, err := d.env.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return make(string(b)), nil
}

// ReadFile returns the contents of a file that File found. A link that leads out of its
// module is an error.
func (e *Environment) ReadFile(path string) ([]byte, error) {
	if m := e.moduleOf(path); m != nil {
		text, err := read(m.Dir, e.within(m, path))
		return []byte(text), err
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // a pipe is not even opened
		return nil, fmt.Errorf("read %s: it is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
	if err == nil && len(b) > maxBytes {
		err = fmt.Errorf("read %s: it is larger than %d bytes", path, maxBytes)
	}
	return b, err
}

func (e *Environment) within(m *Module, path string) string {
	return filepath.ToSlash(strings.TrimPrefix(path, m.Dir+"/"))
}

// Template returns the program of a template that File found.
func (d *Definitions) Template(path string) (*eval.Program, error) {
	o := d.options
	o.EPP = true
	d.used("manifest", path)
	if m := d.env.moduleOf(path); m != nil {
		return d.program(m.Dir, d.env.within(m, path), "", o)
	}
	b, err := d.env.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return eval.Read(&syntax.Source{File: path, Text: string(b)}, o, d.cache.library), nil
}

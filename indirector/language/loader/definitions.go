package loader

import (
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
)

// Definitions find what names mean in an environment, for the programs of one compile.
// A file is read once, also if it changes or another compile reads it meanwhile: what it
// defines would be defined twice. They are safe for concurrent use.
type Definitions struct {
	// Used receives every file that has what was asked for, by what it is used as:
	// manifest, function or type. It may be nil.
	Used func(kind, path string)
	// Reading receives every file that is read, once, before that. The function that it
	// returns is given the size, and whether the file was parsed: else it is as it was for
	// an earlier compile. It may be nil.
	Reading func(path string) (end func(bytes int, parsed bool, err error))
	// Ruby returns a function in Ruby that this program does not have itself. If nil, there
	// is none.
	Ruby func(RubyFunction) (*eval.Builtin, error)

	env     *Environment
	cache   *Cache
	options syntax.Options

	mu       sync.Mutex
	programs map[fileKey]*eval.Program
	absent   map[string]bool // files that are not there

	seeing sync.Mutex             // guards seen
	seen   map[string]fs.FileInfo // files that are there
}

// Definitions returns the definitions of the environment. The options are how its files
// are read.
func (e *Environment) Definitions(c *Cache, o syntax.Options) *Definitions {
	return &Definitions{env: e, cache: c, options: o, programs: map[fileKey]*eval.Program{}, absent: map[string]bool{}, seen: map[string]fs.FileInfo{}}
}

// look is os.Stat, and asks the system once about a file that is there.
func (d *Definitions) look(path string) (fs.FileInfo, error) {
	d.seeing.Lock()
	defer d.seeing.Unlock()
	if info := d.seen[path]; info != nil {
		return info, nil
	}
	info, err := os.Stat(path)
	if err == nil {
		d.seen[path] = info
	}
	return info, err
}

// isAbsent reports whether a file was not there when it was last looked for: each file
// that calls a function looks for it in the same places.
func (d *Definitions) isAbsent(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.absent[path]
}

func (d *Definitions) setAbsent(path string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.absent[path] = true
}

// Load finds a definition by its name, which is in small letters if it is that of a type.
// It is the Load of [eval.Options]; from is the file that asks. Names of classes and
// defines are looked for in modules only: those of the initial manifest are known before
// others are asked for. Errors are those of files, and of files that have not what their
// names promise, in Puppet's words.
func (d *Definitions) Load(kind eval.Kind, name, from string) (eval.Found, error) {
	name = strings.TrimPrefix(name, "::")
	s := &search{Definitions: d, kind: kind, name: name}
	if !isName(name) {
		return s.found, nil
	}
	var err error
	switch kind {
	case eval.FunctionKind:
		_, err = s.function(from)
	case eval.TypeKind:
		err = s.dataType()
	case eval.ClassKind, eval.DefineKind:
		err = s.manifests()
	}
	return s.found, err
}

// Main returns the programs of the initial manifest, in the order of their paths; or that
// of code, if there is any. What is wrong with them is part of them. Rule LANG-LOAD-02.
func (d *Definitions) Main(code string) ([]*eval.Program, error) {
	if code != "" {
		return []*eval.Program{eval.Read(&syntax.Source{Text: code}, d.options, d.cache.library)}, nil
	}
	var all []*eval.Program
	for _, file := range d.env.initial(d.look) {
		d.used("manifest", file)
		p, err := d.program(filepath.Dir(file), filepath.Base(file), "", d.options)
		if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
	return all, nil
}

// program returns the program of a file, as the cache does.
func (d *Definitions) program(dir, name, namespace string, o syntax.Options) (*eval.Program, error) {
	key := keyOf(dir, name, namespace, o)
	d.mu.Lock()
	defer d.mu.Unlock()
	if p := d.programs[key]; p != nil {
		return p, nil
	}
	end := func(int, bool, error) {}
	if d.Reading != nil {
		end = d.Reading(key.path)
	}
	if d.absent[key.path] || strings.Contains(name, "/") && !d.env.directory(dir, "").mayHave(name) {
		err := &missingError{key.path}
		end(0, false, err)
		return nil, err
	}
	p, bytes, parsed, err := d.cache.program(d.look, key, dir, name, o)
	end(bytes, parsed, err)
	switch {
	case err == nil:
		d.programs[key] = p
	case errors.Is(err, fs.ErrNotExist):
		d.absent[key.path] = true
	}
	return p, err
}

func (d *Definitions) used(kind, path string) {
	if d.Used != nil {
		d.Used(kind, path)
	}
}

// functionDir is where functions in the language are, below an environment or a module.
const functionDir = "functions"

// A search is for one name.
type search struct {
	*Definitions
	kind   eval.Kind
	name   string
	found  eval.Found
	inInit bool // the first manifest of the module defines it
}

// asPath returns a name as the path of a file, without its ending.
func asPath(name string) string { return strings.ReplaceAll(name, "::", "/") }

// inModule returns what a name is in a module, and the module, or nil. Rule LANG-LOAD-10.
func (s *search) inModule() (rest string, m *Module) {
	module, rest, _ := strings.Cut(s.name, "::")
	return rest, s.env.module(module)
}

// function looks among the plugins of an agent, then in the environment, whose files are named
// by whole names, and then in the module of the name. A name without a module may be a
// function in Ruby of any of them.
func (s *search) function(from string) (done bool, err error) {
	if lib := s.env.o.Lib; lib != "" {
		if done, err := s.ruby(lib, "", newRuby, false); done || err != nil {
			return done, err
		}
		if done, err := s.ruby(lib, "", oldRuby, true); done || err != nil {
			return done, err
		}
	}
	module, rest, qualified := strings.Cut(s.name, "::")
	if s.env.o.Dir != "" && (!qualified || module == "environment") {
		if done, err := s.functionIn(s.env.o.Dir, "", s.name); done || err != nil {
			return done, err
		}
	}
	if qualified {
		m := s.env.module(module)
		if m == nil {
			return false, nil
		}
		return s.functionIn(m.Dir, m.Name, rest)
	}
	for _, m := range s.env.seenFrom(from) {
		if done, err := s.functionIn(m.Dir, m.Name, ""); done || err != nil {
			return done, err
		}
	}
	return false, nil
}

// seenFrom returns the modules in the order in which a file sees them: its own, those that
// it depends on, then all others. Rule LANG-LOAD-11.
func (e *Environment) seenFrom(file string) []Module {
	own := e.moduleOf(file)
	if own == nil {
		return e.modules
	}
	all := []Module{*own}
	for _, name := range own.Dependencies {
		if m := e.module(name); m != nil {
			all = append(all, *m)
		}
	}
	for _, m := range e.modules {
		if !slices.ContainsFunc(all, func(x Module) bool { return x.Name == m.Name }) {
			all = append(all, m)
		}
	}
	return all
}

// functionIn looks below one directory; rest is the name of a function in the language
// there, or "".
func (s *search) functionIn(dir, module, rest string) (done bool, err error) {
	if done, err := s.ruby(dir, module, "lib/"+newRuby, false); done || err != nil {
		return done, err
	}
	if rest != "" {
		done, err := s.file(dir, functionDir+"/"+asPath(rest)+".pp", module)
		if done && err == nil {
			err = s.mustBeAlone(filepath.Join(dir, functionDir, asPath(rest)+".pp"))
		}
		if done || err != nil {
			return done, err
		}
	}
	return s.ruby(dir, module, "lib/"+oldRuby, true)
}

// Where functions in Ruby are.
const (
	newRuby = "puppet/functions"
	oldRuby = "puppet/parser/functions"
)

// ruby looks for a function in Ruby: what this program has in its place, or a helper runs
// it. Rules LANG-STD-01 to
// LANG-STD-03.
func (s *search) ruby(dir, module, below string, old bool) (done bool, err error) {
	plain := asPath(s.name) + ".rb"
	name := below + "/" + plain
	file := under(dir, name)
	s.found.Tried = append(s.found.Tried, file)
	if !s.env.mayHave(dir, below, plain) || s.isAbsent(file) {
		return false, nil
	}
	text, err := s.cache.made(s.look, dir, name, func(text string) any { return text })
	if errors.Is(err, fs.ErrNotExist) {
		s.setAbsent(file)
		return false, nil
	}
	if err != nil {
		return false, err
	}
	f := RubyFunction{s.name, module, file, text.(string), old}
	if s.cache.native != nil {
		s.found.Builtin = s.cache.native(f)
	}
	switch {
	case s.found.Builtin != nil:
	case s.Ruby == nil:
		return false, &rubyError{fmt.Sprintf("Function '%s' of %s is written in Ruby (%s) and cannot be run here; set ruby=… to use a helper", s.name, s.owner(dir, module), file)}
	default:
		if s.found.Builtin, err = s.Ruby(f); err != nil {
			return false, err
		}
	}
	s.used("function", file)
	return true, nil
}

func (s *search) owner(dir, module string) string {
	switch {
	case dir == s.env.o.Lib:
		return "the plugins"
	case module == "":
		return "the environment"
	}
	return "module '" + module + "'"
}

// A rubyError reports what only Ruby could do.
type rubyError struct{ text string }

func (e *rubyError) Error() string { return e.text }

func (e *rubyError) Unwrap() error { return errors.ErrUnsupported }

// file adds the program of a file that is of the kind of what is searched for, and reports
// whether there is one.
func (s *search) file(dir, name, module string) (exists bool, err error) {
	kind := "manifest"
	switch s.kind {
	case eval.FunctionKind:
		kind = "function"
	case eval.TypeKind:
		kind = "type"
	}
	return s.fileAs(kind, dir, name, module)
}

func (s *search) fileAs(kind, dir, name, module string) (exists bool, err error) {
	path := under(dir, name)
	s.found.Tried = append(s.found.Tried, path)
	namespace := ""
	if module != "" {
		namespace = namespaceOf(module, name)
	}
	if kind == "function" && s.env.lacks(dir, functionDir) {
		return false, nil
	}
	p, err := s.program(dir, name, namespace, s.options)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	s.found.Programs = append(s.found.Programs, p)
	s.used(kind, path)
	return true, nil
}

// namespaceOf returns how the names in a file of a module must begin. Rule LANG-CHK-11.
func namespaceOf(module, file string) string {
	_, file, _ = strings.Cut(strings.ToLower(strings.TrimSuffix(file, ".pp")), "/")
	if file == "init" {
		return module
	}
	return module + "::" + strings.ReplaceAll(file, "/", "::")
}

// dataType looks for a type: in the environment, then in the module of its name, which may
// have a TypeSet of its own name. Sets of longer names are asked for by those.
func (s *search) dataType() error {
	rest, m := s.inModule()
	if s.env.o.Dir != "" && (rest == "" || strings.HasPrefix(s.name, "environment::")) {
		if done, err := s.typeIn(s.env.o.Dir, "", s.name); done || err != nil {
			return err
		}
	}
	if m == nil {
		return nil
	}
	if rest != "" {
		if done, err := s.initial(m); done || err != nil {
			return err
		}
		_, err := s.typeIn(m.Dir, m.Name, rest)
		return err
	}
	const file = "types/init_typeset.pp"
	exists, err := s.file(m.Dir, file, "")
	if !exists || err != nil {
		return err
	}
	path := filepath.Join(m.Dir, file)
	if err := s.mustBeAlone(path); err != nil {
		return err
	}
	if p := s.last(); !p.Failed() && !isTypeSet(p.Definitions()[0].Node) {
		return puppets("The code loaded from %s does not define the TypeSet '%s'", path, strings.ToUpper(s.name[:1])+s.name[1:])
	}
	return nil
}

func isTypeSet(n syntax.Node) bool {
	alias, ok := n.(*syntax.TypeAlias)
	if !ok {
		return false
	}
	access, ok := alias.Type.(*syntax.Access)
	if !ok {
		return false
	}
	name, ok := access.Left.(*syntax.TypeName)
	return ok && name.Value == "TypeSet"
}

func (s *search) typeIn(dir, module, rest string) (done bool, err error) {
	const below = "lib/puppet/datatypes"
	plain := asPath(s.name) + ".rb"
	ruby := below + "/" + plain
	s.found.Tried = append(s.found.Tried, under(dir, ruby))
	if s.env.mayHave(dir, below, plain) && s.env.has(dir, ruby) {
		return false, &rubyError{fmt.Sprintf("Type '%s' of %s is written in Ruby (%s) and cannot be used here", s.name, s.owner(dir, module), filepath.Join(dir, ruby))}
	}
	file := "types/" + asPath(rest) + ".pp"
	done, err = s.file(dir, file, module)
	if done && err == nil {
		err = s.mustBeAlone(under(dir, file))
	}
	return done, err
}

func (s *search) last() *eval.Program { return s.found.Programs[len(s.found.Programs)-1] }

// mustBeAlone returns Puppet's error if the file that was read last has not exactly the
// definition of the name. What is wrong with its syntax comes first. Rule LANG-LOAD-12.
func (s *search) mustBeAlone(file string) error {
	p := s.last()
	if p.Failed() {
		return nil
	}
	name := s.name
	thing, none, expected := "function", "no function found", "function with the wrong name, expected %s, actual %s"
	if s.kind == eval.TypeKind {
		thing, none, expected = "type", "no type alias or type definition found", "type with the wrong name, expected '%s', actual '%s'"
	}
	all := p.Definitions()
	switch {
	case len(all) == 0:
		return puppets("The code loaded from %s does not define the %s '%s' - it is empty.", file, thing, name)
	case len(all) > 1:
		return puppets("The code loaded from %s must contain only the %s '%s' - it has additional definitions.", file, thing, name)
	case all[0].Kind != s.kind:
		return puppets("The code loaded from %s does not define the %s '%s' - %s.", file, thing, name, none)
	}
	actual := all[0].Name
	if s.kind == eval.TypeKind {
		actual = strings.ToLower(actual)
	}
	if actual != name {
		return puppets("The code loaded from %s produced "+expected, file, name, all[0].Name)
	}
	if !p.Only() {
		if s.kind == eval.TypeKind {
			name = "type '" + name + "'"
		} else {
			name = "function " + name
		}
		return puppets("The code loaded from %s contains additional logic - can only contain the %s", file, name)
	}
	return nil
}

// puppets is an error in Puppet's words, which are sentences.
func puppets(format string, args ...any) error { return fmt.Errorf(format, args...) }

// manifests adds the files that may have a class or define, up to the one that has it, or
// is not valid.
func (s *search) manifests() error {
	_, m := s.inModule()
	if m == nil {
		return nil
	}
	done, err := s.initial(m)
	if done || err != nil {
		return err
	}
	for _, file := range filesOf(s.name) {
		if file == initFile {
			continue
		}
		exists, err := s.file(m.Dir, file, m.Name)
		if err != nil {
			return err
		}
		if exists && (s.last().Failed() || s.last().Defines(s.kind, s.name)) || s.inInit {
			return nil
		}
	}
	return nil
}

// initial adds the first manifest of a module, which Puppet reads before all others of it
// and before its types. It is done if that is not valid.
func (s *search) initial(m *Module) (done bool, err error) {
	exists, err := s.fileAs("manifest", m.Dir, initFile, m.Name)
	if !exists || err != nil {
		return false, err
	}
	s.inInit = s.last().Defines(s.kind, s.name)
	return s.last().Failed(), nil
}

package eval

import (
	"cmp"
	"fmt"
	"strings"

	"indirtui/indirector/language/syntax"
)

// A Kind is what a definition defines.
type Kind uint8

// Kinds of definitions. All but nodes are loaded by their names.
const (
	FunctionKind Kind = iota
	TypeKind
	ClassKind
	DefineKind
	NodeKind
)

// place is the kind of a Stop that a container is.
func (k Kind) place() string {
	switch k {
	case ClassKind:
		return AtClass
	case DefineKind:
		return AtDefine
	}
	return AtNode
}

// A Definition is one of a program.
type Definition struct {
	Kind Kind
	Name string // as it is written, with the classes around a class; "" of nodes
	Node syntax.Node
}

// A Found is what a name means: definitions of programs, or a function that is part of
// this program and stands for one of a module. Both are empty if it means nothing.
type Found struct {
	// Programs have definitions that now hold, in the order in which they were tried;
	// the last one has that of the name, if there is one.
	Programs []*Program
	Builtin  *Builtin
	Tried    []string // the files that were looked for, in their order
}

// A loadKey is what is loaded. Modules see functions that are in no namespace in an order
// of their own, so that the file counts which asks.
type loadKey struct {
	kind       Kind
	name, from string
}

// Read parses and compiles a source. What is wrong with it is part of the program, which
// can be kept like any other: it is reported when a thread defines it.
func Read(src *syntax.Source, o syntax.Options, library Library) *Program {
	prog, report := syntax.Parse(src, o)
	p := &Program{source: src}
	if report.Failure == nil {
		p = Compile(prog, library)
	}
	p.report = report
	return p
}

// Definitions returns those of a program, in the order in which they stand there. A class
// stands before those within it.
func (p *Program) Definitions() []Definition { return p.defined }

// Defines reports whether a program has a definition of a name.
func (p *Program) Defines(kind Kind, name string) bool {
	for _, d := range p.defined {
		if d.Kind == kind && strings.EqualFold(d.Name, name) {
			return true
		}
	}
	return false
}

// Only reports whether a program is nothing but one definition.
func (p *Program) Only() bool { return len(p.defined) == 1 && p.defined[0].Node == p.body }

// Report is what the parser found; nil if it was not asked.
func (p *Program) Report() *syntax.Report { return p.report }

// Failed reports whether a program cannot be run, since its source is not valid.
func (p *Program) Failed() bool { return p.report != nil && p.report.Failure != nil }

// Define adds the functions and types of a program, which hold everywhere, also in
// front of their definition. A type of the language cannot be defined again. What is
// wrong with the source is reported first.
func (t *Thread) Define(p *Program) error {
	if t.defined[p] {
		return nil
	}
	if err := t.reportOf(p); err != nil {
		return err
	}
	t.defined[p] = true
	for _, fn := range p.functions {
		if old := t.functions[fn.name]; old != nil && old.builtin == nil {
			return redefined("function", fn.name, "at "+old.origin)
		}
		t.functions[fn.name] = fn
		t.shadows = t.shadows || fn.shadows
	}
	for _, a := range p.aliases {
		if err := t.define(a, p.source); err != nil {
			return err
		}
	}
	return nil
}

// originOf returns where a definition stands, as Puppet writes it.
func originOf(source *syntax.Source, n syntax.Node) string {
	from, _ := n.Span()
	line, column := source.Position(from)
	file := "string:"
	if source.File != "" {
		file = "file://" + source.File
	}
	return fmt.Sprintf("%s?line=%d&pos=%d", file, line, column)
}

func redefined(kind, name, origin string) error {
	return &Error{Message: "Attempt to redefine entity 'http://puppet.com/2016.1/runtime/" + kind + "/" + name + "'. Originally set " + origin + ".", Wrapped: ErrPlain}
}

// reportOf logs what the parser found, and returns the error that it raised.
func (t *Thread) reportOf(p *Program) error {
	if p.report == nil {
		return nil
	}
	for _, x := range p.report.Logged {
		t.log(LogEntry{Level: x.Severity.String(), Message: x.Message, File: x.File, Line: x.Line, Column: x.Column})
	}
	if x := p.report.Failure; x != nil {
		// Of several errors Puppet names the file when it loads one.
		return &Error{Message: x.Message, File: cmp.Or(x.File, p.source.File), Line: x.Line, Column: x.Column}
	}
	return nil
}

// load loads what a name means, and adds its definitions.
func (t *Thread) load(key loadKey) (Found, error) {
	found, err := t.opts.Load(key.kind, key.name, key.from)
	if err != nil {
		return found, err
	}
	for _, p := range found.Programs {
		if err := t.Define(p); err != nil {
			return found, err
		}
	}
	return found, nil
}

// function returns a function that programs or modules have, or nil. It is looked for once
// in a thread. Rule LANG-LOAD-12.
func (t *Thread) function(name, from string) (*function, error) {
	fn, ok := t.functions[name]
	if ok || t.opts.Load == nil {
		return fn, nil
	}
	key := loadKey{FunctionKind, name, from}
	if strings.Contains(name, "::") {
		key.from = ""
	}
	if fn, ok := t.loaded[key]; ok {
		return fn, nil
	}
	found, err := t.load(key)
	if err != nil {
		return nil, err
	}
	fn = t.functions[name]
	if found.Builtin != nil {
		fn = &function{name: name, builtin: found.Builtin}
	}
	t.loaded[key] = fn
	return fn, nil
}

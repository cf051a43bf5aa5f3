// Package compile turns programs of the Puppet language into the catalog of a node.
//
//	result, err := compile.Compile(ctx, compile.Options{Node: node, Main: programs, Origins: true})
//	result.Catalog, result.Catalog.Origins
//
// Package eval evaluates what programs consist of and gives what they declare to a
// compilation, which is an [eval.Catalog]: it keeps resources, edges, defaults and
// overrides, evaluates classes and defines when it is their turn, and finishes the
// catalog in the order of Puppet's own compiler. Rules LANG-COMP-01 to LANG-COMP-08.
//
// Errors are in Puppet's words: see [Error].
package compile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"runtime/debug"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/rtype"
	"indirtui/indirector/language/syntax"
	"indirtui/indirector/model"
	"indirtui/indirector/origins"
)

// Options are what is compiled, and how. The zero values of settings are not Puppet's
// defaults, but off.
type Options struct {
	Node Node
	// Main are the programs of the initial manifest, in the order of their paths.
	Main []*eval.Program
	// Type returns a resource type that is no define, or nil. If nil, only those built
	// into Puppet are known.
	Type func(name string) *rtype.Type
	// Module returns the module that a file belongs to, or "". It may be nil.
	Module func(file string) string
	// Data returns the data for a parameter of a class, and where it is from, as far as
	// that is known. It may be nil. Rule LANG-DEF-04.
	Data func(ctx context.Context, key string) (v data.Value, from origins.Origin, found bool, err error)

	// Exported finds the resources of a type that other nodes export. The filter is nil, or
	// [name, operator, value], or [filter, "and" or "or", filter]. If nil, there are none.
	// Rule LANG-RES-14.
	Exported func(ctx context.Context, typ string, filter data.Value) (Exports, error)
	// Collected is given what each collector of exported resources learned of other nodes,
	// at the end, also if the compile fails. It may be nil.
	Collected func(Collection)

	// Origins makes the catalog know where everything in it is from.
	Origins bool

	// Begin is given the thread that evaluates, before it does. It may be nil.
	Begin func(*eval.Thread)
	// End is called when the catalog is finished. What it is given evaluates a program in the
	// top scope, as if the initial manifest ended with it. It may be nil.
	End func(run func(*eval.Program) (data.Value, error))
	// Eval has strictness, logs and limits of evaluation, and loads what the manifest does
	// not define. Its Catalog is not used.
	Eval eval.Options
	// RichData is Puppet's setting of that name.
	RichData bool
	// Settings has the variables of the class settings, see [SettingsOf]. If nil, there
	// are none. Many compiles may share one.
	Settings *eval.Scope
	// Version returns the version of the catalog, and is called before anything is evaluated.
	// It may be nil.
	Version func(context.Context) (data.Value, error)
	UUID    string
	CodeID  string

	// Limits of ours; 0 means 500 containers within each other, and 1 million resources.
	MaxContainers int
	MaxResources  int
}

// A Node is what a catalog is for.
type Node struct {
	Name        string
	Names       []string // that node statements are matched with; nil means the name alone
	Environment string
	Classes     []Class
	Parameters  []data.Pair // facts among them
	Facts       data.Value
	Trusted     data.Value
	ServerFacts data.Value
}

// NodeOf returns what a node of the indirection has for its catalog.
func NodeOf(n *model.Node) Node {
	out := Node{Name: n.Name, Environment: n.Environment, Parameters: n.Parameters.Hash()}
	if h := n.Classes; h.Kind() == data.Hash {
		for _, p := range h.Hash() {
			out.Classes = append(out.Classes, Class{Name: p.Key.Text(), Params: p.Value.Hash()})
		}
		return out
	}
	for _, name := range n.ClassNames() {
		out.Classes = append(out.Classes, Class{Name: name})
	}
	return out
}

// A Class is one that the node classifier gives a node.
type Class struct {
	Name   string
	Params []data.Pair
}

// A Result is a compiled catalog, with its virtual resources.
type Result struct{ Catalog *model.Catalog }

// An Error is a compile that failed, in Puppet's words. Rules LANG-ERR-05, LANG-ERR-06.
type Error struct {
	Node string // "" if the message has none
	Err  error
	// Containers are the references of what contains the resource that failed, from the
	// outermost to that one; nil if no resource did.
	Containers []string
	// Tried are the files that were searched for names that were not found, by the names.
	Tried map[string][]string
	// Why is a sentence about other nodes that explains the failure; "" if none does.
	Why string
}

func (e *Error) Error() string {
	if e.Node == "" {
		return e.Err.Error()
	}
	return e.Err.Error() + " on node " + e.Node
}

func (e *Error) Unwrap() error { return e.Err }

// Failed returns the error of an initial manifest that cannot be parsed, and logs it with
// what the parser logs.
func Failed(node Node, report *syntax.Report, log func(eval.LogEntry)) error {
	p := *report.Failure
	if n := len(report.Logged); p.File == "" && n > 0 { // of several errors
		p.File = report.Logged[n-1].File
	}
	if log != nil {
		for _, x := range report.Logged {
			log(eval.LogEntry{Level: x.Severity.String(), Message: x.Message, File: x.File, Line: x.Line, Column: x.Column})
		}
		log(eval.LogEntry{Level: "err", Message: p.Message, File: p.File, Line: p.Line, Column: p.Column})
	}
	whole := &eval.Error{
		Message: "Could not parse for environment " + node.Environment + ": " + p.Message,
		File:    p.File, Line: p.Line, Column: p.Column,
	}
	return &Error{Node: node.Name, Err: whole}
}

// placed returns an error that is not put behind the label of a node.
func placed(o origins.Origin, format string, args ...any) error {
	return &eval.Error{Message: fmt.Sprintf(format, args...), File: o.File, Line: o.Line, Wrapped: eval.ErrPlain}
}

// Compile compiles a catalog. An error is an [*Error]; that of the context is wrapped in
// one.
func Compile(ctx context.Context, o Options) (result *Result, err error) {
	c := newCompilation(ctx, o)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("internal error: %v\n%s", r, debug.Stack())
		}
		if err != nil {
			result, err = nil, c.failed(err)
		}
	}()
	defer c.thread.EndParts()
	defer c.reportCollections()
	if o.Version != nil {
		if c.version, err = o.Version(ctx); err != nil {
			return nil, err
		}
	}
	if err := c.evaluate(); err != nil {
		return nil, err
	}
	return c.finished()
}

// finished makes the catalog of what was evaluated.
func (c *compilation) finished() (result *Result, err error) {
	end := c.part("catalog", c.o.Node.Name, "", 0)
	defer func() { end(err) }()
	if err := c.finish(); err != nil {
		return nil, err
	}
	if c.o.End != nil {
		c.o.End(c.run)
	}
	return c.result()
}

// part begins a part, whose answer is how many resources it declared.
func (c *compilation) part(kind, name, file string, line int) (end func(error)) {
	p, before := c.thread.Part(kind, name, file, line), len(c.all)
	if !p.IsTraced() {
		return func(error) {}
	}
	return func(err error) {
		p.End(counted(len(c.all)-before, "resource"), err)
	}
}

func counted(n int, of string) string {
	if n == 1 {
		return "1 " + of
	}
	return strconv.Itoa(n) + " " + of + "s"
}

// run defines what a program has, and evaluates it in the top scope.
func (c *compilation) run(p *eval.Program) (data.Value, error) {
	if err := c.define(p); err != nil {
		return data.Value{}, err
	}
	return c.thread.RunIn(c.top.vars, p)
}

// failed logs an error and names the node.
func (c *compilation) failed(err error) error {
	if unwritten, ok := err.(*unwrittenError); ok {
		return &Error{Err: unwritten}
	}
	out := &Error{Node: c.o.Node.Name, Err: err, Tried: c.tried, Why: c.why}
	for r := c.evaluating; r != nil && r != c.main; r = r.scope.resource {
		out.Containers = append([]string{r.ref()}, out.Containers...)
	}
	var placed *eval.Error
	entry := eval.LogEntry{Level: "err", Message: out.Error()}
	if errors.As(err, &placed) && !errors.Is(placed.Wrapped, eval.ErrPlain) {
		entry = eval.LogEntry{Level: "err", Message: placed.Message, File: placed.File, Line: placed.Line, Column: placed.Column}
	}
	c.log(entry)
	return out
}

func (c *compilation) log(e eval.LogEntry) {
	if c.o.Eval.Log != nil {
		c.o.Eval.Log(e)
	}
}

// evaluate makes all resources. Rules LANG-COMP-01 to LANG-COMP-06.
func (c *compilation) evaluate() error {
	if err := c.begin(); err != nil {
		return err
	}
	for _, p := range c.o.Main {
		file := p.Source().File
		name := "code"
		if file != "" {
			name = filepath.Base(file)
		}
		end := c.part("manifest", name, file, 0)
		_, err := c.thread.RunIn(c.top.vars, p)
		end(err)
		if err != nil {
			return err
		}
	}
	if err := c.evaluateNode(); err != nil {
		return err
	}
	if err := c.evaluateNodeClasses(); err != nil {
		return err
	}
	return c.generate()
}

// begin makes what every catalog has: the stage and the classes settings and main.
func (c *compilation) begin() error {
	if err := c.thread.Begin(c.ctx); err != nil {
		return err
	}
	for _, p := range c.o.Main {
		if err := c.define(p); err != nil {
			return err
		}
	}
	stage, err := c.typeNamed("stage")
	if err != nil {
		return err
	}
	c.mainStage = &resource{typ: stage, title: "main", key: "main", symbol: true, scope: c.top}
	c.tag(&c.mainStage.tags, "stage")
	if err := c.insert(c.mainStage); err != nil {
		return err
	}
	for _, class := range c.o.Node.Classes {
		if err := c.addClass(class.Name); err != nil {
			return err
		}
	}
	c.variables()
	if err := c.settings(); err != nil {
		return err
	}
	c.main = &resource{typ: c.classType, title: "main", symbol: true, scope: c.top, def: c.mainDef, evaluated: true}
	c.tag(&c.main.tags, "class")
	c.top.resource, c.top.source = c.main, c.mainDef
	if err := c.insert(c.main); err != nil {
		return err
	}
	c.scopes[""] = c.top
	return c.stageOf(c.main)
}

// variables binds those of the top scope. Rule LANG-SC-04.
func (c *compilation) variables() {
	n := &c.o.Node
	for _, p := range n.Parameters {
		if name := p.Key.Str(); name != "environment" {
			c.top.vars.Set(name, p.Value)
		}
	}
	c.top.vars.Set("environment", data.OfString(n.Environment))
	c.top.vars.Set("trusted", hashOr(n.Trusted))
	c.top.vars.Set("server_facts", hashOr(n.ServerFacts))
	c.top.vars.Set("facts", hashOr(n.Facts))
}

func hashOr(v data.Value) data.Value {
	if v.IsNil() {
		return data.OfHash(nil)
	}
	return v
}

// settings makes the class of that name.
func (c *compilation) settings() error {
	def := &definition{kind: eval.ClassKind, name: "settings"}
	c.classes["settings"] = def
	r := &resource{typ: c.classType, title: "Settings", key: "settings", scope: c.top, def: def, evaluated: true}
	c.tag(&r.tags, "class")
	c.tag(&r.tags, "settings")
	if err := c.insert(r); err != nil {
		return err
	}
	s := c.newScope(c.top, def, r)
	c.scopes["settings"] = s
	if err := c.addClass("settings"); err != nil {
		return err
	}
	if c.o.Settings != nil {
		s.vars.Share(c.o.Settings)
	}
	return c.stageOf(r)
}

// SettingsOf returns the variables of the class settings: each setting, and all of them
// as one hash.
func SettingsOf(all []data.Pair) *eval.Scope {
	s := new(eval.Scope)
	for _, p := range all {
		s.Set(p.Key.Str(), p.Value)
	}
	s.Set("all_local", data.OfHash(all))
	return s
}

// addClass adds a name to the classes of the catalog, which is tagged with it.
func (c *compilation) addClass(name string) error {
	c.classList = append(c.classList, name)
	return c.tag(&c.tags, name)
}

// evaluateNode evaluates the node statement that fits, if there are any. Rule
// LANG-DEF-06.
func (c *compilation) evaluateNode() error {
	if len(c.nodes) == 0 {
		return nil
	}
	names := c.o.Node.Names
	if names == nil {
		names = []string{c.o.Node.Name}
	}
	def, match, err := c.nodeFor(names)
	if err != nil {
		return err
	}
	if def == nil {
		return eval.Errorf("Could not find node statement with name 'default' or '%s'", strings.Join(names, ", "))
	}
	r, err := c.ensure(c.top, def, nil, origins.Origin{File: def.File, Line: def.Line})
	if err != nil {
		return err
	}
	c.match = match
	if err := c.evaluateResource(r); err != nil {
		return err
	}
	c.nodeScope = c.scopes[def.name]
	return nil
}

// nodeFor returns the definition that fits the first name that has one.
func (c *compilation) nodeFor(names []string) (*definition, []data.Value, error) {
	for _, name := range append(names[:len(names):len(names)], "default") {
		name = strings.ToLower(name)
		for _, d := range c.nodes {
			if d.regexp == nil && d.host == name {
				return d, nil, nil
			}
		}
		for _, d := range c.nodes {
			if d.regexp == nil {
				continue
			}
			at, err := c.thread.Within(d.regexp).Find(name)
			if err != nil {
				return nil, nil, placed(origins.Origin{File: d.File, Line: d.Line}, "%s", err)
			}
			if at != nil {
				return d, eval.Groups(name, at), nil
			}
		}
	}
	return nil, nil, nil
}

// evaluateNodeClasses declares the classes that the node was given: those with
// parameters first. They are evaluated later. Rule LANG-COMP-05.
func (c *compilation) evaluateNodeClasses() error {
	scope := c.top
	if c.nodeScope != nil {
		scope = c.nodeScope
	}
	for _, withParams := range []bool{true, false} {
		var defs []*definition
		var params [][]data.Pair
		for _, class := range c.o.Node.Classes {
			if len(class.Params) > 0 != withParams {
				continue
			}
			def, err := c.findClass(class.Name)
			if err != nil {
				return err
			}
			if def == nil {
				return eval.Errorf("Could not find class %s for %s", class.Name, c.o.Node.Name)
			}
			defs, params = append(defs, def), append(params, class.Params)
		}
		for i, def := range defs {
			if c.scopes[def.name] != nil && !withParams {
				continue
			}
			if _, err := c.ensure(scope, def, params[i], origins.Origin{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// maxRounds is Puppet's limit.
const maxRounds = 1000

// generate evaluates collectors, and classes and defines that were declared, until
// nothing is left. Rule LANG-COMP-06.
func (c *compilation) generate() error {
	for range maxRounds + 1 {
		found, err := c.evaluateCollectors()
		if err != nil {
			return err
		}
		evaluated, err := c.evaluatePending()
		if err != nil {
			return err
		}
		if !found && !evaluated {
			return c.collectedNothing()
		}
	}
	return eval.Errorf("Somehow looped more than %d times while evaluating host catalog", maxRounds)
}

// evaluatePending evaluates what is declared now, and was not evaluated.
func (c *compilation) evaluatePending() (bool, error) {
	found, pending := false, c.pending
	c.pending = nil
	var later []*resource
	for _, r := range pending {
		switch {
		case r.evaluated:
		case r.virtual:
			later = append(later, r)
		default:
			found = true
			c.ready = append(c.ready, r)
		}
	}
	c.pending = append(later, c.pending...)
	ready := c.ready
	for _, r := range ready {
		if err := c.evaluateResource(r); err != nil {
			return false, wrapped(r, err)
		}
	}
	clear(ready)
	c.ready = ready[:0]
	return found, nil
}

// wrapped puts an error behind the resource that was evaluated. Rule LANG-ERR-04.
func wrapped(r *resource, err error) error {
	if e, ok := err.(*eval.Exception); ok {
		return eval.Errorf("Puppet::Parser::Compiler failed with error %s: %s", e.Class, e.Message)
	}
	out := &eval.Error{
		Message: "Evaluation Error: Error while evaluating a Resource Statement, " + err.Error(),
		File:    r.file, Line: r.line, Wrapped: err,
	}
	var inner *eval.Error
	if errors.As(err, &inner) {
		out.Stack = inner.Stack
		if errors.Is(inner.Wrapped, eval.ErrPlain) {
			out.Wrapped = nil // it is an issue now
		}
	}
	return out
}

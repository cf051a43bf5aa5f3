package syntax

import (
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"strings"
)

// metaparameters are those of all resources.
var metaparameters = setOf("noop schedule audit loglevel alias tag require subscribe before notify stage")

// LogDefinitions adds to the report of a valid program what is wrong with its
// definitions taken together: what is defined twice, and parameters with the name
// of a metaparameter. Puppet finds that when it loads a manifest, and stops at the
// first error.
func LogDefinitions(prog *Program, report *Report) {
	r := &register{source: prog.Source, report: report, entities: map[string]Node{}, warned: map[string]bool{}}
	r.collect(prog.Body)
	for _, step := range []func(Node) *Problem{r.load, r.add} {
		for _, n := range r.all {
			if report.Failure = step(n); report.Failure != nil {
				return
			}
		}
	}
}

// A register holds what a source defines.
type register struct {
	source   *Source
	report   *Report
	all      []Node          // definitions, the inner ones first
	entities map[string]Node // by kind and name
	warned   map[string]bool
}

func (r *register) collect(n Node) {
	children(n, r.collect)
	switch n.(type) {
	case *Class, *Define, *NodeDefinition, *Function, *TypeAlias:
		r.all = append(r.all, n)
	}
}

// load does what Puppet does with one definition alone. Defines are types to it.
func (r *register) load(n Node) *Problem {
	switch n := n.(type) {
	case *Class:
		return r.metaparameters(n.Name, n.Params)
	case *Define:
		if p := r.metaparameters(n.Name, n.Params); p != nil {
			return p
		}
		return r.entity("type/", n.Name, n)
	case *TypeAlias:
		return r.entity("type/", n.Name, n)
	case *Function:
		return r.entity("function/", n.Name, n)
	}
	return nil
}

// metaparameters looks for parameters that would hide a metaparameter. With a
// default it is a warning, once.
func (r *register) metaparameters(name string, params []*Parameter) *Problem {
	name = strings.ToLower(name)
	for _, p := range params {
		if !metaparameters[p.Name] {
			continue
		}
		if p.Default == nil {
			return &Problem{Message: p.Name + " is a metaparameter; please choose another parameter name in the " + name + " definition"}
		}
		warning := p.Name + " is a metaparam; this value will inherit to all contained resources in the " + name + " definition"
		if !r.warned[warning] {
			r.warned[warning] = true
			r.report.Logged = append(r.report.Logged, &Problem{Severity: Warning, Message: warning})
		}
	}
	return nil
}

// entity registers what a loader would find.
func (r *register) entity(kind, name string, n Node) *Problem {
	name = kind + strings.ToLower(name)
	first, twice := r.entities[name]
	if !twice {
		r.entities[name] = n
		return nil
	}
	line, column := r.source.Position(int(first.place().offset))
	return &Problem{Message: fmt.Sprintf("Attempt to redefine entity 'http://puppet.com/2016.1/runtime/%s'. Originally set at %s?line=%d&pos=%d.",
		name, r.address(), line, column)}
}

// address returns the source as Puppet writes its address.
func (r *register) address() string {
	if r.source.File == "" {
		return "string:"
	}
	path, err := filepath.Abs(r.source.File)
	if err != nil {
		path = r.source.File
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// add registers a class, define or node. A name is one of these only.
func (r *register) add(n Node) *Problem {
	switch n := n.(type) {
	case *Class:
		return r.addAs("class", n.Name, n,
			kindMessage{"class", "Class '%s' is already defined%s; cannot redefine"},
			kindMessage{"node", "Node '%s' is already defined%s; cannot be redefined as a class"},
			kindMessage{"define", "Definition '%s' is already defined%s; cannot be redefined as a class"})
	case *Define:
		return r.addAs("define", n.Name, n, kindMessage{"class", "'%s' is already defined%s as a class; cannot redefine as a definition"})
	case *NodeDefinition:
		for _, h := range n.Hosts {
			p := r.addAs("node", hostName(h), n,
				kindMessage{"node", "Node '%s' is already defined%s; cannot redefine"},
				kindMessage{"class", "Class '%s' is already defined%s; cannot be redefined as a node"})
			if p != nil {
				return p
			}
		}
	}
	return nil
}

// A kindMessage is the error if the name is one of a kind already.
type kindMessage struct{ kind, message string }

func (r *register) addAs(kind, name string, n Node, others ...kindMessage) *Problem {
	name = strings.ToLower(name)
	for _, other := range others {
		if first, taken := r.entities[other.kind+" "+name]; taken {
			return r.problem(n, fmt.Sprintf(other.message, name, r.problem(first, "").Error()))
		}
	}
	r.entities[kind+" "+name] = n
	return nil
}

// problem returns an error at the line of a node.
func (r *register) problem(n Node, message string) *Problem {
	p := r.source.problem(int(n.place().offset), message)
	p.Column = 0
	return p
}

// hostName returns what Puppet calls a node.
func hostName(n Node) string {
	switch n := n.(type) {
	case *String:
		return n.Value
	case *Regexp:
		return "__node_regexp__" + strings.TrimLeft(notInNames.ReplaceAllString(strings.ToLower(n.Source), ""), ".")
	case *Concat:
		return n.Segments[0].(*String).Value
	}
	return "default"
}

var notInNames = regexp.MustCompile(`[^-\w:.]`)

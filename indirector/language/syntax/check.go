package syntax

import (
	"fmt"
	"strings"
)

// A checker looks at every node of a tree, and collects what is wrong with it.
// Section 3 of the specification.
type checker struct {
	source  *Source
	options Options
	report  *Report
	found   []*Problem
	counts  [Deprecation + 1]int // of all that is wrong, by severity
	path    []Node               // what is around the node that is looked at; first the program
	visit   func(Node)
}

// check adds to a report what is wrong with a program.
func check(prog *Program, o Options, report *Report) {
	c := &checker{source: prog.Source, options: o, report: report}
	c.visit = func(n Node) {
		c.check(n)
		c.path = append(c.path, n)
		children(n, c.visit)
		c.path = c.path[:len(c.path)-1]
	}
	c.checkTop(prog.Body)
	c.visit(prog.Body)
	report.conclude(c.found, c.counts, o)
}

func (c *checker) err(n Node, format string, args ...any) { c.add(Error, n, format, args...) }

func (c *checker) add(s Severity, n Node, format string, args ...any) {
	if c.counts[s]++; c.counts[s] > maxProblems {
		return
	}
	p := c.source.problem(int(n.place().offset), fmt.Sprintf(format, args...))
	p.Severity = s
	c.found = append(c.found, p)
}

// around returns the node that is so many levels above, or nil for the program
// and what is above it.
func (c *checker) around(levels int) Node {
	if levels > len(c.path) {
		return nil
	}
	return c.path[len(c.path)-levels]
}

// check looks at one node.
func (c *checker) check(n Node) {
	switch n := n.(type) {
	case *Variable:
		c.checkVariable(n)
	case *Name, *String, *TypeName:
	case *Binary:
		c.checkBinary(n)
	case *Unary:
		c.value(n.Expr)
	case *Paren:
		c.value(n.Expr)
	case *Text:
		c.value(n.Expr)
	case *Render:
		c.value(n.Expr)
	case *Call:
		c.checkFunction(n)
	case *Array:
		c.values(n.Values)
	case *Hash:
		c.checkKeys(n)
	case *Entry:
		c.checkEntry(n)
	case *Attribute:
		c.checkAttribute(n)
	case *Integer:
		c.checkInteger(n)
	case *Heredoc:
		c.checkSyntax(n)
	case *Reserved:
		c.err(n, "%s", reserved(n.Word))
	default:
		c.checkStatement(n)
	}
}

func (c *checker) checkStatement(n Node) {
	switch n := n.(type) {
	case *Block:
		c.checkBlock(n)
	case *If:
		c.value(n.Test)
	case *Case:
		c.checkCase(n)
	case *Option:
		c.values(n.Values)
	case *Selector:
		c.checkSelector(n)
	case *Choice:
		c.value(n.Match)
	case *Lambda:
		c.checkRestLast(n.Params)
		c.checkReturns(n, n.Returns)
	case *Parameter:
		c.checkParameter(n)
	case *EPP:
		if l, ok := c.around(1).(*Lambda); ok {
			c.checkNoRest(l.Params, n)
			c.checkUnique(l.Params)
		}
	case *Collect:
		if _, ok := n.Type.(*TypeName); !ok {
			c.unacceptable(n.Type, "type name", n)
		}
	case *Query:
		if n.Expr != nil {
			c.checkQuery(n.Expr)
		}
	case *Resource:
		if name, ok := n.Type.(*Name); ok && n.Form != Regular && name.Value == "class" {
			c.err(n, "Classes are not virtualizable")
		}
	case *ResourceBody:
		c.checkUnfoldings(n)
	case *Defaults:
		c.checkForm(n, n.Form)
	case *Override:
		c.checkForm(n, n.Form)
	default:
		c.checkDefinition(n)
	}
}

// checkEntry has what is no entry at all: * => in a hash, where Puppet fails inside.
func (c *checker) checkEntry(e *Entry) {
	if _, ok := e.Key.(*Nop); ok {
		c.err(e, "The operator '* =>' in a Hash Expression is not supported.")
	}
	c.value(e.Key)
	c.value(e.Value)
}

// checkForm refuses virtual defaults, and virtual overrides in the same words.
// Rule LANG-CHK-17.
func (c *checker) checkForm(n Node, f Form) {
	if f != Regular {
		c.err(n, "Resource Defaults are not virtualizable")
	}
}

// checkUnfoldings looks for a second * in the body of a resource. Rule
// LANG-CHK-07.
func (c *checker) checkUnfoldings(body *ResourceBody) {
	seen := false
	for _, op := range body.Ops {
		if op.Name == "" && seen {
			c.err(op, "Unfolding of attributes from Hash can only be used once per resource body")
		}
		seen = seen || op.Name == ""
	}
}

// checkAttribute allows +> in overrides and collectors only. Rule LANG-CHK-07.
func (c *checker) checkAttribute(a *Attribute) {
	if a.Append {
		switch parent := c.around(1).(type) {
		case *Collect, *Override:
		default:
			c.err(a, "Illegal +> operation on attribute %s. This operator can not be used in %s", a.Name, aLabel(parent))
		}
	}
	c.value(a.Value)
}

// unacceptable reports a node that is no function, type or host. Rules LANG-CHK-09
// and LANG-CHK-19.
func (c *checker) unacceptable(n Node, as string, in Node) {
	c.err(n, "Illegal expression. %s is unacceptable as %s in %s", upperALabel(n), as, aLabel(in))
}

// checkFunction wants the name of a function, or a type that is made a value.
func (c *checker) checkFunction(call *Call) {
	switch f := call.Functor.(type) {
	case *Name, *TypeName:
		return
	case *Access:
		if _, ok := f.Left.(*TypeName); ok {
			return
		}
	case *RenderText: // text, and then parameters in parentheses. Rule LANG-CHK-21.
		c.err(call, "%s", ambiguousTemplate)
		return
	}
	c.unacceptable(call.Functor, "function name", call)
}

// checkQuery allows comparisons of equality, and, or. Rule LANG-CHK-15.
func (c *checker) checkQuery(n Node) {
	switch n := n.(type) {
	case *Variable, *Name, *Integer, *Float, *String, *Boolean:
		return
	case *Paren:
		c.checkQuery(n.Expr)
		return
	case *Binary:
		switch n.Op {
		case "==", "!=":
			return
		case "and", "or":
			c.checkQuery(n.Left)
			c.checkQuery(n.Right)
			return
		}
	}
	c.err(n, "Illegal query expression. %s cannot be used in a query", upperALabel(n))
}

// checkCase and checkSelector look for a second default. Rule LANG-CHK-14.
func (c *checker) checkCase(n *Case) {
	c.value(n.Test)
	seen := false
	for _, o := range n.Options {
		for _, v := range o.Values {
			if _, ok := v.(*Default); ok {
				if seen {
					c.duplicateDefault(v, n)
				}
				seen = true
			}
		}
	}
}

func (c *checker) checkSelector(n *Selector) {
	c.value(n.Left)
	seen := 0
	for _, choice := range n.Choices {
		if _, ok := choice.Match.(*Default); ok {
			if seen++; seen == 2 {
				c.duplicateDefault(choice.Match, n)
			}
		}
	}
}

func (c *checker) duplicateDefault(n, in Node) {
	c.err(n, "This %s already has a 'default' entry - this is a duplicate", label(in))
}

// checkInteger looks for numbers that do not fit. Rule LANG-LEX-06.
func (c *checker) checkInteger(n *Integer) {
	if n.Big != nil {
		c.err(n, "A Literal Integer resulted in a value outside of Puppet Integer max range, got '+0x%x'", n.Big)
	}
}

func reserved(word string) string {
	return "Use of reserved word: " + word + ", must be quoted if intended to be a String value"
}

// checkVariable looks at the name. Rule LANG-CHK-20.
func (c *checker) checkVariable(v *Variable) {
	switch {
	case v.Name != "" && isDigit(v.Name[0]):
		if !isMatchVariable(v.Name) {
			c.err(v, "Illegal numeric variable name, The given name '%s' must be a decimal value if it starts with a digit 0-9", v.Name)
		}
	case !isVariableName(v.Name):
		c.err(v, `Illegal variable name, The given name '%s' does not conform to the naming rule /^((::)?[a-z]\w*)*((::)?[a-z_]\w*)$/`, v.Name)
	}
}

// isMatchVariable reports whether a name is 0, or a number without leading zeros.
func isMatchVariable(name string) bool {
	return name != "" && allDigits(name) && (name[0] != '0' || name == "0")
}

// isVariableName reports whether all segments begin with a small letter; the last
// may begin with an underscore.
func isVariableName(name string) bool {
	name = strings.TrimPrefix(name, "::")
	for {
		segment, rest, more := strings.Cut(name, "::")
		if segment == "" || !isLower(segment[0]) || more && segment[0] == '_' || wordEnd(segment, 0) < len(segment) {
			return false
		}
		if !more {
			return true
		}
		name = rest
	}
}

package syntax

import (
	"fmt"
	"strings"
)

func (p *printer) statement(n Node) {
	switch n := n.(type) {
	case *Block: // a name and a hash without a semicolon between them
		p.untitled(n.Statements[0], n.Statements[1].(*Hash))
	case *Resource:
		p.put(formSigns[n.Form], n.Type, " {")
		p.lines(len(n.Bodies), func(i int) {
			p.put(n.Bodies[i].Title, ":")
			p.lines(len(n.Bodies[i].Ops), func(j int) { p.put(n.Bodies[i].Ops[j], ",") })
			p.put(";")
		})
		p.put("}")
	case *Defaults:
		p.put(formSigns[n.Form], n.Type, " ")
		p.attributes(n.Ops)
	case *Override:
		p.put(formSigns[n.Form], n.Resource, " ")
		p.attributes(n.Ops)
	case *Attribute:
		p.attribute(n)
	case *Collect:
		p.put(n.Type, " ", n.Query)
		if len(n.Ops) > 0 {
			p.put(" ")
			p.attributes(n.Ops)
		}
	case *Query:
		p.query(n)
	case *RenderText:
		p.put("%>", eppEscapes.Replace(n.Value), "<%")
	case *Render:
		p.render(n)
	default:
		p.definition(n)
	}
}

// untitled writes a name and a hash as if they were a resource.
func (p *printer) untitled(name Node, h *Hash) {
	p.put(name, " {")
	p.lines(len(h.Entries), func(i int) { p.put(h.Entries[i].Key.(*String).Value, " => ", h.Entries[i].Value, ",") })
	p.put("}")
}

// looksUntitled returns the hash of a call that was written, or may be, as a name and
// braces: include { a => 1 }. Only so it may stand where a value is wanted.
func looksUntitled(c *Call) (*Hash, bool) {
	if !c.Statement || len(c.Args) != 1 || c.Lambda != nil {
		return nil, false
	}
	name, ok := c.Functor.(*Name)
	h, isHash := c.Args[0].(*Hash)
	if !ok || !isHash || !statementCalls[name.Value] {
		return nil, false
	}
	for _, e := range h.Entries {
		if key, ok := e.Key.(*String); !ok || !isAttributeName(key.Value) {
			return nil, false
		}
	}
	return h, true
}

func isAttributeName(name string) bool {
	name = strings.TrimPrefix(name, "::")
	if name == "" || name == "true" || name == "false" || !isLower(name[0]) {
		return false
	}
	end, isName := bareWord(name, 0)
	return isName && end == len(name)
}

var formSigns = [...]string{Regular: "", Virtual: "@", Exported: "@@"}

func (p *printer) attributes(ops []*Attribute) {
	p.put("{")
	p.lines(len(ops), func(i int) { p.put(ops[i], ",") })
	p.put("}")
}

func (p *printer) attribute(n *Attribute) {
	switch {
	case n.Name == "":
		p.put("* => ", n.Value)
	case n.Append:
		p.put(n.Name, " +> ", n.Value)
	default:
		p.put(n.Name, " => ", n.Value)
	}
}

func (p *printer) query(n *Query) {
	begin, end := "<| ", " |>"
	if n.Exported {
		begin, end = "<<| ", " |>>"
	}
	p.put(begin)
	if n.Expr != nil {
		p.put(n.Expr)
	}
	p.put(end)
}

// render writes an expression as it is, and what only a statement can be in braces.
func (p *printer) render(n *Render) {
	p.put("%><%= ")
	statement := false
	switch e := n.Expr.(type) {
	case *Block, *Resource, *Defaults, *Override:
		statement = true
	case *Binary:
		statement = strings.Contains("= += -= -> ~> <- <~", e.Op) && e.Op != "-" && e.Op != "+" && e.Op != "<" && e.Op != ">"
	case *Call:
		statement = e.Statement
	}
	if statement {
		p.body(n.Expr)
	} else {
		p.put(n.Expr)
	}
	p.put(" %><%")
}

func (p *printer) definition(n Node) {
	switch n := n.(type) {
	case *Class:
		p.put("class ", p.short(n.Name))
		p.parameterList(n.Params)
		if n.Parent != "" {
			p.put(" inherits ", n.Parent)
		}
		p.put(" ")
		p.classes = append(p.classes, p.short(n.Name))
		p.body(n.Body)
		p.classes = p.classes[:len(p.classes)-1]
	case *Define:
		p.put("define ", p.short(n.Name))
		p.parameterList(n.Params)
		p.put(" ")
		p.body(n.Body)
	case *Function:
		p.put("function ", n.Name)
		p.parameterList(n.Params)
		p.returns(n.Returns)
		p.put(" ")
		p.body(n.Body)
	case *NodeDefinition:
		p.put("node ")
		printList(p, ", ", n.Hosts)
		if n.Parent != nil {
			p.put(" inherits ", n.Parent)
		}
		p.put(" ")
		p.body(n.Body)
	case *TypeAlias:
		p.put("type ", n.Name, " = ", n.Type)
	case *TypeMapping:
		p.put("type ", n.Type, " = ", n.Mapping)
	default:
		panic(fmt.Sprintf("a tree without problems has no %T", n))
	}
}

func (p *printer) parameterList(params []*Parameter) {
	if params == nil {
		return
	}
	p.put("(")
	printList(p, ", ", params)
	p.put(")")
}

// short returns a name without those of the classes around it, which the parser
// puts in front of it.
func (p *printer) short(name string) string {
	if len(p.classes) == 0 {
		return name
	}
	return strings.TrimPrefix(name, strings.TrimPrefix(strings.Join(p.classes, "::"), "::")+"::")
}

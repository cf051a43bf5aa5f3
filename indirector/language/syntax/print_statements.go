package syntax

import (
	"fmt"
	"strings"
)

func (p *printer) statement(n Node) {
	switch n := n.(type) {
	case *Block: // a name and a hash without a semicolon between them
		p.put(n.Statements[0], " ", "{")
		for _, e := range n.Statements[1].(*Hash).Entries {
			p.put(e.Key.(*String).Value, " => ", e.Value, ", ")
		}
		p.put("}")
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

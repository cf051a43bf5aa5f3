package syntax

import (
	"fmt"
	"strconv"
	"strings"
)

// Print returns a source that parses to the same tree: the same notation, at other
// places. Comments and blank lines are gone, calls have parentheses.
func Print(prog *Program) string {
	p := &printer{source: prog.Source.Text}
	switch body := prog.Body.(type) {
	case *Nop:
		return ""
	case *Lambda:
		if e, ok := body.Body.(*EPP); ok {
			return p.template(body, e)
		}
		p.put(body)
	case *Block:
		p.statements(body.Statements)
	default:
		p.statements([]Node{body})
	}
	p.newline()
	return p.b.String()
}

// A printer writes a tree. The text of a heredoc waits until the end of the line.
type printer struct {
	b       strings.Builder
	source  string
	indent  int
	waiting []string // texts of heredocs, with their last lines
	tags    int      // of heredocs
	classes []string // the names of the classes around this place
}

// put writes texts and nodes.
func (p *printer) put(parts ...any) {
	for _, part := range parts {
		switch part := part.(type) {
		case string:
			p.b.WriteString(part)
		case Node:
			p.node(part)
		default:
			panic(fmt.Sprintf("neither a text nor a node: %T", part))
		}
	}
}

// newline ends a line, and writes the texts of heredocs.
func (p *printer) newline() {
	p.put("\n")
	for _, text := range p.waiting {
		p.put(text)
	}
	p.waiting = nil
	p.put(strings.Repeat("  ", p.indent))
}

// flush makes sure that a line break in a literal is not taken for the end of the
// line of a heredoc.
func (p *printer) flush() {
	if p.waiting != nil {
		p.newline()
	}
}

// statements writes one on each line. Where the next one would be taken for the
// rest of the one before, a semicolon keeps them apart.
func (p *printer) statements(all []Node) {
	for i, n := range all {
		if i > 0 {
			if continues(n) {
				p.put(";")
			}
			p.newline()
		}
		p.put(n)
	}
}

// continues reports whether the first character of a statement may also go on with
// an expression: { - * or /.
func continues(n Node) bool {
	for {
		switch left := n.(type) {
		case *Hash, *Regexp, *Unary:
			return true
		case *Binary:
			n = left.Left
		case *Access:
			n = left.Left
		case *Member:
			n = left.Left
		case *Call:
			n = left.Functor
		case *Method:
			n = left.Functor
		case *Selector:
			n = left.Left
		case *Collect:
			n = left.Type
		case *Resource:
			n = left.Type
		default:
			return false
		}
	}
}

func (p *printer) body(n Node) {
	p.put("{")
	p.indent++
	if n != nil {
		p.newline()
		if b, ok := n.(*Block); ok {
			p.statements(b.Statements)
		} else {
			p.put(n)
		}
	}
	p.indent--
	p.newline()
	p.put("}")
}

func (p *printer) template(l *Lambda, e *EPP) string {
	p.put("<%")
	if e.HasParams {
		p.put("- |")
		p.parameters(l.Params)
		p.put("|")
	}
	p.put(" ")
	var all []Node
	if b, ok := e.Body.(*Block); ok {
		all = b.Statements
	}
	if n := len(all); n > 0 {
		if last, ok := all[n-1].(*RenderText); ok && last.Value == "" { // a line break that was trimmed
			p.statements(all[:n-1])
			p.newline()
			p.put("-%>\n")
			return p.b.String()
		}
	}
	p.statements(all)
	p.newline()
	p.put("%>")
	return p.b.String()
}

func (p *printer) parameters(params []*Parameter) { printList(p, ", ", params) }

// printList writes nodes with something between them.
func printList[N Node](p *printer, between string, all []N) {
	for i, n := range all {
		if i > 0 {
			p.put(between)
		}
		p.put(n)
	}
}

func (p *printer) node(n Node) {
	switch n := n.(type) {
	case *Undef:
		p.put("undef")
	case *Default:
		p.put("default")
	case *Boolean:
		p.put(strconv.FormatBool(n.Value))
	case *Integer, *Float:
		p.number(n)
	case *String:
		p.quoted(n.Value)
	case *Regexp:
		if strings.Contains(n.Source, "\n") {
			p.flush()
		}
		p.put("/", strings.ReplaceAll(n.Source, "/", `\/`), "/")
	case *Name:
		p.put(n.Value)
	case *TypeName:
		p.put(n.Value)
	case *Reserved:
		p.put(n.Word)
	case *Variable:
		p.put("$", n.Name)
	case *Concat:
		p.put(`"`)
		p.segments(n.Segments, escapesQuoted)
		p.put(`"`)
	case *Heredoc:
		p.heredoc(n)
	case *Array:
		p.put("[")
		printList(p, ", ", n.Values)
		p.put("]")
	case *Hash:
		p.put("{")
		printList(p, ", ", n.Entries)
		p.put("}")
	case *Entry:
		p.put(n.Key, " => ", n.Value)
	default:
		p.expression(n)
	}
}

func (p *printer) expression(n Node) {
	switch n := n.(type) {
	case *Paren:
		p.put("(", n.Expr, ")")
	case *Unary:
		p.put(n.Op, n.Expr)
	case *Binary:
		p.put(n.Left, " ", n.Op, " ", n.Right)
	case *Access:
		p.put(n.Left, "[")
		printList(p, ", ", n.Keys)
		p.put("]")
	case *Member:
		p.put(n.Left, ".", n.Name)
	case *Call:
		if h, ok := looksUntitled(n); ok {
			p.untitled(n.Functor, h)
			return
		}
		p.put(n.Functor)
		p.call(n.Args, n.Lambda, true)
	case *Method:
		p.put(n.Functor)
		p.call(n.Args, n.Lambda, false)
	case *Lambda:
		p.put("|")
		p.parameters(n.Params)
		p.put("|")
		p.returns(n.Returns)
		p.put(" ")
		p.body(n.Body)
	case *Parameter:
		p.parameter(n)
	case *If:
		p.conditional(n)
	case *Case:
		p.put("case ", n.Test, " {")
		p.lines(len(n.Options), func(i int) {
			printList(p, ", ", n.Options[i].Values)
			p.put(": ")
			p.body(n.Options[i].Then)
		})
		p.put("}")
	case *Selector:
		p.put(n.Left, " ? {")
		p.lines(len(n.Choices), func(i int) { p.put(n.Choices[i].Match, " => ", n.Choices[i].Value, ",") })
		p.put("}")
	default:
		p.statement(n)
	}
}

// lines writes what stands between braces, one line each.
func (p *printer) lines(count int, line func(i int)) {
	p.indent++
	for i := range count {
		p.newline()
		line(i)
	}
	p.indent--
	p.newline()
}

func (p *printer) call(args []Node, l *Lambda, parentheses bool) {
	if parentheses || args != nil {
		p.put("(")
		printList(p, ", ", args)
		p.put(")")
	}
	if l != nil {
		p.put(" ", l)
	}
}

func (p *printer) parameter(n *Parameter) {
	if n.Type != nil {
		p.put(n.Type, " ")
	}
	if n.Rest {
		p.put("*")
	}
	p.put("$", n.Name)
	if n.Default != nil {
		p.put(" = ", n.Default)
	}
}

func (p *printer) returns(n Node) {
	if n != nil {
		p.put(" >> ", n)
	}
}

func (p *printer) conditional(n *If) {
	word := "if "
	if n.Unless {
		word = "unless "
	}
	p.put(word, n.Test, " ")
	p.body(n.Then)
	if n.Else != nil {
		p.put(" else ")
		p.body(n.Else)
	}
}

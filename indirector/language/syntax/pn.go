package syntax

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// PN returns a program in Puppet's extended S-expression notation, as puppet parser
// dump --format pn --pretty prints it; without pretty on one line.
func PN(prog *Program, pretty bool) string {
	w := &pnWriter{pretty: pretty}
	w.write(pn(prog.Body))
	return w.b.String()
}

// What a notation is made of. A text is a value as it is written.
type (
	notation any
	text     string
	list     []notation
	call     struct {
		name string
		args []notation
	}
	entry struct {
		key   string
		value notation
	}
	mapping []entry
)

type pnWriter struct {
	b      strings.Builder
	pretty bool
	indent int
}

func (w *pnWriter) write(n notation) {
	switch n := n.(type) {
	case text:
		w.b.WriteString(string(n))
	case list:
		w.b.WriteByte('[')
		w.elements(n)
		w.b.WriteByte(']')
	case call:
		w.b.WriteString("(" + n.name)
		if len(n.args) > 0 && !w.pretty {
			w.b.WriteByte(' ')
		}
		w.elements(n.args)
		w.b.WriteByte(')')
	case mapping:
		w.b.WriteByte('{')
		w.indent++
		for i, e := range n {
			w.separate(i)
			w.b.WriteString(":" + e.key + " ")
			w.write(e.value)
		}
		w.indent--
		w.b.WriteByte('}')
	}
}

func (w *pnWriter) elements(all []notation) {
	w.indent++
	for i, n := range all {
		w.separate(i)
		w.write(n)
	}
	w.indent--
}

func (w *pnWriter) separate(i int) {
	if w.pretty {
		w.b.WriteString("\n" + strings.Repeat("  ", w.indent))
	} else if i > 0 {
		w.b.WriteByte(' ')
	}
}

// pn returns the notation of a node.
func pn(n Node) notation {
	switch n := n.(type) {
	case nil, *Nop:
		return call{name: "nop"}
	case *Undef:
		return text("nil")
	case *Default:
		return call{name: "default"}
	case *Boolean:
		return text(strconv.FormatBool(n.Value))
	case *Integer, *Float:
		return pnNumber(n, false)
	case *String:
		return pnString(n.Value)
	case *Regexp:
		return call{"regexp", []notation{pnString(rubyRegexp(n.Source))}}
	case *Name:
		return call{"qn", []notation{pnString(n.Value)}}
	case *TypeName:
		return call{"qr", []notation{pnString(n.Value)}}
	case *Reserved:
		return call{"reserved", []notation{pnString(n.Word)}}
	case *Variable:
		return call{"var", []notation{pnString(n.Name)}}
	case *Concat:
		return call{"concat", pnAll(n.Segments)}
	case *Text:
		return call{"str", []notation{pn(n.Expr)}}
	case *Heredoc:
		m := mapping{{"text", pn(n.Text)}}
		if n.Syntax != "" {
			m = mapping{{"syntax", pnString(n.Syntax)}, m[0]}
		}
		return call{"heredoc", []notation{m}}
	case *Array:
		return call{"array", pnAll(n.Values)}
	case *Hash:
		return call{"hash", pnAll(n.Entries)}
	case *Entry:
		return call{"=>", []notation{pn(n.Key), pn(n.Value)}}
	}
	return pnExpression(n)
}

func pnExpression(n Node) notation {
	switch n := n.(type) {
	case *Paren:
		return call{"paren", []notation{pn(n.Expr)}}
	case *Unary:
		return pnUnary(n)
	case *Binary:
		return call{n.Op, []notation{pn(n.Left), pn(n.Right)}}
	case *Access:
		return call{"access", append([]notation{pn(n.Left)}, pnAll(n.Keys)...)}
	case *Member:
		return call{".", []notation{pn(n.Left), pn(n.Name)}}
	case *Call:
		name := "call"
		if n.Statement {
			name = "invoke"
		}
		return pnCall(name, n.Functor, n.Args, n.Lambda)
	case *Method:
		return pnCall("call-method", n.Functor, n.Args, n.Lambda)
	case *Lambda:
		m := mapping{}
		m.addParameters(n.Params)
		m.addNode("returns", n.Returns)
		m.addBody("body", n.Body)
		return call{"lambda", []notation{m}}
	case *Block:
		return call{"block", pnAll(n.Statements)}
	case *If:
		name := "if"
		if n.Unless {
			name = "unless"
		}
		m := mapping{{"test", pn(n.Test)}}
		m.addBody("then", n.Then)
		m.addBody("else", n.Else)
		return call{name, []notation{m}}
	case *Case:
		return call{"case", []notation{pn(n.Test), list(pnAll(n.Options))}}
	case *Option:
		return mapping{{"when", list(pnAll(n.Values))}, {"then", pnBody(n.Then)}}
	case *Selector:
		return call{"?", []notation{pn(n.Left), list(pnAll(n.Choices))}}
	case *Choice:
		return call{"=>", []notation{pn(n.Match), pn(n.Value)}}
	}
	return pnStatement(n)
}

func pnStatement(n Node) notation {
	switch n := n.(type) {
	case *Resource:
		m := mapping{{"type", pn(n.Type)}}
		bodies := list{}
		for _, b := range n.Bodies {
			bodies = append(bodies, mapping{{"title", pn(b.Title)}, {"ops", list(pnAll(b.Ops))}})
		}
		return pnForm("resource", append(m, entry{"bodies", bodies}), n.Form)
	case *Defaults:
		return pnForm("resource-defaults", mapping{{"type", pn(n.Type)}, {"ops", list(pnAll(n.Ops))}}, n.Form)
	case *Override:
		return pnForm("resource-override", mapping{{"resources", pn(n.Resource)}, {"ops", list(pnAll(n.Ops))}}, n.Form)
	case *Attribute:
		return pnAttribute(n)
	case *Collect:
		m := mapping{{"type", pn(n.Type)}, {"query", pn(n.Query)}}
		if len(n.Ops) > 0 {
			m = append(m, entry{"ops", list(pnAll(n.Ops))})
		}
		return call{"collect", []notation{m}}
	case *Query:
		c := call{name: "virtual-query"}
		if n.Exported {
			c.name = "exported-query"
		}
		if n.Expr != nil {
			c.args = []notation{pn(n.Expr)}
		}
		return c
	case *EPP:
		if b, ok := n.Body.(*Block); ok {
			return call{"epp", []notation{call{"block", pnAll(b.Statements)}}}.flat()
		}
		return call{name: "epp"}
	case *RenderText:
		return call{"render-s", []notation{pnString(n.Value)}}
	case *Render:
		return call{"render", []notation{pn(n.Expr)}}
	}
	return pnDefinition(n)
}

func pnDefinition(n Node) notation {
	switch n := n.(type) {
	case *Class:
		return pnNamed("class", n.Name, n.Parent, n.Params, n.Body, nil)
	case *Define:
		return pnNamed("define", n.Name, "", n.Params, n.Body, nil)
	case *Function:
		return pnNamed("function", n.Name, "", n.Params, n.Body, n.Returns)
	case *NodeDefinition:
		m := mapping{{"matches", list(pnAll(n.Hosts))}}
		m.addNode("parent", n.Parent)
		m.addBody("body", n.Body)
		return call{"node", []notation{m}}
	case *TypeAlias:
		return call{"type-alias", []notation{pnString(n.Name), pn(n.Type)}}
	case *TypeMapping:
		return call{"type-mapping", []notation{pn(n.Type), pn(n.Mapping)}}
	case *TypeDefinition:
		parent := notation(text("nil"))
		if n.Parent != "" {
			parent = pnString(n.Parent)
		}
		return call{"type-definition", []notation{pnString(n.Name), parent, pn(n.Body)}}
	}
	panic(fmt.Sprintf("no notation of %T", n))
}

// flat is a call whose only argument gives its arguments.
func (c call) flat() call { return call{c.name, c.args[0].(call).args} }

func pnAll[N Node](all []N) []notation {
	out := make([]notation, len(all))
	for i, n := range all {
		out[i] = pn(n)
	}
	return out
}

func pnForm(name string, m mapping, f Form) notation {
	if f != Regular {
		m = append(m, entry{"form", pnString(f.String())})
	}
	return call{name, []notation{m}}
}

func pnAttribute(a *Attribute) notation {
	switch {
	case a.Name == "":
		return call{"splat-hash", []notation{pn(a.Value)}}
	case a.Append:
		return call{"+>", []notation{pnString(a.Name), pn(a.Value)}}
	}
	return call{"=>", []notation{pnString(a.Name), pn(a.Value)}}
}

func pnCall(name string, functor Node, args []Node, lambda *Lambda) notation {
	m := mapping{{"functor", pn(functor)}, {"args", list(pnAll(args))}}
	if lambda != nil {
		m = append(m, entry{"block", pn(lambda)})
	}
	return call{name, []notation{m}}
}

func pnNamed(kind, name, parent string, params []*Parameter, body, returns Node) notation {
	m := mapping{{"name", pnString(name)}}
	if parent != "" {
		m = append(m, entry{"parent", pnString(parent)})
	}
	m.addParameters(params)
	m.addBody("body", body)
	m.addNode("returns", returns)
	return call{kind, []notation{m}}
}

func (m *mapping) addParameters(params []*Parameter) {
	if len(params) == 0 {
		return
	}
	all := mapping{}
	for _, p := range params {
		one := mapping{}
		one.addNode("type", p.Type)
		if p.Rest {
			one = append(one, entry{"splat", text("true")})
		}
		one.addNode("value", p.Default)
		all = append(all, entry{p.Name, one})
	}
	*m = append(*m, entry{"params", all})
}

func (m *mapping) addNode(key string, n Node) {
	if n != nil {
		*m = append(*m, entry{key, pn(n)})
	}
}

func (m *mapping) addBody(key string, n Node) {
	if n != nil {
		*m = append(*m, entry{key, pnBody(n)})
	}
}

// pnBody returns the statements of a block, or one that is alone.
func pnBody(n Node) notation {
	if b, ok := n.(*Block); ok {
		return list(pnAll(b.Statements))
	}
	return list{pn(n)}
}

// pnUnary returns a negative number as one.
func pnUnary(n *Unary) notation {
	switch {
	case n.Op == "-" && isNumber(n.Expr):
		return pnNumber(n.Expr, true)
	case n.Op == "*":
		return call{"unfold", []notation{pn(n.Expr)}}
	}
	return call{n.Op, []notation{pn(n.Expr)}}
}

func isNumber(n Node) bool {
	switch n.(type) {
	case *Integer, *Float:
		return true
	}
	return false
}

func pnNumber(n Node, negative bool) notation {
	sign := ""
	if negative {
		sign = "-"
	}
	if f, ok := n.(*Float); ok {
		return text(sign + rubyFloat(f.Value))
	}
	i := n.(*Integer)
	digits := strconv.FormatInt(i.Value, 10)
	if i.Big != nil {
		digits = i.Big.String()
	}
	if negative && digits == "0" {
		sign = ""
	}
	if i.Radix == 10 || negative {
		return text(sign + digits)
	}
	return call{"int", []notation{mapping{{"radix", text(strconv.Itoa(i.Radix))}, {"value", text(digits)}}}}
}

// rubyFloat returns a float as Ruby prints it.
func rubyFloat(f float64) string {
	if abs := math.Abs(f); abs != 0 && (abs < 1e-4 || abs >= 1e15) {
		digits, exponent, _ := strings.Cut(strconv.FormatFloat(f, 'e', -1, 64), "e")
		if !strings.Contains(digits, ".") {
			digits += ".0"
		}
		return digits + "e" + exponent
	}
	digits := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(digits, ".") {
		digits += ".0"
	}
	return digits
}

// wideRegexp is what ties a regular expression to UTF-8 in Ruby.
var wideRegexp = regexp.MustCompile(`^(?:[^\\]|\\.)*?(?:[^\x00-\x7F]|\\[pP]\{|\\u(?:0*[1-9a-fA-F][0-9a-fA-F]{2}|00[89a-fA-F]))`)

// rubyRegexp returns a regular expression with its options, if Ruby shows them.
func rubyRegexp(source string) string {
	if wideRegexp.MatchString(source) {
		return "(?-imx:" + source + ")"
	}
	return source
}

// pnString returns a string in double quotes.
func pnString(s string) text {
	var b strings.Builder
	b.WriteByte('"')
	for i := range len(s) {
		switch c := s[i]; {
		case c == '\t':
			b.WriteString(`\t`)
		case c == '\n':
			b.WriteString(`\n`)
		case c == '\r':
			b.WriteString(`\r`)
		case c == '"', c == '\\':
			b.WriteString(`\` + string(rune(c)))
		case c < 0x20:
			fmt.Fprintf(&b, `\o%03o`, c)
		default:
			b.WriteByte(c)
		}
	}
	b.WriteByte('"')
	return text(b.String())
}

// String returns Puppet's name of a form.
func (f Form) String() string {
	return [...]string{"regular", "virtual", "exported"}[f]
}

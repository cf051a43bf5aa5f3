package syntax

import (
	"reflect"
	"strings"
)

// labels are what messages call nodes. Section 3 of the specification.
var labels = map[reflect.Type]string{
	kindOf[Nop]():            "Nop Expression",
	kindOf[Undef]():          "'undef' expression",
	kindOf[Default]():        "'default' expression",
	kindOf[Boolean]():        "Boolean",
	kindOf[Integer]():        "Literal Integer",
	kindOf[Float]():          "Literal Float",
	kindOf[String]():         "String",
	kindOf[Regexp]():         "Regular Expression",
	kindOf[Name]():           "Name",
	kindOf[TypeName]():       "Type-Name",
	kindOf[Variable]():       "Variable",
	kindOf[Concat]():         "Double Quoted String",
	kindOf[Text]():           "Expression in Interpolated String",
	kindOf[Array]():          "Array Expression",
	kindOf[Hash]():           "Hash Expression",
	kindOf[Entry]():          "Hash Entry",
	kindOf[Paren]():          "Parenthesized Expression",
	kindOf[Access]():         "'[]' expression",
	kindOf[Member]():         "'.' expression",
	kindOf[Call]():           "Function Call",
	kindOf[Method]():         "Method call",
	kindOf[Lambda]():         "Lambda",
	kindOf[Parameter]():      "Parameter Definition",
	kindOf[Block]():          "Block Expression",
	kindOf[Case]():           "'case' statement",
	kindOf[Option]():         "Case Option",
	kindOf[Selector]():       "Selector Expression",
	kindOf[Choice]():         "Selector Option",
	kindOf[Resource]():       "Resource Statement",
	kindOf[ResourceBody]():   "Resource Instance Definition",
	kindOf[Defaults]():       "Resource Defaults Expression",
	kindOf[Override]():       "Resource Override",
	kindOf[Class]():          "Host Class Definition",
	kindOf[Define]():         "'define' expression",
	kindOf[Function]():       "Function Definition",
	kindOf[NodeDefinition](): "Node Definition",
	kindOf[TypeAlias]():      "Type Alias",
	kindOf[TypeMapping]():    "Type Mapping",
	kindOf[TypeDefinition](): "Type Definition",
	kindOf[EPP]():            "Epp Template",
	kindOf[RenderText]():     "Epp Text",
	kindOf[Render]():         "Epp Interpolated Expression",
}

func kindOf[N any]() reflect.Type { return reflect.TypeFor[*N]() }

// label returns what messages call a node.
func label(n Node) string {
	switch n := n.(type) {
	case *Binary:
		return "'" + n.Op + "' expression"
	case *Unary:
		return map[string]string{"!": "'not' expression", "-": "Unary Minus", "*": "Unfold"}[n.Op]
	case *Heredoc:
		return "'@(" + n.Syntax + ")' expression"
	case *Reserved:
		return "Reserved Word '" + n.Word + "'"
	case *If:
		if n.Unless {
			return "'unless' Statement"
		}
		return "'if' statement"
	case *Collect:
		return label(n.Query)
	case *Query:
		if n.Exported {
			return "Exported Query"
		}
		return "Virtual Query"
	case *Attribute:
		if n.Append {
			return "'+>' expression"
		}
		return "'=>' expression"
	}
	return labels[reflect.TypeOf(n)]
}

// aLabel returns a label with its article, upperALabel with a capital one.
func aLabel(n Node) string {
	text := label(n)
	if strings.ContainsAny(strings.TrimPrefix(text, "'")[:1], "aeiouyAEIOUY") {
		return "an " + text
	}
	return "a " + text
}

func upperALabel(n Node) string { return "A" + aLabel(n)[1:] }

// Label returns what messages call a node, as "Function Call".
func Label(n Node) string { return label(n) }

package syntax

import "math/big"

// A Node is a part of a program. There are no other nodes than those of this
// file, and none changes once it was parsed: trees may be shared by goroutines.
type Node interface {
	// Span returns where the node stands in its source, in bytes. Puppet reports
	// it at the offset, which is that of the operator for most expressions. A node
	// that the grammar gives no place has that of the node around it.
	Span() (offset, length int)
	place() span
}

// A span is the part of a source that a node stands for.
type span struct{ offset, length int32 }

func (s span) Span() (offset, length int) { return int(s.offset), int(s.length) }
func (s span) place() span                { return s }
func (s span) end() int32                 { return s.offset + s.length }

// empty is the place of a node that the grammar gives none.
func (s span) empty() span { return span{s.offset, 0} }

// Literals and names.
type (
	// Nop is the program of an empty source.
	Nop     struct{ span }
	Undef   struct{ span }
	Default struct{ span }
	Boolean struct {
		span
		Value bool
	}
	// Integer has a Big value if it does not fit, which is an error.
	Integer struct {
		span
		Value int64
		Big   *big.Int // nil if it fits
		Radix int      // 8, 10 or 16
	}
	Float struct {
		span
		Value float64
	}
	// String is a text that is known: quoted, or a bare word that is no name.
	String struct {
		span
		Value string
	}
	// Regexp is in Ruby's syntax, and unchecked.
	Regexp struct {
		span
		Source string
	}
	Name struct {
		span
		Value string
	}
	// TypeName is the name of a type as it is written, without parameters.
	TypeName struct {
		span
		Value string
	}
	// Reserved is a word that is kept for later, which is an error.
	Reserved struct {
		span
		Word string
	}
	Variable struct {
		span
		Name string // without $
	}
)

// Strings that are put together.
type (
	// Concat has Strings, none of them empty, and Texts.
	Concat struct {
		span
		Segments []Node
	}
	// Text is what a string interpolates.
	Text struct {
		span
		Expr Node
	}
	Heredoc struct {
		span
		Syntax string
		Text   Node // a String or a Concat
	}
)

// Operators and collections.
type (
	Array struct {
		span
		Values []Node
	}
	Hash struct {
		span
		Entries []*Entry
	}
	Entry struct {
		span
		Key, Value Node
	}
	Paren struct {
		span
		Expr Node
	}
	// Unary is ! - or *, which unfolds.
	Unary struct {
		span
		Op   string
		Expr Node
	}
	// Binary is an arithmetic, logical or comparing expression, an assignment or a
	// relationship.
	Binary struct {
		span
		Op          string
		Left, Right Node
	}
	Access struct {
		span
		Left Node
		Keys []Node
	}
	// Member is the left.name of a Method.
	Member struct {
		span
		Left Node
		Name *Name
	}
)

// Calls.
type (
	Call struct {
		span
		Functor   Node
		Args      []Node
		Lambda    *Lambda // nil if there is none
		Statement bool    // nothing uses the value
	}
	Method struct {
		span
		Functor *Member
		Args    []Node
		Lambda  *Lambda // nil if there is none
	}
	Lambda struct {
		span
		Params  []*Parameter
		Body    Node // a Block or an EPP; nil if it is empty
		Returns Node // nil if it is not known
	}
	Parameter struct {
		span
		Name    string // without $
		Type    Node   // nil if any
		Default Node   // nil if there is none
		Rest    bool   // takes what is left
	}
)

// Statements. A body is nil if it is empty.
type (
	Block struct {
		span
		Statements []Node
	}
	// If has branches that are Blocks only if they have several statements.
	If struct {
		span
		Unless     bool
		Test       Node
		Then, Else Node
	}
	Case struct {
		span
		Test    Node
		Options []*Option
	}
	Option struct {
		span
		Values []Node
		Then   Node // a Block
	}
	Selector struct {
		span
		Left    Node
		Choices []*Choice
	}
	Choice struct {
		span
		Match, Value Node
	}
)

// A Form is whether a resource is in the catalog.
type Form uint8

// Forms.
const (
	Regular Form = iota
	Virtual
	Exported
)

// Resources.
type (
	Resource struct {
		span
		Form   Form
		Type   Node
		Bodies []*ResourceBody
	}
	ResourceBody struct {
		span
		Title Node
		Ops   []*Attribute
	}
	Defaults struct {
		span
		Form Form
		Type Node
		Ops  []*Attribute
	}
	Override struct {
		span
		Form     Form
		Resource Node
		Ops      []*Attribute
	}
	// Attribute has no name if it unfolds a hash.
	Attribute struct {
		span
		Name   string
		Append bool // +>
		Value  Node
	}
	Collect struct {
		span
		Type  Node
		Query *Query
		Ops   []*Attribute
	}
	Query struct {
		span
		Exported bool
		Expr     Node // nil if it means all
	}
)

// Definitions.
type (
	// Class has the names of the classes around it in front of its own. Rule
	// LANG-GRAM-13.
	Class struct {
		span
		Name   string
		Params []*Parameter
		Parent string // "" if there is none
		Body   Node
	}
	Define struct {
		span
		Name   string
		Params []*Parameter
		Body   Node
	}
	Function struct {
		span
		Name    string
		Params  []*Parameter
		Returns Node // nil if it is not known
		Body    Node
	}
	NodeDefinition struct {
		span
		Hosts  []Node
		Parent Node // nil if there is none
		Body   Node
	}
	TypeAlias struct {
		span
		Name string
		Type Node
	}
	TypeMapping struct {
		span
		Type, Mapping Node
	}
	TypeDefinition struct {
		span
		Name, Parent string
		Body         Node
	}
)

// Templates.
type (
	// EPP is the body of the Lambda that a template is.
	EPP struct {
		span
		HasParams bool // also if there are none in the list
		Body      Node
	}
	RenderText struct {
		span
		Value string
	}
	Render struct {
		span
		Expr Node
	}
)

// A Program is what a source means.
type Program struct {
	Source *Source
	Body   Node // a Nop if the source is empty
}

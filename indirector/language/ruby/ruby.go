// Package ruby reads Ruby sources as trees, as far as they declare things, and
// never executes anything. It serves readers of resource types, which are written
// in Ruby and whose declarations nearly always are literal:
//
//	Puppet::Type.newtype(:database) do
//	  newparam(:name, namevar: true)
//	  newproperty(:charset)
//	end
//
// The reader is tolerant: what it does not know becomes an [Other], with the line,
// and reading goes on behind it. So a tree is the whole of a file, and whoever
// walks it decides whether an Other matters. Operators have no precedence, since
// no value is ever computed by them but the sum of two lists.
package ruby

import "strings"

// Limits of ours. What lies beyond them is an [Other].
const (
	// MaxBytes is the size of the largest source.
	MaxBytes = 1 << 20
	// maxNesting is how deep expressions, blocks and interpolations may nest.
	maxNesting = 500
)

// A Node is a part of a source. No node changes once it was read.
type Node interface{ At() int }

// A line is where a node begins, from 1.
type line int

// At returns the line where a node begins, from 1.
func (l line) At() int { return int(l) }

// Literals.
type (
	// Nil, Bool and Number are what the words mean; the value of a number is not
	// read.
	Nil  struct{ line }
	Bool struct {
		line
		Value bool
	}
	Number struct{ line }
	// Text is a string or a symbol, or a word of %w or %i.
	Text struct {
		line
		Parts []Part
	}
	// Regexp has the options as Ruby counts them: ignore case 1, extended 2,
	// multi-line 4.
	Regexp struct {
		line
		Parts   []Part
		Options int
	}
	Array struct {
		line
		Values []Node
	}
	Hash struct {
		line
		Pairs []Pair
	}
)

// A Pair is an entry of a [Hash].
type Pair struct{ Key, Value Node }

// A Part is a piece of a text: literal, the value of one variable, or some other
// interpolation.
type Part struct {
	Text     string
	Variable string // "" if the part is literal
	Opaque   bool   // it is interpolated, and no variable

	code *[]token // what is interpolated, for Tokens
}

// Names, calls and operators.
type (
	// Const is a path: Puppet::Type.
	Const struct {
		line
		Path string
	}
	// Variable is an instance, class or global variable.
	Variable struct {
		line
		Name string // with its sign
	}
	Self struct{ line }
	// Call is a call, and also a local variable, which looks the same.
	Call struct {
		line
		Receiver Node // nil if there is none
		Name     string
		Args     []Node // options are a Hash at the end
		Block    *Block // nil if there is none
	}
	// Block is also a lambda.
	Block struct {
		line
		Params []string
		Body   []Node
	}
	// Unary is a value with a sign: !x, or *list and &block as arguments.
	Unary struct {
		line
		Op    string
		Value Node
	}
	Binary struct {
		line
		Op          string
		Left, Right Node
	}
	// Assign is an assignment with =, of any operator, or ||= of a name that has
	// no value.
	Assign struct {
		line
		Op     string
		Target Node // a Call without arguments, a Variable or a Const
		Value  Node
	}
)

// Statements.
type (
	// Def is the definition of a method.
	Def struct {
		line
		Name   string
		Self   bool // def self.name
		Params []string
		Body   []Node
	}
	// Module is a module or a class, or class << self, which has no name.
	Module struct {
		line
		Name string
		Body []Node
	}
	// Branch is a statement of which only some may be executed: if, unless, case,
	// a loop, begin with rescue.
	Branch struct {
		line
		Word   string
		Bodies [][]Node
	}
	Return struct {
		line
		Value Node // nil if there is none
	}
	// Other is what is not understood, or has no value that matters.
	Other struct{ line }
)

// Literal returns the text of a node without interpolation.
func (t *Text) Literal() (string, bool) { return literal(t.Parts) }

// Literal returns the source of a regular expression without interpolation.
func (r *Regexp) Literal() (string, bool) { return literal(r.Parts) }

func literal(parts []Part) (string, bool) {
	var b strings.Builder
	for _, p := range parts {
		if p.Opaque || p.Variable != "" {
			return "", false
		}
		b.WriteString(p.Text)
	}
	return b.String(), true
}

// Package psych reads and writes YAML exactly as Ruby's Psych does on top of
// libyaml, over [data.Value].
//
// Puppet's YAML files mean what Psych reads: 1e3 is a string, 017 is fifteen,
// 10:20:30 is 37230 and "yes" a boolean, but "y" is not. Readers that follow
// the YAML specification disagree in dozens of cases, so this package follows
// the program: the scanner accepts and refuses what libyaml 0.2.5 does, with
// its messages; scalars are typed by Psych's list of patterns; and the writer
// chooses quotes, literals and line breaks alike, byte for byte. If Ruby is
// installed, the tests compare all of it.
//
//	doc, err := psych.Decode(b, psych.Limits{})
//	doc.Tag                        // "Puppet::Node::Facts"
//	doc.Value.Get("values")
//	psych.Encode(doc.Value, doc.Tag) // the bytes of the file again
package psych

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
)

// A Document is one YAML document as Psych would see it.
type Document struct {
	// Value is the root. Objects are hashes of their instance variables.
	Value data.Value

	// Tag is the class of a root written as an object, such as
	// "Puppet::Node::Facts" for !ruby/object:Puppet::Node::Facts; "" if none.
	Tag string

	// Empty reports that there is no document, not even a "---": Ruby's load
	// returns false then.
	Empty bool

	// BOM reports that a byte order mark was skipped. Ruby skips it in files,
	// but not in strings, see Limits.KeepBOM.
	BOM bool

	// Foreign are the nodes that Ruby's safe loader would refuse although it
	// may load symbols and the class of the root, in its order: unquoted times
	// and dates, nested objects, ranges, regexps. Decode reads all of these:
	// times as their text, objects as hashes. At most 100 are kept. Rule
	// FMT-06, TERM-FILE-06.
	Foreign []Foreign

	loads []Foreign // the first use of every class, the root's and Symbol included
}

// A Foreign is a node that needs another Ruby class.
type Foreign struct {
	Class  string // "Time", "OpenStruct"
	Line   int    // counted from 1
	Column int    // counted from 1, in characters
	Path   string // from the root: "values.os[2]"; "" is the root

	filled bool // with the pairs of a mapping, which only hashes can be
}

// Message returns the words of Puppet for f in file, which is "<unknown>" for
// text that comes from no file.
func (f Foreign) Message(file string) string {
	if f.filled {
		return "undefined method `[]=' for #<" + f.Class + ">"
	}
	return "(" + file + "): Tried to load unspecified class: " + f.Class
}

// Refused returns the first thing in d for which Ruby needs a class that is
// not permitted, or is no hash and written as one. The name of the class Symbol must be given to permit symbols,
// and that of the root to permit its tag.
func (d *Document) Refused(permitted ...string) (Foreign, bool) {
	for _, f := range d.loads {
		if f.filled || !slices.Contains(permitted, f.Class) {
			return f, true
		}
	}
	return Foreign{}, false
}

// Limits bound what Decode accepts. The zero value of a field is its default.
type Limits struct {
	Bytes   int // of the text; 0 is 256 MiB
	Depth   int // of nested collections; 0 is 1000. Ruby's own stack ends at some thousands
	Nodes   int // scalars and collections of the text; 0 is 8 million
	Aliases int // nodes that all aliases together stand for; 0 is 1 million

	// Grow is asked before nodes need more memory, with its size in bytes. Its
	// error ends the reading. If nil, only Nodes bounds it.
	Grow func(bytes int64) error

	// KeepBOM takes a byte order mark for text, as Ruby does for what comes
	// over the wire: the document then usually fails.
	KeepBOM bool
}

func (l Limits) withDefaults() Limits {
	def := func(n *int, value int) {
		if *n <= 0 {
			*n = value
		}
	}
	def(&l.Bytes, 256<<20)
	def(&l.Depth, 1000)
	def(&l.Nodes, 8<<20)
	def(&l.Aliases, 1<<20)
	return l
}

// ErrLimit is wrapped by the errors of documents beyond Limits.
var ErrLimit = errors.New("limit exceeded")

// errUTF16 is Ruby's error for files that begin with a byte order mark of UTF-16.
var errUTF16 = errors.New("ASCII incompatible encoding needs binmode")

// A SyntaxError reports a text that is not YAML.
type SyntaxError struct {
	Problem string // "mapping values are not allowed in this context"
	Context string // "while parsing a block mapping", or ""

	Line, Column               int // of the problem, counted from 1; 0 if unknown
	ContextLine, ContextColumn int // of the start of the context: what Ruby prints
}

// Error returns the position, then the problem.
func (e *SyntaxError) Error() string {
	s := e.Problem
	if e.Context != "" {
		s += " " + e.Context
		if e.ContextLine != e.Line || e.ContextColumn != e.Column {
			s += fmt.Sprintf(" that began at line %d column %d", e.ContextLine, e.ContextColumn)
		}
	}
	if e.Line == 0 {
		return s
	}
	return fmt.Sprintf("line %d column %d: %s", e.Line, e.Column, s)
}

// An AliasError reports an alias without an anchor before it.
type AliasError struct {
	Name         string
	Line, Column int
	self         bool
}

// Error returns the position, then the problem.
func (e *AliasError) Error() string {
	if e.self {
		return fmt.Sprintf("line %d column %d: alias %q stands inside of its own anchor", e.Line, e.Column, e.Name)
	}
	return fmt.Sprintf("line %d column %d: unknown alias %q", e.Line, e.Column, e.Name)
}

// A conversionError is Ruby's error for a node that it cannot convert, mostly a
// text that Psych takes for a number and Ruby does not.
type conversionError struct {
	what         string // in Ruby's words
	line, column int
}

func (e *conversionError) Error() string {
	return fmt.Sprintf("line %d column %d: %s", e.line, e.column, e.what)
}

// Message returns an error of Decode as Puppet quotes it from Ruby's loader,
// with the name of the file or "<unknown>". Errors that Ruby does not have are
// in our own words.
func Message(err error, file string) string {
	var syntax *SyntaxError
	var alias *AliasError
	var conversion *conversionError
	switch {
	case errors.As(err, &syntax):
		s := syntax.Problem
		if syntax.Context != "" {
			s += " " + syntax.Context
		}
		return fmt.Sprintf("(%s): %s at line %d column %d", file, s, syntax.ContextLine, syntax.ContextColumn)
	case errors.As(err, &alias) && !alias.self:
		return "Unknown alias: " + alias.Name
	case errors.As(err, &conversion):
		return conversion.what
	}
	return err.Error()
}

// Decode reads the first document of b and ignores the rest, as Ruby does. The
// values share one copy of b. Errors are *SyntaxError, those that wrap
// ErrLimit, *AliasError, and of numbers that Ruby cannot convert.
//
// The last two come with a document, because Ruby may refuse a class first:
// [Document.Refused] then reports what it met before. With every other error
// the document is nil. Rule FMT-06.
func Decode(b []byte, l Limits) (*Document, error) {
	l = l.withDefaults()
	if len(b) > l.Bytes {
		return nil, fmt.Errorf("read %d bytes of YAML: more than %d: %w", len(b), l.Bytes, ErrLimit)
	}
	const mark = "\ufeff"
	bom := !l.KeepBOM && len(b) >= len(mark) && string(b[:len(mark)]) == mark
	if bom {
		b = b[len(mark):]
	}
	if !l.KeepBOM && len(b) >= 2 && (b[0] == 0xfe && b[1] == 0xff || b[0] == 0xff && b[1] == 0xfe) {
		return nil, errUTF16
	}
	d := &Document{BOM: bom}
	p := newParser(b, l, d)
	if err := p.run(); err != nil {
		if p.late == nil || err != p.late {
			return nil, err
		}
		return d, err
	}
	return d, nil
}

// objectClass returns X of !ruby/object:X.
func objectClass(tag string) (string, bool) {
	name, ok := strings.CutPrefix(tag, "!ruby/object")
	return strings.TrimPrefix(name, ":"), ok
}

package eval

import (
	"errors"
	"fmt"
	"runtime/debug"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// An Error is a failed evaluation, in Puppet's words. Rules LANG-ERR-01 to LANG-ERR-03,
// LANG-ERR-09.
type Error struct {
	Message string
	File    string // "" if it is not known
	Line    int    // from 1; 0 if it is not known
	Column  int    // from 1; 0 if it is not known
	Wrapped error  // what failed, if that was no part of the language; or nil
	Stack   []Call // the calls that led there, the outermost first
}

// A Call is a function that was called, and where.
type Call struct {
	Name string
	File string // "" if it is not known
	Line int    // from 1; 0 if it is not known
}

// Error returns the message with its place, as Puppet prints it.
func (e *Error) Error() string {
	p := syntax.Problem{Message: e.Message, File: e.File, Line: e.Line, Column: e.Column}
	return p.Error()
}

func (e *Error) Unwrap() error { return e.Wrapped }

// An issue is one of the errors that Puppet knows the node of. Rule LANG-ERR-02.
type issue struct {
	text string
	at   syntax.Node // nil means the node that evaluates
}

func (i *issue) Error() string { return i.text }

// Issuef returns an error whose message is not put behind the label of a node.
func Issuef(format string, args ...any) error { return &issue{text: fmt.Sprintf(format, args...)} }

func issueAt(n syntax.Node, format string, args ...any) error {
	return &issue{fmt.Sprintf(format, args...), n}
}

// Errorf returns an error in Puppet's words, which users know: they are not those of
// other errors of this program.
func Errorf(format string, args ...any) error { return fmt.Errorf(format, args...) }

// An Exception is an error of Ruby that Puppet does not expect. Its class is part of the
// message where no part of the language is around it.
type Exception struct{ Class, Message string }

func (e *Exception) Error() string { return e.Message }

// A jump leaves lambdas and functions: it is no error. Rule LANG-EV-05.
type jump struct {
	kind  jumpKind
	value data.Value
	file  string
	line  int
}

type jumpKind uint8

const (
	toNext jumpKind = iota
	toReturn
	toBreak
)

var jumpNames = [...]string{"next", "return", "break"}

func (j *jump) Error() string { return jumpNames[j.kind] + "() from context where this is illegal" }

// IsBreak reports whether the error of a lambda ends an iteration. A function that
// iterates returns then as if there were no more elements.
func IsBreak(err error) bool {
	j, ok := err.(*jump)
	return ok && j.kind == toBreak
}

// A leaving is no error either: it ends everything up to the call from outside.
type leaving struct{ error }

// IsJump reports whether an error is no failure but leaves what is evaluated: next, return,
// break, or [Leave]. What lies between has to pass it on.
func IsJump(err error) bool {
	switch err.(type) {
	case *jump, *leaving:
		return true
	}
	return false
}

// Leave ends the evaluation up to [Thread.Call] or [Thread.Run], which returns the error as
// it is.
func Leave(err error) error { return &leaving{err} }

// ErrPlain is wrapped by errors that Puppet knows a place of, but no node: they are logged
// as texts.
var ErrPlain = errors.New("no issue")

// outside turns a jump that found no target into an error. Puppet knows no column.
func outside(err error) error {
	switch e := err.(type) {
	case *jump:
		return &Error{Message: e.Error(), File: e.file, Line: e.line, Wrapped: ErrPlain}
	case *leaving:
		return e.error
	}
	return err
}

func panicked(r any) error {
	return &Error{Message: fmt.Sprintf("internal error: %v", r), Wrapped: fmt.Errorf("%v\n%s", r, debug.Stack())}
}

// A site is a node in its source.
type site struct {
	node   syntax.Node
	source *syntax.Source
	quiet  bool // that it is read is not reported
}

func (s site) position(n syntax.Node) (line, column int) {
	if n == nil { // called from outside of programs
		return 0, 0
	}
	offset, _ := n.Span()
	return s.source.Position(offset)
}

// fail returns the final error of a node that evaluates. What is final already passes;
// other errors get the label of the node. Rules LANG-ERR-02, LANG-ERR-03.
func (s site) fail(f *frame, err error) error {
	switch err.(type) {
	case *Error, *jump, *leaving, *unreadyError, *earlyError:
		return err
	}
	node, message := s.node, ""
	var known *issue
	if errors.As(err, &known) {
		message = known.text
		if known.at != nil {
			node = known.at
		}
	} else {
		message = "Error while evaluating " + withArticle(syntax.Label(s.node)) + ", " + err.Error()
	}
	line, column := s.position(node)
	return &Error{
		Message: "Evaluation Error: " + message, File: s.source.File, Line: line, Column: column,
		Wrapped: err, Stack: f.thread.calls(),
	}
}

// withArticle puts an article in front of what messages call something. Letters decide,
// not sounds.
func withArticle(s string) string {
	if rest := strings.TrimLeft(s, `'"`); rest != "" && strings.IndexByte("aeiouyAEIOUY", rest[0]) >= 0 {
		return "an " + s
	}
	return "a " + s
}

package indirector

import (
	"errors"
	"fmt"
	"strings"

	"indirtui/traces"
)

var (
	// ErrNotFound is Puppet's nil: whoever was asked has no such instance. Termini
	// return it through NotFound, which adds the reason.
	ErrNotFound = errors.New("not found")
	// ErrVerbMissing is that the terminus does not implement the verb. It is
	// also errors.ErrUnsupported. Rule IND-TERM-12.
	ErrVerbMissing = fmt.Errorf("verb missing: %w", errors.ErrUnsupported)
	// ErrNotArray is that a search was answered with something that is no list.
	// Rule IND-SRCH-02.
	ErrNotArray = errors.New("search results are not an array")
	// ErrDenied is that the authorization hook refused. Rule IND-AUTH-02.
	ErrDenied = errors.New("not authorized")
	// ErrInvalid is that an instance or a key may not be saved. Rules IND-VAL-01,
	// IND-KEY-01.
	ErrInvalid = errors.New("invalid")
	// ErrNoRoute is that no terminus could be selected.
	ErrNoRoute = errors.New("no route")
)

// NotFound returns an ErrNotFound that says why there is nothing, and what it
// is about: the path that is absent, the command that printed nothing.
func NotFound(reason traces.Reason, about string) error {
	return &absent{traces.Because{Reason: reason, About: about}}
}

type absent struct{ because traces.Because }

func (e *absent) Error() string        { return "not found: " + e.because.String() }
func (e *absent) Is(target error) bool { return target == ErrNotFound }

// becauseOf returns why err is ErrNotFound, as far as the terminus said.
func becauseOf(err error) traces.Because {
	if a := (*absent)(nil); errors.As(err, &a) {
		return a.because
	}
	return traces.Because{Reason: traces.ReturnedNil}
}

// A Failure is an error of a terminus in Puppet's words, with what Puppet does
// not say.
type Failure struct {
	Class   string // of the error in Ruby: "Puppet::Error", "ArgumentError"; "" is Puppet::Error
	Message string // word for word what Puppet says
	Origin  string // the kind of work that failed: "decode", "exec", "file", "network"; "" is the terminus itself
	Path    string // the file, command or URL; "" if there is none
	Hidden  string // what Puppet hides: stderr, an errno, a path; "" if nothing
	Status  int    // of HTTP, where there was one, or where one is to be answered; 0 is none
	Err     error  // the cause; may be nil
}

func (f *Failure) Error() string { return f.Message }

// words returns a Failure in Puppet's words.
func words(class, format string, args ...any) *Failure {
	return &Failure{Class: class, Message: fmt.Sprintf(format, args...)}
}

// Foreign reports whether the error is not one of Puppet's own classes, but of
// Ruby: some of Puppet's code logs only its own.
func (f *Failure) Foreign() bool {
	return f.Class != "" && !strings.HasPrefix(f.Class, "Puppet::")
}

func (f *Failure) Unwrap() error { return f.Err }

// An Error tells at which point a request failed and which side effects remain.
// Programs look at Origin and, by errors.Is and errors.As, at the cause.
type Error struct {
	Point  traces.Point // where
	Key    string
	Origin string   // "route", "authorize", "validate", "cache-read yaml", "terminus exec", "cache-write json", "filter", then " › decode" and the like
	Path   string   // file, command or URL; "" if there is none
	Done   []string // side effects that stay: "terminus yaml stored it"
	Trace  uint64
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s %q: %s: %v", e.Point.Verb, e.Point.Indirection, e.Key, e.Origin, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Message returns what Puppet would say of err, without our words around it.
func Message(err error) string {
	for e := err; e != nil; e = errors.Unwrap(e) {
		switch e := e.(type) {
		case *Failure:
			return e.Message
		case *Error:
			return Message(e.Err)
		}
	}
	if err == nil {
		return ""
	}
	return err.Error()
}

// Messages of Puppet that people know, word for word.
const (
	msgNoTerminus      = "Could not find terminus %s for indirection %s"                                 // IND-SEL-05, IND-TERM-11
	msgInvalidTerminus = "Invalid terminus name %s"                                                      // IND-SEL-05
	msgNoSelection     = "No terminus class nor terminus setting was provided for indirection %s"        // IND-SEL-04
	msgNoIndirection   = "Could not find indirection '%s'"                                               // IND-REQ-15
	msgDefined         = "Indirection %s is already defined"                                             // IND-REG-02
	msgNotAuthorized   = "Not authorized to call %s on %s"                                               // IND-AUTH-02
	msgBadType         = "Invalid instance type %s, expected %s"                                         // IND-VAL-01
	msgBadName         = "Instance name %s does not match requested key %s"                              // IND-VAL-01
	msgNotArray        = "Search results from terminus %s are not an array"                              // IND-SRCH-02
	msgNoMethod        = "undefined method `%s' for #<%s>"                                               // IND-TERM-12
	msgNoExpired       = "undefined method `expired?' for %s"                                            // IND-FIND-02
	msgCacheFailed     = "Cached %s for %s failed: %s"                                                   // IND-FIND-05
	msgTTL             = "Indirection TTL must be an integer"                                            // IND-EXP-02
	msgNoInstance      = "Could not find indirection instance %s for %s"                                 // IND-TERM-04
	msgAlreadyHandling = "Already handling indirection for %s; cannot also handle %s"                    // IND-REG-03
	msgSetting         = "The setting %s is not a valid indirection setting."                            // IND-SEL-09
	msgNestedTooDeep   = "requests nest deeper than %d: a terminus asks for what it is itself answering" // ours
)

// A VerbError is a verb that the terminus does not implement. Puppet raises
// the language's own error. Rule IND-TERM-12.
type VerbError struct {
	Indirection, Terminus string
	Class                 string // Ruby class of the terminus
	Verb                  Verb
	// Aborts is true for Puppet's REST family: its error is no StandardError, so
	// that a cache that raises it stops the request. Rule IND-FIND-05.
	Aborts bool
}

func (e *VerbError) Error() string {
	if e.Aborts {
		return e.Class
	}
	return fmt.Sprintf(msgNoMethod, e.Verb, e.Class)
}

// Is makes a VerbError an ErrVerbMissing.
func (e *VerbError) Is(target error) bool { return target == ErrVerbMissing }

// Unwrap makes a VerbError an errors.ErrUnsupported.
func (e *VerbError) Unwrap() error { return errors.ErrUnsupported }

// An Abort wraps an error that is no StandardError in Ruby: a cache that fails
// with it stops the request instead of being ignored. Rule IND-FIND-05.
type Abort struct{ Err error }

func (a *Abort) Error() string { return a.Err.Error() }
func (a *Abort) Unwrap() error { return a.Err }

func aborts(err error) bool {
	var a *Abort
	var v *VerbError
	return errors.As(err, &a) || errors.As(err, &v) && v.Aborts
}

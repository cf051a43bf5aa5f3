package indirector

import (
	"errors"
	"fmt"
	"strings"

	"indirtui/traces"
)

var (
	// ErrNotFound is Puppet's nil: there is no such instance. Termini return it
	// by NotFound, which adds the reason.
	ErrNotFound = errors.New("not found")
	// ErrVerbMissing reports a verb that the terminus does not implement. It is
	// also errors.ErrUnsupported. Rule IND-TERM-12.
	ErrVerbMissing = fmt.Errorf("verb missing: %w", errors.ErrUnsupported)
	// ErrNotArray reports a search whose answer is no list. Rule IND-SRCH-02.
	ErrNotArray = errors.New("search results are not an array")
	// ErrDenied reports a request refused by the [Authorizer]. Rule
	// IND-AUTH-02.
	ErrDenied = errors.New("not authorized")
	// ErrInvalid reports an instance or a key that is refused. Rules
	// IND-VAL-01, IND-KEY-01.
	ErrInvalid = errors.New("invalid")
	// ErrNoRoute reports that no terminus could be selected.
	ErrNoRoute = errors.New("no route")
	// ErrLacking reports a terminus that a plugin of Puppet has and this program lacks. It
	// is also ErrNoRoute.
	ErrLacking = fmt.Errorf("not in this program: %w", ErrNoRoute)
)

// NotFound returns an ErrNotFound with a reason and what it is about: an absent
// path, a command without output.
func NotFound(reason traces.Reason, about string) error {
	return &absent{traces.Because{Reason: reason, About: about}}
}

type absent struct{ because traces.Because }

func (e *absent) Error() string        { return "not found: " + e.because.String() }
func (e *absent) Is(target error) bool { return target == ErrNotFound }

// BecauseOf returns the reason of an ErrNotFound.
func BecauseOf(err error) traces.Because {
	if a := (*absent)(nil); errors.As(err, &a) {
		return a.because
	}
	return traces.Because{Reason: traces.ReturnedNil}
}

// A Failure is an error of a terminus in Puppet's words, with what Puppet
// hides.
type Failure struct {
	Class   string // Ruby class: "ArgumentError"; "" is Puppet::Error
	Message string // Puppet's text, word for word
	Origin  string // the work that failed: "decode", "exec", "file", "network"; "" is the terminus itself
	Path    string // file, command or URL; "" if there is none
	Hidden  string // what Puppet hides: stderr, an errno, a path; "" if nothing
	Status  int    // HTTP status received or to be sent; 0 is none
	Err     error  // the cause; may be nil
}

func (f *Failure) Error() string { return f.Message }

// words returns a Failure in Puppet's words.
func words(class, format string, args ...any) *Failure {
	return &Failure{Class: class, Message: fmt.Sprintf(format, args...)}
}

// Foreign reports whether the class is Ruby's, not Puppet's: some of Puppet's
// code logs only its own.
func (f *Failure) Foreign() bool {
	return f.Class != "" && !strings.HasPrefix(f.Class, "Puppet::")
}

func (f *Failure) Unwrap() error { return f.Err }

// An Error locates the failure of a request. Programs look at Origin and, by
// errors.Is and errors.As, at the cause.
type Error struct {
	Point  traces.Point
	Key    string
	Origin string   // "route", "cache-read yaml", "terminus exec", "filter"; then perhaps " › decode" and the like
	Path   string   // file, command or URL; "" if there is none
	Done   []string // side effects that remain: "terminus yaml stored it"
	Trace  uint64
	Err    error
}

func (e *Error) Error() string {
	return fmt.Sprintf("%s %s %q: %s: %v", e.Point.Verb, e.Point.Indirection, e.Key, e.Origin, e.Err)
}

func (e *Error) Unwrap() error { return e.Err }

// Message returns Puppet's text for err, without our additions.
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

// Puppet's messages, word for word.
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
	msgNoInstance      = "Could not find indirection instance %s for %s"                                 // IND-TERM-04
	msgAlreadyHandling = "Already handling indirection for %s; cannot also handle %s"                    // IND-REG-03
	msgTTL             = "Indirection TTL must be an integer"                                            // IND-EXP-02
	msgSetting         = "The setting %s is not a valid indirection setting."                            // IND-SEL-09
	msgLacking         = traces.Ours + "terminus %s yet; %s has"                                         // ours
	msgPassesToNone    = "%s has no terminus to pass requests on to: %s"                                 // STORE-SC-07, ours
	msgPassesToItself  = "%s would pass requests on to itself: %s"                                       // STORE-SC-07, ours
	msgNestedTooDeep   = "requests nest deeper than %d: a terminus asks for what it is itself answering" // ours
)

// A VerbError reports a verb that the terminus does not implement, in Ruby's
// words. Rule IND-TERM-12.
type VerbError struct {
	Indirection, Terminus string
	Class                 string // Ruby class of the terminus
	Verb                  Verb
	// Aborts is set for the REST family, whose error is no StandardError: in a
	// cache it stops the request. Rule IND-FIND-05.
	Aborts bool
}

func (e *VerbError) Error() string {
	if e.Aborts {
		return e.Class
	}
	return fmt.Sprintf(msgNoMethod, e.Verb, e.Class)
}

func (e *VerbError) Is(target error) bool { return target == ErrVerbMissing }

func (e *VerbError) Unwrap() error { return errors.ErrUnsupported }

func aborts(err error) bool {
	var v *VerbError
	return errors.As(err, &v) && v.Aborts
}

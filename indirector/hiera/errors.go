package hiera

import (
	"errors"
	"fmt"
)

// A Class is the Ruby class of an Error: it decides what rescues it.
type Class string

// The classes of errors.
const (
	LookupFailed Class = "Puppet::DataBinding::LookupError"
	Failed       Class = "Puppet::Error"
	WrongType    Class = "Puppet::Pops::Types::TypeAssertionError"
	WrongYAML    Class = "Puppet::Util::Yaml::YamlLoadError"
	WrongRegexp  Class = "RegexpError"
	WrongArg     Class = "ArgumentError"
	WrongKind    Class = "TypeError"
	WrongMerge   Class = "DeepMerge::InvalidParameter"
	// Lacking is our own: what only the Puppet language or Ruby can do.
	Lacking Class = "lacking"
)

// An Error is an error of a lookup in Puppet's words.
type Error struct {
	Class   Class
	Message string // without the place
	File    string // the configuration that is wrong; "" if none
	Line    int    // 0 if unknown
	issue   bool   // it has an issue code: the global layer passes it on as it is
}

// Error returns the message with its place, as Puppet prints it.
func (e *Error) Error() string {
	switch {
	case e.File == "":
		return e.Message
	case e.Line == 0:
		return fmt.Sprintf("%s (file: %s)", e.Message, e.File)
	}
	return fmt.Sprintf("%s (file: %s, line: %d)", e.Message, e.File, e.Line)
}

func lookupError(format string, args ...any) *Error {
	return &Error{Class: LookupFailed, Message: fmt.Sprintf(format, args...)}
}

// issuef is an error that has an issue code in Puppet.
func issuef(format string, args ...any) *Error {
	return &Error{Class: LookupFailed, Message: fmt.Sprintf(format, args...), issue: true}
}

func argumentError(format string, args ...any) *Error {
	return &Error{Class: WrongArg, Message: fmt.Sprintf(format, args...)}
}

func lacking(format string, args ...any) *Error {
	return &Error{Class: Lacking, Message: fmt.Sprintf(format, args...)}
}

// isPuppets reports whether Ruby's rescue of Puppet::Error catches err.
func isPuppets(err error) bool {
	switch e, _ := errors.AsType[*Error](err); {
	case e == nil:
		return false
	case e.Class == LookupFailed, e.Class == Failed, e.Class == WrongType, e.Class == WrongYAML:
		return true
	}
	return false
}

// asLookup makes every error of Puppet one of lookups, as each key that is looked
// up does.
func asLookup(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Class == LookupFailed || !isPuppets(err) {
		return err
	}
	return &Error{Class: LookupFailed, Message: e.Error()}
}

// inGlobal is the error of a lookup in the global layer, which names the key that
// was asked for. Rule HIERA-INT-04.
func inGlobal(err error, top string) error {
	e, ok := errors.AsType[*Error](err)
	if !ok || e.Class != LookupFailed || e.issue {
		return err
	}
	return &Error{Class: Failed, Message: fmt.Sprintf("Lookup of key '%s' failed: %s", top, e)}
}

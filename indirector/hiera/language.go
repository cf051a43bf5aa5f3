package hiera

import (
	"errors"
	"sync"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// ofType returns a type that is read when it is needed first.
func ofType(text string) func() types.Type {
	return sync.OnceValue(func() types.Type {
		t, err := types.Parse(text, nil)
		if err != nil {
			panic("hiera: " + text + ": " + err.Error())
		}
		return t
	})
}

var (
	hashType = ofType("Hash")
	richData = ofType("RichData")
	texts    = ofType("String")
)

// assertType returns Puppet's error if v is not of type t.
func assertType(subject string, t types.Type, v data.Value) error {
	if types.Instance(t, v) {
		return nil
	}
	return &Error{Class: WrongType, Message: types.Mismatch(subject+" has wrong type,", t, v)}
}

// noLanguage knows what needs no files.
type noLanguage struct{}

// Type implements Language.
func (noLanguage) Type(string) (types.Type, error) { return nil, nil }

// Function implements Language.
func (noLanguage) Function(name string) (Function, error) {
	return nil, lacking("the function '%s' needs the Puppet language, which is not at hand here", name)
}

// parseType reads a type, which may have names of modules. Names that mean nothing are what
// Puppet makes of them.
func (c *Compile) parseType(text string) (types.Type, error) {
	var failed error
	t, err := types.Parse(text, func(name string) types.Type {
		t, err := c.language.Type(name)
		if err != nil && failed == nil {
			failed = err
		}
		if t == nil {
			t = types.Unresolved(name)
		}
		return t
	})
	if failed != nil {
		err = failed
	}
	return t, err
}

// assert returns Puppet's error if v is not of the type that text names; "" is any. The
// subject begins the message: "Found value".
func (c *Compile) assert(subject, text string, v data.Value) error {
	if text == "" {
		return nil
	}
	t, err := c.parseType(text)
	if err != nil {
		return &Error{Class: Failed, Message: err.Error()}
	}
	return assertType(subject, t, types.OfData(v))
}

// A typeTextError reports a convert_to that does not begin with a type.
type typeTextError struct {
	text  string
	cause error
}

func (e *typeTextError) Error() string { return e.cause.Error() }

// converted makes a new instance of a type from v: to holds the type and further
// arguments, and shown is how they are explained. Rich values become rich data. Rule
// HIERA-OPT-03.
func (c *Compile) converted(to []data.Value, v data.Value) (value data.Value, shown string, err error) {
	if len(to) == 0 || to[0].Kind() != data.String {
		return v, "", errors.New("'new' parameter 'type' expects a Type value, got " + types.Generalized(data.OfList(to)).String())
	}
	t, err := c.parseType(to[0].Str())
	if err != nil {
		return v, "", &typeTextError{to[0].Str(), err}
	}
	made, err := types.New(t, append([]data.Value{types.OfData(v)}, to[1:]...))
	if err != nil {
		return v, "", err
	}
	text, err := types.New(texts(), []data.Value{data.OfList(append([]data.Value{types.OfType(t)}, to[1:]...))})
	if err != nil {
		return v, "", err
	}
	return c.plain(made), text.Str(), nil
}

// plain returns rich data of a value, and notes secrets in it.
func (c *Compile) plain(v data.Value) data.Value {
	out, hasSecret := types.ToData(v)
	c.secret = c.secret || hasSecret
	return out
}

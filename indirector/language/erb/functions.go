package erb

import (
	"errors"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/eval"
	"indirtui/indirector/language/onig"
)

// Options are what the functions see. The zero value has no files.
type Options struct {
	// Find returns the file that the name of a template means, and what was read of it; false
	// if there is none. If nil, there are none.
	Find func(c *eval.Invocation, name string) (path string, t *Template, ok bool)
	// Variables returns the variables that the place of a call sees, those of the scopes
	// around it included.
	Variables func(c *eval.Invocation) []data.Pair
	// Library has the functions that templates call.
	Library eval.Library
	// Changed receives a variable that a template changed in place. If nil, the change
	// is lost at its end.
	Changed func(c *eval.Invocation, name string, v data.Value)
	// Names returns the classes or the tags: what is "classes" or "all_tags". If nil, that
	// is not supported.
	Names func(c *eval.Invocation, what string) ([]string, error)
	// Ruby renders a template that is outside of the subset. Its error may be one of
	// [Failed]. It is false if there is no Ruby. It may be nil.
	Ruby func(c *eval.Invocation, host Host, name, path, source string) (text string, ok bool, err error)
}

// Host returns what templates see of a call.
func (o Options) Host(c *eval.Invocation) Host { return &host{c: c, f: &functions{o}} }

// Functions returns the functions template and inline_template.
func Functions(opts Options) eval.Library {
	f := &functions{opts}
	old := func(name string, do func(c *eval.Invocation) (data.Value, error)) *eval.Builtin {
		some := func(c *eval.Invocation) (data.Value, error) {
			if len(c.Args) == 0 {
				return data.Value{}, eval.Errorf("%s(): Wrong number of arguments given (0 for minimum 1)", name)
			}
			return do(c)
		}
		return &eval.Builtin{Name: name, Old: true, Ways: []eval.Way{{Params: "Any args*", Do: some}}}
	}
	return eval.Library{"template": old("template", f.template), "inline_template": old("inline_template", f.inline)}
}

type functions struct{ Options }

// inline renders its arguments. Rule LANG-ERB-05.
func (f *functions) inline(c *eval.Invocation) (data.Value, error) {
	var b strings.Builder
	for _, v := range c.Args {
		if v.Kind() != data.String {
			return data.Value{}, eval.Errorf("Failed to parse inline template: undefined method `encoding' for %s:%s", v.Inspect(), eval.RubyClass(v))
		}
		t, _ := Parse(v.Str())
		s, err := f.render(c, "inline_template", "", t)
		if err != nil {
			return data.Value{}, wrapped(err, func(message string, _ int) string { return "Failed to parse inline template: " + message }, "inline template")
		}
		b.WriteString(s)
	}
	return data.OfString(b.String()), nil
}

// template renders files.
func (f *functions) template(c *eval.Invocation) (data.Value, error) {
	var b strings.Builder
	for _, v := range c.Args {
		name := v.Text()
		if f.Find == nil {
			return data.Value{}, eval.Errorf("Could not find template '%s'", name)
		}
		path, t, ok := f.Find(c, name)
		if !ok {
			return data.Value{}, eval.Errorf("Could not find template '%s'", name)
		}
		s, err := f.render(c, "template "+name, path, t)
		if err != nil {
			return data.Value{}, wrapped(err, func(message string, line int) string {
				return "Failed to parse template " + name + ":\n  Filepath: " + path + "\n  Line: " + strconv.Itoa(line) + "\n  Detail: " + message + "\n"
			}, "template "+name)
		}
		b.WriteString(s)
	}
	return data.OfString(b.String()), nil
}

func (f *functions) render(c *eval.Invocation, name, path string, t *Template) (string, error) {
	if err := c.Spend(len(t.source)); err != nil {
		return "", err
	}
	return c.Template(name, path, func() (string, error) {
		h := &host{c: c, f: f}
		text, err := t.Render(h)
		// Ruby of a later version has a syntax that is wrong here.
		if f.Ruby == nil || !errors.Is(err, errors.ErrUnsupported) && !errors.As(err, new(*syntaxError)) {
			return text, err
		}
		byRuby, ok, failed := f.Ruby(c, &again{host: h}, name, path, t.source)
		if !ok {
			return text, err
		}
		return byRuby, failed
	})
}

// Failed returns the error of a template that something else rendered, as [Options.Ruby]
// does: an exception of a class, in a line.
func Failed(class, message string, line int) error {
	if class == "SyntaxError" {
		return &Error{max(line, 1), &eval.Error{Message: message}}
	}
	return &Error{max(line, 1), &failure{class, message}}
}

// A made is a call that a template has made.
type made struct {
	name    string
	args    []data.Value
	v       data.Value
	isKnown bool
	err     error
}

// again is what a template sees that is rendered once more, from its beginning. Calls that
// were made already are not made again, for they may have declared or logged something.
type again struct {
	*host
	at int
}

func (a *again) Call(name string, args []data.Value, older bool) (data.Value, bool, error) {
	if a.at < len(a.calls) {
		was := a.calls[a.at]
		if a.at++; was.name == name && data.Equal(data.OfList(was.args), data.OfList(args)) {
			return was.v, was.isKnown, was.err
		}
		a.at = len(a.calls) // it goes another way
	}
	return a.host.call(name, args, older)
}

// wrapped returns the error of a template as Puppet puts it: exceptions within a text of
// its own, what is no Ruby as it is. An error of ours names the template.
func wrapped(err error, around func(message string, line int) string, name string) error {
	var final *eval.Error
	var failed *failure
	var syntax *syntaxError
	line := 1
	if e, ok := err.(*Error); ok {
		line = e.Line
	}
	switch {
	case errors.As(err, &final):
		return final
	case errors.As(err, &syntax):
		return &eval.Error{Message: syntax.Error()}
	case errors.Is(err, errors.ErrUnsupported):
		return &named{name, err}
	case errors.As(err, &failed):
		return eval.Errorf("%s", around(failed.message, line))
	}
	return err
}

// A named is an error of ours with the template in front of it.
type named struct {
	template string
	err      error
}

func (e *named) Error() string { return e.template + ", " + e.err.Error() }
func (e *named) Unwrap() error { return e.err }

// A host is what a template sees of a call.
type host struct {
	c     *eval.Invocation
	f     *functions
	calls []made // so far
}

func (h *host) Variable(name string) (data.Value, bool) { return h.c.Variable(name) }

func (h *host) Seen(name string) (data.Value, bool) { return h.c.Seen(name) }

func (h *host) NotFound(name string) error {
	err := h.c.NotFound(name)
	if e, ok := err.(*eval.Exception); ok {
		return &failure{e.Class, e.Message}
	}
	return err
}

func (h *host) Variables() []data.Pair {
	if h.f.Variables == nil {
		return nil
	}
	return h.f.Variables(h.c)
}

func (h *host) Set(name string, v data.Value) bool {
	s := h.c.Scope()
	if _, ok := s.Get(name); ok {
		return false
	}
	s.Set(name, v)
	return true
}

func (h *host) Changed(name string, v data.Value) {
	if h.f.Changed != nil {
		h.f.Changed(h.c, name, v)
	}
}

func (h *host) Call(name string, args []data.Value, older bool) (data.Value, bool, error) {
	v, known, err := h.call(name, args, older)
	h.calls = append(h.calls, made{name, args, v, known, err})
	return v, known, err
}

func (h *host) call(name string, args []data.Value, older bool) (v data.Value, known bool, err error) {
	if older {
		b := h.f.Library[name]
		if b == nil {
			b = h.c.Loaded(name)
		}
		if b == nil || !b.Old && !bothKinds[name] {
			return v, false, nil
		}
	}
	if !older {
		defer h.c.Called(name)()
	}
	return h.c.Call(name, args, h.f.Library)
}

// bothKinds are functions of the newer kind that Puppet or the module stdlib has a function
// of the older kind for as well.
var bothKinds = setOf(`versioncmp include require contain alert crit debug emerg err info notice warning
	is_absolute_path is_array is_bool is_float is_ip_address is_ipv4_address is_ipv6_address is_numeric is_string merge ensure_packages deprecation
	validate_absolute_path validate_array validate_bool validate_hash validate_integer validate_ip_address validate_ipv4_address validate_ipv6_address
	validate_numeric validate_re validate_slength validate_string
	abs camelcase capitalize ceiling chomp chop dig downcase empty flatten floor getvar join keys lstrip max min round rstrip size sort strip unique
	upcase values`)

func (h *host) Names(what string) ([]string, error) {
	if h.f.Names == nil {
		return nil, errors.ErrUnsupported
	}
	return h.f.Names(h.c, what)
}

func (h *host) Step() error           { return h.c.Step() }
func (h *host) Spend(bytes int) error { return h.c.Spend(bytes) }

func (h *host) Regexp(source string) (*onig.Regexp, error) { return h.c.Regexp(source) }

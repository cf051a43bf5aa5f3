package eval

import (
	"slices"
	"strconv"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/syntax"
)

// This file is what functions of modules see of the evaluation around them.

// Callers returns where the calls of functions under way stand, this one first; and behind
// them the program, whose line is 0, while its own statements are evaluated. What classes
// and defines declare is evaluated later: no call led there. A file that is not known is
// "unknown". Rule LANG-ERR-09.
func (c *Invocation) Callers() []Call {
	file, line := c.Place()
	out := []Call{{File: file, Line: line}}
	t := c.frame.thread
	stack := t.stack
	if n := len(stack); n > 0 && stack[n-1].site == c.site { // as it is for a call with a lambda
		stack = stack[:n-1]
	}
	for _, call := range slices.Backward(stack) {
		at := call.site
		if call.isPart {
			at = call.from
		}
		if at.node != nil {
			line, _ := at.position(at.node)
			out = append(out, Call{call.name, at.source.File, line})
		}
	}
	if t.isRunning {
		out = append(out, Call{File: t.program})
	}
	for i := range out {
		if out[i].File == "" {
			out[i].File = "unknown"
		}
	}
	return out
}

// Variables returns those that the place of the call sees, by their names: the nearest of
// each. Parameters without a value are not there, and none of the class or define while the
// default of one is evaluated, which Puppet keeps in a scope that gives them by name only.
func (c *Invocation) Variables() []data.Pair { return visible(c.frame, c.frame.scope, false) }

// Seen returns one of Variables.
func (c *Invocation) Seen(name string) (data.Value, bool) {
	c.readAt(name)
	for f := c.frame; f != nil && f.locals != nil; f = f.outer {
		if i := f.locals.find(name); i >= 0 && i < len(f.slots) && f.slots[i].bound {
			return f.slots[i].value, true
		}
	}
	for s := c.frame.scope; s != nil; s = s.next() {
		if v := s.find(name); v != nil && s.shows(v, false) {
			return v.value, true
		}
	}
	return data.Value{}, false
}

// NotFound does what Puppet does when a template or a function of the older kind asks its
// scope for a variable that is not there: by the setting strict nothing, or a warning for
// each name, or an error, which is one of Ruby.
func (c *Invocation) NotFound(name string) error {
	c.readUnknown(name)
	if c.Strict() == syntax.StrictOff || name == "module_name" || name == "caller_module_name" || isNumeric(name) {
		return nil
	}
	reason := ""
	if strings.Contains(name, "::") {
		var err error
		if name, reason, err = c.frame.thread.missing(strings.TrimPrefix(name, "::")); err != nil {
			return err
		}
	}
	message := "Undefined variable '" + name + "'; " + reason
	if c.Strict() == syntax.StrictError {
		return &Exception{"ArgumentError", message}
	}
	if c.Once("Variable: " + name) {
		c.WarnOnce(UndefinedVariables, message, false)
	}
	return nil
}

// missing returns the name of a qualified variable that is not there as messages have it,
// and why it is not.
func (t *Thread) missing(name string) (reported, reason string, err error) {
	for {
		i := strings.LastIndex(name, "::")
		if i < 0 || t.opts.Catalog == nil {
			return "::" + name, "", nil
		}
		class := name[:i]
		s := t.opts.Catalog.ClassScope(strings.ToLower(class))
		if s == nil {
			known, err := t.opts.Catalog.HasClass(class)
			if err == nil && known {
				return name, "class " + class + " has not been evaluated", nil
			}
			return name, "class " + class + " could not be found", err
		}
		if s.Inherits == nil {
			return "::" + name, "", nil
		}
		parent, _ := s.Inherits.Get("name")
		name = parent.Str() + name[i:]
	}
}

// Loads finds a function of a module by its name, as one in Ruby does that calls it.
func (c *Invocation) Loads(name string) {
	file, _ := c.Place()
	_, _ = c.frame.thread.function(name, file)
}

// AtTop returns what a function is called with that is called from the same place in the
// top scope, as functions in Ruby call others.
func (c *Invocation) AtTop() *Invocation {
	t := c.frame.thread
	return &Invocation{frame: &frame{thread: t, scope: t.top}, site: c.site}
}

// Loaded returns a function in Ruby of a module that this program has, or nil.
func (c *Invocation) Loaded(name string) *Builtin {
	fn, err := c.frame.thread.function(name, c.site.source.File)
	if err != nil || fn == nil {
		return nil
	}
	return fn.builtin
}

// Called reports that a template or a function calls another by its name. The function that
// it returns reports that the call has ended.
func (c *Invocation) Called(name string) (end func()) {
	opts := &c.frame.thread.opts
	if opts.Called != nil {
		opts.Called(name)
	}
	if opts.Calls == nil {
		return func() {}
	}
	opts.Calls.Began(name)
	return func() { opts.Calls.Ended(name) }
}

// Once reports whether a key is new to the thread: what is logged once has one.
func (c *Invocation) Once(key string) bool {
	t := c.frame.thread
	if t.logged[key] {
		return false
	}
	t.logged[key] = true
	return true
}

// LogPlain logs a message of Puppet itself, with neither scope nor place.
func (c *Invocation) LogPlain(level, message string) {
	c.frame.thread.log(LogEntry{Level: level, Message: message})
}

// Template renders a template, which is a call within others and a part. The file is ""
// if it has none.
func (c *Invocation) Template(name, file string, render func() (string, error)) (string, error) {
	t := c.frame.thread
	if err := t.push(name, c.site); err != nil {
		return "", err
	}
	defer t.pop()
	part := t.templatePart(file, name)
	s, err := render()
	part.End(strconv.Itoa(len(s))+" bytes", err)
	return s, err
}

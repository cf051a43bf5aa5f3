package eval

import (
	"slices"
	"strconv"

	"indirtui/indirector/data"
)

// This file is what functions of modules see of the evaluation around them.

// Callers returns where the calls under way stand, this one first and the program last,
// whose line is 0. A file that is not known is "unknown". Rule LANG-ERR-09.
func (c *Invocation) Callers() []Call {
	file, line := c.Place()
	out := []Call{{File: file, Line: line}}
	stack := c.frame.thread.stack
	if n := len(stack); n > 0 && stack[n-1].site == c.site { // as it is for a call with a lambda
		stack = stack[:n-1]
	}
	for _, call := range slices.Backward(stack) {
		line, _ := call.site.position(call.site.node)
		out = append(out, Call{call.name, call.site.source.File, line})
	}
	out = append(out, Call{File: file})
	for i := range out {
		if out[i].File == "" {
			out[i].File = "unknown"
		}
	}
	return out
}

// Variables returns those that the place of the call sees, by their names: the nearest of
// each. Parameters without a value are not there.
func (c *Invocation) Variables() []data.Pair { return visible(c.frame, c.frame.scope) }

// Loads finds a function of a module by its name, as one in Ruby does that calls it.
func (c *Invocation) Loads(name string) {
	file, _ := c.Place()
	_, _ = c.frame.thread.function(name, file)
}

// KnowsOld reports whether a module has a function of the older kind by a name.
func (c *Invocation) KnowsOld(name string) bool {
	file, _ := c.Place()
	fn, err := c.frame.thread.function(name, file)
	return err == nil && fn != nil && fn.builtin != nil && fn.builtin.Old
}

// AtTop returns what a function is called with that is called from the same place in the
// top scope, as functions in Ruby call others.
func (c *Invocation) AtTop() *Invocation {
	t := c.frame.thread
	return &Invocation{frame: &frame{thread: t, scope: t.top}, site: c.site}
}

// Called reports that a template or a function calls another by its name.
func (c *Invocation) Called(name string) {
	if called := c.frame.thread.opts.Called; called != nil {
		called(name)
	}
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

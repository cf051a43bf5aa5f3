package eval

import (
	"strings"

	"indirtui/indirector/language/syntax"
)

// A VariableRead is a variable of the top scope, or one that is unknown.
type VariableRead struct {
	Name    string // with the keys behind it, if they are known: facts.os.family
	Unknown bool
	File    string // "" if it is not known
	Line    int    // from 1
}

// read reports that a variable was read at the place of s, the first time that it is.
func (s site) read(f *frame, name string, unknown bool) {
	t := f.thread
	if t.opts.Read == nil || s.quiet || t.reads[name] {
		return
	}
	line, _ := s.position(s.node)
	t.report(VariableRead{name, unknown, s.source.File, line})
}

func (t *Thread) report(r VariableRead) {
	if t.reads == nil {
		t.reads = map[string]bool{}
	}
	t.reads[r.Name] = true
	t.opts.Read(r)
}

// readAt is read for a template, which knows the place of its call.
func (c *Invocation) readAt(name string) {
	t := c.frame.thread
	name = strings.TrimPrefix(name, "::")
	if t.opts.Read == nil || t.reads[name] {
		return
	}
	if _, at, _ := c.frame.scope.reach(name); at == t.top {
		file, line := c.Place()
		t.report(VariableRead{Name: name, File: file, Line: line})
	}
}

// readUnknown is readAt for a variable that is not there.
func (c *Invocation) readUnknown(name string) {
	if t := c.frame.thread; t.opts.Read != nil && !t.reads[name] {
		file, line := c.Place()
		t.report(VariableRead{Name: name, Unknown: true, File: file, Line: line})
	}
}

// pathOf returns the name of a hash of the top scope with the keys that are written behind
// it, or "". Others are no facts.
func (c *compiler) pathOf(n syntax.Node) string {
	switch n := n.(type) {
	case *syntax.Variable:
		switch name := strings.TrimPrefix(n.Name, "::"); name {
		case "facts", "trusted", "server_facts":
			if len(c.placesOf(n.Name)) == 0 {
				return name
			}
		}
	case *syntax.Access:
		key, ok := onlyKey(n)
		if left := c.pathOf(n.Left); ok && left != "" {
			return left + "." + key
		}
	}
	return ""
}

// onlyKey returns the key of an access that has a literal one.
func onlyKey(n *syntax.Access) (string, bool) {
	if len(n.Keys) != 1 {
		return "", false
	}
	switch key := n.Keys[0].(type) {
	case *syntax.String:
		return key.Value, true
	case *syntax.Name:
		return key.Value, true
	}
	return "", false
}

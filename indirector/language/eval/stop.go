package eval

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/language/types"
)

// A Stopper may stop an evaluation: let it wait, or fail it.
type Stopper interface {
	// Armed reports whether there is a reason to stop anywhere. It is asked at every
	// statement.
	Armed() bool
	// Stop returns when the evaluation may go on. The Stop must not be used after that.
	// The error fails what would be evaluated.
	Stop(context.Context, *Stop) error
}

// The kinds of a Stop.
const (
	AtStatement = "statement"
	AtClass     = "class"
	AtDefine    = "define"
	AtNode      = "node"
	AtFunction  = "function"
	AtResource  = "resource"
)

// A Stop is a place where an evaluation may be stopped: before a statement, the body of a
// class, define or node, a call of a function, or when a resource was declared.
type Stop struct {
	Kind string
	Name string // "ntp", "apache::vhost", "template", "File[/etc/motd]"; "" of a statement
	File string
	Line int

	thread *Thread
	frame  *frame // nil of a resource
	scope  *Scope // of a resource
}

// Depth is how many calls, classes, defines and templates are around the place.
func (s *Stop) Depth() int { return len(s.thread.stack) }

// Calls are what is around the place, the outermost first.
func (s *Stop) Calls() []Call { return s.thread.calls() }

// Variables are those that the place sees, the nearest first.
func (s *Stop) Variables() []data.Pair {
	if s.frame == nil {
		return visible(nil, s.scope, true)
	}
	return visible(s.frame, s.frame.scope, true)
}

// Fixed reports whether a variable stays as it is, whatever the debugger wants: the language
// itself sets it.
func Fixed(name string) bool { return reserved[name] || name == "title" || name == "name" }

// Set gives a variable that the place sees another value, which programs cannot do. What was
// Sensitive still is. The error is that it is fixed, or has no value here.
func (s *Stop) Set(name string, v data.Value) error {
	at := s.seen(name)
	switch {
	case Fixed(name):
		return Errorf("set $%s: the language itself sets it", name)
	case at == nil:
		return Errorf("set $%s: it has no value here", name)
	}
	v = types.OfData(v)
	if _, secret := types.Unwrap(*at); secret {
		v = types.OfSensitive(v)
	}
	*at = v
	return nil
}

// seen is where the place sees the value of a variable; nil if it sees none.
func (s *Stop) seen(name string) *data.Value {
	scope := s.scope
	if s.frame != nil {
		scope = s.frame.scope
	}
	for f := s.frame; f != nil && f.locals != nil; f = f.outer {
		if i := f.locals.find(name); i >= 0 && i < len(f.slots) && f.slots[i].bound {
			return &f.slots[i].value
		}
	}
	for ; scope != nil; scope = scope.next() {
		if v := scope.find(name); v != nil && v.ready {
			return &v.value
		}
	}
	return nil
}

// IsArmed reports whether to stop anywhere. It is asked before a Stop is made.
func (t *Thread) IsArmed() bool { return t.opts.Stopper != nil && t.opts.Stopper.Armed() }

// stop lets the debugger stop before what stands at a place.
func (f *frame) stop(kind, name string, s site) error {
	line, _ := s.position(s.node)
	return f.thread.opts.Stopper.Stop(f.thread.ctx, &Stop{Kind: kind, Name: name, File: s.source.File, Line: line, thread: f.thread, frame: f})
}

// Declared lets the debugger stop when a resource was declared.
func (t *Thread) Declared(s *Scope, ref, file string, line int) error {
	return t.opts.Stopper.Stop(t.ctx, &Stop{Kind: AtResource, Name: ref, File: file, Line: line, thread: t, scope: s})
}

// title is what a container is called: of a node, how its hosts are written.
func (d *Container) title() string {
	var names []string
	for _, h := range d.Hosts {
		if h.Regexp != "" {
			names = append(names, "/"+h.Regexp+"/")
		} else {
			names = append(names, h.Name)
		}
	}
	return cmp.Or(d.Name, strings.Join(names, ", "))
}

// visible are the variables of a frame and the scopes behind it, the nearest first. Unless
// unsealed, parameters are left out while the default of one is evaluated.
func visible(f *frame, s *Scope, unsealed bool) []data.Pair {
	var out []data.Pair
	seen := map[string]bool{}
	put := func(name string, v data.Value) {
		if !seen[name] {
			seen[name] = true
			out = append(out, data.P(name, v))
		}
	}
	for ; f != nil && f.locals != nil; f = f.outer {
		for i, name := range f.locals.names {
			if i < len(f.slots) && f.slots[i].bound {
				put(name, f.slots[i].value)
			}
		}
	}
	for ; s != nil; s = s.next() {
		for _, v := range s.vars {
			if s.shows(&v, unsealed) {
				put(v.name, v.value)
			}
		}
	}
	return out
}

// shows reports whether a variable of a scope has a value, and one that is not left out.
func (s *Scope) shows(v *variable, unsealed bool) bool {
	return v.ready && (unsealed || !s.sealed || !slices.Contains(s.expected, v.name))
}

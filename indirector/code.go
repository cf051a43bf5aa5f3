package indirector

import (
	"context"
	"fmt"
	"path/filepath"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// A Code is a place in a program that a terminus runs, where a request stops within the
// step of its terminus.
type Code struct {
	Kind  string // Statement, or class, define, node, function or resource
	Name  string // of what begins there: "ntp", "File[/etc/motd]"; "" of a statement
	File  string
	Line  int // from 1; 0 if it is not known
	Depth int // how many calls are around it

	Calls     []CodeCall  // around it, the outermost first; empty but in a State
	Variables []data.Pair // that it sees, the nearest first; likewise
}

// Statement is the kind of a place before a statement.
const Statement = "statement"

// String returns where the place is: "at init.pp:4", "at class ntp".
func (c *Code) String() string {
	if c.Kind != Statement {
		return "at " + c.Kind + " " + c.Name
	}
	return fmt.Sprintf("at %s:%d", filepath.Base(c.File), c.Line)
}

// A CodeCall is a call, a class, a define or a template that is under way.
type CodeCall struct {
	Name string
	File string
	Line int // where it is called
}

// inCode is in a StopSet if requests are to be stopped within programs.
const inCode StopSet = 1 << 31

// WithCode returns the set with all places in programs, or without them.
func (s StopSet) WithCode(on bool) StopSet {
	if on {
		return s | inCode
	}
	return s &^ inCode
}

// CodeStops stops the request of one terminus within the programs that it runs.
type CodeStops struct{ call *call }

type codeKey struct{}

// CodeStopsOf returns what stops the request of a terminus whose descriptor has Code, or
// nil if nothing does.
func CodeStopsOf(ctx context.Context) *CodeStops {
	c, ok := ctx.Value(codeKey{}).(*call)
	if !ok {
		return nil
	}
	return &CodeStops{c}
}

// Armed reports whether there is a reason to stop in any program. It costs one load.
func (s *CodeStops) Armed() bool { return s.call.x.stops.has(inCode) }

// Hold asks the debugger at a place. Freeze adds calls and variables to the place if its
// State is kept. The error fails what would be evaluated.
func (s *CodeStops) Hold(ctx context.Context, at Code, freeze func(*Code)) error {
	c := s.call
	stop := &Stop{call: c, Request: &c.req, Trace: c.live.Trace, Point: c.point(traces.Terminus), Code: &at, freeze: freeze}
	v, err := c.x.cfg.Debugger.Hold(ctx, stop)
	c.waited(v)
	if err == nil {
		err = v.Err
	}
	return err
}

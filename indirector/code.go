package indirector

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"indirtui/indirector/data"
	"indirtui/traces"
)

// A Code is a place in a program that a terminus runs, or before a step of a resource that
// it applies, where a request stops within the step of its terminus.
type Code struct {
	Kind  string // Statement, or class, define, node, function or resource; of a step one of ResourceSteps, or StepFailed
	Name  string // of what begins there: "ntp", "File[/etc/motd]"; "" of a statement; of a change the property
	Of    string // the resource whose step it is: "File[/etc/motd]"; "" in a program
	File  string
	Line  int // from 1; 0 if it is not known
	Depth int // how many calls are around it

	Calls     []CodeCall  // around it, the outermost first; empty but in a State
	Variables []data.Pair // that it sees, the nearest first; likewise
	Fixed     []string    // of the variables: those that nothing may change; likewise
	// Try returns why variables would be refused; nil if they would not be. It may only be
	// called while the request is held. It is nil if that is not known, and but in a State.
	Try func(changed []data.Pair) error
	// Rest is what the run of a resource has still to do, as what applies it has that; nil
	// if it is not known, and but in a State.
	Rest any
}

// A CodePlace is a place of a program, as what runs that knows it. It is used within
// [CodeStops.Hold] only.
type CodePlace interface {
	// Freeze adds calls and variables.
	Freeze(*Code)
	// Set gives a variable that the place sees, and that is not fixed, another value.
	Set(name string, v data.Value) error
}

// Statement is the kind of a place before a statement.
const Statement = "statement"

// StepFailed is the kind of a place behind a step of a resource that failed, whose name it has.
const StepFailed = "failure"

// ResourceSteps are the steps of a resource that is applied, in their order.
func ResourceSteps() []string {
	return []string{"dependencies", "schedule and tags", "provider", "retrieve", "compare", "change", "flush", "events out", "refresh"}
}

// String returns where the place is: "at init.pp:4", "at class ntp", "at change mode".
func (c *Code) String() string {
	if c.Kind != Statement {
		return strings.TrimSpace("at " + c.Kind + " " + c.Name)
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

// Hold asks the debugger at a place, which is frozen if its State is kept, and changes the
// variables that it wants to be changed. The error fails what would be evaluated; a
// *LeftOut leaves a step of a resource out, and ErrAgain takes one that failed once more.
func (s *CodeStops) Hold(ctx context.Context, at Code, place CodePlace) error {
	c := s.call
	stop := &Stop{live: &c.live, call: c, Request: &c.req, Trace: c.live.Trace, Point: c.point(traces.Terminus), Code: &at, freeze: place.Freeze}
	v, err := c.x.cfg.Debugger.Hold(ctx, stop)
	c.waited(v)
	for _, p := range v.Variables {
		if err == nil {
			err = place.Set(p.Key.Str(), p.Value)
		}
	}
	switch {
	case err != nil:
	case v.Err != nil:
		err = v.Err
	case v.Again:
		err = ErrAgain
	case v.Skip:
		err = &LeftOut{cmp.Or(v.By, "you")}
	}
	return err
}

// ErrAgain lets a step that failed be taken once more.
var ErrAgain = errors.New("once more")

// A LeftOut leaves out the step of a resource before which the request stopped.
type LeftOut struct{ By string } // "b1", "you"

func (l *LeftOut) Error() string { return l.By + " left it out" }

package indirector

import (
	"fmt"
	"strings"

	"indirtui/traces"
)

// Passed returns the terminus to which another one passes a request on, and what
// named it; zero if that one answers itself. A nil request is as for
// [Descriptor].Passes. Nothing is asked.
func (x *Indirector) Passed(indirection, terminus string, req *Request) traces.Choice {
	d := x.cfg.Registry.Descriptor(indirection, terminus)
	if d == nil || d.Passes == nil {
		return traces.Choice{}
	}
	return d.Passes(x.env(indirection, terminus), req)
}

// CheckPassed returns nil if a terminus may pass requests on to the one that c
// names. Puppet's would ask itself until its stack ends. Faults and delays belong
// around the terminus that passes on. Rule STORE-SC-07.
func CheckPassed(terminus string, c traces.Choice) error {
	switch {
	case c.Terminus == "":
		return &Failure{Class: "SystemStackError", Message: fmt.Sprintf(msgPassesToNone, terminus, c.Source), Err: ErrNoRoute}
	case c.Terminus == terminus:
		return &Failure{Class: "SystemStackError", Message: fmt.Sprintf(msgPassesToItself, terminus, c.Source), Err: ErrNoRoute}
	case strings.Contains(c.Terminus, "("):
		return &Failure{Class: "ArgumentError", Message: fmt.Sprintf(msgInvalidTerminus, inspect(c.Terminus)+": "+c.Source), Err: ErrNoRoute}
	}
	return nil
}

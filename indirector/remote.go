package indirector

import "errors"

// ErrLocalOnly reports that a terminus refuses requests from the network.
var ErrLocalOnly = errors.New("not for requests from the network")

// Admits returns nil if a request from the network may reach an indirection in
// an environment, else an *EnvironmentNotFound, ErrLocalOnly, or why there is
// no terminus. The primary terminus alone decides. Rules REST-URL-03,
// REST-URL-04.
func (x *Indirector) Admits(indirection, environment string) error {
	to := x.table.Load().by[indirection]
	if to == nil || to.primaryHolder == nil {
		return nil // the request reports it itself
	}
	if err := x.knows(environment, to, true); err != nil {
		return err
	}
	if err := to.primaryHolder.open(x); err != nil {
		return err
	}
	if l, ok := to.primaryHolder.terminus.(Local); ok && l.LocalOnly() {
		return ErrLocalOnly
	}
	return nil
}

// knows returns an error if there is no such environment. A terminus that
// passes the request on over the network leaves the check to the other side.
// Rule IND-REQ-10.
func (x *Indirector) knows(environment string, to *resolved, remote bool) error {
	switch {
	case x.cfg.Environments == nil, environment == "", environment == x.goesBy(to).Environment:
		return nil
	case remote && to != nil && to.primaryHolder != nil && to.primaryHolder.desc != nil && to.primaryHolder.desc.REST:
		return nil
	}
	return x.cfg.Environments(environment)
}

package transaction

import (
	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// A status is what became of a resource.
type status struct {
	model.ResourceStatus
	of        *Resource
	events    []*event
	restarted bool
	failed    []*Resource // those that it waited for, and that failed
}

// An event is one of a report, with what only the run needs.
type event struct {
	model.Event
	property    string
	unschedules bool
}

// status returns that of a resource, which it makes if need be. The two whits of a
// container share one, as in Puppet.
func (t *transaction) status(r *Resource) *status {
	if s := t.statuses[r.String()]; s != nil {
		return s
	}
	return t.keep(t.newStatus(r))
}

// keep puts a status in the place of an earlier one.
func (t *transaction) keep(s *status) *status {
	key := s.of.String()
	if t.statuses[key] == nil {
		t.order = append(t.order, key)
	}
	t.statuses[key] = s
	return s
}

func (t *transaction) newStatus(r *Resource) *status {
	s := &status{of: r, ResourceStatus: model.ResourceStatus{
		Ref: r.String(), Resource: r.String(), Title: r.Title, Type: r.Type, File: r.File, Line: r.Line,
		ContainmentPath: r.Containment(), Tags: r.Tags, Time: t.now(),
	}}
	if r.RAL != nil && r.RAL.Provider != nil {
		s.Provider = r.RAL.Provider.Name
	}
	return s
}

// add counts an event. Rule RES-EV-10.
func (s *status) add(e *event) {
	s.events = append(s.events, e)
	switch e.Status {
	case "failure":
		s.Failed = true
	case "success":
		s.ChangeCount++
		s.Changed = true
	}
	if e.Status != "audit" {
		s.OutOfSyncCount++
		s.OutOfSync = true
	}
	if e.CorrectiveChange {
		s.CorrectiveChange = true
	}
}

// failWith adds a failure that is of no property.
func (t *transaction) failWith(s *status, message string) {
	e := t.event("resource_error", "failure")
	e.Message = message
	s.add(e)
}

// failBecause logs that a resource could not be evaluated, and counts it. Rule RES-EV-01.
func (t *transaction) failBecause(s *status, err error) {
	t.log.resource(s.of, "err", withCause("Could not evaluate: "+err.Error(), err))
	t.failWith(s, err.Error())
}

// event is one of a resource, not of a property.
func (t *transaction) event(name, status string) *event {
	return &event{Event: model.Event{Name: name, Status: status, Time: t.now(), Redacted: data.OfBool(false)}}
}

func (s *status) hasFailed() bool { return s.Failed || s.FailedToRestart }

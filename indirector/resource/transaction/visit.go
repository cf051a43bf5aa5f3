package transaction

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// A Visit is one resource whose turn has come in a run, while it is a request. It is for
// the goroutine of the run.
type Visit struct {
	t      *transaction
	r      *Resource
	wanted *model.Resource
	taken  bool
	end    error // ends the run
}

// What has become of a resource is one of these words: nothing was to be done, something
// was changed, would be in noop, or was not even looked at.
const (
	Unchanged = "same"
	Changed   = "chg"
	Pending   = "plan"
	Skipped   = "skip"
)

// Taken is what has become of a resource.
type Taken struct {
	Word   string // "" if it failed
	Text   string // what was done, or why nothing was
	Lost   string // a refresh that failed, and that no later run tries again; "" is none
	Status model.ResourceStatus
}

type visitKey struct{}

// VisitOf returns the visit of a run that a request belongs to, or nil.
func VisitOf(ctx context.Context) *Visit {
	v, _ := ctx.Value(visitKey{}).(*Visit)
	return v
}

// Context returns a context by which a terminus finds the visit.
func (v *Visit) Context(ctx context.Context) context.Context {
	return context.WithValue(ctx, visitKey{}, v)
}

// Wanted is the resource as the catalog has it. It belongs to the Visit.
func (v *Visit) Wanted() *model.Resource { return v.wanted }

// byRequest lets a resource be applied by a request. One that does not reach a terminus
// that takes it was left out; with an error it has failed.
func (t *transaction) byRequest(r *Resource) error {
	v := &Visit{t: t, r: r, wanted: r.wanted()}
	err := t.Request(t.ctx, v)
	if v.taken {
		return v.end
	}
	t.propagate(r)
	if err != nil {
		s := t.status(r)
		t.failBecause(s, err)
		return nil
	}
	t.log.resource(r, "warning", "Skipping because the request for it was left out")
	t.leaveOut(r)
	return nil
}

// wanted is the resource as the catalog has it. One that was generated has what is
// managed of it.
func (r *Resource) wanted() *model.Resource {
	if r.declared != nil {
		return r.declared
	}
	m := &model.Resource{Type: r.Type, Title: r.Title, Tags: r.Tags, File: r.File, Line: r.Line, Kind: "compilable_type"}
	if r.RAL == nil {
		return m
	}
	var pairs []data.Pair
	for _, name := range r.RAL.Properties() {
		given := r.RAL.Original(name)
		switch {
		case len(given) == 1:
			pairs = append(pairs, data.P(name, words(given[0])))
		case len(given) > 1:
			pairs = append(pairs, data.P(name, words(data.OfList(given))))
		}
		if r.RAL.Sensitive(name) {
			m.Sensitive = append(m.Sensitive, name)
		}
	}
	m.Parameters = data.OfHash(pairs)
	return m
}

// Take applies the resource, as it is wanted now: what differs from Wanted was edited
// while the request was held. The steps are spans of the request of ctx. The error is the
// failure of the resource.
func (v *Visit) Take(ctx context.Context, wanted *model.Resource) (Taken, error) {
	switch {
	case v.taken:
		return Taken{}, fmt.Errorf("apply %q: this run has done so", v.r.Ref())
	case !strings.EqualFold(wanted.Type, v.wanted.Type) || wanted.Title != v.wanted.Title: // of v.r it may be another: a type may have its own
		return Taken{}, fmt.Errorf("apply %q: it is the turn of %q in this run", wanted.Ref(), v.wanted.Ref())
	}
	v.taken = true
	if v.t.Stop != nil && v.t.Stop() { // it waited until the run was to end
		v.t.canceled(v.r)
		return Taken{Word: Skipped, Text: "the run was ended"}, nil
	}
	steps := &steps{next: v.t.Observer}
	was, observer := v.t.ctx, v.t.Observer
	v.t.ctx, v.t.Observer = ctx, steps
	steps.t = v.t
	defer func() {
		steps.close()
		v.t.ctx, v.t.Observer = was, observer
	}()
	if err := v.edit(wanted); err != nil {
		v.t.propagate(v.r)
		v.t.failBecause(v.t.status(v.r), err)
		return Taken{}, err
	}
	if v.end = v.t.evaluateOne(v.r); v.end != nil {
		return Taken{}, v.end
	}
	return v.outcome(steps)
}

// edit takes over what was edited.
func (v *Visit) edit(wanted *model.Resource) error {
	if wanted == v.wanted || v.r.RAL == nil {
		return nil
	}
	for _, p := range v.wanted.Parameters.Hash() {
		if _, kept := wanted.Parameters.Lookup(p.Key.Str()); !kept {
			v.r.RAL.Unset(p.Key.Str())
		}
	}
	for _, p := range wanted.Parameters.Hash() {
		name := p.Key.Text()
		if was, _ := v.wanted.Parameters.Lookup(name); data.Equal(was, p.Value) {
			continue
		}
		if v.r.RAL.Type.Attribute(name) == nil {
			return failf("no parameter named '%s'", name)
		}
		if err := v.r.RAL.Set(name, p.Value); err != nil {
			return err
		}
	}
	return v.r.RAL.Validate()
}

// outcome is what the status of the resource has.
func (v *Visit) outcome(steps *steps) (Taken, error) {
	s := v.t.status(v.r)
	taken := Taken{Status: s.ResourceStatus, Text: steps.skipped}
	for _, e := range s.events {
		taken.Status.Events = append(taken.Status.Events, e.Event)
		if taken.Text == "" || e.Status == "failure" {
			taken.Text = e.Message
		}
	}
	pending := slices.ContainsFunc(s.events, func(e *event) bool { return e.Status == "noop" })
	switch {
	case s.FailedToRestart:
		taken.Word, taken.Lost = Changed, taken.Text
	case s.Skipped:
		taken.Word = Skipped
	case s.Failed:
		if taken.Text == "" {
			taken.Text = "it failed"
		}
		return taken, errors.New(taken.Text)
	case s.Changed || s.restarted:
		taken.Word = Changed
	case pending || steps.wouldRefresh:
		taken.Word = Pending
	default:
		taken.Word = Unchanged
	}
	return taken, nil
}

// passed answers the steps of a request that did not stop the resource.
func (t *transaction) passed(r *Resource) {
	if t.Request == nil {
		return
	}
	t.after(r, Answer{Step: Dependencies, Text: "none has failed"})
	t.after(r, Answer{Step: Schedule, Text: "its turn"})
	if r.RAL != nil && r.RAL.Provider != nil {
		t.after(r, Answer{Step: Provider, Text: r.RAL.Provider.Name})
	}
}

// steps makes spans of the steps of one resource, and lets the Observer of the run see
// them, too.
type steps struct {
	t            *transaction
	next         Observer // may be nil
	above        context.Context
	open         *traces.Active
	at           Step
	skipped      string
	wouldRefresh bool
}

var _ Observer = (*steps)(nil)

func (s *steps) Before(ctx context.Context, r *Resource, step Step, property string) error {
	s.close()
	s.above, s.at = s.t.ctx, step
	s.t.ctx, s.open = traces.Start(s.t.ctx, traces.Note, stepName(step, property))
	if s.next == nil {
		return nil
	}
	return s.next.Before(ctx, r, step, property)
}

func (s *steps) After(ctx context.Context, r *Resource, a Answer) {
	if s.open == nil || s.at != a.Step {
		s.close()
		s.above, s.at = s.t.ctx, a.Step
		s.t.ctx, s.open = traces.Start(s.t.ctx, traces.Note, stepName(a.Step, a.Property))
	}
	if a.Because != "" {
		s.open.Attr("reason", string(a.Because))
	}
	if why := a.why(); why != "" {
		s.open.Attr("because", why)
	}
	s.open.End(a.Text, traces.Because{}, a.Err)
	s.open = nil
	s.t.ctx = s.above
	if a.Text == "skipped" {
		s.skipped = strings.TrimSuffix(string(a.Because)+": "+a.why(), ": ")
	}
	s.wouldRefresh = s.wouldRefresh || a.Step == Refresh && a.Because == Noop
	if s.next != nil {
		s.next.After(ctx, r, a)
	}
}

// close ends a step that nothing came of.
func (s *steps) close() {
	if s.open != nil {
		s.open.End("", traces.Because{}, nil)
		s.t.ctx, s.open = s.above, nil
	}
}

func stepName(step Step, property string) string {
	if property == "" {
		return string(step)
	}
	return string(step) + " " + property
}

// why is what a reason is about: its detail, or the resources that it comes from.
func (a *Answer) why() string {
	if a.Detail != "" || len(a.Chain) == 0 {
		return a.Detail
	}
	return strings.Join(texts(a.Chain), ", ")
}

package transaction

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/types"
	"indirtui/traces"
)

// A Visit is one resource whose turn has come in a run, while it is a request. It is for
// the goroutine of the run.
type Visit struct {
	t      *transaction
	r      *Resource
	wanted *model.Resource
	do     func(*Resource) error // what is done to it
	taken  bool
	end    error // ends the run
}

// Taken is what has become of a resource.
type Taken struct {
	Outcome traces.Outcome // one of those of resources; Run if it failed
	Because traces.Because
	Text    string // what was done; "" if nothing was
	Lost    string // a refresh that failed, and that no later run tries again; "" is none
	Status  model.ResourceStatus
}

// String is what was done, or why nothing was.
func (t *Taken) String() string {
	if t.Text != "" {
		return t.Text
	}
	return t.Because.Words()
}

// Applied is what a terminus answers to the save.
func (t *Taken) Applied() *indirector.Applied {
	a := &indirector.Applied{Answer: traces.OK, Because: t.Because}
	switch {
	case t.Lost != "":
		a.Answer, a.Because = traces.Written, traces.Because{Reason: traces.RefreshLost, About: t.Lost}
	case t.Outcome == traces.Skipped:
		a.Answer = traces.Nothing
	case t.Outcome == traces.Changed:
		a.Answer = traces.Written
	}
	return a
}

// VisitOf returns the visit of a run that a request belongs to, or nil.
func VisitOf(ctx context.Context) *Visit {
	v, _ := indirector.TrierOf(ctx).(*Visit)
	return v
}

// Context returns a context by which a terminus finds the visit.
func (v *Visit) Context(ctx context.Context) context.Context {
	return indirector.WithTrier(ctx, v)
}

// Try implements [indirector.Trier]: what Take would refuse, nothing is changed by. Instances
// that are no resources are those of other requests, which the resource makes.
func (v *Visit) Try(inst indirector.Instance) error {
	wanted, ok := inst.(*model.Resource)
	if !ok || v.taken {
		return nil
	}
	if err := v.mine(wanted); err != nil || v.r.RAL == nil {
		return err
	}
	return v.edit(v.r.RAL.Trial(), wanted)
}

// mine reports that an instance is of another resource. Of v.r the title may be another: a
// type may have its own.
func (v *Visit) mine(wanted *model.Resource) error {
	if !strings.EqualFold(wanted.Type, v.wanted.Type) || wanted.Title != v.wanted.Title {
		return fmt.Errorf("apply %q: it is the turn of %q in this run", wanted.Ref(), v.wanted.Ref())
	}
	return nil
}

// Wanted is the resource as the catalog has it. It belongs to the Visit.
func (v *Visit) Wanted() *model.Resource { return v.wanted }

// Class is the name of the class that the resource is in; "" if it is in none.
func (v *Visit) Class() string { return classOf(v.r) }

// byRequest lets a resource be applied by a request. One that does not reach a terminus
// that takes it was left out; with an error it has failed.
func (t *transaction) byRequest(r *Resource, do func(*Resource) error) error {
	v := &Visit{t: t, r: r, wanted: r.wanted(), do: do}
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
	if v.taken {
		return Taken{}, fmt.Errorf("apply %q: this run has done so", v.r.Ref())
	}
	if err := v.mine(wanted); err != nil {
		return Taken{}, err
	}
	v.taken = true
	if v.t.Stop != nil && v.t.Stop() { // it waited until the run was to end
		v.t.canceled(v.r)
		return Taken{Outcome: traces.Skipped, Because: traces.Because{Reason: traces.ByYou, About: "the run was ended"}}, nil
	}
	was := v.t.ctx
	within, steps := newSteps(ctx, v.t, v.r)
	v.t.ctx, v.t.visiting = within, steps
	defer func() {
		steps.close()
		steps.span.Finish()
		v.t.ctx, v.t.visiting = was, nil
	}()
	if err := v.edit(v.r.RAL, wanted); err != nil {
		v.t.propagate(v.r)
		v.t.failBecause(v.t.status(v.r), err)
		return Taken{}, err
	}
	if v.end = v.do(v.r); v.end != nil {
		return Taken{}, v.end
	}
	return v.outcome(steps)
}

// edit gives r, which may be nil, what was edited.
func (v *Visit) edit(r *types.Resource, wanted *model.Resource) error {
	if wanted == v.wanted || r == nil {
		return nil
	}
	for _, p := range v.wanted.Parameters.Hash() {
		if _, kept := wanted.Parameters.Lookup(p.Key.Str()); !kept {
			r.Unset(p.Key.Str())
		}
	}
	for _, p := range wanted.Parameters.Hash() {
		name := p.Key.Text()
		if was, _ := v.wanted.Parameters.Lookup(name); data.Equal(was, p.Value) {
			continue
		}
		if r.Type.Attribute(name) == nil {
			return failf("no parameter named '%s'", name)
		}
		if err := r.Set(name, p.Value); err != nil {
			return err
		}
	}
	return r.Validate()
}

// outcome is what the status of the resource has.
func (v *Visit) outcome(steps *steps) (Taken, error) {
	s := v.t.status(v.r)
	taken := Taken{Status: s.ResourceStatus, Because: steps.because}
	var changed []string
	for _, e := range s.events {
		taken.Status.Events = append(taken.Status.Events, e.Event)
		if taken.Text == "" || e.Status == "failure" {
			taken.Text = e.Message
		}
		if e.property != "" {
			changed = append(changed, e.property)
		}
	}
	pending := slices.ContainsFunc(s.events, func(e *event) bool { return e.Status == "noop" })
	switch {
	case s.FailedToRestart:
		taken.Outcome, taken.Lost = traces.Changed, taken.Text
	case s.Skipped:
		taken.Outcome = traces.Skipped
		if taken.Because.Reason == traces.ByYou {
			taken.Text = "it is left as it is"
		}
	case s.Failed && v.r.problem != nil: // which is why nothing can do it
		return taken, v.r.problem
	case s.Failed:
		return taken, errors.New(cmp.Or(taken.Text, taken.Because.Words(), "it failed"))
	case s.Changed || s.restarted:
		taken.Outcome = traces.Changed
		if len(changed) > 0 {
			taken.Because = traces.Because{Reason: traces.OutOfSync, About: strings.Join(changed, ", ")}
		}
	case pending || taken.Because.Reason == traces.ByNoop:
		taken.Outcome = traces.Planned
		if pending {
			taken.Because = traces.Because{Reason: traces.ByNoop, About: v.t.noopBy(v.r)}
		}
	case steps.left:
		taken.Outcome, taken.Text = traces.Skipped, steps.as
	default:
		taken.Outcome = traces.Same
		if taken.Because.Reason == traces.NoReason {
			taken.Because.Reason = traces.InSync
		}
	}
	return taken, nil
}

// passed answers the steps of a request that did not stop the resource, where that may be
// held. The error leaves it out, or fails it.
func (t *transaction) passed(r *Resource) error {
	if t.visiting == nil {
		return nil
	}
	answers := [3]Answer{{Step: Dependencies, Text: "none has failed"}, {Step: Schedule, Text: "its turn"}}
	n := 2
	if r.RAL != nil && r.RAL.Provider != nil {
		answers[n] = Answer{Step: Provider, Text: r.RAL.Provider.Name}
		n++
	}
	for _, a := range answers[:n] {
		if err := t.stop(r, a.Step, ""); err != nil {
			return err
		}
		t.note(r, a)
	}
	return nil
}

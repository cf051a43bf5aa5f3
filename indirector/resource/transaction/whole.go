package transaction

import (
	"errors"

	"indirtui/indirector/resource/providers"
)

// whole lets a provider do the resource at once: what it reads, compares and changes is one
// step. What it did becomes events in changeAll.
func (a *application) whole(p providers.Whole) error {
	noop, step := a.noop(a.r), Retrieve
	if !noop {
		a.after(a.r, Answer{Step: Retrieve, Text: byHelper + ", with what follows"})
		step = Change
		if err := a.before(a.r, step, ""); err != nil {
			return err
		}
	}
	done, err := p.Do(a.ctx, a.System, a.r.RAL, noop)
	if err == nil {
		a.done = done
		a.read(done.Is)
	}
	a.after(a.r, Answer{Step: step, Text: byHelper, Err: err})
	return err
}

// adopt makes lines and events of what a provider did.
func (a *application) adopt() {
	changed := false
	for _, d := range a.done.Did {
		if d.Event == nil {
			a.providerLine(*d.Line)
			continue
		}
		changed = true
		a.adoptEvent(d.Event)
	}
	if !changed && a.done.Err == nil {
		a.after(a.r, Answer{Step: Compare, Text: "nothing to do", Because: InSync, Detail: byHelper})
	}
}

// byHelper is the detail of answers about what was not done here.
const byHelper = "by helper"

func (a *application) adoptEvent(done *providers.Event) {
	a.after(a.r, Answer{Step: Compare, Property: done.Property, Text: "differs", Because: OutOfSync, Detail: byHelper})
	e := a.newEvent(done.Property, done.Is)
	e.Name, e.Status, e.Message, e.unschedules = done.Name, done.Status, done.Message, done.Unschedules
	if e.Redacted.IsNil() {
		e.DesiredValue = done.Should
	}
	var err error
	if e.Status == "failure" {
		err = errors.New(e.Message)
	}
	a.record(done.Property, e, err)
}

// restart refreshes a resource by a provider that does it at once.
func (t *transaction) restart(r *Resource, p providers.Whole) error {
	done, err := p.Restart(t.ctx, t.System, r.RAL)
	if err != nil {
		return err
	}
	for _, d := range done.Did {
		if d.Line != nil {
			t.providerLine(*d.Line)
		}
	}
	return done.Err
}

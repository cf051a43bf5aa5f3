package transaction

import (
	"fmt"
	"slices"
	"strings"

	"indirtui/indirector/resource/providers"
	"indirtui/traces"
)

// eventsOut sends the events of a resource, unless they are left out where it is held.
func (t *transaction) eventsOut(r *Resource, events []*event) {
	if len(events) == 0 {
		t.note(r, Answer{Step: EventsOut, Text: "none"})
		return
	}
	switch err := t.stop(r, EventsOut, ""); {
	case isLeftOut(err):
		t.note(r, Answer{Step: EventsOut, Text: "left out", Because: ByYou, Detail: err.Error()})
		return
	case err != nil:
		t.note(r, Answer{Step: EventsOut, Text: "failed", Err: err})
		t.failBecause(t.status(r), err)
		return
	}
	t.send(r, events)
	text := count(len(events))
	if to := receivers(r); len(to) > 0 {
		text += " for " + strings.Join(texts(to), ", ")
	}
	t.note(r, Answer{Step: EventsOut, Text: text})
}

// send queues events for those that they refresh, along the edges that carry them.
// Rule RES-REF-01.
func (t *transaction) send(r *Resource, events []*event) {
	var names []string
	byName := map[string][]*event{}
	unschedules := false
	for _, e := range events {
		if byName[e.Name] == nil {
			names = append(names, e.Name)
		}
		byName[e.Name] = append(byName[e.Name], e)
		unschedules = unschedules || e.unschedules
	}
	for _, name := range names {
		for _, edge := range edgesOf(r.out) {
			if edge.Refresh && edge.To.refreshable() {
				t.queue(r, edge.To, byName[name])
			}
		}
		if r.RAL != nil && r.RAL.Type.SelfRefresh && r.RAL.Value("ensure").Str() != "absent" {
			t.queue(r, r, byName[name][:1])
		}
	}
	if unschedules {
		t.log.resource(r, "info", "Unscheduling refresh on "+r.String())
		if _, ok := t.queued[r]; ok {
			t.queued[r] = nil
		}
	}
}

// receivers are those that take the events of r.
func receivers(r *Resource) []*Resource {
	var all []*Resource
	for _, edge := range edgesOf(r.out) {
		if edge.Refresh && edge.To.refreshable() && edge.To.Kind != Whit {
			all = append(all, edge.To)
		}
	}
	return all
}

func (r *Resource) refreshable() bool {
	return r.Kind != Plain || r.RAL.Type.Refreshable
}

func (t *transaction) queue(from, to *Resource, events []*event) {
	if to.completed {
		t.log.resource(from, "debug", fmt.Sprintf("The container %s will propagate my refresh event", to))
	} else {
		t.log.resource(from, "info", fmt.Sprintf("Scheduling refresh of %s", to))
	}
	t.queued[to] = append(t.queued[to], events...)
	if !slices.Contains(t.senders[to], from) {
		t.senders[to] = append(t.senders[to], from)
	}
}

// unschedule takes back what is queued for a resource that is skipped. Rule RES-TX-05.
func (t *transaction) unschedule(r *Resource) {
	if _, ok := t.queued[r]; ok {
		t.log.resource(r, "info", "Unscheduling all events on "+r.String())
		delete(t.queued, r)
	}
}

// refresh lets a resource take the events that are queued for it. Rule RES-REF-03.
func (t *transaction) refresh(r *Resource) {
	events := t.queued[r]
	if len(events) == 0 {
		t.unrefreshed(r)
		return
	}
	if t.noop(r) || !slices.ContainsFunc(events, func(e *event) bool { return e.Status != "noop" }) {
		t.log.resource(r, "notice", "Would have triggered 'refresh' from "+count(len(events)))
		by := Answer{Step: Refresh, Text: "would be refreshed", Because: Noop, Chain: t.senders[r]}
		if t.plan == nil && t.noop(r) {
			by.Detail = t.noopBy(r)
		}
		t.after(r, by)
		t.send(r, []*event{t.event("noop_restart", "noop")})
		return
	}
	switch err := t.callRefresh(r); {
	case isLeftOut(err):
		t.withhold(r, err)
		return
	case err != nil:
		t.refreshFailed(r, err)
		return
	}
	s := t.status(r)
	if r.Kind != Whit {
		message := "Triggered 'refresh' from " + count(len(events))
		t.log.resource(r, "notice", message)
		e := t.event("refresh", "success")
		e.Message = message
		s.add(e)
	}
	t.after(r, Answer{Step: Refresh, Text: "refreshed", Because: RefreshedBy, Chain: t.senders[r]})
	t.send(r, []*event{t.event("restarted", "success")})
	s.restarted = true
}

func (t *transaction) callRefresh(r *Resource) error {
	if err := t.before(r, Refresh, ""); err != nil || r.Kind != Plain {
		return err
	}
	return t.retried(Refresh, "", func() error {
		switch p := t.providerOf(r).(type) {
		case providers.Whole:
			return t.restart(r, p)
		case providers.Refresher:
			return p.Refresh(t.ctx, t.System, r.RAL)
		}
		return nil
	})
}

// withhold leaves a refresh out because the user wants that.
func (t *transaction) withhold(r *Resource, err error) {
	t.log.resource(r, "notice", "Not refreshed: "+err.Error())
	t.unschedule(r)
	t.after(r, Answer{Step: Refresh, Text: "left out", Because: ByYou, Detail: err.Error()})
	t.withholdFrom(r, r)
	if t.visiting != nil {
		t.visiting.as = "it is not refreshed"
	}
}

// withholdFrom notes who would have had an event by the refresh of r, which was left out.
func (t *transaction) withholdFrom(r, first *Resource) {
	if t.visiting != nil && r.Kind != Whit {
		t.visiting.left = true
	}
	for _, edge := range edgesOf(r.out) {
		if carries(edge) && !slices.Contains(t.withheld[edge.To], first) {
			t.withheld[edge.To] = append(t.withheld[edge.To], first)
		}
	}
}

// unrefreshed answers the last step of a resource that no event has reached. It may have
// been one that was left out.
func (t *transaction) unrefreshed(r *Resource) {
	from := t.withheld[r]
	for _, first := range from {
		t.withholdFrom(r, first)
	}
	if len(from) == 0 {
		t.note(r, Answer{Step: Refresh, Text: "no event has come"})
		return
	}
	t.note(r, Answer{Step: Refresh, Text: "not refreshed", Because: ByYou, Detail: traces.WithoutThatOf + strings.Join(texts(from), ", ")})
}

// refreshFailed counts a refresh that failed: the next run does not try it again, and
// no line of the log has that. Rule RES-REF-05.
func (t *transaction) refreshFailed(r *Resource, err error) {
	message := "Failed to call refresh: " + err.Error()
	t.log.resource(r, "err", message)
	s := t.status(r)
	s.FailedToRestart = true
	t.failWith(s, message)
	t.log.resource(r, "err", withCause(err.Error(), err))
	t.after(r, Answer{Step: Refresh, Text: "failed", Because: RefreshLost, Chain: t.senders[r], Err: err})
}

func count(n int) string {
	if n == 1 {
		return "1 event"
	}
	return fmt.Sprintf("%d events", n)
}

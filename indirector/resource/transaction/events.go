package transaction

import (
	"fmt"
	"slices"

	"indirtui/indirector/resource/providers"
)

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
	if len(events) > 0 && t.Request != nil {
		t.after(r, Answer{Step: EventsOut, Text: count(len(events)), Chain: receivers(r)})
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
		return
	}
	if t.noop(r) || !slices.ContainsFunc(events, func(e *event) bool { return e.Status != "noop" }) {
		t.log.resource(r, "notice", "Would have triggered 'refresh' from "+count(len(events)))
		t.after(r, Answer{Step: Refresh, Text: "would be refreshed", Because: Noop, Chain: t.senders[r]})
		t.send(r, []*event{t.event("noop_restart", "noop")})
		return
	}
	if err := t.callRefresh(r); err != nil {
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
	switch p := t.providerOf(r).(type) {
	case providers.Whole:
		return t.restart(r, p)
	case providers.Refresher:
		return p.Refresh(t.ctx, t.System, r.RAL)
	}
	return nil
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

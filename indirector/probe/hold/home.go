package hold

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/probe"
	"indirtui/traces"
)

// A home is the process of a held request.
type home struct {
	process probe.Process
	waiters []indirector.Waiter
	thread  int64
	lies    bool // the answer is in the process alone, so that no part of it can be changed
}

// homeOf returns the process of a request that is held now. All are the processes that
// are attached.
func homeOf(r *probe.Held, all []probe.Process, now time.Time) *home {
	h := &home{process: r.Process, thread: r.Thread}
	h.lies = r.Answer != nil && (r.Answer.Text == "" || r.Answer.Redacted > 0)
	limits := r.Behind
	if r.Process.Server() {
		limits = append(slices.Clone(limits), borrowing(limits)...)
	} else { // it asks others, and none asks it
		limits = slices.DeleteFunc(slices.Clone(limits), func(l probe.Limit) bool { return l.Name == "http_read_timeout" })
	}
	for _, limit := range limits {
		h.waiters = append(h.waiters, indirector.Waiter{Name: limit.Name, Until: now.Add(limit.Left)})
	}
	slices.SortStableFunc(h.waiters, func(a, b indirector.Waiter) int { return a.Until.Compare(b.Until) })
	if text := stopped(&r.Process, all); text != "" {
		h.waiters = append(h.waiters, indirector.Waiter{Name: text})
	}
	return h
}

// borrowing is how long others wait for an instance of a server, unless the probe knows
// that: what jruby-puppet.borrow-timeout is by default.
func borrowing(known []probe.Limit) []probe.Limit {
	if slices.ContainsFunc(known, func(l probe.Limit) bool { return strings.HasPrefix(l.Name, "borrow-timeout") }) {
		return nil
	}
	return []probe.Limit{{Name: "borrow-timeout (not known; by default)", Left: 20 * time.Minute}}
}

// stopped is what stops while a request is held in an instance of a server; "" if that
// is no such process.
func stopped(p *probe.Process, all []probe.Process) string {
	if !p.Server() {
		return ""
	}
	instances, held := 1, 1 // each has a connection of its own
	for i := range all {
		if o := &all[i]; o.PID == p.PID && o.Conn != p.Conn {
			instances++
			held += min(o.Held, 1)
		}
	}
	instances = max(instances, p.Instances)
	switch {
	case p.Instances == 0 && held >= instances:
		return fmt.Sprintf("all JRuby instances that have attached (%d; how many there are is not known)", instances)
	case instances == 1:
		return "the whole server (1 JRuby instance)"
	case held >= instances:
		return fmt.Sprintf("the whole server (%d of %d JRuby instances)", instances, instances)
	}
	return fmt.Sprintf("%d of %d JRuby instances", held, instances)
}

// String is the process.
func (h *home) String() string { return h.process.Title() }

// Plan is made from what the process has announced.
func (h *home) Plan(_ context.Context, st *indirector.State, req *indirector.Request) indirector.Forecast {
	return st.Foresee(req, "not looked into: that lies in "+h.String())
}

// abilities are what a probe must be able to do, by what users want.
var abilities = map[string]string{
	"key": "edit.key", "env": "edit.env", "terminus": "swap", "cache": "swap",
	"value": "value", "nil": "value", "truncate": "value", "corrupt": "value", "skip": "hold", "fail": "fail",
}

// Disabled is what the probe cannot do.
func (h *home) Disabled(what string) string {
	needs := abilities[what]
	switch {
	case traces.ParseFlag(what) != 0:
		needs = "edit.flags"
	case strings.HasPrefix(what, "opt."):
		needs = "edit.options"
	}
	switch {
	case needs != "" && !slices.Contains(h.process.Can, needs):
		return "the probe in " + h.String() + " cannot do that"
	case (what == "truncate" || what == "corrupt") && h.lies:
		return "the answer is not here: it lies in " + h.String()
	}
	return ""
}

// Waiters are who waits for the request, by the limits that the probe knows.
func (h *home) Waiters() []indirector.Waiter { return h.waiters }

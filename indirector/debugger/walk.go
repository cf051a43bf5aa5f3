package debugger

import (
	"context"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// A walk is a request that is stepped through, with its parents and nested
// requests.
type walk struct {
	how    Go
	at     uint64 // the request that was released last
	phase  int    // where that was
	code   int    // how deep that was in a program; -1 between steps
	run    string // whose resource it is; "" if it is none
	depths map[uint64]int
}

// phaseOf groups the steps: before anything is asked, cache, terminus, store,
// filter, caller.
func phaseOf(s traces.Step) int {
	return [traces.StepCount]int{
		traces.CacheRead: 1, traces.Expiry: 1, traces.Terminus: 2,
		traces.ExpirySet: 3, traces.CacheWrite: 3, traces.Filter: 4, traces.Caller: 5,
	}[s]
}

// follow stops the request id again. The caller holds d.mu.
func (d *Debugger) follow(id uint64, how Go, at traces.Step, code *indirector.Code) {
	w := d.walks[id]
	if w == nil {
		w = &walk{depths: map[uint64]int{id: 0}}
		d.walks[id] = w
	}
	w.how, w.at, w.phase, w.code = how, id, phaseOf(at), -1
	if code != nil {
		w.code = code.Depth
	}
	d.arrange()
}

// ancestors adds the parents of a request to its walk, so that stepping out
// leads to them. The caller holds d.mu.
func (d *Debugger) ancestors(h *held) {
	if d.walks[h.id] != nil || h.state.Trace.Parent == 0 {
		return
	}
	w := &walk{depths: map[uint64]int{h.id: 0}}
	d.walks[h.id] = w
	for id, depth := h.state.Trace.Parent, -1; id != 0 && depth > -100; depth-- {
		if d.walks[id] == nil {
			d.walks[id], w.depths[id] = w, depth
		}
		if d.o.Recorder == nil {
			return
		}
		parent, ok := d.o.Recorder.Subject(id)
		if !ok {
			return
		}
		id = parent.Row().Parent
	}
}

// unfollow ends the walk of a request. The caller holds d.mu.
func (d *Debugger) unfollow(id uint64) {
	w := d.walks[id]
	if w == nil {
		return
	}
	for other := range w.depths {
		if d.walks[other] == w {
			delete(d.walks, other)
		}
	}
	d.arrange()
}

// walksTo reports whether a walk stops the request here.
func (d *Debugger) walksTo(s *indirector.Stop) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	id := s.Trace.ID
	w := d.walks[id]
	if w == nil {
		w = d.nextInRun(s.Trace)
	}
	if w == nil {
		parent := s.Trace.Parent
		if w = d.walks[parent]; w == nil || id == 0 || parent == 0 {
			return false
		}
		d.walks[id] = w
		w.depths[id] = w.depths[parent] + 1
		d.arrange()
	}
	switch {
	case s.Code != nil:
		return w.stopsIn(id, s.Code)
	case s.Done:
		return false // the next step stops it
	case w.run != "" && w.code >= 0 && w.how != Finish && w.depths[id] == 0:
		return false // from the steps of one resource to those of the next
	}
	depth, base := w.depths[id], w.depths[w.at]
	switch w.how {
	case Over:
		if id == w.at {
			return phaseOf(s.Point.Step) != w.phase
		}
		return depth <= base
	case Finish:
		if id == w.at {
			return s.Point.Step == traces.Caller
		}
		return depth <= base
	}
	return true
}

// nextInRun begins a walk at the resource of a run that comes next, if the one before was
// stepped through to its end; else it returns nil. The caller holds d.mu.
func (d *Debugger) nextInRun(t *traces.Trace) *walk {
	if t.Parent != 0 || t.ID == 0 || !d.runs[t.Run] {
		return nil
	}
	delete(d.runs, t.Run)
	if runOf(t) == "" { // the report: the run is over
		d.arrange()
		return nil
	}
	d.follow(t.ID, Step, traces.Route, new(indirector.Code))
	d.walks[t.ID].run = t.Run
	return d.walks[t.ID]
}

// runOf is the run of a request that applies a resource; "" if it is none.
func runOf(t *traces.Trace) string {
	if t.Indirection != "resource" || t.Verb != traces.Save || t.Parent != 0 {
		return ""
	}
	return t.Run
}

// wait holds a request until it is released, reaches the hold limit, or is
// cancelled.
func (d *Debugger) wait(ctx context.Context, s *indirector.Stop, t *turn) (indirector.Verdict, error) {
	if s.Trace.ID == 0 { // not recorded: nothing can name it
		return t.verdict(), nil
	}
	h := d.newHeld(ctx, s, t)
	d.mu.Lock()
	if d.off || d.closed || len(d.held) >= d.o.MaxHeld {
		d.mu.Unlock()
		d.notify()
		d.note(ctx, h.by, "not held: too many are, or breakpoints are off")
		return t.verdict(), nil
	}
	d.held[h.id] = h
	d.mu.Unlock()
	if d.o.Recorder != nil {
		d.o.Recorder.SetHeld(h.id, true)
	}
	d.notify()
	_, span := traces.Start(ctx, traces.Held, "held by "+h.by)
	live := traces.FromContext(ctx)
	goOn := live.Hold()
	ended := d.await(ctx, h)
	goOn()
	if d.o.Recorder != nil {
		d.o.Recorder.SetHeld(h.id, false)
	}
	for _, c := range h.draft.changes {
		span.Attr("changed "+c.Name, orNone(c.Was)+" -> "+orNone(c.Is))
	}
	if own := h.draft.since(t.draft); len(own) > 0 && h.err == nil {
		live.Touch("you changed " + join(own) + " " + where(s))
	}
	if h.did != "" {
		live.Touch("you " + h.did + " " + where(s))
	}
	if ended == byItself {
		live.Touch("it went on by itself after " + d.o.HoldLimit.String())
	}
	span.End(ended, traces.Because{Reason: traces.ByYou, About: h.by}, h.err)
	if h.err == nil && h.delay != nil {
		h.delay.touch(ctx, h.delay.done(), s)
		h.err = d.delay(ctx, h.delay)
	}
	h.verdict.Waited = true
	return h.verdict, h.err
}

func where(s *indirector.Stop) string {
	if s.Code != nil {
		return s.Code.String()
	}
	if s.Done {
		return "after " + s.Point.Step.String()
	}
	return "before " + s.Point.Step.String()
}

func (d *Debugger) newHeld(ctx context.Context, s *indirector.Stop, t *turn) *held {
	st := s.Freeze()
	h := &held{
		id: s.Trace.ID, by: t.hold, state: st, since: d.o.Now(), pending: t.out,
		poke: make(chan struct{}, 1), done: make(chan struct{}),
		draft: draft{req: st.Request, value: st.Value}, waiters: st.Home.Waiters(),
	}
	if t.draft != nil {
		h.draft = *t.draft
	}
	if d.o.HoldLimit > 0 {
		h.until = h.since.Add(d.o.HoldLimit)
	}
	if at, ok := ctx.Deadline(); ok {
		h.caller, h.why = at, "the caller's deadline"
	}
	if d.o.Timeout != nil && st.Home.String() == "" {
		if patience, why := d.o.Timeout(&st.Request); patience > 0 {
			if at := st.Trace.Start.Add(patience); h.caller.IsZero() || at.Before(h.caller) {
				h.caller, h.why = at, why
			}
		}
	}
	return h
}

// byItself is how the wait ends when nothing was decided.
const byItself = "went on by itself"

// await returns how the wait ended.
func (d *Debugger) await(ctx context.Context, h *held) string {
	var up <-chan time.Time
	var timer *time.Timer
	if d.o.HoldLimit > 0 {
		timer = time.NewTimer(d.o.HoldLimit)
		defer timer.Stop()
		up = timer.C
	}
	for {
		select {
		case <-h.done:
			if h.err != nil {
				return "aborted"
			}
			return h.how.String()
		case <-h.poke:
			if timer != nil {
				timer.Reset(d.o.HoldLimit)
			}
			continue
		case <-ctx.Done():
			if d.withdraw(h, context.Cause(ctx)) {
				return "cancelled"
			}
		case <-up:
			if d.withdraw(h, nil) {
				return byItself
			}
		}
		<-h.done // released meanwhile
	}
}

// withdraw releases h unless that has been done, which it reports.
func (d *Debugger) withdraw(h *held, err error) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.held[h.id] != h {
		return false
	}
	h.err = err
	d.letGo(h, Continue, h.pending)
	d.notify()
	return true
}

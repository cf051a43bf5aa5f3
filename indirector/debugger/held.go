package debugger

import (
	"context"
	"fmt"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// A Go is how a request goes on.
type Go uint8

// The ways to go on.
const (
	Continue Go = iota // to the next breakpoint
	Step               // to the next step, also of a nested request
	Over               // to the next phase (cache, terminus, store, filter, caller) of this request
	Finish             // to the end of this request, before its caller has the answer
)

var gos = [...]string{"continue", "step", "over", "finish"}

func (g Go) String() string {
	if int(g) < len(gos) {
		return gos[g]
	}
	return fmt.Sprintf("Go(%d)", g)
}

// A held is a request that waits.
type held struct {
	id      uint64
	by      string
	state   *indirector.State
	draft   draft
	since   time.Time
	until   time.Time // zero is no limit
	caller  time.Time // when its caller times out; zero if unknown
	why     string    // source of that time
	waiters []indirector.Waiter
	poke    chan struct{}
	done    chan struct{} // closed when it goes on
	verdict indirector.Verdict
	how     Go
	did     string // what the user decided: "gave an answer"; "" if nothing
	err     error
	pending indirector.Verdict // of other breakpoints at the same stop
	delay   *breakpoint        // to wait for when it goes on; may be nil
}

// A Held is a copy of a request that waits.
type Held struct {
	ID     uint64 // the number of the request
	By     string // "b1", "step"
	Since  time.Time
	Until  time.Time // when it goes on by itself; zero is no limit
	Caller time.Time // when its caller times out; zero if unknown
	Why    string    // source of that time: "http_read_timeout"
	// Waiters are what else waits for a request of another process, the first to give
	// up first.
	Waiters []indirector.Waiter
	// State is the request as it was stopped.
	State   *indirector.State
	Request indirector.Request // with the edits
	Changes []Change           // the edits
}

// Where returns where the request is held.
func (h *Held) Where() Where {
	w := Where{Step: h.State.Point.Step, After: h.State.Done}
	switch at := h.State.Code; {
	case at == nil:
	case at.Kind == indirector.Statement:
		w.Code = Place{Kind: "file", Name: at.File, Line: at.Line}
	default:
		w.Code = Place{Kind: at.Kind, Name: at.Name}
	}
	return w
}

// Disabled returns "" if a field of EditNames, or opt.NAME, can be edited, else the
// reason why not.
func (h *Held) Disabled(name string) string { return disabled(h.State, name) }

// Refused returns "" if the process of the request can do an action, else the reason
// why not.
func (h *Held) Refused(do Do) string { return h.State.Home.Disabled(do.String()) }

func (h *held) public() Held {
	return Held{
		ID: h.id, By: h.by, Since: h.since, Until: h.until, Caller: h.caller, Why: h.why, Waiters: h.waiters,
		State: h.state, Request: h.draft.req, Changes: append([]Change(nil), h.draft.changes...),
	}
}

// Held returns the requests that wait, oldest first.
func (d *Debugger) Held() []Held {
	d.mu.Lock()
	defer d.mu.Unlock()
	all := make([]Held, 0, len(d.held))
	for _, h := range d.sorted() {
		all = append(all, h.public())
	}
	return all
}

// Get returns a held request, or ErrGone.
func (d *Debugger) Get(id uint64) (Held, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, err := d.get(id)
	if err != nil {
		return Held{}, err
	}
	return h.public(), nil
}

func (d *Debugger) get(id uint64) (*held, error) {
	if h := d.held[id]; h != nil {
		return h, nil
	}
	return nil, fmt.Errorf("%s: %w", short(id), ErrGone)
}

// Plan predicts a held request with its edits. It may peek into caches and
// termini, which takes time. The error is ErrGone.
func (d *Debugger) Plan(ctx context.Context, id uint64) (indirector.Forecast, error) {
	h, err := d.Get(id)
	if err != nil {
		return indirector.Forecast{}, err
	}
	return h.State.Plan(ctx, &h.Request), nil
}

// Edit changes an input of a step to come, and restarts the hold limit. The
// error is the reason why it cannot; ErrReadOnly if a value, or anything to be
// written, must not change.
func (d *Debugger) Edit(id uint64, e Edit) (Held, error) {
	if e.Name == "value" {
		if err := d.writes(); err != nil {
			return Held{}, err
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	h, err := d.get(id)
	if err != nil {
		return Held{}, err
	}
	if v := h.state.Request.Verb; v != indirector.Find && v != indirector.Search && v != indirector.Head {
		if err := d.writes(); err != nil {
			return Held{}, err
		}
	}
	next := h.draft
	next.changes = append([]Change(nil), h.draft.changes...)
	if err := next.apply(h.state, e); err != nil {
		return Held{}, err
	}
	h.draft = next
	d.again(h)
	return h.public(), nil
}

// again restarts the hold limit of h. The caller holds d.mu.
func (d *Debugger) again(h *held) {
	if d.o.HoldLimit > 0 {
		h.until = d.o.Now().Add(d.o.HoldLimit)
	}
	select {
	case h.poke <- struct{}{}:
	default:
	}
	d.notify()
}

// AsItWas undoes every edit.
func (d *Debugger) AsItWas(id uint64) (Held, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, err := d.get(id)
	if err != nil {
		return Held{}, err
	}
	h.draft = draft{req: h.state.Request, value: h.state.Value}
	d.again(h)
	return h.public(), nil
}

// Resume releases a request. The error is ErrGone.
func (d *Debugger) Resume(id uint64, how Go) error {
	return d.release(id, how, (*held).asPending)
}

func (h *held) asPending() indirector.Verdict { return h.pending }

// release lets a request go on as decide returns, under d.mu. The error is ErrGone.
func (d *Debugger) release(id uint64, how Go, decide func(*held) indirector.Verdict) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, err := d.get(id)
	if err != nil {
		return err
	}
	d.letGo(h, how, decide(h))
	d.notify()
	return nil
}

// ContinueAll releases every held request and returns their number.
func (d *Debugger) ContinueAll() int { return d.releaseAll((*held).asPending) }

// FailAll fails every held request with text and returns their number.
func (d *Debugger) FailAll(text string) int {
	a := Action{Do: Fail, Text: text}
	return d.releaseAll(func(h *held) indirector.Verdict {
		h.did = a.done()
		return indirector.Verdict{Err: a.Error()}
	})
}

func (d *Debugger) releaseAll(decide func(*held) indirector.Verdict) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.held)
	for _, h := range d.held {
		d.letGo(h, Continue, decide(h))
	}
	d.notify()
	return n
}

// Abort ends a request: its caller gets context.Canceled. The error is ErrGone.
func (d *Debugger) Abort(id uint64) error {
	return d.release(id, Continue, func(h *held) indirector.Verdict {
		h.did = "aborted it"
		h.err = &indirector.Failure{Message: "aborted by you", Origin: "debugger", Err: context.Canceled}
		return indirector.Verdict{}
	})
}

// Inject applies an action once to a held request and releases it. Truncate and
// corrupt wait for the answer; hold and log are refused.
func (d *Debugger) Inject(id uint64, a Action, how Go) error {
	h, err := d.Get(id)
	if err != nil {
		return err
	}
	here := h.Where()
	w := here
	if (a.Do == Truncate || a.Do == Corrupt) && !w.After {
		w = Where{Step: max(w.Step, traces.CacheRead), After: w.Step != traces.Caller}
		if w.Step == traces.Expiry {
			w.Step = traces.Terminus
		}
	}
	b := Breakpoint{Where: w, Action: a}
	if err := b.check(); err != nil {
		return err
	}
	if err := d.mayInvent(a); err != nil {
		return err
	}
	if why := h.Refused(a.Do); why != "" {
		return fmt.Errorf("inject %s: %s", a.Do, why)
	}
	switch {
	case a.Do == Hold || a.Do == Log:
		return fmt.Errorf("inject %s: the request is held already", a.Do)
	case a.Do == Set:
		for _, e := range a.Edits {
			if _, err := d.Edit(id, e); err != nil {
				return err
			}
		}
		return d.Resume(id, how)
	case a.Do == Delay, w != here:
		return d.later(id, b, how)
	}
	v, err := d.verdict(a, "you", &h.Request, h.State.Value, h.State.Done)
	if err != nil {
		return err
	}
	return d.release(id, how, func(h *held) indirector.Verdict {
		h.did = a.done()
		return v
	})
}

// later releases a request to where b acts on it.
func (d *Debugger) later(id uint64, b Breakpoint, how Go) error {
	b.First = 1
	n := newBreakpoint(b, "you")
	n.on, n.only = true, id
	return d.release(id, how, func(h *held) indirector.Verdict {
		if b.Do == Delay {
			h.delay = n
		} else {
			d.breaks = append(d.breaks, n)
			d.arrange()
		}
		return h.pending
	})
}

// HoldNext holds a running request at its next step.
func (d *Debugger) HoldNext(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.off && id != 0 {
		d.follow(id, Step, traces.Route, nil)
	}
}

// letGo releases a held request. The caller holds d.mu.
func (d *Debugger) letGo(h *held, how Go, v indirector.Verdict) {
	if d.held[h.id] != h {
		return
	}
	h.how, h.verdict = how, v
	h.draft.into(&h.verdict)
	delete(d.held, h.id)
	if how == Continue {
		d.unfollow(h.id)
	} else {
		d.ancestors(h)
		d.follow(h.id, how, h.state.Point.Step, h.state.Code)
		if run := runOf(&h.state.Trace); run != "" {
			d.walks[h.id].run = run
		}
	}
	close(h.done)
}

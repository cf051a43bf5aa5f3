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
	Step               // to the next question, also of a request that it asks
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
	until   time.Time // zero is for ever
	caller  time.Time // when its caller gives up; zero if unknown
	why     string    // how that is known
	poke    chan struct{}
	done    chan struct{} // closed when it goes on
	verdict indirector.Verdict
	how     Go
	err     error
	pending indirector.Verdict // of breakpoints that fired at the same stop
	delay   *breakpoint        // waits before it goes on; nil is not at all
}

// A Held is a request that waits, as it is now. It is the caller's.
type Held struct {
	ID     uint64 // the number of the request
	By     string // who holds it: "b1", "step"
	Since  time.Time
	Until  time.Time // when it goes on by itself; zero is never
	Caller time.Time // when its caller gives up; zero if nobody knows
	Why    string    // how that is known: "http_read_timeout"
	// State is the request as it stood when it was stopped. Where it is, is its
	// Point.
	State   *indirector.State
	Request indirector.Request // as it goes on
	Changes []Change           // how that differs
}

// Can reports why a thing of the request cannot be edited: "" if it can. Names
// are those of EditNames, and opt.NAME.
func (h *Held) Can(name string) string { return remaining(h.State, name) }

func (h *held) public() Held {
	return Held{
		ID: h.id, By: h.by, Since: h.since, Until: h.until, Caller: h.caller, Why: h.why,
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

// Get returns a request that waits. The error is ErrGone.
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

// Plan tells what will become of a held request from where it stands, with all
// that was edited. It may look into caches and termini, which takes time. The
// error is ErrGone.
func (d *Debugger) Plan(ctx context.Context, id uint64) (indirector.Forecast, error) {
	h, err := d.Get(id)
	if err != nil {
		return indirector.Forecast{}, err
	}
	return h.State.Plan(ctx, &h.Request), nil
}

// Edit changes a held request: an input of a step that is not done. Its hold
// begins anew. The error says why that cannot be; ErrReadOnly if the value, or
// anything of what would be written, may not be changed.
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

// again lets the hold of h begin anew. The caller holds d.mu.
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

// AsItWas takes back every edit.
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

// Resume lets a request go on. The error is ErrGone.
func (d *Debugger) Resume(id uint64, how Go) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, err := d.get(id)
	if err != nil {
		return err
	}
	d.letGo(h, how, h.pending)
	d.notify()
	return nil
}

// ContinueAll lets every held request go on, and returns how many there were.
func (d *Debugger) ContinueAll() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.held)
	for _, h := range d.held {
		d.letGo(h, Continue, h.pending)
	}
	d.notify()
	return n
}

// FailAll fails every held request with text, and returns how many there were.
func (d *Debugger) FailAll(text string) int {
	d.mu.Lock()
	defer d.mu.Unlock()
	n := len(d.held)
	for _, h := range d.held {
		d.letGo(h, Continue, indirector.Verdict{Err: Action{Do: Fail, Text: text}.Error()})
	}
	d.notify()
	return n
}

// Abort ends a request: its caller gets an error that is context.Canceled. The
// error is ErrGone.
func (d *Debugger) Abort(id uint64) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, err := d.get(id)
	if err != nil {
		return err
	}
	h.err = &indirector.Failure{Message: "aborted by you", Origin: "debugger", Err: context.Canceled}
	d.letGo(h, Continue, indirector.Verdict{})
	d.notify()
	return nil
}

// Inject does something to a held request, once, and lets it go on: it fails,
// is delayed, is answered. What is done to an answer that is not there yet
// (truncate, corrupt) is done when it is; hold and log make no sense here.
func (d *Debugger) Inject(id uint64, a Action, how Go) error {
	h, err := d.Get(id)
	if err != nil {
		return err
	}
	w := Where{Step: h.State.Point.Step, After: h.State.Done}
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
	case a.Do == Delay, w != Where{h.State.Point.Step, h.State.Done}:
		return d.later(id, b, how)
	}
	v, err := d.verdict(a, "you", &h.Request, h.State.Value, h.State.Done)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	now, err := d.get(id)
	if err != nil {
		return err
	}
	d.letGo(now, how, v)
	d.notify()
	return nil
}

// later lets a request go on to where something is to be done to it.
func (d *Debugger) later(id uint64, b Breakpoint, how Go) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	h, err := d.get(id)
	if err != nil {
		return err
	}
	b.First = 1
	n := newBreakpoint(b, "you")
	n.on, n.only = true, id
	if b.Do == Delay {
		h.delay = n
	} else {
		d.breaks = append(d.breaks, n)
		d.arrange()
	}
	d.letGo(h, how, h.pending)
	d.notify()
	return nil
}

// HoldNext holds a running request at the next question.
func (d *Debugger) HoldNext(id uint64) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.off && id != 0 {
		d.follow(id, Step, traces.Route)
	}
}

// letGo decides about a held request. The caller holds d.mu.
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
		d.follow(h.id, how, h.state.Point.Step)
	}
	close(h.done)
}

// Package hold lets the debugger hold requests of other processes.
//
// A request that a probe holds becomes an [indirector.Stop] whose Home is its process,
// and goes through the same debugger as those of this process; what is decided goes
// back to the probe. So breakpoints, actions, steps and edits are the same for both.
//
// The probe stops what it can test without asking, see [Compile]. The debugger tests
// all of the breakpoint then; a request that it does not mean goes on at once.
package hold

import (
	"context"
	"slices"
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/indirector/probe"
	"indirtui/traces"
)

// A Listener reaches the processes: a *probe.Listener.
type Listener interface {
	Arm([]probe.Arm)
	Send(conn string, line any) error
	Swap(probe.Swap)
	Unswap(id int)
	Processes() []probe.Process
	Number(id uint64) (conn string, number uint64, ok bool)
}

// A Holder is the [probe.Holder] of a debugger. It is safe for concurrent use.
type Holder struct {
	d   *debugger.Debugger
	now func() time.Time

	mu    sync.Mutex // guards the fields below
	l     Listener   // nil until Follow
	arms  map[probe.Arm]int
	only  map[walked]int // arms of one request, by what they are
	last  int            // number of the newest arm
	done  map[uint64]*done
	swaps []*swapping
}

// A walked is an arm for one request of one process.
type walked struct {
	conn string
	arm  probe.Arm
}

// done is what was done here to a request that was held.
type done struct {
	held    time.Duration
	touched []string
	spans   []traces.Span
	cancel  context.CancelFunc
	over    chan struct{} // closed when it is not held
}

// New returns a Holder. Now is the clock; nil is time.Now.
func New(d *debugger.Debugger, now func() time.Time) *Holder {
	if now == nil {
		now = time.Now
	}
	return &Holder{d: d, now: now, arms: map[probe.Arm]int{}, only: map[walked]int{}, done: map[uint64]*done{}}
}

// Follow arms the processes of a listener as the debugger is armed, until ctx ends. It
// is called again only when it has returned.
func (h *Holder) Follow(ctx context.Context, l Listener) {
	h.mu.Lock()
	h.l = l
	h.mu.Unlock()
	defer func() {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.l, h.swaps = nil, nil
		clear(h.arms)
		clear(h.only)
	}()
	for {
		h.arm()
		select {
		case <-ctx.Done():
			return
		case <-h.d.Rearmed():
		}
	}
}

// processes are those that are attached.
func (h *Holder) processes() []probe.Process {
	h.mu.Lock()
	l := h.l
	h.mu.Unlock()
	if l == nil {
		return nil
	}
	return slices.DeleteFunc(l.Processes(), func(p probe.Process) bool { return p.Gone })
}

// Held implements [probe.Holder].
func (h *Holder) Held(ctx context.Context, r *probe.Held) probe.Go {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	mine := h.begin(r.Trace, cancel)
	defer close(mine.over)
	live := &traces.Live{Context: ctx, Trace: r.Trace, Now: h.now}
	stop := h.stop(live, r)
	before := len(r.Trace.Spans)
	v, err := h.d.Hold(live, stop)
	if cause := context.Cause(ctx); cause != nil && cause != context.Canceled {
		live.Touch("in " + stop.Home().String() + " " + cause.Error())
	}
	out := answer(stop, v, err)
	out.Do = h.d.Walk(r.Trace.ID).String()
	h.arm() // before it goes on
	h.sendPieces(r, out.Value)
	live.Look(func(t *traces.Trace) {
		h.mu.Lock()
		defer h.mu.Unlock()
		mine.held, mine.touched = t.Held, t.Touched
		mine.spans = append(mine.spans, t.Spans[before:]...)
	})
	return out
}

// begin takes note that a request is held, and adds what was done to it before.
func (h *Holder) begin(t *traces.Trace, cancel context.CancelFunc) *done {
	h.mu.Lock()
	defer h.mu.Unlock()
	mine := h.done[t.ID]
	if mine == nil {
		mine = &done{}
		h.done[t.ID] = mine
	}
	mine.cancel, mine.over = cancel, make(chan struct{})
	mine.into(t)
	return mine
}

// Ended adds to a request that has ended what was done to it here.
func (h *Holder) Ended(t *traces.Trace) {
	h.mu.Lock()
	mine := h.done[t.ID]
	delete(h.done, t.ID)
	h.mu.Unlock()
	if mine != nil {
		mine.cancel()
		<-mine.over
		mine.into(t)
	}
	h.d.Left(t.ID)
}

// into adds to a trace what was done here, in place of what the probe knows of it. The
// numbers of its spans follow those that the probe has given.
func (d *done) into(t *traces.Trace) {
	if t.Held == 0 {
		t.Held, t.Took = d.held, max(t.Took-d.held, 1)
	}
	t.Touched = slices.Clone(d.touched)
	t.Spans = slices.DeleteFunc(t.Spans, func(s traces.Span) bool { return s.Kind == traces.Held })
	last := 0
	for _, s := range t.Spans {
		last = max(last, s.ID)
	}
	for i, s := range d.spans {
		s.ID, s.Parent = last+1+i, 0
		t.Spans = append(t.Spans, s)
	}
}

// arm sends what the debugger is armed with.
func (h *Holder) arm() {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.l == nil {
		return
	}
	all, only := map[probe.Arm]int{}, map[walked]int{}
	for _, armed := range h.d.Armed() {
		if armed.Request == 0 {
			arms, _ := Compile(&armed.Breakpoint)
			for _, a := range arms {
				a.Limit = h.limit()
				all[a] = h.number(h.arms[a])
			}
			continue
		}
		conn, number, ok := h.l.Number(armed.Request)
		if !ok {
			continue // it is one of this process, or has ended
		}
		a := probe.Arm{Do: "hold", Only: number, Nested: armed.Nested, Limit: h.limit()}
		if armed.ID != "" {
			a.Step, a.Done = armed.Where.Step.String(), armed.Where.After
		}
		only[walked{conn, a}] = h.number(h.only[walked{conn, a}])
	}
	h.arms = all
	h.l.Arm(numbered(all))
	h.follow(only)
}

// number returns the number of an arm: the one that it has, or a new one.
func (h *Holder) number(was int) int {
	if was != 0 {
		return was
	}
	h.last++
	return h.last
}

// numbered returns arms in the order of their numbers.
func numbered(arms map[probe.Arm]int) []probe.Arm {
	var all []probe.Arm
	for a, id := range arms {
		a.ID = id
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b probe.Arm) int { return a.ID - b.ID })
	return all
}

// ownArms is what is added to the numbers of arms for one request, so that they are
// none of those that all processes have.
const ownArms = 1 << 20

// follow sends arms for single requests, and takes those back that are gone. What has
// ended takes no lines.
func (h *Holder) follow(only map[walked]int) {
	for w, id := range only {
		if h.only[w] == 0 {
			w.arm.ID = ownArms + id
			_ = h.l.Send(w.conn, w.arm)
		}
	}
	for w, id := range h.only {
		if only[w] == 0 {
			_ = h.l.Send(w.conn, map[string]int{"disarm": ownArms + id})
		}
	}
	h.only = only
}

// limit is after how many milliseconds a request goes on by itself should this program
// have forgotten it: later than it is held here, with what edits and delays add.
func (h *Holder) limit() int64 {
	limit := h.d.HoldLimit()
	if limit < 0 {
		limit = 24 * time.Hour
	}
	return (limit + time.Hour).Milliseconds()
}

var (
	_ indirector.Home = (*home)(nil)
	_ probe.Holder    = (*Holder)(nil)
	_ Listener        = (*probe.Listener)(nil)
)

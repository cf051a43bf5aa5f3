package hold

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"indirtui/indirector/probe"
)

// A Swap is another terminus or cache in other processes, until it is taken back or this
// program goes.
type Swap = probe.Swap

var errAlone = errors.New("no other process is attached")

// A swapping is a swap that was sent, and what processes have answered.
type swapping struct {
	Swap
	waits   int // answers that have not come
	texts   []string
	refused bool
	over    chan struct{} // closed when all have come
}

// Swap lets a slot of an indirection be to, in every process that is attached or will
// be. It returns the number for Await and Undo.
func (h *Holder) Swap(indirection, slot, to string) (id int, err error) {
	all := h.processes()
	if len(all) == 0 {
		return 0, errAlone
	}
	for _, p := range all {
		if !slices.Contains(p.Can, "swap") {
			return 0, fmt.Errorf("swap: the probe in %s cannot do that", p.Title())
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s := h.add(Swap{Ind: indirection, Slot: slot, To: to, For: "process"}, len(all))
	h.l.Swap(s)
	return s.ID, nil
}

// SwapThread is Swap for the thread of a held request alone.
func (h *Holder) SwapThread(request uint64, slot, to string) (id int, err error) {
	held, err := h.d.Get(request)
	if err != nil {
		return 0, err
	}
	of, elsewhere := held.State.Home.(*home)
	if !elsewhere {
		return 0, errors.New("the request runs in this process, whose routes are for all threads")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.l == nil {
		return 0, errAlone
	}
	s := h.add(Swap{Ind: held.State.Request.Indirection, Slot: slot, To: to, For: "thread", Thread: of.thread}, 1)
	return s.ID, h.l.Send(of.process.Conn, s)
}

// add gives a swap its number. The caller holds h.mu.
func (h *Holder) add(s Swap, waits int) Swap {
	h.last++
	s.ID = h.last
	h.swaps = append(h.swaps, &swapping{Swap: s, waits: waits, over: make(chan struct{})})
	return s
}

// Swapped implements [probe.Holder].
func (h *Holder) Swapped(p probe.Process, id int, text string, refused bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.swaps, func(s *swapping) bool { return s.ID == id })
	if i < 0 || h.swaps[i].waits == 0 {
		return
	}
	s := h.swaps[i]
	s.texts, s.refused = append(s.texts, p.Title()+": "+text), s.refused || refused
	if s.waits--; s.waits == 0 {
		close(s.over)
	}
}

// Await returns what the processes have answered, one sentence each, and whether one has
// refused. It waits until all have, or ctx ends.
func (h *Holder) Await(ctx context.Context, id int) (texts []string, refused bool) {
	h.mu.Lock()
	i := slices.IndexFunc(h.swaps, func(s *swapping) bool { return s.ID == id })
	if i < 0 {
		h.mu.Unlock()
		return nil, false
	}
	s := h.swaps[i]
	h.mu.Unlock()
	select {
	case <-s.over:
	case <-ctx.Done():
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(s.texts), s.refused
}

// Swaps returns those in force, the oldest first.
func (h *Holder) Swaps() []Swap {
	h.mu.Lock()
	defer h.mu.Unlock()
	var all []Swap
	for _, s := range h.swaps {
		all = append(all, s.Swap)
	}
	return all
}

// Undo takes a swap back, and reports whether there was one.
func (h *Holder) Undo(id int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.swaps, func(s *swapping) bool { return s.ID == id })
	if i < 0 {
		return false
	}
	h.swaps = slices.Delete(h.swaps, i, i+1)
	h.l.Unswap(id)
	return true
}

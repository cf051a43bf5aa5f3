package hold

import (
	"errors"
	"fmt"
	"slices"

	"indirtui/indirector/probe"
)

// A Swap is another terminus or cache in other processes, until it is undone or this
// program goes.
type Swap = probe.Swap

var errAlone = errors.New("no other process is attached")

// Swap lets a slot of an indirection be to, in every process that is attached or will
// be. What a process refuses is an event of the log. It returns the number for Undo.
func (h *Holder) Swap(indirection, slot, to string) (int, error) {
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
	h.last++
	s := Swap{ID: h.last, Ind: indirection, Slot: slot, To: to, For: "process"}
	h.swaps = append(h.swaps, s)
	h.l.Swap(s)
	return s.ID, nil
}

// SwapThread is Swap for the thread of a held request alone.
func (h *Holder) SwapThread(id uint64, slot, to string) (int, error) {
	held, err := h.d.Get(id)
	if err != nil {
		return 0, err
	}
	of, elsewhere := held.State.Home.(*home)
	if !elsewhere {
		return 0, errors.New("the request runs in this process, whose routes are for all threads")
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.last++
	s := Swap{ID: h.last, Ind: held.State.Request.Indirection, Slot: slot, To: to, For: "thread", Thread: of.thread}
	h.swaps = append(h.swaps, s)
	return s.ID, h.l.Send(of.process.Conn, s)
}

// Swaps returns those in force, the oldest first.
func (h *Holder) Swaps() []Swap {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.swaps)
}

// Undo takes a swap back, and reports whether there was one.
func (h *Holder) Undo(id int) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	i := slices.IndexFunc(h.swaps, func(s Swap) bool { return s.ID == id })
	if i < 0 {
		return false
	}
	h.swaps = slices.Delete(h.swaps, i, i+1)
	h.l.Unswap(id)
	return true
}

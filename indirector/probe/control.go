package probe

import (
	"fmt"
	"slices"
)

// Processes returns what is known of every process, in the order in which they
// came. Those that have gone are kept, up to a limit.
func (l *Listener) Processes() []Process {
	l.mu.Lock()
	all := slices.Clone(l.all)
	l.mu.Unlock()
	out := make([]Process, len(all))
	for i, d := range all {
		out[i] = d.Process()
	}
	return out
}

// Routes returns what a process has announced about its indirections, the newest
// of each, in the order in which they were first announced. What another thread had
// is in its requests.
func (l *Listener) Routes(process string) []Route {
	l.mu.Lock()
	i := slices.IndexFunc(l.all, func(d *decoder) bool { return d.Process().Name == process })
	if i < 0 {
		l.mu.Unlock()
		return nil
	}
	d := l.all[i]
	l.mu.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	var out []Route
	for _, r := range d.table {
		if at := slices.IndexFunc(out, func(o Route) bool { return o.Indirection == r.Indirection }); at >= 0 {
			out[at] = *r
		} else {
			out = append(out, *r)
		}
	}
	return out
}

// Arm replaces the breakpoints of all processes, also of those to come. Those that
// stay are not sent again; Only must be zero.
func (l *Listener) Arm(arms []Arm) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, a := range arms {
		if !slices.Contains(l.arms, a) {
			l.broadcast(a)
		}
	}
	for _, old := range l.arms {
		if !slices.ContainsFunc(arms, func(a Arm) bool { return a.ID == old.ID }) {
			l.broadcast(map[string]int{"disarm": old.ID})
		}
	}
	l.arms = slices.Clone(arms)
}

// Number returns the connection of a request of the store that runs, and its number
// there.
func (l *Listener) Number(id uint64) (conn string, number uint64, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for name, c := range l.conns {
		c.decoder.mu.Lock()
		number, ok = c.running[id]
		c.decoder.mu.Unlock()
		if ok {
			return name, number, true
		}
	}
	return "", 0, false
}

// Swap lets another terminus answer in every process, also in those to come, until
// Unswap or the end of this program.
func (l *Listener) Swap(s Swap) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.swaps = append(l.swaps, s)
	l.broadcast(s)
}

// Unswap takes a swap back.
func (l *Listener) Unswap(id int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.swaps = slices.DeleteFunc(l.swaps, func(s Swap) bool { return s.ID == id })
	l.broadcast(map[string]int{"unswap": id})
}

// Values lets every process render the values of its requests, or not.
func (l *Listener) Values(on bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.values = on
	l.broadcast(map[string]string{"values": map[bool]string{true: "on", false: "off"}[on]})
}

// broadcast sends a line to every process that reads: others get what is in force
// when they do. L.mu is held.
func (l *Listener) broadcast(line any) {
	for _, c := range l.conns {
		if c.reads {
			c.send(line)
		}
	}
}

// Send sends a line to one process, by the name of its connection.
func (l *Listener) Send(conn string, line any) error {
	l.mu.Lock()
	c := l.conns[conn]
	l.mu.Unlock()
	if c == nil {
		return fmt.Errorf("the process of connection %q has gone", conn)
	}
	c.send(line)
	return nil
}

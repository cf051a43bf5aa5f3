package probe

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"indirtui/traces"
)

// An answered is what a process has answered when it was asked for a value.
type answered struct {
	values *traces.Values
	err    error
}

// Open asks a process, by its name, for what a request of it was answered, or has saved:
// its own number counts. Puppet may have let go of that. It waits until ctx ends.
func (l *Listener) Open(ctx context.Context, process string, number uint64) (*traces.Values, error) {
	c := l.named(process)
	if c == nil {
		return nil, errGone
	}
	come := make(chan answered, 1)
	c.decoder.mu.Lock()
	c.wanted[number] = append(c.wanted[number], come)
	c.decoder.mu.Unlock()
	c.send(map[string]uint64{"open": number})
	select {
	case a := <-come:
		return a.values, a.err
	case <-c.ctx.Done():
		return nil, errGone
	case <-ctx.Done():
		c.decoder.mu.Lock()
		c.wanted[number] = slices.DeleteFunc(c.wanted[number], func(w chan answered) bool { return w == come })
		if len(c.wanted[number]) == 0 { // it may never be answered
			delete(c.wanted, number)
		}
		c.decoder.mu.Unlock()
		return nil, fmt.Errorf("%s does not answer: %w", process, ctx.Err())
	}
}

// There reports whether a process, by its name, can be asked.
func (l *Listener) There(process string) bool { return l.named(process) != nil }

// named returns the connection of a process that reads, or nil.
func (l *Listener) named(process string) *conn {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, c := range l.conns {
		if c.reads && c.Process().Name == process {
			return c
		}
	}
	return nil
}

var errNotRendered = errors.New("it could not be rendered in time")

// opened hands over what was asked for, and reports whether it was.
func (d *decoder) opened(number uint64, a answered) bool {
	d.mu.Lock()
	all := d.wanted[number]
	delete(d.wanted, number)
	d.mu.Unlock()
	for _, come := range all {
		come <- a // it has room
	}
	return len(all) > 0
}

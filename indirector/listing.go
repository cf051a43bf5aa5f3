package indirector

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"indirtui/traces"
)

// keptOfListing is how many instances of a search that yields are recorded.
const keptOfListing = 1000

// errStopped reports that the caller of a search that yields takes no more.
var errStopped = errors.New("the caller took no more")

// A listing is a search whose instances go to the caller one by one, each dated
// on its way. Rule IND-SRCH-02.
type listing struct {
	n       int        // how many went to the caller
	first   []Instance // some of them, for the recorder
	at      time.Time  // when they expire
	answer  traces.Answer
	because traces.Because
	stopped error // why the caller takes no more; nil while it does
}

func (l *listing) String() string {
	if l.n == 1 {
		return "1 instance"
	}
	return strconv.Itoa(l.n) + " instances"
}

// newListing returns the request for the terminus.
func (c *call) newListing() *Request {
	c.list = &listing{first: []Instance{}, at: c.now().Add(c.to.ttl())}
	return c.req.Yielding(c.yield)
}

// yield hands one instance to the caller.
func (c *call) yield(inst Instance) error {
	l := c.list
	if l.stopped == nil {
		l.stopped = c.briefly().Err()
	}
	if l.stopped != nil {
		return l.stopped
	}
	inst, l.answer, l.because = c.date(inst, l.at)
	if len(l.first) < keptOfListing {
		l.first = append(l.first, inst)
	}
	l.n++
	if err := c.req.yield()(inst); err != nil {
		l.stopped = fmt.Errorf("%w after %v: %w", errStopped, l, err)
	}
	return l.stopped
}

// yielded answers a search that yields with the number of instances. Those that
// were injected are yielded here.
func (c *call) yielded() error {
	if c.list == nil {
		injected, _ := c.value.([]Instance)
		c.newListing()
		for _, inst := range injected {
			if err := c.yield(inst); err != nil {
				return c.fail(traces.Terminus, err)
			}
		}
	}
	if kept := len(c.list.first); c.list.n > kept && c.x.cfg.Recorder != nil {
		c.live.Note(traces.NoOutcome, fmt.Sprintf("the first %d of %v are recorded", kept, c.list))
	}
	c.resp.Value = c.list.n
	return nil
}

package indirector

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"indirtui/traces"
)

// keptOfListing is how many instances of a search that yields the recorder sees.
const keptOfListing = 1000

// errStopped is that a caller who takes instances as they come took no more.
var errStopped = errors.New("the caller took no more")

// A listing is a search whose instances go to the caller as they come. Rule
// IND-SRCH-02 is kept for each of them on its way.
type listing struct {
	n       int        // how many went to the caller
	first   []Instance // some of them, for the recorder
	at      time.Time  // when they are outdated
	answer  traces.Answer
	because traces.Because
	stopped error // why the caller took no more; nil while it does
}

func (l *listing) String() string {
	if l.n == 1 {
		return "1 instance"
	}
	return strconv.Itoa(l.n) + " instances"
}

// newListing returns the request as the terminus gets it.
func (f *flight) newListing() *Request {
	f.list = &listing{first: []Instance{}, at: f.now().Add(f.x.ttl(f.req.Indirection, f.to.around))}
	return f.req.Yielding(f.yield)
}

// yield hands one instance to the caller.
func (f *flight) yield(inst Instance) error {
	l := f.list
	if l.stopped == nil {
		l.stopped = f.ctx().Err()
	}
	if l.stopped != nil {
		return l.stopped
	}
	inst, l.answer, l.because = f.date(inst, l.at)
	if len(l.first) < keptOfListing {
		l.first = append(l.first, inst)
	}
	l.n++
	if err := f.req.yield()(inst); err != nil {
		l.stopped = fmt.Errorf("%w after %v: %w", errStopped, l, err)
	}
	return l.stopped
}

// yielded is the answer to who took the instances as they came. Those that a
// person injected are still to be taken.
func (f *flight) yielded() error {
	if f.list == nil {
		injected, _ := f.value.([]Instance)
		f.newListing()
		for _, inst := range injected {
			if err := f.yield(inst); err != nil {
				return f.fail(traces.Terminus, err)
			}
		}
	}
	if kept := len(f.list.first); f.list.n > kept && f.x.cfg.Recorder != nil {
		f.live.Note(fmt.Sprintf("the first %d of %v are recorded", kept, f.list))
	}
	f.resp.Value = f.list.n
	return nil
}

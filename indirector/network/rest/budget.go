package rest

import (
	"context"
	"errors"
	"io"
	"net/http"
	"sync"
	"time"
)

// A budget bounds the memory of all bodies that requests hold at the same time,
// as they are and as they were decoded.
type budget struct {
	most int64
	wait time.Duration // for others to give back

	mu    sync.Mutex // guards the fields below
	used  int64
	freed chan struct{} // closed when some is given back; nil if nothing waits
}

// A share is the part of a budget that one request has. It is for one
// goroutine. A nil share has no bounds.
type share struct {
	of   *budget
	ctx  context.Context // of the request: it ends with it, too
	used int64
	err  error // what was refused, a *[Error]
}

// grow takes n more bytes. It waits if others have them, and fails with 503 if
// they keep them. What no budget has room for is too large.
func (s *share) grow(n int64) error {
	if s == nil || n <= 0 {
		return nil
	}
	if s.err != nil {
		return s.err
	}
	b := s.of
	if s.used+n > b.most {
		s.err = refuse(http.StatusRequestEntityTooLarge, RuntimeError, "the body of the request needs more than %d bytes of memory", b.most)
		return s.err
	}
	var timeout <-chan time.Time
	for {
		freed := b.take(n)
		if freed == nil {
			s.used += n
			return nil
		}
		if timeout == nil {
			timer := time.NewTimer(b.wait)
			defer timer.Stop()
			timeout = timer.C
		}
		select {
		case <-freed:
			continue
		case <-s.ctx.Done():
		case <-timeout:
		}
		s.err = &Error{
			Status: http.StatusServiceUnavailable, Kind: RuntimeError, Puppet: true,
			Message: "the bodies of other requests need all the memory there is for them", retry: max(int(b.wait/time.Second), 1),
		}
		return s.err
	}
}

// take takes n bytes and returns nil, or what is closed when some are free.
func (b *budget) take(n int64) <-chan struct{} {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.used+n <= b.most {
		b.used += n
		return nil
	}
	if b.freed == nil {
		b.freed = make(chan struct{})
	}
	return b.freed
}

// end gives everything back.
func (s *share) end() {
	if s.used == 0 {
		return
	}
	b := s.of
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used -= s.used
	s.used = 0
	if b.freed != nil {
		close(b.freed)
		b.freed = nil
	}
}

// A patient body ends when it comes too slowly: it has Stall, and a second for
// each leastRate bytes. Time between two reads does not count. After its end
// there is no time limit: then nothing waits for the client.
type patient struct {
	body   io.ReadCloser
	rc     *http.ResponseController
	ctx    context.Context // of the request
	stall  time.Duration
	share  *share // of the budget, for those who read it into memory
	came   int64
	waited time.Duration
	end    error // of the body; nil if there is more
}

// leastRate is how fast a body must come and an answer be taken, in bytes for
// each second beyond Stall.
const leastRate = 4 << 10

// transfer is how long n bytes may take beyond Stall.
func transfer(n int64) time.Duration { return time.Duration(n) * time.Second / leastRate }

func (p *patient) Read(b []byte) (int, error) {
	start := time.Now()
	left := p.stall + transfer(p.came) - p.waited
	_ = p.rc.SetReadDeadline(earliest(p.ctx, start.Add(min(left, p.stall))))
	n, err := p.body.Read(b)
	p.came += int64(n)
	p.waited += time.Since(start)
	if err != nil {
		p.end = err
		_ = p.rc.SetReadDeadline(time.Time{})
	}
	return n, err
}

// leave limits how long net/http may read what no handler wanted.
func (p *patient) leave() {
	const most = 5 * time.Second
	switch {
	case p.end == nil:
		_ = p.rc.SetReadDeadline(time.Now().Add(most))
	case !errors.Is(p.end, io.EOF):
		_ = p.rc.SetReadDeadline(time.Now())
	}
}

func (p *patient) Close() error { return p.body.Close() }

// earliest returns t, or the end of the request if that is earlier.
func earliest(ctx context.Context, t time.Time) time.Time {
	if end, ok := ctx.Deadline(); ok && end.Before(t) {
		return end
	}
	return t
}

// shareOf returns the share of the request that a body belongs to.
func shareOf(r *http.Request) *share {
	body := r.Body
	if k, ok := body.(*kept); ok {
		body = k.ReadCloser
	}
	if p, ok := body.(*patient); ok {
		return p.share
	}
	return nil
}

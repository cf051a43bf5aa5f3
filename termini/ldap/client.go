package ldap

import (
	"context"
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	ldap "github.com/go-ldap/ldap/v3"
)

// A client keeps one connection, which all requests share. It is safe for
// concurrent use. Rule LDAP-01.
type client struct {
	config *config

	mu     sync.Mutex // guards the fields below, and users and left of links
	kept   *link      // nil if there is none
	dial   *dial      // the connection that is being made; nil if there is none
	closed bool
}

// A link is a connection that is bound.
type link struct {
	conn  *ldap.Conn // nil until it is open
	wire  *wire
	users int
	left  bool // kept no more: the last user closes it
}

// A dial is the making of a connection. One request does it, the others wait for what
// comes of it, so that a server that is down costs all of them the same time.
type dial struct {
	done      chan struct{}
	err       error
	cancelled bool // the request that did it gave up; this is not about the server
}

var errClosed = errors.New("the terminus is closed")

// take returns the connection, made if need be. It must be given back.
func (c *client) take(ctx context.Context) (*link, error) {
	for {
		c.mu.Lock()
		l, d := c.kept, c.dial
		switch {
		case c.closed:
			c.mu.Unlock()
			return nil, errClosed
		case l != nil:
			l.users++
			c.mu.Unlock()
			return l, nil
		case d == nil:
			d = &dial{done: make(chan struct{})}
			c.dial = d
			c.mu.Unlock()
			return c.connect(ctx, d)
		}
		c.mu.Unlock()
		select {
		case <-d.done:
			if d.err != nil && !d.cancelled {
				return nil, d.err
			}
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// connect makes the connection for all who wait for it.
func (c *client) connect(ctx context.Context, d *dial) (*link, error) {
	d.cancelled = true // until it is known
	defer func() {
		c.mu.Lock()
		c.dial = nil
		c.mu.Unlock()
		close(d.done)
	}()
	l, err := c.config.connect(ctx)
	d.err, d.cancelled = err, ctx.Err() != nil
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	closed := c.closed
	if !closed {
		l.users++
		c.kept = l
	}
	c.mu.Unlock()
	if closed {
		l.close()
		return nil, errClosed
	}
	return l, nil
}

// give gives a connection back. One that is broken is not used again; searches that
// are on it go on.
func (c *client) give(l *link, broken bool) {
	c.mu.Lock()
	l.users--
	if broken || c.closed {
		l.left = true
		if c.kept == l {
			c.kept = nil
		}
	}
	last := l.left && l.users == 0
	c.mu.Unlock()
	if last {
		l.close()
	}
}

// close ends the kept connection as soon as it is not used.
func (c *client) close() {
	c.mu.Lock()
	l := c.kept
	c.kept, c.closed = nil, true
	idle := l != nil && l.users == 0
	c.mu.Unlock()
	if idle {
		l.close()
	}
}

func (l *link) close() {
	_ = l.wire.Close() // first: a write that hangs would let the library wait
	if l.conn != nil {
		_ = l.conn.Close()
	}
}

// A wire is a connection whose answers and waits have limits.
type wire struct {
	net.Conn
	limit time.Duration
	room  atomic.Int64 // bytes that may still be read
}

var errFull = errors.New("the answer is too large")

// allow begins a request, whose answer may have so many bytes.
func (w *wire) allow(bytes int64) { w.room.Store(bytes) }

func (w *wire) full() bool { return w.room.Load() <= 0 }

func (w *wire) Read(b []byte) (int, error) {
	if w.full() {
		return 0, errFull
	}
	n, err := w.Conn.Read(b)
	w.room.Add(int64(-n))
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(w.limit)); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

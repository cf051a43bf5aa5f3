package probe

import (
	"bufio"
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"sync"
	"time"

	"indirtui/traces"
)

const (
	maxConnections = 512             // sockets at the same time
	maxProcesses   = 256             // that are remembered, with those that have gone
	firstLine      = 5 * time.Second // until a connection must have named itself
	pingEvery      = time.Second
	writeWithin    = 5 * time.Second // until a process must have read a line
	maxQueued      = 1024            // lines that wait for a process to read them
)

// A Listener takes connections of probes. It is safe for concurrent use.
type Listener struct {
	o      Options
	socket *socket
	ctx    context.Context
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu      sync.Mutex // guards the fields below
	sockets map[net.Conn]bool
	conns   map[string]*conn // by their names
	ins     map[string]net.Conn
	all     []*decoder // in the order in which they came
	pids    map[int]int
	arms    []Arm
	swaps   []Swap
	values  bool
}

// A conn is the pair of connections of one process.
type conn struct {
	*decoder
	out   net.Conn
	lines chan []byte // to the process
	reads bool        // it has been sent what is in force; guarded by Listener.mu
	ctx   context.Context
	end   context.CancelCauseFunc

	mu    sync.Mutex // guards holds
	holds map[uint64]context.CancelCauseFunc
}

// Listen makes the socket and begins to take connections. Close ends that.
func Listen(o Options) (*Listener, error) {
	s, err := listen(o.Path, o.For)
	if err != nil {
		return nil, err
	}
	l := &Listener{
		o: o, socket: s, sockets: map[net.Conn]bool{}, conns: map[string]*conn{}, ins: map[string]net.Conn{}, pids: map[int]int{},
	}
	l.ctx, l.cancel = context.WithCancel(context.Background())
	o.Store.FindAskers(func(p *traces.Traceparent) uint64 {
		k, _ := l.asker(p)
		return k.id
	})
	l.done.Go(l.accept)
	return l, nil
}

// Path is the socket.
func (l *Listener) Path() string { return l.socket.path }

// Close ends all connections and removes the socket. Held requests go on by
// themselves.
func (l *Listener) Close() error {
	l.o.Store.FindAskers(func(*traces.Traceparent) uint64 { return 0 })
	l.cancel()
	err := l.socket.close()
	l.mu.Lock()
	for c := range l.sockets {
		_ = c.Close() // it ends its reader
	}
	l.mu.Unlock()
	l.done.Wait()
	return err
}

func (l *Listener) accept() {
	for {
		c, err := l.socket.accept()
		var refused *refusedError
		switch {
		case errors.As(err, &refused):
			l.problem(err)
			continue
		case errors.Is(err, net.ErrClosed):
			return
		case err != nil: // as too many open files
			l.problem(err)
			select {
			case <-l.ctx.Done():
				return
			case <-time.After(pingEvery):
			}
			continue
		}
		if !l.enter(c) {
			l.problem(fmt.Errorf("more than %d connections: one was refused", maxConnections))
			_ = c.Close()
			continue
		}
		l.done.Go(func() {
			defer l.leave(c)
			if err := l.serve(c); err != nil {
				l.problem(err)
			}
		})
	}
}

// enter counts a connection in, unless there are too many.
func (l *Listener) enter(c net.Conn) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.sockets) >= maxConnections || l.ctx.Err() != nil {
		return false
	}
	l.sockets[c] = true
	return true
}

func (l *Listener) leave(c net.Conn) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.sockets, c)
	_ = c.Close()
}

// problem reports what went wrong with a connection.
func (l *Listener) problem(err error) {
	if l.ctx.Err() == nil {
		l.o.Store.AddEvent("attach: " + err.Error())
		l.o.log().Warn("attach", "err", err)
	}
}

// serve reads the first line of a connection, and what comes after it.
func (l *Listener) serve(c net.Conn) error {
	_ = c.SetReadDeadline(time.Now().Add(firstLine)) // a socket has deadlines
	lines := bufio.NewReaderSize(c, maxLine)
	first, err := readLine(lines)
	if err != nil {
		return fmt.Errorf("a connection did not name itself: %w", err)
	}
	_ = c.SetReadDeadline(time.Time{})
	switch kindOf(first) {
	case "attach":
		return l.attach(c, first, lines)
	case "listen":
		return take(first, func(in *listening) error { return l.listens(in, c, lines) })
	}
	return errors.New("a connection did not begin with a line attach or listen")
}

// readLine returns a line without its end. It is valid until the next.
func readLine(r *bufio.Reader) ([]byte, error) {
	b, err := r.ReadSlice('\n')
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return nil, fmt.Errorf("a line is longer than %d bytes", maxLine)
	case err != nil && len(b) > 0:
		return nil, io.ErrUnexpectedEOF
	case err != nil:
		return nil, err
	}
	return b[:len(b)-1], nil
}

var errGone = errors.New("the process has gone")

// attach reads the lines of a process until it leaves.
func (l *Listener) attach(out net.Conn, first []byte, lines *bufio.Reader) error {
	d, err := newDecoder(&l.o, first)
	if err != nil {
		return err
	}
	c := &conn{decoder: d, out: out, lines: make(chan []byte, maxQueued), holds: map[uint64]context.CancelCauseFunc{}}
	c.ctx, c.end = context.WithCancelCause(l.ctx)
	defer c.end(nil)
	d.asker = l.asker
	d.held = func(h *Held) { l.hold(c, h) }
	d.went = c.went
	if err := l.register(c); err != nil {
		return err
	}
	d.event("attached %s", d.process.Title())
	stop := context.AfterFunc(c.ctx, func() { _ = out.Close() }) // it ends the reading
	defer stop()
	err = l.read(c, lines)
	if cause := context.Cause(c.ctx); cause != nil && cause != context.Canceled {
		err = cause
	}
	l.mu.Lock()
	delete(l.conns, d.process.Conn)
	l.mu.Unlock()
	c.end(errGone)
	d.leave(err)
	return nil // leave has reported it
}

// settleEvery is after how many lines it is looked whether the Store is behind.
const settleEvery = 16

// read reads lines until there are no more. A Store that is behind lets it wait: the
// probe has room for some lines, and counts what it has to drop. The end of a connection between two
// lines is no error, nor is that of this program.
func (l *Listener) read(c *conn, lines *bufio.Reader) error {
	for n := 2; ; n++ {
		if n%settleEvery == 0 {
			l.o.Store.Settle()
		}
		b, err := readLine(lines)
		switch {
		case err == io.EOF || l.ctx.Err() != nil:
			return nil
		case errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, net.ErrClosed):
			return nil // it was killed while it wrote
		case err == nil:
			err = c.line(b)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
}

// register gives a process its name, and its other connection if that came first.
func (l *Listener) register(c *conn) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	p := &c.process // which others do not know yet
	if l.conns[p.Conn] != nil {
		return fmt.Errorf("two connections have the name %s", p.Conn)
	}
	l.conns[p.Conn] = c
	l.pids[p.PID]++
	c.nth = l.pids[p.PID]
	p.Name = p.name(c.nth)
	if l.all = append(l.all, c.decoder); len(l.all) > maxProcesses {
		if i := slices.IndexFunc(l.all, func(d *decoder) bool { return d.Process().Gone }); i >= 0 {
			l.all = slices.Delete(l.all, i, i+1)
		}
	}
	if in := l.ins[p.Conn]; in != nil {
		delete(l.ins, p.Conn)
		l.speak(c, in)
	}
	return nil
}

// listens joins the connection that a process reads with the one that it writes, and
// waits for its end.
func (l *Listener) listens(in *listening, c net.Conn, lines *bufio.Reader) error {
	l.mu.Lock()
	of := l.conns[in.Conn]
	switch {
	case of != nil:
		l.speak(of, c)
	case l.ins[in.Conn] != nil || len(in.Conn) != 32:
		l.mu.Unlock()
		return fmt.Errorf("a connection to be read has the name %.40q, which is no name of one that waits", in.Conn)
	default:
		l.ins[in.Conn] = c
		_ = c.SetReadDeadline(time.Now().Add(firstLine)) // until the other one has come
	}
	l.mu.Unlock()
	_, err := lines.ReadByte() // it writes nothing more
	l.mu.Lock()
	waited := l.ins[in.Conn] == c
	if waited {
		delete(l.ins, in.Conn)
	}
	of = l.conns[in.Conn]
	l.mu.Unlock()
	switch {
	case waited && l.ctx.Err() == nil:
		return fmt.Errorf("a connection to be read named %q, and no process came with that name", in.Conn)
	case err == nil && of != nil:
		of.end(errors.New("it wrote to the connection that it reads"))
	}
	return nil
}

// speak begins to write to a process: what is in force, and then pings. L.mu is
// held.
func (l *Listener) speak(c *conn, in net.Conn) {
	_ = in.SetReadDeadline(time.Time{})
	c.reads = true
	var first []any
	for i := range l.arms {
		first = append(first, &l.arms[i])
	}
	for i := range l.swaps {
		first = append(first, &l.swaps[i])
	}
	if l.values {
		first = append(first, map[string]string{"values": "on"})
	}
	for _, line := range first {
		c.send(line)
	}
	l.done.Go(func() { c.write(in) })
}

// ping means that this program is there.
var ping = []byte(`{"ping":1}` + "\n")

// write writes lines to a process until that ends.
func (c *conn) write(in net.Conn) {
	defer in.Close()
	tick := time.NewTicker(pingEvery)
	defer tick.Stop()
	for begun := false; ; {
		line := c.next(begun, tick.C)
		if line == nil {
			return
		}
		begun = begun || bytes.Equal(line, ping)
		_ = in.SetWriteDeadline(time.Now().Add(writeWithin))
		switch _, err := in.Write(line); {
		case errors.Is(err, os.ErrDeadlineExceeded):
			c.end(fmt.Errorf("it does not read what is sent to it for %s", writeWithin))
			return
		case err != nil:
			return // it ends, and its last lines may wait to be read
		}
	}
}

// next waits for the next line; nil is that the process has gone. The first ping
// follows what is in force.
func (c *conn) next(begun bool, tick <-chan time.Time) []byte {
	if !begun {
		select {
		case line := <-c.lines:
			return line
		default:
			return ping
		}
	}
	select {
	case line := <-c.lines:
		return line
	case <-tick:
		return ping
	case <-c.ctx.Done():
		return nil
	}
}

// send queues a line for a process. One that does not read is ended.
func (c *conn) send(line any) {
	b, err := json.Marshal(line)
	if err != nil {
		c.end(fmt.Errorf("write a line: %w", err))
		return
	}
	select {
	case c.lines <- append(b, '\n'):
	default:
		c.end(fmt.Errorf("%d lines wait for it to be read", maxQueued))
	}
}

// hold lets the Holder decide about a request.
func (l *Listener) hold(c *conn, h *Held) {
	if l.o.Holder == nil {
		c.send(Go{Number: h.Number, Do: "continue"})
		return
	}
	ctx, cancel := context.WithCancelCause(c.ctx)
	c.mu.Lock()
	c.holds[h.Number] = cancel
	c.mu.Unlock()
	l.done.Go(func() {
		defer cancel(nil)
		verdict := l.o.Holder.Held(ctx, h)
		if ctx.Err() == nil {
			verdict.Number = h.Number
			c.send(verdict)
		}
	})
}

// went ends the wait for a decision.
func (c *conn) went(number uint64, why error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if cancel := c.holds[number]; cancel != nil {
		cancel(why)
		delete(c.holds, number)
	}
}

// asker returns what is known of the request that sent a traceparent: its trace is
// the name of the connection, its span the number of the request and of the
// exchange.
func (l *Listener) asker(p *traces.Traceparent) (k known, ok bool) {
	l.mu.Lock()
	i := slices.IndexFunc(l.all, func(d *decoder) bool { return d.conn == p.Trace })
	var d *decoder
	if i >= 0 {
		d = l.all[i]
	}
	l.mu.Unlock()
	if d == nil {
		return known{}, false
	}
	return d.sent(binary.BigEndian.Uint64(p.Span[:]))
}

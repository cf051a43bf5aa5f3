package rest

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"syscall"

	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// Coded are contents from the network that can be passed on encoded.
type coded interface {
	model.Contents
	// OpenCoded opens the contents; the coding is "" for none, the size negative
	// if unknown.
	OpenCoded() (r io.ReadCloser, coding string, size int64, err error)
	// Decode returns what r encodes.
	Decode(r io.Reader) (io.Reader, error)
}

// A source is where contents are read.
type source struct {
	io.ReadCloser
	size   int64                              // of what is read; negative if unknown
	handed bool                               // headers and encoding are the other server's
	coding string                             // "" is none
	decode func(io.Reader) (io.Reader, error) // nil without a coding
	whole  model.Bytes                        // the contents, if all are in memory
}

// source opens contents. Those from the network stay encoded.
func (c *call) source(contents model.Contents) (source, error) {
	if w := c.wants.Wire; w != nil && w.Status/100 == 2 {
		switch x := contents.(type) {
		case coded:
			r, coding, size, err := x.OpenCoded()
			from := source{ReadCloser: r, size: size, handed: true, coding: coding}
			if coding != "" {
				from.decode = x.Decode
			}
			return from, err
		case model.Bytes:
			if len(x) != len(w.Body) || len(x) > 0 && &x[0] != &w.Body[0] {
				break
			}
			came, coding := []byte(x), ""
			if w.Coded != nil {
				came, coding = w.Coded, http.Header(w.Header).Get("Content-Encoding")
			}
			return source{ReadCloser: io.NopCloser(bytes.NewReader(came)), size: int64(len(came)), handed: true, coding: coding, whole: x}, nil
		}
	}
	r, err := contents.Open()
	if errors.Is(err, syscall.EISDIR) {
		// Java reads nothing from a directory, where Ruby raises. Capture 101.
		return source{ReadCloser: http.NoBody}, nil
	}
	if err != nil {
		return source{}, err
	}
	size := contents.Size()
	if file, ok := r.(*os.File); ok {
		if info, err := file.Stat(); err == nil && info.Mode().IsRegular() {
			size = info.Size() // of the open file, not of the former one
		}
	}
	return source{ReadCloser: r, size: size}, nil
}

// stream sends contents in constant memory. The trace gets size and digest. If
// they do not arrive, the call is broken.
func (c *call) stream(ctx context.Context, contents model.Contents, f *format.Format) error {
	from, err := c.source(contents)
	if err != nil {
		c.write(asError(err))
		return err
	}
	defer from.Close()
	flow := watch(ctx, &from)
	var to io.Writer = c.out()
	switch {
	case from.handed:
		c.passOn(c.wants.Wire)
		if err = c.gather(func() error { return flow.copy(to) }); err == nil {
			c.endPassed()
		}
	case c.answer(f, from.size):
		c.commit(http.StatusOK)
		z := zip(to)
		err = errors.Join(flow.copy(z), z.Close())
		zips.Put(z)
	default:
		c.commit(http.StatusOK)
		err = c.gather(func() error { return flow.copy(to) })
	}
	if err != nil {
		c.broken = true
		err = &Error{Status: 499, Message: fmt.Sprintf("the contents broke off: %v", err), as: nothing}
	}
	flow.end(err)
	return err
}

// gather lets write write larger pieces, if the listener can.
func (c *call) gather(write func() error) error {
	if g, ok := c.w.(interface{ Gather(func() error) error }); ok {
		return g.Gather(write)
	}
	return write()
}

// A sending is contents on their way, counted and hashed for the trace.
type sending struct {
	from *source
	span *traces.Active // nil without a recorder
	n    int64          // bytes sent
	sum  []byte         // sha256; nil without a recorder, or if undecodable
}

func watch(ctx context.Context, from *source) *sending {
	f := &sending{from: from}
	_, f.span = traces.Start(ctx, traces.Stream, "send contents")
	return f
}

// copy sends the contents.
func (f *sending) copy(to io.Writer) error {
	if f.span == nil || f.from.whole != nil {
		b := pieces.Get().(*[pieceSize]byte)
		defer pieces.Put(b)
		err := f.each(to, func([]byte) []byte { return b[:] })
		if f.span != nil && err == nil {
			sum := sha256.Sum256(f.from.whole)
			f.sum = sum[:]
		}
		return err
	}
	d := newDigester(f.from.decode)
	err := f.each(to, d.add)
	f.sum = d.end()
	return err
}

// each sends the contents as they are read. It passes what was sent to full
// when a buffer is full, and at the end; full returns the next buffer.
func (f *sending) each(to io.Writer, full func([]byte) []byte) error {
	left, b, filled := f.from.size, full(nil), 0
	defer func() { full(b[:filled]) }()
	for left != 0 {
		free := b[filled:]
		if left > 0 {
			free = free[:min(left, int64(len(free)))]
		}
		n, err := f.from.Read(free)
		if n > 0 {
			sent, err := to.Write(free[:n])
			f.n += int64(sent)
			if err != nil {
				return err
			}
			if left > 0 {
				left -= int64(n)
			}
			if now, ok := to.(limited); ok && n < small && left != 0 {
				now.flush()
			}
			if filled += n; filled == len(b) {
				b, filled = full(b), 0
			}
		}
		switch {
		case errors.Is(err, io.EOF) && left <= 0:
			return nil
		case errors.Is(err, io.EOF):
			return errors.New("the file became shorter while it was sent")
		case err != nil:
			return err
		}
	}
	return nil
}

func (f *sending) end(err error) {
	if f.span == nil {
		return
	}
	answer := strconv.FormatInt(f.n, 10) + " bytes"
	if err != nil && f.from.size >= 0 {
		answer = fmt.Sprintf("abandoned at %d of %d bytes", f.n, f.from.size)
	} else if err == nil && f.sum != nil {
		f.span.Attr("sha256", hex.EncodeToString(f.sum))
	}
	if f.from.coding != "" {
		f.span.Attr("encoding", f.from.coding)
	}
	f.span.End(answer, traces.Because{}, err)
}

// pieceSize is how much is read and hashed at once, in bytes.
const pieceSize = 64 << 10

// small is how little is sent at once, in bytes: net/http holds that much back,
// and a slow source sends little.
const small = 4 << 10

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// A digester hashes contents on a goroutine of its own, at most its buffers
// behind.
type digester struct {
	all  [3]*[pieceSize]byte
	free chan []byte
	full chan []byte
	sum  chan []byte // one, after all is hashed; nil if undecodable
}

// newDigester returns one that decodes first, unless decode is nil.
func newDigester(decode func(io.Reader) (io.Reader, error)) *digester {
	d := new(digester)
	d.free, d.full, d.sum = make(chan []byte, len(d.all)), make(chan []byte, len(d.all)), make(chan []byte, 1)
	for i := range d.all {
		d.all[i] = pieces.Get().(*[pieceSize]byte)
		d.free <- d.all[i][:]
	}
	go d.run(decode)
	return d
}

// add passes on a piece, which must not change any more, and returns a buffer
// for the next one.
func (d *digester) add(b []byte) []byte {
	if len(b) > 0 {
		d.full <- b
	}
	return <-d.free
}

// end waits for the digest; nil if there is none.
func (d *digester) end() []byte {
	close(d.full)
	sum := <-d.sum
	for _, b := range d.all {
		pieces.Put(b)
	}
	return sum
}

func (d *digester) run(decode func(io.Reader) (io.Reader, error)) {
	h := sha256.New()
	if decode == nil {
		for b := range d.full {
			h.Write(b)
			d.free <- b[:cap(b)]
		}
		d.sum <- h.Sum(nil)
		return
	}
	came := &arrived{d: d}
	plain, err := decode(came)
	if err == nil {
		_, err = io.Copy(h, plain)
	}
	_, _ = io.Copy(io.Discard, came) // it never fails
	if err != nil {
		d.sum <- nil
		return
	}
	d.sum <- h.Sum(nil)
}

// Arrived reads the pieces of a digester.
type arrived struct {
	d           *digester
	piece, rest []byte
}

func (a *arrived) Read(p []byte) (int, error) {
	for len(a.rest) == 0 {
		if a.piece != nil {
			a.d.free <- a.piece[:cap(a.piece)]
			a.piece = nil
		}
		b, more := <-a.d.full
		if !more {
			return 0, io.EOF
		}
		a.piece, a.rest = b, b
	}
	n := copy(p, a.rest)
	a.rest = a.rest[n:]
	return n, nil
}

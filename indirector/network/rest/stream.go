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

// Coded are contents that came over the network, and can be handed on in the
// encoding in which they come.
type coded interface {
	model.Contents
	// OpenCoded opens what comes, and says in which encoding it is, "" if in none,
	// and how long, negative if nobody knows.
	OpenCoded() (r io.ReadCloser, coding string, size int64, err error)
	// Decode returns what r encodes.
	Decode(r io.Reader) (io.Reader, error)
}

// A source is where contents come from.
type source struct {
	io.ReadCloser
	size   int64                              // of what is read; negative if nobody knows
	handed bool                               // headers and encoding are those of another server
	coding string                             // in which it comes; "" is none
	decode func(io.Reader) (io.Reader, error) // nil without a coding
	whole  model.Bytes                        // the contents, where all of them are here; nil if not
}

// source opens contents. What came over the network is handed on as it came.
func (c *call) source(contents model.Contents) (source, error) {
	if w := c.wants.Wire; w != nil && w.Status == http.StatusOK {
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
			size = info.Size() // of what is open, not of what was there
		}
	}
	return source{ReadCloser: r, size: size}, nil
}

// stream answers with contents, in constant memory. The trace gets their size
// and digest. If they do not arrive, the call is broken.
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
		h := c.handOn(c.wants.Wire)
		if from.coding != "" {
			h["Content-Encoding"] = c.wants.Wire.Header["Content-Encoding"]
		}
		if from.size >= 0 {
			h["Content-Length"] = []string{strconv.FormatInt(from.size, 10)}
		}
		c.commit(http.StatusOK)
		err = c.gather(func() error { return flow.copy(to) })
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

// gather lets what write writes go out in larger pieces, if the listener can.
func (c *call) gather(write func() error) error {
	if g, ok := c.w.(interface{ Gather(func() error) error }); ok {
		return g.Gather(write)
	}
	return write()
}

// A sending is contents on their way, counted and hashed for the trace.
type sending struct {
	from *source
	span *traces.Active // nil if nobody records
	n    int64          // bytes that went on
	sum  []byte         // sha256 of the contents; nil if nobody records, or they cannot be decoded
}

func watch(ctx context.Context, from *source) *sending {
	f := &sending{from: from}
	_, f.span = traces.Start(ctx, traces.Stream, "send contents")
	return f
}

// copy sends the contents on.
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

// each sends the contents on as they are read. It gives what has been sent to
// full when a buffer is full, and at the end; full returns another buffer.
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

// pieceSize is how much is read at once, and hashed at once, in bytes.
const pieceSize = 64 << 10

// small is how little must have come to be sent at once, in bytes: the web server
// keeps that much back, and who sends little sends slowly.
const small = 4 << 10

var pieces = sync.Pool{New: func() any { return new([pieceSize]byte) }}

// A digester hashes contents beside their way, on a goroutine of its own: what
// is hashed need not be waited for. It never falls behind by more than it has
// buffers.
type digester struct {
	all  [3]*[pieceSize]byte
	free chan []byte
	full chan []byte
	sum  chan []byte // one, when all was hashed; nil if it cannot be decoded
}

// newDigester returns one that takes what comes out of its encoding; a nil
// decode is none.
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

// add gives a piece to be hashed, which nobody may write to any longer, and
// returns a buffer for the next one.
func (d *digester) add(b []byte) []byte {
	if len(b) > 0 {
		d.full <- b
	}
	return <-d.free
}

// end waits until all is hashed, and returns the digest; nil if there is none.
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

// Arrived reads what a digester was given.
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

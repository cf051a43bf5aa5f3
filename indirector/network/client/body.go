package client

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
)

// A body reads the body of an answer.
type body struct {
	client     *Client
	began, ctx context.Context
	x          *Exchange
	to         target
	clock      *clock
	watch      *watch
	proxy      *url.URL
	wire       io.ReadCloser
	expected   int64 // bytes on the wire; negative if unknown
	header     http.Header
	came       int64 // bytes on the wire so far
	decoded    bool
	from       io.Reader // wire, or what it decodes to
	held       bool      // streaming: the caller's time between reads does not count
}

// Read reads from the wire and keeps the watch informed.
func (b *body) Read(p []byte) (int, error) {
	if b.held {
		b.watch.move()
	}
	n, err := b.wire.Read(p)
	b.came += int64(n)
	if b.held {
		b.watch.pause()
	} else {
		b.watch.move()
	}
	return n, err
}

// coding returns "gzip" or "deflate", or "" if the body is not encoded.
func (b *body) coding() string {
	if b.x.Verbatim || b.x.Method == http.MethodHead {
		return ""
	}
	switch coding := strings.ToLower(strings.TrimSpace(b.header.Get("Content-Encoding"))); coding {
	case "gzip", "x-gzip", "deflate":
		return coding
	}
	return ""
}

// open decodes the body, reading it from r.
func (b *body) open(r io.Reader) error {
	b.from = r
	if b.coding() == "" {
		return nil
	}
	from, err := Decode(r)
	if err == nil {
		b.from, b.decoded = from, true
	}
	return err
}

// Decode returns what r encodes in gzip or deflate. Like Ruby it looks at the
// bytes, not at the name. Empty input is no error.
func Decode(r io.Reader) (io.Reader, error) {
	buffered := bufio.NewReader(r)
	head, err := buffered.Peek(2)
	switch {
	case len(head) == 0 && err == io.EOF:
		return buffered, nil
	case len(head) == 2 && head[0] == 0x1f && head[1] == 0x8b:
		return gzip.NewReader(buffered)
	case len(head) == 2 && head[0]&0x0f == 8 && (uint(head[0])<<8|uint(head[1]))%31 == 0:
		return zlib.NewReader(buffered)
	case err != nil && err != io.EOF:
		return nil, err
	}
	return nil, errors.New("incorrect header check")
}

// all reads the whole body. One that is too long fails if it is of a success,
// and is cut off otherwise.
func (b *body) all(success bool) ([]byte, error) {
	defer b.watch.end()
	defer b.wire.Close()
	limit := b.x.Limit
	if limit <= 0 {
		limit = maxBody
	}
	if !success && b.x.Target == "" {
		limit = min(limit, maxErrorBody)
	}
	var from io.Reader = b
	if w := b.x.Wire; w != nil && w.KeepBody && b.coding() != "" {
		coded, err := io.ReadAll(io.LimitReader(b, limit+1))
		if err != nil {
			return nil, b.failed(err)
		}
		if int64(len(coded)) <= limit { // also if it cannot be decoded
			w.Coded, w.Kept = coded, true
		}
		from = bytes.NewReader(coded)
	}
	if err := b.open(from); err != nil {
		return nil, b.failed(err)
	}
	var buffer bytes.Buffer
	if b.expected > 0 && !b.decoded {
		buffer.Grow(int(min(b.expected, limit, 1<<20)) + bytes.MinRead)
	}
	n, err := buffer.ReadFrom(io.LimitReader(b.from, limit))
	if err != nil {
		return nil, b.failed(err)
	}
	if n == limit {
		var one [1]byte
		more, err := io.ReadFull(b.from, one[:])
		switch {
		case more > 0 && success:
			return nil, b.failed(tooLong(limit))
		case more == 0 && err != io.EOF:
			return nil, b.failed(err)
		}
	}
	return buffer.Bytes(), nil
}

type tooLong int64

func (n tooLong) Error() string {
	return fmt.Sprintf("the answer is longer than %d bytes", int64(n))
}

func (b *body) failed(err error) error {
	return b.client.failed(b.began, b.ctx, b.x, b.to, b.clock, b.proxy, &readError{err, b.came, b.expected})
}

// A readError reports a body that broke off.
type readError struct {
	err            error
	came, expected int64
}

func (e *readError) Error() string { return e.err.Error() }
func (e *readError) Unwrap() error { return e.err }

// stream passes the body to the caller.
func (b *body) stream() (io.ReadCloser, int64, error) {
	err := error(nil)
	if b.from = b; !b.x.Coded {
		err = b.open(b)
	}
	if err != nil {
		err = b.failed(err)
		b.watch.end()
		b.wire.Close()
		return nil, 0, err
	}
	b.held = true
	b.watch.pause()
	size := b.expected
	if b.decoded {
		size = -1
	}
	return &stream{b}, size, nil
}

// A stream is a body that the caller reads.
type stream struct{ b *body }

func (s *stream) Read(p []byte) (int, error) {
	n, err := s.b.from.Read(p)
	if err != nil && err != io.EOF {
		err = s.b.failed(err)
	}
	return n, err
}

// Close ends the exchange. An unread rest costs the connection.
func (s *stream) Close() error {
	err := s.b.wire.Close()
	s.b.watch.end()
	return err
}

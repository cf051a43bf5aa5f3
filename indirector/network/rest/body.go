package rest

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"
)

// checkPath refuses paths that no key may have, in any encoding: r.URL.Path is
// decoded.
func checkPath(path string) error {
	switch {
	case !strings.HasPrefix(path, "/"):
		return refuse(http.StatusBadRequest, RuntimeError, "the path %q does not begin with a slash", path)
	case !utf8.ValidString(path):
		return refuse(http.StatusBadRequest, RuntimeError, "the path %q is not UTF-8", path)
	case strings.IndexByte(path, 0) >= 0:
		return refuse(http.StatusBadRequest, RuntimeError, "the path %q holds a NUL", path)
	case relative(path):
		return &Error{Status: http.StatusBadRequest, Message: msgRelative + path, as: bareText}
	}
	return nil
}

// relative reports whether a segment of the path is "." or "..".
func relative(path string) bool {
	for rest := path; rest != ""; {
		var s string
		s, rest, _ = strings.Cut(rest, "/")
		if s == "." || s == ".." {
			return true
		}
	}
	return false
}

// spare is left free behind a body, for the JSON reader.
const spare = 8

// readBody returns a body of at most limit bytes; 0 is missing. Memory grows
// with what arrives, not with Content-Length.
func readBody(r *http.Request, limit, missing int64) ([]byte, error) {
	limit = cmp.Or(limit, missing)
	tooLarge := refuse(http.StatusRequestEntityTooLarge, RuntimeError, "the body of the request is larger than %d bytes", limit)
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	size := min(max(r.ContentLength, 512), 16<<10)
	b := make([]byte, 0, size+spare)
	if r.Body == nil {
		return b, nil
	}
	held, copies := shareOf(r), int64(1)
	twice, _ := r.Body.(*kept)
	if twice != nil {
		copies = 2
	}
	if err := held.grow(copies * size); err != nil {
		return nil, err
	}
	for {
		if len(b)+spare >= cap(b) {
			size := 2 * int64(cap(b))
			if rest := r.ContentLength - int64(len(b)); rest >= 0 {
				size = min(size, r.ContentLength+512)
			}
			if err := held.grow(copies * (size + spare - int64(cap(b)))); err != nil {
				return nil, err
			}
			if twice != nil {
				twice.read = slices.Grow(twice.read, int(size)-len(twice.read))
			}
			grown := make([]byte, len(b), size+spare)
			copy(grown, b)
			b = grown
		}
		n, err := r.Body.Read(b[len(b) : cap(b)-spare])
		b = b[:len(b)+n]
		switch {
		case int64(len(b)) > limit:
			return nil, tooLarge
		case errors.Is(err, io.EOF):
			return b, nil
		case err != nil:
			return nil, unreadable(err)
		}
	}
}

// unreadable reports a body that ends too early. It hides io.ErrUnexpectedEOF,
// which some readers take for an end.
func unreadable(err error) error {
	if e := (*http.MaxBytesError)(nil); errors.As(err, &e) {
		return refuse(http.StatusRequestEntityTooLarge, RuntimeError, "the body of the request is larger than %d bytes", e.Limit)
	}
	return refuse(http.StatusBadRequest, RuntimeError, msgBadBody, fmt.Sprintf("it ended early: %v", err))
}

// A stream is a request body as contents, to be opened once, while the request
// is answered.
type stream struct {
	size int64

	mu   sync.Mutex // guards body
	body io.ReadCloser
}

func newStream(r *http.Request) *stream {
	if r.Body == nil {
		return &stream{body: http.NoBody}
	}
	return &stream{body: r.Body, size: r.ContentLength}
}

// Open returns the body, once.
func (s *stream) Open() (io.ReadCloser, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.body == nil {
		return nil, errors.New("the body of the request has been read already")
	}
	body := s.body
	s.body = nil
	return &flow{body}, nil
}

// Size is the Content-Length; -1 if unknown.
func (s *stream) Size() int64 { return s.size }

// end gives the body back to the server.
func (s *stream) end() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.body = nil
}

// A flow reads a stream.
type flow struct{ body io.Reader }

// Read reads from the body. An early end is an error.
func (f *flow) Read(b []byte) (int, error) {
	n, err := f.body.Read(b)
	if err != nil && !errors.Is(err, io.EOF) {
		err = unreadable(err)
	}
	return n, err
}

// Close leaves the body to the server.
func (f *flow) Close() error { return nil }

package rest

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httputil"
	"net/textproto"
	"slices"
	"strings"

	"indirtui/indirector"
)

// ofOneConnection are the headers that concern one connection, besides those
// that Connection names. The length is written anew with the body.
var ofOneConnection = []string{
	"Connection", "Keep-Alive", "Proxy-Authenticate", "Proxy-Authorization", "Proxy-Connection", "Te", "Trailer", "Transfer-Encoding", "Upgrade",
}

// ofClients are the headers by which a client might pretend to be another.
var ofClients = []string{"X-Client-Verify", "X-Client-Dn", "X-Client-Cert", "X-Forwarded-For"}

// Onward returns the request as it came, without what concerns one connection,
// the length, and headers by which a client might pretend to be another. The
// body is read from body, once.
func Onward(r *http.Request, body io.ReadCloser) *indirector.Came {
	came := &indirector.Came{Method: r.Method, Target: r.RequestURI, Trailer: r.Trailer, Size: r.ContentLength, Chunked: r.ContentLength < 0}
	if came.Target == "" {
		came.Target = r.URL.RequestURI()
	}
	h := connectionless(r.Header)
	for _, name := range ofClients {
		delete(h, name)
	}
	_, sized := r.Header["Content-Length"]
	delete(h, "Content-Length")
	came.Header = h
	if sized || came.Chunked {
		came.Body = func() (io.ReadCloser, error) { return body, nil }
	}
	return came
}

// connectionless copies headers without those of one connection.
func connectionless(from http.Header) http.Header {
	h := make(http.Header, len(from))
	maps.Copy(h, from)
	for _, line := range from["Connection"] {
		for name := range strings.SplitSeq(line, ",") {
			delete(h, textproto.CanonicalMIMEHeaderKey(strings.TrimSpace(name)))
		}
	}
	for _, name := range ofOneConnection {
		delete(h, name)
	}
	return h
}

// A Passed is an answer that is passed on as it came from another server.
type Passed struct {
	Status          int
	Reason          string      // the phrase after the status
	Header, Trailer http.Header // Trailer is complete when the body was written
	Chunked         bool        // the body came in chunks
}

// Begin writes status and headers, and returns the writer of the body. Close
// ends the body; one that is not closed looks broken off. Of what the server
// sent, headers of one connection are missing and nothing is added, unless
// net/http cannot write the answer: then it is the connection's last.
func (a *Passed) Begin(w http.ResponseWriter, r *http.Request) (io.WriteCloser, error) {
	h := w.Header()
	clear(h)
	maps.Copy(h, connectionless(a.Header))
	for _, name := range [...]string{"Content-Type", "Date"} {
		if len(h[name]) == 0 {
			h[name] = nil // else net/http adds one
		}
	}
	if names := slices.Sorted(maps.Keys(a.Trailer)); len(names) > 0 {
		h["Trailer"] = []string{strings.Join(names, ", ")}
	}
	_, sized := h["Content-Length"]
	bodiless := r.Method == http.MethodHead || a.Status == http.StatusNoContent || a.Status == http.StatusNotModified
	if a.Reason == "" || a.Reason != http.StatusText(a.Status) {
		return a.takeOver(w, r, a.Chunked && !bodiless)
	}
	if !sized && !a.Chunked && !bodiless {
		h["Transfer-Encoding"] = []string{"identity"} // ended by closing
	}
	w.WriteHeader(a.Status)
	if !sized && !bodiless {
		_ = http.NewResponseController(w).Flush() // else net/http counts a small body
	}
	return &passedBody{w, a.Trailer}, nil
}

// A passedBody is written by net/http.
type passedBody struct {
	http.ResponseWriter
	trailer http.Header
}

func (b *passedBody) Close() error {
	maps.Copy(b.Header(), b.trailer)
	return nil
}

// maxUnread is how much of a request that was answered early is read, in bytes,
// so that the client sees the answer.
const maxUnread = 256 << 10

// takeOver writes what net/http does not: another reason than its own.
func (a *Passed) takeOver(w http.ResponseWriter, r *http.Request, chunked bool) (io.WriteCloser, error) {
	if r.Body != nil {
		_, _ = io.CopyN(io.Discard, r.Body, maxUnread) // the answer counts, not what is left
	}
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return nil, err
	}
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %03d %s\r\n", a.Status, a.Reason)
	h := w.Header()
	h["Connection"] = []string{"close"}
	if chunked {
		h["Transfer-Encoding"] = []string{"chunked"}
	}
	if err := h.Write(&head); err != nil {
		return nil, err
	}
	head.WriteString("\r\n")
	t := &takenOver{Conn: conn, body: conn, trailer: a.Trailer}
	if chunked {
		t.chunks = httputil.NewChunkedWriter(conn)
		t.body = t.chunks
	}
	_, err = conn.Write(head.Bytes())
	return t, err
}

// A takenOver is a body on a connection that net/http has given away.
type takenOver struct {
	net.Conn
	body    io.Writer
	chunks  io.WriteCloser // nil without chunks
	trailer http.Header
}

func (t *takenOver) Write(b []byte) (int, error) {
	if len(b) == 0 {
		return 0, nil // an empty chunk is the last
	}
	return t.body.Write(b)
}

// Close ends the body and the connection.
func (t *takenOver) Close() error {
	if t.chunks != nil {
		end := new(bytes.Buffer)
		_ = t.trailer.Write(end)
		end.WriteString("\r\n")
		_ = t.chunks.Close()
		_, _ = t.Conn.Write(end.Bytes())
	}
	return t.Conn.Close()
}

// Abort ends the connection in the middle of the body.
func (t *takenOver) Abort() { _ = t.Conn.Close() }

// A kept body of a request can be read once more from its beginning; one that
// was read to its end, any number of times.
type kept struct {
	io.ReadCloser
	read       []byte
	off, ended bool
}

func (k *kept) Read(b []byte) (int, error) {
	n, err := k.ReadCloser.Read(b)
	if !k.off {
		k.read = append(k.read, b[:n]...)
		k.ended = k.ended || errors.Is(err, io.EOF)
	}
	return n, err
}

// again returns what was read and the rest. It ends the keeping.
func (k *kept) again() io.ReadCloser {
	k.off = true
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(k.read), k.ReadCloser), k.ReadCloser}
}

package rest

import (
	"bytes"
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client"
	"indirtui/traces"
)

// readAhead is how much of a file is read at once, in bytes. Most files are
// smaller and need no open connection.
const readAhead = 64 << 10

// abandoned is how long the rest of a larger file waits to be read. After that
// it is requested again.
const abandoned = time.Minute

// contents returns those of a streamed answer. For a caller that passes them on
// they stay encoded.
func (t *service) contents(req *indirector.Request, answer *client.Answer) (model.Contents, error) {
	head := make([]byte, 0, min(max(answer.Size, 512)+1, readAhead))
	for len(head) < readAhead {
		if len(head) == cap(head) {
			head = append(head, 0)[:len(head)]
		}
		n, err := answer.Stream.Read(head[len(head):min(cap(head), readAhead)])
		head = head[:len(head)+n]
		if errors.Is(err, io.EOF) {
			return t.whole(req, answer, head)
		}
		if err != nil {
			return nil, errors.Join(err, answer.Stream.Close())
		}
	}
	again := *req
	again.Wants = nil
	c := &contents{from: t, req: &again, head: head, rest: answer.Stream, coding: answer.Coding, size: answer.Size}
	c.timer = time.AfterFunc(abandoned, c.abandon)
	return c, nil
}

// whole returns contents that have all arrived.
func (t *service) whole(req *indirector.Request, answer *client.Answer, came []byte) (model.Contents, error) {
	b, err := came, error(nil)
	if answer.Coding != "" {
		b, err = decoded(came)
	}
	if w := req.Wire(); w != nil && w.KeepBody {
		if w.Body = b; answer.Coding != "" {
			w.Coded = came
		}
		w.Kept = true
	}
	if err = errors.Join(err, answer.Stream.Close()); err != nil {
		return nil, err
	}
	return model.Bytes(b), nil
}

// decoded decodes what has arrived.
func decoded(came []byte) ([]byte, error) {
	r, err := client.Decode(bytes.NewReader(came))
	if err != nil {
		return nil, err
	}
	b, err := io.ReadAll(io.LimitReader(r, maxList+1))
	if len(b) > maxList {
		return nil, fmt.Errorf("%d bytes that came become more than %d", len(came), maxList)
	}
	return b, err
}

// contents is a file that is still arriving.
type contents struct {
	from   *service
	req    *indirector.Request
	coding string // "" is none
	size   int64  // encoded; negative if unknown

	mu    sync.Mutex // guards the following
	head  []byte
	rest  io.ReadCloser // nil once it was opened or abandoned
	timer *time.Timer
}

// Size is the server's Content-Length.
func (c *contents) Size() int64 {
	if c.coding != "" {
		return -1
	}
	return c.size
}

// Open opens the contents. A second reader asks the server again.
func (c *contents) Open() (io.ReadCloser, error) {
	r, coding, _, err := c.OpenCoded()
	if err != nil || coding == "" {
		return r, err
	}
	plain, err := client.Decode(r)
	if err != nil {
		return nil, errors.Join(err, r.Close())
	}
	return &joined{plain, r}, nil
}

// OpenCoded opens the encoded contents. The size is negative if unknown.
func (c *contents) OpenCoded() (r io.ReadCloser, coding string, size int64, err error) {
	c.mu.Lock()
	head, rest := c.head, c.rest
	c.head, c.rest = nil, nil
	c.mu.Unlock()
	c.timer.Stop()
	if rest != nil {
		return &joined{io.MultiReader(bytes.NewReader(head), rest), rest}, c.coding, c.size, nil
	}
	answer, err := c.from.ask(context.Background(), c.req, true)
	if err != nil {
		return nil, "", 0, err
	}
	if !answer.OK() {
		return nil, "", 0, c.from.refused(answer)
	}
	return answer.Stream, answer.Coding, answer.Size, nil
}

func (c *contents) Decode(r io.Reader) (io.Reader, error) { return client.Decode(r) }

func (c *contents) abandon() {
	c.mu.Lock()
	rest := c.rest
	c.head, c.rest = nil, nil
	c.mu.Unlock()
	if rest != nil {
		_ = rest.Close() // no caller is left for the error
	}
}

type joined struct {
	io.Reader
	io.Closer
}

// bucket stores files on a server.
type bucket struct{ *service }

// Head asks whether the server has the file.
func (t *bucket) Head(ctx context.Context, req *indirector.Request) (bool, error) {
	answer, err := t.ask(ctx, req, false)
	switch {
	case err != nil:
		return false, err
	case answer.OK():
		return true, nil
	case answer.Status == http.StatusNotFound:
		return false, indirector.NotFound(traces.NilFrom404, fmt.Sprintf("404 from %s; an answer to HEAD does not say more", answer.URL.Host))
	}
	return false, t.refused(answer)
}

// Find requests the file. A 404 is an error.
func (t *bucket) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	answer, err := t.ask(ctx, req, true)
	if err != nil {
		return nil, err
	}
	if !answer.OK() {
		return nil, t.refused(answer)
	}
	f, unknown := t.formatOf(ctx, answer)
	given, err := t.contents(req, answer)
	if err != nil {
		return nil, err
	}
	whole, small := given.(model.Bytes)
	switch {
	case small && unknown != nil:
		return nil, unknown
	case small && f.Name != "binary":
		answer.Body = whole
		inst, _, err := t.intern(ctx, req, answer)
		return inst, err
	case small:
		return model.NewFileBucketFile(t.digest(), whole)
	case req.Wire().Onward() != nil: // passed on, whatever it is
	case unknown != nil || f.Name != "binary":
		given.(*contents).abandon()
		return nil, cmp.Or(unknown, t.failure(answer, "Puppet::HTTP::SerializationError", "the answer is too long for "+mediaType(answer.Header.Get("Content-Type")), t.what(answer)))
	}
	kind, sum, _ := strings.Cut(req.Key, "/")
	sum, _, _ = strings.Cut(sum, "/")
	return &model.FileBucketFile{ChecksumType: kind, Checksum: sum, Contents: given}, nil
}

func (t *bucket) digest() string {
	if t.encoding.Digest == "" {
		return "sha256"
	}
	return t.encoding.Digest
}

// Save sends the file and hashes it on the way. The result is an empty file, as
// of a local bucket. Gap L10.
func (t *bucket) Save(ctx context.Context, req *indirector.Request) (any, error) {
	file, ok := req.Instance.(*model.FileBucketFile)
	if !ok {
		return nil, &indirector.Failure{Class: "ArgumentError", Message: fmt.Sprintf("a bucket keeps files, not a %T", req.Instance), Err: indirector.ErrInvalid}
	}
	ctx, span := traces.Start(ctx, traces.Stream, "send contents")
	kind, named, _ := strings.Cut(req.Key, "/")
	named, _, _ = strings.Cut(named, "/")
	sent := &hashed{Contents: file.Contents, kind: kind}
	if sent.Contents == nil {
		sent.Contents = model.Bytes(nil)
	}
	asked, copied := *req, *file
	copied.Contents = sent
	asked.Instance = &copied
	_, err := t.save(ctx, &asked, false)
	sum, n := sent.sum()
	if sum != "" {
		span.Attr("checksum", "{"+kind+"}"+sum)
		if err == nil && sum != named {
			traces.AddNote(ctx, fmt.Sprintf("the contents have the checksum %s, not that of the key: the server keeps them under their own", sum))
		}
	}
	if err != nil {
		span.End("failed", traces.Because{}, err)
		return nil, err
	}
	span.End(fmt.Sprintf("%d bytes", n), traces.Because{}, nil)
	return model.NewFileBucketFile(t.digest(), nil)
}

// hashed are contents that are hashed while they are read.
type hashed struct {
	model.Contents
	kind string

	mu     sync.Mutex // guards the following: a server may answer before all was read
	digest hash.Hash  // of the latest reading; nil before it, or for an unknown kind
	bytes  int64
}

func (h *hashed) Open() (io.ReadCloser, error) {
	r, err := h.Contents.Open()
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.digest, h.bytes = model.NewDigest(h.kind), 0
	return &hashing{r, h}, nil
}

func (h *hashed) sum() (string, int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.digest == nil {
		return "", h.bytes
	}
	return hex.EncodeToString(h.digest.Sum(nil)), h.bytes
}

type hashing struct {
	io.ReadCloser
	h *hashed
}

func (r *hashing) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	r.h.mu.Lock()
	defer r.h.mu.Unlock()
	if r.h.digest != nil {
		r.h.digest.Write(p[:n])
	}
	r.h.bytes += int64(n)
	return n, err
}

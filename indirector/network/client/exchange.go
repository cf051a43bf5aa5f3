package client

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/traces"
)

// A watch ends an exchange in which nothing moves for too long, from when it is
// connected.
type watch struct {
	limit  time.Duration // zero is none
	timer  *time.Timer   // nil without a limit
	cancel context.CancelCauseFunc
}

// errStalled is the cause of a context that a watch ended.
var errStalled = errors.New("nothing came for too long")

func newWatch(ctx context.Context, limit time.Duration) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{limit: limit, cancel: cancel}
	if limit > 0 {
		w.timer = time.AfterFunc(limit, func() { cancel(errStalled) })
		w.timer.Stop()
	}
	return ctx, w
}

func (w *watch) move() {
	if w.timer != nil {
		w.timer.Reset(w.limit)
	}
}

// pause stops watching while the caller reads.
func (w *watch) pause() {
	if w.timer != nil {
		w.timer.Stop()
	}
}

func (w *watch) end() {
	w.pause()
	w.cancel(context.Canceled)
}

// A clock records when things happened to one exchange. Events of a connection
// that comes too late, and is kept for another exchange, come from another
// goroutine, even after the end.
type clock struct {
	now   func() time.Time
	start time.Time
	sent  atomic.Int64

	mu sync.Mutex // guards the following
	moments
}

type moments struct {
	dns, dial, shake             time.Time
	dnsTook, dialTook, shakeTook time.Duration
	wrote, first                 time.Time
	idle                         time.Duration
	connected, reused            bool
	again                        bool // a kept connection had been closed
	peer                         string
	conn                         net.Conn
}

func (k *clock) note(f func(m *moments, now time.Time)) {
	now := k.now()
	k.mu.Lock()
	defer k.mu.Unlock()
	f(&k.moments, now)
}

// times returns what has happened so far.
func (k *clock) times() moments {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.moments
}

func (k *clock) trace(w *watch) *httptrace.ClientTrace {
	return &httptrace.ClientTrace{
		DNSStart: func(httptrace.DNSStartInfo) { k.note(func(m *moments, now time.Time) { m.dns = now }) },
		DNSDone:  func(httptrace.DNSDoneInfo) { k.note(func(m *moments, now time.Time) { m.dnsTook = now.Sub(m.dns) }) },
		ConnectStart: func(string, string) {
			k.note(func(m *moments, now time.Time) {
				if m.dial.IsZero() {
					m.dial = now
				}
			})
		},
		ConnectDone: func(_, _ string, err error) {
			k.note(func(m *moments, now time.Time) {
				if err == nil {
					m.dialTook = now.Sub(m.dial)
				}
			})
		},
		TLSHandshakeStart: func() { k.note(func(m *moments, now time.Time) { m.shake = now }) },
		TLSHandshakeDone: func(tls.ConnectionState, error) {
			k.note(func(m *moments, now time.Time) { m.shakeTook = now.Sub(m.shake) })
		},
		GotConn: func(i httptrace.GotConnInfo) {
			k.note(func(m *moments, _ time.Time) {
				m.again, m.connected = m.connected, true
				m.reused, m.idle, m.peer, m.conn = i.Reused, i.IdleTime, i.Conn.RemoteAddr().String(), i.Conn
			})
			if i.Reused {
				leaveGone(i.Conn)
			}
			w.move()
		},
		WroteRequest: func(httptrace.WroteRequestInfo) {
			k.note(func(m *moments, now time.Time) { m.wrote = now })
			w.move()
		},
		GotFirstResponseByte: func() { k.note(func(m *moments, now time.Time) { m.first = now }) },
		Got1xxResponse:       func(int, textproto.MIMEHeader) error { w.move(); return nil },
	}
}

// A sender is a request body on its way.
type sender struct {
	io.ReadCloser
	watch *watch
	sent  *atomic.Int64
}

func (s *sender) Read(p []byte) (int, error) {
	n, err := s.ReadCloser.Read(p)
	s.sent.Add(int64(n))
	s.watch.move()
	return n, err
}

// exchange asks one server once, as a span.
func (c *Client) exchange(ctx context.Context, x *Exchange, to target, header http.Header) (answer *Answer, err error) {
	began := ctx
	ctx, span := traces.Start(ctx, traces.Network, x.Method+" "+text(to.url))
	k := &clock{now: c.now, start: c.now()}
	var p *pool
	defer func() {
		if span == nil {
			return
		}
		k.describe(span)
		if err != nil {
			span.End("failed", traces.Because{}, err)
			return
		}
		span.End(strconv.Itoa(answer.Status)+" "+answer.Reason, traces.Because{}, nil)
	}()
	span.Attr("candidate", to.candidate)
	if x.Wire != nil {
		x.Wire.Forget()
		x.Wire.Address = text(to.url)
	}
	if p, err = c.pool(to.url, x); err != nil {
		return nil, err
	}
	proxy, err := c.proxies.of(to.url)
	if err != nil {
		return nil, err
	}
	if proxy != nil {
		span.Attr("proxy", proxy.Host)
	}
	if p.shown != "" {
		span.Attr("identity", p.shown)
	}
	ctx, w := newWatch(ctx, c.read)
	req, err := c.request(httptrace.WithClientTrace(ctx, k.trace(w)), x, to, header, w, &k.sent)
	if err != nil {
		w.end()
		return nil, err
	}
	if parent := parentOf(x, req.Header, span); parent != "" {
		req.Header = req.Header.Clone() // the next server asked is another span
		req.Header.Set("Traceparent", parent)
	}
	describe(span, "> ", req.Header)
	resp, err := p.send(req, k)
	if err == nil && ctx.Err() != nil {
		// An answer to a request that has ended does not count.
		err = errors.Join(context.Cause(ctx), resp.Body.Close())
	}
	if err != nil {
		err = c.failed(began, ctx, x, to, k, proxy, err)
		w.end()
		return nil, err
	}
	describe(span, "< ", resp.Header)
	if resp.TLS != nil && span != nil {
		span.Attr("tls", describeTLS(resp.TLS))
	}
	answer = &Answer{
		URL: to.url, Status: resp.StatusCode, Reason: reason(resp), Header: resp.Header, Trailer: resp.Trailer, Chunked: len(resp.TransferEncoding) > 0,
		Size: -1, Candidate: to.candidate, Identity: p.shown,
	}
	c.learn(to.url.Host, resp.Header.Get("X-Puppet-Version"))
	span.Attr("status", resp.Status)
	if f := mediaType(resp.Header); f != "" {
		span.Attr("format", f)
	}
	if x.Wire != nil {
		x.Wire.Status, x.Wire.Reason, x.Wire.Header, x.Wire.Trailer, x.Wire.Chunked = answer.Status, answer.Reason, answer.Header, answer.Trailer, answer.Chunked
	}
	b := &body{
		client: c, began: began, ctx: ctx, x: x, to: to, clock: k, watch: w, proxy: proxy,
		wire: resp.Body, expected: resp.ContentLength, header: resp.Header,
	}
	if err = b.receive(answer, span); err != nil {
		return nil, err
	}
	return answer, nil
}

// send sends a request. A connection that was kept, and has been closed before anything
// was written to it, is no reason to fail: net/http takes another one only for requests
// that may be sent twice.
func (p *pool) send(req *http.Request, k *clock) (*http.Response, error) {
	for {
		resp, err := p.transport.RoundTrip(req)
		if err == nil || !closedIdle(err) || !k.times().reused || req.GetBody == nil || req.Context().Err() != nil {
			return resp, err
		}
		again := *req
		if again.Body, err = req.GetBody(); err != nil {
			return nil, err
		}
		req = &again
	}
}

// receive reads the body into answer, or leaves it there as a stream, and
// describes it in the span.
func (b *body) receive(answer *Answer, span *traces.Active) (err error) {
	if b.x.Stream && answer.OK() && b.x.Method != http.MethodHead {
		if answer.Stream, answer.Size, err = b.stream(); err != nil {
			return err
		}
		if b.x.Coded {
			answer.Coding = b.coding()
		}
		span.Attr("body", "streamed")
		return nil
	}
	answer.Body, err = b.all(answer.OK())
	if err != nil {
		return err
	}
	answer.Size = int64(len(answer.Body))
	span.Attr("read", took(b.clock.now().Sub(b.clock.times().first)))
	span.Attr("size", strconv.Itoa(len(answer.Body)))
	if b.decoded {
		span.Attr("compressed", strconv.FormatInt(b.came, 10))
	}
	if w := b.x.Wire; w != nil && w.KeepBody {
		w.Body, w.Kept = answer.Body, true
	}
	if answer.OK() {
		return nil
	}
	message, kind := answer.problem()
	if message != "" {
		span.Attr("message", message)
	}
	if kind != "" {
		span.Attr("issue_kind", kind)
	}
	return nil
}

// parentOf returns the traceparent to send: the span's own, unless the request
// is passed on for another, or has one.
func parentOf(x *Exchange, header http.Header, span *traces.Active) string {
	switch {
	case x.Target != "":
		return ""
	case x.Wire != nil:
		return x.Wire.Parent
	case x.Verbatim, header.Get("Traceparent") != "":
		return ""
	}
	return span.Parent()
}

// request returns the HTTP request to send.
func (c *Client) request(ctx context.Context, x *Exchange, to target, header http.Header, w *watch, sent *atomic.Int64) (*http.Request, error) {
	req := (&http.Request{
		Method: x.Method, URL: to.url, Host: to.url.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	if to.auth && to.host == to.url.Hostname() || to.auth && c.get("location_trusted") == "true" {
		req.Header = header.Clone()
		req.SetBasicAuth(to.user, to.password)
	}
	if x.Target != "" {
		req.URL = exactly(to.url, x.Target)
		req.Trailer = x.Trailer
	}
	if x.Body == nil {
		return req, nil
	}
	open := func() (io.ReadCloser, error) {
		from, err := x.Body()
		if err != nil {
			return nil, err
		}
		return &sender{from, w, sent}, nil
	}
	if x.Size == 0 && !x.Chunked {
		req.Body = http.NoBody
		if x.Target != "" {
			req.TransferEncoding = []string{"identity"} // with Content-Length: 0
		}
		return req, nil
	}
	var err error
	req.ContentLength = max(x.Size, -1)
	if x.Chunked {
		req.TransferEncoding = []string{"chunked"}
	}
	if x.Target == "" || x.Again {
		req.GetBody = open
	}
	req.Body, err = open()
	return req, err
}

// exactly returns the address that net/http writes as target.
func exactly(u *url.URL, target string) *url.URL {
	if !strings.HasPrefix(target, "//") {
		return &url.URL{Scheme: u.Scheme, Host: u.Host, Opaque: target}
	}
	path, query, asked := strings.Cut(target, "?") // an opaque one would get the scheme
	plain, err := url.PathUnescape(path)
	if err != nil {
		plain = path
	}
	return &url.URL{Scheme: u.Scheme, Host: u.Host, Path: plain, RawPath: path, RawQuery: query, ForceQuery: asked}
}

// describe adds the times to the span.
func (k *clock) describe(span *traces.Active) {
	m := k.times()
	if m.connected {
		how := "reused, idle for " + took(m.idle)
		if !m.reused {
			var parts []string
			for _, p := range []struct {
				what string
				took time.Duration
			}{{"dns", m.dnsTook}, {"connect", m.dialTook}, {"TLS", m.shakeTook}} {
				if p.took > 0 {
					parts = append(parts, p.what+" "+took(p.took))
				}
			}
			how = strings.TrimSuffix("new: "+strings.Join(parts, ", "), ": ")
		}
		if m.again {
			how += "; the server had closed the kept one"
		}
		span.Attr("connection", how)
		span.Attr("peer", m.peer)
	}
	if n := k.sent.Load(); n > 0 {
		span.Attr("sent", strconv.FormatInt(n, 10))
	}
	if !m.wrote.IsZero() && m.first.After(m.wrote) {
		span.Attr("wait", took(m.first.Sub(m.wrote)))
	}
}

// took prints a duration, rounded.
func took(d time.Duration) string {
	switch {
	case d < 0:
		return "0s"
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(10 * time.Microsecond).String()
	}
	return d.Round(time.Millisecond).String()
}

// describe adds headers to the span, sorted.
func describe(span *traces.Active, mark string, h http.Header) {
	if span == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(h)) {
		for _, v := range h[name] {
			span.Attr(mark+name, redact(name, v))
		}
	}
}

// redact returns the value of a header without secrets.
func redact(name, value string) string {
	const most = 1024
	lower := strings.ToLower(name)
	for _, secret := range []string{"authorization", "cookie", "token", "secret", "password", "api-key", "apikey", "x-auth"} {
		if strings.Contains(lower, secret) {
			return fmt.Sprintf("(masked, %d bytes)", len(value))
		}
	}
	if len(value) > most {
		return fmt.Sprintf("%s… (%d bytes)", value[:most], len(value))
	}
	return value
}

func describeTLS(s *tls.ConnectionState) string {
	how := tls.VersionName(s.Version) + " " + tls.CipherSuiteName(s.CipherSuite)
	if s.DidResume {
		how += ", resumed"
	}
	if len(s.PeerCertificates) > 0 {
		leaf := s.PeerCertificates[0]
		how += fmt.Sprintf(", %s until %s", leaf.Subject, leaf.NotAfter.UTC().Format(time.DateOnly))
	}
	return how
}

func mediaType(h http.Header) string {
	kind, _, _ := strings.Cut(h.Get("Content-Type"), ";")
	return strings.TrimSpace(kind)
}

// reason returns the phrase after the status.
func reason(resp *http.Response) string {
	_, phrase, _ := strings.Cut(resp.Status, " ")
	return phrase
}

// problem returns message and kind of an error document: "Not Found: Could not
// find node web01", "RESOURCE_NOT_FOUND". Both are "" if the body is none.
func (a *Answer) problem() (message, issueKind string) {
	if len(a.Body) > maxErrorBody || !strings.Contains(mediaType(a.Header), "son") {
		return "", ""
	}
	var d struct {
		Message any    `json:"message"`
		Kind    string `json:"issue_kind"`
	}
	if err := json.Unmarshal(a.plain(), &d); err != nil {
		return "", ""
	}
	message, _ = d.Message.(string)
	return message, d.Kind
}

// plain returns the decoded body.
func (a *Answer) plain() []byte {
	if len(a.Body) == 0 || a.Body[0] == '{' || a.Header.Get("Content-Encoding") == "" {
		return a.Body
	}
	r, err := Decode(bytes.NewReader(a.Body))
	if err != nil {
		return a.Body
	}
	b, err := io.ReadAll(io.LimitReader(r, maxErrorBody))
	if err != nil {
		return a.Body
	}
	return b
}

// text returns the address without a password.
func text(u *url.URL) string { return u.Redacted() }

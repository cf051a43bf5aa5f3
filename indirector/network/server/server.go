// Package server is the listener of Puppet's REST API: TLS with client
// certificates, who asks and whether they may, limits, and an end that loses
// nothing.
//
//	s, err := server.New(server.Options{Identity: id, Auth: auth, Recorder: store})
//	handler := rest.NewHandler(x, rest.Options{Who: s.Who, Authorize: s.Authorize, Run: s.Run, CA: s.Guard(caHandler)})
//	err = s.Serve(ctx, listener, handler) // until ctx ends; then what runs is finished
//
// Connections that never come to a request are traces, too. Specification:
// REST, sections 8 and 9.
package server

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/network/authconf"
	"indirtui/indirector/network/rest"
	"indirtui/traces"
)

// Options are those of New. Identity is required.
type Options struct {
	Identity Identity
	Auth     *authconf.Config // nil is authconf.Default
	// Legacy says that the URLs of Puppet 2.6 to 3 are answered, too. They are
	// authorized as what they mean under /puppet/v3.
	Legacy bool

	Recorder    traces.Recorder // of what never reaches a handler; nil keeps nothing
	Application string          // for the traces
	Limits      Limits
	Now         func() time.Time
	Log         *slog.Logger // nil discards
}

// Limits bound what clients may take. A zero field is the default.
type Limits struct {
	Connections int           // kept at the same time; more wait: 10 000
	Requests    int           // worked on at the same time; more wait: 1000
	Header      int           // bytes of all headers: 64 KiB
	HeaderTime  time.Duration // for the handshake and for the headers: 15 s
	Idle        time.Duration // between requests: 60 s
	Wait        time.Duration // for one of Requests: 30 s
	Drain       time.Duration // after the end, for requests that run: 30 s
}

func (l *Limits) fill() {
	set := func(d *time.Duration, to time.Duration) {
		if *d == 0 {
			*d = to
		}
	}
	if l.Connections == 0 {
		l.Connections = 10_000
	}
	if l.Requests == 0 {
		l.Requests = 1000
	}
	if l.Header == 0 {
		l.Header = 64 << 10
	}
	set(&l.HeaderTime, 15*time.Second)
	set(&l.Idle, 60*time.Second)
	set(&l.Wait, 30*time.Second)
	set(&l.Drain, 30*time.Second)
}

// A Server answers requests over the network. It is safe for concurrent use.
type Server struct {
	o    Options
	auth *authconf.Config
	keys *keys
	log  *slog.Logger
	now  func() time.Time
	work chan struct{} // one token for each request that is worked on
	runs runs          // of the agents

	connections atomic.Int64
	requests    atomic.Int64
}

// New reads the certificates. An error says which file is wrong.
func New(o Options) (*Server, error) {
	o.Limits.fill()
	s := &Server{o: o, auth: o.Auth, log: o.Log, now: o.Now, work: make(chan struct{}, o.Limits.Requests)}
	if s.auth == nil {
		s.auth = authconf.Default()
	}
	if s.log == nil {
		s.log = slog.New(slog.DiscardHandler)
	}
	if s.now == nil {
		s.now = time.Now
	}
	var err error
	s.keys, err = openKeys(o.Identity, s.now, s.log)
	return s, err
}

// Reload reads certificates and revocation lists again. On an error the old
// ones stay in force. Files that change are noticed without it.
func (s *Server) Reload() error { return s.keys.reload() }

// Busy returns how many connections there are, and how many requests are
// worked on.
func (s *Server) Busy() (connections, requests int) {
	return int(s.connections.Load()), int(s.requests.Load())
}

// Serve lets h answer what comes in through l, until ctx ends: then it takes nothing
// new, waits for the requests that run, at most Limits.Drain, and cancels those
// that still do. It closes l. The error is nil, unless it could not go on.
func (s *Server) Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	hs := &http.Server{
		Handler:           s.limited(h),
		ReadHeaderTimeout: s.o.Limits.HeaderTime,
		IdleTimeout:       s.o.Limits.Idle,
		MaxHeaderBytes:    s.o.Limits.Header,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       s.connContext,
		ErrorLog:          log.New(errorLog{s}, "", 0),
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){}, // HTTP/1.1 only, as Puppet speaks it
	}
	limited := &limitListener{Listener: l, s: s, free: make(chan struct{}, s.o.Limits.Connections), done: make(chan struct{})}
	failed := make(chan error, 1)
	go func() { failed <- hs.Serve(tls.NewListener(limited, s.tlsConfig())) }()
	var err error
	select {
	case err = <-failed:
		cancel()
		return errors.Join(err, hs.Close())
	case <-ctx.Done():
	}
	drain, stop := context.WithTimeout(base, s.o.Limits.Drain)
	defer stop()
	limited.stop()
	if hs.Shutdown(drain) != nil {
		s.log.Warn("requests still run; they are cancelled", "requests", s.requests.Load())
		cancel()
		last, stop := context.WithTimeout(context.Background(), 5*time.Second)
		defer stop()
		_ = hs.Shutdown(last) // what is left then is closed below
	}
	<-failed
	// What came in at the last moment has not been waited for.
	err = errors.Join(err, hs.Close())
	limited.open.Wait()
	return err
}

// errorLog takes what net/http has to say about connections. Handshakes that
// fail have no request, so they become traces here.
type errorLog struct{ s *Server }

func (l errorLog) Write(b []byte) (int, error) {
	text := strings.TrimSpace(string(b))
	if rest, ok := strings.CutPrefix(text, "http: TLS handshake error from "); ok {
		if addr, why, ok := strings.Cut(rest, ": "); ok {
			l.s.recordHandshake(addr, why)
			return len(b), nil
		}
	}
	l.s.log.Warn(text)
	return len(b), nil
}

// A limitListener accepts no more than so many connections at the same time;
// the others wait in the kernel.
type limitListener struct {
	net.Listener
	s    *Server
	free chan struct{}
	done chan struct{}
	once sync.Once
	open sync.WaitGroup // one for each connection
}

func (l *limitListener) stop() { l.once.Do(func() { close(l.done) }) }

func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	default:
		l.s.log.Warn("there are as many connections as may be; new ones wait", "connections", cap(l.free))
		select {
		case l.free <- struct{}{}:
		case <-l.done:
			return nil, net.ErrClosed
		}
	}
	c, err := l.Listener.Accept()
	if err != nil {
		<-l.free
		return nil, err
	}
	l.s.connections.Add(1)
	l.open.Add(1)
	return &limitedConn{Conn: c, l: l}, nil
}

type limitedConn struct {
	net.Conn
	l    *limitListener
	once sync.Once

	mu       sync.Mutex // guards the following; TLS may write alerts of its own
	gathers  bool
	gathered []byte
}

// gatherMost is how much is written at once while a connection gathers, in
// bytes: TLS writes each of its records, of at most 16 KiB, by a call of its own.
const gatherMost = 64 << 10

var gatherings = sync.Pool{New: func() any { return new([gatherMost + 20<<10]byte) }}

// Write writes, or gathers what is to be written.
func (c *limitedConn) Write(b []byte) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.gathers {
		return c.Conn.Write(b)
	}
	if len(c.gathered)+len(b) > cap(c.gathered) {
		if err := c.spill(); err != nil {
			return 0, err
		}
		if len(b) > cap(c.gathered) {
			return c.Conn.Write(b)
		}
	}
	c.gathered = append(c.gathered, b...)
	if len(c.gathered) < gatherMost {
		return len(b), nil
	}
	return len(b), c.spill()
}

func (c *limitedConn) spill() error {
	_, err := c.Conn.Write(c.gathered)
	c.gathered = c.gathered[:0]
	return err
}

// gather calls write, and lets what it writes go out in larger pieces. When it
// returns nothing is left behind.
func (c *limitedConn) gather(write func() error) error {
	buffer := gatherings.Get().(*[gatherMost + 20<<10]byte)
	c.mu.Lock()
	c.gathers, c.gathered = true, buffer[:0]
	c.mu.Unlock()
	defer func() {
		c.mu.Lock()
		c.gathers, c.gathered = false, nil
		c.mu.Unlock()
		gatherings.Put(buffer)
	}()
	err := write()
	c.mu.Lock()
	defer c.mu.Unlock()
	return errors.Join(err, c.spill())
}

// A writer is an answer that goes out in larger pieces while it is gathered.
type writer struct {
	http.ResponseWriter
	conn *limitedConn
}

// Gather lets what write writes go out in larger pieces.
func (w *writer) Gather(write func() error) error { return w.conn.gather(write) }

// FlushError sends what has been gathered, too.
func (w *writer) FlushError() error {
	err := http.NewResponseController(w.ResponseWriter).Flush()
	w.conn.mu.Lock()
	defer w.conn.mu.Unlock()
	return errors.Join(err, w.conn.spill())
}

// Unwrap is for http.ResponseController.
func (w *writer) Unwrap() http.ResponseWriter { return w.ResponseWriter }

func (c *limitedConn) Close() error {
	c.once.Do(func() {
		c.l.s.connections.Add(-1)
		<-c.l.free
		c.l.open.Done()
	})
	return c.Conn.Close()
}

// A connection is what all requests of one connection share.
type connection struct {
	number uint64
	conn   *limitedConn // nil if it is none of Serve
	client atomic.Pointer[known]
}

// known is who a connection belongs to, by the keyring that was in force.
type known struct {
	ring   *keyring
	client authconf.Client
	doubt  string // what speaks against who it claims to be; "" if nothing
	remote indirector.Remote
}

var connectionNumber atomic.Uint64

func (s *Server) connContext(ctx context.Context, c net.Conn) context.Context {
	conn := &connection{number: connectionNumber.Add(1)}
	if t, ok := c.(*tls.Conn); ok {
		conn.conn, _ = t.NetConn().(*limitedConn)
	}
	return context.WithValue(ctx, connKey{}, conn)
}

type connKey struct{}

// limited lets so many requests be worked on at the same time. The others wait,
// and are told to come again if that takes too long.
func (s *Server) limited(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.now()
		r = rest.Joined(r)
		if !s.enter(r.Context()) {
			w.Header().Set("Retry-After", strconv.Itoa(int(max(s.o.Limits.Wait/time.Second, 1))))
			http.Error(w, "too many requests are worked on", http.StatusServiceUnavailable)
			s.record(r, start, http.StatusServiceUnavailable, fmt.Sprintf("%d requests were worked on, and none of them ended within %s", s.o.Limits.Requests, s.o.Limits.Wait))
			return
		}
		s.requests.Add(1)
		defer func() {
			s.requests.Add(-1)
			<-s.work
		}()
		if conn := connectionOf(r).conn; conn != nil {
			w = &writer{w, conn}
		}
		h.ServeHTTP(w, r)
	})
}

// enter waits for a place among the requests that are worked on.
func (s *Server) enter(ctx context.Context) bool {
	select {
	case s.work <- struct{}{}:
		return true
	default:
	}
	wait := time.NewTimer(s.o.Limits.Wait)
	defer wait.Stop()
	select {
	case s.work <- struct{}{}:
		return true
	case <-ctx.Done():
	case <-wait.C:
	}
	return false
}

// Who says who asks: by the certificate of the connection or, where auth.conf
// has allow-header-cert-info, by the headers of a proxy in front.
func (s *Server) Client(r *http.Request) indirector.Remote {
	k, err := s.known(r)
	if err != nil {
		return indirector.Remote{Node: k.client.Address, IP: k.client.Address}
	}
	remote := k.remote
	if d := s.decide(r, k); d.Allowed {
		remote.Rule = fmt.Sprintf("rule '%s', %s", d.Rule.Name, d.Rule.Source)
	}
	return remote
}

func (s *Server) decide(r *http.Request, k *known) authconf.Decision {
	query, _ := url.ParseQuery(r.URL.RawQuery) // what cannot be read fits no rule
	return s.auth.Decide(authconf.Request{Method: r.Method, Path: s.meaning(r.URL.Path), Query: query, Client: k.client})
}

// known finds out who asks. For a connection that is found out once for each
// state of the certificates.
func (s *Server) known(r *http.Request) (*known, error) {
	conn := connectionOf(r)
	ring := s.keys.current()
	if k := conn.client.Load(); k != nil && k.ring == ring && !s.auth.HeaderCertInfo {
		return k, nil
	}
	client, cert, doubt, err := s.identify(r)
	k := &known{ring: ring, client: client, doubt: doubt, remote: remote(client, cert)}
	if err == nil && !s.auth.HeaderCertInfo {
		conn.client.Store(k)
	}
	return k, err
}

func connectionOf(r *http.Request) *connection {
	if c, ok := r.Context().Value(connKey{}).(*connection); ok {
		return c
	}
	return new(connection)
}

// Authorize asks auth.conf. The error is a *rest.Forbidden, or nil.
func (s *Server) Authorize(r *http.Request, _ indirector.Remote) error {
	k, err := s.known(r)
	if err != nil {
		return &rest.Forbidden{Message: err.Error(), Why: err.Error()}
	}
	d := s.decide(r, k)
	if d.Allowed {
		return nil
	}
	why := d.Why
	if k.doubt != "" {
		why += "; " + k.doubt
	}
	s.log.Error("forbidden request", "why", why)
	return &rest.Forbidden{Message: d.Refusal, Why: why}
}

// meaning is the path that auth.conf is asked about: the one that the handler
// goes by, and for URLs of old what they mean today.
func (s *Server) meaning(path string) string {
	if !s.o.Legacy {
		for strings.Contains(path, "//") {
			path = strings.ReplaceAll(path, "//", "/")
		}
		return path
	}
	parts := strings.SplitN(path, "/", 4)
	if len(parts) < 4 || parts[1] == "puppet" || parts[1] == "puppet-ca" || parts[1] == "status" {
		return path
	}
	if strings.HasPrefix(parts[2], "certificate") {
		return "/puppet-ca/v1/" + parts[2] + "/" + parts[3]
	}
	return "/puppet/v3/" + parts[2] + "/" + parts[3]
}

// Guard lets through to h what auth.conf allows, for handlers that do not ask
// by themselves. Relative paths are refused, in whichever way they are written.
func (s *Server) Guard(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.now()
		refuse := func(status int, message, why string) {
			w.Header()["Content-Type"] = nil // net/http would guess one
			w.WriteHeader(status)
			_, _ = io.WriteString(w, message)
			s.record(r, start, status, why)
		}
		for part := range strings.SplitSeq(r.URL.Path, "/") {
			if part == "." || part == ".." {
				message := "Invalid relative path (.. or .) in: " + r.URL.Path
				refuse(http.StatusBadRequest, message, message)
				return
			}
		}
		if f := (*rest.Forbidden)(nil); errors.As(s.Authorize(r, indirector.Remote{}), &f) {
			refuse(http.StatusForbidden, f.Message, f.Why)
			return
		}
		if path := s.meaning(r.URL.Path); path != r.URL.Path {
			u := *r.URL
			u.Path, u.RawPath = path, ""
			r = r.WithContext(r.Context())
			r.URL = &u
		}
		h.ServeHTTP(w, r)
	})
}

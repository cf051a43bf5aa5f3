// Package server is the listener of Puppet's REST API: TLS with client
// certificates, authorization, limits, and a graceful shutdown.
//
//	s, err := server.New(server.Options{Identity: id, Auth: auth, Recorder: store})
//	handler := rest.NewHandler(x, rest.Options{Client: s.Client, Authorize: s.Authorize, Run: s.Run, CA: s.Guard(caHandler)})
//	err = s.Serve(ctx, listener, handler) // until ctx ends
//
// Failed handshakes are traces, too. Specification: REST, sections 8 and 9.
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

// Options are the options of New. Identity is required.
type Options struct {
	Identity Identity
	Auth     *authconf.Config // nil is authconf.Default
	// Legacy serves the URLs of Puppet 2.6 to 3, too, authorized as those under
	// /puppet/v3.
	Legacy bool

	Recorder    traces.Recorder // of requests that reach no handler; nil keeps none
	Application string          // for the traces
	Limits      Limits
	Now         func() time.Time
	Log         *slog.Logger // nil discards
}

// Limits bound what clients may use. A zero field is the default.
type Limits struct {
	Connections int           // at the same time; more wait: 10 000
	Requests    int           // at the same time; more wait: 1000
	Client      int           // of Requests, for each client: a quarter
	Strangers   int           // of Requests, for all without a certificate: a quarter, and each of them a quarter of that
	Header      int           // bytes of all headers: 64 KiB
	HeaderTime  time.Duration // for the handshake and the headers: 15 s
	Idle        time.Duration // between requests: 60 s
	Silence     time.Duration // after which a connection without a request may be closed for a new one: 1 s
	Wait        time.Duration // for one of Requests: 30 s, and an eighth of that without a certificate
	Longest     time.Duration // that a request may take, however it is held: 1 h
	Drain       time.Duration // of running requests after ctx ends: 30 s
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
	if l.Client == 0 {
		l.Client = max(l.Requests/4, 1)
	}
	if l.Strangers == 0 {
		l.Strangers = max(l.Requests/4, 1)
	}
	if l.Header == 0 {
		l.Header = 64 << 10
	}
	set(&l.HeaderTime, 15*time.Second)
	set(&l.Idle, 60*time.Second)
	set(&l.Silence, time.Second)
	set(&l.Wait, 30*time.Second)
	set(&l.Longest, time.Hour)
	set(&l.Drain, 30*time.Second)
}

// A Server serves requests over the network. It is safe for concurrent use.
type Server struct {
	o    Options
	auth *authconf.Config
	keys *keys
	log  *slog.Logger
	now  func() time.Time
	work *shares
	runs runs // of the agents

	connections atomic.Int64
	requests    atomic.Int64
}

// New reads the certificates. The error names the bad file.
func New(o Options) (*Server, error) {
	o.Limits.fill()
	s := &Server{o: o, auth: o.Auth, log: o.Log, now: o.Now, work: newShares(o.Limits)}
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

// Reload reads certificates and revocation lists again. After an error the old
// ones stay. Changed files are noticed without it.
func (s *Server) Reload() error { return s.keys.reload() }

// Busy returns the numbers of connections and of running requests.
func (s *Server) Busy() (connections, requests int) {
	return int(s.connections.Load()), int(s.requests.Load())
}

// Serve serves l with h until ctx ends. Then it accepts nothing new, waits at
// most Limits.Drain for running requests, and cancels the rest. It closes l.
// The error is nil, unless it could not go on.
func (s *Server) Serve(ctx context.Context, l net.Listener, h http.Handler) error {
	base, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	hs := &http.Server{
		Handler:           s.limited(h),
		ReadHeaderTimeout: s.o.Limits.HeaderTime,
		IdleTimeout:       s.o.Limits.Idle,
		MaxHeaderBytes:    s.o.Limits.Header,
		ConnState:         connState,
		BaseContext:       func(net.Listener) context.Context { return base },
		ConnContext:       s.connContext,
		ErrorLog:          log.New(errorLog{s}, "", 0),
		TLSNextProto:      map[string]func(*http.Server, *tls.Conn, http.Handler){}, // HTTP/1.1 only, as Puppet speaks it

		DisableGeneralOptionsHandler: true, // OPTIONS * is a request like others
	}
	limited := &limitListener{Listener: l, s: s, free: make(chan struct{}, s.o.Limits.Connections), done: make(chan struct{}), quiet: make(map[*limitedConn]time.Time)}
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
	// Requests of the last moment were not waited for.
	err = errors.Join(err, hs.Close())
	limited.open.Wait()
	return err
}

// errorLog gets net/http's messages about connections. Failed handshakes become
// traces here.
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

// A limitListener accepts a limited number of connections; more wait in the
// kernel.
type limitListener struct {
	net.Listener
	s    *Server
	free chan struct{}
	done chan struct{}
	once sync.Once
	open sync.WaitGroup // one for each connection

	warned time.Time // when it was logged that there are too many; of Accept alone

	mu    sync.Mutex                 // guards quiet
	quiet map[*limitedConn]time.Time // connections without a request, since when
}

func (l *limitListener) stop() { l.once.Do(func() { close(l.done) }) }

func (l *limitListener) Accept() (net.Conn, error) {
	select {
	case l.free <- struct{}{}:
	default:
		if now := time.Now(); now.Sub(l.warned) > time.Minute {
			l.warned = now
			l.s.log.Warn("there are as many connections as may be; new ones replace silent ones, or wait", "connections", cap(l.free))
		}
		if !l.wait() {
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

// wait waits for a place, closing the connection that has been silent longest.
func (l *limitListener) wait() bool {
	again := time.NewTicker(100 * time.Millisecond)
	defer again.Stop()
	for {
		l.closeSilent()
		select {
		case l.free <- struct{}{}:
			return true
		case <-l.done:
			return false
		case <-again.C:
		}
	}
}

func (l *limitListener) closeSilent() {
	l.mu.Lock()
	var silent *limitedConn
	oldest := time.Now().Add(-l.s.o.Limits.Silence)
	for c, since := range l.quiet {
		if since.Before(oldest) {
			silent, oldest = c, since
		}
	}
	l.mu.Unlock()
	if silent != nil {
		_ = silent.Close() // its reader learns of it
	}
}

// connState notes which connections have no request.
func connState(c net.Conn, state http.ConnState) {
	t, ok := c.(*tls.Conn)
	if !ok {
		return
	}
	limited, ok := t.NetConn().(*limitedConn)
	if !ok {
		return
	}
	l := limited.l
	l.mu.Lock()
	defer l.mu.Unlock()
	if state == http.StateNew || state == http.StateIdle {
		l.quiet[limited] = time.Now()
	} else {
		delete(l.quiet, limited)
	}
}

type limitedConn struct {
	net.Conn
	l    *limitListener
	once sync.Once

	mu       sync.Mutex // guards the following; TLS writes alerts concurrently
	gathers  bool
	gathered []byte
}

// gatherMost is how much is gathered before it is written, in bytes: TLS writes
// each of its records of at most 16 KiB by itself.
const gatherMost = 64 << 10

var gatherings = sync.Pool{New: func() any { return new([gatherMost + 20<<10]byte) }}

// Write writes, or gathers.
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

// gather calls write, and writes its output in larger pieces. All is written
// when it returns.
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

// A writer is an answer that can be gathered.
type writer struct {
	http.ResponseWriter
	conn *limitedConn
}

// Gather writes the output of write in larger pieces.
func (w *writer) Gather(write func() error) error { return w.conn.gather(write) }

// FlushError writes what is gathered, too.
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
		c.l.mu.Lock()
		delete(c.l.quiet, c)
		c.l.mu.Unlock()
		c.l.s.connections.Add(-1)
		<-c.l.free
		c.l.open.Done()
	})
	return c.Conn.Close()
}

// A connection is what the requests of one connection share.
type connection struct {
	number uint64
	conn   *limitedConn // nil unless it is one of Serve
	client atomic.Pointer[known]
}

// known is the client of a connection, by the keyring of the time.
type known struct {
	ring   *keyring
	client authconf.Client
	doubt  string // why it is not authenticated; "" if it is
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

// limited limits how many requests run at the same time, and how long. The
// others wait, and get 503 after Limits.Wait; the status is always answered.
func (s *Server) limited(h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		start := s.now()
		r = rest.Joined(r)
		ctx, cancel := context.WithTimeout(r.Context(), s.o.Limits.Longest)
		defer cancel()
		r = r.WithContext(ctx)
		if r.Method != http.MethodGet || !strings.HasPrefix(r.URL.Path, "/status/v1/") {
			k, err := s.known(r)
			name, stranger := k.client.Name, err != nil || !k.client.Authenticated
			if stranger {
				name = k.client.Address
			}
			leave, why := s.work.enter(ctx, name, stranger)
			if leave == nil {
				h := w.Header()
				h.Set("Retry-After", strconv.Itoa(int(max(s.o.Limits.Wait/time.Second, 1))))
				h.Set("Connection", "close")
				http.Error(w, "too many requests are worked on", http.StatusServiceUnavailable)
				s.record(r, start, http.StatusServiceUnavailable, why)
				return
			}
			defer leave()
		}
		s.requests.Add(1)
		defer s.requests.Add(-1)
		if conn := connectionOf(r).conn; conn != nil {
			w = &writer{w, conn}
		}
		h.ServeHTTP(w, r)
	})
}

// Client returns the client: by the certificate of the connection or, with
// allow-header-cert-info in auth.conf, by the headers of a proxy.
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
	query, _ := url.ParseQuery(r.URL.RawQuery) // unreadable parameters fit no rule
	return s.auth.Decide(authconf.Request{Method: r.Method, Path: s.meaning(r.URL.Path), Query: query, Client: k.client})
}

// known identifies the client, once for a connection and keyring.
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

// Authorize decides by auth.conf. The error is a *rest.Forbidden, or nil.
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

// meaning returns the path that auth.conf is asked about: the one that the
// handler serves, and for legacy URLs the current one.
func (s *Server) meaning(path string) string {
	if !s.o.Legacy {
		for strings.Contains(path, "//") {
			path = strings.ReplaceAll(path, "//", "/")
		}
		return path
	}
	parts := strings.SplitN(path, "/", 4)
	if len(parts) < 4 || parts[1] == "puppet" || parts[1] == "puppet-ca" || parts[1] == "pdb" || parts[1] == "status" {
		return path
	}
	if strings.HasPrefix(parts[2], "certificate") {
		return "/puppet-ca/v1/" + parts[2] + "/" + parts[3]
	}
	return "/puppet/v3/" + parts[2] + "/" + parts[3]
}

// Guard passes to h what auth.conf allows. It refuses relative paths, however
// they are encoded.
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

package ldap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	ldap "github.com/go-ldap/ldap/v3"

	"indirtui/indirector"
	"indirtui/traces"
)

// A client keeps one connection, which all requests share. It is safe for
// concurrent use. Rule LDAP-01.
type client struct {
	config  *config
	dialing chan struct{} // one slot, held by who makes a connection

	mu     sync.Mutex // guards the fields below, and users and left of links
	kept   *link      // nil if there is none
	closed bool
}

// A link is a connection that is bound.
type link struct {
	conn  *ldap.Conn
	wire  *wire
	users int
	left  bool // kept no more: the last user closes it
}

func newClient(c *config, _ indirector.Env) *client {
	return &client{config: c, dialing: make(chan struct{}, 1)}
}

var errClosed = errors.New("the terminus is closed")

// take returns the connection, made if need be. It must be given back.
func (c *client) take(ctx context.Context) (*link, error) {
	select {
	case c.dialing <- struct{}{}:
		defer func() { <-c.dialing }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l, err := c.use(nil); l != nil || err != nil {
		return l, err
	}
	l, err := c.config.connect(ctx)
	if err != nil {
		return nil, err
	}
	if _, err = c.use(l); err != nil {
		l.close()
		return nil, err
	}
	return l, nil
}

// use takes the kept connection, or keeps a new one.
func (c *client) use(fresh *link) (*link, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	if fresh != nil {
		c.kept = fresh
	}
	if c.kept != nil {
		c.kept.users++
	}
	return c.kept, nil
}

// give gives a connection back. One that is broken is not used again; searches that
// are on it go on.
func (c *client) give(l *link, broken bool) {
	c.mu.Lock()
	l.users--
	if broken || c.closed {
		l.left = true
		if c.kept == l {
			c.kept = nil
		}
	}
	last := l.left && l.users == 0
	c.mu.Unlock()
	if last {
		l.close()
	}
}

// close ends the kept connection as soon as it is not used.
func (c *client) close() {
	c.mu.Lock()
	l := c.kept
	c.kept, c.closed = nil, true
	idle := l != nil && l.users == 0
	c.mu.Unlock()
	if idle {
		l.close()
	}
}

func (l *link) close() {
	_ = l.wire.Close() // first: a write that hangs would let the library wait
	_ = l.conn.Close()
}

// connect makes a connection and binds, within a span. Rule LDAP-12.
func (c *config) connect(ctx context.Context) (l *link, err error) {
	ctx, cancel := context.WithTimeout(ctx, c.limit)
	defer cancel()
	ctx, span := traces.Start(ctx, traces.Network, "connect to "+c.address())
	defer func() {
		if err != nil {
			span.End("failed", traces.Because{}, err)
			return
		}
		span.End("bound as "+c.who(), traces.Because{}, nil)
	}()
	span.Attr("user", c.who())
	span.Attr("tls", c.encryption())
	raw, err := new(net.Dialer).DialContext(ctx, "tcp", c.address())
	if err != nil {
		return nil, c.unreachable(err)
	}
	l = &link{wire: &wire{Conn: raw, limit: c.limit}}
	l.wire.allow(maxAnswer)
	stop := context.AfterFunc(ctx, func() { _ = l.wire.Close() })
	defer stop()
	if err = l.open(ctx, c); err == nil {
		err = l.bind(c)
	}
	if err == nil && ctx.Err() == nil {
		return l, nil
	}
	l.close()
	if ctx.Err() != nil {
		err = &problem{text: fmt.Sprintf("the connection to %s took longer than %s (%s)", c.address(), c.limit, settingTimeout), libldap: "Can't contact LDAP server", err: errors.Join(ctx.Err(), err)}
	}
	return nil, err
}

func (c *config) encryption() string {
	switch {
	case c.startTLS:
		return "StartTLS"
	case c.ssl:
		return "from the start"
	}
	return "none"
}

// open starts the protocol, encrypted if the settings ask for it.
func (l *link) open(ctx context.Context, c *config) error {
	var trusted *trust
	var conf *tls.Config
	if c.ssl || c.startTLS {
		var err error
		if trusted, err = c.trusted(ctx); err != nil {
			l.conn = ldap.NewConn(l.wire, false)
			l.conn.Start()
			return &problem{text: err.Error(), libldap: "Connect error", err: err}
		}
		conf = &tls.Config{RootCAs: trusted.pool, ServerName: c.server, InsecureSkipVerify: !trusted.verify}
	}
	if !c.ssl || c.startTLS {
		l.conn = ldap.NewConn(l.wire, false)
		l.conn.Start()
		if !c.startTLS {
			return nil
		}
		if err := l.conn.StartTLS(conf); err != nil {
			return c.encryptionProblem(err, trusted, "Connect error")
		}
		return nil
	}
	secure := tls.Client(l.wire, conf)
	err := secure.HandshakeContext(ctx)
	l.conn = ldap.NewConn(secure, true)
	l.conn.Start()
	if err != nil {
		return c.encryptionProblem(err, trusted, "Can't contact LDAP server")
	}
	return nil
}

func (l *link) bind(c *config) error {
	request := ldap.NewSimpleBindRequest(c.user, c.password, nil)
	request.AllowEmptyPassword = true
	if c.user == "" {
		request.Password = ""
	}
	_, err := l.conn.SimpleBind(request)
	if err == nil {
		return nil
	}
	code := ldap.ErrorNetwork
	if e := (*ldap.Error)(nil); errors.As(err, &e) {
		code = int(e.ResultCode)
	}
	if code == ldap.ErrorNetwork {
		return &problem{text: fmt.Sprintf("bind as %s failed: %s", c.who(), errorText(err)), libldap: "Can't contact LDAP server", err: err}
	}
	text := fmt.Sprintf("bind as %s refused: %s", c.who(), strings.ToLower(libldap(code)))
	if c.user != "" && c.password == "" {
		text += " (ldappassword is empty)"
	}
	return &problem{text: text, libldap: libldap(code), err: err}
}

// unreachable finds words for a connection that was not made.
func (c *config) unreachable(err error) error {
	why := err.Error()
	var unknown *net.DNSError
	switch {
	case errors.As(err, &unknown):
		why = "the name " + c.server + " has no address (DNS)"
	case errors.Is(err, syscall.ECONNREFUSED):
		why = "connection refused"
	case errors.Is(err, context.DeadlineExceeded):
		why = fmt.Sprintf("no answer within %s (%s)", c.limit, settingTimeout)
	}
	return &problem{text: fmt.Sprintf("no connection to %s: %s", c.address(), why), libldap: "Can't contact LDAP server", err: err}
}

// encryptionProblem finds words for a certificate that is not trusted, or a server
// without TLS.
func (c *config) encryptionProblem(err error, trusted *trust, libldap string) error {
	why := errorText(err)
	if _, x509, found := strings.Cut(why, "x509: "); found {
		why = strings.TrimSuffix(x509, ")") + "; trusted is " + trusted.from
	} else if strings.HasSuffix(why, "EOF") || strings.Contains(why, "first record does not look like a TLS handshake") || strings.Contains(why, "reset by peer") {
		why = "the server does not speak TLS on this port (" + why + ")"
	}
	return &problem{text: fmt.Sprintf("TLS with %s failed: %s", c.address(), why), libldap: libldap, err: err}
}

// errorText returns the text of an error without the library's number, and what the
// server added.
func errorText(err error) string {
	e := (*ldap.Error)(nil)
	if !errors.As(err, &e) {
		return err.Error()
	}
	detail := e.Err.Error()
	if e.ResultCode >= ldap.ErrorNetwork {
		return detail
	}
	word := strings.ToLower(libldap(int(e.ResultCode)))
	if detail == "" {
		return word
	}
	return word + ": " + detail
}

// words of libldap that differ from those of our library in more than case.
var libldapWords = map[int]string{
	ldap.LDAPResultAuthMethodNotSupported:       "Authentication method not supported",
	ldap.LDAPResultStrongAuthRequired:           "Strong(er) authentication required",
	ldap.LDAPResultInsufficientAccessRights:     "Insufficient access",
	ldap.LDAPResultBusy:                         "Server is busy",
	ldap.LDAPResultUnavailable:                  "Server is unavailable",
	ldap.LDAPResultUnwillingToPerform:           "Server is unwilling to perform",
	ldap.LDAPResultUnavailableCriticalExtension: "Critical extension is unavailable",
	ldap.LDAPResultInvalidDNSyntax:              "Invalid DN syntax",
}

// libldap returns libldap's words for a result.
func libldap(code int) string {
	if w, ok := libldapWords[code]; ok {
		return w
	}
	w := ldap.LDAPResultCodeMap[uint16(code)]
	if w == "" {
		return fmt.Sprintf("Unknown error %d", code)
	}
	return w[:1] + strings.ToLower(w[1:])
}

// A wire is a connection whose answers and waits have limits.
type wire struct {
	net.Conn
	limit time.Duration
	room  atomic.Int64 // bytes that may still be read
}

var errFull = errors.New("the answer is too large")

// allow begins a request, whose answer may have so many bytes.
func (w *wire) allow(bytes int64) { w.room.Store(bytes) }

func (w *wire) full() bool { return w.room.Load() <= 0 }

func (w *wire) Read(b []byte) (int, error) {
	if w.full() {
		return 0, errFull
	}
	n, err := w.Conn.Read(b)
	w.room.Add(int64(-n))
	return n, err
}

func (w *wire) Write(b []byte) (int, error) {
	if err := w.SetWriteDeadline(time.Now().Add(w.limit)); err != nil {
		return 0, err
	}
	return w.Conn.Write(b)
}

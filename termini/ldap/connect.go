package ldap

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"

	ldap "github.com/go-ldap/ldap/v3"

	"indirtui/traces"
)

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
	l.wire.allow(c.maxAnswer)
	stop := context.AfterFunc(ctx, func() { _ = l.wire.Close() })
	defer stop()
	if err = l.open(ctx, c, span); err == nil {
		err = l.bind(c)
	}
	if err == nil && ctx.Err() == nil {
		return l, nil
	}
	l.close()
	if ctx.Err() != nil {
		err = &problem{text: fmt.Sprintf("the connection to %s took longer than %s (%s)", c.address(), c.limit, settingTimeout), logged: noContact, err: errors.Join(ctx.Err(), err)}
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
func (l *link) open(ctx context.Context, c *config, span *traces.Active) error {
	if !c.ssl && !c.startTLS {
		l.start(l.wire, false)
		return nil
	}
	trusted, err := c.trusted(ctx)
	if err != nil {
		return &problem{text: err.Error(), logged: "Connect error", err: err}
	}
	span.Attr("trusted", trusted.from)
	conf := &tls.Config{RootCAs: trusted.pool, ServerName: c.server, InsecureSkipVerify: !trusted.verify}
	if c.startTLS {
		l.start(l.wire, false)
		if err := l.conn.StartTLS(conf); err != nil {
			return c.untrusted(err, trusted, "Connect error")
		}
		return nil
	}
	secure := tls.Client(l.wire, conf)
	if err := secure.HandshakeContext(ctx); err != nil {
		return c.untrusted(err, trusted, noContact)
	}
	l.start(secure, true)
	return nil
}

func (l *link) start(conn net.Conn, secure bool) {
	l.conn = ldap.NewConn(conn, secure)
	l.conn.Start()
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
	code := codeOf(err)
	if code >= ldap.ErrorNetwork {
		return &problem{text: fmt.Sprintf("bind as %s failed: %s", c.who(), errorText(err)), logged: noContact, err: err}
	}
	text := fmt.Sprintf("bind as %s refused: %s", c.who(), strings.ToLower(libldap(code)))
	if c.user != "" && c.password == "" {
		text += " (ldappassword is empty)"
	}
	return &problem{text: text, logged: libldap(code), err: err}
}

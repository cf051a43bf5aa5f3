package client

import (
	"context"
	"crypto/tls"
	"errors"
	"net"
	"net/http"
	"net/url"
	"sync"
	"syscall"
	"time"
)

// A site is the key of shared connections. Rule REST-CLI-07.
type site struct {
	scheme, host string
	identity
}

// An identity decides what is trusted and which certificate is shown.
type identity struct {
	system, anonymous, unnamed bool
	node                       string // "" is this host
}

// A pool keeps the connections to one site.
type pool struct {
	transport *http.Transport
	trust     *trust // nil without TLS
	shown     string // subject of the certificate shown; "" is none
	used      time.Time
}

// maxPools is how many sites are kept.
const maxPools = 1024

// pool returns the connections for an exchange: new ones when certificates have
// changed.
func (c *Client) pool(u *url.URL, x *Exchange) (*pool, error) {
	key := site{u.Scheme, u.Host, identity{x.SystemStore, x.Anonymous, x.Unnamed, x.Identity}}
	var t *trust
	if u.Scheme == "https" {
		var err error
		if t, err = c.trust(key.identity); err != nil {
			return nil, err
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, errClosed
	}
	p := c.pools[key]
	if p != nil && p.trust == t {
		p.used = c.now()
		return p, nil
	}
	if p != nil {
		p.transport.CloseIdleConnections()
	} else if len(c.pools) >= maxPools {
		c.evict()
	}
	p = &pool{transport: c.transport(), trust: t, used: c.now()}
	if t != nil {
		p.transport.TLSClientConfig = t.config(u.Hostname())
		p.shown = t.shown()
	}
	c.pools[key] = p
	return p, nil
}

// evict drops the pool that was unused for the longest time.
func (c *Client) evict() {
	var oldest site
	var at time.Time
	for key, p := range c.pools {
		if at.IsZero() || p.used.Before(at) {
			oldest, at = key, p.used
		}
	}
	c.pools[oldest].transport.CloseIdleConnections()
	delete(c.pools, oldest)
}

// dial connects to a server or a proxy.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	conn, err := (&net.Dialer{Timeout: c.connect}).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &heedful{Conn: conn, ended: make(chan struct{})}, nil
}

// A heedful connection fails to write only after its reader has had time to
// read why the other side closed it: TLS 1.3 refuses a certificate by an alert
// while the request is being written.
type heedful struct {
	net.Conn
	once  sync.Once
	ended chan struct{} // closed with the connection
}

// alertTime is how long the alert of a closed connection is waited for.
const alertTime = 200 * time.Millisecond

func (c *heedful) Write(b []byte) (int, error) {
	n, err := c.Conn.Write(b)
	if broken(err) {
		late := time.NewTimer(alertTime)
		defer late.Stop()
		select {
		case <-c.ended:
		case <-late.C:
		}
	}
	return n, err
}

func broken(err error) bool {
	return errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) || errors.Is(err, net.ErrClosed)
}

// alerted returns the alert by which the other side has ended a connection, or
// err, by which writing failed.
func alerted(conn net.Conn, err error) error {
	t, ok := conn.(*tls.Conn)
	if !ok || !broken(err) {
		return err
	}
	_ = t.SetReadDeadline(time.Now().Add(alertTime))
	_, alert := t.Read(make([]byte, 1)) // the same as the reader has got
	if op := (*net.OpError)(nil); errors.As(alert, &op) && op.Op == "remote error" {
		return alert
	}
	return err
}

func (c *heedful) Close() error {
	c.once.Do(func() { close(c.ended) })
	return c.Conn.Close()
}

func (c *Client) transport() *http.Transport {
	return &http.Transport{
		DialContext:         c.dial,
		TLSHandshakeTimeout: c.connect,
		Proxy:               func(r *http.Request) (*url.URL, error) { return c.proxies.of(r.URL) },
		TLSNextProto:        map[string]func(string, *tls.Conn) http.RoundTripper{}, // Puppet speaks HTTP/1.1
		MaxIdleConnsPerHost: 64,
		IdleConnTimeout:     c.idle,
		// Zero is for ever in Go, and not at all in Puppet.
		DisableKeepAlives:      c.idle <= 0,
		DisableCompression:     true, // Accept-Encoding is Puppet's
		MaxResponseHeaderBytes: maxHeader,
		ExpectContinueTimeout:  time.Second, // for requests that are passed on
	}
}

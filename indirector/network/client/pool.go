package client

import (
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"time"
)

// A site is the key of shared connections. Rule REST-CLI-07.
type site struct {
	scheme, host string
	identity
}

// An identity decides what is trusted and which certificate is shown.
type identity struct {
	system, anonymous bool
	node              string // "" is this host
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
	key := site{u.Scheme, u.Host, identity{x.SystemStore, x.Anonymous, x.Identity}}
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

func (c *Client) transport() *http.Transport {
	return &http.Transport{
		DialContext:         (&net.Dialer{Timeout: c.connect}).DialContext,
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

// Package client is Puppet's HTTP client: it finds servers, trusts them as
// Puppet does, sends requests, follows redirects, obeys Retry-After, and
// reports failures in Puppet's words.
//
//	c := client.New(client.Options{Settings: settings})
//	answer, err := c.Do(ctx, &client.Exchange{
//		Service: client.Puppet, Method: "GET", Path: "/puppet/v3/node/web01",
//		Query: "environment=production", Header: http.Header{"Accept": {"application/json"}},
//	})
//
// An answer of any status is an [Answer], not an error. Errors are
// *indirector.Failure: Message is Puppet's, Hidden names the server and the
// cause.
//
// Every exchange is a span of the kind Network, named by method and address.
// Its attributes are
//
//	candidate    the server and its source: "puppet:8140, setting server (default)"
//	proxy        the proxy, if any
//	identity     the certificate shown, if any: "CN=web01"
//	connection   "reused, idle for 3ms", or "new: dns 1ms, connect 2ms, TLS 4ms"
//	peer         the remote address
//	tls          version, cipher, name and end of the server's certificate
//	> Name       a request header; secrets are redacted
//	sent         bytes of the request body
//	wait         from the end of the request to the first byte of the answer
//	status       "404 Not Found"
//	< Name       a header of the answer
//	format       its media type
//	read         how long reading the body took; missing if it is streamed
//	size         bytes of the decoded body; likewise
//	compressed   bytes on the wire, if it was compressed
//	message      the server's error message
//	issue_kind   and its kind
package client

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// A Service is one of Puppet's; each has its own host, port and SRV record.
// Rule REST-CLI-01.
type Service string

// The services.
const (
	CA           Service = "ca"
	FileServer   Service = "fileserver"
	Puppet       Service = "puppet"
	PuppetServer Service = "puppetserver"
	Report       Service = "report"
)

// base is the path that Puppet's messages show with the service.
func (s Service) base() string {
	switch s {
	case CA:
		return "/puppet-ca/v1"
	case PuppetServer:
		return ""
	}
	return "/puppet/v3"
}

// defaultIdle is how long an idle connection is kept without a setting.
const defaultIdle = 4 * time.Second

// Limits of what a server may send.
const (
	maxRedirects = 10
	maxRetries   = 100
	maxBody      = 64 << 20 // bytes of a body in memory
	maxErrorBody = 1 << 20  // bytes of an error's body, if success would be streamed
	maxHeader    = 1 << 20  // bytes of all headers of an answer
)

// Options are the options of New. Settings are required.
type Options struct {
	Settings indirector.Settings
	Log      *slog.Logger     // nil discards
	Now      func() time.Time // nil is time.Now
	// Sleep waits for d or until ctx ends, whose error it returns. Nil waits for
	// real.
	Sleep func(ctx context.Context, d time.Duration) error
	// Getenv reads the environment, for proxies. Nil is os.Getenv.
	Getenv func(string) string
	// LookupSRV finds SRV records in the order in which to try them. Nil asks the
	// system's resolver. Rule REST-CLI-02.
	LookupSRV func(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// Settings returns those that every Client reads; ServerSettings those that
// find Puppet's own servers and their trust. The slices are the caller's.
func Settings() []indirector.Setting {
	return []indirector.Setting{
		{Name: "localcacert", Doc: "Certificates of authorities that are trusted."},
		{Name: "hostcert", Doc: "Certificate to show."},
		{Name: "hostprivkey", Doc: "Its key."},
		{Name: "passfile", Doc: "A file whose content, every byte of it, is the password of that key."},
		{Name: "http_connect_timeout", Doc: "How long a connection may take."},
		{Name: "http_read_timeout", Doc: "How long to wait for the next bytes."},
		{Name: "http_keepalive_timeout", Doc: "How long an idle connection is kept."},
		{Name: "runinterval", Doc: "The longest that a server may make us wait by Retry-After."},
		{Name: "http_user_agent", Doc: "How the client calls itself."},
		{Name: "location_trusted", Doc: "Whether another host to which we are redirected may see a password."},
		{Name: "http_proxy_host", Doc: "Proxy, if the process' environment names none."},
		{Name: "http_proxy_port", Doc: "Its port."},
		{Name: "http_proxy_user", Doc: "User name for it."},
		{Name: "http_proxy_password", Doc: "Password for it."},
		{Name: "no_proxy", Doc: "Hosts and domains that are reached without it, if the process' environment names none."},
	}
}

// ServerSettings: see Settings.
func ServerSettings() []indirector.Setting {
	return []indirector.Setting{
		{Name: "server", Doc: "The server, unless one of the following finds it."},
		{Name: "serverport", Doc: "Its port, and that of entries of server_list without one."},
		{Name: "server_list", Doc: "Servers, of which the first is taken that tells its status."},
		{Name: "use_srv_records", Doc: "Whether servers are looked for in the name service first."},
		{Name: "srv_domain", Doc: "Domain of those records."},
		{Name: "hostcrl", Doc: "Revocation lists that the server's certificate is checked against."},
		{Name: "certificate_revocation", Doc: "Whether the whole chain is checked (chain), only the server's certificate (leaf), or nothing (false)."},
		{Name: "http_extra_headers", Doc: "Further headers."},
		{Name: "profile", Doc: "Whether the server is asked to measure the request."},
	}
}

// A Client sends requests to servers over connections that it keeps. It is safe
// for concurrent use and must be closed.
type Client struct {
	o        Options
	settings indirector.Settings
	log      *slog.Logger
	now      func() time.Time

	connect, read, idle, maxSleep time.Duration
	proxies                       proxies

	loading  sync.Mutex // held while certificates are read
	mu       sync.Mutex // guards the following
	pools    map[site]*pool
	trusts   map[identity]*trust
	sessions sessions
	versions map[string]string // X-Puppet-Version by host and port
	closed   bool
}

// New returns a Client with the settings as they are now. Certificates are read
// when first needed, and again when their files change.
func New(o Options) *Client {
	if o.Settings == nil {
		o.Settings = noSettings{}
	}
	c := &Client{o: o, settings: o.Settings, log: o.Log, now: o.Now, pools: map[site]*pool{}, trusts: map[identity]*trust{}, versions: map[string]string{}}
	if c.log == nil {
		c.log = slog.New(slog.DiscardHandler)
	}
	if c.now == nil {
		c.now = time.Now
	}
	if c.o.Sleep == nil {
		c.o.Sleep = indirector.Sleep
	}
	if c.o.Getenv == nil {
		c.o.Getenv = os.Getenv
	}
	if c.o.LookupSRV == nil {
		c.o.LookupSRV = net.DefaultResolver.LookupSRV
	}
	c.connect = c.duration("http_connect_timeout")
	c.read = c.duration("http_read_timeout")
	if c.idle = c.duration("http_keepalive_timeout"); c.get("http_keepalive_timeout") == "" {
		c.idle = defaultIdle
	}
	c.maxSleep = c.duration("runinterval")
	c.proxies = newProxies(o.Settings, c.o.Getenv)
	return c
}

// Of returns the Client that the termini of an engine share. Each of them
// closes it.
func Of(env indirector.Env) *Client {
	make := func(any) any {
		return New(Options{Settings: env.Settings, Log: env.Log, Now: env.Now})
	}
	if env.Shared == nil {
		return make(nil).(*Client)
	}
	return env.Shared("client", make).(*Client)
}

type noSettings struct{}

func (noSettings) Get(string) (value, source string) { return "", "" }

// get returns a setting; "" if it is unknown or "none".
func (c *Client) get(name string) string {
	v, _ := c.settings.Get(name)
	if v == "none" {
		return ""
	}
	return v
}

// duration returns a setting; zero is no limit.
func (c *Client) duration(name string) time.Duration {
	d, err := indirector.ParseDuration(c.get(name))
	if err != nil {
		return 0
	}
	return d
}

// Close closes idle connections. Running exchanges go on; new ones fail.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, p := range c.pools {
		p.transport.CloseIdleConnections()
	}
	return nil
}

// An Exchange is one request to a server.
type Exchange struct {
	Service Service  // finds host and port, unless URL is given
	URL     *url.URL // host, and path if Path is ""; nil asks the Service
	Method  string
	Path    string // escaped: "/puppet/v3/node/web01"
	Query   string // encoded; "" is none
	Header  http.Header
	// Body opens the request body, once for each time that it is sent; nil is
	// none. Size is its size in bytes, negative if unknown.
	Body func() (io.ReadCloser, error)
	Size int64

	// SystemStore also trusts the system's CAs and checks no revocation, as
	// Puppet does for servers that are not its own.
	SystemStore bool
	// Bare leaves out http_extra_headers.
	Bare bool
	// Verbatim offers no compression.
	Verbatim bool
	// Once leaves redirects and Retry-After to the caller.
	Once bool
	// Target is the second word of the request line. With it the request goes on
	// as it came: nothing is added, and Body is opened once unless Again. Path and
	// Query are for the trace.
	Target  string
	Trailer http.Header // sent after a body in chunks
	Chunked bool        // sends the body in chunks
	Again   bool
	// Stream leaves the body of a success to the caller, in Answer.Stream.
	Stream bool
	// Coded leaves a Stream encoded; see Decode.
	Coded bool
	// Limit is the largest body in memory, in bytes, unpacked; 0 is 64 MiB.
	Limit int64
	// Identity names the node whose certificate is shown instead of this host's:
	// NAME.pem in certdir and privatekeydir.
	Identity string
	// Anonymous does without certificate and revocation lists where there are
	// none yet.
	Anonymous bool
	// Unnamed shows no certificate, though the server's is checked.
	Unnamed bool
	// Wire is filled in, unless nil.
	Wire *indirector.Wire
}

// SetClient adds the headers that name the client for whom a proxy asks. Puppet
// Server trusts them with allow-header-cert-info.
func (x *Exchange) SetClient(remote *indirector.Remote) {
	if !remote.Authenticated {
		x.Header.Set("X-Client-Verify", "NONE")
		return
	}
	x.Header.Set("X-Client-Verify", "SUCCESS")
	x.Header.Set("X-Client-DN", "CN="+remote.Node)
	if remote.Certificate != "" {
		x.Header.Set("X-Client-Cert", strings.ReplaceAll(url.QueryEscape(remote.Certificate), "+", "%20"))
	}
}

// An Answer is the answer of a server, of any status.
type Answer struct {
	URL    *url.URL // after redirects
	Status int
	Reason string // "Not Found"
	Header http.Header
	// Trailer is complete when the body was read.
	Trailer http.Header
	Chunked bool   // the body came in chunks
	Body    []byte // decoded; nil if it is streamed
	// Stream is the body of a success, if Exchange.Stream asked for it. The
	// caller closes it; reading fails when nothing arrives for http_read_timeout.
	// Size is its size in bytes, negative if unknown.
	Stream io.ReadCloser
	Size   int64
	// Coding is the encoding of Stream; "" is none.
	Coding string
	// Candidate is the server that answered: "puppet:8140, setting server
	// (default)".
	Candidate string
	// Identity is the certificate that this client has: "CN=web01"; "" is none.
	Identity string
}

// OK reports whether the status is 2xx.
func (a *Answer) OK() bool { return a.Status/100 == 2 }

// Do finds the server, follows redirects and waits for Retry-After until there
// is an answer. Rules REST-CLI-01 to REST-CLI-08.
func (c *Client) Do(ctx context.Context, x *Exchange) (*Answer, error) {
	if x.URL != nil {
		to := target{url: withPath(x.URL, x), candidate: x.URL.Host + ", named by the request"}
		to.login(x.URL)
		return c.follow(ctx, x, to)
	}
	return c.route(ctx, x)
}

// withPath returns the address of the exchange at that server.
func withPath(u *url.URL, x *Exchange) *url.URL {
	n := &url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath, RawQuery: u.RawQuery}
	if x.Path != "" {
		n.Path, n.RawPath = x.Path, x.Path
		if plain, err := url.PathUnescape(x.Path); err == nil {
			n.Path = plain
		}
	}
	if x.Query != "" {
		n.RawQuery = x.Query
	}
	return n
}

// A target is the server of an exchange.
type target struct {
	url            *url.URL
	candidate      string // for the trace
	user, password string // for basic authorization
	auth           bool
	host           string // the only one that may see them
	// base is the address that Puppet names if there is no connection; nil is
	// that of the request. Puppet connects before it asks.
	base *url.URL
}

func (t *target) login(u *url.URL) {
	if password, ok := u.User.Password(); ok {
		t.user, t.password, t.auth, t.host = u.User.Username(), password, true, u.Hostname()
	}
}

// follow asks a server, and those that it redirects to. Rules REST-CLI-04,
// REST-CLI-05.
func (c *Client) follow(ctx context.Context, x *Exchange, to target) (*Answer, error) {
	header := c.headers(x)
	retries, redirects := 0, 0
	for {
		answer, err := c.exchange(ctx, x, to, header)
		if err != nil {
			return nil, err
		}
		if x.Once {
			return answer, nil
		}
		switch answer.Status {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect:
			if redirects >= maxRedirects {
				return nil, failure("Puppet::HTTP::TooManyRedirects", to.url, "Too many HTTP redirections for "+text(to.url), "the last one was to "+answer.Header.Get("Location"), nil)
			}
			redirects++
			next, err := redirected(ctx, to.url, answer.Header)
			if err != nil {
				return nil, err
			}
			if c.get("location_trusted") != "true" && next.Hostname() != to.url.Hostname() {
				header = header.Clone()
				header.Del("Authorization")
				header.Del("Cookie")
			}
			to.candidate = next.Host + ", redirected by " + to.url.Host
			to.url, to.base = next, nil
			continue
		case http.StatusTooManyRequests, http.StatusServiceUnavailable:
			if retries >= maxRetries {
				return nil, failure("Puppet::HTTP::TooManyRetryAfters", to.url, "Too many HTTP retries for "+text(to.url), "the server said each time to come again later", nil)
			}
			wait, again, err := c.retryAfter(to.url, answer.Header)
			if err != nil {
				return nil, err
			}
			if again {
				retries++
				if err := c.pause(ctx, answer, wait); err != nil {
					return nil, err
				}
				continue
			}
		}
		return answer, nil
	}
}

// pause waits before the next try. Puppet closes the connection meanwhile.
func (c *Client) pause(ctx context.Context, answer *Answer, wait time.Duration) error {
	seconds := int(wait / time.Second)
	c.log.Warn(sleeping(seconds))
	traces.Explain(ctx, noteSleeping(answer, seconds))
	_, span := traces.Start(ctx, traces.Note, sleeping(seconds))
	err := c.o.Sleep(ctx, wait)
	span.End("waited", traces.Because{Reason: traces.Retried, About: "Retry-After: " + answer.Header.Get("Retry-After")}, err)
	return err
}

// Version returns the version of Puppet that the server of the service has
// reported; "" if unknown. Gap L9.
func (c *Client) Version(ctx context.Context, s Service) string {
	f, ok := c.known(runOf(ctx), s)
	if !ok {
		f = c.bySettings(s)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.versions[f.host]
}

func (c *Client) learn(host, version string) {
	if version == "" || len(version) > 64 {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.versions) >= maxPools {
		clear(c.versions)
	}
	c.versions[host] = version
}

// errClosed reports the use of a closed Client.
var errClosed = errors.New("the HTTP client is closed")

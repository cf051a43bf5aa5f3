// Package client is Puppet's HTTP client: it finds the server, trusts it as
// Puppet does, asks, follows redirects, waits when it is told to, and says in
// Puppet's words what failed.
//
//	c := client.New(client.Options{Settings: settings})
//	answer, err := c.Do(ctx, &client.Exchange{
//		Service: client.Puppet, Method: "GET", Path: "/puppet/v3/node/web01",
//		Query: "environment=production", Header: http.Header{"Accept": {"application/json"}},
//	})
//
// An answer of any status is an [Answer], not an error; what it means is left to
// who asked. Errors are *indirector.Failure: Message is Puppet's, Hidden says in
// one sentence which server it was and why.
//
// Every exchange is a span of the kind Network, named by method and address. Its
// attributes are
//
//	candidate    who was asked, and who said so: "puppet:8140, setting server (default)"
//	proxy        who was asked instead; missing if nobody was
//	identity     the certificate shown: "CN=web01"; missing if none was
//	connection   "reused, idle for 3ms", or "new: dns 1ms, connect 2ms, TLS 4ms"
//	peer         the address at the other end
//	tls          version, cipher, name and end of the server's certificate
//	> Name       a header that was sent; secrets are masked
//	sent         the size of the body that was sent, in bytes
//	wait         from the end of the question to the first byte of the answer
//	status       "404 Not Found"
//	< Name       a header that came back
//	format       the media type of the answer
//	read         how long reading the body took; missing if it is streamed
//	size         of the body, out of its encodings, in bytes; likewise
//	compressed   its size on the wire, if it was compressed
//	message      what the server says of an error
//	issue_kind   and how it calls it
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
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// A Service is one of those that Puppet knows; each has its own host, port and
// SRV record. Rule REST-CLI-01.
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

// defaultIdle is how long a connection is kept where no setting says so.
const defaultIdle = 4 * time.Second

// Limits of what is believed of a server.
const (
	maxRedirects = 10
	maxRetries   = 100
	maxBody      = 256 << 20 // bytes of a body that is kept in memory
	maxErrorBody = 1 << 20   // of the body of an error, if success would be streamed
	maxHeader    = 1 << 20   // bytes of all headers of an answer
)

// Options are the options of New. Settings are required; the zero value of the
// others is the process' own clock, resolver and environment.
type Options struct {
	Settings indirector.Settings
	Log      *slog.Logger     // nil discards
	Now      func() time.Time // nil is time.Now
	// Sleep waits for d or until ctx ends, whose error it returns. Nil waits on
	// the clock of the process.
	Sleep func(ctx context.Context, d time.Duration) error
	// Getenv reads the process' environment, for proxies. Nil is os.Getenv.
	Getenv func(string) string
	// LookupSRV finds SRV records, the ones to try first in front. Nil asks the
	// resolver of the system. Rule REST-CLI-02.
	LookupSRV func(ctx context.Context, service, proto, name string) (string, []*net.SRV, error)
}

// Settings are those that a Client reads, whoever it asks; ServerSettings those
// that say who Puppet's own servers are, and how they are trusted. The slices
// are the caller's.
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

// ServerSettings are described with Settings.
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

// A Client asks servers. It is safe for concurrent use, keeps connections, and
// must be closed.
type Client struct {
	o        Options
	settings indirector.Settings
	log      *slog.Logger
	now      func() time.Time

	connect, read, idle, maxSleep time.Duration
	proxies                       proxies

	loading  sync.Mutex // held while files of certificates are read
	mu       sync.Mutex // guards the following
	pools    map[site]*pool
	trusts   map[identity]*trust
	sessions sessions
	versions map[string]string // by host and port: what X-Puppet-Version said
	closed   bool
}

// New returns a Client that goes by the settings as they are now. Files of
// certificates are read when they are first needed, and again when they have
// changed.
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
		c.o.Sleep = sleep
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

// Of returns the Client that the termini of a house share, so that they share
// its connections. Each of them closes it.
func Of(env indirector.Env) *Client {
	make := func() any {
		return New(Options{Settings: env.Settings, Log: env.Log, Now: env.Now})
	}
	if env.Shared == nil {
		return make().(*Client)
	}
	return env.Shared("client", make).(*Client)
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type noSettings struct{}

func (noSettings) Get(string) (value, source string) { return "", "" }

// get returns a setting, "" if it is unknown or says "none".
func (c *Client) get(name string) string {
	v, _ := c.settings.Get(name)
	if v == "none" {
		return ""
	}
	return v
}

// duration is a setting; zero is no limit.
func (c *Client) duration(name string) time.Duration {
	d, err := indirector.ParseDuration(c.get(name))
	if err != nil {
		return 0
	}
	return d
}

// Close closes idle connections. Exchanges that are under way go on; there are
// no new ones.
func (c *Client) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
	for _, p := range c.pools {
		p.transport.CloseIdleConnections()
	}
	return nil
}

// An Exchange is one question to a server.
type Exchange struct {
	Service Service  // whose host and port are found; unless URL says them
	URL     *url.URL // whom to ask, and what if Path is ""; nil is the Service
	Method  string
	Path    string // escaped: "/puppet/v3/node/web01"
	Query   string // encoded; "" is none
	Header  http.Header
	// Body opens what is sent, from its first byte, as often as it must be sent;
	// nil is nothing. Size is its size, negative if nobody knows.
	Body func() (io.ReadCloser, error)
	Size int64

	// SystemStore trusts the authorities of the system besides Puppet's, and
	// checks no revocation, as Puppet does for servers that are not its own.
	SystemStore bool
	// Bare asks as no Puppet service is asked: without http_extra_headers.
	Bare bool
	// Verbatim takes the bytes as the server has them: no compression is offered.
	Verbatim bool
	// Stream leaves the body of a success to the caller, as Answer.Stream.
	Stream bool
	// Coded leaves a Stream in the encoding in which it comes; see Decode.
	Coded bool
	// Limit is how many bytes of a body are kept in memory; 0 is 256 MiB.
	Limit int64
	// Identity is the node whose certificate is shown instead of this host's:
	// NAME.pem in the directories of the settings certdir and privatekeydir.
	Identity string
	// Anonymous asks without a certificate if this host has none, and without
	// revocation lists if there are none, as who has not been signed yet must.
	Anonymous bool
	// Wire is filled, if it is not nil.
	Wire *indirector.Wire
}

// An Answer is what came back, of whichever status.
type Answer struct {
	URL    *url.URL // who answered, after redirects
	Status int
	Reason string // "Not Found"
	Header http.Header
	Body   []byte // out of its encodings; nil if it is streamed
	// Stream is the body of a success that was asked for as a stream. The caller
	// closes it; reading fails when nothing comes for http_read_timeout. Size is
	// its size, negative if nobody knows.
	Stream io.ReadCloser
	Size   int64
	// Coding is the encoding that Stream was left in; "" is none.
	Coding string
	// Candidate is who answered: "puppet:8140, setting server (default)".
	Candidate string
	// Identity is the certificate that we have for who asks: "CN=web01"; "" is
	// none.
	Identity string
}

// OK reports whether the status is one of success.
func (a *Answer) OK() bool { return a.Status/100 == 2 }

// Do asks until there is an answer: it finds the server, follows redirects and
// waits as long as Retry-After says. Rules REST-CLI-01 to REST-CLI-08.
func (c *Client) Do(ctx context.Context, x *Exchange) (*Answer, error) {
	if x.URL != nil {
		to := target{url: withPath(x.URL, x), candidate: x.URL.Host + ", named by the request"}
		to.login(x.URL)
		return c.follow(ctx, x, to)
	}
	return c.route(ctx, x)
}

// withPath is the address of the question at that server.
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

// A target is a server that is asked.
type target struct {
	url            *url.URL
	candidate      string // for the trace
	user, password string // for a basic authorization
	auth           bool
	host           string // the only one that may see them
	// base is the address that Puppet names if there is no connection; nil is
	// that of the question. Puppet connects before it asks.
	base *url.URL
}

func (t *target) login(u *url.URL) {
	if password, ok := u.User.Password(); ok {
		t.user, t.password, t.auth, t.host = u.User.Username(), password, true, u.Hostname()
	}
}

// follow asks one server, and whoever it sends us to. Rules REST-CLI-04,
// REST-CLI-05.
func (c *Client) follow(ctx context.Context, x *Exchange, to target) (*Answer, error) {
	header := c.headers(x)
	retries, redirects := 0, 0
	for {
		answer, err := c.exchange(ctx, x, to, header)
		if err != nil {
			return nil, err
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
	traces.AddNote(ctx, noteSleeping(answer, seconds))
	_, span := traces.Start(ctx, traces.Note, sleeping(seconds))
	err := c.o.Sleep(ctx, wait)
	span.End("waited", traces.Because{Reason: traces.Retried, About: "Retry-After: " + answer.Header.Get("Retry-After")}, err)
	return err
}

// Version is the version of Puppet that the server of the service has said it
// has; "" if it was not asked yet, or did not say. Gap L9.
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

// errClosed is that the client was closed.
var errClosed = errors.New("the HTTP client is closed")

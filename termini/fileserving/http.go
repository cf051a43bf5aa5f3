package fileserving

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/traces"
)

// maxRedirects is how often the address may change on the way.
const maxRedirects = 10

// HTTP asks web servers.
type HTTP struct {
	maker
	connect, read time.Duration
	agent         string
	mu            sync.Mutex   // guards client
	client        *http.Client // nil before the first request
}

var (
	_ indirector.Finder   = (*HTTP)(nil)
	_ indirector.Searcher = (*HTTP)(nil)
	_ io.Closer           = (*HTTP)(nil)
)

func newHTTP(env indirector.Env) (indirector.Terminus, error) {
	t := &HTTP{maker: maker{env: env, content: env.Indirection == "file_content", digest: "sha256"}}
	t.connect = duration(env.Settings, "http_connect_timeout")
	t.read = duration(env.Settings, "http_read_timeout")
	t.agent, _ = env.Settings.Get("http_user_agent")
	return t, nil
}

// duration is a time limit; zero is none.
func duration(s indirector.Settings, name string) time.Duration {
	text, _ := s.Get(name)
	d, err := indirector.ParseDuration(text)
	if err != nil {
		return 0
	}
	return d
}

// Close closes idle connections.
func (t *HTTP) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.client != nil {
		t.client.CloseIdleConnections()
	}
	return nil
}

// Search fails. Rule TERM-HTTP-04.
func (t *HTTP) Search(context.Context, *indirector.Request) ([]indirector.Instance, error) {
	return nil, &indirector.Failure{Message: "cannot lookup multiple files"}
}

// Find asks what the server says of a file. Contents are fetched when they are
// read; only whether there are some is asked now. Rules TERM-HTTP-01,
// TERM-HTTP-05.
func (t *HTTP) Find(ctx context.Context, req *indirector.Request) (indirector.Instance, error) {
	address := req.Key
	if req.URI != nil {
		address = req.URI.Text
	}
	o, err := t.options(req)
	if err != nil {
		return nil, err
	}
	resp, err := t.head(ctx, address)
	if err != nil {
		return nil, err
	}
	if t.content {
		size := resp.ContentLength
		if resp.StatusCode == http.StatusPartialContent {
			size = -1
		}
		return &model.FileContent{Path: "/dev/null", Links: o.links, Contents: &body{t, address, size}}, nil
	}
	return t.metadata(ctx, resp, given(req, "checksum_type"))
}

// head returns a successful answer, whose body is closed: that to HEAD, or to
// GET of one byte where HEAD is not allowed.
func (t *HTTP) head(ctx context.Context, address string) (*http.Response, error) {
	resp, err := t.ask(ctx, http.MethodHead, address, nil)
	if err == nil && (resp.StatusCode == http.StatusForbidden || resp.StatusCode == http.StatusMethodNotAllowed) {
		traces.AddNote(ctx, fmt.Sprintf("HEAD was answered with %s, so one byte is asked for", resp.Status))
		resp, err = t.ask(ctx, http.MethodGet, address, http.Header{"Range": {"bytes=0-0"}})
	}
	if err != nil {
		return nil, err
	}
	if err := resp.Body.Close(); err != nil {
		return nil, failed(ctx, resp.Request.URL, err)
	}
	if resp.StatusCode/100 != 2 {
		return nil, indirector.NotFound(traces.NilFrom404, fmt.Sprintf("%s %s: %s", resp.Request.Method, resp.Request.URL.Redacted(), resp.Status))
	}
	return resp, nil
}

// ask does one exchange and follows redirects as Puppet does: 301, 302 and 307
// only. The caller closes the body.
func (t *HTTP) ask(ctx context.Context, method, address string, header http.Header) (*http.Response, error) {
	u, err := parseURL(address)
	if err != nil {
		return nil, err
	}
	client, err := t.httpClient()
	if err != nil {
		return nil, err
	}
	login, host := u.User, u.Host
	for n := 0; ; n++ {
		u.User = nil
		req, err := http.NewRequestWithContext(ctx, method, u.String(), nil)
		if err != nil {
			return nil, failed(ctx, u, err)
		}
		if header != nil {
			req.Header = header.Clone()
		}
		req.Header.Set("User-Agent", t.agent)
		req.Header.Set("Accept", "*/*")
		if password, ok := login.Password(); ok && u.Host == host { // another host must not see it
			req.SetBasicAuth(login.Username(), password)
		}
		resp, err := t.exchange(client, req)
		if err != nil {
			return nil, err
		}
		switch resp.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusTemporaryRedirect:
		default:
			return resp, nil
		}
		if err := resp.Body.Close(); err != nil {
			return nil, failed(ctx, u, err)
		}
		if n >= maxRedirects {
			return nil, &indirector.Failure{Class: "Puppet::HTTP::TooManyRedirects", Message: "Too many HTTP redirections for " + u.Redacted(), Origin: "network", Path: u.Redacted()}
		}
		if u, err = follow(u, resp.Header.Get("Location")); err != nil {
			return nil, err
		}
	}
}

// exchange sends one request, which is a span.
func (t *HTTP) exchange(client *http.Client, req *http.Request) (*http.Response, error) {
	_, span := traces.Start(req.Context(), traces.Network, req.Method+" "+req.URL.Redacted())
	resp, err := client.Do(req)
	if err != nil {
		err = failed(req.Context(), req.URL, err)
		span.End("failed", traces.Because{}, err)
		return nil, err
	}
	for _, name := range []string{"Content-Length", "Last-Modified", "Content-MD5", "X-Checksum-Md5", "X-Checksum-Sha1", "X-Checksum-Sha256", "Location"} {
		if v := resp.Header.Get(name); v != "" {
			span.Attr(name, v)
		}
	}
	span.End(resp.Status, traces.Because{}, nil)
	return resp, nil
}

func parseURL(address string) (*url.URL, error) {
	bad := func(why string) error {
		return &indirector.Failure{Class: "URI::InvalidURIError", Message: fmt.Sprintf("bad URI(is not URI?): %q", address), Path: address, Hidden: why}
	}
	if i := strings.IndexFunc(address, func(r rune) bool { return r <= ' ' || r >= 0x7f || strings.ContainsRune("\"<>\\^`{|}", r) }); i >= 0 {
		return nil, bad(fmt.Sprintf("the character at %d must be written as %%%02X", i, address[i]))
	}
	u, err := url.Parse(address)
	switch {
	case err != nil:
		return nil, bad(err.Error())
	case u.Scheme != "http" && u.Scheme != "https" || u.Host == "":
		return nil, bad("the terminus http takes addresses that begin with http:// or https:// and name a host")
	}
	u.Fragment = ""
	return u, nil
}

func follow(from *url.URL, location string) (*url.URL, error) {
	bad := func(message string) error {
		return &indirector.Failure{Class: "Puppet::HTTP::ProtocolError", Message: message, Origin: "network", Path: from.Redacted(), Hidden: fmt.Sprintf("the header is Location: %q", location)}
	}
	if location == "" {
		return nil, bad("Location response header is missing")
	}
	u, err := from.Parse(location)
	if err != nil {
		return nil, bad("Location URI is invalid: " + err.Error())
	}
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, bad(fmt.Sprintf("Location URI is invalid: bad URI(is not URI?): %q", location))
	}
	return u, nil
}

// failed is an exchange that came to nothing.
func failed(ctx context.Context, u *url.URL, err error) error {
	if ctx.Err() != nil {
		return fmt.Errorf("ask %s: %w", u.Redacted(), ctx.Err())
	}
	cause := err
	if e := (*url.Error)(nil); errors.As(err, &e) {
		cause = e.Err
	}
	return &indirector.Failure{
		Class: "Puppet::HTTP::HTTPError", Message: fmt.Sprintf("Request to %s failed: %v", u.Redacted(), cause),
		Origin: "network", Path: u.Redacted(), Hidden: cause.Error(), Err: err,
	}
}

// metadata reads the headers. Rules TERM-HTTP-02, TERM-HTTP-03.
func (t *HTTP) metadata(ctx context.Context, resp *http.Response, wanted string) (indirector.Instance, error) {
	h := resp.Header
	sums := map[string]string{"mtime": "{mtime}" + t.env.Now().Local().Format("2006-01-02 15:04:05 -0700")}
	if v := h.Get("Content-MD5"); v != "" {
		sums["md5"] = "{md5}" + hex.EncodeToString(unbase64(v))
	}
	for _, kind := range []string{"md5", "sha1", "sha256"} {
		if v := h.Get("X-Checksum-" + kind); v != "" {
			sums[kind] = "{" + kind + "}" + v
		}
	}
	modified := h.Get("Last-Modified")
	if modified != "" {
		at, err := http.ParseTime(modified)
		if err != nil {
			return nil, &indirector.Failure{
				Class: "Date::Error", Message: "invalid date", Origin: "network", Path: resp.Request.URL.Redacted(),
				Hidden: fmt.Sprintf("the header is Last-Modified: %q", modified), Err: err,
			}
		}
		sums["mtime"] = "{mtime}" + at.UTC().Format("2006-01-02 15:04:05 UTC")
	}
	f := &model.FileMetadata{Path: "/dev/null", Links: "manage", Type: "file", Owner: data.Value{}, Group: data.Value{}, Mode: data.Value{}}
	for _, kind := range []string{wanted, "sha256", "sha1", "md5", "mtime"} {
		if sums[kind] != "" {
			f.ChecksumType, f.Checksum = kind, sums[kind]
			break
		}
	}
	if wanted != "" && f.ChecksumType != wanted {
		traces.AddNote(ctx, fmt.Sprintf("the server tells no %s; %s is taken", wanted, f.ChecksumType))
	}
	if f.ChecksumType == "mtime" && modified == "" {
		traces.AddNote(ctx, "no checksum/Last-Modified header: mtime=now, so the file looks changed every time")
	}
	traces.AddNote(ctx, "owner, group and mode are missing: HTTP does not tell them")
	return f, nil
}

// unbase64 decodes as Ruby does: what is no letter of the alphabet is skipped,
// and what is left over is dropped.
func unbase64(s string) []byte {
	letters := strings.Map(func(r rune) rune {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', r == '+', r == '/':
			return r
		}
		return -1
	}, strings.TrimRight(s, "= \t"))
	if len(letters)%4 == 1 {
		letters = letters[:len(letters)-1]
	}
	b, err := base64.RawStdEncoding.DecodeString(letters)
	if err != nil {
		return nil
	}
	return b
}

// body is the contents of a file of a web server.
type body struct {
	from    *HTTP
	address string
	size    int64
}

var _ model.Contents = (*body)(nil)

// Open asks for the whole file; it is read as it comes.
func (b *body) Open() (io.ReadCloser, error) {
	ctx, cancel := context.WithCancel(context.Background())
	resp, err := b.from.ask(ctx, http.MethodGet, b.address, nil)
	if err != nil {
		cancel()
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		err := &indirector.Failure{
			Class: "Puppet::HTTP::ResponseError", Message: fmt.Sprintf("Error %d on SERVER: %s", resp.StatusCode, http.StatusText(resp.StatusCode)),
			Origin: "network", Path: resp.Request.URL.Redacted(), Hidden: "the server had answered HEAD with success",
		}
		e := resp.Body.Close()
		cancel()
		return nil, errors.Join(err, e)
	}
	r := &reader{ReadCloser: resp.Body, cancel: cancel, limit: b.from.read}
	if r.limit > 0 {
		r.timer = time.AfterFunc(r.limit, cancel)
	}
	return r, nil
}

// Size is what the server said.
func (b *body) Size() int64 { return b.size }

// A reader gives up when nothing comes for too long.
type reader struct {
	io.ReadCloser
	cancel context.CancelFunc
	limit  time.Duration
	timer  *time.Timer // nil if there is no limit
}

func (r *reader) Read(p []byte) (int, error) {
	n, err := r.ReadCloser.Read(p)
	if r.timer != nil && n > 0 {
		r.timer.Reset(r.limit)
	}
	if errors.Is(err, context.Canceled) {
		err = fmt.Errorf("nothing came for %v: %w", r.limit, os.ErrDeadlineExceeded)
	}
	return n, err
}

func (r *reader) Close() error {
	if r.timer != nil {
		r.timer.Stop()
	}
	err := r.ReadCloser.Close()
	r.cancel()
	return err
}

func (t *HTTP) httpClient() (*http.Client, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.client != nil {
		return t.client, nil
	}
	config, err := trust(t.env.Settings)
	if err != nil {
		return nil, err
	}
	t.client = &http.Client{
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport: &http.Transport{
			DialContext:            (&net.Dialer{Timeout: t.connect}).DialContext,
			Proxy:                  proxy(t.env.Settings),
			TLSClientConfig:        config,
			TLSHandshakeTimeout:    t.connect,
			ResponseHeaderTimeout:  t.read,
			IdleConnTimeout:        4 * time.Second,
			DisableCompression:     true, // a file is what its bytes are
			MaxResponseHeaderBytes: 1 << 20,
		},
	}
	return t.client, nil
}

// trust returns who is trusted: the authorities of the system and Puppet's.
// Without files of Puppet's it goes without them.
func trust(s indirector.Settings) (*tls.Config, error) {
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	for _, name := range []string{"localcacert", "ssl_trust_store"} {
		path, _ := s.Get(name)
		if path == "" {
			continue
		}
		pem, err := os.ReadFile(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return nil, fmt.Errorf("read the certificates of setting %s: %w", name, err)
		case len(pem) > 0 && !pool.AppendCertsFromPEM(pem):
			return nil, fmt.Errorf("read the certificates of setting %s: %s holds none", name, path)
		}
	}
	config := &tls.Config{RootCAs: pool, MinVersion: tls.VersionTLS12}
	cert, _ := s.Get("hostcert")
	key, _ := s.Get("hostprivkey")
	if cert != "" && key != "" {
		own, err := tls.LoadX509KeyPair(cert, key)
		switch {
		case err == nil:
			config.Certificates = []tls.Certificate{own}
		case !errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("read the certificate of setting hostcert: %w", err)
		}
	}
	return config, nil
}

// proxy returns who is asked instead of the server: what the process'
// environment says counts, then the settings.
func proxy(s indirector.Settings) func(*http.Request) (*url.URL, error) {
	host, _ := s.Get("http_proxy_host")
	if host == "" || host == "none" {
		return http.ProxyFromEnvironment
	}
	port, _ := s.Get("http_proxy_port")
	via := &url.URL{Scheme: "http", Host: net.JoinHostPort(host, port)}
	if user, _ := s.Get("http_proxy_user"); user != "" && user != "none" {
		password, _ := s.Get("http_proxy_password")
		via.User = url.UserPassword(user, password)
	}
	without, _ := s.Get("no_proxy")
	return func(req *http.Request) (*url.URL, error) {
		if u, err := http.ProxyFromEnvironment(req); u != nil || err != nil {
			return u, err
		}
		for domain := range strings.SplitSeq(without, ",") {
			domain = strings.TrimPrefix(strings.TrimPrefix(strings.TrimSpace(domain), "*"), ".")
			if name := req.URL.Hostname(); domain != "" && (name == domain || strings.HasSuffix(name, "."+domain)) {
				return nil, nil
			}
		}
		return via, nil
	}
}

package client_test

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/youmark/pkcs8"

	"indirtui/indirector"
	"indirtui/indirector/network/client"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/traces"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A pair is a client and the server that it knows by its settings.
type pair struct {
	ca       *clienttest.Authority
	settings clienttest.Settings
	server   *httptest.Server
}

func newPair(t testing.TB, handler http.HandlerFunc) *pair {
	t.Helper()
	p := &pair{ca: clienttest.New(t, "Puppet CA")}
	p.server = clienttest.Serve(t, p.ca.Issue(t, "puppet", clienttest.Local), handler)
	p.settings = p.ca.Write(t, t.TempDir(), p.ca.Issue(t, "web01")).At(t, p.server.URL)
	return p
}

func (p *pair) client(t testing.TB, o client.Options, set ...string) *client.Client {
	t.Helper()
	o.Settings = p.settings.With(set...)
	if o.Getenv == nil {
		o.Getenv = func(string) string { return "" }
	}
	c := client.New(o)
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	})
	return c
}

func get(path string) *client.Exchange {
	return &client.Exchange{Service: client.Puppet, Method: http.MethodGet, Path: path}
}

// traced returns a context that records into the trace.
func traced(t testing.TB) (context.Context, *traces.Trace) {
	t.Helper()
	trace := &traces.Trace{Start: time.Now()}
	return &traces.Live{Context: t.Context(), Trace: trace, Step: traces.Terminus}, trace
}

func attr(s traces.Span, key string) string {
	for _, a := range s.Attrs {
		if a.Key == key {
			return a.Value
		}
	}
	return ""
}

// TestTraceparent checks the traceparent that is sent: the span's, unless the
// request is passed on for another.
func TestTraceparent(t *testing.T) {
	t.Parallel()
	var seen []string
	p := newPair(t, func(_ http.ResponseWriter, r *http.Request) { seen = r.Header.Values("Traceparent") })
	const theirs = "00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"
	start := time.Now()
	trunk, own := traces.RootID(7, start), traces.WorkID(7, start, 1)
	ours := fmt.Sprintf("00-%x-%x-01", trunk, own)
	for _, tt := range []struct {
		name   string
		id     uint64
		change func(*client.Exchange)
		set    []string
		want   []string
	}{
		{name: "our own", id: 7, want: []string{ours}},
		{name: "nobody records"},
		{name: "handed on", id: 7, change: func(x *client.Exchange) { x.Wire = &indirector.Wire{Parent: theirs} }, want: []string{theirs}},
		{name: "handed on, without", id: 7, change: func(x *client.Exchange) { x.Wire = new(indirector.Wire) }},
		{name: "forwarded", id: 7, change: func(x *client.Exchange) { x.Verbatim, x.Header = true, http.Header{"Traceparent": {theirs}} }, want: []string{theirs}},
		{name: "forwarded, without", id: 7, change: func(x *client.Exchange) { x.Verbatim = true }},
		{name: "set by a person", id: 7, set: []string{"http_extra_headers", "Traceparent:" + theirs}, want: []string{theirs}},
	} {
		trace := &traces.Trace{ID: tt.id, Start: start}
		x := get("/puppet/v3/node/x")
		if tt.change != nil {
			tt.change(x)
		}
		seen = nil
		if _, err := p.client(t, client.Options{}, tt.set...).Do(&traces.Live{Context: t.Context(), Trace: trace, Step: traces.Terminus}, x); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(seen, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, seen, tt.want)
		}
	}
}

// TestSpan checks the trace of an exchange, and that the second one reuses the
// connection. Rule REST-CLI-07.
func TestSpan(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json; charset=utf-8")
		w.Header().Set("Set-Cookie", "session=topsecret")
		w.Header().Set("X-Puppet-Version", "7.9.5")
		w.WriteHeader(http.StatusNotFound)
		_, _ = io.WriteString(w, `{"message":"Not Found: Could not find node x","issue_kind":"RESOURCE_NOT_FOUND"}`)
	})
	c := p.client(t, client.Options{}, "http_extra_headers", "Authorization:topsecret,X-Auth-Token:topsecret,X-Plain:seen")
	ctx, trace := traced(t)
	wire := &indirector.Wire{KeepBody: true}
	x := get("/puppet/v3/node/x")
	x.Query, x.Wire = "environment=production", wire
	for range 2 {
		if _, err := c.Do(ctx, x); err != nil {
			t.Fatal(err)
		}
	}
	if len(trace.Spans) != 2 {
		t.Fatalf("%d spans, want 2", len(trace.Spans))
	}
	first, second := trace.Spans[0], trace.Spans[1]
	if want := "GET " + p.server.URL + "/puppet/v3/node/x?environment=production"; first.Name != want || first.Kind != traces.Network || first.Answer != "404 Not Found" {
		t.Errorf("got span %q, %v, %q", first.Name, first.Kind, first.Answer)
	}
	host := strings.TrimPrefix(p.server.URL, "https://")
	for key, want := range map[string]string{
		"candidate": host + ", setting server (test)", "identity": "CN=web01", "peer": host, "status": "404 Not Found", "format": "application/json",
		"message": "Not Found: Could not find node x", "issue_kind": "RESOURCE_NOT_FOUND", "size": "80", "> X-Plain": "seen",
		"> Authorization": "(masked, 9 bytes)", "> X-Auth-Token": "(masked, 9 bytes)", "< Set-Cookie": "(masked, 17 bytes)",
		"< X-Puppet-Version": "7.9.5", "> Accept-Encoding": "gzip;q=1.0,deflate;q=0.6,identity;q=0.3", "> X-Puppet-Version": "7.23.0",
	} {
		if got := attr(first, key); got != want {
			t.Errorf("%s is %q, want %q", key, got, want)
		}
	}
	if got := attr(first, "connection"); !strings.HasPrefix(got, "new: ") || !strings.Contains(got, "connect ") || !strings.Contains(got, "TLS ") {
		t.Errorf("connection is %q", got)
	}
	if got := attr(second, "connection"); !strings.HasPrefix(got, "reused, idle for ") {
		t.Errorf("the second connection is %q", got)
	}
	if got := attr(first, "tls"); !strings.HasPrefix(got, "TLS 1.3 ") || !strings.Contains(got, "CN=puppet until ") {
		t.Errorf("tls is %q", got)
	}
	for _, s := range trace.Spans {
		for _, a := range s.Attrs {
			if strings.Contains(a.Value, "topsecret") {
				t.Errorf("%s shows a secret: %q", a.Key, a.Value)
			}
		}
	}
	if h, ok := first.HTTP(); !ok || h.Status != 404 || h.TLS <= 0 || h.Connect <= 0 || h.Wait <= 0 || h.Size != 80 {
		t.Errorf("what others read of it: %+v", h)
	}
	if wire.Status != 404 || wire.Header["X-Puppet-Version"][0] != "7.9.5" || len(wire.Body) != 80 || wire.Address == "" {
		t.Errorf("the wire is %+v", wire)
	}
	if got := c.Version(ctx, client.Puppet); got != "7.9.5" {
		t.Errorf("the version is %q", got)
	}
}

// TestRetryAfter waits as long as the server asks, on a clock of its own. Rule
// REST-CLI-05.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		status int
		value  string
		waits  string // "" does not wait
		text   string
	}{
		{503, "7", "7s", ""},
		{429, "7", "7s", ""},
		{503, "0", "0s", ""},
		{503, "-3", "0s", ""},
		{503, "99999", "30m0s", ""}, // not longer than runinterval
		{503, "Fri, 02 Jan 2026 03:05:05 GMT", "1m0s", ""},
		{503, "2 Jan 2026 03:04:15 +0000", "10s", ""},
		{503, "Fri, 02 Jan 2026 02:00:00 GMT", "0s", ""},
		{503, "soon", "", "Failed to parse Retry-After header 'soon' as an integer or RFC 2822 date"},
		{503, "1.5", "", "Failed to parse Retry-After header '1.5' as an integer or RFC 2822 date"},
		{503, "", "", "Failed to parse Retry-After header '' as an integer or RFC 2822 date"},
		{500, "7", "", ""},
	} {
		t.Run(fmt.Sprintf("REST-CLI-05 %d %s", tt.status, tt.value), func(t *testing.T) {
			t.Parallel()
			var asked atomic.Int32
			p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
				if asked.Add(1) > 1 && tt.waits != "" {
					return
				}
				w.Header()["Retry-After"] = []string{tt.value}
				w.WriteHeader(tt.status)
			})
			var waited []time.Duration
			c := p.client(t, client.Options{
				Now: func() time.Time { return now },
				Sleep: func(_ context.Context, d time.Duration) error {
					waited = append(waited, d)
					return nil
				},
			}, "certificate_revocation", "false", "hostcert", "", "hostprivkey", "")
			x := get("/x")
			x.Anonymous, x.SystemStore = true, true
			_, err := p.plain(t, c, x)
			if tt.text != "" && indirector.Message(err) != tt.text || tt.text == "" && err != nil {
				t.Fatalf("got %v, want %q", err, tt.text)
			}
			if got := strings.Trim(fmt.Sprint(waited), "[]"); got != tt.waits {
				t.Errorf("waited %s, want %q", got, tt.waits)
			}
		})
	}
	t.Run("for ever", func(t *testing.T) {
		t.Parallel()
		var asked atomic.Int32
		p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
			asked.Add(1)
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusTooManyRequests)
		})
		c := p.client(t, client.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
		if _, err := c.Do(t.Context(), get("/x")); indirector.Message(err) != "Too many HTTP retries for "+p.server.URL+"/x" || asked.Load() != 101 {
			t.Errorf("got %v after %d questions", err, asked.Load())
		}
	})
	t.Run("cancelled", func(t *testing.T) {
		t.Parallel()
		p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", "1000")
			w.WriteHeader(http.StatusServiceUnavailable)
		})
		ctx, cancel := context.WithCancel(t.Context())
		c := p.client(t, client.Options{Log: slog.New(handler(func(slog.Record) { cancel() }))})
		if _, err := c.Do(ctx, get("/x")); !errors.Is(err, context.Canceled) {
			t.Errorf("got %v", err)
		}
	})
}

// plain asks over HTTP without TLS, where a clock that stands still does no
// harm to certificates.
func (p *pair) plain(t *testing.T, c *client.Client, x *client.Exchange) (*client.Answer, error) {
	t.Helper()
	s := httptest.NewServer(p.server.Config.Handler)
	t.Cleanup(s.Close)
	u, err := url.Parse(s.URL)
	if err != nil {
		t.Fatal(err)
	}
	x.URL = u
	return c.Do(t.Context(), x)
}

// handler calls a function for each line of a log.
type handler func(slog.Record)

func (h handler) Enabled(context.Context, slog.Level) bool { return true }
func (h handler) Handle(_ context.Context, r slog.Record) error {
	h(r)
	return nil
}
func (h handler) WithAttrs([]slog.Attr) slog.Handler { return h }
func (h handler) WithGroup(string) slog.Handler      { return h }

// TestRedirect follows with the same body, and keeps secrets from other hosts.
// Rule REST-CLI-04.
func TestRedirect(t *testing.T) {
	t.Parallel()
	type asked struct{ path, auth, cookie, body string }
	var mu sync.Mutex
	var all []asked
	note := func(r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		mu.Lock()
		defer mu.Unlock()
		all = append(all, asked{r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("Cookie"), string(b)})
	}
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { note(r) }))
	t.Cleanup(other.Close)
	elsewhere := strings.Replace(other.URL, "127.0.0.1", "localhost", 1)
	here := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		note(r)
		switch r.URL.Path {
		case "/same":
			w.Header().Set("Location", "http://"+r.Host+"/end")
			w.WriteHeader(http.StatusTemporaryRedirect)
		case "/other":
			w.Header().Set("Location", elsewhere+"/end")
			w.WriteHeader(http.StatusFound)
		}
	}))
	t.Cleanup(here.Close)
	for _, tt := range []struct {
		path, trusted string
		keeps         bool
	}{{"/same", "false", true}, {"/other", "false", false}, {"/other", "true", true}} {
		mu.Lock()
		all = nil
		mu.Unlock()
		c := client.New(client.Options{Settings: clienttest.Settings{"location_trusted": tt.trusted}, Getenv: func(string) string { return "" }})
		u, _ := url.Parse(here.URL + tt.path)
		u.User = url.UserPassword("me", "secret")
		_, err := c.Do(t.Context(), &client.Exchange{
			URL: u, Method: http.MethodPut, Header: http.Header{"Cookie": {"a=b"}},
			Body: func() (io.ReadCloser, error) { return io.NopCloser(strings.NewReader("body")), nil }, Size: 4,
		})
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != 2 || all[1].path != "/end" || all[1].body != "body" || (all[1].auth != "") != tt.keeps || (all[1].cookie != "") != tt.keeps {
			t.Errorf("REST-CLI-04 %s, location_trusted %s: got %+v", tt.path, tt.trusted, all)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestRoutes finds servers, and remembers them for a run. Rules REST-CLI-01,
// REST-CLI-02.
func TestRoutes(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(http.ResponseWriter, *http.Request) {})
	good, err := url.Parse(p.server.URL)
	if err != nil {
		t.Fatal(err)
	}
	port := good.Port()
	var number uint16
	_, _ = fmt.Sscan(port, &number)
	records := map[string][]*net.SRV{}
	var looked []string
	lookup := func(_ context.Context, service, proto, name string) (string, []*net.SRV, error) {
		key := "_" + service + "._" + proto + "." + name
		looked = append(looked, key)
		if r := records[key]; r != nil {
			return "", r, nil
		}
		return "", nil, &net.DNSError{Err: "no such host", Name: key, IsNotFound: true}
	}
	ask := func(c *client.Client, s client.Service, run string) (string, error) {
		live := &traces.Live{Context: t.Context(), Trace: &traces.Trace{Run: run}}
		a, err := c.Do(live, &client.Exchange{Service: s, Method: http.MethodGet, Path: "/x"})
		if err != nil {
			return "", err
		}
		return a.Candidate, nil
	}
	t.Run("SRV", func(t *testing.T) {
		records = map[string][]*net.SRV{"_x-puppet._tcp.example.com": {{Target: "127.0.0.1.", Port: 1, Priority: 1, Weight: 5}, {Target: "127.0.0.1.", Port: number, Priority: 2}}}
		looked = nil
		c := p.client(t, client.Options{LookupSRV: lookup}, "use_srv_records", "true", "srv_domain", "example.com", "server", "nobody.invalid")
		for range 2 {
			if got, err := ask(c, client.Report, "run"); err != nil || got != "127.0.0.1:"+port+", record _x-puppet._tcp.example.com (priority 2, weight 0)" {
				t.Errorf("got %q, %v", got, err)
			}
		}
		if got := strings.Join(looked, " "); got != "_x-puppet-report._tcp.example.com _x-puppet._tcp.example.com" {
			t.Errorf("looked up %s; the second time the session knows", got)
		}
	})
	t.Run("SRV, how long", func(t *testing.T) {
		records = map[string][]*net.SRV{"_x-puppet._tcp.example.com": {{Target: "127.0.0.1.", Port: number}}}
		now := time.Now()
		c := p.client(t, client.Options{LookupSRV: lookup, Now: func() time.Time { return now }}, "use_srv_records", "true", "srv_domain", "example.com", "server", "nobody.invalid")
		for _, tt := range []struct {
			name    string
			run     string
			service client.Service
			later   time.Duration
			want    string
		}{
			{name: "first", run: "run", service: client.Puppet, want: "_x-puppet._tcp.example.com"},
			{name: "the same service of the run", run: "run", service: client.Puppet, later: 10 * time.Minute},
			{name: "another service, at once", run: "next", service: client.Puppet, want: "_x-puppet._tcp.example.com"},
			{name: "which has no records and takes those that are kept", run: "next", service: client.FileServer, want: "_x-puppet-fileserver._tcp.example.com"},
			{name: "of no run", service: client.Puppet, want: "_x-puppet._tcp.example.com"},
			{name: "of no run, soon", service: client.Puppet, later: 59 * time.Second},
			{name: "of no run, later", service: client.Puppet, later: 2 * time.Second, want: "_x-puppet._tcp.example.com"},
		} {
			looked, now = nil, now.Add(tt.later)
			if _, err := ask(c, tt.service, tt.run); err != nil {
				t.Errorf("%s: %v", tt.name, err)
			}
			if got := strings.Join(looked, " "); got != tt.want {
				t.Errorf("%s: looked up %q, want %q", tt.name, got, tt.want)
			}
		}
	})
	t.Run("SRV, none", func(t *testing.T) {
		records = nil
		c := p.client(t, client.Options{LookupSRV: lookup}, "use_srv_records", "true", "srv_domain", "example.com")
		if got, err := ask(c, client.Puppet, ""); err != nil || !strings.Contains(got, "setting server") {
			t.Errorf("got %q, %v; want the one of the settings", got, err)
		}
	})
	t.Run("explicit report server", func(t *testing.T) {
		c := p.client(t, client.Options{}, "server_list", "127.0.0.1:1")
		if got, err := ask(c, client.Report, ""); err != nil || !strings.Contains(got, "setting report_server") {
			t.Errorf("got %q, %v", got, err)
		}
		if _, err := ask(c, client.Puppet, ""); indirector.Message(err) != "No more routes to puppet" {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a run stays with its server, and what belongs to none looks anew", func(t *testing.T) {
		settings := p.settings.With("server_list", "127.0.0.1:1,127.0.0.1:"+port)
		c := client.New(client.Options{Settings: settings})
		defer c.Close()
		for _, run := range []string{"", "run"} {
			if got, err := ask(c, client.Puppet, run); err != nil || !strings.HasSuffix(got, "setting server_list (test), 2 of 2") {
				t.Errorf("run %q: got %q, %v", run, got, err)
			}
		}
		settings["server_list"] = "127.0.0.1:" + port
		if got, err := ask(c, client.Puppet, "run"); err != nil || !strings.HasSuffix(got, "2 of 2") {
			t.Errorf("got %q, %v", got, err)
		}
		if got, err := ask(c, client.Puppet, "next run"); err != nil || !strings.HasSuffix(got, "1 of 1") {
			t.Errorf("after the run: got %q, %v", got, err)
		}
	})
}

// TestIdentity shows the certificate of a node, and reads files again that have
// changed.
func TestIdentity(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 {
			_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName+" "+r.TLS.PeerCertificates[0].SerialNumber.String())
		}
	})
	var mu sync.Mutex
	now := time.Now()
	c := p.client(t, client.Options{Now: func() time.Time { mu.Lock(); defer mu.Unlock(); return now }})
	who := func(node string) string {
		x := get("/x")
		x.Identity = node
		a, err := c.Do(t.Context(), x)
		if err != nil {
			return indirector.Message(err)
		}
		return string(a.Body)
	}
	first := who("")
	if !strings.HasPrefix(first, "web01 ") {
		t.Errorf("got %q", first)
	}
	if got, want := who("db01"), "The private key is missing from '"+p.settings["privatekeydir"]+"/db01.pem'"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	for _, name := range []string{"../web01", "a/b", "", ".."} {
		if got := who(name); name != "" && !strings.Contains(got, "Certname") {
			t.Errorf("%q: got %q", name, got)
		}
	}
	db := p.ca.Issue(t, "db01")
	clienttest.WriteFile(t, p.settings["privatekeydir"]+"/db01.pem", db.KeyPEM(t))
	clienttest.WriteFile(t, p.settings["certdir"]+"/db01.pem", db.PEM())
	if got := who("db01"); !strings.HasPrefix(got, "db01 ") {
		t.Errorf("got %q", got)
	}
	renewed := p.ca.Issue(t, "web01")
	clienttest.WriteFile(t, p.settings["hostprivkey"], renewed.KeyPEM(t))
	clienttest.WriteFile(t, p.settings["hostcert"], renewed.PEM())
	later := time.Now().Add(time.Minute)
	if err := os.Chtimes(p.settings["hostcert"], later, later); err != nil {
		t.Fatal(err)
	}
	mu.Lock()
	now = now.Add(2 * time.Second)
	mu.Unlock()
	if got := who(""); got != "web01 "+renewed.Cert.SerialNumber.String() {
		t.Errorf("after renewal: got %q, before it was %q", got, first)
	}
}

// TestBomb refuses a body that is small on the wire and large in memory.
func TestBomb(t *testing.T) {
	t.Parallel()
	p := newPair(t, bomb)
	x := get("/x")
	x.Limit = 1 << 20
	_, err := p.client(t, client.Options{}).Do(t.Context(), x)
	if err == nil || !strings.Contains(indirector.Message(err), "the answer is longer than 1048576 bytes") {
		t.Errorf("got %v", err)
	}
}

// TestStream reads a body that does not fit into memory, and ends when it is
// closed. Gap L10.
func TestStream(t *testing.T) { // alone: it measures the memory of the process
	const size = 256 << 20
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Length", fmt.Sprint(size))
		block := make([]byte, 64<<10)
		for n := 0; n < size; n += len(block) {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	c := p.client(t, client.Options{})
	open := func() *client.Answer {
		t.Helper()
		x := get("/x")
		x.Stream = true
		a, err := c.Do(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		if a.Size != size || a.Stream == nil {
			t.Fatalf("got %d bytes, want %d", a.Size, size)
		}
		return a
	}
	a := open()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	n, err := io.Copy(io.Discard, a.Stream)
	runtime.ReadMemStats(&after)
	if err != nil || n != size {
		t.Errorf("read %d bytes, %v", n, err)
	}
	if grown := int64(after.HeapInuse) - int64(before.HeapInuse); grown > 16<<20 {
		t.Errorf("the heap has grown by %d bytes", grown)
	}
	if err := a.Stream.Close(); err != nil {
		t.Error(err)
	}
	given := open()
	if _, err := io.ReadFull(given.Stream, make([]byte, 10)); err != nil {
		t.Error(err)
	}
	if err := given.Stream.Close(); err != nil {
		t.Error(err)
	}
}

// TestSend streams a body of unknown size, and sends it again when necessary.
func TestSend(t *testing.T) {
	t.Parallel()
	var got []string
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		got = append(got, fmt.Sprint(len(b), r.ContentLength))
		if len(got) == 1 {
			w.Header().Set("Retry-After", "1")
			w.WriteHeader(http.StatusServiceUnavailable)
		}
	})
	c := p.client(t, client.Options{Sleep: func(context.Context, time.Duration) error { return nil }})
	opened := 0
	_, err := c.Do(t.Context(), &client.Exchange{
		Service: client.Puppet, Method: http.MethodPut, Path: "/x", Size: -1,
		Body: func() (io.ReadCloser, error) {
			opened++
			return io.NopCloser(io.LimitReader(zeros{}, 1<<20)), nil
		},
	})
	if err != nil || opened != 2 || strings.Join(got, ",") != "1048576 -1,1048576 -1" {
		t.Errorf("got %v, opened %d times, %v", got, opened, err)
	}
}

type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }

// TestClosed sends no request after Close.
func TestClosed(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(http.ResponseWriter, *http.Request) {})
	c := p.client(t, client.Options{})
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Do(t.Context(), get("/x")); err == nil {
		t.Error("it answered")
	}
}

// TestCancelled ends at once, wherever it is.
func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
		cancel()
		<-r.Context().Done()
	})
	if _, err := p.client(t, client.Options{}).Do(ctx, get("/x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestProxies chooses proxies by Puppet's rules. Rule REST-CLI-08.
func TestProxies(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "by proxy "+r.Header.Get("Proxy-Authorization"))
	}))
	t.Cleanup(proxy.Close)
	direct := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, "direct") }))
	t.Cleanup(direct.Close)
	u, _ := url.Parse(proxy.URL)
	dead := clienttest.Settings{"http_proxy_host": "127.0.0.1", "http_proxy_port": "1"}
	ours := clienttest.Settings{"http_proxy_host": u.Hostname(), "http_proxy_port": u.Port()}
	_, port, _ := net.SplitHostPort(strings.TrimPrefix(direct.URL, "http://"))
	for _, tt := range []struct {
		name     string
		settings clienttest.Settings
		env      map[string]string
		want     string
	}{
		{"nobody", clienttest.Settings{"http_proxy_host": "none"}, nil, "direct"},
		{"settings", ours, nil, "by proxy "},
		{"password", ours.With("http_proxy_user", "me", "http_proxy_password", "secret"), nil, "by proxy Basic bWU6c2VjcmV0"},
		{"environment beats settings", dead, map[string]string{"http_proxy": proxy.URL}, "by proxy "},
		{"upper case", dead, map[string]string{"HTTP_PROXY": proxy.URL}, "by proxy "},
		{"not for this host", ours.With("no_proxy", "localhost, 127.0.0.1"), nil, "direct"},
		{"suffix", ours.With("no_proxy", "0.0.1"), nil, "direct"},
		{"wildcard", ours.With("no_proxy", "*.0.0.1"), nil, "direct"},
		{"other host", ours.With("no_proxy", "example.com"), nil, "by proxy "},
		{"port", ours.With("no_proxy", "127.0.0.1:"+port), nil, "direct"},
		{"other port", ours.With("no_proxy", "127.0.0.1:1"), nil, "by proxy "},
		{"environment says for whom not", ours.With("no_proxy", "127.0.0.1"), map[string]string{"no_proxy": "example.com"}, "by proxy "},
		{"none", ours.With("no_proxy", "none"), nil, "by proxy "},
		{"odd characters", ours.With("no_proxy", "(,[a,127.0.0.1"), nil, "direct"},
	} {
		t.Run("REST-CLI-08 "+tt.name, func(t *testing.T) {
			t.Parallel()
			c := client.New(client.Options{Settings: tt.settings, Getenv: func(n string) string { return tt.env[n] }})
			defer c.Close()
			target, _ := url.Parse(direct.URL)
			a, err := c.Do(t.Context(), &client.Exchange{URL: target, Method: http.MethodGet})
			if err != nil || string(a.Body) != tt.want {
				t.Errorf("got %+v, %v, want %q", a, err, tt.want)
			}
		})
	}
}

// TestStore trusts a further file of CAs for servers that are not Puppet's, and
// none of the system's for those that are.
func TestStore(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(http.ResponseWriter, *http.Request) {})
	foreign := clienttest.New(t, "Foreign CA")
	s := clienttest.Serve(t, foreign.Issue(t, "web", clienttest.Local), http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	u, _ := url.Parse(s.URL)
	store := filepath.Join(t.TempDir(), "store.pem")
	clienttest.WriteFile(t, store, foreign.PEM())
	c := p.client(t, client.Options{}, "ssl_trust_store", store)
	if _, err := c.Do(t.Context(), &client.Exchange{URL: u, Method: http.MethodGet, SystemStore: true, Bare: true}); err != nil {
		t.Errorf("with the store: %v", err)
	}
	if _, err := c.Do(t.Context(), &client.Exchange{URL: u, Method: http.MethodGet}); err == nil {
		t.Error("without it: it was believed")
	}
}

// TestEncryptedKey shows a certificate whose key has a password in the file of
// the setting passfile.
func TestEncryptedKey(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.TLS.PeerCertificates[0].Subject.CommonName)
	})
	dir := t.TempDir()
	leaf := p.ca.Issue(t, "web02")
	settings := p.ca.Write(t, dir, leaf).At(t, p.server.URL)
	der, err := pkcs8.MarshalPrivateKey(leaf.TLS.PrivateKey, []byte("top secret\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(settings["hostprivkey"], pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ password, text string }{
		{"top secret\n", ""},
		{"wrong", "of the setting passfile: the password is not that of the key"},
		{"", "of the setting passfile: the password is not that of the key: there is none"},
	} {
		passfile := filepath.Join(t.TempDir(), "password")
		if tt.password != "" {
			if err := os.WriteFile(passfile, []byte(tt.password), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		c := client.New(client.Options{Settings: settings.With("passfile", passfile), Getenv: func(string) string { return "" }})
		a, err := c.Do(t.Context(), get("/x"))
		switch failure := (*indirector.Failure)(nil); {
		case tt.text == "" && (err != nil || string(a.Body) != "web02"):
			t.Errorf("got %v, %v", a, err)
		case tt.text != "" && (!errors.As(err, &failure) || !strings.Contains(failure.Hidden, tt.text)):
			t.Errorf("password %q: got %v, want %q", tt.password, err, tt.text)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestAlertAfterABody: TLS 1.3 refuses a certificate after the handshake, while
// the body is on its way. The failure is the alert, not the broken connection.
func TestAlertAfterABody(t *testing.T) {
	t.Parallel()
	p := newPair(t, nil)
	strict := clienttest.Serve(t, p.ca.Issue(t, "puppet", clienttest.Local), http.NotFoundHandler(), func(c *tls.Config) {
		c.ClientAuth, c.ClientCAs, c.MinVersion = tls.RequireAndVerifyClientCert, x509.NewCertPool(), tls.VersionTLS13
	})
	p.settings = p.settings.At(t, strict.URL)
	c := p.client(t, client.Options{})
	body := bytes.Repeat([]byte("x"), 4<<20)
	for range 5 {
		_, err := c.Do(t.Context(), &client.Exchange{
			Service: client.Puppet, Method: http.MethodPut, Path: "/puppet/v3/report/web01", Size: int64(len(body)),
			Body: func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil },
		})
		if err == nil || !strings.Contains(err.Error(), "SSL_read: tlsv1 alert unknown ca") {
			t.Errorf("got %v, want the alert", err)
		}
	}
}

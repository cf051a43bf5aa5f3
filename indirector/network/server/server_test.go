package server_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/youmark/pkcs8"

	"indirtui/indirector"
	"indirtui/indirector/network/authconf"
	"indirtui/indirector/network/keyfile"
	"indirtui/indirector/network/server"
	"indirtui/traces"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// A keeper is a recorder that keeps all.
type keeper struct {
	mu   sync.Mutex
	all  []*traces.Trace
	news chan struct{}
}

func newKeeper() *keeper { return &keeper{news: make(chan struct{}, 1)} }

func (k *keeper) Begin(*traces.Trace) uint64 { return 1 }

func (k *keeper) End(t *traces.Trace, _ any) {
	k.mu.Lock()
	k.all = append(k.all, t)
	k.mu.Unlock()
	select {
	case k.news <- struct{}{}:
	default:
	}
}

// patience is how long something may take that happens at once. It is not
// reached unless something is wrong.
const patience = 2 * time.Minute

// wait returns the first trace whose story has the text.
func (k *keeper) wait(t *testing.T, text string) *traces.Trace {
	t.Helper()
	late := time.After(patience)
	for {
		k.mu.Lock()
		var message []string
		for _, tr := range k.all {
			message = append(message, traces.Story(tr))
			if strings.Contains(message[len(message)-1], text) {
				k.mu.Unlock()
				return tr
			}
		}
		k.mu.Unlock()
		select {
		case <-k.news:
		case <-late:
			t.Fatalf("no trace tells of %q; there are %q", text, message)
		}
	}
}

// A testServer is a running server and what its handler does.
type testServer struct {
	*server.Server
	t    *testing.T
	ca   *authority
	url  string
	kept *keeper
	stop func() // and wait
}

// start starts a server whose handler, behind auth.conf, answers with the
// client.
func start(t *testing.T, ca *authority, o server.Options, handler http.HandlerFunc) *testServer {
	t.Helper()
	h := &testServer{t: t, ca: ca, kept: newKeeper()}
	o.Identity, o.Recorder = ca.identity(), h.kept
	if handler == nil {
		handler = func(w http.ResponseWriter, r *http.Request) {
			remote := h.Client(r)
			fmt.Fprintf(w, "%s %s of %s %v %v", r.Method, r.URL.Path, remote.Node, remote.Authenticated, remote.Extensions)
		}
	}
	var err error
	if h.Server, err = server.New(o); err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	h.url = "https://" + l.Addr().String()
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- h.Serve(ctx, l, h.Guard(handler)) }()
	h.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(h.stop)
	return h
}

// client is one with a certificate of its own, or without any.
func (h *testServer) client(certs ...tls.Certificate) *http.Client {
	tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: h.ca.pool(), Certificates: certs}}
	h.t.Cleanup(tr.CloseIdleConnections)
	return &http.Client{Transport: tr, Timeout: patience}
}

// ask returns status and body, or the error as text.
func ask(c *http.Client, method, url string) string {
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		return err.Error()
	}
	resp, err := c.Do(req)
	if err != nil {
		return err.Error()
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return err.Error()
	}
	return fmt.Sprintf("%d %s", resp.StatusCode, b)
}

func TestWhoMayAsk(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	web, admin := ca.sign("web01", extension("a", 1, 13)), ca.sign("adm", extension("role", 3, 13), extension("true", 3, 39))
	h := start(t, ca, server.Options{}, nil)
	for _, tt := range []struct {
		name, method, path, want string
		certs                    []tls.Certificate
	}{
		{"own node", "GET", "/puppet/v3/node/web01", "200 GET /puppet/v3/node/web01 of web01 true map[", []tls.Certificate{web}},
		{"another's node", "GET", "/puppet/v3/node/db01?environment=x", "403 Forbidden request: /puppet/v3/node/db01 (method :get). Please see the server logs for details.", []tls.Certificate{web}},
		{"without certificate", "GET", "/puppet/v3/environments", "403 Forbidden request: /puppet/v3/environments (method :get). Please see the server logs for details.", nil},
		{"open CA", "GET", "/puppet-ca/v1/certificate/ca", "200 GET /puppet-ca/v1/certificate/ca of 127.0.0.1 false", nil},
		{"closed CA", "PUT", "/puppet-ca/v1/certificate_status/x", "403 ", []tls.Certificate{web}},
		{"admin", "PUT", "/puppet-ca/v1/certificate_status/x", "200 PUT /puppet-ca/v1/certificate_status/x of adm true map[pp_auth_role:role pp_cli_auth:true]", []tls.Certificate{admin}},
		{"relative", "GET", "/puppet/v3/file_content/modules/%2e%2e/x", "400 Invalid relative path (.. or .) in: /puppet/v3/file_content/modules/../x", []tls.Certificate{web}},
		{"relative with slash", "GET", "/puppet-ca/v1/certificate/..%2fca_key", "400 Invalid relative path (.. or .) in: /puppet-ca/v1/certificate/../ca_key", nil},
		{"status", "GET", "/status/v1/simple/server", "200 ", nil},
		{"legacy is off", "GET", "/production/node/web01", "403 ", []tls.Certificate{web}},
		{"semicolon", "GET", "/puppet/v3/node/db01;x", "403 ", []tls.Certificate{web}},
		{"hidden node", "GET", "/puppet/v3//node/db01", "403 ", []tls.Certificate{web}},
		{"encoded node", "GET", "/puppet/v3/nod%65/db01", "403 Forbidden request: /puppet/v3/node/db01 ", []tls.Certificate{web}},
	} {
		if got := ask(h.client(tt.certs...), tt.method, h.url+tt.path); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	tr := h.kept.wait(t, "refuses web01(127.0.0.1), who is not of those allowed ($1): get /puppet/v3/node/db01")
	if tr.Indirection != "node" || tr.Key != "db01" || tr.Outcome != traces.Err || tr.Steps[traces.Authorize].Answer != traces.Denied {
		t.Errorf("got %+v", tr)
	}
	h.kept.wait(t, "Invalid relative path")
}

func TestLegacy(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	h := start(t, ca, server.Options{Legacy: true}, nil)
	c := h.client(web)
	if got, want := ask(c, "GET", h.url+"/production/node/web01"), "200 GET /puppet/v3/node/web01 of web01"; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got, want := ask(c, "GET", h.url+"/production/node/db01"), "403 "; !strings.HasPrefix(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestBadCertificates(t *testing.T) {
	t.Parallel()
	ca, foreign := newAuthority(t, "CA of tests"), newAuthority(t, "CA of others")
	revoked := ca.sign("gone")
	ca.revoke(revoked)
	past := func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	}
	future := func(c *x509.Certificate) {
		c.NotBefore = time.Now().Add(time.Hour)
		c.NotAfter = time.Now().Add(2 * time.Hour)
	}
	servers := func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth} }
	h := start(t, ca, server.Options{}, nil)
	for _, tt := range []struct {
		name string
		cert tls.Certificate
		want string
	}{
		{"expired", ca.sign("old", past), `certificate "old" (serial 0x4, signed by "CA of tests"): expired at`},
		{"not yet", ca.sign("young", future), `signed by "CA of tests"): not valid before`},
		{"revoked", revoked, `certificate "gone" (serial 0x2, signed by "CA of tests"): revoked at`},
		{"foreign", foreign.sign("stranger"), `certificate "stranger" (serial 0x2, signed by "CA of others"): signed by a CA that is none of ours (CA of tests)`},
		{"of a server only", ca.sign("srv", servers), "incompatible key usage"},
	} {
		// A client whose certificate is bad learns it from an alert when it reads.
		if got := ask(h.client(tt.cert), "GET", h.url+"/status/v1/simple"); !strings.Contains(got, "tls: bad certificate") && !strings.Contains(got, "connection reset") && !strings.Contains(got, "broken pipe") {
			t.Errorf("%s: got %q", tt.name, got)
		}
		h.kept.wait(t, tt.want)
	}
	// And one that does not accept the server's.
	c := h.client()
	c.Transport.(*http.Transport).TLSClientConfig.RootCAs = foreign.pool()
	ask(c, "GET", h.url+"/status/v1/simple")
	h.kept.wait(t, `it does not accept the server's certificate "puppet"`)
	// Old versions of TLS.
	c = h.client()
	c.Transport.(*http.Transport).TLSClientConfig.MaxVersion = tls.VersionTLS11
	c.Transport.(*http.Transport).TLSClientConfig.MinVersion = tls.VersionTLS10
	ask(c, "GET", h.url+"/status/v1/simple")
	h.kept.wait(t, "client offered only unsupported versions")
	// No TLS at all.
	ask(http.DefaultClient, "GET", strings.Replace(h.url, "https", "http", 1)+"/")
	h.kept.wait(t, "client sent an HTTP request to an HTTPS server")
}

// TestRevokedOnTheWay: a connection does not outlive its certificate.
func TestRevokedOnTheWay(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	h := start(t, ca, server.Options{}, nil)
	c := h.client(web)
	if got := ask(c, "GET", h.url+"/puppet/v3/node/web01"); !strings.HasPrefix(got, "200") {
		t.Fatal(got)
	}
	ca.revoke(web)
	if err := h.Reload(); err != nil {
		t.Fatal(err)
	}
	if got := ask(c, "GET", h.url+"/puppet/v3/node/web01"); !strings.HasPrefix(got, "403") {
		t.Errorf("got %q", got)
	}
	h.kept.wait(t, `who is not verified: get /puppet/v3/node/web01; certificate "web01" (serial 0x2, signed by "CA of tests"): revoked at`)
	whole, err := os.ReadFile(ca.path("crl.pem"))
	if err != nil {
		t.Fatal(err)
	}
	for what, text := range map[string]string{
		"-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n": "block 1", "": "has no revocation list", string(whole[:len(whole)/2]): "is cut off in the middle of a block",
	} {
		if err := os.WriteFile(ca.path("crl.pem"), []byte(what), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := h.Reload(); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("a list of %d bytes: got %v, want %q", len(what), err, text)
		}
		if got := ask(c, "GET", h.url+"/puppet/v3/node/web01"); !strings.HasPrefix(got, "403") {
			t.Errorf("after a broken list: got %q", got)
		}
	}
}

func TestHeaderCertInfo(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01", extension("true", 3, 39))
	auth, err := authconf.Parse("auth.conf", `authorization { version: 1, allow-header-cert-info: true, rules: [
		{ name: a, sort-order: 1, match-request { path: "^/puppet/v3/node/(.*)$", type: regex }, allow: "$1" }
		{ name: b, sort-order: 1, match-request { path: "/puppet-ca", type: path }, allow { extensions { pp_cli_auth: "true" } } } ] }`)
	if err != nil {
		t.Fatal(err)
	}
	h := start(t, ca, server.Options{Auth: auth}, nil)
	pemText := url.QueryEscape(string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: web.Certificate[0]})))
	for _, tt := range []struct{ name, path, verify, dn, cert, want string }{
		{"RFC 2253", "/puppet/v3/node/web01", "SUCCESS", "O=x, CN=web01", "", "200"},
		{"OpenSSL", "/puppet/v3/node/web01", "SUCCESS", "/O=x/CN=web01", "", "200"},
		{"another", "/puppet/v3/node/db01", "SUCCESS", "CN=web01", "", "403"},
		{"not verified", "/puppet/v3/node/web01", "FAILED", "CN=web01", "", "403"},
		{"the connection does not count", "/puppet/v3/node/web01", "", "", "", "403"},
		{"extensions", "/puppet-ca/v1/x", "SUCCESS", "CN=web01", pemText, "200"},
		{"no extensions", "/puppet-ca/v1/x", "SUCCESS", "CN=web01", "", "403"},
		{"bad certificate", "/puppet-ca/v1/x", "SUCCESS", "CN=web01", "xx", "403 No certs found in PEM read from x-client-cert"},
		{"two certificates", "/puppet-ca/v1/x", "SUCCESS", "CN=web01", pemText + pemText, "403 Only 1 PEM"},
		{"no percent", "/puppet-ca/v1/x", "SUCCESS", "CN=web01", "%zz", "403 Unable to URL decode"},
	} {
		req, _ := http.NewRequest("GET", h.url+tt.path, nil)
		for k, v := range map[string]string{"X-Client-Verify": tt.verify, "X-Client-DN": tt.dn, "X-Client-Cert": tt.cert} {
			if v != "" {
				req.Header.Set(k, v)
			}
		}
		resp, err := h.client(web).Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got := fmt.Sprintf("%d %s", resp.StatusCode, b); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	held, letGo := make(chan struct{}, 10), make(chan struct{})
	h := start(t, ca, server.Options{
		Limits: server.Limits{Requests: 1, Header: 4096, Wait: 50 * time.Millisecond},
	}, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "held") {
			held <- struct{}{}
			<-letGo
		}
		io.WriteString(w, "done")
	})
	c := h.client(web)
	done := make(chan string, 1)
	go func() { done <- ask(c, "GET", h.url+"/puppet/v3/file_content/held") }()
	<-held
	if got := ask(c, "GET", h.url+"/puppet/v3/node/web01"); !strings.HasPrefix(got, "503 ") {
		t.Errorf("got %q", got)
	}
	h.kept.wait(t, "1 requests were worked on")
	close(letGo)
	if got := <-done; got != "200 done" {
		t.Errorf("held: got %q", got)
	}
	req, _ := http.NewRequest("GET", h.url+"/status/v1/simple", nil)
	req.Header.Set("X", strings.Repeat("x", 20_000))
	if resp, err := c.Do(req); err != nil || resp.StatusCode != 431 {
		t.Errorf("headers: got %v, %v", resp, err)
	} else {
		resp.Body.Close()
	}
}

// TestMute: a silent client is cut off.
func TestMute(t *testing.T) {
	t.Parallel()
	h := start(t, newAuthority(t, "CA of tests"), server.Options{Limits: server.Limits{HeaderTime: 50 * time.Millisecond}}, nil)
	mute, err := net.Dial("tcp", strings.TrimPrefix(h.url, "https://"))
	if err != nil {
		t.Fatal(err)
	}
	defer mute.Close()
	if n, err := mute.Read(make([]byte, 1)); err == nil {
		t.Errorf("a client that says nothing got %d bytes", n)
	}
	h.kept.wait(t, "the TLS handshake failed")
}

// TestHeld: a request may be held for longer than any limit.
func TestHeld(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	h := start(t, ca, server.Options{Limits: server.Limits{Idle: 50 * time.Millisecond}}, func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		select {
		case <-r.Context().Done():
			t.Error("the request was cancelled while it was held")
		case <-time.After(300 * time.Millisecond):
		}
		w.Write(b)
	})
	req, _ := http.NewRequest("PUT", h.url+"/puppet/v3/facts/web01", strings.NewReader("facts"))
	resp, err := h.client(web).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if b, err := io.ReadAll(resp.Body); string(b) != "facts" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
}

func TestShutdown(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	in := make(chan struct{}, 2)
	handler := func(end <-chan struct{}) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) {
			in <- struct{}{}
			select {
			case <-end:
				io.WriteString(w, "finished")
			case <-r.Context().Done():
				io.WriteString(w, "cancelled")
			}
		}
	}
	for _, tt := range []struct {
		name  string
		drain time.Duration
		want  string
	}{{"what runs is finished", patience, "200 finished"}, {"and cancelled when that takes too long", 50 * time.Millisecond, "200 cancelled"}} {
		end := make(chan struct{})
		h := start(t, ca, server.Options{Limits: server.Limits{Drain: tt.drain}}, handler(end))
		got := make(chan string, 1)
		go func() { got <- ask(h.client(web), "GET", h.url+"/puppet/v3/node/web01") }()
		<-in
		stopped := make(chan struct{})
		go func() { h.stop(); close(stopped) }()
		// No new connection is accepted.
		for {
			c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "https://"))
			if err != nil {
				break
			}
			c.Close()
		}
		if tt.drain > time.Second {
			close(end)
		}
		if s := <-got; s != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, s, tt.want)
		}
		<-stopped
		if n, m := h.Busy(); n != 0 || m != 0 {
			t.Errorf("%s: %d connections and %d requests are left", tt.name, n, m)
		}
	}
}

// TestConnections: more connections than the limit wait for their turn, and
// none is left.
func TestConnections(t *testing.T) {
	// What the runtime opens once, for the first connection of the process.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	before := descriptors(t)
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	h := start(t, ca, server.Options{Limits: server.Limits{Connections: 20, Silence: time.Minute}}, nil) // a handshake may take long on a busy machine
	var wg sync.WaitGroup
	for range 100 {
		wg.Go(func() {
			c := h.client(web)
			if got := ask(c, "GET", h.url+"/puppet/v3/node/web01"); !strings.HasPrefix(got, "200") {
				t.Error(got)
			}
			if n, _ := h.Busy(); n > 20 {
				t.Errorf("%d connections", n)
			}
			c.CloseIdleConnections()
		})
	}
	wg.Wait()
	h.stop()
	if n, m := h.Busy(); n != 0 || m != 0 {
		t.Errorf("%d connections and %d requests are left", n, m)
	}
	// Only parallel tests run beside this one, and then later.
	for late := time.Now().Add(patience); descriptors(t) > before && time.Now().Before(late); {
		time.Sleep(10 * time.Millisecond)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

// An opened counts the connections that clients have open.
type opened struct{ n atomic.Int64 }

type countedConn struct {
	net.Conn
	closed func()
}

func (o *opened) count() int { return int(o.n.Load()) }

func (o *opened) dial(ctx context.Context, network, address string) (net.Conn, error) {
	c, err := new(net.Dialer).DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	o.n.Add(1)
	return countedConn{c, sync.OnceFunc(func() { o.n.Add(-1) })}, nil
}

func (c countedConn) Close() error {
	c.closed()
	return c.Conn.Close()
}

// TestManyConnections has as many agents at once as the descriptors of the
// process allow, at most five hundred: each asks, stays, and asks again. None
// is left afterwards.
func TestManyConnections(t *testing.T) {
	before := descriptors(t)
	most := 500
	if limit := limitOfDescriptors(t); limit < 2*most+before+100 {
		most = (limit - before - 100) / 2 // both ends are in this process
		t.Logf("%d connections: the process may have %d descriptors", most, limit)
	}
	if most < 101 {
		t.Skipf("the process may have too few descriptors for more than %d connections; ulimit -n says how many", most)
	}
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	h := start(t, ca, server.Options{Limits: server.Limits{Idle: time.Hour}}, nil)
	transports := make([]*http.Transport, most)
	open := new(opened)
	each := func(f func(*http.Transport)) {
		var wg sync.WaitGroup
		turn := make(chan struct{}, 16) // handshakes at once: the CPU is what they need
		for _, tr := range transports {
			turn <- struct{}{}
			wg.Go(func() {
				defer func() { <-turn }()
				f(tr)
			})
		}
		wg.Wait()
	}
	for i := range transports {
		transports[i] = &http.Transport{
			TLSClientConfig:       &tls.Config{RootCAs: ca.pool(), Certificates: []tls.Certificate{web}},
			ResponseHeaderTimeout: patience,
			DialContext:           open.dial,
		}
	}
	for round := range 2 {
		each(func(tr *http.Transport) {
			if got := ask(&http.Client{Transport: tr}, "GET", h.url+"/puppet/v3/node/web01"); !strings.HasPrefix(got, "200") {
				t.Error(got)
			}
		})
		// A client on a busy machine closes a connection by itself now and then: if
		// it learns too late that its request was written.
		n, _ := h.Busy()
		for late := time.Now().Add(patience); n != open.count() && time.Now().Before(late); n, _ = h.Busy() {
			time.Sleep(10 * time.Millisecond)
		}
		if n != open.count() || n < most*9/10 {
			t.Errorf("round %d: %d connections, the clients have %d open, want %d", round, n, open.count(), most)
		}
	}
	each((*http.Transport).CloseIdleConnections)
	h.stop()
	if n, m := h.Busy(); n != 0 || m != 0 {
		t.Errorf("%d connections and %d requests are left", n, m)
	}
	for late := time.Now().Add(patience); descriptors(t) > before && time.Now().Before(late); {
		time.Sleep(10 * time.Millisecond)
	}
	if after := descriptors(t); after > before {
		t.Errorf("%d descriptors before, %d after", before, after)
	}
}

func limitOfDescriptors(t *testing.T) int {
	t.Helper()
	text, err := os.ReadFile("/proc/self/limits")
	if err != nil {
		t.Skip("how many descriptors this process may have cannot be read here: " + err.Error())
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, "Max open files"); ok {
			n, err := strconv.Atoi(strings.Fields(rest)[0])
			if err != nil { // unlimited
				return math.MaxInt
			}
			return n
		}
	}
	t.Fatal("there is no limit of open files")
	return 0
}

func descriptors(t *testing.T) int {
	t.Helper()
	all, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip("the descriptors of this process cannot be counted here: " + err.Error())
	}
	return len(all)
}

// TestRuns groups requests of agents into runs.
func TestRuns(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	h := start(t, ca, server.Options{}, nil)
	var last string
	var guessed bool
	handler := h.Guard(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		req := &indirector.Request{Indirection: q.Get("ind"), Verb: indirector.Find, Run: q.Get("uuid")}
		if req.Indirection == "report" {
			req.Verb = indirector.Save
		}
		if last, guessed = h.Run(r, req); guessed == (req.Run != "") {
			t.Errorf("%s: it is a guess: %v", r.URL.RawQuery, guessed)
		}
	}))
	asks := func(from, query string) string {
		r := httptest.NewRequest("GET", "/puppet-ca/v1/certificate/ca?"+query, nil)
		r.RemoteAddr = from
		handler.ServeHTTP(httptest.NewRecorder(), r)
		return last
	}
	plugins := asks("10.0.0.1:1", "ind=file_metadata")
	if len(plugins) != 8 {
		t.Errorf("a run that nobody has named is called %q", plugins)
	}
	if got := asks("10.0.0.1:1", "ind=catalog&uuid=u1"); got != plugins {
		t.Errorf("the catalog is of run %q, and the plugins before it of %q", got, plugins)
	}
	if got := asks("10.0.0.2:1", "ind=file_metadata"); got == plugins {
		t.Error("another client is in the same run")
	}
	if got := asks("10.0.0.1:2", "ind=report&uuid=u1"); got != plugins {
		t.Errorf("the report is of run %q, not %q", got, plugins)
	}
	if got := asks("10.0.0.1:1", "ind=node&uuid=u2"); got != "u2" {
		t.Errorf("the next run is %q, not u2", got)
	}
	if got := asks("10.0.0.1:1", "ind=file_content"); got != "u2" {
		t.Errorf("what follows is of %q, not u2", got)
	}
}

// TestEncryptedKey is a server whose key has a password.
func TestEncryptedKey(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	id := ca.identity()
	cert, err := tls.LoadX509KeyPair(id.Cert, id.Key)
	if err != nil {
		t.Fatal(err)
	}
	der, err := pkcs8.MarshalPrivateKey(cert.PrivateKey, []byte("top secret"), nil)
	if err != nil {
		t.Fatal(err)
	}
	id.Key, id.Pass = ca.path("encrypted.key"), ca.path("password")
	if err := errors.Join(os.WriteFile(id.Key, pem.EncodeToMemory(&pem.Block{Type: "ENCRYPTED PRIVATE KEY", Bytes: der}), 0o600), os.WriteFile(id.Pass, []byte("top secret"), 0o600)); err != nil {
		t.Fatal(err)
	}
	if _, err := server.New(server.Options{Identity: id}); err != nil {
		t.Error(err)
	}
	id.Pass = ca.path("absent")
	if _, err := server.New(server.Options{Identity: id}); !errors.Is(err, keyfile.ErrPassword) || !strings.Contains(err.Error(), id.Key) {
		t.Errorf("got %v", err)
	}
}

func TestBadFiles(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	good := ca.identity()
	for _, tt := range []struct {
		change func(*server.Identity)
		want   string
	}{
		{func(id *server.Identity) { id.Cert = ca.path("absent") }, "read the server's certificate"},
		{func(id *server.Identity) { id.Key = ca.path("ca.pem") }, "read the server's certificate"},
		{func(id *server.Identity) { id.CA = ca.path("absent") }, "no such file"},
		{func(id *server.Identity) { id.CA = ca.path("crl.pem") }, "has none"},
		{func(id *server.Identity) { id.CRL = ca.path("absent") }, "no such file"},
	} {
		id := good
		tt.change(&id)
		if _, err := server.New(server.Options{Identity: id}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("got %v, want %q", err, tt.want)
		}
	}
}

package rest_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	mathrand "math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/network/rest"
	"indirtui/termini"
	"indirtui/traces"
)

// pair returns the TLS settings of a server and of its clients: one authority,
// a certificate on either side.
func pair(t testing.TB) (server, client *tls.Config, dir string) {
	t.Helper()
	dir = t.TempDir()
	key := func() *ecdsa.PrivateKey {
		k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	save := func(name, kind string, der []byte) {
		write(t, filepath.Join(dir, name), string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})))
	}
	caKey := key()
	ca := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "ca"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, ca, ca, caKey.Public(), caKey)
	if err != nil {
		t.Fatal(err)
	}
	save("ca.pem", "CERTIFICATE", der)
	if ca, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	pool := x509.NewCertPool()
	pool.AddCert(ca)
	leaf := func(serial int64, name string) tls.Certificate {
		k := key()
		template := &x509.Certificate{
			SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: name}, NotBefore: ca.NotBefore, NotAfter: ca.NotAfter,
			DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageServerAuth},
		}
		der, err := x509.CreateCertificate(rand.Reader, template, ca, k.Public(), caKey)
		if err != nil {
			t.Fatal(err)
		}
		private, err := x509.MarshalECPrivateKey(k)
		if err != nil {
			t.Fatal(err)
		}
		save(name+".crt", "CERTIFICATE", der)
		save(name+".key", "EC PRIVATE KEY", private)
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: k}
	}
	server = &tls.Config{Certificates: []tls.Certificate{leaf(2, "server")}, ClientCAs: pool, ClientAuth: tls.VerifyClientCertIfGiven, NextProtos: []string{"http/1.1"}}
	client = &tls.Config{Certificates: []tls.Certificate{leaf(3, "agent01.example.com")}, RootCAs: pool, ServerName: "localhost", NextProtos: []string{"http/1.1"}}
	return server, client, dir
}

// newProxy starts a server whose termini ask the peer over TLS.
func newProxy(t testing.TB, upstream http.Handler, debuggers ...indirector.Debugger) *peer {
	t.Helper()
	server, _, certs := pair(t)
	front := httptest.NewUnstartedServer(upstream)
	front.TLS = server
	front.StartTLS()
	t.Cleanup(front.Close)
	_, port, err := net.SplitHostPort(front.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{dir: t.TempDir()}
	write(t, filepath.Join(p.dir, "conf/puppet.conf"), fmt.Sprintf(`[main]
server = localhost
serverport = %s
localcacert = %s/ca.pem
hostcert = %s/agent01.example.com.crt
hostprivkey = %s/agent01.example.com.key
certname = agent01.example.com
certificate_revocation = false
rest_forward = headers
`, port, certs, certs, certs))
	o := engine.Options{
		Specs: termini.Specs(), Termini: termini.All(), Application: "server", Write: true,
		ConfDir: filepath.Join(p.dir, "conf"), VarDir: filepath.Join(p.dir, "var"),
	}
	for _, g := range debuggers {
		o.Debugger = g
	}
	p.Engine, err = engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	routes := make(indirector.Routes)
	for _, spec := range termini.Specs() {
		routes[spec.Name] = indirector.Route{Primary: traces.Slot{{Terminus: "rest", Kind: traces.FromYou}}}
	}
	p.SwapRoutes(routes, "proxy")
	p.handler = rest.NewHandler(p.Indirector, rest.Options{PassThrough: true, Recorder: p.Store, Client: byTestHeader})
	p.server = httptest.NewServer(p.handler)
	t.Cleanup(p.server.Close)
	return p
}

// byTestHeader identifies the client by a header of the tests.
func byTestHeader(r *http.Request) indirector.Remote {
	remote := indirector.Remote{Node: r.Header.Get("X-Test-As"), IP: "127.0.0.1"}
	if dn, ok := strings.CutPrefix(r.Header.Get("X-Client-DN"), "CN="); ok {
		remote.Node = dn
	}
	if remote.Authenticated = remote.Node != "none" && remote.Node != ""; !remote.Authenticated {
		remote.Node = remote.IP
	}
	return remote
}

// TestProxyOfCaptures sends every captured request to a server and to a proxy
// before it, and compares the answers: the proxy adds nothing and loses
// nothing.
func TestProxyOfCaptures(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the classifier of the captures is a shell script: ", err)
	}
	upstream := newPeer(t, nil)
	proxy := newProxy(t, upstream.handler)
	asked := 0
	for _, c := range readCaptures(t) {
		switch {
		case strings.Contains(c.line, " /puppet-ca/"), strings.Contains(c.line, " /status/"), strings.Contains(c.line, "/static_file_content/"), strings.Contains(c.line, "/environments"):
			continue // no indirections
		}
		upstream.prepare(t, c)
		asked++
		want, got := upstream.ask(t, c), proxy.ask(t, c)
		if want.status != got.status || !bytes.Equal(want.body, got.body) && upstream.same(string(want.body)) != upstream.same(string(got.body)) {
			t.Errorf("%s: %s\n\tproxy %d %.300q\n\tserver %d %.300q", c.name, c.line, got.status, got.body, want.status, want.body)
		}
		for _, name := range mattering {
			if w, g := want.header.Get(name), got.header.Get(name); w != g {
				t.Errorf("%s: %s: through the proxy %q, directly %q", c.name, name, g, w)
			}
		}
	}
	if asked < 120 {
		t.Errorf("only %d requests were asked", asked)
	}
}

// An editor is a debugger that asks for another key.
type editor struct {
	injector
	key string // "" leaves the request as it is
}

func (g *editor) Hold(_ context.Context, s *indirector.Stop) (indirector.Verdict, error) {
	if g.key == "" {
		return indirector.Verdict{}, nil
	}
	changed := *s.Request
	changed.Key = g.key
	return indirector.Verdict{Request: &changed}, nil
}

// TestProxyHandsOnEdits: a held request goes on as it came, unless the user has
// changed it.
func TestProxyHandsOnEdits(t *testing.T) {
	t.Parallel()
	const query = "?transaction_uuid=%75&environment=production"
	for key, want := range map[string]string{"": "/puppet/v3//node/%77eb01" + query, "web02": "/puppet/v3/node/web02?environment=production&transaction_uuid=u"} {
		g := &editor{key: key}
		g.stops.Set(indirector.StopAt(traces.Terminus, false))
		got := ""
		proxy := newProxy(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got = r.RequestURI + " " + r.Header.Get("X-Odd")
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"name":"web01"}`)
		}), g)
		proxy.ask(t, capture{as: "agent01.example.com", line: "GET /puppet/v3//node/%77eb01" + query, header: http.Header{"Host": {"localhost"}, "Accept": {"application/json"}, "X-Odd": {"1"}}})
		if got != want+" 1" {
			t.Errorf("edited to %q: the server is asked %s, want %s", key, got, want)
		}
	}
}

// squeezed is text in an encoding.
func squeezed(t testing.TB, coding, text string) []byte {
	t.Helper()
	var b bytes.Buffer
	var w io.WriteCloser
	switch coding {
	case "gzip":
		w = gzip.NewWriter(&b)
	case "deflate":
		w = zlib.NewWriter(&b)
	default:
		return []byte(text)
	}
	if _, err := io.WriteString(w, text); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// TestProxyHandsOn asks through a proxy as an agent does: its headers come to
// the server, and the server's headers and very bytes, in whichever encoding,
// come back. The trace knows the contents all the same.
func TestProxyHandsOn(t *testing.T) {
	t.Parallel()
	random := mathrand.New(mathrand.NewPCG(1, 2))
	noise := make([]byte, 300<<10)
	for i := range noise {
		noise[i] = byte(random.Uint32())
	}
	const (
		node    = "/puppet/v3/node/agent01.example.com?environment=production"
		content = "/puppet/v3/file_content/modules/a/b?environment=production"
		bucket  = "/puppet/v3/file_bucket_file/md5/0cc175b9c0f1b6a831c399e269772661?environment=production"
		list    = "/puppet/v3/file_metadatas/modules/a?environment=production"
		binary  = "application/octet-stream"
	)
	for _, tt := range []struct {
		name, target, kind, offered, coding, text string
		broken, unsized                           bool
	}{
		{name: "node", target: node, kind: "application/json;charset=utf-8", text: `{"name" : "agent01.example.com"}`},
		{name: "node compressed", target: node, kind: "application/json;charset=utf-8", offered: "gzip;q=1.0,deflate;q=0.6,identity;q=0.3", coding: "gzip", text: `{"name" : "agent01.example.com"}`},
		{name: "small", target: content, kind: binary, text: "hello"},
		{name: "empty", target: content, kind: binary},
		{name: "small compressed", target: content, kind: binary, offered: "gzip", coding: "gzip", text: strings.Repeat("hello", 100)},
		{name: "large", target: content, kind: binary, text: string(noise)},
		{name: "large of unknown length", target: content, kind: binary, text: string(noise), unsized: true},
		{name: "large compressed", target: content, kind: binary, offered: "gzip;q=1.0,deflate;q=0.6,identity;q=0.3", coding: "gzip", text: string(noise), unsized: true},
		{name: "large deflated", target: content, kind: binary, offered: "deflate", coding: "deflate", text: string(noise)},
		{name: "of the bucket", target: bucket, kind: binary, offered: "gzip", coding: "gzip", text: string(noise)},
		{name: "large, and not what it says", target: content, kind: binary, offered: "gzip", coding: "gzip", text: string(noise), broken: true},
		{name: "list", target: list, kind: "application/json", offered: "gzip", coding: "gzip", text: "[" + file + "]"},
		{name: "long list", target: list, kind: "application/json", text: "[" + strings.Repeat(file+",\n", 9000) + file + " ]\n"},
		{name: "long list compressed", target: list, kind: "application/json", offered: "gzip", coding: "gzip", text: "[" + strings.Repeat(named(noise)+",", 5) + file + "]"},
		{name: "long list that is none", target: list, kind: "application/json", text: "[" + strings.Repeat(file+",", 9000) + "}"},
		{name: "long list of unknown type", target: list, kind: "text/html", text: "<" + strings.Repeat(file+",", 9000)},
		{name: "long list in PSON", target: list, kind: "text/pson", text: "[" + strings.Repeat(file+",", 9000) + file + "]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			body := squeezed(t, tt.coding, tt.text)
			if tt.broken {
				body = noise
			}
			var sent http.Header
			proxy := newProxy(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				sent = r.Header.Clone()
				h := w.Header()
				h["Content-Type"], h["X-Puppet-Version"], h["X-Odd"], h["Vary"] = []string{tt.kind}, []string{"7.9.5"}, []string{"a", "b"}, []string{"Accept-Encoding"}
				if tt.coding != "" {
					h.Set("Content-Encoding", tt.coding)
				}
				if !tt.unsized {
					h.Set("Content-Length", strconv.Itoa(len(body)))
				}
				_, _ = w.Write(body)
			}))
			r, err := http.NewRequestWithContext(t.Context(), "GET", proxy.server.URL+tt.target, nil)
			if err != nil {
				t.Fatal(err)
			}
			r.Header = http.Header{
				"Accept": {"application/json, text/pson, " + binary}, "User-Agent": {"Puppet/7.23.0 of an agent"}, "X-Puppet-Version": {"7.23.0"}, "X-Puppet-Profiling": {"true"}, "X-Client-Cert": {"forged"},
				"X-Test-As": {"agent01.example.com"}, "Accept-Encoding": nil,
			}
			if tt.offered != "" {
				r.Header.Set("Accept-Encoding", tt.offered)
			}
			transport := &http.Transport{DisableKeepAlives: true, DisableCompression: true}
			resp, err := transport.RoundTrip(r)
			if err != nil {
				t.Fatal(err)
			}
			got, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil || resp.StatusCode != 200 || !bytes.Equal(got, body) {
				t.Errorf("got %d, %d bytes, %v; want %d", resp.StatusCode, len(got), err, len(body))
			}
			for name, want := range map[string]string{"Content-Type": tt.kind, "X-Puppet-Version": "7.9.5", "X-Odd": "a,b", "Vary": "Accept-Encoding", "Content-Encoding": tt.coding} {
				if g := strings.Join(resp.Header[name], ","); g != want {
					t.Errorf("came back: %s is %q, want %q", name, g, want)
				}
			}
			for name, want := range map[string]string{"User-Agent": "Puppet/7.23.0 of an agent", "X-Puppet-Profiling": "true", "Accept-Encoding": tt.offered, "X-Client-Cert": "", "X-Client-Dn": "CN=agent01.example.com"} {
				if g := strings.Join(sent[name], ","); g != want {
					t.Errorf("was asked with %s: %q, want %q", name, g, want)
				}
			}
			proxy.server.Close() // waits for the handler
			if err := proxy.Store.Flush(); err != nil {
				t.Error(err)
			}
			trace, err := proxy.Store.Trace(1)
			if err != nil {
				t.Fatal(err)
			}
			if i := slices.IndexFunc(trace.Spans, func(s traces.Span) bool { return s.Name == "send contents" }); i >= 0 {
				sum, _ := attr(trace.Spans[i], "sha256")
				if want := fmt.Sprintf("%x", sha256.Sum256([]byte(tt.text))); sum != want && !tt.broken {
					t.Errorf("the trace has the digest %q, want %q", sum, want)
				}
			} else if tt.kind == binary {
				t.Errorf("no contents are traced: %+v", trace.Spans)
			}
			if n := strings.Count(tt.text, `"path"`); tt.target == list && json.Valid([]byte(tt.text)) && !strings.Contains(traces.Story(trace), strconv.Itoa(n)+" instance") && trace.Steps[traces.Terminus].Because.About != strconv.Itoa(n) {
				t.Errorf("the trace does not say that %d were listed: %s; %+v", n, traces.Story(trace), trace.Steps[traces.Terminus])
			}
		})
	}
}

// file is a file of a list, and named one with a long name.
const file = `{"path":"/m","relative_path":"a","links":"manage","owner":0,"group":0,"mode":420,"checksum":{"type":"md5","value":"{md5}0cc175b9c0f1b6a831c399e269772661"},"type":"file","destination":null}`

func named(name []byte) string {
	return strings.Replace(file, `"a"`, `"`+base64.StdEncoding.EncodeToString(name)+`"`, 1)
}

func attr(s traces.Span, key string) (string, bool) {
	for _, a := range s.Attrs {
		if a.Key == key {
			return a.Value, true
		}
	}
	return "", false
}

// TestProxyPassesLists has a server that goes on with a long list only when the
// agent has got what was written before, and breaks off in the end.
func TestProxyPassesLists(t *testing.T) {
	t.Parallel()
	piece := strings.Repeat(file+",", 2<<20/len(file))
	got := make(chan struct{}, 1)
	proxy := newProxy(t, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, "[")
		for range 3 {
			_, _ = io.WriteString(w, piece)
			_ = http.NewResponseController(w).Flush()
			select {
			case <-got:
			case <-r.Context().Done():
				return
			}
		}
		panic(http.ErrAbortHandler)
	}))
	r, err := http.NewRequestWithContext(t.Context(), "GET", proxy.server.URL+"/puppet/v3/file_metadatas/modules/a?environment=production", nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", "application/json")
	r.Header.Set("Accept-Encoding", "identity")
	resp, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b := make([]byte, len(piece)-64<<10) // the last bytes wait for more
	for range 3 {
		if _, err := io.ReadFull(resp.Body, b); err != nil {
			t.Fatal(err)
		}
		got <- struct{}{}
	}
	if _, err := io.Copy(io.Discard, resp.Body); err == nil {
		t.Error("half a list looks like a whole one")
	}
}

// watcher is a debugger that sees answers and lets them go on.
type watcher struct{ injector }

func (g *watcher) Hold(_ context.Context, s *indirector.Stop) (indirector.Verdict, error) {
	if s.Request.Verb == indirector.Search {
		return g.verdict, nil
	}
	return indirector.Verdict{}, nil
}

// TestProxyHoldsLists: where answers may be held, a long list is not sent
// before, and its replacement reaches the agent.
func TestProxyHoldsLists(t *testing.T) {
	t.Parallel()
	long := "[" + strings.Repeat(file+",", 9000) + file + "]"
	for _, tt := range []struct {
		verdict indirector.Verdict
		want    int
	}{
		{indirector.Verdict{}, len(long)},
		{indirector.Verdict{Set: true, Value: []indirector.Instance{}}, len("[]")},
	} {
		g := &watcher{injector{verdict: tt.verdict}}
		g.stops.Set(indirector.StopAt(traces.Terminus, true))
		proxy := newProxy(t, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, long)
		}), g)
		got := proxy.ask(t, capture{as: "agent01.example.com", line: "GET /puppet/v3/file_metadatas/modules/a?environment=production", header: http.Header{"Host": {"localhost"}, "Accept": {"application/json"}}})
		if got.status != 200 || len(got.body) != tt.want {
			t.Errorf("got %d, %d bytes, want %d", got.status, len(got.body), tt.want)
		}
	}
}

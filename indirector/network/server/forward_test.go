package server_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"encoding/pem"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/network/authconf"
	"indirtui/indirector/network/client"
	"indirtui/indirector/network/server"
	"indirtui/traces"
)

// given are settings for tests.
type given map[string]string

func (g given) Get(name string) (value, source string) { return g[name], "test" }

// standBetween starts an upstream with that handler, and a proxy in front that
// waits so many seconds for an answer.
func standBetween(t *testing.T, as server.As, limit string, upstream http.HandlerFunc) (*testServer, *http.Client) {
	t.Helper()
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	up := httptest.NewUnstartedServer(upstream)
	cert := ca.sign("upstream", forServers)
	up.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, ClientAuth: tls.RequestClientCert}
	up.StartTLS()
	t.Cleanup(up.Close)
	_, port, _ := net.SplitHostPort(up.Listener.Addr().String())
	ca.sign("proxy", forServers)
	asks := client.New(client.Options{Settings: given{
		"server": "localhost", "serverport": port, "ca_server": "localhost", "ca_port": port, "http_read_timeout": limit, "http_connect_timeout": "120",
		"hostcert": ca.path("proxy.crt"), "hostprivkey": ca.path("proxy.key"), "localcacert": ca.path("ca.pem"), "hostcrl": ca.path("crl.pem"),
		"certname": "proxy", "certificate_revocation": "chain", "runinterval": "1800",
	}})
	t.Cleanup(func() {
		if err := asks.Close(); err != nil {
			t.Error(err)
		}
	})
	auth, err := authconf.Parse("auth.conf", `authorization { version: 1, rules: [ { name: all, sort-order: 1, match-request { path: "/", type: path }, allow-unauthenticated: true } ] }`)
	if err != nil {
		t.Fatal(err)
	}
	f := &server.Forwarder{Client: asks, As: as, Now: time.Now}
	h := start(t, ca, server.Options{Auth: auth}, f.ServeHTTP)
	f.Server, f.Recorder = h.Server, h.kept
	return h, h.client(web)
}

// TestForward: requests and answers pass unchanged, and no client can pretend
// to be another.
func TestForward(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		as   server.As
		want string
	}{
		{server.AsHeaders, `as proxy, verify "SUCCESS" dn "CN=web01"`},
		{server.AsProxy, `as proxy, verify "" dn ""`},
	} {
		h, c := standBetween(t, tt.as, "120", func(w http.ResponseWriter, r *http.Request) {
			b, _ := io.ReadAll(r.Body)
			w.Header().Set("X-Puppet-Version", "7.9.5")
			w.Header().Set("Content-Type", "text/x-odd")
			w.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(w, "%s %s %s as %s, verify %q dn %q", r.Method, r.RequestURI, b, r.TLS.PeerCertificates[0].Subject.CommonName, r.Header.Get("X-Client-Verify"), r.Header.Get("X-Client-DN"))
		})
		req, _ := http.NewRequest("PUT", h.url+"/puppet/v3/odd%20thing/a%2Fb?x=%26&transaction_uuid=u1", strings.NewReader("body"))
		req.Header.Set("X-Client-DN", "CN=admin")
		req.Header.Set("X-Client-Verify", "SUCCESS")
		resp, err := c.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		b, _ := io.ReadAll(resp.Body)
		resp.Body.Close()
		if got, want := string(b), "PUT /puppet/v3/odd%20thing/a%2Fb?x=%26&transaction_uuid=u1 body "+tt.want; got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		if resp.StatusCode != http.StatusAccepted || resp.Header.Get("X-Puppet-Version") != "7.9.5" || resp.Header.Get("Content-Type") != "text/x-odd" {
			t.Errorf("got %d, %v", resp.StatusCode, resp.Header)
		}
		tr := h.kept.wait(t, "")
		if tr.Indirection != "odd thing" || tr.Key != "a/b" || tr.Verb != traces.Save || tr.Run != "u1" || len(tr.Spans) == 0 {
			t.Errorf("got %+v", tr)
		}
	}
}

// TestForwardUnknown: what is no indirection goes to the server as it came, and
// its answer comes back byte by byte, in the encoding that the client offered,
// errors included.
func TestForwardUnknown(t *testing.T) {
	t.Parallel()
	var squeezed bytes.Buffer
	z := gzip.NewWriter(&squeezed)
	if _, err := io.WriteString(z, `{"message":"said","issue_kind":"KIND"}`); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	h, c := standBetween(t, server.AsHeaders, "120", func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		w.Header()["X-Asked"] = []string{r.Method + " " + r.RequestURI + " " + string(b), r.Header.Get("Accept-Encoding"), r.Header.Get("Content-Type"), r.Header.Get("If-None-Match"), r.Header.Get("X-Authentication"), r.Header.Get("X-Puppet-Version") + r.Header.Get("Accept") + r.Header.Get("User-Agent")}
		w.Header()["Etag"] = []string{`"1"`}
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Encoding", "gzip")
		if strings.HasPrefix(r.URL.Path, "/metrics") {
			w.WriteHeader(http.StatusInternalServerError)
		}
		_, _ = w.Write(squeezed.Bytes())
	})
	for _, asked := range []string{
		"GET /puppet/v3/environment_classes?environment=production", "GET /puppet/v3/environment_modules", "GET /puppet/v3/environment_transports?environment=production",
		"GET /puppet/v3/tasks/apache/init?environment=production", "GET /puppet/v3/plans?environment=production", "POST /puppet/v3/compile", "POST /puppet/v4/catalog",
		"GET /status/v1/services?level=debug", "GET /metrics/v2/read/java.lang:type=Memory", "DELETE /puppet-admin-api/v1/environment-cache", "DELETE /puppet-admin-api/v1/jruby-pool",
		"GET /pdb/query/v4/nodes?query=%5B%22%3D%22%2C%22certname%22%2C%22a%22%5D", "PUT /puppet-ca/v1/clean", "GET /puppet-ca/v1/expirations", "PATCH /odd", "OPTIONS /puppet/v3/node/x", "GET /",
	} {
		method, target, _ := strings.Cut(asked, " ")
		r, err := http.NewRequestWithContext(t.Context(), method, h.url+target, strings.NewReader("b"))
		if err != nil {
			t.Fatal(err)
		}
		r.Header = http.Header{"Accept-Encoding": {"gzip;q=1.0,deflate;q=0.6"}, "Content-Type": {"application/json"}, "If-None-Match": {`"0"`}, "X-Authentication": {"token"}, "User-Agent": nil}
		resp, err := c.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || !bytes.Equal(b, squeezed.Bytes()) || resp.Header.Get("Content-Encoding") != "gzip" || resp.Header.Get("Etag") != `"1"` {
			t.Errorf("%s: got %q, %v, %v", asked, b, resp.Header, err)
		}
		want := []string{asked + " b", "gzip;q=1.0,deflate;q=0.6", "application/json", `"0"`, "token", ""}
		if got := resp.Header["X-Asked"]; !slices.Equal(got, want) {
			t.Errorf("the server was asked %q, want %q", got, want)
		}
	}
	trace := h.kept.wait(t, "500 Internal")
	if len(trace.Spans) == 0 || !slices.Contains(trace.Spans[0].Attrs, traces.Attr{Key: "message", Value: "said"}) {
		t.Errorf("the trace does not have what the server says: %+v", trace.Spans)
	}
}

// TestForwardFaults: whatever the server does, the client gets a status, and
// the trace the cause.
func TestForwardFaults(t *testing.T) {
	t.Parallel()
	hijack := func(w http.ResponseWriter, text string) {
		c, _, err := w.(http.Hijacker).Hijack()
		if err != nil {
			panic(err)
		}
		_, _ = io.WriteString(c, text)
		_ = c.Close()
	}
	for _, tt := range []struct {
		name     string
		upstream http.HandlerFunc
		want     string // what the client gets begins so
		outcome  traces.Outcome
		story    string
	}{
		{"HTML", func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Content-Type", "text/html")
			w.WriteHeader(502)
			io.WriteString(w, "<html>Bad Gateway</html>")
		}, "502 <html>Bad Gateway</html>", traces.Err, "502 Bad Gateway"},
		{"404", func(w http.ResponseWriter, r *http.Request) { http.NotFound(w, r) }, "404 404 page not found", traces.NilHidden, "404 Not Found"},
		{"reset", func(w http.ResponseWriter, r *http.Request) { hijack(w, "") }, "502 ", traces.Err, "closed the connection before its answer was complete"},
		{"no HTTP", func(w http.ResponseWriter, r *http.Request) { hijack(w, "SSH-2.0-OpenSSH\r\n\r\n") }, "502 ", traces.Err, ""},
		{"hangs", func(w http.ResponseWriter, r *http.Request) {
			select {
			case <-r.Context().Done():
			case <-time.After(patience):
			}
		}, "50", traces.Err, "no answer from "},
		{"truncated", func(w http.ResponseWriter, r *http.Request) {
			hijack(w, "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
		}, "EOF", traces.Err, "in the middle of the answer, after 4 of 100 bytes"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			limit := "120"
			if tt.name == "hangs" {
				limit = "1"
			}
			h, c := standBetween(t, server.AsHeaders, limit, tt.upstream)
			if got := ask(c, "GET", h.url+"/puppet/v3/environments"); !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
			tr := h.kept.wait(t, tt.story)
			if tr.Outcome != tt.outcome {
				t.Errorf("outcome %v, want %v: %s", tr.Outcome, tt.outcome, traces.Story(tr))
			}
			// And goes on.
			if got := ask(c, "GET", h.url+"/puppet/v3/environments"); got == "" {
				t.Error("no answer")
			}
		})
	}
}

// TestForwardDown: no server.
func TestForwardDown(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	web := ca.sign("web01")
	ca.sign("proxy")
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	l.Close()
	asks := client.New(client.Options{Settings: given{
		"server": "localhost", "serverport": port, "hostcert": ca.path("proxy.crt"), "hostprivkey": ca.path("proxy.key"), "localcacert": ca.path("ca.pem"),
		"hostcrl": ca.path("crl.pem"), "certname": "proxy", "http_connect_timeout": "120",
	}})
	defer asks.Close()
	f := &server.Forwarder{Client: asks, Now: time.Now}
	h := start(t, ca, server.Options{}, f.ServeHTTP)
	f.Server, f.Recorder = h.Server, h.kept
	if got := ask(h.client(web), "GET", h.url+"/puppet/v3/environments"); !strings.HasPrefix(got, "502 ") {
		t.Errorf("got %q", got)
	}
	h.kept.wait(t, "localhost:"+port)
	h.stop()
	if n, m := h.Busy(); n != 0 || m != 0 {
		t.Errorf("%d connections and %d requests are left", n, m)
	}
}

// TestIdentities: a key and a certificate are obtained once, and only the
// certificate of that key is kept.
func TestIdentities(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	other := ca.sign("web01")
	asked := 0
	up := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked++
		switch {
		case r.Method == "PUT":
		case strings.HasSuffix(r.URL.Path, "/waits"):
			http.NotFound(w, r)
		default:
			w.Write(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: other.Certificate[0]}))
		}
	}))
	up.TLS = &tls.Config{Certificates: []tls.Certificate{ca.sign("upstream", forServers)}}
	up.StartTLS()
	defer up.Close()
	_, port, _ := net.SplitHostPort(up.Listener.Addr().String())
	asks := client.New(client.Options{Settings: given{"ca_server": "localhost", "ca_port": port, "localcacert": ca.path("ca.pem"), "hostcrl": ca.path("crl.pem"), "certname": "proxy", "hostcert": ca.path("no"), "hostprivkey": ca.path("no")}})
	defer asks.Close()
	i := &server.Identities{Client: asks, Certs: ca.path("certs"), Keys: ca.path("keys")}
	for name, want := range map[string]string{
		"waits": "has not signed the request of waits yet", "web01": "that is of another key", "../x": "",
	} {
		if err := i.Have(context.Background(), name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", name, err, want)
		}
	}
	if asked != 4 {
		t.Errorf("%d questions, want 4", asked)
	}
}

package rest_test

import (
	"bytes"
	"compress/gzip"
	"compress/zlib"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/network/client/clienttest"
	"indirtui/traces"
)

// A fault is one way in which a node cannot be had.
type fault struct {
	name    string
	address string            // of the server; "" is the good one
	set     map[string]string // settings of this question
	want    string            // part of the hidden cause
	differs string            // in what the message is meant to differ from Puppet's
	newer   outcome           // Puppet's answer with Ruby 3.1.7, if that is another
}

const nodeJSON = `{"name":"web01","environment":"production"}`

func serveNode(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, nodeJSON)
}

// raw answers connections byte by byte, with or without TLS.
func rawServer(t *testing.T, leaf *clienttest.Leaf, answer func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				<-stop
				_ = c.Close()
			}()
			go func() {
				if leaf == nil {
					answer(c)
					return
				}
				s := tls.Server(c, &tls.Config{Certificates: []tls.Certificate{leaf.TLS}})
				if s.Handshake() == nil {
					answer(s)
				}
			}()
		}
	}()
	t.Cleanup(func() { close(stop); _ = l.Close(); <-done })
	return "https://" + l.Addr().String()
}

// readHead reads a request without a body.
func readHead(c net.Conn) {
	buffer := make([]byte, 0, 4096)
	for !bytes.Contains(buffer, []byte("\r\n\r\n")) && len(buffer) < 4096 {
		n, err := c.Read(buffer[len(buffer):cap(buffer)])
		if err != nil {
			return
		}
		buffer = buffer[:len(buffer)+n]
	}
}

// after reads the request and writes that; then the connection is closed.
func after(text string) func(net.Conn) {
	return func(c net.Conn) {
		readHead(c)
		_, _ = io.WriteString(c, text)
		_ = c.Close()
	}
}

// hangs is like after, but leaves the connection open.
func hangs(text string) func(net.Conn) {
	return func(c net.Conn) {
		readHead(c)
		_, _ = io.WriteString(c, text)
	}
}

func gzipped(s string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func deflated(s string) string {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = io.WriteString(w, s)
	_ = w.Close()
	return b.String()
}

func answerOf(coding, body string) string {
	return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Encoding: %s\r\nContent-Length: %d\r\n\r\n%s", coding, len(body), body)
}

// faults are all of them, compared with real Puppet.
func faults(t *testing.T) ([]fault, clienttest.Settings) {
	t.Helper()
	dir := t.TempDir()
	ca, foreign, twin := clienttest.New(t, "Puppet CA"), clienttest.New(t, "Foreign CA"), clienttest.New(t, "Puppet CA")
	below := ca.Below(t, "Puppet Intermediate CA")
	own := ca.Issue(t, "web01")
	good := ca.Issue(t, "puppet", clienttest.Local)
	serve := func(leaf *clienttest.Leaf, change ...func(*tls.Config)) string {
		return clienttest.Serve(t, leaf, http.HandlerFunc(serveNode), change...).URL
	}
	settings := ca.Write(t, filepath.Join(dir, "ssl"), own).At(t, serve(good))
	file := func(name string, parts ...[]byte) string {
		path := filepath.Join(dir, name)
		clienttest.WriteFile(t, path, bytes.Join(parts, nil))
		return path
	}
	days := func(from, to int) func(*x509.Certificate) {
		return func(c *x509.Certificate) {
			c.NotBefore, c.NotAfter = time.Now().AddDate(0, 0, from), time.Now().AddDate(0, 0, to)
		}
	}
	revoked := ca.Issue(t, "puppet", clienttest.Local)
	intermediate := below.Issue(t, "puppet", clienttest.Local)
	mismatched := ca.Issue(t, "puppet.example.com", func(c *x509.Certificate) { c.DNSNames = []string{"puppet.example.com", "puppet"} })
	onlyName := ca.Issue(t, "puppet.example.com")
	noSAN := ca.Issue(t, "localhost", func(c *x509.Certificate) { c.DNSNames = nil })
	selfSigned := clienttest.New(t, "127.0.0.1")
	self := selfSigned.Issue(t, "127.0.0.1", clienttest.Local)
	self.TLS.Certificate = self.TLS.Certificate[:1] // the authority is not shown
	update := func(thisDays, nextDays float64) func(*x509.RevocationList) {
		return func(l *x509.RevocationList) {
			l.ThisUpdate, l.NextUpdate = time.Now().Add(time.Duration(thisDays*24)*time.Hour), time.Now().Add(time.Duration(nextDays*24)*time.Hour)
		}
	}
	soon := func(l *x509.RevocationList) { l.ThisUpdate = time.Now().Add(3 * time.Minute) }
	emptyFile := file("empty.pem")
	trustBoth := file("both.pem", below.PEM(), ca.PEM())
	wrongOwn := clienttest.New(t, "Puppet CA").Issue(t, "web01")
	expiredOwn, revokedOwn := ca.Issue(t, "web01", days(-3, -1)), ca.Issue(t, "web01")
	identity := func(name string, leaf *clienttest.Leaf) map[string]string {
		return map[string]string{"hostcert": file(name+".crt", leaf.PEM()), "hostprivkey": file(name+".key", leaf.KeyPEM(t))}
	}
	with := func(m map[string]string, pairs ...string) map[string]string {
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	pool := x509.NewCertPool()
	pool.AddCert(foreign.Cert)
	requireForeign := func(max uint16) func(*tls.Config) {
		return func(c *tls.Config) {
			c.ClientAuth, c.ClientCAs, c.MaxVersion = tls.RequireAndVerifyClientCert, pool, max
		}
	}
	plain := httptest.NewServer(http.HandlerFunc(serveNode))
	t.Cleanup(plain.Close)
	closed := "https://127.0.0.1:1"
	h := func(pairs ...string) map[string]string { return with(map[string]string{}, pairs...) }
	chunked := "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
	short := func(n int) string {
		return fmt.Sprintf("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", len(nodeJSON)+n, nodeJSON)
	}
	hop := func(s string) string { u, _ := url.Parse(s); return u.Host }
	broken := clienttest.Serve(t, good, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) })).URL
	old := clienttest.Serve(t, good, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/status/v1/simple/server" {
			w.WriteHeader(http.StatusNotFound)
			return
		}
		serveNode(w, r)
	})).URL
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusProxyAuthRequired)
	}))
	t.Cleanup(proxy.Close)
	proxyURL, _ := url.Parse(proxy.URL)
	return []fault{
		{name: "all well"},
		{name: "expired server", address: serve(ca.Issue(t, "puppet", clienttest.Local, days(-3, -1))), want: "and now is"},
		{name: "server from the future", address: serve(ca.Issue(t, "puppet", clienttest.Local, days(1, 3))), want: "and now is"},
		{name: "revoked server", address: serve(revoked), set: h("hostcrl", file("revoked.pem", ca.CRL(t, []*clienttest.Leaf{revoked}))), want: "was revoked at"},
		{name: "revoked server, leaf", address: serve(revoked), set: h("hostcrl", file("revoked2.pem", ca.CRL(t, []*clienttest.Leaf{revoked})), "certificate_revocation", "leaf")},
		{name: "revoked server, nobody looks", address: serve(revoked), set: h("hostcrl", file("revoked3.pem", ca.CRL(t, []*clienttest.Leaf{revoked})), "certificate_revocation", "false")},
		{name: "expired list", set: h("hostcrl", file("old.pem", ca.CRL(t, nil, update(-3, -1))), "certificate_revocation", "chain"), want: "it must be fetched again"},
		{name: "list from the future", set: h("hostcrl", file("early.pem", ca.CRL(t, nil, update(1, 3))))},
		{name: "list a little early", set: h("hostcrl", file("soon.pem", ca.CRL(t, nil, soon))), differs: "Puppet lets its server be a little ahead, but not in the check of its own certificate, which it then refuses"},
		{name: "list of another key", set: h("hostcrl", file("twin.pem", twin.CRL(t, nil)))},
		{name: "no list of the root", address: serve(intermediate), set: h("localcacert", trustBoth, "hostcrl", file("below.pem", below.CRL(t, nil)))},
		{name: "no list of the root, leaf", address: serve(intermediate), set: h("localcacert", trustBoth, "hostcrl", file("below2.pem", below.CRL(t, nil), ca.CRL(t, nil)), "certificate_revocation", "leaf")},
		{name: "chain of two", address: serve(intermediate), set: h("localcacert", trustBoth, "hostcrl", file("two.pem", below.CRL(t, nil), ca.CRL(t, nil)))},
		{name: "foreign server", address: serve(foreign.Issue(t, "puppet", clienttest.Local)), want: "was issued by CN=Foreign CA"},
		{name: "self-signed server", address: serve(self)},
		{name: "authority made anew", address: serve(twin.Issue(t, "puppet", clienttest.Local)), want: "made anew"},
		{name: "other name", address: serve(mismatched), want: "the server was asked as 127.0.0.1", newer: noRoutes},
		{name: "only name", address: serve(onlyName), newer: noRoutes},
		{name: "no alternative names", address: strings.Replace(serve(noSAN), "127.0.0.1", "localhost", 1)},
		{name: "no authority", set: h("localcacert", filepath.Join(dir, "no.pem")), want: "localcacert"},
		{name: "empty authority", set: h("localcacert", emptyFile)},
		{name: "no list", set: h("hostcrl", filepath.Join(dir, "no.pem")), want: "hostcrl"},
		{name: "empty list", set: h("hostcrl", emptyFile)},
		{name: "no key", set: h("hostprivkey", filepath.Join(dir, "no.pem"))},
		{name: "no certificate", set: h("hostcert", filepath.Join(dir, "no.pem")), want: "not signed yet"},
		{name: "key of another", set: with(identity("other", wrongOwn), "hostcert", settings["hostcert"]), want: "belongs to another"},
		{name: "own certificate of another authority", set: identity("wrong", wrongOwn)},
		{name: "own certificate expired", set: identity("expired", expiredOwn), want: "and now is"},
		{name: "own certificate revoked", set: with(identity("revoked", revokedOwn), "hostcrl", file("ownrevoked.pem", ca.CRL(t, []*clienttest.Leaf{revokedOwn})))},
		{name: "server does not believe us, 1.2", address: serve(good, requireForeign(tls.VersionTLS12)), want: "does not know the authority that issued our certificate"},
		{name: "server does not believe us, 1.3", address: serve(good, requireForeign(tls.VersionTLS13)), want: "does not know the authority that issued our certificate"},
		{name: "no TLS", address: "https://" + hop(plain.URL), want: "speaks something else"},
		{name: "nobody listens", address: closed, want: "nobody listens at 127.0.0.1:1"},
		{name: "no such host", address: "https://nosuch.invalid:8140", want: "nosuch.invalid"},
		{name: "closed before TLS", address: rawServer(t, nil, func(c net.Conn) { _ = c.Close() })},
		{name: "no TLS in time", address: rawServer(t, nil, func(net.Conn) {}), set: h("http_connect_timeout", "1"), want: "http_connect_timeout"},
		{name: "closed after the question", address: rawServer(t, good, after("")), want: "before it answered"},
		{name: "no answer in time", address: rawServer(t, good, hangs("")), set: h("http_read_timeout", "1"), want: "not even a status"},
		{name: "stops in the middle", address: rawServer(t, good, hangs(short(10))), set: h("http_read_timeout", "3"), want: fmt.Sprintf("after %d of %d bytes", len(nodeJSON), len(nodeJSON)+10)},
		{name: "cut off", address: rawServer(t, good, after(short(10))), want: "in the middle of the answer", differs: "Ruby takes a body that is too short for the whole"},
		{name: "chunks cut off", address: rawServer(t, good, after(chunked+"5\r\n{\"nam\r\n")), want: "in the middle of the answer"},
		{name: "no HTTP", address: rawServer(t, good, after("SSH-2.0-OpenSSH_9.2\r\n\r\n")), want: "no HTTP"},
		{name: "mail", address: rawServer(t, good, after("220 mail.example.com ESMTP\r\n\r\n")), want: "no HTTP", differs: "Go shows a part of the line only"},
		{name: "gzip", address: rawServer(t, good, after(answerOf("gzip", gzipped(nodeJSON))))},
		{name: "x-gzip", address: rawServer(t, good, after(answerOf("x-gzip", gzipped(nodeJSON))))},
		{name: "deflate", address: rawServer(t, good, after(answerOf("deflate", deflated(nodeJSON))))},
		{name: "gzip as deflate", address: rawServer(t, good, after(answerOf("deflate", gzipped(nodeJSON))))},
		{name: "unknown coding", address: rawServer(t, good, after(answerOf("br", nodeJSON)))},
		{name: "identity", address: rawServer(t, good, after(answerOf("identity", nodeJSON)))},
		{name: "no gzip", address: rawServer(t, good, after(answerOf("gzip", nodeJSON))), want: "incorrect header check", differs: "Ruby fails on its way to the error"},
		{name: "gzip cut off", address: rawServer(t, good, after(answerOf("gzip", gzipped(nodeJSON)[:20]))), differs: "Ruby says \"buffer error\", as zlib does"},
		{name: "list: second", set: h("server_list", "127.0.0.1:1,"+hop("https://"+net.JoinHostPort(settings["server"], settings["serverport"])))},
		{name: "list: first is broken", set: h("server_list", hop(broken)+","+hop("https://"+net.JoinHostPort(settings["server"], settings["serverport"])))},
		{name: "list: old server", set: h("server_list", hop(old))},
		{name: "list: none", set: h("server_list", "127.0.0.1:1,"+hop(broken)), want: "answered 503 Service Unavailable"},
		{name: "proxy wants a password", set: h("http_proxy_host", proxyURL.Hostname(), "http_proxy_port", proxyURL.Port(), "no_proxy", "none"), want: "the proxy did not let us through"},
		{name: "proxy that is not there", set: h("http_proxy_host", "127.0.0.1", "http_proxy_port", "1", "no_proxy", "none")},
		{name: "no proxy for this", set: h("http_proxy_host", "127.0.0.1", "http_proxy_port", "1", "no_proxy", "localhost,127.0.0.*")},
	}, settings
}

// noRoutes is what Puppet makes of a certificate for another name since Ruby
// does not let OpenSSL check addresses: the error has lost the certificate, and
// Puppet takes it for a server that cannot be reached.
var noRoutes = outcome{Class: "Puppet::HTTP::RouteError", Message: "No more routes to puppet"}

// TestFaults asks for a node that cannot be had: the error must be that of real
// Puppet, if installed, and the trace must name the cause. Rules REST-CLI-01,
// REST-CLI-02, REST-CLI-03, REST-CLI-06, REST-CLI-08. Pains P33, P34.
func TestFaults(t *testing.T) {
	t.Parallel()
	list, settings := faults(t)
	puppet := ruby(t, settings["ssldir"])
	for _, f := range list {
		t.Run(f.name, func(t *testing.T) {
			with := settings.With()
			if f.address != "" {
				with = with.At(t, f.address)
			}
			with = with.With("server_list", "", "http_proxy_host", "none", "http_proxy_port", "3128", "http_extra_headers", "", "profile", "false", "supported_checksum_types", "sha256")
			for k, v := range f.set {
				with[k] = v
			}
			o := &op{indirection: "node", verb: "find", key: "web01"}
			h := newEngine(t, with)
			got := h.ask(t, o)
			trace := h.recorder.last(t)
			hidden := ""
			for _, fault := range trace.Faults {
				hidden += fault.Hidden + "\n"
			}
			if !strings.Contains(hidden, f.want) {
				t.Errorf("the trace says %q, and not %q", hidden, f.want)
			}
			for _, s := range trace.Spans {
				if s.Kind == traces.Network && s.Took <= 0 {
					t.Errorf("span %q took no time", s.Name)
				}
			}
			toPuppet := map[string]string{}
			for _, name := range []string{
				"server", "serverport", "localcacert", "hostcrl", "hostcert", "hostprivkey", "certificate_revocation", "http_read_timeout",
				"http_connect_timeout", "server_list", "http_proxy_host", "http_proxy_port", "no_proxy", "preferred_serialization_format",
			} {
				toPuppet[name] = with[name]
			}
			want := puppet.ask(t, o, toPuppet)
			want.Message, _, _ = strings.Cut(timeless(want.Message), "\n\n")
			got.Message = timeless(got.Message)
			if f.newer.Class != "" && want.Class == f.newer.Class && want.Message == f.newer.Message && want.Value == nil {
				return
			}
			same := want.Class == got.Class && want.Message == got.Message && (want.Value == nil) == (got.Value == nil)
			switch {
			case f.differs == "" && !same:
				t.Errorf("Puppet: %s: %s (%v)\nours:   %s: %s (%v)\nhidden: %s", want.Class, want.Message, want.Value, got.Class, got.Message, got.Value, hidden)
			case f.differs != "" && same:
				t.Errorf("there is no difference any more: %s", f.differs)
			}
		})
	}
}

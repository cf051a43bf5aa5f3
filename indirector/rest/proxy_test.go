package rest_test

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/rest"
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
func newProxy(t testing.TB, upstream *peer) *peer {
	t.Helper()
	server, _, certs := pair(t)
	front := httptest.NewUnstartedServer(upstream.handler)
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
	p.Engine, err = engine.New(engine.Options{
		Specs: termini.Specs(), Termini: termini.All(), Application: "server", Write: true,
		ConfDir: filepath.Join(p.dir, "conf"), VarDir: filepath.Join(p.dir, "var"),
	})
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
		routes[spec.Name] = indirector.Route{Primary: traces.Slot{{Terminus: "rest", Source: traces.FromYou}}}
	}
	p.SwapRoutes(routes, "proxy")
	p.handler = rest.NewHandler(p.Indirector, rest.Options{PassThrough: true, Recorder: p.Store, Who: byTestHeader})
	p.server = httptest.NewServer(p.handler)
	t.Cleanup(p.server.Close)
	return p
}

// byTestHeader says who asks by a header of the tests.
func byTestHeader(r *http.Request) indirector.Remote {
	who := indirector.Remote{Node: r.Header.Get("X-Test-As"), IP: "127.0.0.1"}
	if dn, ok := strings.CutPrefix(r.Header.Get("X-Client-DN"), "CN="); ok {
		who.Node = dn
	}
	if who.Authenticated = who.Node != "none" && who.Node != ""; !who.Authenticated {
		who.Node = who.IP
	}
	return who
}

// TestProxyOfCaptures asks every request of the captures twice, of a server and
// of a proxy before it, and holds the answers against each other: the proxy
// adds nothing and loses nothing.
func TestProxyOfCaptures(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the classifier of the captures is a shell script: ", err)
	}
	upstream := newPeer(t, nil)
	proxy := newProxy(t, upstream)
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

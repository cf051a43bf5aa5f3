// Package clienttest has what tests of HTTP clients need: a CA that issues
// certificates of every kind, bad ones included, the files of Puppet's
// settings, and servers that use them.
package clienttest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"
)

// Settings are settings by name.
type Settings map[string]string

// Get returns the setting, from the source "test".
func (s Settings) Get(name string) (value, source string) {
	v, ok := s[name]
	if !ok {
		return "", ""
	}
	return v, "test"
}

// With returns a copy with other values: name, value, ….
func (s Settings) With(pairs ...string) Settings {
	n := Settings{}
	for k, v := range s {
		n[k] = v
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		n[pairs[i]] = pairs[i+1]
	}
	return n
}

// An Authority issues certificates.
type Authority struct {
	Cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	serial atomic.Int64
}

// A Leaf is a certificate with its key.
type Leaf struct {
	Cert *x509.Certificate
	TLS  tls.Certificate
}

// New returns an authority of that name: "Puppet CA".
func New(t testing.TB, name string) *Authority { return issue(t, name, nil) }

// Below returns an authority that a issued.
func (a *Authority) Below(t testing.TB, name string) *Authority { return issue(t, name, a) }

func issue(t testing.TB, name string, parent *Authority) *Authority {
	t.Helper()
	a := &Authority{key: newKey(t)}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(24 * time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign | x509.KeyUsageCRLSign,
	}
	by, key := template, a.key
	if parent != nil {
		by, key = parent.Cert, parent.key
		template.SerialNumber = big.NewInt(parent.serial.Add(1) + 1000)
	}
	a.Cert = sign(t, template, by, &a.key.PublicKey, key)
	return a
}

func newKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func sign(t testing.TB, template, parent *x509.Certificate, public *ecdsa.PublicKey, key *ecdsa.PrivateKey) *x509.Certificate {
	t.Helper()
	der, err := x509.CreateCertificate(rand.Reader, template, parent, public, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// Issue returns a certificate for name, changed by the functions before it is
// signed.
func (a *Authority) Issue(t testing.TB, name string, change ...func(*x509.Certificate)) *Leaf {
	t.Helper()
	key := newKey(t)
	template := &x509.Certificate{
		SerialNumber: big.NewInt(a.serial.Add(1) + 1), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		DNSNames: []string{name}, KeyUsage: x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	for _, f := range change {
		f(template)
	}
	cert := sign(t, template, a.Cert, &key.PublicKey, a.key)
	return &Leaf{cert, tls.Certificate{Certificate: [][]byte{cert.Raw, a.Cert.Raw}, PrivateKey: key, Leaf: cert}}
}

// Local makes a certificate valid for servers of tests.
func Local(c *x509.Certificate) {
	c.DNSNames = append(c.DNSNames, "localhost", "127.0.0.1")
	c.IPAddresses = append(c.IPAddresses, net.IPv4(127, 0, 0, 1))
}

// CRL returns a revocation list in PEM, changed by the functions.
func (a *Authority) CRL(t testing.TB, revoked []*Leaf, change ...func(*x509.RevocationList)) []byte {
	t.Helper()
	list := &x509.RevocationList{Number: big.NewInt(1), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(time.Hour)}
	for _, leaf := range revoked {
		list.RevokedCertificateEntries = append(list.RevokedCertificateEntries, x509.RevocationListEntry{SerialNumber: leaf.Cert.SerialNumber, RevocationTime: time.Now().Add(-time.Minute)})
	}
	for _, f := range change {
		f(list)
	}
	der, err := x509.CreateRevocationList(rand.Reader, list, a.Cert, a.key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: der})
}

// PEM returns the certificate of the authority.
func (a *Authority) PEM() []byte { return certPEM(a.Cert) }

func certPEM(c *x509.Certificate) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})
}

// PEM returns the certificate.
func (l *Leaf) PEM() []byte { return certPEM(l.Cert) }

// KeyPEM returns the key.
func (l *Leaf) KeyPEM(t testing.TB) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(l.TLS.PrivateKey)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}

// Write writes the files of a host with that certificate into dir, laid out as
// an ssldir, and returns their settings, with short time limits.
func (a *Authority) Write(t testing.TB, dir string, leaf *Leaf) Settings {
	t.Helper()
	name := leaf.Cert.Subject.CommonName
	s := Settings{
		"certname": name, "ssldir": dir, "certdir": filepath.Join(dir, "certs"), "privatekeydir": filepath.Join(dir, "private_keys"),
		"localcacert": filepath.Join(dir, "certs", "ca.pem"), "hostcrl": filepath.Join(dir, "crl.pem"),
		"hostcert": filepath.Join(dir, "certs", name+".pem"), "hostprivkey": filepath.Join(dir, "private_keys", name+".pem"),
		"certificate_revocation": "chain", "http_connect_timeout": "120", "http_read_timeout": "120", "http_keepalive_timeout": "120",
		"runinterval": "1800", "http_user_agent": "Puppet/7.23.0 Ruby/3.1.2-p20 (x86_64-linux-gnu)",
		"preferred_serialization_format": "json", "no_proxy": "localhost, 127.0.0.1",
	}
	WriteFile(t, s["localcacert"], a.PEM())
	WriteFile(t, s["hostcrl"], a.CRL(t, nil))
	WriteFile(t, s["hostcert"], leaf.PEM())
	WriteFile(t, s["hostprivkey"], leaf.KeyPEM(t))
	return s
}

// WriteFile writes a file and its parent directories.
func WriteFile(t testing.TB, path string, b []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
}

// Serve starts a TLS server on loopback with that certificate. It requests the
// client's and trusts any. It is closed with the test.
func Serve(t testing.TB, leaf *Leaf, handler http.Handler, change ...func(*tls.Config)) *httptest.Server {
	t.Helper()
	s := httptest.NewUnstartedServer(handler)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	s.TLS = &tls.Config{Certificates: []tls.Certificate{leaf.TLS}, ClientAuth: tls.RequestClientCert}
	for _, f := range change {
		f(s.TLS)
	}
	s.StartTLS()
	t.Cleanup(s.Close)
	return s
}

// At returns settings whose server is that one.
func (s Settings) At(t testing.TB, address string) Settings {
	t.Helper()
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	return s.With("server", u.Hostname(), "serverport", u.Port(), "ca_server", u.Hostname(), "ca_port", u.Port(), "report_server", u.Hostname(), "report_port", u.Port())
}

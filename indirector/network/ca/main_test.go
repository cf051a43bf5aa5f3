package ca_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"encoding/pem"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"indirtui/indirector/engine"
	"indirtui/indirector/model"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/server"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces/leaktest"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// agentKey is a key of an agent. Making one takes time, so there is one.
var agentKey = sync.OnceValue(func() *rsa.PrivateKey {
	key, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		panic(err)
	}
	return key
})

func config(t testing.TB) ca.Config {
	t.Helper()
	return ca.Config{Dir: filepath.Join(t.TempDir(), "ca"), KeyLength: 1024, Name: "Puppet CA: test.example.com"}
}

// setup makes a CA that is set up as changed by change.
func setup(t testing.TB, o ca.SetupOptions, change func(*ca.Config)) *ca.Authority {
	t.Helper()
	cfg := config(t)
	if change != nil {
		change(&cfg)
	}
	a, err := ca.Setup(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// csr makes a certificate request.
func csr(t testing.TB, key crypto.Signer, name string, extensions ...pkix.Extension) []byte {
	t.Helper()
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: name}, ExtraExtensions: extensions}, key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
}

func pemOf(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

// extensionOID returns the identifier of one of Puppet's extensions.
func extensionOID(t testing.TB, name string) asn1.ObjectIdentifier {
	t.Helper()
	for _, arc := range []int{1, 3} {
		for n := range 50 {
			if oid := (asn1.ObjectIdentifier{1, 3, 6, 1, 4, 1, 34380, 1, arc, n}); model.ExtensionName(oid) == name {
				return oid
			}
		}
	}
	t.Fatalf("no extension %s", name)
	return nil
}

// extension makes one with a text in it.
func extension(t testing.TB, name, value string) pkix.Extension {
	t.Helper()
	oid := extensionOID(t, name)
	b, err := asn1.MarshalWithParams(value, "utf8")
	if err != nil {
		t.Fatal(err)
	}
	return pkix.Extension{Id: oid, Value: b}
}

func san(t testing.TB, names ...string) pkix.Extension {
	t.Helper()
	var seq []asn1.RawValue
	for _, n := range names {
		seq = append(seq, asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 2, Bytes: []byte(n)})
	}
	b, err := asn1.Marshal(seq)
	if err != nil {
		t.Fatal(err)
	}
	return pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 17}, Value: b}
}

// enroll has a name certified.
func enroll(t testing.TB, a *ca.Authority, name string, extensions ...pkix.Extension) *x509.Certificate {
	t.Helper()
	cert, err := a.Submit(t.Context(), name, csr(t, agentKey(), name, extensions...))
	if err == nil && cert == nil {
		cert, err = a.Sign(t.Context(), name, ca.SignOptions{})
	}
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// openssl runs openssl, and returns what it printed.
func openssl(t testing.TB, input []byte, args ...string) string {
	t.Helper()
	path, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("openssl is not installed")
	}
	c := exec.CommandContext(context.Background(), path, args...)
	c.Stdin = bytes.NewReader(input)
	out, err := c.CombinedOutput()
	if err != nil {
		t.Fatalf("openssl %q: %v\n%s", args, err, out)
	}
	return string(out)
}

func write(t testing.TB, path string, content []byte) string {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func read(t testing.TB, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func ecKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func bigInt(n int) *big.Int { return big.NewInt(int64(n)) }

// revokeMany writes a list with so many revoked numbers.
func revokeMany(t testing.TB, a *ca.Authority, n int) {
	t.Helper()
	entries := make([]x509.RevocationListEntry, n)
	for i := range entries {
		entries[i] = x509.RevocationListEntry{SerialNumber: bigInt(1000 + i), RevocationTime: time.Now(), ReasonCode: 1}
	}
	key, err := ca.ParseKey([]byte(read(t, a.Config().Key)))
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.Certificate()
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.CreateRevocationList(rand.Reader, &x509.RevocationList{
		Number: bigInt(1), ThisUpdate: time.Now(), NextUpdate: time.Now().Add(time.Hour), RevokedCertificateEntries: entries,
	}, cert, key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(a.Config().CRL, pemOf("X509 CRL", der), 0o600); err != nil {
		t.Fatal(err)
	}
}

// newEngine returns an engine with these settings. It is closed with the test.
func newEngine(t testing.TB, set map[string]string) *engine.Engine {
	t.Helper()
	o := engine.Options{Specs: termini.Specs(), Termini: termini.All(), ConfDir: t.TempDir(), VarDir: t.TempDir(), Application: "server", Write: true}
	for name, value := range set {
		o.Set = append(o.Set, settings.Override{Name: name, Value: value})
	}
	e, err := engine.New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// serve serves the handler over TLS, as indirtui serve does, and returns its URL.
func serve(t testing.TB, o server.Options, handler func(*server.Server) http.Handler) string {
	t.Helper()
	s, err := server.New(o)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, handler(s)) }()
	t.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
	return "https://" + l.Addr().String()
}

type fixed map[string]string

func (s fixed) Get(name string) (string, string) { return s[name], "test" }

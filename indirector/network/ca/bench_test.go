package ca_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"path/filepath"
	"testing"

	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/server"
)

// BenchmarkSign certifies a request: it is checked, signed, and written to the
// disk with its number, its line in the inventory and its file.
func BenchmarkSign(b *testing.B) {
	for _, bits := range []int{2048, 4096} {
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			a := setup(b, ca.SetupOptions{}, func(c *ca.Config) { c.KeyLength, c.Autosign, c.AllowDuplicates = bits, "true", true })
			text := csr(b, agentKey(), "web01.example.com")
			b.ReportAllocs()
			for b.Loop() {
				if _, err := a.Submit(context.Background(), "web01.example.com", text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkOCSP answers a question, with a nonce.
func BenchmarkOCSP(b *testing.B) {
	for _, bits := range []int{2048, 4096} {
		b.Run(fmt.Sprint(bits), func(b *testing.B) {
			a := setup(b, ca.SetupOptions{}, func(c *ca.Config) { c.KeyLength = bits })
			dir := b.TempDir()
			issuer := write(b, filepath.Join(dir, "i.pem"), ca.EncodeCertificates(must(a.Certificate())))
			openssl(b, nil, "ocsp", "-issuer", issuer, "-reqout", filepath.Join(dir, "q"), "-serial", "1")
			question := []byte(read(b, filepath.Join(dir, "q")))
			b.ReportAllocs()
			for b.Loop() {
				if _, about, err := a.OCSP(context.Background(), question); about != "good" {
					b.Fatal(about, err)
				}
			}
		})
	}
}

// BenchmarkRevoke revokes one more certificate each time.
func BenchmarkRevoke(b *testing.B) {
	a := setup(b, ca.SetupOptions{}, func(c *ca.Config) { c.KeyLength = 2048 })
	name := func(i int) string { return fmt.Sprintf("agent%d", i) }
	for i := range b.N {
		enroll(b, a, name(i))
	}
	b.ReportAllocs()
	b.ResetTimer()
	for i := range b.N {
		if err := a.Revoke(context.Background(), name(i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTrust is a handshake of a client that is looked up among a hundred
// thousand revoked ones.
func BenchmarkTrust(b *testing.B) {
	a := setup(b, ca.SetupOptions{}, nil)
	host := hostFiles(b.TempDir())
	if _, err := a.ServerCertificate(b.Context(), host); err != nil {
		b.Fatal(err)
	}
	pair, _, _, err := a.Generate(b.Context(), ca.Leaf{Name: "web01"})
	if err != nil {
		b.Fatal(err)
	}
	revokeMany(b, a, 100_000)
	url := serve(b, server.Options{Identity: host.identity(a.Config())}, func(*server.Server) http.Handler { return http.NotFoundHandler() })
	roots := x509.NewCertPool()
	roots.AddCert(must(a.Certificate()))
	config := &tls.Config{RootCAs: roots, Certificates: []tls.Certificate{pair}, MaxVersion: tls.VersionTLS12}
	b.ReportAllocs()
	for b.Loop() {
		c, err := tls.Dial("tcp", url[len("https://"):], config)
		if err != nil {
			b.Fatal(err)
		}
		_ = c.Close()
	}
}

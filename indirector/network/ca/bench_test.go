package ca_test

import (
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"indirtui/indirector/network/ca"
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

// BenchmarkRevoke revokes with so many revoked already.
func BenchmarkRevoke(b *testing.B) {
	a := setup(b, ca.SetupOptions{}, func(c *ca.Config) { c.KeyLength = 2048 })
	i := 0
	b.ReportAllocs()
	for b.Loop() {
		i++
		if err := a.RevokeSerial(context.Background(), bigInt(1000+i)); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkTrust looks a client up among a hundred thousand revoked ones.
func BenchmarkTrust(b *testing.B) {
	a := setup(b, ca.SetupOptions{}, nil)
	pair, _, _, err := a.Generate(b.Context(), ca.Leaf{Name: "web01"})
	if err != nil {
		b.Fatal(err)
	}
	cert := must(a.Certificate())
	revokeMany(b, a, 100_000)
	trust, err := ca.NewTrust(ca.TrustOptions{CAFile: a.Config().Cert, CRLFile: a.Config().CRL})
	if err != nil {
		b.Fatal(err)
	}
	chain := certChain(pair.Leaf, cert)
	b.ReportAllocs()
	for b.Loop() {
		if err := trust.Verify(chain); err != nil {
			b.Fatal(err)
		}
	}
}

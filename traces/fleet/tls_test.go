//go:build unix

package fleet_test

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/fleet"
	"indirtui/traces/fleet/fleettest"
	"indirtui/traces/store"
)

// An authority issues certificates.
type authority struct {
	certificate *x509.Certificate
	key         *ecdsa.PrivateKey
	file        string // its certificate in PEM
}

// issue makes a certificate, by itself if there is no issuer.
func issue(t *testing.T, template, issuer *x509.Certificate, by *ecdsa.PrivateKey) (der []byte, key *ecdsa.PrivateKey) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if issuer == nil {
		issuer, by = template, key
	}
	template.SerialNumber = big.NewInt(time.Now().UnixNano())
	template.NotBefore, template.NotAfter = time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	der, err = x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return der, key
}

func asPEM(kind string, der []byte) []byte {
	return pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der})
}

func newAuthority(t *testing.T, name string) authority {
	t.Helper()
	der, key := issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: name}, IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}, nil, nil)
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	a := authority{certificate, key, filepath.Join(t.TempDir(), "ca.pem")}
	if err := os.WriteFile(a.file, asPEM("CERTIFICATE", der), 0o600); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestTLS ships over TLS to a database that takes nothing else, and only to the one that
// it should be. Rule FLEET-03.
func TestTLS(t *testing.T) {
	t.Parallel()
	if absent != nil {
		t.Skip(absent)
	}
	ours, others := newAuthority(t, "ours"), newAuthority(t, "another")
	der, key := issue(t, &x509.Certificate{
		Subject: pkix.Name{CommonName: "db"}, DNSNames: []string{"localhost"}, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}, ours.certificate, ours.key)
	keyDER, err := x509.MarshalECPrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	db, address, err := fleettest.StartTLS(asPEM("CERTIFICATE", der), asPEM("EC PRIVATE KEY", keyDER))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(db.Stop)
	_, port, _ := net.SplitHostPort(address)
	url := func(host, options string) string {
		return fmt.Sprintf("postgres://owner@%s/postgres?%s", net.JoinHostPort(host, port), options)
	}
	full := "sslmode=verify-full&sslrootcert="

	in := record(t, url("localhost", ""), "one", store.Options{})
	in.ask(traces.Trace{Indirection: "node", Key: "web01"}, "{}")
	if err := in.Close(); err != nil {
		t.Fatal(err)
	}
	if st := shipAll(t, url("localhost", full+ours.file), in.Path()); st.Shipped != 1 {
		t.Errorf("got %+v", st)
	}
	for _, tt := range []struct{ name, url, want string }{
		{"another authority", url("localhost", full+others.file), "certificate signed by unknown authority"},
		{"another name", url("127.0.0.1", full+ours.file), "cannot validate certificate for 127.0.0.1"},
		{"an authority that is not there", url("localhost", full+ours.file+".no"), "no such file"},
		{"without TLS", url("localhost", "sslmode=disable"), "no encryption"},
		{"as it should be", url("localhost", full+ours.file), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			all, err := fleet.List(ctx, tt.url)
			if tt.want == "" {
				if err != nil || len(all) != 1 || all[0].Shipped != 1 {
					t.Errorf("got %v, %v; want one instance", all, err)
				}
				return
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

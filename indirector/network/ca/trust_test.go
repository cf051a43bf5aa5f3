package ca_test

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/server"
)

// TestTrust lets a client in until its certificate is revoked, without a reload
// by hand, and renews it.
func TestTrust(t *testing.T) {
	t.Parallel()
	for _, intermediate := range []bool{false, true} {
		a := setup(t, ca.SetupOptions{Intermediate: intermediate}, nil)
		other := setup(t, ca.SetupOptions{}, nil)
		cfg := a.Config()
		host := hostFiles(t.TempDir())
		if _, err := a.ServerCertificate(t.Context(), host); err != nil {
			t.Fatal(err)
		}
		client, _, _, err := a.Generate(t.Context(), ca.Leaf{Name: "agent.example.com"})
		if err != nil {
			t.Fatal(err)
		}
		foreign, _, _, err := other.Generate(t.Context(), ca.Leaf{Name: "agent.example.com"})
		if err != nil {
			t.Fatal(err)
		}
		var later atomic.Int64 // seconds: files are looked at once in a second
		url := serve(t, server.Options{
			Identity: host.identity(cfg),
			Now:      func() time.Time { return time.Now().Add(time.Duration(later.Load()) * time.Second) },
		}, func(s *server.Server) http.Handler {
			e := newEngine(t, map[string]string{"cadir": cfg.Dir, "allow_auto_renewal": "true"})
			return s.Guard(ca.NewHandler(e.Indirector, ca.HandlerOptions{Client: s.Client}))
		})
		roots := x509.NewCertPool()
		for _, c := range must(ca.ParseCertificates([]byte(read(t, cfg.Cert)))) {
			roots.AddCert(c)
		}
		renew := func(certs ...tls.Certificate) string {
			t.Helper()
			tr := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: roots, Certificates: certs}, DisableKeepAlives: true}
			r, err := (&http.Client{Transport: tr}).Post(url+ca.Prefix+"certificate_renewal", "", nil)
			if err != nil {
				return err.Error()
			}
			defer r.Body.Close()
			b, err := io.ReadAll(r.Body)
			return fmt.Sprintf("%d %s %v", r.StatusCode, b, err)
		}
		got := renew(client)
		text, ok := strings.CutPrefix(got, "200 ")
		if !ok {
			t.Fatalf("the client is not let in: %s", got)
		}
		renewed := must(ca.ParseCertificates([]byte(text)))[0]
		if renewed.Subject.CommonName != "agent.example.com" || renewed.SerialNumber.Cmp(client.Leaf.SerialNumber) <= 0 {
			t.Errorf("renewed: got %s", renewed.Subject)
		}
		if got := renew(); !strings.HasPrefix(got, "403 ") {
			t.Errorf("without a certificate: got %s", got)
		}
		refused := func(name, got string) {
			t.Helper()
			if !strings.Contains(got, "bad certificate") && !strings.Contains(got, "connection reset") && !strings.Contains(got, "broken pipe") {
				t.Errorf("%s: got %s", name, got)
			}
		}
		refused("a foreign certificate", renew(foreign))
		client.Certificate[0] = renewed.Raw
		if err := a.Revoke(t.Context(), "agent.example.com"); err != nil {
			t.Fatal(err)
		}
		later.Add(2)
		refused("a revoked certificate", renew(client))
		if err := os.WriteFile(cfg.CRL, []byte("-----BEGIN X509 CRL-----\nAAAA\n-----END X509 CRL-----\n"), 0o600); err != nil {
			t.Fatal(err)
		}
		later.Add(2)
		refused("a revoked certificate, with lists that cannot be read", renew(client))
	}
}

// hostFiles are the settings of a server called localhost.
func hostFiles(dir string) fixed {
	return fixed{
		"certname": "localhost", "dns_alt_names": "IP:127.0.0.1",
		"hostcert": dir + "/certs/localhost.pem", "hostprivkey": dir + "/private_keys/localhost.pem", "hostpubkey": dir + "/public_keys/localhost.pem",
		"localcacert": dir + "/certs/ca.pem", "hostcrl": dir + "/crl.pem",
	}
}

func (s fixed) identity(cfg ca.Config) server.Identity {
	return server.Identity{Cert: s["hostcert"], Key: s["hostprivkey"], CA: cfg.Cert, CRL: cfg.CRL}
}

// TestServerCertificate makes the files of a server once.
func TestServerCertificate(t *testing.T) {
	t.Parallel()
	a := setup(t, ca.SetupOptions{}, nil)
	dir := filepath.Join(t.TempDir(), "ssl")
	s := fixed{
		"ssldir": dir, "certname": "puppet.example.com", "dns_alt_names": "puppet, IP:127.0.0.1,DNS:localhost",
		"hostcert": filepath.Join(dir, "certs/host.pem"), "hostprivkey": filepath.Join(dir, "private_keys/host.pem"), "hostpubkey": filepath.Join(dir, "public_keys/host.pem"),
		"localcacert": filepath.Join(dir, "certs/ca.pem"), "hostcrl": filepath.Join(dir, "crl.pem"),
	}
	first, err := a.ServerCertificate(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	if got := openssl(t, nil, "verify", "-CAfile", s["localcacert"], "-CRLfile", s["hostcrl"], "-crl_check", s["hostcert"]); !strings.Contains(got, "OK") {
		t.Error(got)
	}
	leaf, err := x509.ParseCertificate(first.Certificate[0])
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(leaf.DNSNames, " "); got != "puppet localhost puppet.example.com" || len(leaf.IPAddresses) != 1 {
		t.Errorf("got %s, %v", got, leaf.IPAddresses)
	}
	if got := ca.AuthorizationExtensions(leaf)["pp_cli_auth"]; got != "true" {
		t.Errorf("pp_cli_auth: got %q", got)
	}
	for path, mode := range map[string]os.FileMode{"": 0o771, "certs": 0o755, "private_keys": 0o750, "public_keys": 0o755} {
		if info, err := os.Stat(filepath.Join(dir, path)); err != nil || info.Mode().Perm() != mode {
			t.Errorf("%s: got %v, %v; want %v", path, info, err, mode)
		}
	}
	again, err := a.ServerCertificate(t.Context(), s)
	if err != nil || string(again.Certificate[0]) != string(first.Certificate[0]) {
		t.Errorf("again: another certificate, %v", err)
	}
}

package ca_test

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/network/ca"
)

// TestTrust lets a client in until its certificate is revoked, without being
// told.
func TestTrust(t *testing.T) {
	t.Parallel()
	for _, intermediate := range []bool{false, true} {
		a := setup(t, ca.SetupOptions{Intermediate: intermediate}, nil)
		other := setup(t, ca.SetupOptions{}, nil)
		cfg := a.Config()
		server, _, _, err := a.Generate(t.Context(), ca.Leaf{Name: "puppet.example.com", AltNames: []string{"puppet", "IP:127.0.0.1"}, CLIAuth: true})
		if err != nil {
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
		trust, err := ca.NewTrust(ca.TrustOptions{CAFile: cfg.Cert, CRLFile: cfg.CRL})
		if err != nil {
			t.Fatal(err)
		}
		pool, err := trust.Pool()
		if err != nil {
			t.Fatal(err)
		}
		config := trust.ServerConfig(func() (*tls.Certificate, error) { return &server, nil }, nil)
		shake := func(cert ...tls.Certificate) error {
			return handshake(t, config, &tls.Config{RootCAs: pool, ServerName: "127.0.0.1", Certificates: cert, MinVersion: tls.VersionTLS12})
		}
		if err := shake(client); err != nil {
			t.Errorf("the client is not let in: %v", err)
		}
		if err := shake(); err != nil {
			t.Errorf("without a certificate: %v", err)
		}
		if err := shake(foreign); err == nil || !strings.Contains(err.Error(), "unknown authority") {
			t.Errorf("a foreign certificate: got %v", err)
		}
		if err := a.Revoke(t.Context(), "agent.example.com"); err != nil {
			t.Fatal(err)
		}
		revoked := (*ca.RevokedError)(nil)
		if err := shake(client); !errors.As(err, &revoked) || revoked.Subject != "agent.example.com" {
			t.Errorf("a revoked certificate: got %v", err)
		}
		if err := os.WriteFile(cfg.CRL, []byte("nonsense"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := shake(server); err == nil || !strings.Contains(err.Error(), "no PEM block X509 CRL") {
			t.Errorf("with lists that cannot be read: got %v", err)
		}
	}
}

// handshake returns what the server says of a client.
func handshake(t *testing.T, server, client *tls.Config) error {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	done := make(chan error, 1)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			done <- err
			return
		}
		defer conn.Close()
		done <- tls.Server(conn, server).Handshake()
	}()
	conn, err := tls.Dial("tcp", l.Addr().String(), client)
	if err == nil {
		_, _ = conn.Read(make([]byte, 1)) // what the server thinks of it comes after the handshake
		_ = conn.Close()
	}
	return <-done
}

// TestServerCertificate makes the files of a server once.
func TestServerCertificate(t *testing.T) {
	t.Parallel()
	a := setup(t, ca.SetupOptions{}, nil)
	dir := t.TempDir()
	s := fixed{
		"certname": "puppet.example.com", "dns_alt_names": "puppet, IP:127.0.0.1,DNS:localhost",
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
	again, err := a.ServerCertificate(t.Context(), s)
	if err != nil || string(again.Certificate[0]) != string(first.Certificate[0]) {
		t.Errorf("again: another certificate, %v", err)
	}
}

type fixed map[string]string

func (s fixed) Get(name string) (string, string) { return s[name], "test" }

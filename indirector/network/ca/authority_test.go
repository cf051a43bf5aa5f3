package ca_test

import (
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/network/ca"
)

// TestSetup makes a CA and has openssl look at all of it.
func TestSetup(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name         string
		intermediate bool
		certs        int
		serial       string
	}{
		{"one certificate", false, 1, "0002"},
		{"intermediate", true, 2, "0003"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			a := setup(t, ca.SetupOptions{Intermediate: tt.intermediate}, nil)
			cfg := a.Config()
			cert := enroll(t, a, "web01.example.com", extension(t, "pp_role", "web"))
			leaf := write(t, filepath.Join(t.TempDir(), "leaf.pem"), ca.EncodeCertificates(cert))
			if got := openssl(t, nil, "verify", "-x509_strict", "-crl_check_all", "-CAfile", cfg.Cert, "-CRLfile", cfg.CRL, leaf); !strings.Contains(got, "OK") {
				t.Errorf("openssl verify: %s", got)
			}
			text := openssl(t, nil, "x509", "-in", leaf, "-noout", "-text")
			for _, want := range []string{
				"Subject: CN = web01.example.com", "Issuer: CN = Puppet CA: test.example.com", "DNS:web01.example.com", "Puppet Server Internal Certificate",
				"X509v3 Basic Constraints: critical\n                CA:FALSE", "TLS Web Server Authentication, TLS Web Client Authentication",
				"X509v3 Key Usage: critical\n                Digital Signature, Key Encipherment", "1.3.6.1.4.1.34380.1.1.13", "X509v3 Subject Key Identifier", "serial:0",
			} {
				if !strings.Contains(text, want) {
					t.Errorf("the certificate lacks %q:\n%s", want, text)
				}
			}
			bundle, err := ca.ParseCertificates([]byte(read(t, cfg.Cert)))
			if err != nil || len(bundle) != tt.certs {
				t.Errorf("got %d certificates, %v", len(bundle), err)
			}
			if got := read(t, cfg.Serial); got != formatted(tt.serial, 1) {
				t.Errorf("serial: got %q", got)
			}
			inventory := regexp.MustCompile(`(?m)^0x[0-9A-F]{4} \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dUTC \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dUTC /CN=.+$`)
			if got := read(t, cfg.Inventory); len(inventory.FindAllString(got, -1)) != tt.certs+1 || strings.Count(got, "\n") != tt.certs+1 {
				t.Errorf("inventory: %s", got)
			}
			for path, mode := range map[string]os.FileMode{cfg.Key: 0o640, cfg.Cert: 0o644, cfg.CRL: 0o644, cfg.Serial: 0o644, cfg.Dir: os.ModeDir | 0o750, cfg.Requests: os.ModeDir | 0o755, cfg.Signed: os.ModeDir | 0o750} {
				if info, err := os.Stat(path); err != nil || info.Mode() != mode {
					t.Errorf("%s: got %v, %v; want %v", path, info.Mode(), err, mode)
				}
			}
			if _, err := ca.Open(cfg); err != nil {
				t.Errorf("open it again: %v", err)
			}
		})
	}
}

func formatted(hex string, more int) string { return hex[:3] + string(hex[3]+byte(more)) }

// TestPartial is a directory in which some files are.
func TestPartial(t *testing.T) {
	t.Parallel()
	cfg := setup(t, ca.SetupOptions{}, nil).Config()
	if err := os.Remove(cfg.Serial); err != nil {
		t.Fatal(err)
	}
	for name, open := range map[string]func() error{
		"open":  func() error { _, err := ca.Open(cfg); return err },
		"setup": func() error { _, err := ca.Setup(t.Context(), cfg, ca.SetupOptions{}); return err },
	} {
		err := open()
		if err == nil || !strings.HasPrefix(err.Error(), "Cannot initialize CA with partial state; need all files or none.\nFound:\n"+cfg.Cert+"\n") ||
			!strings.HasSuffix(err.Error(), "Missing:\n"+cfg.Serial+"\n") {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := ca.Open(config(t)); !errors.Is(err, ca.ErrNoCA) {
		t.Errorf("an empty directory: got %v", err)
	}
}

// TestRefusals has each request turned down in Puppet Server's words.
func TestRefusals(t *testing.T) {
	t.Parallel()
	any := asn1.ObjectIdentifier{1, 2, 3, 4}
	a := setup(t, ca.SetupOptions{}, func(c *ca.Config) { c.Autosign = "true" })
	forged := csr(t, agentKey(), "forged.example.com")
	tampered := forge(t, forged)
	for _, tt := range []struct {
		name, key string
		csr       []byte
		want      string
	}{
		{"another name", "a.example.com", csr(t, agentKey(), "b.example.com"), `Instance name "b.example.com" does not match requested key "a.example.com"`},
		{"upper case", "A.example.com", csr(t, agentKey(), "A.example.com"), "Certificate names must be lower case."},
		{"wildcard", "*.example.com", csr(t, agentKey(), "*.example.com"), "Subject contains a wildcard, which is not allowed: *.example.com"},
		{"traversal", "../ca_key", csr(t, agentKey(), "../ca_key"), "Subject hostname format is invalid"},
		{"dots", "..", csr(t, agentKey(), ".."), "Subject hostname format is invalid"},
		{"slash", "a/b", csr(t, agentKey(), "a/b"), "Subject hostname format is invalid"},
		{"nul", "a\x00b", csr(t, agentKey(), "a\x00b"), "Subject hostname format is invalid"},
		{"hyphen first", "-a", csr(t, agentKey(), "-a"), "Subject hostname format is invalid"},
		{"hyphen last", "a-", csr(t, agentKey(), "a-"), "Subject hostname format is invalid"},
		{"blank", "a b", csr(t, agentKey(), "a b"), "Subject hostname format is invalid"},
		{"too long", strings.Repeat("a", 251), csr(t, agentKey(), strings.Repeat("a", 251)), "Subject hostname format is invalid"},
		{"no name", "", csr(t, agentKey(), ""), "Subject hostname format is invalid"},
		{"not ascii", "ä.example.com", csr(t, agentKey(), "ä.example.com"), "Subject hostname format is invalid"},
		{
			"alt names", "alt.example.com", csr(t, agentKey(), "alt.example.com", san(t, "alt.example.com", "x.example.com", "y")),
			"CSR 'alt.example.com' contains extra subject alternative names (DNS:x.example.com, DNS:y), which are disallowed. To allow subject alternative names, set allow-subject-alt-names to true in your ca.conf file. Then restart the puppetserver and try signing this certificate again.",
		},
		{
			"authorization", "auth.example.com", csr(t, agentKey(), "auth.example.com", extension(t, "pp_auth_role", "admin")),
			"CSR 'auth.example.com' contains an authorization extension, which is disallowed. To allow authorization extensions, set allow-authorization-extensions to true in your ca.conf file. Then restart the puppetserver and try signing this certificate again.",
		},
		{"unknown extension", "ext.example.com", csr(t, agentKey(), "ext.example.com", pkix.Extension{Id: any, Value: []byte{5, 0}}), "Found extensions that are not permitted: 1.2.3.4"},
		{"basic constraints", "bc.example.com", csr(t, agentKey(), "bc.example.com", pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 19}, Value: []byte{0x30, 3, 1, 1, 0xff}}), "Found extensions that are not permitted: 2.5.29.19"},
		{"forged", "forged.example.com", tampered, "CSR contains a public key that does not correspond to the signing key"},
	} {
		cert, err := a.Submit(t.Context(), tt.key, tt.csr)
		refusal := (*ca.Refusal)(nil)
		if cert != nil || !errors.As(err, &refusal) || refusal.Message != tt.want {
			t.Errorf("%s: got %v, %v\nwant %s", tt.name, cert, err, tt.want)
		}
	}
	// A second request for the same name.
	if cert, err := a.Submit(t.Context(), "twice", csr(t, agentKey(), "twice")); err != nil || cert == nil {
		t.Fatalf("got %v, %v", cert, err)
	}
	if _, err := a.Submit(t.Context(), "twice", csr(t, agentKey(), "twice")); err == nil || err.Error() != "twice already has a signed certificate; ignoring certificate request" {
		t.Errorf("got %v", err)
	}
	if err := a.Revoke(t.Context(), "twice"); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Submit(t.Context(), "twice", csr(t, agentKey(), "twice")); err == nil || err.Error() != "twice already has a revoked certificate; ignoring certificate request" {
		t.Errorf("got %v", err)
	}
	// What the file system has is as it was.
	entries, err := os.ReadDir(filepath.Dir(a.Config().Dir))
	if err != nil || len(entries) != 1 {
		t.Errorf("got %v, %v", entries, err)
	}
}

// forge changes a byte of the signature.
func forge(t *testing.T, text []byte) []byte {
	t.Helper()
	lines := strings.Split(string(text), "\n")
	last := []byte(lines[len(lines)-3])
	swap := map[byte]byte{'A': 'B'}
	c, ok := swap[last[0]]
	if !ok {
		c = 'A'
	}
	last[0] = c
	lines[len(lines)-3] = string(last)
	return []byte(strings.Join(lines, "\n"))
}

// TestAllowed has requests signed that are refused otherwise.
func TestAllowed(t *testing.T) {
	t.Parallel()
	a := setup(t, ca.SetupOptions{}, func(c *ca.Config) {
		c.Autosign, c.AllowAltNames, c.AllowAuthorization, c.AllowDuplicates, c.AllowRenewal = "true", true, true, true, true
	})
	for range 2 {
		cert, err := a.Submit(t.Context(), "web", csr(t, ecKey(t), "web", san(t, "x.example.com"), extension(t, "pp_auth_role", "admin"), extension(t, "pp_role", "web")))
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(cert.DNSNames, " "); got != "x.example.com web" {
			t.Errorf("names: got %s", got)
		}
	}
	// The extension of the command line cannot be requested.
	if _, err := a.Submit(t.Context(), "cli", csr(t, ecKey(t), "cli", extension(t, "pp_cli_auth", "true"))); err == nil || err.Error() != "Found extensions that are not permitted: 1.3.6.1.4.1.34380.1.3.39" {
		t.Errorf("got %v", err)
	}
	if state, err := a.State(t.Context(), "web"); state != ca.Signed || err != nil {
		t.Errorf("got %s, %v", state, err)
	}
	s, err := ca.Open(a.Config())
	if err != nil {
		t.Fatal(err)
	}
	before := enroll(t, s, "later")
	cert, err := s.Renew(t.Context(), before)
	if err != nil {
		t.Fatal(err)
	}
	if cert.SerialNumber.Cmp(before.SerialNumber) <= 0 || cert.Subject.CommonName != "later" || time.Until(cert.NotAfter) > 91*24*time.Hour {
		t.Errorf("got %v", cert)
	}
}

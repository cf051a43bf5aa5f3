package ca_test

import (
	"bytes"
	"encoding/pem"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/network/ca"
)

// seed adds the files of the captures that match.
func seed(f *testing.F, pattern string) {
	f.Helper()
	files, err := filepath.Glob(filepath.Join(captures, pattern))
	if err != nil || len(files) == 0 {
		f.Fatalf("no captures %s: %v", pattern, err)
	}
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(b)
	}
}

// FuzzSubmit sends anything as a certificate request for anything: it is
// signed, or refused, and nothing else is written.
func FuzzSubmit(f *testing.F) {
	a := setup(f, ca.SetupOptions{}, func(c *ca.Config) { c.Autosign, c.AllowDuplicates = "true", true })
	for _, name := range []string{"web01", "../x", "A", "a\x00b", "*", "", "-", "a.", "..", strings.Repeat("a", 300)} {
		f.Add(name, csr(f, agentKey(), name, extension(f, "pp_role", "web")))
	}
	f.Add("x", csr(f, agentKey(), "x", san(f, "x", "y")))
	f.Add("x", []byte("-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n"))
	before := outside(f, a)
	f.Fuzz(func(t *testing.T, name string, text []byte) {
		cert, err := a.Submit(t.Context(), name, text)
		if (cert == nil) == (err == nil) {
			t.Fatalf("%q: got %v, %v", name, cert, err)
		}
		if err == nil {
			if cert.Subject.CommonName != name || cert.IsCA || ca.AuthorizationExtensions(cert)["pp_cli_auth"] != "" {
				t.Errorf("%q: signed %v", name, cert.Subject)
			}
			if ca.ValidName(name) != nil {
				t.Errorf("%q is no name, and was signed", name)
			}
		}
		if after := outside(t, a); after != before {
			t.Errorf("%q: outside of signed and requests there is now %s; before %s", name, after, before)
		}
	})
}

// outside lists what there is besides certificates and requests.
func outside(t testing.TB, a *ca.Authority) string {
	t.Helper()
	var names []string
	root := filepath.Dir(a.Config().Dir)
	err := filepath.WalkDir(root, func(path string, d os.DirEntry, err error) error {
		if dir := filepath.Dir(path); err == nil && dir != a.Config().Signed && dir != a.Config().Requests {
			names = append(names, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(names, " ")
}

// FuzzPEM reads anything as certificates, as revocation lists and as a key.
func FuzzPEM(f *testing.F) {
	seed(f, "15[26]-*.body")
	seed(f, "160-*.sent")
	cfg := setup(f, ca.SetupOptions{}, nil).Config()
	f.Add([]byte(read(f, cfg.Key)))
	f.Fuzz(func(t *testing.T, text []byte) {
		if certs, err := ca.ParseCertificates(text); err == nil {
			again, err := ca.ParseCertificates(ca.EncodeCertificates(certs...))
			if err != nil || len(again) != len(certs) || !again[0].Equal(certs[0]) {
				t.Errorf("certificates came back as %v, %v", again, err)
			}
		}
		if lists, err := ca.ParseCRLs(text); err == nil {
			again, err := ca.ParseCRLs(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: lists[0].Raw}))
			if err != nil || !bytes.Equal(again[0].Raw, lists[0].Raw) {
				t.Errorf("a list came back as %v, %v", again, err)
			}
		}
		if _, err := ca.ParseKey(text); err == nil {
			if _, err := ca.PublicKey(text); err != nil {
				t.Error(err)
			}
		}
		_, _ = ca.ParseRequest(text)
	})
}

// FuzzInventory reads anything as an inventory; what was read is written and
// read again.
func FuzzInventory(f *testing.F) {
	f.Add([]byte("0x0001 2026-11-20T23:45:01UTC 2041-11-17T23:45:02UTC /CN=puppet.example.com\n# a comment\n\n0x002f 2026-01-01T00:00:00GMT 2031-01-01T00:00:00GMT /CN=a b\n"))
	f.Add([]byte("0xZZ x y z\n0x1"))
	f.Fuzz(func(t *testing.T, text []byte) {
		entries, bad := ca.ParseInventory(text)
		if lines := bytes.Count(text, []byte("\n")) + 1; len(entries)+bad > lines {
			t.Fatalf("%d entries and %d bad lines of %d", len(entries), bad, lines)
		}
		var b strings.Builder
		for _, e := range entries {
			b.WriteString(e.String() + "\n")
		}
		again, bad := ca.ParseInventory([]byte(b.String()))
		if bad != 0 || len(again) != len(entries) {
			t.Fatalf("%d entries came back as %d, %d of them bad:\n%s", len(entries), len(again), bad, b.String())
		}
		for i := range entries {
			if again[i].String() != entries[i].String() {
				t.Errorf("%s came back as %s", entries[i], again[i])
			}
		}
	})
}

// FuzzOCSP asks anything: there is always an answer.
func FuzzOCSP(f *testing.F) {
	a := setup(f, ca.SetupOptions{}, func(c *ca.Config) {
		now := time.Now()
		c.Now = func() time.Time { return now }
	})
	dir := f.TempDir()
	issuer := write(f, filepath.Join(dir, "i.pem"), ca.EncodeCertificates(must(a.Certificate())))
	for i, args := range [][]string{{"-serial", "1"}, {"-serial", "0x77", "-no_nonce"}, {"-sha256", "-serial", "1"}, {"-serial", "1", "-serial", "2"}} {
		out := filepath.Join(dir, string(rune('a'+i)))
		openssl(f, nil, append([]string{"ocsp", "-issuer", issuer, "-reqout", out}, args...)...)
		f.Add([]byte(read(f, out)))
	}
	f.Fuzz(func(t *testing.T, der []byte) {
		answer, about, err := a.OCSP(t.Context(), der)
		if len(answer) == 0 || about == "" {
			t.Fatalf("got %q, %q, %v", answer, about, err)
		}
		if (err == nil) != (len(answer) > 10) {
			t.Errorf("%s: %d bytes, %v", about, len(answer), err)
		}
	})
}

// FuzzName makes sure that a name which is certified is a file in its
// directory, and none other.
func FuzzName(f *testing.F) {
	for _, name := range []string{"web01.example.com", "a_b", "..", "a/../b", "a.", "-a", "É", "a\n", "."} {
		f.Add(name)
	}
	f.Fuzz(func(t *testing.T, name string) {
		if ca.ValidName(name) != nil {
			return
		}
		if filepath.Base(name+".pem") != name+".pem" || name != strings.ToLower(name) || strings.ContainsAny(name, "*/\\\x00 ") {
			t.Errorf("%q is valid", name)
		}
	})
}

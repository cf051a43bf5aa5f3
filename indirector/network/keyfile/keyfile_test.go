package keyfile_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/network/keyfile"
)

// TestOpenSSL reads what OpenSSL writes, and what Puppet lets it write.
func TestOpenSSL(t *testing.T) {
	t.Parallel()
	openssl, err := exec.LookPath("openssl")
	if err != nil {
		t.Skip("the keys of this test are encrypted by openssl: ", err)
	}
	dir := t.TempDir()
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	ecKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, key := range map[string]any{"rsa": rsaKey, "ec": ecKey} {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		name string
		args []string
		key  any
	}{
		{"PKCS #8, AES-256", []string{"pkcs8", "-topk8", "-v2", "aes256", "-in", "rsa"}, rsaKey},
		{"PKCS #8, AES-128, SHA-1", []string{"pkcs8", "-topk8", "-v2", "aes128", "-v2prf", "hmacWithSHA1", "-in", "rsa"}, rsaKey},
		{"PKCS #8, triple DES", []string{"pkcs8", "-topk8", "-v2", "des3", "-in", "ec"}, ecKey},
		{"PKCS #8, scrypt", []string{"pkcs8", "-topk8", "-scrypt", "-scrypt_N", "1024", "-in", "ec"}, ecKey},
		{"as Puppet writes it", []string{"rsa", "-traditional", "-aes128", "-in", "rsa"}, rsaKey},
		{"elliptic, of old", []string{"ec", "-aes256", "-in", "ec"}, ecKey},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			cmd := exec.Command(openssl, append(tt.args, "-passout", "pass:top secret")...)
			cmd.Dir = dir
			text, err := cmd.Output()
			if err != nil {
				t.Fatalf("openssl: %v", err)
			}
			if !keyfile.Encrypted(text) {
				t.Errorf("this is not encrypted: %s", text)
			}
			// A certificate may stand before the key, as in files for web servers.
			before := "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
			plain, err := keyfile.Plain(append([]byte(before), text...), given("top secret"))
			if err != nil {
				t.Fatal(err)
			}
			if !strings.HasPrefix(string(plain), before) || keyfile.Encrypted(plain) || !is(t, plain[len(before):], tt.key) {
				t.Errorf("got another key: %s", plain)
			}
			for password, message := range map[string]string{"": "not that of the key", "wrong": "not that of the key", "top secret\n": "without the end of line"} {
				if got, err := keyfile.Plain(text, given(password)); !errors.Is(err, keyfile.ErrPassword) || !strings.Contains(err.Error(), message) || got != nil {
					t.Errorf("password %q: got %v, want %q", password, err, message)
				}
			}
		})
	}
}

func given(password string) func() ([]byte, error) {
	return func() ([]byte, error) { return []byte(password), nil }
}

func is(t *testing.T, text []byte, want any) bool {
	t.Helper()
	b, _ := pem.Decode(text)
	if b == nil {
		return false
	}
	got, err := x509.ParsePKCS8PrivateKey(b.Bytes)
	if k, err := x509.ParsePKCS1PrivateKey(b.Bytes); err == nil {
		got = k
	}
	if k, err := x509.ParseECPrivateKey(b.Bytes); err == nil {
		got = k
	}
	if got == nil {
		t.Error(err)
	}
	switch want := want.(type) {
	case *rsa.PrivateKey:
		return want.Equal(got)
	case *ecdsa.PrivateKey:
		return want.Equal(got)
	}
	return false
}

// TestPlain asks for no password where nothing is encrypted, and passes on why
// there is none.
func TestPlain(t *testing.T) {
	t.Parallel()
	never := func() ([]byte, error) { t.Error("the password was asked for"); return nil, nil }
	for _, text := range []string{"", "no PEM", "-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n"} {
		if got, err := keyfile.Plain([]byte(text), never); err != nil || string(got) != text {
			t.Errorf("%q: got %q, %v", text, got, err)
		}
	}
	const broken = "-----BEGIN ENCRYPTED PRIVATE KEY-----\nAAAA\n-----END ENCRYPTED PRIVATE KEY-----\n"
	if _, err := keyfile.Plain([]byte(broken), given("x")); err == nil || errors.Is(err, keyfile.ErrPassword) {
		t.Errorf("broken: got %v", err)
	}
	if _, err := keyfile.Plain([]byte(broken), func() ([]byte, error) { return nil, os.ErrPermission }); !errors.Is(err, os.ErrPermission) {
		t.Errorf("got %v", err)
	}
}

func TestPassword(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "password")
	for _, missing := range []string{"", path} {
		if b, err := keyfile.Password(missing)(); b != nil || err != nil {
			t.Errorf("%q: got %q, %v", missing, b, err)
		}
	}
	if err := os.WriteFile(path, []byte("a b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if b, err := keyfile.Password(path)(); string(b) != "a b\n" || err != nil {
		t.Errorf("got %q, %v", b, err)
	}
	if _, err := keyfile.Password(filepath.Dir(path))(); err == nil {
		t.Error("a directory is no password")
	}
}

// FuzzPlain: whatever a file of a key holds, it is read or refused.
func FuzzPlain(f *testing.F) {
	f.Add([]byte("-----BEGIN ENCRYPTED PRIVATE KEY-----\nMFswVQYJKoZIhvcNAQUNMEgwJwYJKoZIhvcNAQUMMBoEFA==\n-----END ENCRYPTED PRIVATE KEY-----\n"))
	f.Add([]byte("-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00000000000000000000000000000000\n\nAAAAAAAAAAAAAAAAAAAAAA==\n-----END RSA PRIVATE KEY-----\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		plain, err := keyfile.Plain(text, given("x"))
		if (plain == nil) == (err == nil) && len(text) > 0 {
			t.Errorf("got %q, %v", plain, err)
		}
	})
}

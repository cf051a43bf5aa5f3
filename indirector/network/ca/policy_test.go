package ca_test

import (
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"indirtui/indirector/host/child"
	"indirtui/indirector/network/ca"
)

// TestAutosign has requests signed, or not, in each way.
func TestAutosign(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	list := write(t, filepath.Join(dir, "autosign.conf"), []byte("# who is signed\n\nweb01\n*.Example.com\nbad pattern\n*.q#\nexact.test\n"))
	open := write(t, filepath.Join(dir, "all.conf"), []byte("*\n"))
	for _, tt := range []struct {
		autosign, name string
		want           bool
	}{
		{"true", "a", true},
		{"false", "a", false},
		{"", "a", false},
		{filepath.Join(dir, "absent"), "a", false},
		{list, "web01", true},
		{list, "web02", false},
		{list, "db.example.com", true},
		{list, "a.b.example.com", true},
		{list, "example.com", true}, // as in Puppet Server
		{list, "badexample.com", false},
		{list, "bad", false},
		{list, "x.exact.test", false},
		{open, "anything.at.all", true},
	} {
		a := setup(t, ca.SetupOptions{}, func(c *ca.Config) { c.Autosign = tt.autosign })
		cert, err := a.Submit(t.Context(), tt.name, csr(t, agentKey(), tt.name))
		if err != nil || (cert != nil) != tt.want {
			t.Errorf("%s, %s: got %v, %v; want %v", filepath.Base(tt.autosign), tt.name, cert != nil, err, tt.want)
		}
		state, err := a.State(t.Context(), tt.name)
		if want := map[bool]string{true: ca.Signed, false: ca.Requested}[tt.want]; state != want || err != nil {
			t.Errorf("%s, %s: it is %s, %v; want %s", filepath.Base(tt.autosign), tt.name, state, err, want)
		}
	}
}

// TestPolicy has a command decide.
func TestPolicy(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the policy of the test is a shell script, and this system runs none")
	}
	dir := t.TempDir()
	command := filepath.Join(dir, "policy")
	script := "#!/bin/sh\ncat > \"" + dir + "/$1.pem\"\necho said >&2\ncase $1 in yes) exit 0;; slow) sleep 600 & wait;; deaf) exec < /dev/null; exit 0;; esac\nexit 3\n"
	if err := child.WriteFile(command, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	a := setup(t, ca.SetupOptions{}, func(c *ca.Config) { c.Autosign, c.AutosignLimit = command, 5*time.Minute })
	text := csr(t, agentKey(), "yes")
	if cert, err := a.Submit(t.Context(), "yes", text); err != nil || cert == nil {
		t.Errorf("yes: got %v, %v", cert, err)
	}
	if got := read(t, filepath.Join(dir, "yes.pem")); got != string(text) {
		t.Errorf("the command was given %q", got)
	}
	if cert, err := a.Submit(t.Context(), "no", csr(t, agentKey(), "no")); err != nil || cert != nil {
		t.Errorf("no: got %v, %v", cert, err)
	}
	hasty, err := ca.Open(func() ca.Config { c := a.Config(); c.AutosignLimit = time.Second; return c }())
	if err != nil {
		t.Fatal(err)
	}
	if cert, err := hasty.Submit(t.Context(), "slow", csr(t, agentKey(), "slow")); err == nil || cert != nil || !strings.Contains(err.Error(), "it took longer than 1s") {
		t.Errorf("slow: got %v, %v", cert, err)
	}
	// A request that the command wants, but that may not be signed, waits.
	if _, err := a.Submit(t.Context(), "yes.example.com", csr(t, agentKey(), "yes.example.com", san(t, "x"))); err != nil {
		t.Errorf("got %v", err)
	}
	if err := os.Remove(command); err != nil {
		t.Fatal(err)
	}
	if err := child.WriteFile(command, []byte("no program"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := a.Submit(t.Context(), "broken", csr(t, agentKey(), "broken")); err == nil || !strings.Contains(err.Error(), "autosign: run "+command) {
		t.Errorf("a command that cannot be run: got %v", err)
	}
	if state, _ := a.State(t.Context(), "broken"); state != ca.Requested {
		t.Errorf("its request is %s", state)
	}
}

// TestManySigners has two authorities on one directory sign and revoke at once:
// no number is given twice, and nothing is lost.
func TestManySigners(t *testing.T) {
	t.Parallel()
	first := setup(t, ca.SetupOptions{}, func(c *ca.Config) { c.Autosign = "true" })
	second, err := ca.Open(first.Config())
	if err != nil {
		t.Fatal(err)
	}
	const each = 12
	var wg sync.WaitGroup
	var mu sync.Mutex // guards serials
	serials := map[string]string{}
	for w, a := range []*ca.Authority{first, second, first, second} {
		wg.Go(func() {
			for i := range each {
				name := fmt.Sprintf("n%d-%d", w, i)
				cert, err := a.Submit(t.Context(), name, csr(t, agentKey(), name))
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				if other := serials[cert.SerialNumber.String()]; other != "" {
					t.Errorf("%s and %s both have %s", name, other, cert.SerialNumber)
				}
				serials[cert.SerialNumber.String()] = name
				mu.Unlock()
				if i%3 == 0 {
					if err := a.Revoke(t.Context(), name); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	wg.Wait()
	if len(serials) != 4*each {
		t.Errorf("got %d certificates", len(serials))
	}
	entries, err := first.Inventory(t.Context())
	if err != nil || len(entries) != 4*each+1 {
		t.Errorf("the inventory has %d, %v", len(entries), err)
	}
	text, _, err := first.CRL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	lists, err := ca.ParseCRLs(text)
	if err != nil || len(lists[0].RevokedCertificateEntries) != 16 || lists[0].Number.Int64() != 16 {
		t.Errorf("got %d revoked, number %v, %v", len(lists[0].RevokedCertificateEntries), lists[0].Number, err)
	}
	for _, e := range lists[0].RevokedCertificateEntries {
		if e.ReasonCode != 1 {
			t.Errorf("serial %s: reason %d, want keyCompromise", e.SerialNumber, e.ReasonCode)
		}
	}
	left, err := filepath.Glob(filepath.Join(first.Config().Dir, "*", ".save-*"))
	if err != nil || len(left) > 0 {
		t.Errorf("left behind: %q, %v", left, err)
	}
}

// TestSerialFileBehind restores an old serial file, as from a backup.
func TestSerialFileBehind(t *testing.T) {
	t.Parallel()
	a := setup(t, ca.SetupOptions{}, nil)
	enroll(t, a, "one")
	last := enroll(t, a, "two")
	if err := os.WriteFile(a.Config().Serial, []byte("0001"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := enroll(t, a, "three").SerialNumber; got.Cmp(last.SerialNumber) <= 0 {
		t.Errorf("got %v after %v", got, last.SerialNumber)
	}
	for _, bad := range []string{"", "xyz", "-1", "0", "7FFFFFFF"} {
		if err := os.WriteFile(a.Config().Serial, []byte(bad), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, _, err := a.Generate(t.Context(), ca.Leaf{Name: "bad"}); err == nil {
			t.Errorf("serial %q: a certificate was signed", bad)
		}
	}
}

// TestUpdateCRLs takes a newer list of the root, and no other.
func TestUpdateCRLs(t *testing.T) {
	t.Parallel()
	a := setup(t, ca.SetupOptions{Intermediate: true}, nil)
	cfg := a.Config()
	root := must(ca.ParseCertificates([]byte(read(t, cfg.Cert))))[1]
	key := must(ca.ParseKey([]byte(read(t, filepath.Join(cfg.Dir, "root_key.pem")))))
	list := func(number int64, change func(*x509.RevocationList)) []byte {
		l := &x509.RevocationList{Number: big.NewInt(number), ThisUpdate: time.Now().Add(-time.Hour), NextUpdate: time.Now().Add(time.Hour)}
		if change != nil {
			change(l)
		}
		der, err := x509.CreateRevocationList(nil, l, root, key)
		if err != nil {
			t.Fatal(err)
		}
		return pemOf("X509 CRL", der)
	}
	other := setup(t, ca.SetupOptions{}, nil)
	foreign, _, err := other.CRL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	numbers := func() string {
		lists := must(ca.ParseCRLs([]byte(read(t, cfg.CRL))))
		return fmt.Sprint(lists[0].Number, lists[1].Number)
	}
	for _, tt := range []struct {
		name string
		text []byte
		want string // of the error
		left string
	}{
		{"newer", list(5, nil), "", "0 5"},
		{"older", list(3, nil), "", "0 5"},
		{"of nobody", foreign, "", "0 5"},
		{"out of date", list(9, func(l *x509.RevocationList) { l.NextUpdate = time.Now().Add(-time.Minute) }), "Invalid certs and/or CRLs: the list of", "0 5"},
		{"revokes us", list(10, func(l *x509.RevocationList) {
			l.RevokedCertificateEntries = []x509.RevocationListEntry{{SerialNumber: big.NewInt(2), RevocationTime: time.Now()}}
		}), "Invalid certs and/or CRLs: Certificate has been revoked: CN=Puppet CA", "0 5"},
		{"two of one number", append(list(7, nil), list(7, func(l *x509.RevocationList) { l.NextUpdate = time.Now().Add(2 * time.Hour) })...), "Could not determine newest CRL.", "0 5"},
		{"nothing", []byte("x"), "No valid CRLs submitted.", "0 5"},
	} {
		err := a.UpdateCRLs(t.Context(), tt.text)
		refusal := (*ca.Refusal)(nil)
		if tt.want == "" && err != nil || tt.want != "" && (!errors.As(err, &refusal) || !strings.HasPrefix(refusal.Message, tt.want)) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
		if got := numbers(); got != tt.left {
			t.Errorf("%s: the numbers are %s, want %s", tt.name, got, tt.left)
		}
	}
	openssl(t, nil, "verify", "-crl_check_all", "-CAfile", cfg.Cert, "-CRLfile", cfg.CRL, write(t, filepath.Join(t.TempDir(), "c.pem"), ca.EncodeCertificates(enroll(t, a, "x"))))
}

// TestInfraCRL gives agents the short list.
func TestInfraCRL(t *testing.T) {
	t.Parallel()
	a := setup(t, ca.SetupOptions{}, func(c *ca.Config) { c.InfraCRL = true })
	if err := os.WriteFile(filepath.Join(a.Config().Dir, "infra_inventory.txt"), []byte("compiler\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	enroll(t, a, "compiler")
	enroll(t, a, "agent")
	if err := a.Revoke(t.Context(), "agent", "compiler"); err != nil {
		t.Fatal(err)
	}
	text, _, err := a.CRL(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(must(ca.ParseCRLs(text))[0].RevokedCertificateEntries); got != 1 {
		t.Errorf("the short list has %d", got)
	}
	if got := len(must(ca.ParseCRLs([]byte(read(t, a.Config().CRL))))[0].RevokedCertificateEntries); got != 2 {
		t.Errorf("the long one has %d", got)
	}
}

// TestOldCA opens a CA with an encrypted key, as of Puppet 3.
func TestOldCA(t *testing.T) {
	t.Parallel()
	cfg := setup(t, ca.SetupOptions{}, nil).Config()
	cfg.Password = write(t, filepath.Join(t.TempDir(), "ca.pass"), []byte("secret\n"))
	openssl(t, nil, "rsa", "-traditional", "-aes256", "-passout", "pass:secret", "-in", cfg.Key, "-out", cfg.Key)
	if !strings.Contains(read(t, cfg.Key), "ENCRYPTED") {
		t.Fatal("the key is not encrypted")
	}
	a, err := ca.Open(cfg)
	if err != nil {
		t.Fatal(err)
	}
	enroll(t, a, "web01")
	cfg.Password = write(t, filepath.Join(t.TempDir(), "ca.pass"), []byte("wrong"))
	if _, err := ca.Open(cfg); err == nil {
		t.Error("it was opened with a wrong password")
	}
}

// TestCancelled leaves nothing half done.
func TestCancelled(t *testing.T) {
	t.Parallel()
	a := setup(t, ca.SetupOptions{}, nil)
	lock, err := os.OpenFile(filepath.Join(a.Config().Dir, ".ca.lock"), os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer lock.Close()
	holdLock(t, lock)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Submit(ctx, "x", csr(t, agentKey(), "x")); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

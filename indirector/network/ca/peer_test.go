package ca_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/server"
)

// A site is a CA behind TLS, and a puppet.conf that names it.
type site struct {
	*ca.Authority
	dir, conf string
	env       []string
}

func newSite(t *testing.T) *site {
	t.Helper()
	dir := t.TempDir()
	s := &site{dir: dir, conf: filepath.Join(dir, "conf")}
	a, err := ca.Setup(t.Context(), ca.Config{Dir: filepath.Join(dir, "ca"), KeyLength: 2048, Name: "Puppet CA: test"}, ca.SetupOptions{Intermediate: true})
	if err != nil {
		t.Fatal(err)
	}
	s.Authority = a
	host := hostFiles(filepath.Join(dir, "ssl"))
	if _, err := a.ServerCertificate(t.Context(), host); err != nil {
		t.Fatal(err)
	}
	url := serve(t, server.Options{Identity: host.identity(a.Config())}, func(s *server.Server) http.Handler {
		e := newEngine(t, map[string]string{"cadir": a.Config().Dir, "autosign": "false"})
		return s.Guard(ca.NewHandler(e.Indirector, ca.HandlerOptions{Client: s.Client}))
	})
	if err := os.MkdirAll(s.conf, 0o755); err != nil {
		t.Fatal(err)
	}
	port := url[strings.LastIndex(url, ":")+1:]
	write(t, filepath.Join(s.conf, "puppet.conf"), fmt.Appendf(nil,
		"[main]\nssldir = %[1]s/ssl\ncadir = %[1]s/ca\ncertname = localhost\nserver = localhost\nserverport = %[2]s\nca_server = localhost\nca_port = %[2]s\nvardir = %[1]s/var\npublicdir = %[1]s/public\nrundir = %[1]s/run\nlogdir = %[1]s/log\nmasterport = %[2]s\nkeylength = 2048\n",
		dir, port))
	s.env = append(os.Environ(), "HOME="+dir, "LC_ALL=C.UTF-8")
	return s
}

// run runs a command of Puppet's and returns what it printed.
func (s *site) run(t *testing.T, code int, name string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 8*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, name, args...)
	c.Env = s.env
	out, _ := c.CombinedOutput()
	if got := c.ProcessState.ExitCode(); got != code {
		t.Fatalf("%s %q: exit %d, want %d\n%s", name, args, got, code, out)
	}
	return string(out)
}

// TestPuppetserverCA has the command line of Puppet Server look after our CA,
// over the network and, without a server, in its directory.
func TestPuppetserverCA(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("puppetserver"); err != nil {
		t.Skip("puppetserver is not installed")
	}
	s := newSite(t)
	if strings.Contains(s.dir, " ") {
		t.Skip("puppetserver ca cuts paths at blanks, and the temporary directory has one")
	}
	config := []string{"--config", filepath.Join(s.conf, "puppet.conf")}
	cli := func(code int, args ...string) string {
		t.Helper()
		return s.run(t, code, "puppetserver", append(append([]string{"ca"}, args...), config...)...)
	}
	for _, name := range []string{"one.example.com", "two.example.com", "three.example.com"} {
		if _, err := s.Submit(t.Context(), name, csr(t, agentKey(), name)); err != nil {
			t.Fatal(err)
		}
	}
	if got := cli(0, "list"); !strings.Contains(got, "Requested Certificates:") || !strings.Contains(got, "three.example.com") {
		t.Errorf("list: %s", got)
	}
	if got := cli(0, "sign", "--certname", "one.example.com"); !strings.Contains(got, "Successfully signed certificate request for one.example.com") {
		t.Errorf("sign: %s", got)
	}
	if got := cli(0, "sign", "--all"); !strings.Contains(got, "Successfully signed certificate request for three.example.com") {
		t.Errorf("sign --all: %s", got)
	}
	if got := cli(0, "revoke", "--certname", "one.example.com"); !strings.Contains(got, "Certificate for one.example.com has been revoked") {
		t.Errorf("revoke: %s", got)
	}
	if got := cli(0, "clean", "--certname", "two.example.com"); !strings.Contains(got, "Cleaned files related to two.example.com") {
		t.Errorf("clean: %s", got)
	}
	if got := cli(1, "clean", "--certname", "nobody"); !strings.Contains(got, "nobody") {
		t.Errorf("clean nobody: %s", got)
	}
	if got := cli(0, "list", "--all"); !strings.Contains(got, "Signed Certificates:") || !strings.Contains(got, "Revoked Certificates:") || strings.Contains(got, "two.example.com") {
		t.Errorf("list --all: %s", got)
	}
	if got := cli(0, "generate", "--certname", "four.example.com"); !strings.Contains(got, "Successfully saved certificate for four.example.com") {
		t.Errorf("generate: %s", got)
	}
	// This one it signs itself, in our directory; we go on after it.
	if got := cli(0, "generate", "--certname", "five.example.com", "--ca-client", "--force"); !strings.Contains(got, "Successfully saved certificate for five.example.com") {
		t.Errorf("generate --ca-client: %s", got)
	}
	five, err := s.Status(t.Context(), "five.example.com")
	if err != nil || five.Authorizes["pp_cli_auth"] != "true" {
		t.Fatalf("five: got %+v, %v", five, err)
	}
	if six := enroll(t, s.Authority, "six.example.com"); six.SerialNumber.Cmp(five.Serial) <= 0 {
		t.Errorf("six has %s, five %s", six.SerialNumber, five.Serial)
	}
	if state, err := s.State(t.Context(), "one.example.com"); state != ca.Revoked || err != nil {
		t.Errorf("one is %s, %v", state, err)
	}
}

// TestPuppetSSL has a real agent get its certificate, and check all of it.
func TestPuppetSSL(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("puppet"); err != nil {
		t.Skip("puppet is not installed")
	}
	s := newSite(t)
	agent := filepath.Join(s.dir, "agent")
	ssl := func(code int, args ...string) string {
		t.Helper()
		return s.run(t, code, "puppet", append(append([]string{"ssl"}, args...), "--confdir", s.conf, "--vardir", agent, "--ssldir", agent+"/ssl", "--certname", "agent.example.com", "--color", "false")...)
	}
	write(t, filepath.Join(s.conf, "csr_attributes.yaml"), []byte("extension_requests:\n  pp_role: web\n  1.3.6.1.4.1.34380.1.2.1: private\n"))
	if got := ssl(0, "submit_request"); !strings.Contains(got, "Submitted certificate request for 'agent.example.com'") {
		t.Errorf("submit_request: %s", got)
	}
	ssl(1, "download_cert")
	cert, err := s.Sign(t.Context(), "agent.example.com", ca.SignOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ca.Extensions(cert); got["pp_role"] != "web" || got["1.3.6.1.4.1.34380.1.2.1"] != "private" {
		t.Errorf("extensions: %v", got)
	}
	ssl(0, "download_cert")
	if got := ssl(0, "verify"); !strings.Contains(got, "Verified client certificate 'CN=agent.example.com' fingerprint") {
		t.Errorf("verify: %s", got)
	}
	ssl(0, "bootstrap", "--waitforcert", "0")
	if err := s.Revoke(t.Context(), "agent.example.com"); err != nil {
		t.Fatal(err)
	}
	certs := must(ca.ParseCertificates([]byte(read(t, filepath.Join(agent, "ssl/certs/agent.example.com.pem")))))
	if !certs[0].Equal(cert) || certs[0].PublicKeyAlgorithm != x509.RSA {
		t.Error("the agent has another certificate")
	}
	if err := os.Remove(filepath.Join(agent, "ssl/crl.pem")); err != nil {
		t.Fatal(err)
	}
	if got := ssl(1, "verify"); !strings.Contains(strings.ToLower(got), "crl") {
		t.Errorf("verify without lists: %s", got)
	}
}

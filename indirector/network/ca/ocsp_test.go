package ca_test

import (
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/network/ca"
)

// TestOpenSSLOCSP asks with openssl, by POST, of good, revoked and unknown
// certificates, with and without a nonce and by both digests.
func TestOpenSSLOCSP(t *testing.T) {
	t.Parallel()
	for _, intermediate := range []bool{false, true} {
		a := setup(t, ca.SetupOptions{Intermediate: intermediate}, nil)
		cfg := a.Config()
		dir := t.TempDir()
		issuer := write(t, filepath.Join(dir, "issuer.pem"), ca.EncodeCertificates(must(a.Certificate())))
		good := write(t, filepath.Join(dir, "good.pem"), ca.EncodeCertificates(enroll(t, a, "good")))
		gone := write(t, filepath.Join(dir, "gone.pem"), ca.EncodeCertificates(enroll(t, a, "gone")))
		if err := a.Revoke(t.Context(), "gone"); err != nil {
			t.Fatal(err)
		}
		handler := ca.NewHandler(newEngine(t, map[string]string{"cadir": cfg.Dir}).Indirector, ca.HandlerOptions{})
		server := httptest.NewServer(handler)
		defer server.Close()
		ask := func(args ...string) string {
			return openssl(t, nil, append([]string{"ocsp", "-issuer", issuer, "-CAfile", cfg.Cert, "-url", server.URL + ca.Prefix + "ocsp"}, args...)...)
		}
		for _, tt := range []struct {
			want string
			args []string
		}{
			{good + ": good", []string{"-cert", good}},
			{good + ": good", []string{"-cert", good, "-no_nonce"}},
			{good + ": good", []string{"-sha256", "-cert", good}},
			{gone + ": revoked", []string{"-cert", gone}},
			{"Reason: keyCompromise", []string{"-cert", gone}},
			{"0x1234: unknown", []string{"-serial", "0x1234"}},
		} {
			got := ask(tt.args...)
			if !strings.Contains(got, tt.want) || !strings.Contains(got, "Response verify OK") || strings.Contains(got, "no nonce in response") && len(tt.args) == 2 {
				t.Errorf("%q: got\n%s\nwant %s", tt.args, got, tt.want)
			}
		}
		other := setup(t, ca.SetupOptions{}, nil)
		foreign := write(t, filepath.Join(dir, "foreign.pem"), ca.EncodeCertificates(must(other.Certificate())))
		out, err := exec.CommandContext(t.Context(), "openssl", "ocsp", "-issuer", foreign, "-CAfile", cfg.Cert, "-url", server.URL+ca.Prefix+"ocsp", "-cert", good).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "Responder Error: unauthorized") {
			t.Errorf("another CA: got %s, %v", out, err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

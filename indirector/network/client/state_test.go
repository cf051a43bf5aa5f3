package client_test

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/network/client"
	"indirtui/indirector/network/client/clienttest"
)

// TestState checks the state of servers of each kind.
func TestState(t *testing.T) {
	t.Parallel()
	authority, other := clienttest.New(t, "Puppet CA"), clienttest.New(t, "Another CA")
	host := authority.Issue(t, "web01")
	settings := authority.Write(t, filepath.Join(t.TempDir(), "ssl"), host)
	answers := func(status int, text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != "GET" || r.URL.Path != "/status/v1/simple" || len(r.TLS.PeerCertificates) != 1 || r.TLS.PeerCertificates[0].Subject.CommonName != "web01" {
				status, text = http.StatusTeapot, "asked "+r.Method+" "+r.URL.Path
			}
			w.Header().Set("Retry-After", "100")
			w.WriteHeader(status)
			_, _ = w.Write([]byte(text))
		})
	}
	serve := func(leaf *clienttest.Leaf, h http.Handler, change ...func(*tls.Config)) string {
		return clienttest.Serve(t, leaf, h, change...).Listener.Addr().String()
	}
	good := authority.Issue(t, "puppet", clienttest.Local)
	silent, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = silent.Close() })
	expired := authority.Issue(t, "puppet", clienttest.Local, func(c *x509.Certificate) {
		c.NotBefore, c.NotAfter = time.Now().Add(-2*time.Hour), time.Now().Add(-time.Hour)
	})
	for _, tt := range []struct {
		name, address string
		limit         time.Duration
		want          client.State
		text          string
	}{
		{"up", serve(good, answers(200, "running")), time.Minute, client.Up, "running, "},
		{"starts", serve(good, answers(503, "starting\n")), time.Minute, client.Other, "503 Service Unavailable: starting, "},
		{"no such path", serve(good, answers(404, "<html>not found</html>")), time.Minute, client.Other, "404 Not Found, "},
		{"another service", serve(good, answers(200, "\x1b[31mhello\nworld")), time.Minute, client.Other, "200 OK: .[31mhello, "},
		{"of another authority", serve(other.Issue(t, "puppet", clienttest.Local), answers(200, "running")), time.Minute, client.Refused, "Another CA"},
		{"expired", serve(expired, answers(200, "running")), time.Minute, client.Refused, "and now is "},
		{"by another name", serve(authority.Issue(t, "elsewhere"), answers(200, "running")), time.Minute, client.Refused, "elsewhere"},
		{"believes us not", serve(good, answers(200, "running"), func(c *tls.Config) {
			c.ClientAuth, c.ClientCAs, c.MaxVersion = tls.RequireAndVerifyClientCert, x509.NewCertPool(), tls.VersionTLS12
		}), time.Minute, client.Refused, "certificate"},
		{"nobody", "127.0.0.1:1", time.Minute, client.Down, "nobody listens at "},
		{"silent", silent.Addr().String(), 50 * time.Millisecond, client.Down, "no answer in time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			c := client.New(client.Options{Settings: settings})
			t.Cleanup(func() { _ = c.Close() })
			ctx, cancel := context.WithTimeout(t.Context(), tt.limit)
			defer cancel()
			state, text := c.State(ctx, tt.address)
			if state != tt.want || !strings.Contains(text, tt.text) {
				t.Errorf("got %s: %s; want %s: …%s…", state, text, tt.want, tt.text)
			}
		})
	}
}

package server_test

import (
	"crypto/tls"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"indirtui/indirector/network/server"
)

// TestShares: a client that holds its places, and all without a certificate
// that hold theirs, leave room for the others, and the status is answered.
func TestShares(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	greedy, web := ca.sign("greedy"), ca.sign("web01")
	held, letGo := make(chan struct{}, 10), make(chan struct{})
	h := start(t, ca, server.Options{
		Limits: server.Limits{Requests: 4, Client: 2, Strangers: 1, Wait: 50 * time.Millisecond},
	}, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasSuffix(r.URL.Path, "held") {
			held <- struct{}{}
			<-letGo
		}
		io.WriteString(w, "done")
	})
	var wg sync.WaitGroup
	hold := func(c *http.Client, path string) {
		wg.Go(func() {
			if got := ask(c, "GET", h.url+path); got != "200 done" {
				t.Errorf("held: got %q", got)
			}
		})
		<-held
	}
	stranger, own := h.client(), h.client(greedy)
	hold(own, "/puppet/v3/file_content/held")
	hold(own, "/puppet/v3/file_content/held")
	hold(stranger, "/puppet-ca/v1/certificate/held")
	for _, tt := range []struct {
		name   string
		client *http.Client
		path   string
		want   string
	}{
		{"one client", own, "/puppet/v3/file_content/x", "503 "},
		{"without a certificate", stranger, "/puppet-ca/v1/certificate/ca", "503 "},
		{"another client", h.client(web), "/puppet/v3/file_content/x", "200 done"},
		{"status", stranger, "/status/v1/simple", "200 done"},
	} {
		if got := ask(tt.client, "GET", h.url+tt.path); !strings.HasPrefix(got, tt.want) {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
	h.kept.wait(t, "2 requests of greedy were worked on")
	h.kept.wait(t, "1 requests of clients without a certificate were worked on")
	close(letGo)
	wg.Wait()
}

// TestSilentConnections: connections without a request make room for those with
// one.
func TestSilentConnections(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	h := start(t, ca, server.Options{Limits: server.Limits{Connections: 3, HeaderTime: time.Hour, Idle: time.Hour}}, nil)
	for i := range 3 {
		c, err := net.Dial("tcp", strings.TrimPrefix(h.url, "https://"))
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if i == 0 { // a handshake without a request
			if err := tls.Client(c, &tls.Config{RootCAs: ca.pool(), ServerName: "127.0.0.1"}).HandshakeContext(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
	}
	if got := ask(h.client(ca.sign("web01")), "GET", h.url+"/puppet/v3/node/web01"); !strings.HasPrefix(got, "200") {
		t.Errorf("got %q", got)
	}
}

// TestLongest: a request has an end.
func TestLongest(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t, "CA of tests")
	h := start(t, ca, server.Options{Limits: server.Limits{Longest: 50 * time.Millisecond}}, func(w http.ResponseWriter, r *http.Request) {
		<-r.Context().Done()
		io.WriteString(w, "ended")
	})
	if got := ask(h.client(ca.sign("web01")), "GET", h.url+"/puppet/v3/node/web01"); got != "200 ended" {
		t.Errorf("got %q", got)
	}
}

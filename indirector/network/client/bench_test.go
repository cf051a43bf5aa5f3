package client_test

import (
	"compress/gzip"
	"crypto/tls"
	"crypto/x509"
	"io"
	"net/http"
	"testing"
	"time"

	"indirtui/indirector/network/client"
	"indirtui/traces"
)

// bomb answers with 100 MiB of zeros, which are some 100 KiB on the wire.
func bomb(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Encoding", "gzip")
	z := gzip.NewWriter(w)
	block := make([]byte, 1<<20)
	for range 100 {
		if _, err := z.Write(block); err != nil {
			return
		}
	}
	_ = z.Close()
}

// BenchmarkDo is one exchange over a kept connection: what the client adds is
// the difference to BenchmarkPlain. Traced is what recording adds.
func BenchmarkDo(b *testing.B) {
	answer := func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"name":"web01"}`) }
	p := newPair(b, answer)
	x := get("/puppet/v3/node/web01")
	b.Run("plain net/http", func(b *testing.B) {
		pool := x509.NewCertPool()
		pool.AddCert(p.ca.Cert)
		t := &http.Transport{TLSClientConfig: &tls.Config{RootCAs: pool}}
		defer t.CloseIdleConnections()
		b.ReportAllocs()
		for b.Loop() {
			req, err := http.NewRequest(http.MethodGet, p.server.URL+x.Path, nil)
			if err != nil {
				b.Fatal(err)
			}
			resp, err := t.RoundTrip(req)
			if err != nil {
				b.Fatal(err)
			}
			if _, err := io.ReadAll(resp.Body); err != nil {
				b.Fatal(err)
			}
			resp.Body.Close()
		}
	})
	b.Run("untraced", func(b *testing.B) {
		c := p.client(b, client.Options{})
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Do(b.Context(), x); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("traced", func(b *testing.B) {
		c := p.client(b, client.Options{})
		b.ReportAllocs()
		for b.Loop() {
			ctx := &traces.Live{Context: b.Context(), Trace: &traces.Trace{Start: time.Now()}, Step: traces.Terminus}
			if _, err := c.Do(ctx, x); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkStream reads 64 MiB.
func BenchmarkStream(b *testing.B) {
	const size = 64 << 20
	block := make([]byte, 256<<10)
	p := newPair(b, func(w http.ResponseWriter, _ *http.Request) {
		for n := 0; n < size; n += len(block) {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	c := p.client(b, client.Options{})
	x := get("/x")
	x.Stream = true
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		a, err := c.Do(b.Context(), x)
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, a.Stream); err != nil {
			b.Fatal(err)
		}
		if err := a.Stream.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

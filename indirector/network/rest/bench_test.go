//go:build unix

package rest_test

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/network/rest"
	"indirtui/indirector/network/server"
	"indirtui/indirector/settings"
)

// clients is how many clients a benchmark has, each with a connection of its
// own that is kept, as in the measurements of Puppet Server.
const clients = 8

// A load is the server and client of a benchmark.
type load struct {
	address string
	tls     *tls.Config
}

// newLoad starts a server as in use: with traces, TLS, and certificates.
func newLoad(b *testing.B) (*load, *peer, string) {
	b.Helper()
	_, client, dir := pair(b)
	s, err := server.New(server.Options{Identity: server.Identity{Cert: dir + "/server.crt", Key: dir + "/server.key", CA: dir + "/ca.pem"}})
	if err != nil {
		b.Fatal(err)
	}
	p := newPeer(b, func(e *engine.Options, o *rest.Options) {
		e.Set = []settings.Override{{Name: "node_terminus", Value: "plain"}}
		o.Client, o.CodeID = s.Client, nil
	})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan error, 1)
	go func() { ended <- s.Serve(ctx, l, p.handler) }()
	b.Cleanup(func() {
		cancel()
		if err := <-ended; err != nil {
			b.Error(err)
		}
	})
	return &load{l.Addr().String(), client}, p, dir
}

// run sends the request b.N times over all clients and reports how many there
// were in a second, and how long the slowest of a hundred took.
func (l *load) run(b *testing.B, method, target, accept, contentType, body string, size int64) {
	b.Helper()
	request := fmt.Appendf(nil, "%s %s HTTP/1.1\r\nHost: localhost\r\nAccept: %s\r\nX-Puppet-Version: 7.23.0\r\n", method, target, accept)
	if body != "" {
		request = fmt.Appendf(request, "Content-Type: %s\r\nContent-Length: %d\r\n", contentType, len(body))
	}
	request = append(request, "\r\n"+body...)
	b.SetBytes(size)
	var all sync.WaitGroup
	times := make([][]time.Duration, clients)
	start := make(chan struct{})
	for i := range clients {
		conn, err := l.dial(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		defer conn.Close()
		r := bufio.NewReaderSize(conn, 64<<10)
		if err := exchange(conn, r, request, size); err != nil {
			b.Fatal(err)
		}
		n := b.N / clients
		if i < b.N%clients {
			n++
		}
		all.Go(func() {
			<-start
			took := make([]time.Duration, 0, n)
			for range n {
				at := time.Now()
				if err := exchange(conn, r, request, size); err != nil {
					b.Error(err)
					return
				}
				took = append(took, time.Since(at))
			}
			times[i] = took
		})
	}
	b.ReportAllocs()
	b.ResetTimer()
	before := used(b)
	close(start)
	all.Wait()
	b.StopTimer()
	b.ReportMetric(float64((used(b)-before).Microseconds())/float64(b.N), "cpu-µs/op")
	sorted := slices.Concat(times...)
	slices.Sort(sorted)
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "requests/s")
	if len(sorted) > 0 {
		b.ReportMetric(float64(sorted[len(sorted)*99/100].Microseconds())/1000, "p99-ms")
	}
}

// used is the time that this process had a processor, client and server: what a
// request costs, however busy the machine is.
func used(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func (l *load) dial(ctx context.Context) (net.Conn, error) {
	if l.tls == nil {
		return new(net.Dialer).DialContext(ctx, "tcp", l.address)
	}
	return (&tls.Dialer{Config: l.tls}).DialContext(ctx, "tcp", l.address)
}

// exchange sends a request and reads the answer, with as little work as a
// client can have. A size other than zero must be that of the answer.
func exchange(conn net.Conn, r *bufio.Reader, request []byte, size int64) error {
	if _, err := conn.Write(request); err != nil {
		return err
	}
	length := int64(-1)
	for first := true; ; first = false {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return err
		}
		if first && !bytes.HasPrefix(line, []byte("HTTP/1.1 200 ")) {
			rest, _ := r.Peek(r.Buffered())
			return fmt.Errorf("got %s%s", line, rest)
		}
		if len(line) == 2 {
			break
		}
		if name, value, _ := bytes.Cut(line, []byte(": ")); bytes.EqualFold(name, []byte("Content-Length")) {
			if length, err = strconv.ParseInt(string(bytes.TrimSpace(value)), 10, 64); err != nil {
				return err
			}
		}
	}
	if length < 0 || size > 0 && length != size {
		return fmt.Errorf("the answer has %d bytes instead of %d", length, size)
	}
	_, err := r.Discard(int(length))
	return err
}

// BenchmarkNode is the node of an agent with its facts, from the plain
// terminus. Puppet Server as fast as it gets: 591 requests/s, p99 40 ms.
func BenchmarkNode(b *testing.B) {
	l, p, _ := newLoad(b)
	f, _ := format.ByName("json")
	facts, _, err := format.Intern(f, "facts", readCapture(b, filepath.Join(captures, "010-facts-save")).sent, format.Options{})
	if err != nil {
		b.Fatal(err)
	}
	if _, err := p.Do(b.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Save, Key: facts.Key(), Instance: facts}); err != nil {
		b.Fatal(err)
	}
	l.run(b, "GET", "/puppet/v3/node/agent01.example.com?environment=production&configured_environment=production&transaction_uuid=5f8bd4f6-51b9-4bb1-8f5d-3f4f0b9c7a10",
		"application/json, application/x-msgpack, text/pson", "", "", 0)
}

// BenchmarkCatalog is a catalog with 24 resources that lies there as JSON, asked
// for with facts. Puppet Server as fast as it gets: 51 requests/s, p99 323 ms.
func BenchmarkCatalog(b *testing.B) {
	l, p, _ := newLoad(b)
	c := readCapture(b, filepath.Join(captures, "039-catalog-not-static"))
	p.prepare(b, c)
	l.run(b, "POST", "/puppet/v3/catalog/agent01.example.com?environment=production", c.header.Get("Accept"), "application/x-www-form-urlencoded", string(c.sent), 0)
}

// BenchmarkMetadata is the metadata of a file of 1 KiB. Puppet Server as fast as
// it gets: 542 requests/s, p99 45 ms.
func BenchmarkMetadata(b *testing.B) {
	l, _, _ := newLoad(b)
	l.run(b, "GET", "/puppet/v3/file_metadata/modules/bench/1k.txt?links=manage&checksum_type=sha256&source_permissions=ignore&environment=production", "application/json", "", "", 0)
}

// BenchmarkContent compares the content of a file with nginx, with the same TLS
// settings and clients. Puppet Server at its best, 1 MiB: 265 requests/s, p99
// 59 ms.
func BenchmarkContent(b *testing.B) {
	for name, size := range map[string]int64{"1k.txt": 1 << 10, "1m.bin": 1 << 20} {
		b.Run("ours/"+name, func(b *testing.B) {
			l, _, _ := newLoad(b)
			l.run(b, "GET", "/puppet/v3/file_content/modules/bench/"+name+"?environment=production", "application/octet-stream", "", "", size)
		})
		b.Run("nginx/"+name, func(b *testing.B) {
			l := newNginx(b)
			l.run(b, "GET", "/files/"+name, "application/octet-stream", "", "", size)
		})
	}
}

// newNginx starts nginx over the same files.
func newNginx(b *testing.B) *load {
	b.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		b.Skip("nginx is not installed: ", err)
	}
	p := newPeer(b, nil)
	_, client, dir := pair(b)
	probe, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // it is closed at once
	if err != nil {
		b.Fatal(err)
	}
	address := probe.Addr().String()
	if err := probe.Close(); err != nil {
		b.Fatal(err)
	}
	conf := filepath.Join(dir, "nginx.conf")
	write(b, conf, strings.NewReplacer("DIR", dir, "ADDRESS", address, "FILES", filepath.Join(p.dir, "code/environments/production/site-modules/bench")).Replace(`
daemon off; worker_processes auto; pid DIR/nginx.pid; error_log DIR/error.log;
events { worker_connections 1024; }
http {
  access_log off; sendfile on; keepalive_requests 100000000; default_type application/octet-stream;
  client_body_temp_path DIR/body; proxy_temp_path DIR/proxy; fastcgi_temp_path DIR/fastcgi; uwsgi_temp_path DIR/uwsgi; scgi_temp_path DIR/scgi;
  server {
    listen ADDRESS ssl;
    ssl_certificate DIR/server.crt; ssl_certificate_key DIR/server.key; ssl_client_certificate DIR/ca.pem; ssl_verify_client on;
    location /files/ { alias FILES/files/; }
  }
}
`))
	if os.Geteuid() == 0 { // its workers are another user's
		for d := p.dir; d != "/tmp" && d != "/"; d = filepath.Dir(d) {
			if err := os.Chmod(d, 0o755); err != nil {
				b.Fatal(err)
			}
		}
	}
	run := exec.CommandContext(b.Context(), program, "-c", conf)
	var given bytes.Buffer
	run.Stderr = &given
	run.Cancel = func() error { return run.Process.Signal(os.Interrupt) }
	run.WaitDelay = 5 * time.Second
	if err := run.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		_ = run.Process.Signal(os.Interrupt)
		_ = run.Wait()
	})
	l := &load{address, client}
	for deadline := time.Now().Add(10 * time.Second); ; {
		conn, err := l.dial(b.Context())
		if err == nil {
			_ = conn.Close()
			return l
		}
		if time.Now().After(deadline) {
			b.Fatalf("nginx does not listen: %v\n%s", err, given.String())
		}
	}
}

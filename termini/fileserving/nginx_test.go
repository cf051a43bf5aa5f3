//go:build unix

package fileserving_test

import (
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/md5"
	"crypto/rand"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// An authority signs the certificates of a test.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func pemFile(t *testing.T, path, kind string, der []byte) string {
	t.Helper()
	if err := os.WriteFile(path, pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func newAuthority(t *testing.T, dir, name string) *authority {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: name}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return &authority{cert, key, pemFile(t, filepath.Join(dir, name+".pem"), "CERTIFICATE", der)}
}

// sign writes a certificate for the names and returns its files.
func (a *authority) sign(t *testing.T, dir, name string, hosts ...string) (cert, key string) {
	t.Helper()
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(2), Subject: pkix.Name{CommonName: hosts[0]}, DNSNames: hosts, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, a.cert, &k.PublicKey, a.key)
	if err != nil {
		t.Fatal(err)
	}
	b, err := x509.MarshalECPrivateKey(k)
	if err != nil {
		t.Fatal(err)
	}
	return pemFile(t, filepath.Join(dir, name+".crt"), "CERTIFICATE", der), pemFile(t, filepath.Join(dir, name+".key"), "EC PRIVATE KEY", b)
}

// freePorts returns free ports.
func freePorts(t *testing.T, n int) []int {
	t.Helper()
	ports := make([]int, n)
	for i := range ports {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		ports[i] = l.Addr().(*net.TCPAddr).Port
	}
	return ports
}

// startNginx runs nginx with what is to stand in its http block, until the test
// ends. It returns the file that it logs requests to.
func startNginx(t *testing.T, dir, config string, port int) (log string) {
	t.Helper()
	program, err := exec.LookPath("nginx")
	if err != nil {
		t.Skipf("nginx is not installed: %v", err)
	}
	log = filepath.Join(dir, "access.log")
	var temp strings.Builder
	for _, kind := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
		fmt.Fprintf(&temp, "%s_temp_path %s/%s;\n", kind, dir, kind)
	}
	text := fmt.Sprintf(`
daemon off; master_process off; pid %[1]s/nginx.pid; error_log %[1]s/error.log;
events { worker_connections 64; }
http {
	log_format asked '$server_port $request_method $request_uri $http_range $status';
	access_log %[2]s asked;
	default_type application/octet-stream;
	%[3]s
	%[4]s
}`, dir, log, temp.String(), config)
	file := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, program, "-p", dir, "-c", file)
	cmd.Stdout, cmd.Stderr, cmd.WaitDelay = &out, &out, 10*time.Second
	if err := cmd.Start(); err != nil {
		cancel()
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = cmd.Wait() // it is killed
	}()
	t.Cleanup(func() {
		cancel()
		<-ended
	})
	for {
		c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err == nil {
			_ = c.Close()
			return log
		}
		select {
		case <-ended:
			b, _ := os.ReadFile(filepath.Join(dir, "error.log"))
			t.Fatalf("nginx ended: %s%s", out.String(), b)
		case <-time.After(10 * time.Millisecond):
		}
	}
}

// since returns which requests were logged behind the first n bytes. What was
// no request of HTTP is logged when the connection ends, and left out.
func since(t *testing.T, log string, n int) (lines []string, size int) {
	t.Helper()
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(b[n:])) {
		if line = strings.TrimSpace(line); !strings.HasSuffix(line, " - - - 400") {
			lines = append(lines, line)
		}
	}
	return lines, len(b)
}

// TestPeerNginx asks real Puppet and this program for the same addresses of a
// real web server, and compares what they answer, and what they asked.
func TestPeerNginx(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const content = "hello\n"
	sum := func(b []byte) string { return base64.StdEncoding.EncodeToString(b) }
	md, s1, s256 := md5.Sum([]byte(content)), sha1.Sum([]byte(content)), sha256.Sum256([]byte(content))
	large := bytes.Repeat([]byte("0123456789abcdef"), 1<<18)
	write(t, dir, map[string]string{"www/file": content, "www/dir/index.html": "index", "www/sp ace": "space", "www/é": "e", "www/large": string(large)})
	at := time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)
	for _, name := range []string{"file", "dir/index.html", "sp ace", "é", "large"} {
		if err := os.Chtimes(filepath.Join(dir, "www", name), at, at); err != nil {
			t.Fatal(err)
		}
	}
	ours, theirs := newAuthority(t, dir, "ours"), newAuthority(t, dir, "theirs")
	goodCert, goodKey := ours.sign(t, dir, "good", "localhost")
	nameCert, nameKey := ours.sign(t, dir, "name", "other.example.test")
	badCert, badKey := theirs.sign(t, dir, "bad", "localhost")
	ports := freePorts(t, 4)
	plain, secure, named, unknown, closed := ports[0], ports[1], ports[2], ports[3], 1
	alias := "alias " + dir + "/www/file;"
	var locations strings.Builder
	location := func(name, body string) { fmt.Fprintf(&locations, "location = /%s { %s }\n", name, body) }
	location("md5", alias+"add_header Content-MD5 '"+sum(md[:])+"';")
	location("badmd5", alias+"add_header Content-MD5 '???';")
	location("xmd5", alias+fmt.Sprintf("add_header X-Checksum-Md5 %x;", md))
	location("xsha1", alias+fmt.Sprintf("add_header X-Checksum-Sha1 %x;", s1))
	location("xsha256", alias+fmt.Sprintf("add_header X-Checksum-Sha256 %x;", s256))
	location("all", alias+fmt.Sprintf("add_header X-Checksum-Md5 %x; add_header X-Checksum-Sha1 %x; add_header X-Checksum-Sha256 %x; add_header Content-MD5 '%s';", md, s1, s256, sum(md[:])))
	location("twice", alias+fmt.Sprintf("add_header X-Checksum-Sha256 %x; add_header X-Checksum-Sha256 00;", s256))
	location("nodate", alias+"add_header Last-Modified '';")
	location("baddate", alias+"add_header Last-Modified 'yesterday';")
	location("nohead", "if ($request_method = HEAD) { return 403; } "+alias)
	location("nohead405", "if ($request_method = HEAD) { return 405; } "+alias)
	location("nohead404", "if ($request_method = HEAD) { return 404; } "+alias)
	location("norange", "max_ranges 0; if ($request_method = HEAD) { return 403; } "+alias)
	location("forbidden", "return 403;")
	location("broken", "return 500;")
	location("empty", "return 204;")
	for _, code := range []int{301, 302, 303, 307, 308} {
		location(fmt.Sprintf("to%d", code), fmt.Sprintf("return %d /file;", code))
	}
	location("away", fmt.Sprintf("return 302 https://localhost:%d/file;", secure))
	location("round", "return 302 /round;")
	location("two", "return 301 /to302;")
	location("tonohead", "return 302 /nohead;")
	location("tonothing", "return 302 /nothing;")
	server := func(port int, tls string) string {
		return fmt.Sprintf("server { listen 127.0.0.1:%d%s root %s/www; %s }\n", port, tls, dir, locations.String())
	}
	tls := func(cert, key string) string {
		return fmt.Sprintf(" ssl; ssl_certificate %s; ssl_certificate_key %s;", cert, key)
	}
	log := startNginx(t, dir, server(plain, ";")+server(secure, tls(goodCert, goodKey))+server(named, tls(nameCert, nameKey))+server(unknown, tls(badCert, badKey)), plain)

	http := fmt.Sprintf("http://127.0.0.1:%d/", plain)
	type question struct {
		URL string `json:"url"`
		Sum string `json:"sum"`
	}
	var asked []question
	for _, name := range []string{
		"file", "file?x=y", "dir", "dir/", "sp%20ace", "%C3%A9", "nothing", "md5", "badmd5", "xmd5", "xsha1", "xsha256", "all", "twice", "nodate", "baddate",
		"nohead", "nohead405", "nohead404", "norange", "forbidden", "broken", "empty", "to301", "to302", "to303", "to307", "to308", "away", "round", "two", "tonohead", "tonothing", "large",
	} {
		asked = append(asked, question{http + name, ""})
	}
	for _, sum := range []string{"md5", "sha1", "sha256", "mtime", "sha512"} {
		asked = append(asked, question{http + "all", sum}, question{http + "file", sum}, question{http + "md5", sum})
	}
	asked = append(asked,
		question{fmt.Sprintf("https://localhost:%d/xsha256", secure), ""},
		question{fmt.Sprintf("https://localhost:%d/to302", secure), ""},
		question{fmt.Sprintf("https://localhost:%d/file", named), ""},
		question{fmt.Sprintf("https://localhost:%d/file", unknown), ""},
		question{fmt.Sprintf("http://127.0.0.1:%d/file", closed), ""},
		question{fmt.Sprintf("https://localhost:%d/file", plain), ""},
	)
	var answers []struct {
		Answer any    `json:"answer"`
		Error  string `json:"error"`
	}
	ruby(t, `
		require 'puppet'; require 'puppet/file_serving/metadata'
		Puppet.initialize_settings
		Puppet[:ssldir] = '`+dir+`/ssl'; Puppet[:localcacert] = '`+ours.file+`'
		Puppet::Util::Log.level = :crit
		Puppet.push_context({current_environment: Puppet::Node::Environment.create(:production, [])})
		Puppet::FileServing::Metadata.indirection.terminus_class = :http
		puts JSON.generate(JSON.parse(STDIN.read).map { |q|
		  begin
		    o = q['sum'].empty? ? {} : {checksum_type: q['sum'].to_sym}
		    {answer: Puppet::FileServing::Metadata.indirection.find(q['url'], **o)&.to_data_hash}
		  rescue => e
		    {error: e.message}
		  end
		})`, asked, &answers)
	theyAsked, read := since(t, log, 0)

	h := newFixture(t, values{
		"ssldir": dir + "/ssl", "localcacert": ours.file, "hostcert": dir + "/none", "hostprivkey": dir + "/none",
		"http_connect_timeout": "2m", "http_read_timeout": "10m",
	}, nil)
	// What differs from one moment to the next.
	moment := regexp.MustCompile(`\d{4}-\d\d-\d\d \d\d:\d\d:\d\d [+-]\d{4}|after [\d.]+ seconds`)
	// Ruby 3.1.7 writes an address in its own way.
	address := regexp.MustCompile(`\\"([\d.]+)\\" port (\d+)`)
	clean := func(v any) any {
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		b = address.ReplaceAll(moment.ReplaceAll(b, []byte("now")), []byte("$1:$2"))
		if err := json.Unmarshal(b, &v); err != nil {
			t.Fatal(err)
		}
		return v
	}
	for i, q := range asked {
		var options []indirector.Option
		if q.Sum != "" {
			options = append(options, option("checksum_type", q.Sum))
		}
		var got any
		m, err := h.find(t, "http", q.URL, options...)
		switch {
		case errors.Is(err, indirector.ErrNotFound):
		case err != nil:
			if diff := gocmp.Diff(clean(answers[i].Error), clean(indirector.Message(err))); diff != "" {
				t.Errorf("%v: -Puppet +here:\n%s", q, diff)
			}
			continue
		default:
			if err := json.Unmarshal([]byte(shown(t, m)), &got); err != nil {
				t.Fatal(err)
			}
		}
		if answers[i].Error != "" {
			t.Errorf("%v: Puppet says %q, here %v", q, answers[i].Error, got)
		}
		if diff := gocmp.Diff(clean(answers[i].Answer), clean(got)); diff != "" {
			t.Errorf("%v: -Puppet +here:\n%s", q, diff)
		}
	}
	weAsked, _ := since(t, log, read)
	if diff := gocmp.Diff(theyAsked, weAsked); diff != "" {
		t.Errorf("what was asked: -Puppet +here:\n%s", diff)
	}

	// Contents come by GET, in the same ways.
	for _, tt := range []struct{ url, want string }{
		{http + "file", content},
		{http + "to307", content},
		{http + "away", content},
		{http + "nohead", content},
		{http + "sp%20ace", "space"},
		{http + "large", string(large)},
		{fmt.Sprintf("https://localhost:%d/file", secure), content},
		{http + "nothing", "nil"},
		{http + "to308", "nil"},
		{http + "forbidden", "nil"},
	} {
		resp, err := h.Do(t.Context(), &indirector.Request{Indirection: "file_content", Verb: indirector.Find, Key: tt.url, Terminus: "http"})
		got := "nil"
		if !errors.Is(err, indirector.ErrNotFound) {
			if err != nil {
				t.Errorf("%s: %v", tt.url, err)
				continue
			}
			r, err := resp.Instance().(*model.FileContent).Contents.Open()
			if err != nil {
				t.Errorf("%s: %v", tt.url, err)
				continue
			}
			b, err := io.ReadAll(r)
			if err := errors.Join(err, r.Close()); err != nil {
				t.Errorf("%s: %v", tt.url, err)
			}
			got = string(b)
		}
		if got != tt.want {
			t.Errorf("%s: got %d bytes %.40q, want %d %.40q", tt.url, len(got), got, len(tt.want), tt.want)
		}
	}
}

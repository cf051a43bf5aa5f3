package cli

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"net/http/httputil"
	"net/textproto"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/network/client/clienttest"
	"indirtui/termini"
)

// A message is a request or an answer as it was on the wire.
type message struct {
	Line    string
	Early   []string // answers before the last one: their lines
	Headers map[string][]string
	Framing string // "length", "chunked", "close", "none"
	Body    string
	Trailer map[string][]string
}

// ofOneConnection are headers that concern one connection, and those that name
// host and client, which are others on either side of the proxy.
var ofOneConnection = []string{"Connection", "Keep-Alive", "Proxy-Connection", "Host", "Trailer", "Transfer-Encoding", "X-Client-Verify", "X-Client-Dn", "X-Client-Cert"}

// readMessage reads a request, if method is "", or the answer to that method.
// It calls goOn when the body waits for a 100.
func readMessage(r *bufio.Reader, method string, goOn func()) (m message, err error) {
	for {
		m.Headers, m.Trailer = nil, nil
		if m.Line, err = r.ReadString('\n'); err != nil {
			return m, err
		}
		m.Line = strings.TrimRight(m.Line, "\r\n")
		h, err := textproto.NewReader(r).ReadMIMEHeader()
		if err != nil {
			return m, err
		}
		m.Headers = h
		if method != "" && len(m.Line) > 9 && m.Line[9] == '1' {
			if !strings.HasPrefix(m.Line, "HTTP/1.1 100") { // that is of one connection
				m.Early = append(m.Early, m.Line)
			}
			continue
		}
		break
	}
	if m.Headers["Expect"] != nil {
		goOn()
	}
	status := ""
	if method != "" && len(m.Line) >= 12 {
		status = m.Line[9:12]
	}
	m.Framing = "none"
	var body io.Reader = nothing{}
	switch n, sized := m.Headers["Content-Length"]; {
	case strings.EqualFold(textproto.MIMEHeader(m.Headers).Get("Transfer-Encoding"), "chunked"):
		m.Framing = "chunked"
		body = httputil.NewChunkedReader(r)
	case sized:
		m.Framing = "length"
		size, err := strconv.Atoi(n[0])
		if err != nil {
			return m, err
		}
		body = io.LimitReader(r, int64(size))
	case method != "":
		m.Framing, body = "close", r
	}
	if method == "HEAD" || status == "204" || status == "304" {
		body = nothing{}
		if m.Framing != "length" {
			m.Framing = "none"
		}
	}
	b, err := io.ReadAll(body)
	m.Body = string(b)
	if err != nil {
		return m, err
	}
	if m.Framing == "chunked" && method != "HEAD" {
		if m.Trailer, err = textproto.NewReader(r).ReadMIMEHeader(); err != nil {
			return m, err
		}
	}
	for _, name := range ofOneConnection {
		delete(m.Headers, name)
	}
	return m, nil
}

// nothing is an empty body.
type nothing struct{}

func (nothing) Read([]byte) (int, error) { return 0, io.EOF }

// A double is a server that records what it is asked, and answers as the test
// wants, byte for byte.
type double struct {
	mu     sync.Mutex // guards the following
	answer string
	asked  []message
}

func (d *double) serve(l net.Listener) {
	for {
		c, err := l.Accept()
		if err != nil {
			return
		}
		go d.talk(c)
	}
}

func (d *double) talk(c net.Conn) {
	defer c.Close()
	r := bufio.NewReader(c)
	for {
		if _, err := r.Peek(1); err != nil {
			return
		}
		m, err := readMessage(r, "", func() { _, _ = io.WriteString(c, "HTTP/1.1 100 Continue\r\n\r\n") })
		if err != nil {
			m.Line += " (" + err.Error() + ")"
		}
		d.mu.Lock()
		d.asked = append(d.asked, m)
		answer := d.answer
		d.mu.Unlock()
		_, _ = io.WriteString(c, answer)
		head, _, _ := strings.Cut(answer, "\r\n\r\n")
		if err != nil || strings.Contains(head, "Connection: close") || strings.HasPrefix(answer, "HTTP/1.0") || strings.Contains(m.Line, "HTTP/1.0") {
			return
		}
	}
}

// A wireCase is a request and the answer to it, byte for byte.
type wireCase struct{ name, request, answer string }

// answered is an answer with that head and body; the length is added.
func answered(head, body string) string {
	return "HTTP/1.1 " + head + "\r\nContent-Length: " + strconv.Itoa(len(body)) + "\r\n\r\n" + body
}

func chunks(parts ...string) string {
	var b strings.Builder
	for _, p := range parts {
		fmt.Fprintf(&b, "%x\r\n%s\r\n", len(p), p)
	}
	return b.String() + "0\r\n"
}

func squeeze(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	_, _ = io.WriteString(z, text)
	_ = z.Close()
	return b.String()
}

const (
	agentHeaders = "Host: {host}\r\nAccept: application/json, text/pson\r\nAccept-Encoding: gzip;q=1.0,deflate;q=0.6,identity;q=0.3\r\nX-Puppet-Version: 7.23.0\r\nUser-Agent: Puppet/7.23.0 Ruby/3.1.2-p20 (x86_64-linux)\r\n"
	nodeAnswer   = `{"name": "web01",  "environment":"production"}`
	json200      = "200 OK\r\nDate: Thu, 01 Jan 2026 00:00:00 GMT\r\nContent-Type: application/json;charset=utf-8\r\nX-Puppet-Version: 7.9.5\r\nServer: Jetty(9.4.43)"
	wireNode     = "/puppet/v3/node/web01?environment=production"
	wireMeta     = "/puppet/v3/file_metadata/modules/a/b?environment=production&links=manage"
	wireFile     = "/puppet/v3/file_content/modules/a/b?environment=production"
	wireBucket   = "/puppet/v3/file_bucket_file/md5/0cc175b9c0f1b6a831c399e269772661/etc/motd?environment=production"
	wireFacts    = "/puppet/v3/facts/web01?environment=production"
	wireReport   = "/puppet/v3/report/web01?environment=production"
	wireCatalog  = "/puppet/v3/catalog/web01?environment=production"
)

// sends is a request; more are further headers, each with its line break.
func sends(method, target, more, body string) string {
	length := ""
	if body != "" {
		length = "Content-Length: " + strconv.Itoa(len(body)) + "\r\n"
	}
	return method + " " + target + " HTTP/1.1\r\n" + agentHeaders + more + length + "\r\n" + body
}

// wireCases are the requests: methods and paths, queries, headers, bodies,
// framings, and answers of all kinds.
func wireCases() []wireCase {
	good := answered(json200, nodeAnswer)
	var all []wireCase
	add := func(name, request, answer string) {
		all = append(all, wireCase{name, request, answer})
	}
	for _, method := range []string{"GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS"} {
		for _, target := range []string{wireNode, wireFacts, wireMeta, wireFile, wireBucket, "/status/v1/services?level=debug", "/puppet-ca/v1/certificate_status/web01?x=1", "/odd/path"} {
			body, more := "", ""
			switch method {
			case "PUT", "POST", "PATCH":
				body, more = `{"name":"web01","values":{}}`, "Content-Type: application/json\r\n"
			}
			answer := good
			if method == "HEAD" {
				answer, _, _ = strings.Cut(good, "\r\n\r\n")
				answer += "\r\n\r\n"
			}
			add(method+" "+target, sends(method, target, more, body), answer)
		}
	}
	for _, target := range []string{
		"/puppet/v3/node/web01?transaction_uuid=u1&environment=production&configured_environment=production",
		"/puppet/v3/node/web01?environment=production&fail_on_404=true&z=1&a=2",
		"/puppet/v3/node/web01?environment=production&a=1&a=2&a=1",
		"/puppet/v3/node/web01?environment=production&a[]=1&a[]=2",
		"/puppet/v3/node/web01?environment=production&a=%41%2f%2F+b%20c",
		"/puppet/v3/node/web01?environment=production&&x&=y&z=",
		"/puppet/v3/node/web01?environment=production&x=%zz",
		"/puppet/v3/node/web01?environment=production;x=1",
		"/puppet/v3/node/web01?environment=production#part",
		"/puppet/v3/node/web01?environment=production&x=a|b{c}^\"d\"",
		"/puppet/v3/node/web01?environment=bad%20name",
		"/puppet/v3/node/web01", "/puppet/v3/node/web01?", "/puppet/v3/node/?environment=production",
		"/puppet/v3/file_metadatas/modules/a?recurse=true&checksum_type=md5&environment=production&ignore=%5B%22.git%22%5D&ignore=b&links=manage",
		"/puppet/v3/file_metadata/modules/a/sp%20ace%2Fslash?environment=production",
		"/puppet/v3/file_metadata/modules/a/%C3%A9%c3%a9?environment=production",
		"/puppet/v3/file_metadata/modules/a/%ff?environment=production",
		"/puppet/v3/file_metadata/modules/a/~b-c_d.e!f*g'(h)?environment=production",
		"/puppet/v3/file_metadata/modules/a/b|c?environment=production",
		"//puppet/v3/node/web01?environment=production",
		"/puppet//v3/node/web01?environment=production",
		"/puppet/v3/file_metadata/modules//a/b/?environment=production",
		"/puppet/v3/file_metadata/modules/a/../b?environment=production",
		"/puppet/v3/node/%2e%2e?environment=production",
		"/puppet/v3/unknown_thing/a?environment=production", "/puppet/v3/Node/web01?environment=production",
		"/production/node/web01", "/", "*", "/puppet/v3/nodes/web01?environment=production", "/puppet/v4/catalog", "/%zz",
	} {
		method := "GET"
		if target == "*" {
			method = "OPTIONS"
		}
		add("target "+target, sends(method, target, "", ""), good)
	}
	for _, more := range []string{
		"Range: bytes=0-3\r\n", "If-None-Match: \"1\"\r\n", "X-Odd: a\r\nX-Odd: b\r\n", "x-lower-case: 1\r\n", "Cookie: a=b\r\n", "Authorization: Basic YTpi\r\n",
		"Traceparent: 00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01\r\n", "X-Forwarded-For: 1.2.3.4\r\n", "Via: 1.1 x\r\n", "Content-Encoding: gzip\r\n",
		"Accept-Charset: utf-8\r\n", "X-Empty:\r\n", "X-Authentication: token\r\n", "Content-Type: application/json\r\n", "X-Client-Cert: forged\r\n", "Pragma: no-cache\r\n",
		"Content-Length: 0\r\n", "TE: trailers\r\n", "Connection: close\r\n", "Max-Forwards: 3\r\n",
	} {
		add("header "+strings.TrimSpace(more), sends("GET", wireFile, more, ""), answered("200 OK\r\nContent-Type: application/octet-stream", "contents"))
	}
	add("without Accept", "GET "+wireNode+" HTTP/1.1\r\nHost: {host}\r\n\r\n", good)
	add("Accept of nothing known", "GET "+wireFile+" HTTP/1.1\r\nHost: {host}\r\nAccept: image/png\r\nAccept-Encoding: br, zstd\r\n\r\n", answered("200 OK\r\nContent-Type: application/octet-stream", "contents"))
	add("PUT that accepts nothing known", "PUT "+wireReport+" HTTP/1.1\r\nHost: {host}\r\nAccept: image/png\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}", good)
	add("asked in HTTP/1.0", "GET "+wireNode+" HTTP/1.0\r\nHost: {host}\r\nAccept: application/json\r\n\r\n", good)
	facts := `{"name":"web01","values":{"a":1},"timestamp":"2026-01-01T00:00:00.000000000+00:00","expiration":"2026-01-01T00:30:00.000000000+00:00"}`
	form := "environment=production&facts_format=application%2Fjson&facts=%257B%2522name%2522%253A%2522web01%2522%252C%2522values%2522%253A%257B%257D%257D&transaction_uuid=u1&static_catalog=true&checksum_type=md5.sha256"
	for _, b := range []struct{ name, method, target, more, body string }{
		{"facts", "PUT", wireFacts, "Content-Type: application/json\r\n", facts},
		{"facts in odd JSON", "PUT", wireFacts, "Content-Type: application/json\r\n", "{ \"values\" : {\"b\":1e2,\"b\":2}, \"name\":\"web01\" }\n"},
		{"facts that are no JSON", "PUT", wireFacts, "Content-Type: application/json\r\n", "{nothing"},
		{"a report that is a list", "PUT", wireReport, "Content-Type: application/json\r\n", "[]"},
		{"a report in PSON", "PUT", wireReport, "Content-Type: text/pson\r\n", "{}"},
		{"a report of unknown type", "PUT", wireReport, "Content-Type: application/x-odd\r\n", "odd"},
		{"a report without type", "PUT", wireReport, "", "odd"},
		{"a report in YAML", "PUT", wireReport, "Content-Type: text/yaml\r\n", "--- {}"},
		{"a compressed report", "PUT", wireReport, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", squeeze("{}")},
		{"a file for the bucket", "PUT", wireBucket, "Content-Type: application/octet-stream\r\n", "a"},
		{"no file for the bucket", "PUT", wireBucket, "Content-Type: application/octet-stream\r\nContent-Length: 0\r\n", ""},
		{"a catalog", "POST", wireCatalog, "Content-Type: application/x-www-form-urlencoded\r\n", form},
		{"a catalog in another order", "POST", wireCatalog, "Content-Type: application/x-www-form-urlencoded\r\n", "z=1&" + form + "&a=%41"},
		{"a malformed form", "POST", wireCatalog, "Content-Type: application/x-www-form-urlencoded\r\n", "%zz=&&;facts=%"},
		{"a form without environment", "POST", "/puppet/v3/catalog/web01", "Content-Type: application/x-www-form-urlencoded\r\n", "a=b"},
		{"a catalog with invalid facts", "POST", wireCatalog, "Content-Type: application/x-www-form-urlencoded\r\n", "environment=production&facts_format=application%2Fjson&facts=nothing"},
		{"a node asked by POST", "POST", wireNode, "Content-Type: application/x-www-form-urlencoded\r\n", "a=b"},
		{"a search by POST", "POST", "/puppet/v3/file_metadatas/modules/a?environment=production", "Content-Type: application/x-www-form-urlencoded\r\n", "recurse=true"},
		{"a GET with a body", "GET", wireNode, "Content-Type: application/json\r\n", "{}"},
		{"a DELETE with a body", "DELETE", wireFacts, "Content-Type: application/json\r\n", "{}"},
		{"a certificate request", "PUT", "/puppet-ca/v1/certificate_request/web01", "Content-Type: text/plain\r\n", "no PEM"},
		{"continue", "PUT", wireReport, "Content-Type: application/json\r\nExpect: 100-continue\r\n", "{}"},
		{"a large report", "PUT", wireReport, "Content-Type: application/json\r\n", `{"x":"` + strings.Repeat("y", 300_000) + `"}`},
	} {
		add("body: "+b.name, sends(b.method, b.target, b.more, b.body), good)
		if b.body != "" && b.method != "GET" && len(b.body) < 1000 && (b.method == "POST" || strings.HasPrefix(b.target, wireFacts) || b.target == wireBucket) {
			head, _, _ := strings.Cut(sends(b.method, b.target, b.more, ""), "\r\n\r\n")
			add("chunked: "+b.name, head+"\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks(b.body)+"\r\n", good)
		}
	}
	head, _, _ := strings.Cut(sends("PUT", wireBucket, "Content-Type: application/octet-stream\r\nTrailer: X-Sum\r\n", ""), "\r\n\r\n")
	add("chunked with extensions and a trailer", head+"\r\nTransfer-Encoding: chunked\r\n\r\n3;a=b\r\nabc\r\n0\r\nX-Sum: 1\r\n\r\n", good)
	add("PUT without a body", sends("PUT", wireReport, "Content-Type: application/json\r\n", ""), good)
	add("POST without a body", sends("POST", "/puppet/v4/catalog", "", ""), good)
	add("PUT of length 0", sends("PUT", wireReport, "Content-Type: application/json\r\nContent-Length: 0\r\n", ""), good)
	add("DELETE of length 0", sends("DELETE", wireFacts, "Content-Length: 0\r\n", ""), good)

	node, file, list := sends("GET", wireNode, "", ""), sends("GET", wireFile, "", ""), sends("GET", "/puppet/v3/file_metadatas/modules/a?environment=production", "", "")
	save := sends("PUT", wireReport, "Content-Type: application/json\r\n", "{}")
	status := sends("GET", "/status/v1/simple", "", "")
	for _, what := range []struct{ name, request string }{{"node", node}, {"file", file}, {"list", list}, {"report", save}, {"status", status}} {
		for _, h := range []string{
			"301 Moved Permanently\r\nLocation: https://localhost:1/x", "302 Found\r\nLocation: /puppet/v3/node/other?environment=production", "307 Temporary Redirect\r\nLocation: nowhere",
			"503 Service Unavailable\r\nRetry-After: 1800", "429 Too Many Requests\r\nRetry-After: tomorrow",
		} {
			add(what.name+" answered "+h[:3], what.request, answered(h+"\r\nContent-Type: text/plain", "said"))
		}
		add(what.name+" answered 302 without a body", what.request, answered("302 Found\r\nLocation: /x", ""))
	}
	for _, h := range []string{
		"200 All Is Well", "200 ", "201 Created", "202 Accepted", "203 Non-Authoritative", "299 Odd", "300 Multiple Choices", "303 See Other", "308 Permanent Redirect",
		"400 Bad Request", "401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"", "403 Forbidden", "404 Not Found", "404 Gone Fishing", "406 Not Acceptable", "407 Proxy Authentication Required",
		"413 Payload Too Large", "418 I'm a teapot", "500 Server Error", "500 Internal Server Error", "501 Not Implemented", "502 Bad Gateway", "504 Gateway Timeout", "511 Odd", "599 Very Odd", "999 What",
	} {
		add("node: "+h, node, answered(h+"\r\nContent-Type: text/html", "<p>said</p>"))
	}
	for _, h := range []string{"404 Gone Fishing", "500 Server Error", "200 All Is Well"} {
		add("status: "+h, status, answered(h+"\r\nContent-Type: text/html", "<p>said</p>"))
		add("file: "+h, file, answered(h+"\r\nContent-Type: application/octet-stream", "said"))
	}
	add("204", node, "HTTP/1.1 204 No Content\r\nX-Odd: 1\r\n\r\n")
	add("304", file, "HTTP/1.1 304 Not Modified\r\nEtag: \"1\"\r\n\r\n")
	add("206", sends("GET", wireFile, "Range: bytes=0-3\r\n", ""), answered("206 Partial Content\r\nContent-Range: bytes 0-3/10\r\nContent-Type: application/octet-stream", "cont"))
	add("103", node, "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n"+good)
	add("102", save, "HTTP/1.1 102 Processing\r\n\r\n"+good)
	add("answered in HTTP/1.0", node, "HTTP/1.0 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}")
	add("ended by closing", node, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n{}")
	long := strings.Repeat("0123456789abcdef", 20_000)
	for _, what := range []struct{ name, request, kind string }{{"node", node, "application/json"}, {"file", file, "application/octet-stream"}, {"status", status, "text/plain"}, {"list", list, "application/json"}} {
		h := "200 OK\r\nContent-Type: " + what.kind
		add(what.name+" that is no JSON", what.request, answered(h, "{nothing"))
		add(what.name+", empty", what.request, answered(h, ""))
		add(what.name+", chunked", what.request, "HTTP/1.1 "+h+"\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks("{", "}")+"\r\n")
		add(what.name+", chunked with a trailer", what.request, "HTTP/1.1 "+h+"\r\nTrailer: X-Sum\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks("{", "}")+"X-Sum: 1\r\n\r\n")
		add(what.name+", compressed", what.request, answered(h+"\r\nContent-Encoding: gzip", squeeze("{}")))
		add(what.name+", said to be compressed", what.request, answered(h+"\r\nContent-Encoding: gzip", "{}"))
		add(what.name+", in another encoding", what.request, answered(h+"\r\nContent-Encoding: br", "\x0b\x02\x80{}\n\x03"))
		add(what.name+", long", what.request, answered(h, long))
		add(what.name+", long and chunked", what.request, "HTTP/1.1 "+h+"\r\nTransfer-Encoding: chunked\r\n\r\n"+chunks(long[:100_000], long[100_000:])+"\r\n")
		add(what.name+", without a type", what.request, answered("200 OK\r\nX-Odd: a\r\nX-Odd: b\r\nSet-Cookie: a=b\r\nSet-Cookie: c=d", "{}"))
		add(what.name+", of two types", what.request, answered("200 OK\r\nContent-Type: text/html\r\nContent-Type: text/plain\r\nx-lower: 1\r\nX-Empty:", "{}"))
	}
	return all
}

// differing are the cases that differ, with the reason. The page of the command
// line has them.
var differing = map[string]string{
	"target /%zz":                     "what is no address is refused with 400 by the listener",
	"header X-Forwarded-For: 1.2.3.4": "headers by which a client might pretend to be another",
	"header Pragma: no-cache":         "`Pragma: no-cache` gets the `Cache-Control` that it means",
	"header Content-Length: 0":        "a length of 0 is not sent with GET and HEAD",
	"header TE: trailers":             "headers that concern one connection",
	"asked in HTTP/1.0":               "each side has its own version of HTTP",
	"answered in HTTP/1.0":            "each side has its own version of HTTP",
	"PUT without a body":              "PUT, POST and PATCH without a body get `Content-Length: 0`",
	"POST without a body":             "PUT, POST and PATCH without a body get `Content-Length: 0`",
	"102":                             "answers before the last one",
	"103":                             "answers before the last one",
}

// A wire is a server that answers as the test wants, and a proxy before it.
type wire struct {
	t      *testing.T
	up     *double
	server string // its address
	proxy  *answering
	own    *program // that the proxy is of
	shown  bool     // on a trip, which closes it
	client *tls.Config
}

// newWire begins both. Change sets what the proxy is for: it has certificates, and
// agents is the ssldir of its client web01.example.com.
func newWire(t *testing.T, change func(x *proxyCommand, server, agents string)) *wire {
	t.Helper()
	t.Setenv("XDG_STATE_HOME", t.TempDir())
	conf, dir := t.TempDir(), t.TempDir()
	authority := clienttest.New(t, "Puppet CA")
	agent := authority.Issue(t, "web01.example.com")
	authority.Write(t, dir, agent)
	files := authority.Write(t, dir, authority.Issue(t, "proxy.example.com", clienttest.Local))
	up := &double{}
	l, err := tls.Listen("tcp", "127.0.0.1:0", &tls.Config{Certificates: []tls.Certificate{authority.Issue(t, "localhost", clienttest.Local).TLS}, ClientAuth: tls.RequestClientCert})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	go up.serve(l)
	_, port, err := net.SplitHostPort(l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(conf, "puppet.conf"), []byte("[main]\nruninterval = 1\nhttp_read_timeout = 2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	p := &program{Streams: Streams{Out: io.Discard, Err: io.Discard}, specs: termini.Specs(), termini: termini.All()}
	configure(t, p, "")
	p.confDir, p.varDir = conf, t.TempDir()
	x := &proxyCommand{
		listening: listening{p: p, listen: "127.0.0.1:0", connections: 10, atOnce: 10},
		cert:      files["hostcert"], key: files["hostprivkey"], ca: files["localcacert"], crl: files["hostcrl"],
	}
	change(x, "https://localhost:"+port, dir)
	if err := x.check(); err != nil {
		t.Fatal(err)
	}
	v, err := x.start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	w := &wire{t: t, up: up, server: l.Addr().String(), proxy: v, own: p, client: &tls.Config{
		InsecureSkipVerify: true, Certificates: []tls.Certificate{agent.TLS}, //nolint:gosec // whose answer it is does not matter here
	}}
	t.Cleanup(func() {
		if w.shown {
			return
		}
		if err := v.session.close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

// ask sends a request to an address, and returns what came to the server, and what
// comes back.
func (w *wire) ask(address string, c wireCase) (asked []message, got message) {
	w.t.Helper()
	w.up.mu.Lock()
	w.up.answer, w.up.asked = c.answer, nil
	w.up.mu.Unlock()
	conn, err := tls.Dial("tcp", address, w.client)
	if err != nil {
		w.t.Fatal(err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(5 * time.Second))
	_, _ = io.WriteString(conn, strings.ReplaceAll(c.request, "{host}", address))
	method, _, _ := strings.Cut(c.request, " ")
	if got, err = readMessage(bufio.NewReader(conn), method, nil); err != nil {
		got.Line += " (" + err.Error() + ")"
	}
	w.up.mu.Lock()
	defer w.up.mu.Unlock()
	return slices.Clone(w.up.asked), got
}

// TestProxyAddsNothing sends hand-made requests to a server, directly and
// through the proxy, and compares what comes to the server, and what comes back.
func TestProxyAddsNothing(t *testing.T) {
	w := newWire(t, func(x *proxyCommand, server, agents string) { x.upstream, x.agents = server, agents })
	page, err := os.ReadFile("../../docs/COMMAND-LINE.md")
	if err != nil {
		t.Fatal(err)
	}
	for name, reason := range differing {
		if !strings.Contains(string(page), "\n| "+reason+" |") {
			t.Errorf("%s: the page of the command line does not have the reason %q", name, reason)
		}
	}
	cases := wireCases()
	equal := 0
	for _, c := range cases {
		wantAsked, want := w.ask(w.server, c)
		gotAsked, got := w.ask(w.proxy.address, c)
		diff := cmp.Diff(wantAsked, gotAsked) + cmp.Diff(want, got)
		if diff == "" {
			equal++
		}
		switch reason, known := differing[c.name]; {
		case diff == "" && known:
			t.Errorf("%s is equal, and need not be excused: %s", c.name, reason)
		case diff != "" && !known:
			t.Errorf("%s: directly (-) and through the proxy (+):\n%s", c.name, diff)
		}
	}
	if count := fmt.Sprintf("%d requests both ways; %d are equal", len(cases), equal); !strings.Contains(string(page), count) {
		t.Errorf("the page of the command line does not have %q", count)
	}
}

// TestKeylessRequest: a certificate whose key the proxy will not find is
// announced when it is requested.
func TestKeylessRequest(t *testing.T) {
	t.Parallel()
	var announced []string
	s := &standing{keys: t.TempDir(), announce: func(text string) { announced = append(announced, text) }}
	if err := os.WriteFile(filepath.Join(s.keys, "there.pem"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, asked := range []string{"PUT there", "GET web01", "PUT ../web01", "PUT web01"} {
		method, name, _ := strings.Cut(asked, " ")
		text := s.keyless(httptest.NewRequest(method, "/puppet-ca/v1/certificate_request/"+name, nil))
		if want := asked == "PUT web01"; (text != "") != want {
			t.Errorf("%s: got %q", asked, text)
		}
	}
	want := "web01 requests a certificate, and its key is not in " + filepath.Join(s.keys, "web01.pem")
	if len(announced) != 1 || !strings.HasPrefix(announced[0], want) || !strings.Contains(announced[0], "--agents-ssl") {
		t.Errorf("announced %q, want %q", announced, want)
	}
}

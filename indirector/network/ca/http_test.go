package ca_test

import (
	"bufio"
	"bytes"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ocsp"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/network/authconf"
	"indirtui/indirector/network/ca"
	"indirtui/traces/store"
)

const captures = "../rest/testdata/captures"

// A peer is a CA behind its HTTP interface, set up like the captured one.
type peer struct {
	*ca.Authority
	engine *engine.Engine
	url    string
	certs  map[string]*x509.Certificate // of the clients
}

// newPeer starts one. The header X-Test-As names the client. With open, which
// is no setting, every client may do everything.
func newPeer(t testing.TB, set map[string]string, o ca.SetupOptions) *peer {
	t.Helper()
	dir := t.TempDir()
	cfg := ca.Config{Dir: filepath.Join(dir, "ca"), KeyLength: 1024, Name: "Peers"}
	a, err := ca.Setup(t.Context(), cfg, o)
	if err != nil {
		t.Fatal(err)
	}
	p := &peer{Authority: a, certs: map[string]*x509.Certificate{}}
	for _, l := range []ca.Leaf{
		{Name: "puppet.example.com", AltNames: []string{"localhost", "IP:127.0.0.1"}, CLIAuth: true},
		{Name: "agent01.example.com"},
		{Name: "revocable1795190639.example.com"},
	} {
		pair, _, _, err := a.Generate(t.Context(), l)
		if err != nil {
			t.Fatal(err)
		}
		p.certs[l.Name] = pair.Leaf
	}
	all := map[string]string{"cadir": cfg.Dir, "autosign": "true", "certname": "puppet.example.com"}
	maps.Copy(all, set)
	delete(all, "open")
	p.engine = newEngine(t, all)
	rules := authconf.Default()
	handler := ca.NewHandler(p.engine.Indirector, ca.HandlerOptions{
		Client: func(r *http.Request) indirector.Remote {
			cert := p.certs[r.Header.Get("X-Test-As")]
			if cert == nil {
				return indirector.Remote{}
			}
			return indirector.Remote{
				Node: cert.Subject.CommonName, Authenticated: true, Extensions: ca.Extensions(cert),
				Certificate: string(ca.EncodeCertificates(cert)),
			}
		},
		Authorize: func(r *http.Request, remote indirector.Remote) error {
			if set["open"] == "true" {
				return nil
			}
			client := authconf.Client{Name: remote.Node, Authenticated: remote.Authenticated, Extensions: remote.Extensions}
			if d := rules.Decide(authconf.Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Client: client}); !d.Allowed {
				return errors.New(d.Why)
			}
			return nil
		},
	})
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	p.url = server.URL
	return p
}

// An answer is what came back.
type answer struct {
	status int
	header http.Header
	body   string
}

func (p *peer) ask(t testing.TB, as, method, path string, header http.Header, body []byte) answer {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, p.url+path, bytes.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	if header != nil {
		r.Header = header
	}
	r.Header.Set("X-Test-As", as)
	transport := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	resp, err := transport.RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer{resp.StatusCode, resp.Header, string(b)}
}

// TestCaptures makes the requests that Puppet Server was asked, and compares
// status, headers and bodies with what it answered. What cannot be the same, or
// is meant to differ, is in the tables below.
func TestCaptures(t *testing.T) {
	t.Parallel()
	p := newPeer(t, nil, ca.SetupOptions{Intermediate: true})
	old := time.Date(2026, 11, 19, 16, 0, 0, 0, time.UTC) // before what 157 asks for
	if err := os.Chtimes(p.Config().CRL, old, old); err != nil {
		t.Fatal(err)
	}
	differs := map[string]string{
		"163-ca-request-not-pem": "the words are those of a Java exception; ours say what is wrong with the body",
	}
	files, err := filepath.Glob(captures + "/1[567]*-ca-*.http")
	if err != nil || len(files) != 22 {
		t.Fatalf("got %d captures, %v; want 22", len(files), err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".http")
		c := readCapture(t, file)
		got := p.ask(t, c.as, c.method, c.path, c.header, c.sent)
		if got.status != c.want.status {
			t.Errorf("%s: status %d, want %d: %s", name, got.status, c.want.status, got.body)
		}
		if c.want.status == http.StatusNotModified {
			c.want.header.Del("Content-Type") // net/http sends none where there is no content
		}
		for _, h := range []string{"Content-Type", "X-Puppet-Version", "Vary"} {
			if a, b := strings.Join(got.header.Values(h), ", "), strings.Join(c.want.header.Values(h), ", "); a != b {
				t.Errorf("%s: %s: got %q, want %q", name, h, a, b)
			}
		}
		if why := differs[name]; why != "" {
			if got.body == c.want.body {
				t.Errorf("%s: there is no difference, but a reason: %s", name, why)
			}
			continue
		}
		if a, b := essence(got.body), essence(c.want.body); !reflect.DeepEqual(a, b) {
			t.Errorf("%s:\ngot  %v\nwant %v", name, a, b)
		}
	}
}

// A capture is a request and what Puppet Server answered.
type capture struct {
	as, method, path string
	header           http.Header
	sent             []byte
	want             answer
}

func readCapture(t *testing.T, file string) capture {
	t.Helper()
	text := strings.ReplaceAll(read(t, file), "\r\n", "\n")
	as, text, _ := strings.Cut(text, "\n")
	question, reply, ok := strings.Cut(text, "\n\n")
	if !ok {
		t.Fatalf("%s has no answer", file)
	}
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(question + "\n\n")))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(strings.NewReader(strings.TrimRight(reply, "\n")+"\n\n")), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	base := strings.TrimSuffix(file, ".http")
	c := capture{as: strings.TrimPrefix(as, "# as: "), method: r.Method, path: r.RequestURI, header: r.Header, want: answer{status: resp.StatusCode, header: resp.Header}}
	c.header.Del("Content-Length")
	if b, err := os.ReadFile(base + ".body"); err == nil {
		c.want.body = string(b)
	}
	if b, err := os.ReadFile(base + ".sent"); err == nil {
		c.sent = b
	}
	return c
}

// essence is what two bodies have to have in common: the kinds of PEM blocks;
// of JSON the shape, and of a status what does not depend on keys; of text all.
func essence(body string) any {
	if b, rest := pem.Decode([]byte(body)); b != nil {
		kinds := []string{b.Type}
		for b, rest = pem.Decode(rest); b != nil; b, rest = pem.Decode(rest) {
			kinds = append(kinds, b.Type)
		}
		return kinds
	}
	var v any
	if json.Unmarshal([]byte(body), &v) != nil {
		return body
	}
	if list, ok := v.([]any); ok && len(list) > 0 {
		v = list[:1]
	}
	order := ""
	if m, ok := v.(map[string]any); ok && m["state"] != nil {
		for _, name := range []string{"name", "state", "dns_alt_names", "subject_alt_names", "authorization_extensions"} {
			order += fmt.Sprint(m[name], " ")
		}
		d := json.NewDecoder(strings.NewReader(body))
		for depth := 0; ; {
			token, err := d.Token()
			if err != nil {
				break
			}
			switch x := token.(type) {
			case json.Delim:
				depth += map[json.Delim]int{'{': 1, '[': 1, '}': -1, ']': -1}[x]
			case string:
				if _, ok := m[x]; ok && depth == 1 {
					order += x + " "
				}
			}
		}
	}
	return []any{order, shape(v)}
}

func shape(v any) any {
	switch x := v.(type) {
	case map[string]any:
		s := map[string]any{}
		for k, v := range x {
			if strings.HasPrefix(k, "Puppet Root CA: ") {
				k = "Puppet Root CA"
			}
			s[k] = shape(v)
		}
		return s
	case []any:
		s := []any{}
		for _, v := range x {
			s = append(s, shape(v))
		}
		return s
	case string:
		if _, err := ca.ParseTime(x); err == nil {
			return "a date"
		}
		if strings.Count(x, ":") >= 19 {
			return fmt.Sprintf("a fingerprint of %d", len(x))
		}
	}
	return fmt.Sprintf("%T", v)
}

// TestLikePuppetServer has what Puppet Server 7.9.5 was seen to answer besides
// the captures.
func TestLikePuppetServer(t *testing.T) {
	t.Parallel()
	p := newPeer(t, map[string]string{"open": "true", "autosign": "false"}, ca.SetupOptions{})
	const (
		plain = "text/plain"
		utf8  = "text/plain;charset=utf-8"
		html  = "text/html;charset=utf-8"
		agent = "agent01.example.com"
	)
	for _, tt := range []struct {
		method, path, accept, sends, body string
		status                            int
		kind, want                        string
	}{
		{"GET", "certificate_status/" + agent, "application/json", "", "", 200, "application/json;charset=utf-8", `{"name":"agent01.example.com"`},
		{"GET", "certificate_status/" + agent, "text/pson, application/json", "", "", 200, "application/json;charset=utf-8", `{"name"`},
		{"GET", "certificate_status/" + agent, "", "", "", 200, "application/json;charset=utf-8", `{"name"`},
		{"GET", "certificate_status/" + agent, "text/html", "", "", 406, utf8, "No acceptable resource available."},
		{"PUT", "certificate_status/nosuch", "*/*", "application/json", `{"desired_state":"revoked"}`, 404, utf8, "Invalid certificate subject."},
		{"PUT", "certificate_status/" + agent, "*/*", "application/json", `{"desired_state":"signed"}`, 409, utf8, "Cannot sign certificate for host agent01.example.com without a certificate request"},
		{"PUT", "certificate_status/" + agent, "*/*", "application/json", `{"desired`, 400, utf8, "Request body is not JSON."},
		{"PUT", "certificate_status/" + agent, "*/*", "application/json", ``, 400, utf8, "Request body is not JSON."},
		{"PUT", "certificate_status/" + agent, "*/*", "application/json", `{}`, 400, utf8, `Missing required parameter "desired_state"`},
		{"PUT", "certificate_status/" + agent, "*/*", "application/json", `{"desired_state":"signed","cert_ttl":"x"}`, 400, utf8, `cert_ttl specified for host agent01.example.com must be an integer, not "x"`},
		{"PUT", "certificate_status/" + agent, "*/*", "text/plain", `{"desired_state":"signed"}`, 415, utf8, "Unsupported media type."},
		{"DELETE", "certificate_status/nosuch", "application/json", "", "", 404, "application/json;charset=utf-8", "Resource not found."},
		{"GET", "certificate_statuses/", "*/*", "", "", 400, utf8, "Missing URL Segment"},
		{"GET", "certificate_statuses", "*/*", "", "", 404, html, "Not Found"},
		{"GET", "certificate_status/", "*/*", "", "", 404, html, "Not Found"},
		{"GET", "certificate_statuses/x?state=revoked", "application/json", "", "", 200, "application/json;charset=utf-8", "[]"},
		{"GET", "certificate/a/b", "", "", "", 404, html, "Not Found"},
		{"GET", "certificate/", "", "", "", 404, html, "Not Found"},
		{"GET", "certificate/a%5Cb", "", "", "", 404, html, "Not Found"},
		{"GET", "certificate/AGENT01.example.com", "", "", "", 404, plain, "Could not find certificate AGENT01.example.com"},
		{"GET", "certificate/" + strings.Repeat("a", 300), "", "", "", 404, plain, "Could not find certificate " + strings.Repeat("a", 300)},
		{"GET", "certificate/..", "", "", "", 400, "", "Invalid relative path (.. or .) in: /puppet-ca/v1/certificate/.."},
		{"GET", "certificate_request/nosuch", "", "", "", 404, plain, "Could not find certificate_request nosuch"},
		{"PUT", "clean", "", "", "x", 400, plain, "Request body is not JSON."},
		{"PUT", "clean", "", "", `{"a":1}`, 400, plain, "Missing required key: 'certnames'. Please supply the list of certs you want to clean."},
		{"PUT", "clean", "", "", `{"certnames":["nosuch1","nosuch2"]}`, 200, plain, `The following certs do not exist and cannot be revoked: ["nosuch1" "nosuch2"]`},
		{"PUT", "clean", "", "", `{"certnames":[],"async":true}`, 400, plain, "Async mode is not currently supported."},
		{"PUT", "certificate_revocation_list", "", "", "nonsense", 400, utf8, "No valid CRLs submitted."},
		{"POST", "sign", "", "", `{}`, 422, "application/json", `{"error":`},
		{"POST", "sign", "", "", `{"certnames":["nosuch"]}`, 200, "application/json", `{"signed":[],"no-csr":["nosuch"],"signing-errors":[]}`},
		{"POST", "certificate_renewal", "", "", "", 404, plain, "Not Found"},
		{"GET", "nosuch", "", "", "", 404, html, "Not Found"},
	} {
		header := http.Header{}
		if tt.accept != "" {
			header.Set("Accept", tt.accept)
		}
		if tt.sends != "" {
			header.Set("Content-Type", tt.sends)
		}
		got := p.ask(t, "puppet.example.com", tt.method, ca.Prefix+tt.path, header, []byte(tt.body))
		if got.status != tt.status || got.header.Get("Content-Type") != tt.kind || !strings.HasPrefix(got.body, tt.want) {
			t.Errorf("%s %s %s:\ngot  %d %s %s\nwant %d %s %s", tt.method, tt.path, tt.body, got.status, got.header.Get("Content-Type"), got.body, tt.status, tt.kind, tt.want)
		}
	}
}

// TestLifeCycle takes a name from its request to its end, over HTTP.
func TestLifeCycle(t *testing.T) {
	t.Parallel()
	p := newPeer(t, map[string]string{"open": "true", "autosign": "false", "allow_auto_renewal": "true"}, ca.SetupOptions{})
	ask := func(method, path, body string, status int) answer {
		t.Helper()
		got := p.ask(t, "puppet.example.com", method, ca.Prefix+path, http.Header{"Accept": {"application/json"}}, []byte(body))
		if got.status != status {
			t.Fatalf("%s %s: %d %s, want %d", method, path, got.status, got.body, status)
		}
		return got
	}
	text := string(csr(t, agentKey(), "new.example.com"))
	ask("PUT", "certificate_request/new.example.com", text, 200)
	if got := ask("PUT", "certificate_request/new.example.com", text, 400).body; got != "new.example.com already has a requested certificate; ignoring certificate request" {
		t.Error(got)
	}
	if got := ask("GET", "certificate_request/new.example.com", "", 200).body; got != text {
		t.Errorf("the request came back as %s", got)
	}
	ask("GET", "certificate/new.example.com", "", 404)
	for name, want := range map[string]string{"": "requested", "?state=requested": "requested", "?state=signed": "signed"} {
		var list []struct{ Name, State string }
		if err := json.Unmarshal([]byte(ask("GET", "certificate_statuses/all"+name, "", 200).body), &list); err != nil || len(list) == 0 || list[0].State != want {
			t.Errorf("%s: got %v, %v", name, list, err)
		}
	}
	ask("PUT", "certificate_status/new.example.com", `{"desired_state":"signed","cert_ttl":3600}`, 204)
	certs, err := ca.ParseCertificates([]byte(ask("GET", "certificate/new.example.com", "", 200).body))
	if err != nil || time.Until(certs[0].NotAfter) > time.Hour {
		t.Fatalf("got %v, %v", certs, err)
	}
	ask("GET", "certificate_request/new.example.com", "", 404)
	since := ask("GET", "certificate_revocation_list/ca", "", 200).header.Get("Last-Modified")
	if got := p.ask(t, "", "GET", ca.Prefix+"certificate_revocation_list/ca", http.Header{"If-Modified-Since": {since}}, nil); got.status != 304 || got.body != "" {
		t.Errorf("got %d %s", got.status, got.body)
	}
	if got := p.ask(t, "", "GET", ca.Prefix+"certificate_revocation_list/ca", http.Header{"If-Modified-Since": {"nonsense"}}, nil); got.status != 200 {
		t.Errorf("got %d %s", got.status, got.body)
	}
	ask("PUT", "certificate_request/bulk1", string(csr(t, agentKey(), "bulk1")), 200)
	ask("PUT", "certificate_request/bulk2", string(csr(t, agentKey(), "bulk2", san(t, "other"))), 200)
	if got := ask("POST", "sign/all", "", 200).body; got != `{"signed":["bulk1"],"no-csr":[],"signing-errors":["bulk2"]}` {
		t.Error(got)
	}
	ask("DELETE", "certificate_request/bulk2", "", 204)
	ask("DELETE", "certificate_request/bulk2", "", 404)
	renewed, err := ca.ParseCertificates([]byte(ask("POST", "certificate_renewal", "", 200).body))
	if err != nil || renewed[0].Subject.CommonName != "puppet.example.com" || ca.AuthorizationExtensions(renewed[0])["pp_cli_auth"] != "true" {
		t.Errorf("renewal: got %v, %v", renewed, err)
	}
	if got := ask("PUT", "clean", `{"certnames":["new.example.com","bulk1"]}`, 200).body; got != "Successfully cleaned all certs." {
		t.Error(got)
	}
	ask("GET", "certificate/new.example.com", "", 404)
	lists, err := ca.ParseCRLs([]byte(ask("GET", "certificate_revocation_list/ca", "", 200).body))
	if err != nil || len(lists[0].RevokedCertificateEntries) != 2 || lists[0].Number.Int64() != 2 {
		t.Errorf("got %v, %v", lists, err)
	}
	ask("PUT", "certificate_revocation_list", string(pem.EncodeToMemory(&pem.Block{Type: "X509 CRL", Bytes: lists[0].Raw})), 200)

	// Each of these was a traced request.
	var seen []string
	rows := make([]store.Row, 200)
	for _, row := range rows[:p.engine.Store.Rows(1, rows)] {
		seen = append(seen, row.Indirection+" "+row.Verb.String())
	}
	for _, want := range []string{"certificate_request save", "certificate_request find", "certificate find", "certificate_status search", "certificate_status save", "certificate save", "certificate destroy", "certificate_revocation_list find", "certificate_revocation_list save"} {
		if !slices.Contains(seen, want) {
			t.Errorf("no trace of %s in %q", want, seen)
		}
	}
}

// TestOCSPOverHTTP asks by GET, POST and PUT, and compares the answers.
func TestOCSPOverHTTP(t *testing.T) {
	t.Parallel()
	p := newPeer(t, map[string]string{"open": "true"}, ca.SetupOptions{})
	dir := t.TempDir()
	issuer := write(t, filepath.Join(dir, "issuer.pem"), ca.EncodeCertificates(must(p.Certificate())))
	leaf := write(t, filepath.Join(dir, "leaf.pem"), ca.EncodeCertificates(p.certs["agent01.example.com"]))
	question := filepath.Join(dir, "q.der")
	openssl(t, nil, "ocsp", "-issuer", issuer, "-cert", leaf, "-reqout", question)
	if got := openssl(t, nil, "ocsp", "-issuer", issuer, "-CAfile", p.Config().Cert, "-url", p.url+ca.Prefix+"ocsp", "-cert", leaf); !strings.Contains(got, "leaf.pem: good") || !strings.Contains(got, "Response verify OK") {
		t.Errorf("openssl: %s", got)
	}
	der := []byte(read(t, question))
	encoded := strings.NewReplacer("+", "%2B", "/", "%2F", "=", "%3D").Replace(base64.StdEncoding.EncodeToString(der))
	for _, tt := range []struct {
		method, path, kind string
		body               []byte
		status             int
		size               int
	}{
		{"GET", "ocsp/" + encoded, "", nil, 200, 200},
		{"GET", "ocsp/" + base64.StdEncoding.EncodeToString(der), "", nil, 200, 200},
		{"POST", "ocsp", "application/ocsp-request", der, 200, 200},
		{"PUT", "ocsp/agent01", "application/octet-stream", der, 200, 200},
		{"POST", "ocsp", "application/ocsp-request", []byte("nonsense"), 200, 5},
		{"POST", "ocsp", "application/ocsp-request", bytes.Repeat([]byte("x"), 1<<20), 200, 5},
		{"GET", "ocsp/%21", "", nil, 200, 5},
		{"POST", "ocsp", "text/plain", der, 415, 0},
	} {
		got := p.ask(t, "", tt.method, ca.Prefix+tt.path, http.Header{"Content-Type": {tt.kind}}, tt.body)
		if got.status != tt.status || tt.status == 200 && got.header.Get("Content-Type") != "application/ocsp-response" || tt.size > 5 && len(got.body) < tt.size || tt.size == 5 && len(got.body) != 5 {
			t.Errorf("%s %.20s: got %d, %s, %d bytes", tt.method, tt.path, got.status, got.header.Get("Content-Type"), len(got.body))
			continue
		}
		if tt.size > 5 {
			r, err := ocsp.ParseResponseForCert([]byte(got.body), p.certs["agent01.example.com"], must(p.Certificate()))
			if err != nil || r.Status != ocsp.Good || time.Until(r.NextUpdate) < 50*time.Minute {
				t.Errorf("%s %.20s: got %v, %v", tt.method, tt.path, r, err)
			}
			if !strings.Contains(got.body, string(must(ca.ParseOCSP(der)).Nonce)) {
				t.Errorf("%s %.20s: the nonce is not repeated", tt.method, tt.path)
			}
		}
	}
}

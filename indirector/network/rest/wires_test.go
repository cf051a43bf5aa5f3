package rest_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// otherwise are the requests of real agents that are answered otherwise than by
// Puppet Server, by method and the beginning of the path, and why.
var otherwise = map[string]string{
	"GET /puppet-ca/v1/certificate": "answers of the authority are not compressed: they are short, and asked for once",
}

// readWire returns the requests of a real agent, in order, and how they were
// answered. Their bodies were not kept.
func readWire(t *testing.T, path string) []capture {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var all []capture
	for i, block := range strings.Split(strings.TrimSpace(string(text)), "\n\n") {
		c := capture{name: fmt.Sprintf("%s, %d", strings.TrimSuffix(filepath.Base(path), ".wire"), i+1)}
		if strings.HasPrefix(block, "(") {
			continue // "210 more downloads from the plugins mount"
		}
		var asked, answered []string
		for _, line := range strings.Split(block, "\n") {
			if rest, ok := strings.CutPrefix(line, "> "); ok {
				asked = append(asked, rest)
			} else {
				answered = append(answered, strings.TrimPrefix(line, "< "))
			}
		}
		if len(asked) == 0 || len(answered) == 0 {
			t.Fatalf("%s is no request with its answer: %q", c.name, block)
		}
		c.line, c.header = strings.TrimSuffix(asked[0], " HTTP/1.1"), headers(asked[1:])
		if _, err := fmt.Sscanf(answered[0], "HTTP/1.1 %d", &c.answer.status); err != nil {
			t.Fatalf("%s: %q: %v", c.name, answered[0], err)
		}
		c.answer.header = headers(answered[1:])
		all = append(all, c)
	}
	return all
}

// An agent is what a recorded agent had, or could have had, to send.
type agent struct {
	name     string // of its certificate
	signed   bool   // it has the certificate
	catalog  capture
	report   capture
	replaced string // a file that it backs up
}

var (
	inBucket = regexp.MustCompile(`(file_bucket_file/sha256/)[0-9a-f]{64}`)
	asker    = regexp.MustCompile(`/(?:node|catalog|report|certificate_request)/([a-z0-9.]+\.example\.com)`)
)

// send completes a request.
func (a *agent) send(t *testing.T, c *capture) {
	t.Helper()
	if c.as = "none"; a.signed {
		c.as = a.name
	}
	mine := func(b []byte) []byte { return []byte(strings.ReplaceAll(string(b), "agent01.example.com", a.name)) }
	method, target, _ := strings.Cut(c.line, " ")
	switch {
	case strings.HasPrefix(target, "/puppet/v3/catalog/"):
		c.sent = mine(a.catalog.sent)
	case strings.HasPrefix(target, "/puppet/v3/report/"):
		c.sent = mine(a.report.sent)
	case strings.HasPrefix(target, "/puppet/v3/file_bucket_file/"):
		c.line = inBucket.ReplaceAllString(c.line, fmt.Sprintf("${1}%x", sha256.Sum256([]byte(a.replaced))))
		if method == http.MethodPut {
			c.sent = []byte(a.replaced)
		}
	case strings.HasPrefix(target, "/puppet-ca/v1/certificate_request/"):
		key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{Subject: pkix.Name{CommonName: a.name}}, key)
		if err != nil {
			t.Fatal(err)
		}
		c.sent = pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der})
	case strings.HasPrefix(target, "/puppet-ca/v1/certificate/"+a.name):
		a.signed = true // from here on
	}
}

// against returns how an answer differs from the recording in status and
// headers, since bodies were not kept. Lengths count for unchanged files.
func (c *capture) against(got answer) []string {
	var all []string
	if got.status != c.answer.status {
		all = append(all, fmt.Sprintf("status %d instead of %d: %.300s", got.status, c.answer.status, got.body))
	}
	for _, name := range mattering {
		if w, g := c.answer.header.Get(name), got.header.Get(name); w != g {
			all = append(all, fmt.Sprintf("%s %q instead of %q", name, g, w))
		}
	}
	file := strings.Contains(c.line, "/puppet/v3/file_content/") || strings.Contains(c.line, "/puppet/v3/static_file_content/")
	if w, g := c.answer.header.Get("Content-Length"), got.header.Get("Content-Length"); file && w != "" && w != g && c.answer.header.Get("Content-Encoding") == "" {
		all = append(all, fmt.Sprintf("Content-Length %q instead of %q", g, w))
	}
	return all
}

// TestAgentWires repeats the requests of real agents, header by header, to a
// server and through a proxy, and compares the answers with Puppet Server's:
// four runs, from the first to one without certificates.
func TestAgentWires(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the classifier of the captures is a shell script: ", err)
	}
	const modules = "/usr/share/puppet/modules"
	_, packaged := os.Stat(filepath.Join(modules, "apache/lib/facter"))
	files, err := filepath.Glob(filepath.Join(captures, "agent-*.wire"))
	if err != nil || len(files) != 4 {
		t.Fatalf("got %d wires, %v", len(files), err)
	}
	read := func(name string) capture { return readCapture(t, filepath.Join(captures, name)) }
	catalogs := map[string]capture{"production": read("038-catalog-static"), "staging": read("042-catalog-staging")}
	report := read("119-report-save")
	used := make(map[string]bool)
	direct, behind := newPeer(t, nil), newPeer(t, nil)
	proxy := newProxy(t, behind.handler)
	for _, file := range files {
		wire := readWire(t, file)
		a := agent{signed: true, report: report, replaced: "this was changed by hand\n"}
		environment := "production"
		for _, c := range wire {
			if m := asker.FindStringSubmatch(c.line); m != nil {
				a.name = m[1]
			}
			if strings.Contains(c.line, "environment=staging") {
				environment = "staging"
			}
			if strings.Contains(c.line, "/certificate_request/") {
				a.signed = false
			}
		}
		if a.name == "" {
			t.Fatalf("%s: nobody asks", file)
		}
		a.catalog = catalogs[environment]
		for _, p := range []*peer{direct, behind} {
			write(t, filepath.Join(p.dir, "puppetserver/var/server_data/catalog", a.name+".json"),
				strings.ReplaceAll(p.local(string(a.catalog.answer.body)), "agent01.example.com", a.name))
		}
		if !a.signed {
			behindAgent := a
			for _, c := range wire { // the authority is none of the proxy's: it only hands on what is asked of it
				if behindAgent.send(t, &c); strings.Contains(c.line, "/puppet-ca/") {
					behind.ask(t, c)
				}
			}
		}
		for _, c := range wire {
			if strings.Contains(c.line, "/facter/") && packaged != nil {
				t.Logf("%s was not asked: Debian's module is not installed: %v", c.line, packaged)
				continue
			}
			a.send(t, &c)
			method, target, _ := strings.Cut(c.line, " ")
			why := ""
			for begin, reason := range otherwise {
				if strings.HasPrefix(method+" "+target, begin) {
					why = reason
					used[begin] = true
				}
			}
			got := direct.ask(t, c)
			switch given := c.against(got); {
			case len(given) > 0 && why == "":
				t.Errorf("%s: %s\n\t%s", c.name, c.line, strings.Join(given, "\n\t"))
			case len(given) == 0 && why != "":
				t.Errorf("%s: %s is answered like Puppet Server's, but listed: %s", c.name, c.line, why)
			}
			if strings.Contains(c.line, "/puppet-ca/") || strings.Contains(c.line, "/static_file_content/") {
				continue // no indirections: handed on byte by byte, see the package server
			}
			if given := c.against(proxy.ask(t, c)); len(given) > 0 && why == "" {
				t.Errorf("%s, through a proxy: %s\n\t%s", c.name, c.line, strings.Join(given, "\n\t"))
			}
		}
	}
	for begin := range otherwise {
		if !used[begin] {
			t.Errorf("no agent asked %s", begin)
		}
	}
}

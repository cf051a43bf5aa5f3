package puppetdb_test

import (
	"context"
	"crypto/x509"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/network/client"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/puppetdb"
	"indirtui/indirector/terminustest"
	termini "indirtui/termini/puppetdb"
	"indirtui/traces"
)

// A scriptedAnswer is what a server answers once.
type scriptedAnswer struct {
	Status  int
	Headers map[string]string
	Body    string
	Drop    bool
	Endless bool // the body is repeated until the client leaves
	Delay   int  `json:"delay_ms"`
}

// A seenRequest is a request as a server saw it.
type seenRequest struct {
	Server         int
	Method, Target string
	Headers        map[string]string
	Body           string
}

// peerOptions are what newPeer makes. In conf, {1} is the URL of a server.
type peerOptions struct {
	conf     string
	settings map[string]string
	answers  map[string][]scriptedAnswer
	producer string
}

// A peer is termini with scripted PuppetDBs behind them: 1 to 3 are good, the
// certificate of 4 has another name, that of 5 is of another CA, and at 9 nothing
// listens.
type peer struct {
	log     *terminustest.Log
	env     indirector.Env
	db      *puppetdb.Client
	ports   *strings.Replacer
	answers map[string][]scriptedAnswer
	servers []*httptest.Server

	mu   sync.Mutex // guards the following
	seen []seenRequest
	next map[string]int
}

var wireHeaders = []string{"Accept", "Content-Type", "X-Puppet-Version", "X-Uncompressed-Length"}

func newPeer(t *testing.T, o peerOptions) *peer {
	t.Helper()
	p := &peer{log: &terminustest.Log{Least: slog.LevelDebug}, answers: o.answers, next: map[string]int{}}
	ca, other := clienttest.New(t, "Puppet CA"), clienttest.New(t, "Another CA")
	good := ca.Issue(t, "localhost", clienttest.Local)
	leaves := map[string]*clienttest.Leaf{
		"1": good, "2": good, "3": good,
		"4": ca.Issue(t, "wrongname.example.com", func(c *x509.Certificate) { c.DNSNames = []string{"wrongname.example.com"} }),
		"5": other.Issue(t, "localhost", clienttest.Local),
	}
	conf := o.conf
	var ports []string
	for name, leaf := range leaves {
		if !strings.Contains(conf, "{"+name+"}") {
			continue
		}
		s := clienttest.Serve(t, leaf, p.handler(name))
		p.servers = append(p.servers, s)
		conf = p.place(conf, name, s.Listener.Addr().String(), &ports)
	}
	conf = p.place(conf, "9", unused(t), &ports)
	p.ports = strings.NewReplacer(ports...)
	dir := t.TempDir()
	ports = append(ports, dir, "<TMP>")
	p.ports = strings.NewReplacer(ports...)
	settings := ca.Write(t, filepath.Join(dir, "ssl"), ca.Issue(t, o.producer))
	settings["confdir"], settings["node_name_value"] = filepath.Join(dir, "conf"), o.producer
	for name, value := range o.settings {
		settings[name] = value
	}
	clienttest.WriteFile(t, filepath.Join(dir, "conf", "puppetdb.conf"), []byte("[main]\n"+conf))
	log := slog.New(p.log)
	network := client.New(client.Options{Settings: settings, Log: log}) // it knows the time: certificates end
	shared := map[string]any{"client": network}
	p.env = indirector.Env{
		Settings: settings, Log: log, Go: func(f func()) { f() },
		Now: func() time.Time { return time.Date(2026, 11, 22, 8, 0, 0, 123e6, time.UTC) },
		Shared: func(name string, make func(any) any) any {
			if shared[name] == nil {
				shared[name] = make(nil)
			}
			return shared[name]
		},
	}
	p.db = puppetdb.Of(p.env)
	t.Cleanup(func() { p.db.Close() })
	return p
}

// place puts the URL of a server into conf.
func (p *peer) place(conf, name, address string, ports *[]string) string {
	_, port, _ := net.SplitHostPort(address)
	*ports = append(*ports, ":"+port, ":<PORT"+name+">", " on "+port+" ", " on <PORT"+name+"> ")
	return strings.ReplaceAll(conf, "{"+name+"}", "https://localhost:"+port)
}

// unused returns an address where nothing listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}

// anonymous replaces ports and the temporary directory.
func (p *peer) anonymous(s string) string { return p.ports.Replace(s) }

// handler is a server that answers from the script, the last answer for ever.
func (p *peer) handler(name string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := p.take(name, r)
		if a.Delay > 0 {
			late := time.NewTimer(time.Duration(a.Delay) * time.Millisecond)
			defer late.Stop()
			select {
			case <-late.C:
			case <-r.Context().Done():
			}
		}
		if a.Drop {
			conn, _, err := w.(http.Hijacker).Hijack()
			if err == nil {
				conn.Close()
			}
			return
		}
		for k, v := range a.Headers {
			w.Header().Set(k, v)
		}
		if a.Status != 0 {
			w.WriteHeader(a.Status)
		}
		for again := true; again; again = a.Endless {
			if _, err := io.WriteString(w, a.Body); err != nil {
				return
			}
		}
	})
}

// take notes a request and returns its answer.
func (p *peer) take(name string, r *http.Request) scriptedAnswer {
	body, _ := io.ReadAll(r.Body)
	seen := seenRequest{Server: int(name[0] - '0'), Method: r.Method, Target: r.RequestURI, Body: string(body), Headers: map[string]string{}}
	for _, h := range wireHeaders {
		if v := r.Header.Get(h); v != "" {
			seen.Headers[h] = v
		}
	}
	if len(r.TLS.PeerCertificates) > 0 {
		seen.Headers["(client certificate)"] = r.TLS.PeerCertificates[0].Subject.CommonName
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.seen = append(p.seen, seen)
	script := p.answers[name]
	if len(script) == 0 {
		return scriptedAnswer{Status: http.StatusTeapot, Body: "no answer is scripted"}
	}
	i := min(p.next[name], len(script)-1)
	p.next[name]++
	return script[i]
}

// indirector returns one with the termini, and its recorder.
func (p *peer) indirector(t *testing.T) (*indirector.Indirector, *terminustest.Recorder) {
	t.Helper()
	var specs []indirector.Spec
	var all []indirector.Descriptor
	routes := indirector.Routes{}
	for _, name := range []string{"catalog", "facts", "node", "resource"} {
		specs = append(specs, indirector.Spec{Name: name, Class: "Puppet::" + indirector.Constant(name), Default: "puppetdb"})
		all = append(all, descriptors[name])
		routes[name] = indirector.Route{Primary: traces.Slot{{Terminus: "puppetdb", Kind: traces.FromRoutesFile}}}
	}
	registry, err := indirector.NewRegistry(specs, append(all, termini.FactsApply))
	if err != nil {
		t.Fatal(err)
	}
	rec := new(terminustest.Recorder)
	x, err := indirector.New(indirector.Config{Registry: registry, Routes: routes, Settings: p.env.Settings, Recorder: rec, Log: p.env.Log})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := x.Close(); err != nil {
			t.Error(err)
		}
	})
	return x, rec
}

// requests are those that the servers saw.
func (p *peer) requests() []seenRequest {
	p.mu.Lock()
	defer p.mu.Unlock()
	return append([]seenRequest(nil), p.seen...)
}

// checkRequests compares what the servers saw.
func (p *peer) checkRequests(t *testing.T, want []seenRequest) {
	t.Helper()
	got := p.requests()
	for i := range max(len(got), len(want)) {
		switch {
		case i >= len(got):
			t.Errorf("request %d is missing: %+v", i+1, want[i])
		case i >= len(want):
			t.Errorf("request %d is one too many: %+v", i+1, got[i])
		default:
			for name := range got[i].Headers {
				if _, recorded := want[i].Headers[name]; !recorded && name == "X-Puppet-Version" {
					delete(got[i].Headers, name) // Puppet Server's client has another way
				}
			}
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("request %d:\ngot  %+v\nwant %+v", i+1, got[i], want[i])
			}
		}
	}
}

// descriptors are the termini by indirection.
var descriptors = map[string]indirector.Descriptor{
	"catalog": termini.Catalog, "facts": termini.Facts, "node": termini.Node, "resource": termini.Resource, "apply": termini.FactsApply,
}

// ask calls a verb of the terminus of an indirection.
func (p *peer) ask(ctx context.Context, indirection, verb string, req *indirector.Request) (any, error) {
	d := descriptors[indirection]
	env := p.env
	env.Indirection, env.Terminus = d.Indirection, d.Name
	terminus, err := d.New(env)
	if err != nil {
		return nil, err
	}
	req.Indirection, req.Verb = d.Indirection, traces.ParseVerb(verb)
	handle := indirector.VerbsOf(terminus)[req.Verb]
	if handle == nil {
		return nil, fmt.Errorf("it cannot %s: %w", verb, indirector.ErrVerbMissing)
	}
	return handle(ctx, req)
}

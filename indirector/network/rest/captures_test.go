package rest_test

import (
	"bufio"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/child"
	"indirtui/indirector/network/authconf"
	"indirtui/indirector/network/ca"
	"indirtui/indirector/network/rest"
	"indirtui/indirector/settings"
	"indirtui/termini"
	"indirtui/traces"
)

const (
	captures    = "testdata/captures"
	controlRepo = "../../../.ci/peers/controlrepo"
)

// A peer is a server set up like the captured one.
type peer struct {
	*engine.Engine
	dir     string
	handler *rest.Handler
	server  *httptest.Server
}

// newPeer deploys the control repository and starts the server. The header
// X-Test-As names the client.
func newPeer(t testing.TB, change func(*engine.Options, *rest.Options)) *peer {
	t.Helper()
	p := &peer{dir: t.TempDir()}
	p.deploy(t, "production", "")
	p.deploy(t, "staging", "staging")
	p.deploy(t, "broken", "broken")
	script := func(name, text string) string {
		path := filepath.Join(p.dir, name)
		if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), child.WriteFile(path, []byte(text), 0o755)); err != nil {
			t.Fatal(err)
		}
		return path
	}
	enc, err := os.ReadFile(filepath.Join(controlRepo, "scripts/enc"))
	if err != nil {
		t.Fatal(err)
	}
	bin := script("puppetserver/bin/enc", string(enc))
	codeID := script("puppetserver/bin/code-id", "#!/bin/sh\ncat \""+p.dir+"/code/environments/$1/.code_id\" 2>/dev/null || true\n")
	content := script("puppetserver/bin/code-content", "#!/bin/sh\nroot=\""+p.dir+`/code/environments/$1"
[ "$(cat "$root/.code_id")" = "$2" ] || { echo "revision $2 is gone" >&2; exit 1; }
cat "$root/$3"
`)
	write(t, filepath.Join(p.dir, "conf/puppet.conf"), `[server]
certname = puppet.example.com
environmentpath = `+p.dir+`/code/environments
environment_timeout = 0
basemodulepath = /usr/share/puppet/modules
codedir = `+p.dir+`/code
node_terminus = exec
external_nodes = `+bin+`
catalog_terminus = json
cadir = `+p.dir+`/ca
ca_name = Peers
autosign = true
keylength = 2048
bucketdir = `+p.dir+`/puppetserver/var/bucket
reportdir = `+p.dir+`/puppetserver/var/reports
`)
	eo := engine.Options{
		Specs: termini.Specs(), Termini: termini.All(), Application: "server", Write: true,
		ConfDir: filepath.Join(p.dir, "conf"), VarDir: filepath.Join(p.dir, "puppetserver/var"), Process: settings.Options{Home: p.dir, Dir: p.dir},
		Certname: func() string { return "puppet.example.com" },
	}
	commands := rest.Commands{ID: codeID, Content: content}
	rules := authconf.Default()
	ro := rest.Options{
		CodeID: commands.CodeID, CodeContent: commands.CodeContent,
		Client: byTestHeader,
		Authorize: func(r *http.Request, remote indirector.Remote) error {
			client := authconf.Client{Name: remote.Node, Authenticated: remote.Authenticated, Address: remote.IP}
			if remote.Node == "puppet.example.com" {
				client.Extensions = map[string]string{"pp_cli_auth": "true"}
			}
			if d := rules.Decide(authconf.Request{Method: r.Method, Path: r.URL.Path, Query: r.URL.Query(), Client: client}); !d.Allowed {
				return &rest.Forbidden{Message: d.Refusal, Why: d.Why}
			}
			return nil
		},
	}
	if change != nil {
		change(&eo, &ro)
	}
	if p.Engine, err = engine.New(eo); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	ro.Settings, ro.Recorder = p.Settings, p.Store
	p.authority(t, &ro)
	p.handler = rest.NewHandler(p.Indirector, ro)
	p.server = httptest.NewServer(p.handler)
	t.Cleanup(p.server.Close)
	return p
}

// authority sets up a CA with the certificates that the captures are about. A
// benchmark has none.
func (p *peer) authority(t testing.TB, o *rest.Options) {
	t.Helper()
	if _, test := t.(*testing.T); !test || o.Authorize == nil {
		return
	}
	cfg, err := ca.ConfigOf(p.Settings)
	if err != nil {
		t.Fatal(err)
	}
	authority, err := ca.Setup(t.Context(), cfg, ca.SetupOptions{Intermediate: true})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"agent01.example.com", "revocable1795190639.example.com"} {
		if _, _, _, err := authority.Generate(t.Context(), ca.Leaf{Name: name, AltNames: []string{"DNS:" + name}}); err != nil {
			t.Fatal(err)
		}
	}
	routes := maps.Clone(p.Routes())
	for name := range routes {
		if strings.HasPrefix(name, "certificate") {
			routes[name] = indirector.Route{Primary: traces.Slot{{Terminus: "ca", Kind: traces.FromYou}}}
		}
	}
	routes["certificate_status"] = indirector.Route{Primary: traces.Slot{{Terminus: "file", Kind: traces.FromYou}}}
	p.SwapRoutes(routes, "authority")
	o.CA = ca.NewHandler(p.Indirector, ca.HandlerOptions{Client: o.Client, Authorize: o.Authorize})
}

// deploy is what the peers' stack does with the control repository.
func (p *peer) deploy(t testing.TB, name, overlay string) {
	t.Helper()
	target := filepath.Join(p.dir, "code/environments", name)
	for _, dir := range []string{"manifests", "site-modules", "data"} {
		if err := os.CopyFS(filepath.Join(target, dir), os.DirFS(filepath.Join(controlRepo, dir))); err != nil {
			t.Fatal(err)
		}
	}
	conf, err := os.ReadFile(filepath.Join(controlRepo, "environment.conf"))
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(target, "environment.conf"), string(conf))
	if overlay != "" {
		copyOver(t, filepath.Join(controlRepo, "overlays", overlay), target)
	}
	fill := func(size int, line string) string { return strings.Repeat(line+"\n", size/len(line)+1)[:size] }
	write(t, filepath.Join(target, "site-modules/bench/files/1k.txt"), fill(1024, "one kibibyte of text for measurements"))
	write(t, filepath.Join(target, "site-modules/bench/files/1m.bin"), fill(1<<20, "one mebibyte of text for measurements"))
	tree := filepath.Join(target, "site-modules/demo/files/tree")
	write(t, filepath.Join(tree, "name with spaces.txt"), "the name has spaces\n")
	write(t, filepath.Join(tree, "sub/accent-é.txt"), "the name is not ASCII\n")
	write(t, filepath.Join(target, ".code_id"), "a8273359c5b34aea1b9ab8aec04c2d7b692a9956\n")
}

func copyOver(t testing.TB, from, to string) {
	t.Helper()
	err := filepath.WalkDir(from, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(from, path)
		if err != nil {
			return err
		}
		write(t, filepath.Join(to, rel), string(b))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func write(t testing.TB, path, text string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// A capture is one request and what Puppet Server answered.
type capture struct {
	name, as, line string
	header         http.Header
	sent           []byte
	answer         answer
}

type answer struct {
	status int
	header http.Header
	body   []byte
}

func readCaptures(t testing.TB) []capture {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(captures, "*.http"))
	if err != nil || len(names) != 173 {
		t.Fatalf("got %d captures, %v", len(names), err)
	}
	all := make([]capture, len(names))
	for i, name := range names {
		all[i] = readCapture(t, strings.TrimSuffix(name, ".http"))
	}
	return all
}

func readCapture(t testing.TB, base string) capture {
	t.Helper()
	text, err := os.ReadFile(base + ".http")
	if err != nil {
		t.Fatal(err)
	}
	c := capture{name: filepath.Base(base)}
	request, response, _ := strings.Cut(strings.ReplaceAll(string(text), "\r", ""), "\n\n")
	lines := strings.Split(request, "\n")
	c.as = strings.TrimPrefix(lines[0], "# as: ")
	c.line = strings.TrimSuffix(lines[1], " HTTP/1.1")
	c.header = headers(lines[2:])
	lines = strings.Split(strings.TrimSpace(response), "\n")
	if _, err := fmt.Sscanf(lines[0], "HTTP/1.1 %d", &c.answer.status); err != nil {
		t.Fatalf("%s: %q: %v", c.name, lines[0], err)
	}
	c.answer.header = headers(lines[1:])
	c.sent = optional(t, base+".sent")
	c.answer.body = plain(t, c.answer.header, optional(t, base+".body"))
	return c
}

func headers(lines []string) http.Header {
	h := make(http.Header)
	for _, line := range lines {
		if name, value, ok := strings.Cut(line, ": "); ok {
			h.Add(name, value)
		}
	}
	return h
}

func optional(t testing.TB, path string) []byte {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil && !os.IsNotExist(err) {
		t.Fatal(err)
	}
	return b
}

// plain is a body out of its content encoding.
func plain(t testing.TB, h http.Header, b []byte) []byte {
	t.Helper()
	if h.Get("Content-Encoding") != "gzip" {
		return b
	}
	z, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	b, err = io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// ask sends the very request, header for header.
func (p *peer) ask(t testing.TB, c capture) answer {
	t.Helper()
	conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", p.server.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s HTTP/1.1\r\nX-Test-As: %s\r\n", p.local(c.line), c.as)
	c.header.Del("Content-Length")
	if len(c.sent) > 0 || strings.HasPrefix(c.line, "P") {
		fmt.Fprintf(&b, "Content-Length: %d\r\n", len(c.sent))
	}
	if err := c.header.Write(&b); err != nil {
		t.Fatal(err)
	}
	b.WriteString("\r\n")
	b.Write(c.sent)
	if _, err := conn.Write(b.Bytes()); err != nil {
		t.Fatal(err)
	}
	method, _, _ := strings.Cut(c.line, " ")
	resp, err := http.ReadResponse(bufio.NewReader(conn), &http.Request{Method: method})
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatalf("%s: %v", c.name, err)
	}
	return answer{resp.StatusCode, resp.Header, plain(t, resp.Header, body)}
}

func (p *peer) local(s string) string { return strings.ReplaceAll(s, "/PEERS", p.dir) }

// mattering are the headers that are compared.
var mattering = []string{"Content-Type", "X-Puppet-Version", "Content-Encoding", "Cache-Control", "Vary", "Location", "Retry-After"}

// changing are the parts of bodies that depend on the moment, the machine or
// the user.
var changing = regexp.MustCompile(`\{[cm]time\}[-0-9: +]+|"(owner|group|version)":\d+|"(catalog_uuid|code_id)":"[^"]*"|bucket \d{10}|contents\t[-0-9]+ [:.0-9]+ \+0000`)

func (p *peer) same(a string) string {
	return changing.ReplaceAllStringFunc(strings.ReplaceAll(a, p.dir, "/PEERS"), func(s string) string {
		if name, _, ok := strings.Cut(s, `":`); ok {
			return name + `":""`
		}
		return ""
	})
}

// differences compares what is to be equal, in words.
func (p *peer) differences(c capture, got answer) []string {
	want := c.answer
	var all []string
	if want.status != got.status {
		all = append(all, fmt.Sprintf("status %d instead of %d", got.status, want.status))
	}
	for _, name := range mattering {
		if w, g := want.header.Get(name), got.header.Get(name); w != g {
			all = append(all, fmt.Sprintf("%s %q instead of %q", name, g, w))
		}
	}
	w, g := p.same(string(want.body)), p.same(string(got.body))
	if w == g || strings.HasPrefix(w, "-----BEGIN ") && slices.Equal(pemTypes(w), pemTypes(g)) {
		return all
	}
	if strings.Contains(w, `"catalog_uuid"`) {
		w, g = strings.ReplaceAll(w, "Class[main]", "Class[Main]"), strings.ReplaceAll(g, "Class[main]", "Class[Main]")
	}
	var jw, jg any
	if json.Unmarshal([]byte(w), &jw) == nil && json.Unmarshal([]byte(g), &jg) == nil {
		if strings.Contains(c.line, " /puppet-ca/") {
			jw, jg = shape(jw), shape(jg)
		}
		if reflect.DeepEqual(sorted(jw), sorted(jg)) {
			return all
		}
	}
	return append(all, fmt.Sprintf("body\n\t  %.600s\n\tinstead of\n\t  %.600s", g, w))
}

// shape is what remains of an answer of the authority when other certificates
// are in it: members and their kinds, of lists the first element.
func shape(v any) any {
	switch v := v.(type) {
	case map[string]any:
		m := make(map[string]any, len(v))
		for name, e := range v {
			name, _, _ = strings.Cut(name, ": ")
			m[name] = shape(e)
		}
		return m
	case []any:
		if len(v) > 0 {
			return []any{shape(v[0])}
		}
		return v
	}
	return fmt.Sprintf("%T", v)
}

// pemTypes are the kinds of blocks of a PEM text, in order.
func pemTypes(text string) []string {
	var types []string
	for rest := []byte(text); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return types
		}
		types = append(types, block.Type)
	}
}

// sorted puts lists of files into the order of their names: the order of
// Puppet's is that of the file system. Of catalogs, it makes the changes that
// Puppet makes when it reads one and writes it again: the name of a resource
// that is its title is left out, and the class main becomes Main.
func sorted(v any) any {
	if m, ok := v.(map[string]any); ok {
		resources, _ := m["resources"].([]any)
		for _, r := range resources {
			r := r.(map[string]any)
			p, _ := r["parameters"].(map[string]any)
			if r["title"] == "Main" || r["title"] == "main" && r["type"] == "Class" {
				r["title"] = "Main"
				delete(p, "name")
			}
			if p != nil && (p["name"] == r["title"] || len(p) == 0) {
				if delete(p, "name"); len(p) == 0 {
					delete(r, "parameters")
				}
			}
		}
	}
	l, ok := v.([]any)
	if !ok {
		return v
	}
	name := func(e any) string {
		m, _ := e.(map[string]any)
		s, _ := m["relative_path"].(string)
		return s
	}
	slices.SortStableFunc(l, func(a, b any) int { return cmp.Compare(name(a), name(b)) })
	return l
}

// deviations are the captures that are answered otherwise, and why.
var deviations = map[string]string{
	"015": jsonWords, "121": jsonWords,
	"027": "that server had no library for MessagePack; ours has it",
	"044": compiler, "045": compiler, "046": compiler, "047": compiler, "048": compiler, "049": compiler,
	"056": compiler, "057": compiler, "058": compiler, "060": compiler,
	"072": leak, "090": leak, "103": leak,
	"151": "tasks are Bolt's, and no indirection",
	"157": "Go sends no Content-Type where there is no content: status 304",
	"163": "the words of an exception of Java",
}

const (
	jsonWords = "the reader of JSON says where it is wrong; JRuby's says only before what"
	compiler  = "what the compiler says of facts and manifests; the catalog of this server is placed as a file"
	leak      = "the option :rest in this message is a variable of Puppet Server's router"
)

// TestCaptures repeats every captured request and compares the answers with
// Puppet Server's.
func TestCaptures(t *testing.T) {
	t.Parallel()
	if _, err := exec.LookPath("sh"); err != nil {
		t.Skip("the classifier of the captures is a shell script: ", err)
	}
	p := newPeer(t, nil)
	for _, c := range readCaptures(t) {
		p.prepare(t, c)
		got := p.differences(c, p.ask(t, c))
		why, known := deviations[c.name[:3]]
		switch {
		case len(got) > 0 && !known:
			t.Errorf("%s: %s\n\t%s", c.name, c.line, strings.Join(got, "\n\t"))
		case len(got) == 0 && known:
			t.Errorf("%s: is answered like Puppet Server's, but listed: %s", c.name, why)
		}
	}
	t.Logf("%d of 173 captures are answered otherwise", len(deviations))
}

// prepare puts the catalog in its place that the compiler would make.
func (p *peer) prepare(t testing.TB, c capture) {
	t.Helper()
	if c.header.Get("If-Modified-Since") != "" {
		c.header.Set("If-Modified-Since", time.Now().Add(24*time.Hour).UTC().Format(http.TimeFormat))
	}
	if !strings.Contains(c.line, "/puppet/v3/catalog/agent01") || c.answer.status != http.StatusOK {
		return
	}
	write(t, filepath.Join(p.dir, "puppetserver/var/server_data/catalog/agent01.example.com.json"), p.local(string(c.answer.body)))
}

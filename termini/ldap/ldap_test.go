package ldap_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	goldap "github.com/go-ldap/ldap/v3"
	"github.com/jimlambrt/gldap"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/indirector/network/client/clienttest"
	"indirtui/indirector/terminustest"
	"indirtui/termini"
	"indirtui/termini/ldap"
	"indirtui/traces"
)

// A directory answers searches by name, with the result of a name if there is one.
type directory struct {
	entries  map[string][]*recordedEntry
	results  map[string]int
	binds    atomic.Int32
	searches atomic.Int32
	bound    int // result of binds
}

func (d *directory) bind(w *gldap.ResponseWriter, r *gldap.Request) {
	d.binds.Add(1)
	_ = w.Write(r.NewBindResponse(gldap.WithResponseCode(d.bound)))
}

func (d *directory) search(w *gldap.ResponseWriter, r *gldap.Request) {
	d.searches.Add(1)
	m, err := r.GetSearchMessage()
	if err != nil {
		return
	}
	_, name, _ := strings.Cut(m.Filter, "cn=")
	if _, all, ok := strings.Cut(m.Filter, "(objectclass="); ok && name == "" {
		name = all // a search
	}
	name = strings.TrimRight(name, ")")
	switch d.results[name] {
	case never:
		return
	case endless:
		answer := r.NewSearchResponseEntry("cn=a,dc=example")
		answer.AddAttribute("jpegPhoto", []string{strings.Repeat("x", 1<<16)})
		for w.Write(answer) == nil {
		}
		return
	}
	for _, e := range d.entries[name] {
		answer := r.NewSearchResponseEntry(e.dn)
		for _, a := range e.attributes {
			answer.AddAttribute(a.name, a.values)
		}
		_ = w.Write(answer)
	}
	_ = w.Write(r.NewSearchDoneResponse(gldap.WithResponseCode(d.results[name])))
}

// Results that are none: no answer, and one without end.
const (
	never   = -1
	endless = -2
)

// node is an entry below dc=example: name=value, several with the same name are its
// values.
func node(dn string, pairs ...string) *recordedEntry {
	e := &recordedEntry{dn: dn}
	for _, p := range pairs {
		name, value, _ := strings.Cut(p, ":")
		if n := len(e.attributes); n > 0 && e.attributes[n-1].name == name {
			e.attributes[n-1].values = append(e.attributes[n-1].values, value)
			continue
		}
		e.attributes = append(e.attributes, recordedAttribute{name, []string{value}})
	}
	return e
}

// at returns the settings that lead to a server.
func at(port string) clienttest.Settings {
	return defaults.With("ldapserver", "127.0.0.1", "ldapport", port, "ldapbase", "dc=example")
}

// asked finds a node with a whole indirector, and returns the first line of the story.
func asked(t *testing.T, s clienttest.Settings, key string) (inst indirector.Instance, trace *traces.Trace, logs string, err error) {
	t.Helper()
	registry, err := indirector.NewRegistry(termini.Specs(), termini.All())
	if err != nil {
		t.Fatal(err)
	}
	var recorder terminustest.Recorder
	var log terminustest.Log
	x, err := indirector.New(indirector.Config{
		Registry: registry, Settings: s, Recorder: &recorder, Log: slog.New(&log),
		Routes: indirector.Routes{
			"node":  {Primary: traces.Slot{{Terminus: "ldap", Kind: traces.FromSetting}}},
			"facts": {Primary: traces.Slot{{Terminus: "memory", Kind: traces.FromSetting}}},
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	resp, err := x.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: key, Environment: "production"})
	if err == nil {
		inst = resp.Instance()
	}
	return inst, recorder.Last(), log.String(), err
}

// TestFirstLines has what Puppet does not: the cause comes first.
func TestFirstLines(t *testing.T) {
	ca, other := clienttest.New(t, "LDAP CA"), clienttest.New(t, "Other CA")
	leaf := ca.Issue(t, "localhost", clienttest.Local)
	files := t.TempDir()
	clienttest.WriteFile(t, filepath.Join(files, "ca"), ca.PEM())
	clienttest.WriteFile(t, filepath.Join(files, "other"), other.PEM())
	t.Setenv("LDAPNOINIT", "1")
	d := &directory{
		entries: map[string][]*recordedEntry{
			"twin":    {node("cn=twin,ou=a,dc=example"), node("cn=twin,ou=b,dc=example", "puppetClass:second")},
			"default": {node("cn=default,dc=example")},
			"parents": {node("cn=parents,dc=example", "parentNode:a", "parentNode:b")},
			"envs":    {node("cn=envs,dc=example", "environment:a", "environment:b")},
			"orphan":  {node("cn=orphan,dc=example", "parentNode:nowhere")},
			"round":   {node("cn=round,dc=example", "parentNode:round")},
			"cut":     {node("cn=x,dc=example"), node("cn=y,dc=example")},
			"bytes":   {node("cn=bytes,dc=example", "jpegPhoto:\xff\xd8")},
			`\2a`:     {node("cn=star,dc=example")},
		},
		results: map[string]int{"cut": goldap.LDAPResultSizeLimitExceeded, "gone": goldap.LDAPResultNoSuchObject, "dn": goldap.LDAPResultInvalidDNSyntax, "busy": goldap.LDAPResultBusy},
	}
	plain, secure := serve(t, d, "127.0.0.1", leaf, false), serve(t, d, "127.0.0.1", leaf, true)
	secure2 := serve(t, d, "127.0.0.2", leaf, true)
	refused := serve(t, &directory{bound: goldap.LDAPResultInvalidCredentials}, "127.0.0.1", nil, false)
	unwilling := serve(t, &directory{bound: goldap.LDAPResultUnwillingToPerform}, "127.0.0.1", nil, false)
	const dead = "1" // there is no listener
	const hides = " (Puppet says only: LDAP Search failed)"
	tests := []struct {
		name, key string
		settings  clienttest.Settings
		want      string
	}{
		{"LDAP-10 bind refused", "x", at(refused).With("ldapuser", "cn=x", "ldappassword", "hush"), "bind as cn=x refused: invalid credentials" + hides},
		{"LDAP-12 no password", "x", at(unwilling).With("ldapuser", "cn=x"), "bind as cn=x refused: server is unwilling to perform (ldappassword is empty)" + hides},
		{"LDAP-10 server down", "x", at(dead), "no connection to 127.0.0.1:" + dead + ": connection refused" + hides},
		{"LDAP-10 no such base", "gone", at(plain), `there is no entry ldapbase "dc=example" (test), or anonymous may not see it` + hides},
		{"LDAP-10 no DN", "dn", at(plain), `ldapbase "dc=example" (test) is no DN` + hides},
		{"LDAP-10 no filter", "x", at(plain).With("ldapstring", "(&(cn=%s)"), `ldapstring "(&(cn=%s)" (test) is no filter: ldap: unexpected end of filter` + hides},
		{"LDAP-10 busy", "busy", at(plain), "search at 127.0.0.1:" + plain + " failed: server is busy" + hides},
		{"LDAP-05 two parents", "parents", at(plain), `Node entry cn=parents,dc=example specifies more than one parent: ["a", "b"]` + hides},
		{"LDAP-12 unknown CA", "twin", at(secure).With("ldapssl", "true", "localcacert", filepath.Join(files, "other")), "TLS with 127.0.0.1:" + secure + " failed: certificate signed by unknown authority; trusted is " + filepath.Join(files, "other") + " (localcacert)" + hides},
		{"LDAP-12 unknown CA, StartTLS", "twin", at(plain).With("ldaptls", "true", "localcacert", filepath.Join(files, "other")), "TLS with 127.0.0.1:" + plain + " failed: certificate signed by unknown authority; trusted is " + filepath.Join(files, "other") + " (localcacert)" + hides},
		{"LDAP-12 another name", "twin", at(secure2).With("ldapserver", "127.0.0.2", "ldapssl", "true", "localcacert", filepath.Join(files, "ca")), "TLS with 127.0.0.2:" + secure2 + " failed: certificate is valid for 127.0.0.1, not 127.0.0.2; trusted is " + filepath.Join(files, "ca") + " (localcacert)" + hides},
		{"LDAP-12 no TLS there", "twin", at(plain).With("ldapssl", "true", "localcacert", filepath.Join(files, "ca")), "TLS with 127.0.0.1:" + plain + " failed: the server does not speak TLS on this port (EOF)" + hides},
		{"LDAP-12 no CA", "twin", at(secure).With("ldapssl", "true", "localcacert", "/no/such"), "read the CAs of /no/such (localcacert): open /no/such: no such file or directory" + hides},
		{"LDAP-03 several entries", "twin", at(plain), "2 entries named twin: the last one won, cn=twin,ou=b,dc=example; not cn=twin,ou=a,dc=example"},
		{"LDAP-02 escaped", "*", at(plain), "'%s' was escaped: the key would have matched others"},
		{"LDAP-02 escaped brackets", "a(b", at(plain), "'%s' was escaped: the key would have changed the filter"},
		{"LDAP-11 size limit", "cut", at(plain), "server cut the answer off after 2: size limit"},
		{"LDAP-01 default", "other.example.com", at(plain), "no entry for other.example.com or other: default answered"},
		{"LDAP-08 a loop", "round", at(plain), "the parents of cn=round,dc=example go round: round, round"},
		{"LDAP-08 no parent", "orphan", at(plain), `cn=orphan,dc=example names the parent "nowhere", which (&(objectclass=puppetClient)(cn=nowhere)) does not find`},
		{"LDAP-09 two environments", "envs", at(plain), "node entry cn=envs,dc=example has 2 environments: a, b"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, trace, logs, err := asked(t, tt.settings, tt.key)
			if got := traces.Story(trace); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
			if strings.HasSuffix(tt.want, hides) != (err != nil && indirector.Message(err) == "LDAP Search failed") {
				t.Errorf("error: got %v", err)
			}
			if all := fmt.Sprintf("%+v %+v %s %v", *trace, err, logs, errors.Unwrap(err)); strings.Contains(all, "hush") {
				t.Errorf("the password is shown: %s", all)
			}
		})
	}
}

// TestBytes has a note that names the attribute that cannot be written as JSON.
func TestBytes(t *testing.T) {
	t.Parallel()
	d := &directory{entries: map[string][]*recordedEntry{"b": {node("cn=b,dc=example", "jpegPhoto:\xff\xd8")}}}
	_, trace, _, err := asked(t, at(serve(t, d, "127.0.0.1", nil, false)), "b")
	if want := `[not UTF-8 in "cn=b,dc=example": jpegphoto; the node cannot be written as JSON]`; err != nil || fmt.Sprint(trace.Notes) != want {
		t.Errorf("got %v, %v, want %s", trace.Notes, err, want)
	}
}

// TestOrigins shows where each class and parameter came from.
func TestOrigins(t *testing.T) {
	t.Parallel()
	d := &directory{entries: map[string][]*recordedEntry{
		"c": {node("cn=c,dc=example", "puppetClass:own", "parentNode:p", "puppetVar:role=child", "puppetVar:l=x", "puppetVar:environment=e", "l:floor")},
		"p": {node("cn=p,dc=example", "puppetClass:base", "puppetClass:own", "environment:staging", "puppetVar:role=base", "puppetVar:top=yes", "l:cellar")},
	}}
	_, trace, _, err := asked(t, at(serve(t, d, "127.0.0.1", nil, false)), "c")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, s := range trace.Spans {
		if s.Kind != traces.Note {
			continue
		}
		got = append(got, s.Name+": "+s.Answer)
		for _, a := range s.Attrs {
			got = append(got, a.Key+": "+a.Value)
		}
	}
	want := `node from cn=c,dc=example: 2 classes, 7 parameters, 0 facts
environment: staging, from cn=p,dc=example
class own: own
class base: parent 1 (p)
lost class own: parent 1 (p), displaced by own
parameter puppetclass: own
parameter parentnode: own
parameter puppetvar: own
parameter l: own
parameter dn: own
parameter role: stacked puppetvar
parameter top: parent 1 (p) stacked puppetvar
lost l: stacked puppetvar, displaced by own
lost environment: stacked puppetvar, displaced by the environment of the node
lost puppetclass: parent 1 (p), displaced by own
lost puppetvar: parent 1 (p), displaced by own
lost l: parent 1 (p), displaced by own
lost dn: parent 1 (p), displaced by own
lost role: parent 1 (p) stacked puppetvar, displaced by stacked puppetvar`
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
}

// TestMany has 10 000 values, and hostile names.
func TestMany(t *testing.T) {
	t.Parallel()
	many := &recordedEntry{dn: "cn=many,dc=example", attributes: []recordedAttribute{{"puppetClass", nil}}}
	for i := range 10_000 {
		many.attributes[0].values = append(many.attributes[0].values, fmt.Sprintf("class%d", i))
	}
	d := &directory{entries: map[string][]*recordedEntry{
		"many": {many}, "dn": {node("cn=a\\2cb\x00\xff=,dc=example", "a=b:c", ":empty", "puppetVar:=x", "puppetVar:")},
	}}
	port := serve(t, d, "127.0.0.1", nil, false)
	inst, _, _, err := asked(t, at(port), "many")
	if err != nil || len(inst.(*model.Node).ClassNames()) != 10_000 {
		t.Errorf("got %v", err)
	}
	if _, _, _, err = asked(t, at(port), "dn"); err != nil {
		t.Errorf("a hostile DN: %v", err)
	}
}

// A relay stands between a client and a server, and can cut connections.
type relay struct {
	listener net.Listener
	mu       sync.Mutex // guards conns
	conns    []net.Conn
	ended    sync.WaitGroup
}

// newRelay starts a relay, which ends with the test, and returns its port.
func newRelay(t testing.TB, to string) (*relay, string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{listener: l}
	r.ended.Go(func() {
		for {
			in, err := l.Accept()
			if err != nil {
				return
			}
			out, err := net.Dial("tcp", to)
			if err != nil {
				in.Close()
				continue
			}
			r.mu.Lock()
			r.conns = append(r.conns, in, out)
			r.mu.Unlock()
			for _, way := range [][2]net.Conn{{in, out}, {out, in}} {
				r.ended.Go(func() {
					_, _ = io.Copy(way[0], way[1])
					way[0].Close()
				})
			}
		}
	})
	t.Cleanup(func() {
		l.Close()
		r.cut()
		r.ended.Wait()
	})
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return r, port
}

func (r *relay) cut() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range r.conns {
		c.Close()
	}
	r.conns = nil
}

// TestIdle keeps one connection, and asks again, once, when the server has closed it.
func TestIdle(t *testing.T) {
	t.Parallel()
	d := &directory{entries: map[string][]*recordedEntry{"a": {node("cn=a,dc=example")}}}
	r, port := newRelay(t, "127.0.0.1:"+serve(t, d, "127.0.0.1", nil, false))
	var logs terminustest.Log
	terminus := open(t, at(port), &logs, nothing).(*ldap.Terminus)
	for i, want := range []string{"", "", "warning Retrying LDAP connection", ""} {
		if i == 2 {
			r.cut()
		}
		_, err := terminus.Find(t.Context(), &indirector.Request{Key: "a"})
		if got := logs.String(); err != nil || got != want {
			t.Errorf("find %d: got %q, %v, want %q", i, got, err, want)
		}
		logs.Take()
	}
	if n := d.binds.Load(); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

// TestUnderLoad cuts connections while many ask: each either has the node or Puppet's
// error, and once all is well again, so is every find.
func TestUnderLoad(t *testing.T) {
	t.Parallel()
	d := &directory{entries: map[string][]*recordedEntry{"a": {node("cn=a,dc=example", "parentNode:b")}, "b": {node("cn=b,dc=example")}}}
	r, port := newRelay(t, "127.0.0.1:"+serve(t, d, "127.0.0.1", nil, false))
	var logs terminustest.Log
	terminus := open(t, at(port), &logs, nothing).(*ldap.Terminus)
	find := func() error {
		_, err := terminus.Find(t.Context(), &indirector.Request{Key: "a"})
		return err
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 50 {
				if err := find(); err != nil && indirector.Message(err) != "LDAP Search failed" {
					t.Error(err)
				}
			}
		})
	}
	for range 20 {
		for enough := d.searches.Load() + 3; d.searches.Load() < enough; {
			if err := find(); err != nil && indirector.Message(err) != "LDAP Search failed" {
				t.Error(err)
			}
		}
		r.cut()
	}
	all.Wait()
	if err := find(); err != nil {
		t.Error(err)
	}
}

// TestCancelled gives up when the caller does, also while a server is silent.
func TestCancelled(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		if c, err := l.Accept(); err == nil {
			cancel() // connected, and not answered
			defer c.Close()
			_, _ = io.Copy(io.Discard, c)
		}
	}()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	var logs terminustest.Log
	_, err = open(t, at(port), &logs, nothing).(*ldap.Terminus).Find(ctx, &indirector.Request{Key: "a"})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

// TestSilent ends what takes too long, and names the setting that has the limit.
func TestSilent(t *testing.T) {
	t.Parallel()
	const hides = " took longer than 1s (ldap_timeout) (Puppet says only: LDAP Search failed)"
	t.Run("connection", func(t *testing.T) {
		t.Parallel()
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, port, _ := net.SplitHostPort(l.Addr().String())
		_, trace, _, err := asked(t, at(port).With("ldap_timeout", "1s"), "a")
		if got, want := traces.Story(trace), "the connection to 127.0.0.1:"+port+hides; err == nil || got != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	})
	t.Run("search", func(t *testing.T) {
		t.Parallel()
		d := &directory{results: map[string]int{"a": never}}
		port := serve(t, d, "127.0.0.1", nil, false)
		_, trace, _, err := asked(t, at(port).With("ldap_timeout", "1s"), "a")
		if got, want := traces.Story(trace), "127.0.0.1:"+port+hides; err == nil || got != want {
			t.Errorf("got %s, %v\nwant %s", got, err, want)
		}
	})
}

// TestTooLarge ends an answer that never ends.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	d := &directory{results: map[string]int{"a": endless}}
	port := serve(t, d, "127.0.0.1", nil, false)
	_, trace, _, err := asked(t, at(port).With("ldap_max_answer", "2"), "a")
	want := "the answer of 127.0.0.1:" + port + " has more than 2 MiB (ldap_max_answer) (Puppet says only: LDAP Search failed)"
	if got := traces.Story(trace); err == nil || got != want {
		t.Errorf("got %s, %v\nwant %s", got, err, want)
	}
}

// TestSettings refuses limits that are none, and names the setting.
func TestSettings(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, value, want string }{
		{"ldap_timeout", "soon", "setting ldap_timeout (test): "},
		{"ldap_max_answer", "0", `setting ldap_max_answer (test): "0" is no number of MiB`},
		{"ldap_max_answer", "-1", `setting ldap_max_answer (test): "-1" is no number of MiB`},
	} {
		_, err := ldap.Node.New(indirector.Env{Settings: defaults.With(tt.name, tt.value)})
		if err == nil || !strings.HasPrefix(err.Error(), tt.want) {
			t.Errorf("%s: got %v, want %s", tt.name, err, tt.want)
		}
	}
}

func nothing(context.Context, *indirector.Request) (indirector.Response, error) {
	return indirector.Response{}, indirector.ErrNotFound
}

package demo_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/host/child"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/leaktest"
	"indirtui/traces/query"
	"indirtui/ui/demo"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// start begins a demo below the directory of the test.
func start(t testing.TB) (*demo.Site, *engine.Engine) {
	t.Helper()
	site, err := demo.Start(demo.Options{Dir: filepath.Join(t.TempDir(), "site")})
	if err != nil {
		t.Fatal(err)
	}
	e, err := engine.New(site.Options(engine.Options{Specs: termini.Specs(), Termini: termini.All()}))
	if err != nil {
		t.Fatal(errors.Join(err, site.Close()))
	}
	return site, e
}

func TestThereIsSomethingToFind(t *testing.T) {
	t.Parallel()
	site, e := start(t)
	if err := errors.Join(site.Play(t.Context(), e), e.Store.Flush()); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		filter string
		want   int
		story  string // of the newest
	}{
		{"", 1047, "cached facts, good for 30 more minutes; facter was not run"},
		{"out=stale", 8, "so the cached catalog (91 min old) was used"},
		{"out=err ind=catalog key=web01*", 8, "the server failed: Error 500: Unknown variable 'role', site.pp line 12"},
		{"step.caller.because=rescued*", 10, ""},
		{"out=err~ ind=facts key=db07*", 1, "the cache (json) could not be read, and Puppet goes on without it; facter answered: the cached facts are no JSON: cut off at byte 227"},
		{"out=err ind=catalog key=db07*", 1, "Could not find node 'db07.example.com'; cannot compile"},
		{"out=nil! ind=node key=db07*", 1, "printed nothing"},
		{"out=err ind=node terminus=yml", 1, "yml"},
		{"ind=facts verb=save out=ok terminus=puppetdb", 1, "PuppetDB stored it"},
		{"ind=facts verb=find key=app03* out=ok", 1, "the cached facts expired 14 min ago (kept 30 min), so facter was asked"},
		{"verb=search ind=facts", 1, ""},
		{"ind=facts verb=save terminus=sqlite", 2, "ignored as older: stored is "},
		{"ind=facts verb=find terminus=sqlite", 1, "these facts are 35 min old: what came later was ignored as older: stored is "},
		{"ind=catalog terminus=compiler", 1, "collected 2 resources of a01.example.com, stored 31 min ago"},
		{"ind=node terminus=ldap", 1, "2 entries named b02: the last one won, cn=b02,ou=fra2,dc=example,dc=com; not cn=b02,ou=ams1,dc=example,dc=com"},
		{"verb=search ind=resource", 2, "c03.example.com exports 2 that would fit, but it is deactivated since "},
		{"out=err verb=save ind=catalog", 1, "PuppetDB refuses tags with capital letters: Host[d04.example.com] has 'Cluster'"},
		{"verb=destroy", 1, "c03.example.com is deactivated"},
		{"out=part ind=report", 1, "terminus processor stored it, but the cache (yaml) failed: last_run_report.yaml is a directory"},
		{"out=err~ ind=report", 1, "the report processor http got error 500: database is locked, and the caller does not learn of it"},
		{"failed", 8 + 8 + 1 + 1 + 1 + 1 + 1 + 1 + 1 + 1, ""},
	} {
		t.Run(tt.filter, func(t *testing.T) {
			x, err := query.Parse(tt.filter)
			if err != nil {
				t.Fatal(err)
			}
			v := e.Store.View(x)
			for !v.Extend(0) {
			}
			if v.Len() != tt.want {
				t.Fatalf("got %d requests, want %d", v.Len(), tt.want)
			}
			tr, err := e.Store.Trace(v.At(v.Len() - 1))
			if err != nil {
				t.Fatal(err)
			}
			if got := traces.Story(tr); !strings.Contains(got, tt.story) {
				t.Errorf("got %q, want %q", got, tt.story)
			}
		})
	}
	if err := errors.Join(e.Close(), site.Close()); err != nil {
		t.Fatal(err)
	}
}

// Nothing is recorded: there are files, and there is a server.
func TestItIsLive(t *testing.T) {
	t.Parallel()
	site, e := start(t)
	for _, name := range []string{"conf/puppet.conf", "conf/routes.yaml", "bin/enc", "bin/facter", "var/client_data/facts/db07.example.com.json", "var/client_data/catalog/web01.example.com.json"} {
		if info, err := os.Stat(filepath.Join(site.Dir, name)); err != nil || info.Size() == 0 {
			t.Errorf("%s: got %v, %v", name, info, err)
		}
	}
	resp, err := http.Get(site.URL + "/catalog/web01.example.com")
	if err != nil {
		t.Fatal(err)
	}
	if err := resp.Body.Close(); err != nil || resp.StatusCode != http.StatusInternalServerError {
		t.Errorf("got status %d, %v, want 500", resp.StatusCode, err)
	}
	http.DefaultClient.CloseIdleConnections()
	// When the classifier is mended, the next run changes.
	enc := "#!/bin/sh\necho 'classes: [profile::db]'\n"
	if err := child.WriteFile(filepath.Join(site.Dir, "bin", "enc"), []byte(enc), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(site.Play(t.Context(), e), e.Store.Flush()); err != nil {
		t.Fatal(err)
	}
	if n := e.Store.Stats().By[traces.NilHidden]; n != 0 {
		t.Errorf("got %d hidden nils with a classifier that knows db07, want none", n)
	}
	if err := errors.Join(e.Close(), site.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get(site.URL); err == nil {
		t.Error("the web server still answers")
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	for _, played := range []bool{false, true} {
		site, err := demo.Start(demo.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if rel, err := filepath.Rel(dir, site.Dir); err != nil || !filepath.IsLocal(rel) {
			t.Fatalf("the demo is in %s, want it below %s", site.Dir, dir)
		}
		e, err := engine.New(site.Options(engine.Options{Specs: termini.Specs(), Termini: termini.All()}))
		if err != nil {
			t.Fatal(err)
		}
		if played {
			if err := site.Play(t.Context(), e); err != nil {
				t.Fatal(err)
			}
		}
		if err := errors.Join(e.Close(), site.Close()); err != nil {
			t.Fatal(err)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

func TestPlayEndsWithItsContext(t *testing.T) {
	t.Parallel()
	site, e := start(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := site.Play(ctx, e); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	if n := e.Store.Stats().Total; n > 1 {
		t.Errorf("got %d requests after the end, want at most one", n)
	}
	if err := errors.Join(e.Close(), site.Close()); err != nil {
		t.Fatal(err)
	}
}

func TestDirectoryThatIsTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if site, err := demo.Start(demo.Options{Dir: dir}); err == nil {
		t.Fatal(errors.Join(errors.New("the demo moved into a directory that was there"), site.Close()))
	}
	if _, err := os.Stat(dir); err != nil {
		t.Errorf("it was taken away: %v", err)
	}
}

// BenchmarkPlay is the whole demo, from laying out its files to taking them
// away. It is to take less than two seconds.
func BenchmarkPlay(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		site, err := demo.Start(demo.Options{})
		if err != nil {
			b.Fatal(err)
		}
		e, err := engine.New(site.Options(engine.Options{Specs: termini.Specs(), Termini: termini.All()}))
		if err != nil {
			b.Fatal(err)
		}
		if err := errors.Join(site.Play(b.Context(), e), e.Close(), site.Close()); err != nil {
			b.Fatal(err)
		}
	}
}

// What is no LDAP ends its connection, and nothing else.
func TestDirectoryIsHostile(t *testing.T) {
	t.Parallel()
	site, e := start(t)
	port, _ := e.Settings.Get("ldapport")
	for _, text := range []string{"GET / HTTP/1.0\r\n\r\n", "\x30\x84\xff\xff\xff\xff", "\x30\x05\x02\x01\x01\x63\x00", "\x30\x0c\x02\x01\x01\x63\x07\x04\x00\x04\x00\x04\x00\x04", "\x30\x00", ""} {
		c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write([]byte(text)); err != nil {
			t.Error(err)
		}
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	open, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", port))
	if err != nil {
		t.Fatal(err)
	}
	defer open.Close()
	resp, err := e.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "b02", Terminus: "ldap"})
	if err != nil || resp.Instance() == nil {
		t.Errorf("got %v, %v", resp, err)
	}
	if err := errors.Join(e.Close(), site.Close()); err != nil { // also with a connection that is open
		t.Fatal(err)
	}
}

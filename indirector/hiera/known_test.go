package hiera_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
	"indirtui/traces"
)

// A sight is all that is seen of one lookup.
type sight struct {
	Value, Sentence, Origin, Err string
	Spans                        []traces.Span
	known                        bool
}

// find looks a key up, as a request does.
func find(t *testing.T, c *hiera.Compile, key string, merge data.Value, originOnly bool) sight {
	t.Helper()
	now := time.Unix(1, 0)
	live := &traces.Live{Context: context.Background(), Trace: &traces.Trace{Start: now}, Step: traces.Terminus, Now: func() time.Time { return now }}
	r := &hiera.Record{OriginOnly: originOnly}
	a, err := c.Find(live, key, hiera.Query{Merge: merge, Record: r})
	s := sight{Spans: live.Trace.Completed().Spans}
	if err != nil {
		s.Err = err.Error()
		return s
	}
	s.Value, s.Sentence, s.Origin = "none", a.Sentence, fmt.Sprint(r.Origin(0))
	if a.Found {
		s.Value = a.Value.Inspect()
	}
	s.known = r.Text() == "" && !r.Empty()
	return s
}

// What is known of a lookup looks as if it had been made again, whatever the recorded
// hierarchies have. Rule HIERA-TRACE-02.
func TestGoldenKnown(t *testing.T) {
	t.Parallel()
	known := 0
	for _, dir := range sites(t) {
		s := openSite(t, dir)
		compiles := []*hiera.Compile{s.compile(), s.compile(), s.compile()}
		for _, l := range s.lookups {
			q := queryOf(l)
			for _, key := range q.Keys {
				want := find(t, compiles[0], key, q.Merge, false)
				for i, c := range compiles[1:] {
					got := find(t, c, key, q.Merge, true)
					if got.known {
						known++
					}
					got.known = false
					if d := cmp.Diff(want, got, cmp.AllowUnexported(sight{})); d != "" {
						t.Errorf("%s: %s, time %d (-whole +known): %s", filepath.Base(dir), key, i+1, d)
					}
				}
			}
		}
	}
	if known < 20 {
		t.Errorf("%d lookups were known, want more: the test compares nothing", known)
	}
}

// Nodes that see the same files share what is known, each with its own paths; and nothing is
// known of what has changed.
func TestKnown(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"hiera.yaml":         "version: 5\nhierarchy:\n  - {name: node, paths: ['%{trusted.certname}.yaml', '%{role}-more.yaml']}\n  - {name: common, path: common.yaml}\n",
		"data/common.yaml":   "k: 1\nwho: '%{trusted.certname}'\nlookup_options: {m: {merge: unique}, n: {convert_to: String}}\nm: [1]\nn: 5\n",
		"data/own.yaml":      "k: 2\n",
		"data/web-more.yaml": "k: 3\n",
	})
	cache := hiera.NewCache()
	compile := func(certname, role string) *hiera.Compile {
		trusted := data.OfHash([]data.Pair{data.P("certname", data.OfString(certname))})
		return hiera.New(hiera.Options{
			EnvironmentDir: dir, GlobalConfig: filepath.Join(dir, "none", "hiera.yaml"), Cache: cache,
			Scope: hiera.Variables{"trusted": trusted, "role": data.OfString(role)},
		})
	}
	first := find(t, compile("a", "db"), "k", data.Value{}, true) // which also reads the options
	again := find(t, compile("a", "db"), "k", data.Value{}, true)
	if first.known || !again.known || !cmp.Equal(first.Spans, again.Spans) {
		t.Errorf("the first lookup of a compile is known: %v, that of the next one: %v, which should differ in nothing: %s", first.known, again.known, cmp.Diff(first.Spans, again.Spans))
	}
	c := compile("b", "db")
	find(t, c, "k", data.Value{}, true)
	if got := find(t, c, "n", data.Value{}, true); got.Value != `"5"` {
		t.Errorf("with options that another compile has collected: got %s, want them to convert it", got.Value)
	}
	for _, tt := range []struct {
		name, certname, role, key string
		value                     string
		known                     bool
	}{
		{"the first one of a key", "a", "db", "k", "1", false},
		{"the same node", "a", "db", "k", "1", true},
		{"another node", "b", "db", "k", "1", true},
		{"a node with a file", "own", "db", "k", "2", false},
		{"a role with a file", "b", "web", "k", "3", false},
		{"an expression", "a", "db", "who", `"a"`, false},
		{"an expression of another node", "b", "db", "who", `"b"`, false},
		{"a merge", "a", "db", "m", "[1]", false},
		{"a merge again", "b", "db", "m", "[1]", true},
		{"a conversion", "a", "db", "n", `"5"`, false},
		{"a conversion again", "a", "db", "n", `"5"`, false},
		{"none", "a", "db", "x", "none", false},
		{"none again", "b", "db", "x", "none", true},
	} {
		c := compile(tt.certname, tt.role)
		find(t, c, "other", data.Value{}, true) // the first lookup of a compile reads the options
		got := find(t, c, tt.key, data.Value{}, true)
		if got.Value != tt.value || got.known != tt.known {
			t.Errorf("%s: got %s, known: %v, want %s, %v", tt.name, got.Value, got.known, tt.value, tt.known)
		}
		var paths []string
		for _, s := range got.Spans {
			if strings.HasPrefix(s.Name, "look in ") {
				paths = append(paths, filepath.Base(s.Name))
			}
		}
		if len(paths) == 0 || paths[0] != tt.certname+".yaml" {
			t.Errorf("%s: it looked in %q, want the file of %s first", tt.name, paths, tt.certname)
		}
	}
	later := time.Now().Add(time.Hour)
	write(t, dir, map[string]string{"data/common.yaml": "k: 9\n"})
	if err := os.Chtimes(filepath.Join(dir, "data/common.yaml"), later, later); err != nil {
		t.Fatal(err)
	}
	c = compile("a", "db")
	find(t, c, "other", data.Value{}, true)
	if got := find(t, c, "k", data.Value{}, true); got.Value != "9" || got.known {
		t.Errorf("after a change: got %s, known: %v, want 9", got.Value, got.known)
	}
}

// A compile whose variables change sees other files from then on.
func TestKnownVariables(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"hiera.yaml":     "version: 5\nhierarchy:\n  - {name: role, path: '%{role}.yaml'}\n  - {name: os, path: '%{os.family}.yaml'}\n",
		"data/web.yaml":  "k: web\n",
		"data/db.yaml":   "k: db\n",
		"data/Suse.yaml": "j: suse\n",
	})
	scope := hiera.Variables{"role": data.OfString("web")}
	c := hiera.New(hiera.Options{EnvironmentDir: dir, GlobalConfig: filepath.Join(dir, "none", "hiera.yaml"), Scope: scope})
	for _, tt := range []struct{ role, os, k, j string }{
		{"web", "", `"web"`, "none"}, {"web", "", `"web"`, "none"}, {"db", "", `"db"`, "none"}, {"web", "Suse", `"web"`, `"suse"`}, {"web", "", `"web"`, "none"},
	} {
		scope["role"] = data.OfString(tt.role)
		scope["os"] = data.OfHash([]data.Pair{data.P("family", data.OfString(tt.os))})
		for key, want := range map[string]string{"k": tt.k, "j": tt.j} {
			if got := find(t, c, key, data.Value{}, true); got.Value != want {
				t.Errorf("%+v: got %s of %s, want %s", tt, got.Value, key, want)
			}
		}
	}
}

// Compiles share what is known while they run at once.
func TestKnownAtOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"hiera.yaml":       "version: 5\nhierarchy: [{name: node, path: '%{certname}.yaml'}, {name: common, path: common.yaml}]\n",
		"data/common.yaml": "k0: 0\nk1: 1\nk2: 2\n", "data/n1.yaml": "k1: one\n",
	})
	cache := hiera.NewCache()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for range 20 {
				c := hiera.New(hiera.Options{
					EnvironmentDir: dir, GlobalConfig: filepath.Join(dir, "none", "hiera.yaml"), Cache: cache,
					Scope: hiera.Variables{"certname": data.OfString(fmt.Sprint("n", i%3))},
				})
				for k := range 3 {
					want := strconv.Itoa(k)
					if k == 1 && i%3 == 1 {
						want = `"one"`
					}
					got := find(t, c, fmt.Sprint("k", k), data.Value{}, true)
					if path := fmt.Sprintf("look in %s/data/n%d.yaml", dir, i%3); got.Value != want || !slices.ContainsFunc(got.Spans, func(s traces.Span) bool { return s.Name == path }) {
						t.Errorf("n%d: got %s of k%d, want %s and a look into %s", i%3, got.Value, k, want, path)
					}
				}
			}
		})
	}
	all.Wait()
}

// What is known is bounded.
func TestKnownIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"hiera.yaml": plainConfig, "data/a.yaml": "k: 1\n"})
	c := hiera.New(hiera.Options{EnvironmentDir: dir, GlobalConfig: filepath.Join(dir, "none", "hiera.yaml")})
	most := 0
	for i := range 12_000 {
		find(t, c, fmt.Sprint("k", i), data.Value{}, true)
		most = max(most, hiera.Known(c))
	}
	if most == 0 || most > 20_000 {
		t.Errorf("up to %d spans are kept, want at most 20000", most)
	}
}

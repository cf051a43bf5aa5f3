package flatfile_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/model"
	"indirtui/termini"
	"indirtui/traces"
)

// Gap L6: with the strict mode a node in a file cache expires, and its file is
// the same to the byte.
func TestClosureL6Sidecar(t *testing.T) {
	t.Parallel()
	for _, terminus := range []string{"yaml", "json", "msgpack"} {
		bytes := map[bool]string{}
		for _, strict := range []bool{false, true} {
			dir := t.TempDir()
			settings := map[string]string{"clientyamldir": dir, "client_datadir": dir, "runinterval": "1800", "expiry_sidecar": map[bool]string{true: "true"}[strict]}
			now := time.Date(2024, 5, 6, 7, 8, 9, 0, time.UTC)
			x := cachedNodes(t, terminus, settings, func() time.Time { return now })
			find := func() traces.Served {
				t.Helper()
				resp, err := x.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "n1"})
				if err != nil {
					t.Fatal(err)
				}
				return resp.Served
			}
			find()
			now = now.Add(10 * time.Minute)
			if got := find(); got != traces.ByCache {
				t.Errorf("%s strict %v: fresh entry: served by %v", terminus, strict, got)
			}
			path := filepath.Join(dir, "node", "n1."+terminus)
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			bytes[strict] = string(b)
			now = now.Add(time.Hour)
			if got := find(); (got == traces.ByTerminus) != strict {
				t.Errorf("%s strict %v: outdated entry: served by %v", terminus, strict, got)
			}
			if _, err := x.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Expire, Key: "n1"}); err != nil {
				t.Fatal(err)
			}
			if got := find(); (got == traces.ByTerminus) != strict {
				t.Errorf("%s strict %v: after expire: served by %v", terminus, strict, got)
			}
			if _, err := x.Do(t.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Destroy, Key: "n1", Terminus: terminus, Cache: indirector.Off}); err != nil {
				t.Fatal(err)
			}
			left, err := os.ReadDir(filepath.Join(dir, "node"))
			if err != nil || len(left) != 0 {
				t.Errorf("%s strict %v: destroy left %v, %v", terminus, strict, left, err)
			}
		}
		if bytes[false] != bytes[true] {
			t.Errorf("%s: the file differs:\n%q\n%q", terminus, bytes[false], bytes[true])
		}
	}
}

// cachedNodes returns an Indirector that finds every node, behind a cache in
// files.
func cachedNodes(t *testing.T, cache string, settings settingsMap, now func() time.Time) *indirector.Indirector {
	t.Helper()
	every := indirector.Descriptor{
		Indirection: "node", Name: "every", Type: everyNode{},
		New: func(indirector.Env) (indirector.Terminus, error) { return everyNode{}, nil },
	}
	reg, err := indirector.NewRegistry(termini.Specs(), append(termini.All(), every))
	if err != nil {
		t.Fatal(err)
	}
	x, err := indirector.New(indirector.Config{
		Registry: reg, Settings: settings, Now: now,
		Routes: indirector.Routes{"node": {
			Primary: traces.Slot{{Terminus: "every", Kind: traces.FromYou}},
			Cache:   traces.Slot{{Terminus: cache, Kind: traces.FromYou}},
		}},
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = x.Close() })
	return x
}

type settingsMap map[string]string

func (s settingsMap) Get(name string) (value, source string) { return s[name], "test" }

type everyNode struct{}

func (everyNode) Find(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
	return &model.Node{Name: r.Key, Environment: "production"}, nil
}

package hiera_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/hiera"
)

// write lays out files below a directory, by their paths.
func write(tb testing.TB, dir string, files map[string]string) {
	tb.Helper()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			tb.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			tb.Fatal(err)
		}
	}
}

// fiveLevels is an environment of five levels, whose last has a thousand keys.
func fiveLevels(tb testing.TB) *hiera.Compile {
	tb.Helper()
	dir := tb.TempDir()
	var common strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&common, "p::k%d: value %d\n", i, i)
	}
	write(tb, dir, map[string]string{
		"hiera.yaml": `version: 5
hierarchy:
  - {name: node, path: "nodes/%{trusted.certname}.yaml"}
  - {name: role, path: "role/%{facts.role}.yaml"}
  - {name: os, path: "os/%{facts.os.family}.yaml"}
  - {name: site, path: site.yaml}
  - {name: common, path: common.yaml}
`,
		"data/nodes/n.yaml": "a: 1\n", "data/role/web.yaml": "b: 1\n", "data/os/Debian.yaml": "c: 1\n", "data/site.yaml": "d: 1\n",
		"data/common.yaml": common.String(),
	})
	facts := data.OfHash([]data.Pair{
		data.P("role", data.OfString("web")), data.P("os", data.OfHash([]data.Pair{data.P("family", data.OfString("Debian"))})),
	})
	return hiera.New(hiera.Options{
		EnvironmentDir: dir, GlobalConfig: filepath.Join(dir, "none", "hiera.yaml"),
		Scope: hiera.OfNode(facts, facts, hiera.LocalTrust(data.OfString("n")), "production"),
	})
}

// BenchmarkLookup finds a plain string in the last of five levels, recorded. Rule
// HIERA-PERF-02: 3 us.
func BenchmarkLookup(b *testing.B) {
	c := fiveLevels(b)
	record := new(hiera.Record)
	b.ReportAllocs()
	for b.Loop() {
		record.Reset()
		if r, err := c.Search("p::k500", hiera.Query{Record: record}); err != nil || !r.Found {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkLookupUnrecorded is BenchmarkLookup without a record.
func BenchmarkLookupUnrecorded(b *testing.B) {
	c := fiveLevels(b)
	b.ReportAllocs()
	for b.Loop() {
		if r, err := c.Search("p::k500", hiera.Query{}); err != nil || !r.Found {
			b.Fatal(r, err)
		}
	}
}

// BenchmarkParameters finds a thousand keys as class parameters are, recorded. Rule
// HIERA-PERF-02: 5 ms.
func BenchmarkParameters(b *testing.B) {
	c := fiveLevels(b)
	keys := make([]string, 1000)
	for i := range keys {
		keys[i] = fmt.Sprint("p::k", i)
	}
	record := new(hiera.Record)
	b.ReportAllocs()
	for b.Loop() {
		for _, k := range keys {
			record.Reset()
			if r, err := c.Search(k, hiera.Query{Record: record}); err != nil || !r.Found {
				b.Fatal(r, err)
			}
		}
	}
}

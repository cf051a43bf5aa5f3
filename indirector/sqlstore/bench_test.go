//go:build unix

package sqlstore_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/puppetdb/command"
	"indirtui/indirector/sqlstore"
	"indirtui/indirector/sqlstore/storetest"
)

// What the figures of PuppetDB were taken with.
const (
	benchResources = 500
	benchExported  = 10
	benchEdges     = 585
	benchFacts     = 135
)

// benchNodes is how many nodes are stored: INDIRTUI_STORES_NODES, else as many as with
// PuppetDB.
func benchNodes() int {
	if n, err := strconv.Atoi(os.Getenv("INDIRTUI_STORES_NODES")); err == nil {
		return n
	}
	return 200
}

// cpu is what this process has used. PostgreSQL's share is not in it.
func cpu(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// measured runs op, and reports the time of the processor, too. What prepare does is not
// counted.
func measured[T any](b *testing.B, prepare func(i int) T, op func(T)) {
	b.Helper()
	b.ReportAllocs()
	var used time.Duration
	i := 0
	for b.Loop() {
		b.StopTimer()
		x := prepare(i)
		i++
		b.StartTimer()
		before := cpu(b)
		op(x)
		used += cpu(b) - before
	}
	b.ReportMetric(float64(used.Microseconds())/1000/float64(i), "cpu-ms/op")
}

// benchCatalog is a catalog like that of a site: files with long parameters, exported
// resources with tags.
func benchCatalog(node, changed int, seconds float64) *command.Command {
	certname := fmt.Sprintf("node%04d.example.com", node)
	resources := make([]data.Value, benchResources)
	ref := func(i int) data.Value {
		return hash(data.P("type", str("File")), data.P("title", str(fmt.Sprintf("/etc/app/conf.d/%03d.conf", i))))
	}
	for i := range resources {
		kind, content := "File", fmt.Sprintf("content of %d on %s\n", i, certname)
		if i%2 == 0 {
			content = fmt.Sprintf("the same everywhere: %d\n", i)
		}
		if i < changed {
			content += fmt.Sprint("changed at ", seconds)
		}
		resources[i] = hash(
			data.P("type", str(kind)), data.P("title", ref(i).Get("title")),
			data.P("tags", list(str("file"), str("node"), str("class"), str("app"), str("profile::app"), str("profile"), str("group"+fmt.Sprint(node%20)))),
			data.P("file", str("/etc/puppetlabs/code/environments/production/modules/app/manifests/init.pp")), data.P("line", data.OfInt(int64(i))),
			data.P("exported", data.OfBool(i >= benchResources-benchExported)),
			data.P("parameters", hash(data.P("ensure", str("file")), data.P("owner", str("root")), data.P("group", str("root")), data.P("mode", str("0644")),
				data.P("content", str(content)), data.P("require", str("Package[app]")))),
		)
	}
	edges := make([]data.Value, benchEdges)
	for i := range edges {
		relation := "contains"
		if i >= benchResources {
			relation = "before"
		}
		edges[i] = hash(data.P("source", ref(i%7)), data.P("target", ref(i%benchResources)), data.P("relationship", str(relation)))
	}
	return &command.Command{
		Name: command.ReplaceCatalog, Version: 9, Certname: certname, Produced: at(seconds),
		Payload: hash(data.P("version", str(fmt.Sprint(seconds))), data.P("resources", list(resources...)), data.P("edges", list(edges...)),
			data.P("certname", str(certname)), data.P("environment", str("production")), data.P("producer", str("puppet"))),
	}
}

func benchFactset(node, changed int, seconds float64) *command.Command {
	certname := fmt.Sprintf("node%04d.example.com", node)
	values := make([]data.Pair, benchFacts)
	for i := range values {
		v := str(fmt.Sprintf("value %d of %s", i, certname))
		switch {
		case i < changed:
			v = str(fmt.Sprint("changed at ", seconds))
		case i == 30:
			v = str(fmt.Sprintf("group%d", node%20))
		case i%10 == 0:
			v = hash(data.P("size", str("15.00 GiB")), data.P("bytes", data.OfInt(int64(i)<<30)), data.P("parts", list(str("a"), str("b"), str(strings.Repeat("x", 200)))))
		}
		values[i] = data.P(fmt.Sprintf("fact%03d", i), v)
	}
	return &command.Command{
		Name: command.ReplaceFacts, Version: 5, Certname: certname, Produced: at(seconds),
		Payload: hash(data.P("certname", str(certname)), data.P("values", hash(values...)), data.P("environment", str("production"))),
	}
}

// BenchmarkStore has the cases that PuppetDB was measured with.
func BenchmarkStore(b *testing.B) {
	b.Run("sqlite", func(b *testing.B) {
		benchStore(b, sqlstore.Options{Path: filepath.Join(b.TempDir(), "stores.db")})
	})
	b.Run("postgresql", func(b *testing.B) { benchStore(b, sqlstore.Options{URL: storetest.Postgres(b)}) })
}

func benchStore(b *testing.B, o sqlstore.Options) {
	s, nodes := open(b, o), benchNodes()
	for n := range nodes {
		apply(b, s, benchFactset(n, 0, 1))
		apply(b, s, benchCatalog(n, 0, 1))
	}
	if err := s.Close(); err != nil { // so that the log of SQLite is in its file
		b.Fatal(err)
	}
	s = open(b, o)
	st, err := s.Stats(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	next, later := nodes, 10.0 // a node that is not there, and a time that is newer than all
	store := func(c *command.Command) { apply(b, s, c) }
	first := func(make func(node, changed int, seconds float64) *command.Command) func(b *testing.B) {
		return func(b *testing.B) {
			measured(b, func(int) *command.Command { next++; return make(next, 0, 1) }, store)
		}
	}
	again := func(make func(node, changed int, seconds float64) *command.Command, changed int) func(b *testing.B) {
		return func(b *testing.B) {
			measured(b, func(i int) *command.Command { later++; return make(i%nodes, changed, later) }, store)
		}
	}
	none := func(i int) int { return i }
	collect := func(q sqlstore.Collection, want int) func(b *testing.B) {
		return func(b *testing.B) {
			measured(b, none, func(int) {
				found, err := s.Exported(b.Context(), q)
				if err != nil || len(found) != want {
					b.Fatalf("got %d, %v; want %d", len(found), err, want)
				}
			})
		}
	}
	b.Run("open", func(b *testing.B) {
		measured(b, none, func(int) {
			again, err := sqlstore.Open(b.Context(), o)
			if err != nil {
				b.Fatal(err)
			}
			if err := again.Close(); err != nil {
				b.Fatal(err)
			}
		})
		b.ReportMetric(float64(st.Bytes)/1000/float64(nodes), "kB/node")
	})
	b.Run("exported_all", collect(sqlstore.Collection{Type: "File"}, nodes*benchExported))
	b.Run("exported_by_tag", collect(sqlstore.Collection{Type: "File", Filter: list(str("tag"), str("=="), str("group7"))}, nodes*benchExported/20))
	b.Run("exported_none", collect(sqlstore.Collection{Type: "Sshkey"}, 0))
	b.Run("facts_find", func(b *testing.B) {
		measured(b, none, func(i int) {
			f, err := s.Facts(b.Context(), fmt.Sprintf("node%04d.example.com", i%nodes))
			if err != nil || f.Values.Len() != benchFacts {
				b.Fatal(f, err)
			}
		})
	})
	b.Run("fact_search", func(b *testing.B) {
		measured(b, none, func(int) {
			names, err := s.FactSearch(b.Context(), []sqlstore.Condition{{Fact: "fact030", Op: "eq", Value: str("group7")}})
			if err != nil || len(names) != nodes/20 {
				b.Fatal(names, err)
			}
		})
	})
	b.Run("facts_first", first(benchFactset))
	b.Run("facts_changed", again(benchFactset, 21))
	b.Run("catalog_first", first(benchCatalog))
	b.Run("catalog_unchanged", again(benchCatalog, 0))
	b.Run("catalog_changed", again(benchCatalog, 5))
}

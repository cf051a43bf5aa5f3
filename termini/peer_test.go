package termini_test

import (
	"fmt"
	"os"
	"runtime/debug"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/engine"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/redact"
	"indirtui/termini"
	"indirtui/traces"
	"indirtui/traces/store"
)

// openStore is tracing as the program does it: every request is kept, redacted,
// and written to a recording.
func openStore(b *testing.B) *store.Store {
	b.Helper()
	m := redact.New(redact.Rules{})
	r := engine.NewRenderer(m)
	s, err := store.Open(store.Options{Path: b.TempDir() + "/bench.jsonl", Render: r.Render, Rendered: r.Memory, RedactText: m.Text})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = s.Close() })
	return s
}

// BenchmarkPeer repeats the cases that real Puppet was timed with, under the
// same names and on the same instances.
func BenchmarkPeer(b *testing.B) {
	facts := benchInstance(b, "facts").(indirector.Expirer).WithExpiration(time.Time{})
	catalog := benchInstance(b, "catalog")
	for _, c := range []struct {
		terminus, kind string
		inst           indirector.Instance
	}{
		{"memory", "facts", facts},
		{"yaml", "facts", facts},
		{"json", "facts", facts},
		{"yaml", "catalog", catalog},
		{"json", "catalog", catalog},
		{"msgpack", "catalog", catalog},
	} {
		x := benchIndirector(b, openStore(b), c.kind, c.terminus, "")
		save := &indirector.Request{Indirection: c.kind, Verb: indirector.Save, Instance: c.inst}
		find := &indirector.Request{Indirection: c.kind, Verb: indirector.Find, Key: c.inst.Key()}
		ask(b, x, save) // so that each case can be run alone
		b.Run("save_"+c.terminus+"_"+c.kind, func(b *testing.B) { repeat(b, x, save) })
		b.Run("find_"+c.terminus+"_"+c.kind, func(b *testing.B) { repeat(b, x, find) })
	}
	x := benchIndirector(b, openStore(b), "facts", "json", "memory")
	ask(b, x, &indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: facts})
	b.Run("find_cached_facts", func(b *testing.B) {
		repeat(b, x, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: facts.Key()})
	})
}

// BenchmarkOwn measures what Puppet has no like of: a request that is not recorded,
// and facts of more nodes in turn than are remembered when they have been decoded.
func BenchmarkOwn(b *testing.B) {
	facts := benchInstance(b, "facts")
	x := benchIndirector(b, nil, "facts", "memory", "")
	ask(b, x, &indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: facts})
	b.Run("find_memory_facts_untraced", func(b *testing.B) {
		repeat(b, x, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: facts.Key()})
	})
	var all []*indirector.Request
	x = benchIndirector(b, openStore(b), "facts", "json", "")
	for i := range 50 {
		own := *facts.(*model.Facts)
		own.Name = fmt.Sprintf("web%02d.example.com", i)
		ask(b, x, &indirector.Request{Indirection: "facts", Verb: indirector.Save, Instance: &own})
		all = append(all, &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: own.Name})
	}
	b.Run("find_json_facts_of_50_nodes", func(b *testing.B) { repeat(b, x, all...) })
}

func benchInstance(b *testing.B, kind string) indirector.Instance {
	b.Helper()
	text, err := os.ReadFile("testdata/bench/" + kind + ".json")
	if err != nil {
		b.Fatal(err)
	}
	json, _ := format.ByName("json")
	inst, _, err := format.Intern(json, kind, text, format.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return inst
}

func benchIndirector(b *testing.B, r traces.Recorder, kind, terminus, cache string) *indirector.Indirector {
	b.Helper()
	registry, err := indirector.NewRegistry(termini.Specs(), termini.All())
	if err != nil {
		b.Fatal(err)
	}
	dir := b.TempDir()
	route := func(name string) traces.Slot {
		if name == "" {
			return nil
		}
		return traces.Slot{{Terminus: name, Kind: traces.FromSetting}}
	}
	x, err := indirector.New(indirector.Config{
		Registry: registry, Recorder: r,
		Settings: values{"clientyamldir": dir, "client_datadir": dir, "rich_data": "true", "sqlite_database": dir + "/stores.db"},
		Routes:   indirector.Routes{"node": {Primary: route("plain")}, kind: {Primary: route(terminus), Cache: route(cache)}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return x
}

func ask(b *testing.B, x *indirector.Indirector, req *indirector.Request) {
	b.Helper()
	if _, err := x.Do(b.Context(), req); err != nil {
		b.Fatal(err)
	}
}

// repeat asks the requests in turn.
func repeat(b *testing.B, x *indirector.Indirector, reqs ...*indirector.Request) {
	defer debug.SetGCPercent(debug.SetGCPercent(400)) // as the program does
	ctx := b.Context()
	b.ReportAllocs()
	for i := 0; b.Loop(); i++ {
		if _, err := x.Do(ctx, reqs[i%len(reqs)]); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkStored measures what tracing adds to the requests of a store.
func BenchmarkStored(b *testing.B) {
	facts, catalog := benchInstance(b, "facts"), benchInstance(b, "catalog")
	for _, inst := range []struct {
		kind string
		indirector.Instance
	}{{"facts", facts}, {"catalog", catalog}} {
		for _, traced := range []string{"untraced", "traced"} {
			var r traces.Recorder
			if traced == "traced" {
				r = openStore(b)
			}
			x := benchIndirector(b, r, inst.kind, "sqlite", "")
			save := &indirector.Request{Indirection: inst.kind, Verb: indirector.Save, Instance: inst.Instance}
			ask(b, x, save)
			b.Run("save_"+inst.kind+"/"+traced, func(b *testing.B) { repeat(b, x, save) })
			if inst.kind == "facts" { // catalogs are not found again
				find := &indirector.Request{Indirection: inst.kind, Verb: indirector.Find, Key: inst.Key()}
				b.Run("find_facts/"+traced, func(b *testing.B) { repeat(b, x, find) })
			}
		}
	}
}

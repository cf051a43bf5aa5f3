package transaction_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strings"
	"testing"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/providers"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
	"indirtui/indirector/resource/types"
)

// manyResources is a catalog of so many resources in classes, and twice as many edges.
func manyResources(n int) *model.Catalog {
	random := rand.New(rand.NewPCG(1, 2))
	const perClass = 50
	c := &model.Catalog{Name: "node1.example.test", Format: 2, Environment: "production"}
	add := func(typ, title, kind string, parameters ...data.Pair) string {
		r := model.Resource{Type: typ, Title: title, Kind: kind, Tags: []string{strings.ToLower(typ), "class"}, File: "/site.pp", Line: 1}
		if len(parameters) > 0 {
			r.Parameters = data.OfHash(parameters)
		}
		c.Resources = append(c.Resources, r)
		return r.Ref()
	}
	contain := func(source, target string) {
		c.Edges = append(c.Edges, model.Edge{Source: source, Target: target})
	}
	stage := add("Stage", "main", "compilable_type")
	class := ""
	for i := range n {
		if i%perClass == 0 {
			class = add("Class", fmt.Sprintf("C%d", i/perClass), "class")
			contain(stage, class)
		}
		var parameters []data.Pair
		parameters = append(parameters, data.P("one", data.OfString("x")))
		var before []string
		for range 2 { // backwards, so that there are no cycles
			if i > 0 {
				before = append(before, fmt.Sprintf("Probe[r%d]", max(0, i-1-random.IntN(min(i, perClass)))))
			}
		}
		kind := "require"
		if i%4 == 0 {
			kind = "subscribe"
		}
		parameters = append(parameters, data.P(kind, data.OfStrings(before)))
		contain(class, add("Probe", fmt.Sprintf("r%d", i), "compilable_type", parameters...))
	}
	return c
}

// BenchmarkGraph makes instances of a catalog's resources, orders them, and walks over
// them.
func BenchmarkGraph(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		c := manyResources(n)
		p := place{b.TempDir()}
		m := p.system(systemtest.Case{}, p.settings())
		known := allTypes()
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				catalog, err := transaction.Convert(c, transaction.Conversion{Types: known, Host: m})
				if err != nil {
					b.Fatal(err)
				}
				g, err := catalog.Relate(nil)
				if err != nil {
					b.Fatal(err)
				}
				g.Expand()
				if len(g.Cycles()) > 0 {
					b.Fatal("there are cycles")
				}
				visited := 0
				err = g.Walk(transaction.Walker{Visit: func(*transaction.Resource) error { visited++; return nil }})
				if err != nil || visited != g.Len() {
					b.Fatalf("%d of %d, %v", visited, g.Len(), err)
				}
			}
		})
	}
}

// BenchmarkRun applies a catalog where nothing is, in noop and without files of state.
func BenchmarkRun(b *testing.B) {
	for _, n := range []int{1000, 10_000} {
		c := manyResources(n)
		p := place{b.TempDir()}
		m := p.system(systemtest.Case{}, p.settings())
		o := transaction.Options{
			Settings: transaction.Settings{Noop: true, Certname: "node1.example.test"}, System: m, Types: allTypes(),
			Provider: func(*types.Resource) providers.Provider { return nothing{} },
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if r := transaction.Run(b.Context(), c, o); r.Err != nil {
					b.Fatal(r.Err)
				}
			}
		})
	}
}

// BenchmarkPlanFiles plans files that are as they should be.
func BenchmarkPlanFiles(b *testing.B) {
	p := place{b.TempDir()}
	if err := os.Mkdir(p.dir+"/root", 0o755); err != nil {
		b.Fatal(err)
	}
	c := &model.Catalog{Name: "node1.example.test", Format: 2, Environment: "production"}
	for i := range 1000 {
		name, text := fmt.Sprintf("%s/root/f%d", p.dir, i), strings.Repeat(fmt.Sprintln(i), 100)
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
		c.Resources = append(c.Resources, model.Resource{
			Type: "File", Title: name, Kind: "compilable_type", Tags: []string{"file"},
			Parameters: data.OfHash([]data.Pair{data.P("ensure", data.OfString("file")), data.P("content", data.OfString(text)), data.P("mode", data.OfString("0644"))}),
		})
	}
	m := p.system(systemtest.Case{}, p.settings())
	o := transaction.Options{Settings: transaction.ReadSettings(m), System: m, Types: types.All()}
	o.StateFile, o.StoreFile = "", ""
	b.ReportAllocs()
	for b.Loop() {
		plan, err := transaction.MakePlan(b.Context(), c, o, false)
		if err != nil || plan.Totals.InSync != 1000 {
			b.Fatal(err, plan.Totals)
		}
	}
}

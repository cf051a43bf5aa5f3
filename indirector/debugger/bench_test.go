package debugger_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/traces"
)

// drop is a recorder that keeps nothing: what is measured is the debugger.
type drop struct{}

func (drop) Begin(*traces.Trace) uint64 { return 1 }
func (drop) End(*traces.Trace, any)     {}

// quick is an indirector without a store.
func quick(b testing.TB, dbg indirector.Debugger) *indirector.Indirector {
	s := &shelf{has: map[string]indirector.Instance{"web01": node("web01", "main")}}
	registry, err := indirector.NewRegistry(
		[]indirector.Spec{{Name: "node", Class: "Puppet::Node", Default: "main"}},
		[]indirector.Descriptor{{Indirection: "node", Name: "main", Type: s, New: func(indirector.Env) (indirector.Terminus, error) { return steady{s}, nil }}})
	if err != nil {
		b.Fatal(err)
	}
	x, err := indirector.New(indirector.Config{
		Registry: registry, Recorder: drop{}, Debugger: dbg,
		Routes: indirector.Routes{"node": {Primary: traces.Slot{{Terminus: "main", Kind: traces.FromDeclaration}}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	return x
}

// BenchmarkFind is a find that no breakpoint is meant for.
func BenchmarkFind(b *testing.B) {
	for _, bb := range []struct {
		name  string
		when  string
		armed int
		held  int
	}{
		{"no debugger", "", 0, 0},
		{"none armed", "", 0, 0},
		{"1 armed", "ind=catalog key=db07* before cache-read do hold", 1, 0},
		{"1 armed at the same place", "ind=node key=db07* before terminus do hold", 1, 0},
		{"1 armed that looks at the outcome", "ind=node out=nil after terminus do log", 1, 0},
		{"1 armed that looks at the detail", "err~refused after terminus do hold", 1, 0},
		{"100 armed", "key=db%02d* before terminus do hold", 100, 0},
		{"1000 held", "key=held before terminus do hold", 1, 1000},
	} {
		b.Run(bb.name, func(b *testing.B) {
			d, err := debugger.New(debugger.Options{HoldLimit: -1})
			if err != nil {
				b.Fatal(err)
			}
			for i := range bb.armed {
				text := bb.when
				if bb.armed > 1 {
					text = fmt.Sprintf(bb.when, i)
				}
				p, err := debugger.Parse(text)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := d.Add(p); err != nil {
					b.Fatal(err)
				}
			}
			var dbg indirector.Debugger = d
			if bb.name == "no debugger" {
				dbg = nil
			}
			var waiting sync.WaitGroup
			if bb.held > 0 {
				h := newFixture(b, debugger.Options{HoldLimit: -1}, false)
				dbg = h.Debugger
				p, err := debugger.Parse(bb.when)
				if err != nil {
					b.Fatal(err)
				}
				if _, err := h.Add(p); err != nil {
					b.Fatal(err)
				}
				for range bb.held {
					waiting.Go(func() {
						req := find("node", "held")
						_, _ = h.Do(b.Context(), &req)
					})
				}
				for len(h.Held()) < bb.held {
					<-h.Debugger.Changed()
				}
				defer waiting.Wait()
				defer h.ContinueAll()
			}
			x := quick(b, dbg)
			ctx, req := b.Context(), &indirector.Request{Indirection: "node", Verb: indirector.Find, Key: "web01"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Do(ctx, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// steady answers without a lock or a log.
type steady struct{ *shelf }

func (s steady) Find(_ context.Context, r *indirector.Request) (indirector.Instance, error) {
	return s.has[r.Key], nil
}

// BenchmarkArmedRate is how many requests a second pass a hundred armed
// breakpoints, with a store that keeps them.
func BenchmarkArmedRate(b *testing.B) {
	h := newFixture(b, debugger.Options{}, false)
	for i := range 100 {
		h.add(b, fmt.Sprintf("ind=node key=db%02d* before terminus do hold", i))
	}
	ctx := b.Context()
	began := time.Now()
	n := 0
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			req := find("facts", "web01")
			if _, err := h.Do(ctx, &req); err != nil {
				b.Error(err)
			}
		}
	})
	n = b.N
	b.ReportMetric(float64(n)/time.Since(began).Seconds(), "req/s")
}

package indirector_test

import (
	"testing"
	"time"

	"indirtui/indirector"
	"indirtui/traces"
)

// drop is a recorder that keeps nothing, so that only the Indirector is
// measured.
type drop struct{}

func (drop) Begin(*traces.Trace) uint64 { return 1 }
func (drop) End(*traces.Trace, any)     {}

func BenchmarkFindMemory(b *testing.B) {
	for _, bb := range []struct {
		name     string
		recorder traces.Recorder
	}{{"traced", drop{}}, {"untraced", nil}} {
		b.Run(bb.name, func(b *testing.B) {
			m := &mem{m: map[string]indirector.Instance{"web01": widget{"web01", "bench", time.Time{}}}}
			reg, err := indirector.NewRegistry(
				[]indirector.Spec{{Name: "facts", Class: "Widget", Default: "memory"}},
				[]indirector.Descriptor{{
					Indirection: "facts", Name: "memory", Type: m,
					New: func(indirector.Env) (indirector.Terminus, error) { return m, nil },
				}})
			if err != nil {
				b.Fatal(err)
			}
			x, err := indirector.New(indirector.Config{
				Registry: reg, Recorder: bb.recorder,
				Routes: indirector.Routes{"facts": {Primary: traces.Slot{{Terminus: "memory", Kind: traces.FromDeclaration}}}},
			})
			if err != nil {
				b.Fatal(err)
			}
			ctx, req := b.Context(), &indirector.Request{Indirection: "facts", Verb: indirector.Find, Key: "web01"}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := x.Do(ctx, req); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

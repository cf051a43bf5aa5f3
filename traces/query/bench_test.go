package query_test

import (
	"testing"

	"indirtui/traces/query"
)

var benchmarks = []struct{ name, expr string }{
	{"Simple/outcome", "out=stale"},
	{"Simple/flags", "hidden or slow"},
	{"Simple/identity", "ind=catalog key=web01* verb=find took>5s"},
	{"Simple/middle", "key=*ample*"},
	{"Simple/list", "ind in (node, facts, catalog) not env=production"},
	{"Simple/time", "t>-1h"},
	{"Simple/clock", "t=14:02..14:05"},
	{"Detail/word", "web01"},
	{"Detail/message", "err~refused"},
	{"Detail/status", "http.status=404"},
	{"Detail/step", "step(terminus took>4s)"},
}

func BenchmarkMatch(b *testing.B) {
	w := demo()
	for _, bb := range benchmarks {
		b.Run(bb.name, func(b *testing.B) {
			e, err := query.ParseAt(bb.expr, now)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				e.Match(w[i])
				if i++; i == len(w) {
					i = 0
				}
			}
		})
	}
}

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := query.ParseAt("ind=catalog took>5s step(terminus took>4s) or key=web01*", now); err != nil {
			b.Fatal(err)
		}
	}
}

// A filter over a million rows must not feed the collector.
func TestMatchDoesNotAllocate(t *testing.T) {
	w := demo()
	for _, bb := range benchmarks {
		e, err := query.ParseAt(bb.expr, now)
		if err != nil {
			t.Fatal(err)
		}
		n := testing.AllocsPerRun(20, func() {
			for _, r := range w {
				e.Match(r)
			}
		})
		if n > 0 && e.Simple() {
			t.Errorf("%q allocates %.1f times for each %d requests", bb.expr, n, len(w))
		}
	}
}

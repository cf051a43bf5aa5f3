package cache_test

import (
	"fmt"
	"testing"
)

// BenchmarkList is how long the screen is kept busy at the longest while 200 000
// entries come in.
func BenchmarkList(b *testing.B) {
	s := new(shelf)
	for i := range 200_000 {
		s.entries = append(s.entries, entry(fmt.Sprintf("web%06d.example.com", i*7919%200_000), "json", int64(i), i%5000, i%100-50))
	}
	for b.Loop() {
		p := place(b, s)
		b.ReportMetric(float64(p.Busy.Microseconds())/1000, "ms-longest")
		p.Busy = 0
		p.Keys(">")
		b.ReportMetric(float64(p.Busy.Microseconds())/1000, "ms-sort")
		p.Busy = 0
		p.Keys("j")
		b.ReportMetric(float64(p.Busy.Microseconds())/1000, "ms-key")
	}
}

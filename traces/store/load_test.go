package store_test

import (
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
)

// busy is a typical request: seven steps, two spans.
func busy(i int) *traces.Trace {
	t := find("facts", fmt.Sprintf("node%03d.example.com", i%500))
	t.Run = "8f3c"
	for s := range t.Steps {
		t.Steps[s] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.NoCacheRouted}}
	}
	t.Spans = []traces.Span{
		{ID: 1, Step: traces.Terminus, Kind: traces.File, Name: "read " + t.Key + ".yaml", Answer: "412 bytes", At: 1000, Took: 2000},
		{ID: 2, Step: traces.Terminus, Kind: traces.Codec, Name: "decode yaml", At: 3000, Took: 4000, Attrs: []traces.Attr{{Key: "format", Value: "yaml"}}},
	}
	return t
}

// TestIngest records requests at the promised rate while a reader follows. A
// rate needs a clock: the test takes a second, and runs alone.
func TestIngest(t *testing.T) {
	const perLook, looks = 20_000 / slowness / 30, 30
	s := open(t, store.Options{Path: file(t), Render: render})
	v := s.View(expr(t, "ind=facts"))
	rows := make([]store.Row, 60)
	frames := time.NewTicker(time.Second / 30)
	defer frames.Stop()
	for look := range looks {
		for i := range perLook {
			record(s, busy(i), "value")
		}
		v.Extend(0)
		s.Rows(uint64(look*perLook+1), rows)
		<-frames.C
	}
	flush(t, s)
	extend(v)
	if st := s.Stats(); st.Total != perLook*looks || st.DroppedDetails+st.DroppedRows > 0 || v.Len() != perLook*looks {
		t.Errorf("got %d in the view, %+v", v.Len(), st)
	}
}

// BenchmarkIngest records, redacts, renders and writes requests. Those that the
// writer cannot follow count as dropped.
func BenchmarkIngest(b *testing.B) {
	redact := func(s string) (string, int) { return s, strings.Count(s, "secret") }
	s := open(b, store.Options{Path: file(b), Render: render, RedactText: redact})
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		record(s, busy(i), "value")
		if i++; i%4096 == 0 {
			flush(b, s)
		}
	}
	flush(b, s)
	st := s.Stats()
	b.ReportMetric(float64(st.Total)/b.Elapsed().Seconds(), "requests/s")
	b.ReportMetric(float64(st.FileSize)/float64(st.Total), "file-B/op")
	b.ReportMetric(float64(st.DroppedDetails), "dropped")
}

// BenchmarkMillion is the memory of a million requests of as many keys.
func BenchmarkMillion(b *testing.B) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(448 << 20)) // as the program does
	for b.Loop() {
		s := million(b, store.Options{})
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/(1<<20), "live-MB")
		b.ReportMetric(float64(m.Sys)/(1<<20), "process-MB")
		b.ReportMetric(float64(s.Stats().Memory)/(1<<20), "estimate-MB")
		s.Close()
	}
}

// BenchmarkOpenFile is the time until a recording of 100 000 requests shows its
// first rows, and until all of it is read.
func BenchmarkOpenFile(b *testing.B) {
	s, err := store.Open(store.Options{Path: file(b)})
	if err != nil {
		b.Fatal(err)
	}
	for i := range 100_000 {
		record(s, busy(i), nil)
		if i%4096 == 0 {
			flush(b, s)
		}
	}
	s.Close()
	info, _ := os.Stat(s.Path())
	b.Run("first", func(b *testing.B) {
		for b.Loop() {
			r, err := store.OpenFile(s.Path())
			if err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			r.Close()
			b.StartTimer()
		}
	})
	b.Run("all", func(b *testing.B) {
		b.SetBytes(info.Size())
		for b.Loop() {
			read(b, s.Path()).Close()
		}
	})
}

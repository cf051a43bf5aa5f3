package store_test

import (
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/traces/leaktest"
	"indirtui/traces/store"
)

func TestMain(m *testing.M) { leaktest.Main(m) }

// epoch is when the tests take place.
var epoch = time.Date(2025, 11, 20, 14, 2, 0, 0, time.UTC)

func open(tb testing.TB, opts store.Options) *store.Store {
	tb.Helper()
	s, err := store.Open(opts)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := s.Close(); err != nil {
			tb.Error(err)
		}
	})
	return s
}

func file(tb testing.TB) string { return filepath.Join(tb.TempDir(), "test.ind") }

var primary = traces.Slot{{Terminus: "yaml", Kind: traces.FromSetting, Source: "puppet.conf:7"}}

// find is a request that the terminus answers.
func find(indirection, key string) *traces.Trace {
	return &traces.Trace{
		Verb: traces.Find, Indirection: indirection, Key: key, Caller: "agent", Environment: "production",
		Start: epoch, Took: time.Millisecond, Primary: primary, Outcome: traces.Good, Served: traces.ByTerminus,
	}
}

// record begins and ends t, which is the store's from then on.
func record(s *store.Store, t *traces.Trace, instance any) uint64 {
	id := s.Begin(t)
	t.ID = id
	s.End(t, instance)
	return id
}

func flush(tb testing.TB, s *store.Store) {
	tb.Helper()
	if err := s.Flush(); err != nil {
		tb.Fatal(err)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	path := file(t)
	s := open(t, store.Options{Path: path})
	for i := range 1000 {
		record(s, find("facts", fmt.Sprint("web", i)), nil)
	}
	flush(t, s)
	r, err := store.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows := make([]store.Row, 2000)
	if n := s.Rows(1, rows); n != 1000 || rows[999].Key != "web999" {
		t.Errorf("got %d rows, last %+v", n, rows[999])
	}
	tr, err := s.Trace(17)
	if err != nil || tr.Key != "web16" {
		t.Errorf("got %+v, %v", tr, err)
	}
}

// BenchmarkRecord is the cost of Begin and End. The traces are made before;
// there are so many that the writer is done with one before it is used again.
func BenchmarkRecord(b *testing.B) {
	for _, keys := range []int{1000, 1 << 20} {
		b.Run(fmt.Sprint("keys=", keys), func(b *testing.B) {
			s := open(b, store.Options{})
			names := make([]string, keys)
			for i := range names {
				names[i] = fmt.Sprintf("node%07d.example.com", i)
			}
			made := make([]traces.Trace, 1<<15)
			for i := range made {
				made[i] = *find("facts", "")
			}
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				t := &made[i%len(made)]
				t.Key = names[i%keys]
				t.ID = s.Begin(t)
				s.End(t, nil)
				i++
			}
		})
	}
}

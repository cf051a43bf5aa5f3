package store_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"indirtui/traces"
	"indirtui/traces/store"
)

// watchedLines are lines of probes, and what is nearly such a line.
var watchedLines = []string{
	`{"trace":1,"t":"2026-11-28T00:00:00.000000001Z","took":1000,"verb":"find","ind":"facts","key":"web01","served":"terminus","out":"ok","terminus":"yaml","steps":[{"step":"terminus","is":"ok","why":"returned","at":5,"took":9}]}`,
	`{"begin":2,"at":99,"verb":"save","ind":"report","key":"a\"b\\c\u00e9\n","env":"production","parent":1,"pstep":"terminus","thread":-1234567890123,"app":"agent","caller":"puppet/configurer.rb:123","route":7,"traceparent":"00-0123456789abcdef0123456789abcdef-0123456789abcdef-01"}`,
	`{"route":7,"ind":"node","terminus":"plain","cache":"","primary":[{"terminus":"plain","by":"setting","place":"puppet.conf:7","setting":"node_terminus","symbol":true}],"caches":[]}`,
	`{"trace":3,"verb":"find","ind":"node","key":"ключ","steps":[],"spans":[{"id":1,"step":"terminus","kind":"network","name":"GET /","is":"200 OK","at":1,"took":2,"attrs":[{"name":"size","value":"12"}],"err":"x"}],"direct":true}`,
	`{"trace":4,"flags":["ignore_cache"],"cwritten":true,"touched":false,"origin":"terminus","fault":"f","steps":[],"options":[{"name":"a","value":"b"}],"faults":[{"origin":"terminus","step":"terminus","message":"m","hidden":"h","shown":true}],"notes":["n"],"noted":["filter"],"changes":["key"],"held":5,"error":"e"}`,
	`{"trace":5,"steps":[{"step":"no such"}]}`,
	`{"trace":-1}`, `{"trace":1.5}`, `{"trace":01}`, `{"trace":18446744073709551615}`, `{"took":-9223372036854775808}`, `{"trace":null,"steps":null}`,
	`{"TRACE":6,"unknown":[{"x":[]}],"key":"a","key":"b"}`, `{"steps":[{"took":1}],"steps":[{"at":2}]}`, `{"flags":["a","b"],"flags":["c"]}`,
	`{"trace":7,}`, `{"trace":7}}`, `{"trace":7`, `{"key":"`, `{"key":"\`, `{"key":"\ud800"}`, "{\"key\":\"\xff\"}", "{\"key\":\"\t\"}", `[]`, `{}`, ``, `{"t":"yesterday"}`, `{"steps":[{"at":1}`,
}

// A line is read as encoding/json reads it, which reads all lines that begin with a
// blank.
func sameAsJSON(t *testing.T, r *store.WatchedReader, line string) {
	t.Helper()
	got, gotErr := r.Read([]byte(line))
	var slow store.WatchedReader
	want, wantErr := slow.Read([]byte(" " + line))
	if (gotErr != nil) != (wantErr != nil) {
		t.Fatalf("%s: error %v, want %v", line, gotErr, wantErr)
	}
	if got.Trace == nil || want.Trace == nil {
		return
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s: (-json +own)\n%s", line, d)
	}
}

func TestWatchedReader(t *testing.T) {
	t.Parallel()
	var r store.WatchedReader
	for range 2 { // the second time over what the first has left
		for _, line := range watchedLines {
			sameAsJSON(t, &r, line)
		}
	}
}

func FuzzWatchedReader(f *testing.F) {
	for _, line := range watchedLines {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		var r store.WatchedReader
		_, _ = r.Read([]byte(watchedLines[0]))
		sameAsJSON(t, &r, line)
	})
}

// Those who wait for the writer lose nothing, however few details there is room for.
func TestSettle(t *testing.T) {
	t.Parallel()
	s, err := store.Open(store.Options{Path: t.TempDir() + "/r.jsonl", Details: 64, RedactText: func(text string) (string, int) { return text, 0 }})
	if err != nil {
		t.Fatal(err)
	}
	const n = 5000
	for range n {
		s.Settle()
		s.Keep(&traces.Trace{Verb: traces.Find, Indirection: "facts", Key: "a", Took: 1}, nil)
	}
	if err := s.Flush(); err != nil {
		t.Fatal(err)
	}
	if st := s.Stats(); st.DroppedDetails != 0 || st.Total != n {
		t.Errorf("%d of %d, %d dropped", st.Total, n, st.DroppedDetails)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s.Settle() // waits for nothing any more
}

// BenchmarkWatchedReader is one line of a probe.
func BenchmarkWatchedReader(b *testing.B) {
	var r store.WatchedReader
	line := []byte(watchedLines[3])
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		w, err := r.Read(line)
		if err != nil {
			b.Fatal(err)
		}
		w.Free()
	}
}

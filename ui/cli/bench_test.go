package cli

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/termini"
	"indirtui/ui/uitest"
)

// BenchmarkFirstFrame is the start of the program until there is something to
// see: settings, routes, termini, recording, and the first frame.
func BenchmarkFirstFrame(b *testing.B) {
	b.Setenv("XDG_STATE_HOME", b.TempDir())
	for b.Loop() {
		p := &program{Streams: Streams{In: new(bytes.Buffer), Out: new(bytes.Buffer), Err: new(bytes.Buffer)}, specs: termini.Specs(), termini: termini.All()}
		p.confDir, p.varDir = b.TempDir(), b.TempDir()
		s, err := viewer{p}.session()
		if err != nil {
			b.Fatal(err)
		}
		cfg := viewer{p}.config(b.Context(), s, nil)
		if frame := uitest.New(b, cfg, 80, 24).Frame(); frame == "" {
			b.Fatal("nothing to see")
		}
		if err := s.close(); err != nil {
			b.Fatal(err)
		}
	}
}

// gigabyte writes a recording of the given size: ten thousand requests again
// and again, with other numbers.
func gigabyte(tb testing.TB, size int64) string {
	tb.Helper()
	path := filepath.Join(tb.TempDir(), "large.jsonl")
	f, err := os.Create(path)
	if err != nil {
		tb.Fatal(err)
	}
	w := bufio.NewWriterSize(f, 1<<20)
	n, err := w.WriteString(`{"indirtui":1,"started":"2025-11-20T14:00:00Z"}` + "\n")
	filler := strings.Repeat("x", 1000)
	for id := 1; err == nil && int64(n) < size; id++ {
		var k int
		k, err = fmt.Fprintf(w, `{"trace":%d,"t":"2025-11-20T14:00:01Z","took":%d,"verb":"find","ind":"facts","key":"node%04d.example.com","run":"%x","caller":"agent","out":"ok","served":"terminus","terminus":"yaml","setby":"setting","steps":[{"step":"terminus","is":"ok","why":"returned"}],"primary":[{"terminus":"yaml","by":"setting"}],"notes":[%q]}`+"\n", id, id%9000000, id%5000, id/40, filler)
		n += k
	}
	if err := errors.Join(err, w.Flush(), f.Close()); err != nil {
		tb.Fatal(err)
	}
	return path
}

// BenchmarkOpenGigabyte is opening a recording of a gigabyte until its first
// rows are on the screen; the rest is read meanwhile.
func BenchmarkOpenGigabyte(b *testing.B) {
	path := gigabyte(b, 1<<30)
	for b.Loop() {
		p := &program{Streams: Streams{In: new(bytes.Buffer), Out: new(bytes.Buffer), Err: new(bytes.Buffer)}, specs: termini.Specs(), termini: termini.All()}
		s, err := openSession(path)
		if err != nil {
			b.Fatal(err)
		}
		if frame := uitest.New(b, (viewer{p}).config(b.Context(), s, nil), 80, 24).Frame(); !strings.Contains(frame, "node0") {
			b.Fatal(frame)
		}
		b.StopTimer()
		if err := s.close(); err != nil { // ends the reading
			b.Fatal(err)
		}
		b.StartTimer()
	}
}

//go:build unix

package fileserving_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"indirtui/indirector"
	"indirtui/termini/fileserving"
)

// tree makes a tree of n files of 4 KiB, 100 in each directory.
func tree(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	content := bytes.Repeat([]byte("0123456789abcde\n"), 256)
	for i := range n {
		path := filepath.Join(dir, fmt.Sprintf("d%02d", i/100))
		if i%100 == 0 {
			if err := os.Mkdir(path, 0o755); err != nil {
				tb.Fatal(err)
			}
		}
		copy(content, fmt.Sprintf("%06d", i))
		if err := os.WriteFile(filepath.Join(path, fmt.Sprintf("f%02d", i%100)), content, 0o644); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}

// cpu reports how much of the processors an operation took, user and system:
// that is to be compared where the machine has other work.
func cpu(b *testing.B) func() {
	used := func() int64 {
		var r syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
			b.Fatal(err)
		}
		return r.Utime.Nano() + r.Stime.Nano()
	}
	before := used()
	return func() { b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op") }
}

// BenchmarkSearch is a search of 10 000 files through the house, with a
// recorder.
func BenchmarkSearch(b *testing.B) {
	dir := tree(b, 10_000)
	h := newHouse(b, values{}, nil)
	for _, sum := range []string{"sha256", "md5", "none"} {
		b.Run(sum, func(b *testing.B) {
			b.ReportAllocs()
			defer cpu(b)()
			for b.Loop() {
				found, err := h.Do(b.Context(), &indirector.Request{
					Indirection: "file_metadata", Verb: indirector.Search, Key: dir, Terminus: "file",
					Options: []indirector.Option{option("recurse", true), option("checksum_type", sum), option("max_files", -1)},
				})
				if err != nil || len(found.Value.([]indirector.Instance)) != 10_101 {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkYield is the same search, taken one instance at a time.
func BenchmarkYield(b *testing.B) {
	dir := tree(b, 10_000)
	h := newHouse(b, values{}, nil)
	b.ReportAllocs()
	defer cpu(b)()
	for b.Loop() {
		resp, err := h.Do(b.Context(), &indirector.Request{
			Indirection: "file_metadata", Verb: indirector.Search, Key: dir, Terminus: "file",
			Options: []indirector.Option{option("recurse", true), option("max_files", -1)},
			Yield:   func(indirector.Instance) error { return nil },
		})
		if err != nil || resp.Value != 10_101 {
			b.Fatal(err)
		}
	}
}

// BenchmarkFind is a find of a small file in a module.
func BenchmarkFind(b *testing.B) {
	dir := b.TempDir()
	write(b, dir, map[string]string{"m/files/f": "x"})
	h := newHouse(b, values{"modulepath": dir}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.find(b, "file_server", "modules/m/f"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkContent reads 256 MiB.
func BenchmarkContent(b *testing.B) {
	path := filepath.Join(b.TempDir(), "large")
	if err := os.WriteFile(path, make([]byte, 256<<20), 0o644); err != nil {
		b.Fatal(err)
	}
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer out.Close()
	b.SetBytes(256 << 20)
	b.ReportAllocs()
	for b.Loop() {
		r, err := fileserving.Path(path).Open()
		if err != nil {
			b.Fatal(err)
		}
		if _, err := io.Copy(struct{ io.Writer }{out}, r); err != nil {
			b.Fatal(err)
		}
		if err := r.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

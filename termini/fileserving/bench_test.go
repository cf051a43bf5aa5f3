//go:build unix

package fileserving_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/format"
	"indirtui/indirector/model"
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

// BenchmarkSearch searches 10 000 files through the Indirector, with a
// recorder.
func BenchmarkSearch(b *testing.B) {
	dir := tree(b, 10_000)
	h := newFixture(b, values{}, nil)
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

// BenchmarkSearchPeers is what others take for the same trees: real Puppet, which
// uses one processor, and sha256sum on all of them.
func BenchmarkSearchPeers(b *testing.B) {
	dir := tree(b, 10_000)
	sh := func(script string, args ...string) func(*testing.B) {
		return func(b *testing.B) {
			if _, err := exec.LookPath(args[0]); err != nil {
				b.Skipf("%s is not installed: %v", args[0], err)
			}
			var r syscall.Rusage
			used := func() int64 {
				if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &r); err != nil {
					b.Fatal(err)
				}
				return r.Utime.Nano() + r.Stime.Nano()
			}
			before := used()
			for b.Loop() {
				cmd := exec.Command(args[0], append(args[1:], script)...)
				cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+b.TempDir())
				if out, err := cmd.CombinedOutput(); err != nil {
					b.Fatalf("%v: %s", err, out)
				}
			}
			b.ReportMetric(float64(used()-before)/float64(b.N), "cpu-ns/op")
		}
	}
	puppet := func(sum string) string {
		return `require 'puppet'; require 'puppet/file_serving/metadata'
			Puppet.initialize_settings; Puppet::Util::Log.level = :crit
			Puppet.push_context({current_environment: Puppet::Node::Environment.create(:production, [])})
			Puppet::FileServing::Metadata.indirection.terminus_class = :file
			n = Puppet::FileServing::Metadata.indirection.search(Dir.pwd, recurse: true, max_files: -1, checksum_type: :` + sum + `).size if '` + sum + `' != 'nothing'`
	}
	for _, sum := range []string{"sha256", "none", "nothing"} { // the last is how long it takes to start
		b.Run("puppet "+sum, sh(puppet(sum), "ruby", "-e"))
	}
	b.Run("sha256sum", sh(fmt.Sprintf("find . -type f -print0 | xargs -0 -n 500 -P %d sha256sum >/dev/null", runtime.NumCPU()), "sh", "-c"))
}

// BenchmarkYield is the same search, taken one instance at a time.
func BenchmarkYield(b *testing.B) {
	dir := tree(b, 10_000)
	h := newFixture(b, values{}, nil)
	b.ReportAllocs()
	defer cpu(b)()
	for b.Loop() {
		resp, err := h.Do(b.Context(), &indirector.Request{
			Indirection: "file_metadata", Verb: indirector.Search, Key: dir, Terminus: "file",
			Options: []indirector.Option{option("recurse", true), option("max_files", -1)},
			Wants:   &indirector.Wants{Yield: func(indirector.Instance) error { return nil }},
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
	h := newFixture(b, values{"modulepath": dir}, nil)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.find(b, "file_server", "modules/m/f"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkContent writes 256 MiB to a pipe, as the command line does.
func BenchmarkContent(b *testing.B) {
	path := filepath.Join(b.TempDir(), "large")
	if err := os.WriteFile(path, make([]byte, 256<<20), 0o644); err != nil {
		b.Fatal(err)
	}
	binary, ok := format.ByName("binary")
	if !ok {
		b.Fatal("there is no format binary")
	}
	r, w, err := os.Pipe()
	if err != nil {
		b.Fatal(err)
	}
	drained := make(chan error)
	go func() {
		_, err := io.CopyBuffer(struct{ io.Writer }{io.Discard}, struct{ io.Reader }{r}, make([]byte, 128<<10))
		drained <- errors.Join(err, r.Close())
	}()
	b.SetBytes(256 << 20)
	b.ReportAllocs()
	for b.Loop() {
		content := &model.FileContent{Path: path, Contents: fileserving.Path(path)}
		if err := format.Write(struct{ io.Writer }{w}, binary, content); err != nil {
			b.Fatal(err)
		}
	}
	if err := errors.Join(w.Close(), <-drained); err != nil {
		b.Fatal(err)
	}
}

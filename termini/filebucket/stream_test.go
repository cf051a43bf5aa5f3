package filebucket_test

import (
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector"
	"indirtui/indirector/model"
)

// onDisk are contents that are not in memory.
type onDisk struct {
	path string
	size int64
}

func (d onDisk) Open() (io.ReadCloser, error) { return os.Open(d.path) }
func (d onDisk) Size() int64                  { return d.size }

// TestStreams saves and finds a large file, of which most is a hole, and counts
// the memory that this takes (gap L10). INDIRTUI_LARGE is another size, in
// MiB. It runs alone, because all memory of the process counts.
func TestStreams(t *testing.T) {
	size := int64(512 << 20)
	if mib, err := strconv.Atoi(os.Getenv("INDIRTUI_LARGE")); err == nil {
		size = int64(mib) << 20
	}
	source := filepath.Join(t.TempDir(), "large")
	f, err := os.Create(source)
	if err != nil {
		t.Fatal(err)
	}
	for at, text := range map[int64]string{0: "start", size / 2: "middle", size - 3: "end"} {
		if _, err := f.WriteAt([]byte(text), at); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	h := newFixture(t, nil)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)

	zero := "sha256/" + strings.Repeat("0", 64)
	inst := &model.FileBucketFile{ChecksumType: "sha256", Contents: onDisk{source, size}}
	if _, err := h.do(t, indirector.Save, zero+"//large", inst); err != nil {
		t.Fatal(err)
	}
	if _, err := h.do(t, indirector.Save, zero+"//again", inst); err != nil {
		t.Fatal(err)
	}
	found, err := filepath.Glob(h.dir + "/?/?/?/?/?/?/?/?/*/contents")
	if err != nil || len(found) != 1 {
		t.Fatalf("kept: %v, %v", found, err)
	}
	sum := filepath.Base(filepath.Dir(found[0]))
	r, err := h.do(t, indirector.Find, "sha256/"+sum+"//again", nil)
	if err != nil {
		t.Fatal(err)
	}
	contents, err := r.Value.(*model.FileBucketFile).Contents.Open()
	if err != nil {
		t.Fatal(err)
	}
	defer contents.Close()
	digest := model.NewDigest("sha256")
	n, err := io.CopyBuffer(struct{ io.Writer }{digest}, struct{ io.Reader }{contents}, make([]byte, 64<<10))
	if err != nil || n != size {
		t.Fatalf("read %d of %d: %v", n, size, err)
	}

	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("%d MiB were allocated in all, for a file of %d", used>>20, size>>20)
	}
	if hex.EncodeToString(digest.Sum(nil)) != sum {
		t.Errorf("the contents do not have their checksum %s", sum)
	}
	has(t, "the log", h.logs.String(), "FileBucket got a duplicate file")
}

// BenchmarkSave keeps what is there already, which is hashed, written and
// compared all the same.
func BenchmarkSave(b *testing.B) {
	for _, size := range []int{1 << 10, 1 << 20, 64 << 20} {
		b.Run(strconv.Itoa(size), func(b *testing.B) {
			h := newFixture(b, nil)
			text := strings.Repeat("0123456789abcde\n", size/16)
			key := "sha256/" + sumOf(text) + "//a"
			inst := file(text)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := h.do(b, indirector.Save, key, inst); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkFind(b *testing.B) {
	h := newFixture(b, nil)
	key := "sha256/" + h.save(b, "text", "/a") + "//a"
	b.ReportAllocs()
	for b.Loop() {
		if _, err := h.do(b, indirector.Find, key, nil); err != nil {
			b.Fatal(err)
		}
	}
}

package filebucket_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"indirtui/indirector"
)

func TestLock(t *testing.T) {
	t.Parallel()
	lock := func(t *testing.T, h *fixture, sum string) *os.File {
		t.Helper()
		f, err := os.OpenFile(h.at(sum, "paths"), os.O_RDWR, 0)
		if err != nil {
			t.Fatal(err)
		}
		if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
			t.Fatal(err)
		}
		return f
	}
	t.Run("TERM-FB-03 somebody keeps it", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t, nil)
			sum := h.save(t, "text", "/a")
			defer lock(t, h, sum).Close()
			begin := time.Now()
			_, err := h.do(t, indirector.Save, "sha256/"+sum, file("text"))
			is(t, "words", indirector.Message(err), "Timeout waiting for exclusive lock on "+h.at(sum, "paths"))
			if waited := time.Since(begin); waited < 300*time.Second || waited > 301*time.Second {
				t.Errorf("it waited for %v", waited)
			}
			is(t, "find", h.found(t, "sha256/"+sum), "text")
		})
	})
	t.Run("TERM-FB-03 somebody lets it go", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			h := newFixture(t, nil)
			sum := h.save(t, "text", "/a")
			f := lock(t, h, sum)
			go func() {
				time.Sleep(time.Minute)
				f.Close()
			}()
			h.save(t, "text", "/b")
			is(t, "find", h.found(t, "sha256/"+sum+"//b"), "text")
		})
	})
}

// TestDiskFull saves into a bucket on a disk of one MiB.
func TestDiskFull(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=1m"); err != nil {
		t.Skipf("no small disk can be mounted by this user: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	h := newFixture(t, settings{"bucketdir": dir})
	h.dir = dir
	sum := h.save(t, "small", "/a")
	before := tree(t, dir)
	large := strings.Repeat("0123456789abcdef", 2<<20/16)
	_, err := h.do(t, indirector.Save, "sha256/"+sumOf(large)+"//large", file(large))
	if f := (*indirector.Failure)(nil); !errors.Is(err, syscall.ENOSPC) || !errors.As(err, &f) || f.Class != "Errno::ENOSPC" {
		t.Errorf("got %v", err)
	}
	has(t, "words", indirector.Message(err), "No space left on device", dir)
	if after := tree(t, dir); len(after) != len(before) {
		t.Errorf("something is left: %v, before %v", after, before)
	}
	is(t, "find", h.found(t, "sha256/"+sum+"//a"), "small")
	is(t, "head of what was not kept", h.found(t, "sha256/"+sumOf(large)), "nil")
}

func TestNoRegularFiles(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"contents", "paths"} {
		t.Run(name+" is a pipe", func(t *testing.T) {
			t.Parallel()
			h := newFixture(t, nil)
			sum := h.save(t, "text", "")
			if err := errors.Join(os.Remove(h.at(sum, name)), syscall.Mkfifo(h.at(sum, name), 0o600)); err != nil {
				t.Fatal(err)
			}
			has(t, "find", h.found(t, "sha256/"+sum+"//a"), "error: ", "is no regular file")
			_, err := h.do(t, indirector.Save, "sha256/"+sum+"//a", file("text"))
			has(t, "save", indirector.Message(err), "is no regular file")
			is(t, "list", h.found(t, "sha256/", option("list_all", true)), "")
		})
	}
	t.Run("the bucket is a file", func(t *testing.T) {
		t.Parallel()
		h := newFixture(t, nil)
		if err := os.WriteFile(h.dir, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		has(t, "find", h.found(t, "sha256/"+sumOf("text")), "error: Not a directory")
		_, err := h.do(t, indirector.Save, "sha256/"+sumOf("text"), file("text"))
		has(t, "save", indirector.Message(err), "File exists", h.dir)
	})
}

// FuzzKey asks for any key. It is refused or names a file of the bucket, and
// nothing is written elsewhere.
func FuzzKey(f *testing.F) {
	for _, key := range []string{"", "sha256/" + sumOf("x") + "//a", "md5/x", "sha256/../..", "sha256/" + sumOf("x") + "/\n/b", "sha256/" + strings.ToUpper(sumOf("x")), "sha256//", "\xff/\x00"} {
		f.Add(key)
	}
	f.Fuzz(func(t *testing.T, key string) {
		h := newFixture(t, nil)
		req := &indirector.Request{Indirection: "file_bucket_file", Verb: indirector.Save, Terminus: "file", Key: key, Instance: file("x")}
		if _, err := h.Do(t.Context(), req); err != nil {
			if _, e := os.Stat(h.dir); e == nil {
				t.Errorf("%q: a bucket was made for a key that is refused: %v", key, err)
			}
			return
		}
		if beside, err := filepath.Glob(filepath.Dir(h.dir) + "/*"); err != nil || len(beside) != 1 {
			t.Errorf("%q: there is more than the bucket: %q, %v", key, beside, err)
		}
		if info, err := os.Stat(h.at(sumOf("x"), "contents")); err != nil || info.Size() != 1 {
			t.Errorf("%q: it is not kept under its checksum: %v", key, err)
		}
	})
}

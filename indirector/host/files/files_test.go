package files_test

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"indirtui/indirector/host/files"
)

// dir is a directory with one file in it, "old" in "f" with mode 0640.
func dir(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, 0o640); err != nil { // whatever the umask
		t.Fatal(err)
	}
	return path
}

// holds checks the content of a file, its mode, and that nothing is beside it.
func holds(t *testing.T, path, content string, mode fs.FileMode) {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil || string(b) != content {
		t.Errorf("%s: got %q, %v; want %q", path, b, err, content)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != mode && runtime.GOOS != "windows" {
		t.Errorf("%s: got mode %v, %v; want %v", path, info.Mode(), err, mode)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), files.Prefix+"*")); left != nil {
		t.Errorf("left behind: %q", left)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		file string
		o    files.Options
		mode fs.FileMode
	}{
		{"mode of the old file", "f", files.Options{}, 0o640},
		{"mode that is given", "f", files.Options{Mode: 0o664}, 0o664},
		{"new file", "g", files.Options{}, 0o600},
		{"new file with a mode", "g", files.Options{Mode: 0o644}, 0o644},
		{"new file that is to be new", "g", files.Options{Mode: 0o444, New: true}, 0o444},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(filepath.Dir(dir(t)), tt.file)
			if err := files.Write(path, []byte("new"), tt.o); err != nil {
				t.Fatal(err)
			}
			holds(t, path, "new", tt.mode)
		})
	}
}

func TestFailureLeavesTheOldFile(t *testing.T) {
	t.Parallel()
	path := dir(t)
	var at *fs.PathError
	if err := files.Write(path, []byte("new"), files.Options{New: true}); !errors.Is(err, fs.ErrExist) || !errors.As(err, &at) || at.Path != path || at.Op != "open" {
		t.Errorf("got %v, want that %s exists", err, path)
	}
	holds(t, path, "old", 0o640)

	w, err := files.Create(path, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "new"); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := w.Abort(); err != nil {
			t.Error(err)
		}
	}
	holds(t, path, "old", 0o640)

	sub := filepath.Join(filepath.Dir(path), "sub")
	if err := os.Mkdir(sub, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := files.Write(sub, []byte("new"), files.Options{Mode: 0o644}); err == nil {
		t.Error("a directory is replaced")
	}
	holds(t, path, "old", 0o640)
	missing := filepath.Join(sub, "no", "f")
	if err := files.Write(missing, nil, files.Options{}); !errors.Is(err, fs.ErrNotExist) || !errors.As(err, &at) || at.Path != missing {
		t.Errorf("got %v, want that %s is missing", err, missing)
	}
}

// What is there by the time of the Commit is not overwritten either.
func TestNewIsNeverOverwritten(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	var all sync.WaitGroup
	var mu sync.Mutex
	var won []string
	var writers [8]*files.Writer
	for i := range writers {
		var err error
		if writers[i], err = files.Create(path, files.Options{New: true, Mode: 0o644}); err != nil {
			t.Fatal(err)
		}
	}
	for i, w := range writers {
		all.Go(func() {
			text := fmt.Sprint(i)
			_, err := io.WriteString(w, text)
			if err == nil {
				err = w.Commit()
			}
			switch {
			case err == nil:
				mu.Lock()
				defer mu.Unlock()
				won = append(won, text)
			case !errors.Is(err, fs.ErrExist):
				t.Error(err)
			}
		})
	}
	all.Wait()
	if len(won) != 1 {
		t.Fatalf("%d have written the file", len(won))
	}
	holds(t, path, won[0], 0o644)
}

func TestWriter(t *testing.T) {
	t.Parallel()
	path := dir(t)
	w, err := files.Create(path, files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := w.Seek(3, io.SeekCurrent); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(w, "x"); err != nil {
		t.Fatal(err)
	}
	if err := w.Truncate(5); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(w.Name()); err != nil || string(b) != "\x00\x00\x00x\x00" {
		t.Errorf("before Commit: got %q, %v", b, err)
	}
	to := filepath.Join(filepath.Dir(path), "sub", "g")
	if err := os.Mkdir(filepath.Dir(to), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := w.CommitTo(to); err != nil {
		t.Fatal(err)
	}
	if err := w.Abort(); err != nil || w.Name() != "" {
		t.Errorf("after Commit: got %v, %q", err, w.Name())
	}
	holds(t, to, strings.Repeat("\x00", 3)+"x\x00", 0o600)
	holds(t, path, "old", 0o640)
}

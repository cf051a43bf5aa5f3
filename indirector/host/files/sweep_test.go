//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"indirtui/indirector/host/files"
)

// TestSweep: a save removes what killed ones left an hour ago, and nothing else.
func TestSweep(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	old := time.Now().Add(-2 * time.Hour)
	leave := func(name string, at time.Time) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte("part"), 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.Chtimes(path, at, at); err != nil {
			t.Fatal(err)
		}
	}
	stays := []string{".save-", ".save-12x", ".save-3", "a", "save-1"}
	for _, name := range stays {
		leave(name, old)
	}
	leave(".save-3", time.Now())
	if err := os.Mkdir(filepath.Join(dir, ".save-4"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("a", filepath.Join(dir, ".save-5")); err != nil {
		t.Fatal(err)
	}
	leave(".save-1", old)
	leave(".save-18446744073709551615", old)
	if err := files.Write(filepath.Join(dir, "saved"), []byte("new"), files.Options{}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
	}
	want := append(slices.Clone(stays), ".save-4", ".save-5", "saved")
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestSweepLeavesOpenFiles: a file that is written slowly stays.
func TestSweepLeavesOpenFiles(t *testing.T) {
	t.Parallel()
	elsewhere, dir := t.TempDir(), t.TempDir()
	w, err := files.Create(filepath.Join(elsewhere, "f"), files.Options{})
	if err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-2 * time.Hour)
	if err := os.Chtimes(w.Name(), old, old); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(dir, filepath.Base(w.Name()))
	if err := os.Link(w.Name(), moved); err != nil {
		t.Fatal(err)
	}
	if err := files.Write(filepath.Join(dir, "saved"), nil, files.Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(moved); err != nil {
		t.Error(err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
}

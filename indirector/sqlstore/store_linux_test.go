package sqlstore_test

import (
	"errors"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"indirtui/indirector/sqlstore"
)

// TestReadOnlyDisk: a save fails with the path.
func TestReadOnlyDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mount(t, dir, "size=4m")
	path := filepath.Join(dir, "stores.db")
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	apply(t, s, facts(t, "a", 1, `{}`))
	if err := errors.Join(s.Close(), syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, "")); err != nil {
		t.Fatal(err)
	}
	s, err = sqlstore.Open(t.Context(), sqlstore.Options{Path: path})
	if err == nil {
		_, err = s.Apply(t.Context(), facts(t, "a", 2, `{}`))
		err = errors.Join(err, s.Close())
	}
	if err == nil || !strings.Contains(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

// TestFullDisk fills a small file system: the save fails with the path, and what was
// there is whole. Rule STORE-SQL-02.
func TestFullDisk(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	mount(t, dir, "size=2m")
	path := filepath.Join(dir, "stores.db")
	s, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: path})
	if err != nil {
		t.Fatal(err)
	}
	stored := 0
	for ; err == nil && stored < 1000; stored++ {
		_, err = s.Apply(t.Context(), benchCatalog(stored, 0, 1))
	}
	if err == nil || !strings.Contains(err.Error(), "the disk is full") || !strings.Contains(err.Error(), path) {
		t.Errorf("after %d catalogs: %v", stored, err)
	}
	checked(t, s)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// TestNetworkFileSystems: those are refused by name that have no locks.
func TestNetworkFileSystems(t *testing.T) {
	t.Parallel()
	kinds := sqlstore.NetworkKinds()
	if kinds[0x6969] != "nfs" || kinds[0xef53] != "" {
		t.Errorf("network file systems: %v", kinds)
	}
}

// TestPipe: a pipe is refused before it is opened, which may wait for ever.
func TestPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "stores.db")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip("no pipe can be made: ", err)
	}
	_, err := sqlstore.Open(t.Context(), sqlstore.Options{Path: path})
	if err == nil || !strings.Contains(err.Error(), "it is no regular file") {
		t.Errorf("got %v", err)
	}
}

// mount makes a small file system, or skips the test.
func mount(t *testing.T, dir, options string) {
	t.Helper()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, options); err != nil {
		t.Skip("no small file system can be mounted: ", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
}

//go:build unix

package disk_test

import (
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"

	"indirtui/termini/internal/disk"
)

// A pipe where a file should be is an error at once, not a wait for its writer.
func TestReadPipe(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "pipe")
	if err := unix.Mkfifo(path, 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := disk.Read(t.Context(), path)
	if want := "read " + path + ": is no regular file, but p---------"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %q", err, want)
	}
}

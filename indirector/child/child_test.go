package child_test

import (
	"context"
	"errors"
	"io"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"

	"indirtui/indirector/child"
)

func TestBufferKeepsTheFirstBytes(t *testing.T) {
	t.Parallel()
	full := 0
	b := child.Buffer{Max: 5, Full: func() { full++ }}
	for _, s := range []string{"abc", "de", "f", "ghi"} {
		if n, err := b.Write([]byte(s)); n != len(s) || err != nil {
			t.Errorf("%s: got %d, %v", s, n, err)
		}
	}
	if string(b.Kept) != "abcde" || full != 1 {
		t.Errorf("kept %q, full %d times", b.Kept, full)
	}
}

func TestEnvironmentHasNoUser(t *testing.T) {
	t.Setenv("HOME", "/home/me")
	t.Setenv("LC_ALL", "de_DE.UTF-8")
	t.Setenv("KEPT", "yes")
	got := child.Environment()
	if slices.Contains(got, "HOME=/home/me") || slices.Contains(got, "LC_ALL=de_DE.UTF-8") || !slices.Contains(got, "LC_ALL=C") || !slices.Contains(got, "KEPT=yes") {
		t.Errorf("got %q", got)
	}
}

// TestWriteFileCanBeRun has many goroutines write commands while others start
// theirs.
func TestWriteFileCanBeRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are shell scripts, and this system runs none")
	}
	dir := t.TempDir()
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			for j := range 40 {
				path := filepath.Join(dir, strconv.Itoa(i)+"-"+strconv.Itoa(j))
				err := child.WriteFile(path, []byte("#!/bin/sh\n"), 0o755)
				if err := errors.Join(err, exec.CommandContext(t.Context(), path).Run()); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
}

// TestSessionEndsWithItsCommand has a command leave something behind.
func TestSessionEndsWithItsCommand(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the command is a shell script, and this system runs none")
	}
	ctx, cancel := context.WithCancel(t.Context())
	c := exec.CommandContext(ctx, "/bin/sh", "-c", "sleep 600 & echo up; wait")
	child.Session(c)
	out, err := c.StdoutPipe()
	if err := errors.Join(err, c.Start()); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(out, make([]byte, 3)); err != nil {
		t.Fatal(err)
	}
	cancel()
	// The pipe ends when nobody holds it any more.
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("got %q, %v", rest, err)
	}
	if err := c.Wait(); err == nil {
		t.Error("the command ended well, want killed")
	}
}

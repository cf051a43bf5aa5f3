package child_test

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"indirtui/indirector/host/child"
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

// TestWriteFileCanBeRun has many goroutines write commands while others run
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

// TestRun has commands print, also after the wait.
func TestRun(t *testing.T) {
	t.Parallel()
	if runtime.GOOS == "windows" {
		t.Skip("the commands are shell scripts, and this system runs none")
	}
	for _, tt := range []struct {
		name, script, stdout, stderr string
		err                          error
	}{
		{"nothing", "", "", "", nil},
		{"both", "echo out; echo err >&2", "out\n", "err\n", nil},
		{"much", "head -c 300000 /dev/zero | tr '\\0' x", strings.Repeat("x", 300_000), "", nil},
		{"what it started ends soon", "(sleep 0.01; echo late) &", "late\n", "", nil},
		{"what it started goes on", "echo out; sleep 600 &", "out\n", "", exec.ErrWaitDelay},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithCancel(t.Context())
			c := exec.CommandContext(ctx, "/bin/sh", "-c", tt.script)
			child.Session(c)
			stdout, stderr := child.Buffer{Max: 1 << 20}, child.Buffer{Max: 1 << 20}
			c.Stdout, c.Stderr = &stdout, &stderr
			drain := time.Minute
			if tt.err != nil {
				drain = 100 * time.Millisecond
			}
			err := child.Run(c, drain)
			if string(stdout.Kept) != tt.stdout || string(stderr.Kept) != tt.stderr || !errors.Is(err, tt.err) {
				t.Errorf("got %d bytes, %q, %v", len(stdout.Kept), stderr.Kept, err)
			}
			_ = c.Cancel() // of the child
			cancel()
		})
	}
	c := exec.CommandContext(t.Context(), filepath.Join(t.TempDir(), "nothing"))
	c.Stdout = &child.Buffer{}
	if err := child.Run(c, time.Minute); !errors.Is(err, fs.ErrNotExist) || c.Process != nil {
		t.Errorf("no command: got %v", err)
	}
	c = exec.CommandContext(t.Context(), "/bin/sh", "-c", "exit 3")
	c.Stdout = &child.Buffer{}
	if exit := (*exec.ExitError)(nil); !errors.As(child.Run(c, time.Minute), &exit) || exit.ExitCode() != 3 {
		t.Errorf("exit 3: got %v", exit)
	}
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
	// The pipe ends when no process holds it.
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("got %q, %v", rest, err)
	}
	if err := c.Wait(); err == nil {
		t.Error("the command ended well, want killed")
	}
}

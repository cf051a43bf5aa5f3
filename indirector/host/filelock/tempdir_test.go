//go:build unix

package filelock_test

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"

	"indirtui/indirector/host/filelock"
)

// TestMain runs as another process if FILELOCK_HOLD is set: it makes a directory,
// prints its path, and lives until it is killed or its input ends.
func TestMain(m *testing.M) {
	if os.Getenv("FILELOCK_HOLD") == "" {
		os.Exit(m.Run())
	}
	d, err := filelock.MakeTemp("held-")
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	fmt.Println(d.Path)
	_, _ = io.Copy(io.Discard, os.Stdin) // until it ends
	if err := d.Remove(); err != nil {
		os.Exit(1)
	}
	os.Exit(0)
}

// What a killed process has left goes when the next one begins; what a living
// one has, what is no such directory, and what may be of another user stays.
func TestDirectoriesOfTheDead(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	there := func() []string {
		t.Helper()
		list, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, e := range list {
			names = append(names, filepath.Join(dir, e.Name()))
		}
		return names
	}
	start := func() (path string, c *exec.Cmd, in io.Closer) {
		t.Helper()
		c = exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), "FILELOCK_HOLD=1")
		stdin, err := c.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		out, err := c.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		line, err := bufio.NewReader(out).ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		return line[:len(line)-1], c, stdin
	}
	dead, killed, _ := start()
	alive, living, stdin := start()
	if err := killed.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = killed.Wait() // it was killed
	if err := os.WriteFile(filepath.Join(dead, "a file"), []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}

	// None of these is ours to remove.
	bare, open, link, target := filepath.Join(dir, "held-bare"), filepath.Join(dir, "held-open"), filepath.Join(dir, "held-link"), filepath.Join(dir, "target")
	for _, d := range []string{bare, open, target} {
		if err := os.Mkdir(d, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []string{open, target} {
		if err := os.WriteFile(filepath.Join(d, ".lock"), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(open, 0o755); err != nil { // another user may have put something in
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}

	d, err := filelock.MakeTemp("held-")
	if err != nil {
		t.Fatal(err)
	}
	want := []string{alive, bare, open, link, target, d.Path}
	slices.Sort(want)
	if got := there(); !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if err := d.Remove(); err != nil {
		t.Fatal(err)
	}
	if err := stdin.Close(); err != nil {
		t.Fatal(err)
	}
	if err := living.Wait(); err != nil {
		t.Error(err)
	}
	for _, path := range []string{alive, d.Path, dead} {
		if slices.Contains(there(), path) {
			t.Errorf("%s is still there", path)
		}
	}
}

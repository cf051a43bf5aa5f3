//go:build unix

package filelock_test

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"indirtui/indirector/host/filelock"
)

func TestLockPID(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "state", "run.lock")
	release, err := filelock.LockPID(path)
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil || string(text) != strconv.Itoa(os.Getpid()) {
		t.Errorf("the file has %q, %v", text, err)
	}
	var held *filelock.HeldError
	if _, err := filelock.LockPID(path); !errors.As(err, &held) || held.PID != os.Getpid() {
		t.Errorf("a second one got %v", err)
	}
	if ruby, err := exec.LookPath("ruby"); err != nil {
		t.Log("there is no ruby here, so no real Puppet that respects the lock")
	} else if out, err := exec.CommandContext(t.Context(), ruby, "-e",
		"require 'puppet'; require 'puppet/util/pidlock'; print Puppet::Util::Pidlock.new(ARGV[0]).locked?", path).Output(); err != nil {
		t.Logf("ruby has no Puppet here that respects the lock: %v", err)
	} else if string(out) != "true" {
		t.Errorf("real Puppet takes it for locked: %s", out)
	}
	if err := release(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("it is left behind: %v", err)
	}
}

// What a dead process has left, or one that cannot be Puppet, is taken over; what is no
// number is, too, as Puppet does it.
func TestLockPIDLeftBehind(t *testing.T) {
	t.Parallel()
	other := exec.CommandContext(t.Context(), "cat")
	in, err := other.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = other.Wait()
	})
	for name, content := range map[string]string{
		"dead": "999999999", "no number": "x", "empty": "", "another program": strconv.Itoa(other.Process.Pid), "long": strings.Repeat("1", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if _, err := os.Stat("/proc/self/comm"); err != nil && name == "another program" {
				t.Skip("this system does not show the names of processes as files")
			}
			path := filepath.Join(t.TempDir(), "run.lock")
			if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
			release, err := filelock.LockPID(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := release(); err != nil {
				t.Error(err)
			}
		})
	}
}

// Package namespacetest runs a test in namespaces of its own, where it may mount and
// rename what it likes.
package namespacetest

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// inside is set in the process that has the namespaces, to a directory for its mounts.
const inside = "INDIRTUI_TEST_NAMESPACES"

// Enter reports whether this process has namespaces of its own, and returns a directory
// for its mounts then. Else it runs the test again in one that has those of flags
// (CLONE_NEWNS, ...), and as root of a user namespace where this user is not root; the
// caller returns. Where there can be none the test is skipped.
func Enter(t *testing.T, flags uintptr) (dir string, is bool) {
	t.Helper()
	if dir := os.Getenv(inside); dir != "" {
		return dir, true
	}
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c := exec.CommandContext(t.Context(), program, "-test.v", "-test.run=^"+strings.ReplaceAll(t.Name(), "/", "$/^")+"$")
	c.Env = append(os.Environ(), inside+"="+t.TempDir())
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: flags}
	if os.Geteuid() != 0 {
		c.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
		c.SysProcAttr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Geteuid(), Size: 1}}
		c.SysProcAttr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getegid(), Size: 1}}
	}
	out, err := c.CombinedOutput()
	var ended *exec.ExitError
	switch {
	case err != nil && !errors.As(err, &ended):
		t.Skipf("no namespaces can be made here: %v", err)
	case err != nil:
		t.Errorf("%v\n%s", err, out)
	case strings.Contains(string(out), "--- SKIP"):
		t.Skipf("%s", out)
	case !strings.Contains(string(out), "--- PASS: "+t.Name()+" "):
		t.Errorf("%s did not run:\n%s", t.Name(), out)
	}
	return "", false
}

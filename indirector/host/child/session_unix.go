//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// Session gives a command its own session, without a terminal; killing it kills
// what it started.
func Session(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

//go:build unix

package child

import (
	"os/exec"
	"syscall"
)

// Session gives a command a session of its own: it has no terminal, and when it
// is killed, what it started is killed with it.
func Session(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

//go:build unix

package exec

import (
	"os/exec"
	"syscall"
)

// session puts the command into a session of its own, and lets a cancel kill
// all of that.
func session(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
}

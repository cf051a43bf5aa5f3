//go:build unix

package facter

import (
	"os/exec"
	"syscall"
)

// killGroup puts cmd into a process group of its own and lets the end of its
// context kill the group.
func killGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}

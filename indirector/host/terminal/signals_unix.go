//go:build unix

package terminal

import (
	"os"
	"syscall"
)

// terminate asks a process and those of its group to end.
func terminate(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGTERM) } // it may have ended

func kill(p *os.Process) { _ = syscall.Kill(-p.Pid, syscall.SIGKILL) }

// signalOf is the number of the signal that has ended a process.
func signalOf(s *os.ProcessState) int {
	if status, ok := s.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return int(status.Signal())
	}
	return 0
}

//go:build unix

package filelock

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
)

// running reports whether a process lives that may hold a lock of Puppet's: one of
// Puppet's, as Puppet decides it, or one of which that cannot be found out.
func running(pid int) (program string, lives bool) {
	if err := syscall.Kill(pid, 0); errors.Is(err, syscall.ESRCH) {
		return "", false
	}
	name, err := os.ReadFile(fmt.Sprintf("/proc/%d/comm", pid))
	if err != nil {
		return "", true
	}
	line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", pid))
	program = strings.TrimSpace(strings.ReplaceAll(string(line), "\x00", " "))
	is := strings.TrimSpace(string(name))
	_, kind, puppets := strings.Cut(is, "puppet")
	puppets = puppets && (kind == "" || kind[0] == '-')
	return program, puppets || strings.Contains(is, "ruby") && strings.Contains(program, "puppet")
}

// callProcess gives this process a name, where that can be done, and returns what takes
// it back.
func callProcess(name string) (restore func()) {
	const file = "/proc/self/comm"
	was, err := os.ReadFile(file)
	if err != nil || os.WriteFile(file, []byte(name), 0) != nil {
		return func() {}
	}
	return func() { _ = os.WriteFile(file, was, 0) } // it had that name before
}

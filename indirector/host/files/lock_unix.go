//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package files

import (
	"errors"
	"syscall"
)

// lock locks a file for as long as it is open. It reports false if another
// process has it, or if there are no locks.
func lock(fd uintptr) bool {
	for {
		err := syscall.Flock(int(fd), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EINTR) {
			return err == nil
		}
	}
}

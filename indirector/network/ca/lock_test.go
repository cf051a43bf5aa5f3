//go:build linux || darwin

package ca_test

import (
	"os"
	"syscall"
	"testing"
)

func holdLock(t *testing.T, f *os.File) {
	t.Helper()
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		t.Fatal(err)
	}
}

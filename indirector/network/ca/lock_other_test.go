//go:build !linux && !darwin

package ca_test

import (
	"os"
	"testing"
)

func holdLock(t *testing.T, _ *os.File) {
	t.Helper()
	t.Skip("this system has no flock: whether two processes keep apart can be tested on Unix only")
}

//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package ca

import (
	"errors"
	"os"
)

// tryLock fails: without a lock a directory cannot be shared.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

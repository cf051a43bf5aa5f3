//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package filelock

import (
	"errors"
	"os"
)

// Try fails: without the lock that Ruby takes, nothing can be shared with it.
func Try(*os.File) (bool, error) { return false, errors.ErrUnsupported }

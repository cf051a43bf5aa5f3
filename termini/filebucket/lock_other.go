//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd && !windows

package filebucket

import (
	"errors"
	"os"
)

// tryLock fails: without the lock that Ruby takes, a bucket cannot be shared.
func tryLock(*os.File) (bool, error) { return false, errors.ErrUnsupported }

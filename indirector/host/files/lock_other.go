//go:build !darwin && !dragonfly && !freebsd && !linux && !netbsd && !openbsd

package files

// lock is never sure that nobody has a file.
func lock(uintptr) bool { return false }

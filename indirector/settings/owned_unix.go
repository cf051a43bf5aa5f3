//go:build unix

package settings

import (
	"os"
	"syscall"
)

// owned reports whether path belongs to the user of this process.
func owned(path string) bool {
	info, err := os.Stat(path)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid()
}

//go:build unix

package filelock

import (
	"io/fs"
	"os"
	"syscall"
)

// mine reports whether only this user can change a file.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Geteuid() && info.Mode().Perm()&0o077 == 0
}

//go:build unix

package disk

import (
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// keepOwner gives temp the owner of the file that it will replace.
func keepOwner(temp, path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return nil // there is nothing to keep
	}
	old, ok := info.Sys().(*syscall.Stat_t)
	if !ok || int(old.Uid) == os.Geteuid() && int(old.Gid) == os.Getegid() {
		return nil
	}
	return os.Chown(temp, int(old.Uid), int(old.Gid))
}

func ownerOf(info fs.FileInfo) string {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return fmt.Sprintf(" of %d:%d", s.Uid, s.Gid)
	}
	return ""
}

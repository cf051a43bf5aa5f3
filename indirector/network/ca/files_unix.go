//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package ca

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
)

// fileID is the inode.
func fileID(info fs.FileInfo) uint64 {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return uint64(s.Ino)
	}
	return 0
}

// giveTo gives path the owner of another file. Only root can, and only root
// needs to.
func giveTo(path, like string) error {
	if os.Geteuid() != 0 {
		return nil
	}
	info, err := os.Stat(like)
	if err != nil {
		return err
	}
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok || s.Uid == 0 && s.Gid == 0 {
		return nil
	}
	return os.Chown(path, int(s.Uid), int(s.Gid))
}

// runnable reports whether a file is executable.
func runnable(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Mode()&0o111 != 0 }

func brokenPipe(err error) bool { return errors.Is(err, syscall.EPIPE) }

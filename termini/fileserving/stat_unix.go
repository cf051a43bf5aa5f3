//go:build unix

package fileserving

import (
	"io"
	"time"

	"golang.org/x/sys/unix"

	"indirtui/termini/internal/disk"
)

func stat(path string) (status, error)  { return ask(unix.Stat, path) }
func lstat(path string) (status, error) { return ask(unix.Lstat, path) }

func ask(call func(string, *unix.Stat_t) error, path string) (status, error) {
	var s unix.Stat_t
	for {
		switch err := call(path, &s); err {
		case nil:
			return statusOf(&s), nil
		case unix.EINTR:
		default:
			return status{}, err
		}
	}
}

func statusOf(s *unix.Stat_t) status {
	return status{
		kind: kinds[uint32(s.Mode)&unix.S_IFMT>>12], uid: int(s.Uid), gid: int(s.Gid), mode: int(s.Mode) & 0o7777, size: s.Size,
		mtime:  time.Unix(int64(s.Mtim.Sec), int64(s.Mtim.Nsec)),
		ctime:  time.Unix(int64(s.Ctim.Sec), int64(s.Ctim.Nsec)),
		device: uint64(s.Dev), node: s.Ino,
	}
}

var kinds = [16]string{
	"unknown", "fifo", "characterSpecial", "unknown", "directory", "unknown", "blockSpecial", "unknown",
	"file", "unknown", "link", "unknown", "socket", "unknown", "unknown", "unknown",
}

// openFile opens path for reading without waiting for the writer of a pipe.
func openFile(path string, follow bool) (io.ReadCloser, status, error) {
	file, s, err := disk.Open(path, follow)
	if err != nil {
		return nil, status{}, err
	}
	return file, statusOf(&s), nil
}

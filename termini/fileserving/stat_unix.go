//go:build unix

package fileserving

import (
	"io"
	"time"

	"golang.org/x/sys/unix"
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
	flags := unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	for {
		fd, err := unix.Open(path, flags, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return nil, status{}, err
		}
		var s unix.Stat_t
		if err := unix.Fstat(fd, &s); err != nil {
			unix.Close(fd)
			return nil, status{}, err
		}
		return descriptor(fd), statusOf(&s), nil
	}
}

// A descriptor is a file that is read once and by one only: a search opens
// thousands, and an os.File asks the kernel more than that needs.
type descriptor int

func (d descriptor) Read(p []byte) (int, error) {
	for {
		switch n, err := unix.Read(int(d), p); {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

func (d descriptor) Close() error { return unix.Close(int(d)) }

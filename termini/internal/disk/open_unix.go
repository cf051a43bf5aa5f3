//go:build unix

package disk

import (
	"io"
	"io/fs"
	"time"

	"golang.org/x/sys/unix"
)

// Open opens path for reading without waiting for the writer of a pipe, and
// returns its status. Without follow a link is an error. The error is the
// kernel's.
func Open(path string, follow bool) (Descriptor, unix.Stat_t, error) {
	flags := unix.O_RDONLY | unix.O_CLOEXEC | unix.O_NONBLOCK
	if !follow {
		flags |= unix.O_NOFOLLOW
	}
	var s unix.Stat_t
	for {
		fd, err := unix.Open(path, flags, 0)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return -1, s, err
		}
		if err := unix.Fstat(fd, &s); err != nil {
			unix.Close(fd)
			return -1, s, err
		}
		return Descriptor(fd), s, nil
	}
}

// A Descriptor is a file that is read once and by one only: an os.File asks the
// kernel nine times where a small file needs four.
type Descriptor int

// Read reads from the file.
func (d Descriptor) Read(p []byte) (int, error) {
	for {
		switch n, err := unix.Read(int(d), p); {
		case err == unix.EINTR:
		case err != nil:
			return 0, err
		case n == 0 && len(p) > 0:
			return 0, io.EOF
		default:
			return n, nil
		}
	}
}

// Close closes the file.
func (d Descriptor) Close() error { return unix.Close(int(d)) }

// open opens path, and returns what Read wants to know of it.
func open(path string) (io.ReadCloser, opened, error) {
	file, s, err := Open(path, true)
	if err != nil {
		return nil, opened{}, &fs.PathError{Op: "open", Path: path, Err: err}
	}
	return file, opened{
		kind: kinds[uint32(s.Mode)&unix.S_IFMT], size: s.Size, written: time.Unix(int64(s.Mtim.Sec), int64(s.Mtim.Nsec)),
	}, nil
}

var kinds = map[uint32]fs.FileMode{
	unix.S_IFREG: 0, unix.S_IFDIR: fs.ModeDir, unix.S_IFIFO: fs.ModeNamedPipe, unix.S_IFSOCK: fs.ModeSocket,
	unix.S_IFBLK: fs.ModeDevice, unix.S_IFCHR: fs.ModeDevice | fs.ModeCharDevice, unix.S_IFLNK: fs.ModeSymlink,
}

//go:build unix

package files

import (
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
)

// createTemp is os.CreateTemp with two questions to the kernel instead of six.
func createTemp(dir string) (*os.File, error) {
	for {
		name := filepath.Join(dir, fmt.Sprint(Prefix, rand.Uint64()))
		fd, err := open(name, syscall.O_RDWR|syscall.O_CREAT|syscall.O_EXCL)
		if err == nil {
			lock(uintptr(fd)) // until it is closed: it is not abandoned
			return os.NewFile(uintptr(fd), name), nil
		}
		if !errors.Is(err, fs.ErrExist) {
			return nil, err
		}
	}
}

func open(name string, flags int) (int, error) {
	for {
		fd, err := syscall.Open(name, flags|syscall.O_CLOEXEC, 0o600)
		if err == nil {
			return fd, nil
		}
		if err != syscall.EINTR {
			return -1, &fs.PathError{Op: "open", Path: name, Err: err}
		}
	}
}

// rename is os.Rename without asking whether there is a directory: the kernel
// refuses that.
func rename(from, to string) error {
	for {
		switch err := syscall.Rename(from, to); err {
		case nil:
			return nil
		case syscall.EINTR:
		default:
			return &os.LinkError{Op: "rename", Old: from, New: to, Err: err}
		}
	}
}

// syncDir makes a renaming last. Not every file system can, and a directory may
// be closed to its reader.
func syncDir(dir string) error {
	fd, err := open(dir, syscall.O_RDONLY)
	if errors.Is(err, fs.ErrPermission) {
		return nil
	}
	if err != nil {
		return err
	}
	err = syscall.Fsync(fd)
	for err == syscall.EINTR {
		err = syscall.Fsync(fd)
	}
	if e := syscall.Close(fd); err == nil {
		err = e
	}
	if err == nil || err == syscall.EINVAL || errors.Is(err, errors.ErrUnsupported) {
		return nil
	}
	return &fs.PathError{Op: "sync", Path: dir, Err: err}
}

// mine reports whether a file belongs to this user. For root all do.
func mine(info fs.FileInfo) bool {
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && (int(stat.Uid) == os.Geteuid() || os.Geteuid() == 0)
}

// giveTo gives a file user and group of another one.
func giveTo(f *os.File, like fs.FileInfo) error {
	want, ok := like.Sys().(*syscall.Stat_t)
	if !ok {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	if has, ok := info.Sys().(*syscall.Stat_t); ok && has.Uid == want.Uid && has.Gid == want.Gid {
		return nil
	}
	return f.Chown(int(want.Uid), int(want.Gid))
}

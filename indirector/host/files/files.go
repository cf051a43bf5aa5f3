// Package files replaces files: whoever reads one, or finds it after a crash,
// sees the old content or the new one, never a part. The content goes to a
// temporary file beside it, is synced and renamed, and the directory is synced.
//
//	err := files.Write(path, content, files.Options{Mode: 0o644})
//
// What is too large for one piece is written to a [Writer]. A process that is
// killed leaves the old file, the new one, and perhaps a hidden file whose name
// begins with [Prefix], which nothing reads. A save an hour later removes it.
package files

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Prefix begins the names of temporary files.
const Prefix = ".save-"

// Options set permissions and owner. With the zero value the new file has those
// of the old one; where there is none, only this user may read it.
type Options struct {
	Mode  fs.FileMode // permissions, whatever the umask; 0 keeps those of the old file, or is 0600
	Owner Owner
	New   bool // nothing may be there: otherwise the error is fs.ErrExist, of an open
}

// An Owner selects whom the new file belongs to.
type Owner uint8

const (
	// Keep keeps user and group of the old file as far as this process may.
	Keep Owner = iota
	// Inherit is Keep, and what root writes anew belongs to the owner of the
	// directory.
	Inherit
	// Must fails if user and group of the old file cannot be kept, as Puppet does.
	Must
)

// Write replaces the file at path. Errors are about path. If the last one, of
// syncing the directory, is not nil, the new file is there all the same.
func Write(path string, content []byte, o Options) error {
	w, err := Create(path, o)
	if err != nil {
		return err
	}
	if _, err := w.Write(content); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Commit()
}

// A Writer is a file that is not in its place yet. It ends with Commit or
// Abort. It is for one goroutine.
type Writer struct {
	temp *os.File // nil after Commit and Abort
	path string
	o    Options
}

// Create makes the temporary file of path, in the same directory.
func Create(path string, o Options) (*Writer, error) {
	if o.New {
		if _, err := os.Lstat(path); err == nil {
			return nil, taken(path)
		}
	}
	sweepOnce(filepath.Dir(path))
	temp, err := createTemp(filepath.Dir(path))
	if err != nil {
		return nil, about(path, err)
	}
	return &Writer{temp, path, o}, nil
}

// Name is the name of the temporary file, which may be read. It is "" after
// Commit and Abort.
func (w *Writer) Name() string {
	if w.temp == nil {
		return ""
	}
	return w.temp.Name()
}

// Write writes where the last Write or Seek ended.
func (w *Writer) Write(b []byte) (int, error) {
	n, err := w.temp.Write(b)
	return n, about(w.path, err)
}

// Seek moves to where Write goes on. What is skipped is a hole.
func (w *Writer) Seek(offset int64, whence int) (int64, error) {
	n, err := w.temp.Seek(offset, whence)
	return n, about(w.path, err)
}

// Truncate gives the file its size, if it ends with a hole.
func (w *Writer) Truncate(size int64) error { return about(w.path, w.temp.Truncate(size)) }

var _ io.WriteSeeker = (*Writer)(nil)

// Commit puts the file in its place. When it fails, the old file is whole, but
// for an error of syncing the directory, and the temporary file is gone.
func (w *Writer) Commit() error { return w.CommitTo(w.path) }

// CommitTo is Commit with another path, which is known late. It must be on the
// same file system.
func (w *Writer) CommitTo(path string) error {
	name := w.temp.Name()
	err := w.seal(path)
	if e := w.temp.Close(); err == nil {
		err = about(path, e)
	}
	w.temp = nil
	if err == nil && w.o.New {
		err = link(name, path)
	} else if err == nil {
		err = rename(name, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(name))
	}
	return about(path, syncDir(filepath.Dir(path)))
}

// seal gives the file its owner and mode, and brings it to the disk. The owner
// comes first: changing it takes away the set-user-id bit.
func (w *Writer) seal(path string) error {
	mode, err := w.own(path)
	if err == nil {
		err = w.temp.Chmod(mode)
	}
	if err == nil {
		err = w.temp.Sync()
	}
	return about(path, err)
}

// own gives the file its owner, and returns the mode that it is to have.
func (w *Writer) own(path string) (fs.FileMode, error) {
	stat := os.Stat
	if w.o.Owner == Must {
		stat = os.Lstat // Puppet's replace_file asks so
	}
	old, err := stat(path)
	mode := w.o.Mode
	if err != nil {
		mode = cmp.Or(mode, 0o600)
		if w.o.Owner != Inherit || os.Geteuid() != 0 {
			return mode, nil
		}
		if old, err = os.Stat(filepath.Dir(path)); err != nil {
			return mode, err
		}
	} else if mode == 0 {
		mode = old.Mode().Perm()
	}
	err = giveTo(w.temp, old)
	if w.o.Owner != Must && os.Geteuid() != 0 && errors.Is(err, fs.ErrPermission) {
		err = nil
	}
	return mode, err
}

// Abort removes what was written. After Commit and after Abort it does nothing.
func (w *Writer) Abort() error {
	if w.temp == nil {
		return nil
	}
	err := errors.Join(w.temp.Close(), os.Remove(w.temp.Name()))
	w.temp = nil
	return err
}

// link gives the file its name, which must be free.
func link(temp, path string) error {
	err := os.Link(temp, path)
	switch {
	case err == nil:
		return os.Remove(temp)
	case errors.Is(err, fs.ErrExist):
		return taken(path)
	}
	// A file system without links: the name is taken first. Only a kill before
	// the renaming leaves an empty file.
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	err = f.Close()
	if err == nil {
		err = rename(temp, path)
	}
	if err != nil {
		return errors.Join(err, os.Remove(path))
	}
	return nil
}

func taken(path string) error {
	return &fs.PathError{Op: "open", Path: path, Err: syscall.EEXIST}
}

// about returns err with path instead of a temporary name.
func about(path string, err error) error {
	if e := (*fs.PathError)(nil); errors.As(err, &e) {
		return &fs.PathError{Op: e.Op, Path: path, Err: e.Err}
	}
	if err != nil {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}

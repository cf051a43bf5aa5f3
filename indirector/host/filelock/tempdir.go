package filelock

import (
	"errors"
	"os"
	"path/filepath"
)

// A TempDir is a temporary directory that is locked as long as the process
// lives, so that others see when it is no longer needed.
type TempDir struct {
	Path string
	lock *os.File // nil where nothing can be locked
}

// lockName is the file in it that is locked.
const lockName = ".lock"

// MakeTemp makes a temporary directory whose name begins with prefix, and
// removes those that were left behind by processes of this user that were
// killed. Remove takes it away.
func MakeTemp(prefix string) (*TempDir, error) {
	sweep(prefix)
	path, err := os.MkdirTemp("", prefix)
	if err != nil {
		return nil, err
	}
	d := &TempDir{Path: path}
	if err := d.hold(); err != nil && !errors.Is(err, errors.ErrUnsupported) {
		return nil, errors.Join(err, d.Remove())
	}
	return d, nil
}

// hold locks the directory. The lock gets its name when it is locked, so that
// no process finds it free before.
func (d *TempDir) hold() error {
	f, err := os.CreateTemp(d.Path, lockName)
	if err != nil {
		return err
	}
	d.lock = f
	if _, err := Try(f); err != nil {
		return err
	}
	return os.Rename(f.Name(), filepath.Join(d.Path, lockName))
}

// Remove removes the directory with what is in it. A nil TempDir is none.
func (d *TempDir) Remove() error {
	if d == nil {
		return nil
	}
	var err error
	if d.lock != nil {
		err = d.lock.Close() // some systems remove no open file
	}
	return errors.Join(err, os.RemoveAll(d.Path))
}

// sweep removes the directories of dead processes. What cannot be removed does
// no harm and is left.
func sweep(prefix string) {
	paths, _ := filepath.Glob(filepath.Join(os.TempDir(), prefix+"*")) // a name that is no pattern names nothing
	for _, path := range paths {
		info, err := os.Lstat(path)
		if err != nil || !info.IsDir() || !mine(info) {
			continue
		}
		if isFree(filepath.Join(path, lockName)) {
			_ = os.RemoveAll(path) // follows no link
		}
	}
}

// isFree reports whether a lock exists and no process holds it.
func isFree(path string) bool {
	info, err := os.Lstat(path)
	if err != nil || !info.Mode().IsRegular() || !mine(info) {
		return false
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return false
	}
	defer f.Close()
	locked, err := Try(f)
	return err == nil && locked
}

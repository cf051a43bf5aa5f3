package filelock

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// A HeldError reports a lock that a process holds.
type HeldError struct {
	Path    string
	PID     int
	Program string // its command line; "" if that is not known
}

func (e *HeldError) Error() string {
	text := fmt.Sprintf("lock %q: process %d has it", e.Path, e.PID)
	if e.Program != "" {
		text += " (" + e.Program + ")"
	}
	return text
}

// LockPID takes the lock of Puppet's agents: a file with the number of the process, which
// release removes. A file that a process has left behind is taken over. If another one
// lives, or this one has it already, it is a [HeldError].
//
// Puppet takes a lock for left behind unless the name of the process is one of its own, so
// this process is called puppet-indirtui meanwhile, where that can be done.
func LockPID(path string) (release func() error, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o750); err != nil {
		return nil, err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	if errors.Is(err, fs.ErrExist) {
		if err := clearStale(path); err != nil {
			return nil, err
		}
		f, err = os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
	}
	if err != nil {
		return nil, fmt.Errorf("lock %q: %w", path, err)
	}
	_, err = f.WriteString(strconv.Itoa(os.Getpid()))
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, errors.Join(fmt.Errorf("lock %q: %w", path, err), os.Remove(path))
	}
	restore := callProcess(processName)
	return func() error {
		restore()
		return os.Remove(path)
	}, nil
}

// processName is one that Puppet takes for its own, and as long as a name can be.
const processName = "puppet-indirtui"

// maxPID bounds what is read of a lock.
const maxPID = 64

// clearStale removes a lock that no process has. Two that find the same one do not remove
// what one of them has put in its place: only who has the old file locked removes it.
func clearStale(path string) error {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("lock %q: %w", path, err)
	}
	defer f.Close()
	if locked, err := Try(f); err == nil && !locked {
		return fmt.Errorf("lock %q: another process is looking at it", path)
	}
	text, err := io.ReadAll(io.LimitReader(f, maxPID))
	if err != nil {
		return fmt.Errorf("lock %q: %w", path, err)
	}
	if pid, err := strconv.Atoi(strings.TrimSpace(string(text))); err == nil && pid > 0 {
		if program, lives := running(pid); lives {
			return &HeldError{path, pid, program}
		}
	}
	there, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	mine, errMine := f.Stat()
	if err := errors.Join(err, errMine); err != nil {
		return fmt.Errorf("lock %q: %w", path, err)
	}
	if !os.SameFile(there, mine) {
		return nil // another process has taken it over; this one finds that out next
	}
	return os.Remove(path)
}

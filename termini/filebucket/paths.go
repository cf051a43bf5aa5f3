package filebucket

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"indirtui/indirector"
	"indirtui/indirector/host/filelock"
	"indirtui/termini/internal/disk"
	"indirtui/traces"
)

const errIsDir = syscall.EISDIR

// Permissions in a bucket, whatever the umask. Rule TERM-FB-02.
const (
	dirMode      = 0o770
	contentsMode = 0o440
	pathsMode    = 0o640
)

// makeDir creates a directory and those above it that are missing.
func makeDir(dir string) error {
	err := os.Mkdir(dir, dirMode)
	if errors.Is(err, fs.ErrNotExist) && filepath.Dir(dir) != dir {
		if err := makeDir(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, dirMode)
	}
	if err == nil {
		return os.Chmod(dir, dirMode)
	}
	if info, e := os.Stat(dir); e == nil && info.IsDir() {
		return nil // it was there, or another was faster
	}
	return err
}

// lockPaths opens the paths of an entry, and waits for their lock. Close
// unlocks them. Rule TERM-FB-03.
func (e entry) lockPaths(ctx context.Context) (f *os.File, err error) {
	_, span := traces.Start(ctx, traces.File, "lock paths")
	span.Attr("path", e.paths())
	defer func() {
		if err != nil {
			span.End("failed", traces.Because{}, err)
			return
		}
		span.End("locked", traces.Because{}, nil)
	}()
	f, err = openPaths(e.paths())
	if err != nil {
		return nil, disk.Fail(err, e.paths(), "")
	}
	if err := wait(ctx, f); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func openPaths(path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE|os.O_EXCL, pathsMode)
	if errors.Is(err, fs.ErrExist) {
		info, err := os.Stat(path)
		if err == nil && !info.Mode().IsRegular() && !info.IsDir() {
			return nil, &fs.PathError{Op: "open", Path: path, Err: fmt.Errorf("is no regular file, but %s", info.Mode().Type())}
		}
		return os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, pathsMode)
	}
	if err != nil {
		return nil, err
	}
	if err := f.Chmod(pathsMode); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// Waiting for a lock, as Puppet does; the longest pause is ours.
const (
	patience  = 300 * time.Second
	shortest  = time.Millisecond
	longest   = 100 * time.Millisecond
	waitClass = "Timeout::Error"
)

func wait(ctx context.Context, f *os.File) error {
	pause, waited := shortest, time.Duration(0)
	for {
		locked, err := filelock.Try(f)
		switch {
		case err != nil:
			return disk.Fail(&fs.PathError{Op: "lock", Path: f.Name(), Err: err}, f.Name(), "")
		case locked:
			return nil
		case waited >= patience:
			return &indirector.Failure{
				Class: waitClass, Message: fmt.Sprintf(msgLock, f.Name()), Origin: "file", Path: f.Name(),
				Hidden: "somebody else has held the lock for " + patience.String(),
			}
		}
		if err := indirector.Sleep(ctx, pause); err != nil {
			return err
		}
		waited += pause
		pause = min(2*pause, longest)
	}
}

// lists reports whether a line of r is path. Nothing compares equal to a path
// with a line break in it.
func lists(r io.Reader, path string) (bool, error) {
	lines := bufio.NewReaderSize(r, max(len(path)+2, 4096))
	whole := true // the line did not begin in an earlier buffer
	for {
		line, err := lines.ReadSlice('\n')
		if whole && err != bufio.ErrBufferFull && len(line) > 0 && string(chomp(line)) == path {
			return true, nil
		}
		whole = err != bufio.ErrBufferFull
		switch err {
		case nil, bufio.ErrBufferFull:
		case io.EOF:
			return false, nil
		default:
			return false, err
		}
	}
}

// chomp takes one line break off the end of a line.
func chomp(line []byte) []byte {
	for _, end := range []string{"\r\n", "\n", "\r"} {
		if short, ok := bytes.CutSuffix(line, []byte(end)); ok {
			return short
		}
	}
	return line
}

// addPath appends a path to the locked paths, unless it is there. A last line
// without its end gets it first. Rule TERM-FB-03.
func addPath(ctx context.Context, f *os.File, path string) error {
	if path == "" {
		return nil
	}
	info, err := f.Stat()
	if err != nil {
		return err
	}
	listed, err := lists(io.NewSectionReader(f, 0, info.Size()), path)
	if err != nil || listed {
		return err
	}
	line := path
	if line[len(line)-1] != '\n' {
		line += "\n"
	}
	if n := info.Size(); n > 0 {
		var last [1]byte
		if _, err := f.ReadAt(last[:], n-1); err != nil {
			return err
		}
		if last[0] != '\n' {
			line = "\n" + line
		}
	}
	_, span := traces.Start(ctx, traces.File, "write paths")
	span.Attr("path", f.Name())
	n, err := f.WriteString(line)
	if err != nil && n > 0 { // a part of a path would be another path
		err = errors.Join(err, f.Truncate(info.Size()))
	}
	span.End(strconv.Itoa(n)+" bytes", traces.Because{}, err)
	return err
}

package ca

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"indirtui/indirector/host/filelock"
	"indirtui/indirector/host/files"
	"indirtui/traces"
)

// Modes of files and directories, as Puppet and Puppet Server make them.
const (
	privateMode    fs.FileMode = 0o640
	publicMode     fs.FileMode = 0o644
	dirMode        fs.FileMode = 0o755
	privateDirMode fs.FileMode = 0o750 // of keys, and of what the CA has signed
	sslMode        fs.FileMode = 0o771 // of the setting ssldir
)

// A stamp identifies the version of a file. Files are replaced by renaming.
type stamp struct {
	at   time.Time
	size int64
	id   uint64
}

func stampOf(path string) (stamp, error) {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}, err
	}
	return stamp{info.ModTime(), info.Size(), fileID(info)}, nil
}

// readFile reads a file of limited size.
func readFile(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: path, Err: errors.New("is not a regular file")}
	}
	if info.Size() > maxFile {
		return nil, &fs.PathError{Op: "read", Path: path, Err: fmt.Errorf("is larger than %d MiB", maxFile>>20)}
	}
	return io.ReadAll(io.LimitReader(f, maxFile))
}

// look reads a file as a span.
func look(ctx context.Context, path string) ([]byte, error) {
	_, span := traces.Start(ctx, traces.File, "read "+filepath.Base(path))
	span.Attr("path", path)
	b, err := readFile(path)
	span.End(answer(len(b), err), traces.Because{}, err)
	return b, err
}

func answer(n int, err error) string {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "absent"
	case err != nil:
		return "failed"
	}
	return strconv.Itoa(n) + " bytes"
}

// replace puts content in the place of path, in one step. The file belongs to
// the owner of the old one, or of the directory: root may sign for Puppet.
func replace(ctx context.Context, path string, mode fs.FileMode, content []byte) (err error) {
	_, span := traces.Start(ctx, traces.File, "write "+filepath.Base(path))
	span.Attr("path", path)
	span.Attr("mode", fmt.Sprintf("%04o", mode))
	defer func() { span.End(answer(len(content), err), traces.Because{}, err) }()
	return files.Write(path, content, files.Options{Mode: mode, Owner: files.Inherit})
}

// appendTo adds a line to a file, which is created if missing.
func appendTo(ctx context.Context, path, line string) (err error) {
	_, span := traces.Start(ctx, traces.File, "append to "+filepath.Base(path))
	span.Attr("path", path)
	defer func() { span.End(answer(len(line), err), traces.Because{}, err) }()
	_, absent := os.Stat(path)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_APPEND|os.O_CREATE, publicMode)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if absent != nil {
		if err := errors.Join(f.Chmod(publicMode), giveTo(path, filepath.Dir(path))); err != nil {
			return err
		}
	}
	// An incomplete last line does not swallow the new one.
	if info, err := f.Stat(); err == nil && info.Size() > 0 {
		last := []byte{0}
		if _, err := f.ReadAt(last, info.Size()-1); err == nil && last[0] != '\n' {
			line = "\n" + line
		}
	}
	if _, err := f.WriteString(line); err != nil {
		return err
	}
	return f.Sync()
}

// remove removes a file, if it exists.
func remove(ctx context.Context, path string) error {
	_, span := traces.Start(ctx, traces.File, "remove "+filepath.Base(path))
	span.Attr("path", path)
	err := os.Remove(path)
	if errors.Is(err, fs.ErrNotExist) {
		span.End("absent", traces.Because{}, nil)
		return nil
	}
	span.End(map[bool]string{true: "removed", false: "failed"}[err == nil], traces.Because{}, err)
	return err
}

// makeDir makes a directory, and with dirMode those above it.
func makeDir(path string, mode fs.FileMode) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(path), dirMode); err != nil {
		return err
	}
	if err := os.Mkdir(path, mode); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	if err := os.Chmod(path, mode); err != nil {
		return err
	}
	return giveTo(path, filepath.Dir(path))
}

// patience is how long to wait for the lock.
const patience = time.Minute

// locked runs do under the lock of all processes.
func (a *Authority) locked(ctx context.Context, do func() error) error {
	return withLock(ctx, filepath.Join(a.cfg.Dir, ".ca.lock"), do)
}

func withLock(ctx context.Context, path string, do func() error) (err error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, publicMode)
	if err != nil {
		return fmt.Errorf("lock the CA: %w", err)
	}
	// Go closes files on exec, so a child does not keep the lock.
	defer func() { err = errors.Join(err, f.Close()) }()
	if err := giveTo(path, filepath.Dir(path)); err != nil {
		return err
	}
	_, span := traces.Start(ctx, traces.File, "lock the CA")
	span.Attr("path", path)
	if err := waitForLock(ctx, f); err != nil {
		span.End("failed", traces.Because{}, err)
		return fmt.Errorf("lock %s: %w", path, err)
	}
	span.End("locked", traces.Because{}, nil)
	return do()
}

func waitForLock(ctx context.Context, f *os.File) error {
	ctx, cancel := context.WithTimeoutCause(ctx, patience, fmt.Errorf("somebody else has held it for %s", patience))
	defer cancel()
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		ok, err := filelock.Try(f)
		if ok || err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-time.After(pause):
		}
	}
}

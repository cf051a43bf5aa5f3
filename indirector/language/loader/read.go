package loader

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"indirtui/indirector/language/syntax"
)

// Limits of ours; Puppet has none.
const (
	maxBytes = syntax.MaxBytes // of a file
	maxNames = 20_000          // that are looked at for the nearest one
)

// read returns the text of a regular file below a directory. A link that leads out
// of the directory is an error.
func read(dir, name string) (text string, err error) {
	if path := under(dir, name); isMissing(path) {
		return "", &missingError{path}
	}
	err = within(dir, func(root fs.FS) error {
		info, err := fs.Stat(root, name) // a pipe is not even opened
		if err != nil {
			return err
		}
		if !info.Mode().IsRegular() {
			return &fs.PathError{Op: "read", Path: name, Err: errors.New("it is no regular file")}
		}
		f, err := root.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, maxBytes+1))
		if err == nil && len(b) > maxBytes {
			err = fmt.Errorf("it is larger than %d bytes", maxBytes)
		}
		text = string(b)
		return err
	})
	if err != nil {
		return "", fmt.Errorf("read %s: %w", filepath.Join(dir, name), cause(err))
	}
	return text, nil
}

// stat returns what the system knows of a regular file below a directory.
func stat(dir, name string) (info fs.FileInfo, err error) {
	if path := under(dir, name); isMissing(path) {
		return nil, &missingError{path}
	}
	err = within(dir, func(root fs.FS) error {
		info, err = fs.Stat(root, name)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", filepath.Join(dir, name), cause(err))
	}
	return info, nil
}

// isMissing reports by one call of the system that there is no file: most names are looked
// for in several places.
func isMissing(path string) bool {
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// A missingError is like one of the system. Most are never read.
type missingError struct{ path string }

func (e *missingError) Error() string { return "read " + e.path + ": " + fs.ErrNotExist.Error() }

func (e *missingError) Unwrap() error { return fs.ErrNotExist }

// under is the path of a file below a directory. Both are as short as can be.
func under(dir, name string) string {
	if dir == "" || dir == "." || dir == "/" {
		return filepath.Join(dir, name)
	}
	return dir + "/" + name
}

// cause is an error without the path that it names.
func cause(err error) error {
	if bad := (*fs.PathError)(nil); errors.As(err, &bad) {
		return bad.Err
	}
	return err
}

// names returns the names of the files of a directory with an ending, without it,
// in order. Without the directory there are none.
func names(dir, below, ending string) (all []string, err error) {
	err = within(dir, func(root fs.FS) error {
		entries, err := fs.ReadDir(root, below)
		for _, e := range entries {
			if name, ok := strings.CutSuffix(e.Name(), ending); ok && name != "" && !strings.HasPrefix(name, ".") {
				all = append(all, name)
			}
		}
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return all, fmt.Errorf("list %s: %w", filepath.Join(dir, below), cause(err))
	}
	return all, nil
}

// within opens a directory as a file system that nothing leads out of.
func within(dir string, do func(fs.FS) error) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	return do(root.FS())
}

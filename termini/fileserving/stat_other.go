//go:build !unix

package fileserving

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

func stat(path string) (status, error)  { return ask(os.Stat(path)) }
func lstat(path string) (status, error) { return ask(os.Lstat(path)) }

// ask knows no owner and no time of change here.
func ask(info fs.FileInfo, err error) (status, error) {
	if err != nil {
		return status{}, errors.Unwrap(err)
	}
	return status{kind: kindOf(info.Mode()), mode: int(info.Mode().Perm()), size: info.Size(), mtime: info.ModTime(), ctime: info.ModTime()}, nil
}

func openFile(path string, _ bool) (io.ReadCloser, status, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, status{}, errors.Unwrap(err)
	}
	s, err := ask(f.Stat())
	if err != nil {
		return nil, s, errors.Join(err, f.Close())
	}
	return f, s, nil
}

// kindOf returns Ruby's name for the kind of a file.
func kindOf(mode fs.FileMode) string {
	switch mode.Type() {
	case 0:
		return "file"
	case fs.ModeDir:
		return "directory"
	case fs.ModeSymlink:
		return "link"
	case fs.ModeNamedPipe:
		return "fifo"
	case fs.ModeSocket:
		return "socket"
	case fs.ModeDevice:
		return "blockSpecial"
	case fs.ModeDevice | fs.ModeCharDevice:
		return "characterSpecial"
	}
	return "unknown"
}

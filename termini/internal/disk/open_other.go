//go:build !unix

package disk

import (
	"errors"
	"io"
	"os"
)

// open opens path, and returns what Read wants to know of it.
func open(path string) (io.ReadCloser, opened, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, opened{}, err
	}
	info, err := file.Stat()
	if err != nil {
		return nil, opened{}, errors.Join(err, file.Close())
	}
	return file, opened{kind: info.Mode().Type(), size: info.Size(), written: info.ModTime()}, nil
}

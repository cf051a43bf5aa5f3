package systemtest

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// List lists what is below a directory as recordings do. norm puts placeholders in.
func List(tb testing.TB, root string, norm func(string) string) map[string]string {
	tb.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, _ fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if name == "." || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		out[norm(name)], err = entry(path, norm)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

func entry(path string, norm func(string) string) (string, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return "", err
	}
	bits := info.Mode().Perm()
	for bit, of := range special {
		if info.Mode()&of != 0 {
			bits |= bit
		}
	}
	mode := fmt.Sprintf("%04o", uint32(bits))
	switch info.Mode().Type() {
	case fs.ModeSymlink:
		to, err := os.Readlink(path)
		return "link " + norm(to), err
	case fs.ModeDir:
		return "dir " + mode, nil
	case fs.ModeNamedPipe:
		return "fifo " + mode, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	plain := len(text) <= 300 && !strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' })
	if utf8.Valid(text) && (plain || strings.Contains(string(text), "# HEADER")) {
		return "file " + mode + " " + strings.ReplaceAll(data.OfString(norm(string(text))).Inspect(), `\#`, "#"), nil
	}
	return fmt.Sprintf("file %s %d bytes sha256 %x", mode, len(text), sha256.Sum256(text)), nil
}

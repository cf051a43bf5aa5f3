package transaction_test

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// tree lists the files of a place as recordings do.
func (p place) tree(t *testing.T) map[string]string {
	t.Helper()
	root := p.dir + "/root"
	out := map[string]string{}
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		name, _ := filepath.Rel(root, path)
		if name == "." || errors.Is(err, fs.ErrPermission) {
			return nil
		}
		if err != nil {
			return err
		}
		out[p.norm(name)], err = p.entry(path)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func (p place) entry(path string) (string, error) {
	var st syscall.Stat_t
	if err := syscall.Lstat(path, &st); err != nil {
		return "", err
	}
	mode := fmt.Sprintf("%04o", st.Mode&0o7777)
	switch st.Mode & syscall.S_IFMT {
	case syscall.S_IFLNK:
		to, err := os.Readlink(path)
		return "link " + p.norm(to), err
	case syscall.S_IFDIR:
		return "dir " + mode, nil
	case syscall.S_IFIFO:
		return "fifo " + mode, nil
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	plain := len(text) <= 300 && !strings.ContainsFunc(string(text), func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' })
	if utf8.Valid(text) && (plain || strings.Contains(string(text), "# HEADER")) {
		return "file " + mode + " " + strings.ReplaceAll(data.OfString(p.norm(string(text))).Inspect(), `\#`, "#"), nil
	}
	return fmt.Sprintf("file %s %d bytes sha256 %x", mode, len(text), sha256.Sum256(text)), nil
}

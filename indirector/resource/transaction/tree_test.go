package transaction_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
	"unicode/utf8"

	"indirtui/indirector/data"
)

// planted is the time that every file of a case has.
var planted = time.Date(2021, 3, 4, 5, 6, 7, 0, time.UTC)

// plant makes the files of a case.
func (p place) plant(t *testing.T, tree map[string]any) {
	t.Helper()
	root := p.dir + "/root"
	times := map[string]time.Time{}
	for name, spec := range tree {
		file := filepath.Join(root, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		h, _ := spec.(map[string]any)
		if text, ok := spec.(string); ok {
			h = map[string]any{"content": text}
		}
		if err := p.plantOne(file, h, spec == nil || strings.HasSuffix(name, "/")); err != nil {
			t.Fatal(err)
		}
		if text, ok := h["mtime"].(string); ok {
			at, err := time.Parse(time.RFC3339, text)
			if err != nil {
				t.Fatal(err)
			}
			times[file] = at
		}
	}
	var files []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if d.Type()&fs.ModeSymlink == 0 {
			files = append(files, path)
		}
		return err
	})
	for i := len(files) - 1; i >= 0; i-- {
		at, ok := times[files[i]]
		if !ok {
			at = planted
		}
		err = errors.Join(err, os.Chtimes(files[i], at, at))
	}
	if err != nil {
		t.Fatal(err)
	}
}

func (p place) plantOne(file string, spec map[string]any, dir bool) error {
	if link, ok := spec["link"].(string); ok {
		return os.Symlink(p.replacer().Replace(link), file)
	}
	var err error
	switch {
	case spec["fifo"] != nil:
		err = syscall.Mkfifo(file, 0o644)
	case dir || spec["dir"] != nil:
		err = os.MkdirAll(file, 0o755)
	default:
		text, _ := spec["content"].(string)
		if b, ok := spec["base64"].(string); ok {
			raw, _ := base64.StdEncoding.DecodeString(b)
			text = string(raw)
		}
		err = os.WriteFile(file, []byte(text), 0o644)
	}
	if mode, ok := spec["mode"].(string); ok && err == nil {
		n, _ := strconv.ParseUint(mode, 8, 32)
		err = syscall.Chmod(file, uint32(n))
	}
	return err
}

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

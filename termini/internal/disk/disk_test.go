package disk_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/termini/internal/disk"
)

func TestReplaceAndRead(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "a.json")
	for _, content := range []string{"first, and longer", "second", ""} {
		if err := disk.Replace(t.Context(), path, 0o660, []byte(content)); err != nil {
			t.Fatal(err)
		}
		f, err := disk.Read(t.Context(), path)
		if err != nil || string(f.Content) != content || f.Written.IsZero() {
			t.Errorf("got %q, %v; want %q", f.Content, err, content)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm() != 0o660 {
		t.Errorf("mode: got %v, %v; want 0660 whatever the umask", info.Mode(), err)
	}
	entries, _ := os.ReadDir(filepath.Dir(path))
	if len(entries) != 1 {
		t.Errorf("something is left: %v", entries)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	sub := filepath.Join(dir, "sub")
	if err := os.Mkdir(sub, 0o777); err != nil {
		t.Fatal(err)
	}
	cancelled, cancel := context.WithCancel(t.Context())
	cancel()
	read := func(ctx context.Context, path string) error { _, err := disk.Read(ctx, path); return err }
	tests := []struct {
		name, message, class string
		is                   error
		err                  error
	}{
		{"read what is not there", "No such file or directory @ rb_sysopen - " + dir + "/x", "Errno::ENOENT", fs.ErrNotExist, read(t.Context(), dir+"/x")},
		{"read a directory", "Is a directory @ io_fread - " + sub, "Errno::EISDIR", nil, read(t.Context(), sub)},
		{"read below a file that is no directory", "Not a directory @ rb_sysopen - /dev/null/x", "Errno::ENOTDIR", nil, read(t.Context(), "/dev/null/x")},
		{"replace in no directory", "No such file or directory @ rb_sysopen - " + dir + "/no/x", "Errno::ENOENT", fs.ErrNotExist, disk.Replace(t.Context(), dir+"/no/x", 0o660, nil)},
		{"remove a directory", "Is a directory @ apply2files - " + sub, "Errno::EISDIR", nil, disk.Remove(t.Context(), sub)},
		{"remove nothing", "No such file or directory @ apply2files - " + dir + "/x", "Errno::ENOENT", fs.ErrNotExist, disk.Remove(t.Context(), dir+"/x")},
		{"cancelled read", "open " + dir + "/x: context canceled", "IOError", context.Canceled, read(cancelled, dir+"/x")},
		{"cancelled write", "open " + dir + "/x: context canceled", "IOError", context.Canceled, disk.Replace(cancelled, dir+"/x", 0o660, nil)},
		{"read a device", "read /dev/null: is no regular file, but Dc---------", "IOError", nil, read(t.Context(), "/dev/null")},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if tt.err == nil {
				t.Fatal("no error")
			}
			f := disk.Fail(tt.err, "p", "")
			if f.Message != tt.message || f.Class != tt.class || f.Hidden == "" || f.Path != "p" {
				t.Errorf("got %+v, want %s: %s", f, tt.class, tt.message)
			}
			if tt.is != nil && !errors.Is(f, tt.is) {
				t.Errorf("%v is not %v", f, tt.is)
			}
		})
	}
}

func TestReplaceLeavesNothingWhenItFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	target := filepath.Join(dir, "a.yaml")
	if err := os.Mkdir(target, 0o777); err != nil {
		t.Fatal(err)
	}
	err := disk.Replace(t.Context(), target, 0o660, []byte("x"))
	if m := disk.Message(err); !strings.HasPrefix(m, "Is a directory @ rb_file_s_rename - (") {
		t.Errorf("got %q", m)
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 1 {
		t.Errorf("something is left: %v", entries)
	}
}

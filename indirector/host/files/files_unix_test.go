//go:build unix

package files_test

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"syscall"
	"testing"

	"indirtui/indirector/host/files"
)

// owner returns user and group of a file.
func owner(t *testing.T, path string) (uid, gid int) {
	t.Helper()
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	s := info.Sys().(*syscall.Stat_t)
	return int(s.Uid), int(s.Gid)
}

func TestOwner(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("only root gives files to others")
	}
	for _, tt := range []struct {
		name     string
		file     string
		owner    files.Owner
		uid, gid int
	}{
		{"keeps", "f", files.Keep, 7, 8},
		{"must keep", "f", files.Must, 7, 8},
		{"inherits of the old file", "f", files.Inherit, 7, 8},
		{"inherits of the directory", "g", files.Inherit, 5, 6},
		{"new", "g", files.Keep, 0, os.Getegid()},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			path := dir(t)
			if err := os.Chown(path, 7, 8); err != nil {
				t.Fatal(err)
			}
			if err := os.Chown(filepath.Dir(path), 5, 6); err != nil {
				t.Fatal(err)
			}
			path = filepath.Join(filepath.Dir(path), tt.file)
			if err := files.Write(path, nil, files.Options{Mode: 0o640, Owner: tt.owner}); err != nil {
				t.Fatal(err)
			}
			if uid, gid := owner(t, path); uid != tt.uid || gid != tt.gid {
				t.Errorf("got %d:%d, want %d:%d", uid, gid, tt.uid, tt.gid)
			}
		})
	}
}

// asAnother is the environment variable of a process of another user.
const asAnother = "FILES_TEST_AS_NOBODY"

// Whoever is not root replaces the file of another user if the directory lets
// him: it becomes his, unless the owner must be kept. A directory that cannot be
// read is no error.
func TestOwnerOfAnother(t *testing.T) {
	if os.Getenv(asAnother) != "" {
		if err := files.Write("/proc/self/fd/4/f", []byte("new"), files.Options{}); err != nil {
			t.Error(err)
		}
		if err := files.Write("/proc/self/fd/4/g", []byte("new"), files.Options{Owner: files.Must}); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("got %v, want that it is not allowed", err)
		}
		return
	}
	if os.Geteuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root becomes another user, and only Linux has /proc/self/fd")
	}
	path := dir(t)
	other := filepath.Join(filepath.Dir(path), "g")
	if err := errors.Join(os.WriteFile(other, []byte("old"), 0o600), os.Chmod(filepath.Dir(path), 0o733)); err != nil {
		t.Fatal(err)
	}
	// The other user may not enter the directories above: they are open already.
	c := exec.CommandContext(t.Context(), "/proc/self/fd/3", "-test.run=^TestOwnerOfAnother$")
	program, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{program, filepath.Dir(path)} {
		f, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer f.Close()
		c.ExtraFiles = append(c.ExtraFiles, f)
	}
	c.Env, c.Dir = append(os.Environ(), asAnother+"=1"), "/"
	c.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	if out, err := c.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if uid, _ := owner(t, path); uid != 65534 {
		t.Errorf("the file belongs to %d", uid)
	}
	holds(t, path, "new", 0o640)
	holds(t, other, "old", 0o600)
}

package fileserving_test

import (
	"errors"
	"net"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"indirtui/indirector"
	"indirtui/termini/fileserving"
)

// TestNoFiles meets entries of a tree that are not files: each is looked at,
// none is opened. A file of unknown size is hashed to its end. Rules TERM-MD-02
// to TERM-MD-04.
func TestNoFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"tree/f": "x"})
	l, err := net.Listen("unix", dir+"/tree/socket")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	h := newFixture(t, values{}, nil)
	for _, sum := range []string{"sha256", "md5lite", "mtime", "none"} {
		m, err := h.find(t, "file", dir+"/tree/socket", option("checksum_type", sum))
		if err != nil || m.Type != "socket" || m.ChecksumType != "none" || m.Checksum != "{none}" {
			t.Errorf("%s: got %+v, %v", sum, m, err)
		}
	}
	found, err := h.search(t, "file", dir+"/tree", option("recurse", true))
	if err != nil || len(found) != 3 {
		t.Errorf("got %d, %v", len(found), err)
	}
	if _, err := fileserving.Path(dir + "/tree/socket").Open(); indirector.Message(err) != "Cannot manage files of type socket" {
		t.Errorf("got %v", err)
	}

	if err := syscall.Mknod(dir+"/tree/device", syscall.S_IFCHR|0o600, 1<<8|5); err != nil {
		t.Logf("no device can be made here, so none is searched: %v", err)
	} else {
		if err := os.Remove(dir + "/tree/f"); err != nil {
			t.Fatal(err)
		}
		for _, links := range []string{"manage", "follow"} {
			_, err := h.search(t, "file", dir+"/tree", option("recurse", true), option("links", links))
			f := (*indirector.Failure)(nil)
			if indirector.Message(err) != "Cannot manage files of type characterSpecial" || !errors.As(err, &f) || f.Path != dir+"/tree/device" {
				t.Errorf("a device: got %v", err)
			}
		}
	}

	m, err := h.find(t, "file", "/proc/version")
	if err != nil || !strings.HasPrefix(m.Checksum, "{sha256}") {
		t.Errorf("got %+v, %v", m, err)
	}
	contains(t, h.story(), "/proc/version changed while it was read: it had 0 bytes, ")
}

// TestForbidden meets unreadable files. Root may read everything, so the test
// runs again as another user if need be.
func TestForbidden(t *testing.T) {
	t.Parallel()
	if os.Geteuid() == 0 {
		if err := os.Chmod("/proc/self/exe", 0o755); err != nil { // whatever the umask was
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), "/proc/self/exe", "-test.run=^TestForbidden$", "-test.v")
		cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
		cmd.Dir, cmd.Env = "/", []string{"TMPDIR=/tmp", "PATH=" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, syscall.EPERM) {
			t.Skipf("this root may not become nobody: %v", err)
		}
		if err != nil || !strings.Contains(string(out), "--- PASS: TestForbidden") {
			t.Errorf("as nobody: %v\n%s", err, out)
		}
		return
	}
	dir := t.TempDir()
	write(t, dir, map[string]string{"tree/closed/f": "x", "tree/file": "x", "tree/open": "x"})
	for name, mode := range map[string]os.FileMode{"tree/closed": 0, "tree/file": 0} {
		if err := os.Chmod(dir+"/"+name, mode); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		if err := os.Chmod(dir+"/tree/closed", 0o700); err != nil {
			t.Error(err)
		}
	})
	h := newFixture(t, values{}, nil)
	for _, tt := range []struct {
		what    string
		options []indirector.Option
		want    string
	}{
		{"/tree", []indirector.Option{option("recurse", true), option("ignore", "file")}, "Permission denied @ dir_initialize - " + dir + "/tree/closed"},
		{"/tree", []indirector.Option{option("recurse", true), option("recurselimit", 1)}, "Permission denied @ rb_sysopen - " + dir + "/tree/file"},
		{"/tree", []indirector.Option{option("recurse", true), option("recurselimit", 1), option("checksum_type", "mtime"), option("source_permissions", "use")}, ""},
		{"/tree/file", nil, "Permission denied @ rb_sysopen - " + dir + "/tree/file"},
	} {
		_, err := h.search(t, "file", dir+tt.what, tt.options...)
		if got := indirector.Message(err); err != nil && got != tt.want || err == nil && tt.want != "" {
			t.Errorf("%s %v: got %v, want %q", tt.what, tt.options, err, tt.want)
		}
	}
	if _, err := h.find(t, "file", dir+"/tree/closed/f"); !errors.Is(err, indirector.ErrNotFound) {
		t.Errorf("below a closed directory: got %v", err)
	}
	contains(t, h.story(), "permission denied")
	if _, err := fileserving.Path(dir + "/tree/file").Open(); indirector.Message(err) != "Permission denied @ rb_sysopen - "+dir+"/tree/file" {
		t.Errorf("contents: got %v", err)
	}
}

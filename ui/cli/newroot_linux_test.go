package cli_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// newRootScript lays a layer in memory over the root directory, in namespaces of its own, and
// makes that the root of the command it becomes: what is changed there is gone with
// it. The kernel's variables can be read only, and there is no network. What the test
// shares with it is $OUT, which is /out there.
const newRootScript = `set -e
mount --make-rprivate /
[ -z "$CGROUP" ] || echo $$ >"$CGROUP/cgroup.procs"
mount -t tmpfs new-root "$TOP"
mkdir "$TOP/upper" "$TOP/work" "$TOP/root"
mount -t overlay overlay -o "lowerdir=/,upperdir=$TOP/upper,workdir=$TOP/work" "$TOP/root"
cd "$TOP/root"
mount -t proc proc proc
mount --bind proc/sys proc/sys
mount -o remount,bind,ro proc/sys
mount -t sysfs -o ro sysfs sys
mount -t tmpfs -o mode=755 tmpfs run
mount -t tmpfs -o mode=755 tmpfs dev
for d in null zero full random urandom; do : >dev/$d; mount --bind /dev/$d dev/$d; done
mkdir -p dev/pts dev/shm old-root out
mount -t tmpfs -o mode=1777 tmpfs dev/shm
mount -t devpts -o newinstance,ptmxmode=0666 devpts dev/pts
ln -s pts/ptmx dev/ptmx
mount --bind "$OUT" out
: >new-root.test
mount --bind "$EXE" new-root.test
echo "$NEW_ROOT" >new-root
pivot_root . old-root
umount -l /old-root
cd /
exec "$@"
`

// A newRoot is how a test runs below a root of its own.
type newRoot struct {
	cases  int               // that are skipped where there can be none
	become []string          // the command that becomes process 1, if that is not the test; it gets the test's as more words
	files  map[string]string // in /out
	cgroup string            // where process 1 begins; it may be empty
}

// run runs the test of this name once more, below a root of its own, and reports what it
// printed. Where namespaces are not permitted the test is skipped, with the number of its
// cases.
func (n newRoot) run(t *testing.T) {
	t.Helper()
	skip := func(why string) { t.Skipf("%d cases are skipped: %s", n.cases, why) }
	if os.Getuid() != 0 {
		skip("a root directory of one's own needs root")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, token := t.TempDir(), rand.Text()
	for name, text := range n.files {
		if err := os.WriteFile(filepath.Join(out, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	argv := slices.Concat([]string{"-c", newRootScript, "sh"}, n.become, []string{"/new-root.test", "-test.run=^" + t.Name() + "$", "-test.v", "-test.timeout=5m"})
	ctx, cancel := context.WithTimeout(t.Context(), 6*time.Minute)
	defer cancel()
	c := exec.CommandContext(ctx, "/bin/sh", argv...)
	c.Env = append(os.Environ(), "NEW_ROOT="+token, "TOP="+t.TempDir(), "OUT="+out, "EXE="+exe, "CGROUP="+n.cgroup, "HOME=/root", "TMPDIR=/tmp")
	c.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWUTS | syscall.CLONE_NEWIPC}
	machine := fingerprint(t)
	printed, err := c.CombinedOutput()
	unchanged(t, machine, fingerprint(t))
	if text, err := os.ReadFile(filepath.Join(out, "printed")); err == nil {
		printed = append(printed, text...)
	}
	if !bytes.Contains(printed, []byte("=== RUN ")) {
		skip(fmt.Sprintf("there can be no root of one's own: %v %s", err, bytes.TrimSpace(printed)))
	}
	t.Logf("below a root of its own:\n%s", printed)
	if err != nil || !bytes.Contains(printed, []byte("--- PASS: "+t.Name()+" ")) {
		t.Errorf("below a root of its own: %v", err)
	}
}

// isNewRoot reports whether the test runs below a root of its own. It fails where that is
// claimed, but the root is not the layer that was laid for it.
func isNewRoot(t *testing.T) bool {
	t.Helper()
	token := os.Getenv("NEW_ROOT")
	if token == "" {
		return false
	}
	marked, err := os.ReadFile("/new-root")
	if err != nil || strings.TrimSpace(string(marked)) != token {
		t.Fatalf("this is not the root that was made for the test: %v", err)
	}
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(string(mounts)) {
		f := strings.Fields(line)
		if len(f) > 4 && f[4] == "/" && strings.Contains(line, " - overlay overlay ") && strings.Contains(line, "/upper,") {
			return true
		}
	}
	t.Fatalf("the root directory is no overlay:\n%s", mounts)
	return false
}

// fingerprint is what a test must not change of this machine: its files by name.
func fingerprint(t *testing.T) map[string]string {
	t.Helper()
	all := map[string]string{}
	for _, top := range []string{"/etc", "/var/spool/cron", "/var/lib/dpkg/status", "/root/.ssh", "/srv"} {
		err := filepath.WalkDir(top, func(path string, d fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil {
				return err
			}
			info, err := d.Info()
			if err != nil {
				return err
			}
			is := fmt.Sprint(info.Mode(), info.ModTime(), info.Sys().(*syscall.Stat_t).Uid, info.Sys().(*syscall.Stat_t).Gid)
			if d.Type().IsRegular() {
				text, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				is += fmt.Sprintf(" %x", sha256.Sum256(text))
			}
			all[path] = is
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return all
}

// unchanged fails where files of this machine are not what they were.
func unchanged(t *testing.T, before, after map[string]string) {
	t.Helper()
	names := maps.Clone(before)
	maps.Copy(names, after)
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if before[name] != after[name] {
			t.Errorf("%s of this machine has changed: from %q to %q", name, before[name], after[name])
		}
	}
}

//go:build unix

package cli_test

import (
	"bytes"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"indirtui/traces"
)

// A line of cron of another user, with a home and two variables in its environment and nothing
// else, attaches itself to the socket that is given to that user.
func TestAttachForUser(t *testing.T) {
	t.Parallel()
	needPuppet(t)
	if os.Getuid() != 0 {
		t.Skip("only root can give a socket to another user")
	}
	other, err := user.Lookup("daemon")
	if err != nil {
		t.Skipf("there is no other user: %v", err)
	}
	uid, _ := strconv.Atoi(other.Uid)
	gid, _ := strconv.Atoi(other.Gid)
	program, dir := build(t, "indirtui"), privateDir(t)
	theirs := filepath.Join(dir, "theirs")
	if err := os.Mkdir(theirs, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Chown(theirs, uid, gid); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	files, socket, recording := filepath.Join(dir, "probe"), filepath.Join(dir, "indirtui", "attach"), filepath.Join(dir, "run.jsonl")
	if out, err := exec.Command(program, "attach", "--print-probe", files).CombinedOutput(); err != nil || !strings.Contains(string(out), "RUBYOPT=-r"+files+"/probe.rb") {
		t.Fatalf("%v: %s", err, out)
	}
	watch := exec.CommandContext(t.Context(), program, "attach", "--headless", "--listen", socket, "--for", other.Username, "--record", recording, "--confdir", filepath.Join(dir, "conf"), "--vardir", filepath.Join(dir, "var"))
	var printed bytes.Buffer
	watch.Stdout, watch.Stderr = &printed, &printed
	if err := watch.Start(); err != nil {
		t.Fatal(err)
	}
	until(t, "the socket", func() bool {
		info, err := os.Stat(socket)
		return err == nil && info.Mode().Perm() == 0o600 && int(info.Sys().(*syscall.Stat_t).Uid) == uid
	})
	puppet, _ := exec.LookPath("puppet")
	cron := exec.Command(puppet, "apply", "-e", "notify { 'by cron': }")
	cron.Env = []string{"HOME=" + theirs, "RUBYOPT=-r" + files + "/probe.rb", "INDIRTUI_ATTACH=" + socket}
	cron.Dir = "/"
	cron.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(gid)}}
	out, err := cron.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "by cron") {
		t.Fatalf("%v: %s", err, out)
	}
	until(t, "the last request", func() bool {
		b, _ := os.ReadFile(recording) // it comes with the first
		return strings.Contains(string(b), `"ind":"report"`)
	})
	if err := watch.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := watch.Wait(); err != nil {
		t.Errorf("%v: %s", err, &printed)
	}
	_, all := recordedIn(t, recording)
	catalogs := 0
	for _, tr := range all {
		if tr.Indirection == "catalog" && tr.Outcome == traces.Good {
			catalogs++
		}
	}
	if want := "puppet apply (pid " + strconv.Itoa(cron.Process.Pid) + "): "; catalogs != 1 || !strings.Contains(printed.String(), want) {
		t.Errorf("%d catalogs are recorded, and %q is missing in\n%s", catalogs, want, &printed)
	}
}

//go:build unix

package cli_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// A command that leaves a daemon has ended: its exit code is ours, and that the daemon
// goes on is reported.
func TestAttachDaemon(t *testing.T) {
	t.Parallel()
	needAgent(t)
	s := newSite(t)
	s.watched = []string{s.program, "attach", "--headless", "--record", s.path("daemon.jsonl"), "--confdir", s.path("srv"), "--"}
	const name = "daemon.example.com"
	out, code := s.puppet(name, "1", "agent", "--no-splay", "--waitforcert", "1", "--logdest", s.path("log"))
	b, err := os.ReadFile(s.path("agents/" + name + "/run/agent.pid"))
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(b)))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, syscall.SIGTERM); err != nil {
		t.Errorf("the daemon has gone: %v", err)
	}
	until(t, "the end of the daemon", func() bool {
		stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
		return err != nil || strings.Contains(string(stat), ") Z ") // nothing may wait for it
	})
	if want := "(pid " + string(b) + "): "; code != 0 || !strings.Contains(out, want) || !strings.Contains(out, "; it goes on, and is watched no longer") {
		t.Errorf("exit %d, want 0 and %q in\n%s", code, want, out)
	}
}

//go:build unix

package probe_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/indirector/probe"
)

// Behind the wrapper of the packages of Puppet's makers nothing is seen of RUBYOPT;
// the program that it runs is run instead, and attaches itself.
func TestRubyBehindWrapper(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	real, err := exec.LookPath("puppet")
	if err != nil {
		t.Fatal(err)
	}
	bin, wrapped := filepath.Join(w.dir, "puppet/bin"), filepath.Join(w.dir, "bin/puppet")
	for _, dir := range []string{bin, filepath.Dir(wrapped)} {
		if err := os.MkdirAll(dir, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(real, filepath.Join(bin, "puppet")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(wrapped, []byte(strings.ReplaceAll(lines, "BIN", bin)), 0o755); err != nil {
		t.Fatal(err)
	}
	l := listenHere(t, &listener{})
	run := func(cmd *exec.Cmd) {
		t.Helper()
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "from the wrapper") {
			t.Errorf("%v: %s", err, out)
		}
	}
	argv := []string{wrapped, "apply", "-e", "notice('from the wrapper')", "--confdir", filepath.Join(w.dir, "conf"), "--vardir", filepath.Join(w.dir, "var"), "--facts_terminus", "memory", "--node_terminus", "plain"}
	direct := exec.Command(argv[0], argv[1:]...)
	direct.Env = l.with(t)
	run(direct)
	if got := l.raw(); got != "" {
		t.Errorf("the wrapper lets the probe in: %s", got)
	}
	cmd, note, err := probe.Launch{Argv: argv, Env: os.Environ(), Dir: probeDir(t), Socket: l.path}.Command()
	if err != nil || !strings.Contains(note, "unsets RUBYOPT") {
		t.Fatalf("got %q, %v", note, err)
	}
	run(cmd)
	l.check(t, 1)
	if first := l.all("attach")[0]; first.num("pid") != cmd.Process.Pid || first.text("app") != "apply" {
		t.Errorf("got %s", first.raw)
	}
}

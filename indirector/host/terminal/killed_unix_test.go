//go:build unix

package terminal_test

import (
	"bufio"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/indirector/host/terminal"
)

// killedEnv names the directory in which TestRunner runs a command.
const killedEnv = "TERMINAL_KILLED"

// TestRunner is the program of TestKilled, and no test of its own.
func TestRunner(t *testing.T) {
	dir := os.Getenv(killedEnv)
	if dir == "" {
		t.Skip("it is run by TestKilled")
	}
	tm := start(t, `cd '`+dir+`' || exit; trap 'echo hangup >>problems' HUP
echo up
until test -e go; do sleep 0.05; done
seq 1 100000 || echo "seq: $?" >>problems
echo 7 >ended`, terminal.Options{Line: func(s string) { _, _ = io.WriteString(os.Stdout, s+"\n") }})
	<-tm.Done()
}

// When the program is killed, its command goes on as if nothing had happened: it gets
// no hangup, and what it writes is taken.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	cmd := exec.Command(os.Args[0], "-test.run=^TestRunner$")
	cmd.Env = append(os.Environ(), killedEnv+"="+dir)
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "up\n" {
		t.Fatalf("got %q, %v", line, err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	if err := os.WriteFile(filepath.Join(dir, "go"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	ended := filepath.Join(dir, "ended")
	for late := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		if b, err := os.ReadFile(ended); err == nil && strings.TrimSpace(string(b)) == "7" {
			break
		}
		if time.Now().After(late) {
			t.Fatal("the command does not end")
		}
	}
	if b, err := os.ReadFile(filepath.Join(dir, "problems")); !os.IsNotExist(err) {
		t.Errorf("the command had problems: %s", b)
	}
}

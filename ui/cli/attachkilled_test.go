//go:build unix

package cli_test

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// When the program is killed while it holds a request, the run goes on at once, and
// ends as it does without: the same exit code, the same files.
func TestAttachKilled(t *testing.T) {
	t.Parallel()
	needAgent(t)
	site := newSite(t)
	l := site.run("serve", "--confdir", site.path("srv"))
	site.write("some.pp", "notify { 'x': }\n-> file { '"+site.path("made")+"': content => 'y' }\n-> exec { '/bin/false': }\n")
	for _, tt := range []struct {
		name, place string
		args        []string
		made        string
	}{
		{"apply", "ind=catalog@before terminus", []string{"apply", site.path("some.pp"), "--detailed-exitcodes"}, "made"},
		{"agent", "ind=file_metadata@before terminus", []string{"agent", "--test", "--no-splay", "--waitforcert", "0"}, "agents/agent.example.com/target/hello.txt"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := *site
			temp := privateDir(t) // what is killed leaves its files behind
			s.t, s.env = t, []string{"TMPDIR=" + temp}
			name := tt.name + ".example.com"
			s.write("srv/var/server_data/catalog/"+name+".json", s.catalog(name, l.port, "production"))
			run := func() (out string, code int) {
				_ = os.RemoveAll(s.path(tt.made)) // so that there is something to do
				return s.puppet(name, l.port, tt.args...)
			}
			s.watched = nil
			run() // plugins are there then
			out, code := run()
			if code == 0 {
				t.Fatalf("nothing was done:\n%s", out)
			}
			exit := s.path(tt.name + ".exit")
			s.watched = []string{
				s.program, "attach", "--plain", "--break", tt.place, "--record", s.path(tt.name + ".jsonl"), "--confdir", s.path("srv"),
				"--", "sh", "-c", `trap 'echo hangup' HUP; "$@"; echo "exit $?" >` + exit, "sh",
			}
			_ = os.RemoveAll(s.path(tt.made))
			took := s.killed(name, l.port, tt.args, exit)
			if b, err := os.ReadFile(exit); err != nil || string(b) != fmt.Sprintf("exit %d\n", code) {
				t.Errorf("got %q, %v, want exit %d, as of\n%s", b, err, code, out)
			}
			if _, err := os.Stat(s.path(tt.made)); err != nil {
				t.Errorf("the run did not do its work: %v", err)
			}
			if took > time.Minute { // far below the limit of a hold
				t.Errorf("the run ended %s after the program was killed", took)
			}
			t.Logf("it ended %s after the program was killed", took)
			if left := leftBehind(t, temp); len(left) != 1 {
				t.Errorf("it has left %q, want one directory", left)
			}
			s.watched = []string{s.program, "attach", "--headless", "--confdir", s.path("srv"), "--"}
			s.puppet(name, l.port, "--version")
			if left := leftBehind(t, temp); len(left) != 0 {
				t.Errorf("the next start has left %q", left)
			}
		})
	}
}

// leftBehind are the directories of probes.
func leftBehind(t *testing.T, temp string) []string {
	t.Helper()
	left, err := filepath.Glob(filepath.Join(temp, "indirtui-attach-*"))
	if err != nil {
		t.Fatal(err)
	}
	return left
}

// killed runs a command, kills the program that watches it when that holds a request,
// and returns how long the command took to end then.
func (s *site) killed(name, port string, args []string, exit string) time.Duration {
	s.t.Helper()
	ctx, cancel := s.context()
	defer cancel()
	cmd := s.command(ctx, name, port, args...)
	printed, err := cmd.StdoutPipe()
	cmd.Stderr = cmd.Stdout
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		s.t.Fatal(err)
	}
	var all strings.Builder
	for lines := bufio.NewScanner(printed); lines.Scan() && !strings.Contains(lines.Text(), "held by"); {
		fmt.Fprintln(&all, lines.Text())
	}
	began := time.Now()
	_ = cmd.Process.Kill()
	if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
		s.t.Fatalf("nothing was held: %v\n%s", err, all.String())
	}
	until(s.t, "the end of the command", func() bool { _, err := os.Stat(exit); return err == nil })
	return time.Since(began)
}

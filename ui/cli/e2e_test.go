//go:build unix

package cli_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"indirtui/indirector/host/child"
	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/term"
)

// The built program in a real terminal, which is tmux.

// patience is how long the screen may take to show what is expected. It is not
// reached unless something is wrong.
const patience = 3 * time.Minute

// build builds a program of this module into a directory of the test.
func build(t *testing.T, pkg string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "indirtui")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", path, pkg).CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return path
}

// needTmux skips a test where there is no terminal to be had.
func needTmux(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("there is no tmux on this machine: the program is not run in a real terminal")
	}
}

// A terminal is a shell in a tmux server of its own. Its directory holds the
// state and the temporary files of what is run in it.
type terminal struct {
	t     *testing.T
	dir   string
	typed int // how much had been printed when the last key was pressed
}

// open opens a terminal with 80 columns and 24 lines. The variables are added
// to its environment.
func open(t *testing.T, variables ...string) *terminal {
	t.Helper()
	dir, err := os.MkdirTemp("", "e2e") // paths of sockets are short
	if err != nil {
		t.Fatal(err)
	}
	term := &terminal{t: t, dir: dir}
	t.Cleanup(func() {
		_, _ = term.try("kill-server") // it may have ended with its shell
		// What ran in it may still be on its way out.
		until(t, "an empty directory", func() bool { return os.RemoveAll(dir) == nil })
	})
	for _, d := range []string{"tmp", "state"} {
		if err := os.Mkdir(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	args := append([]string{"new-session", "-d", "-x", "80", "-y", "24", "-c", dir, "--", "env", "TMPDIR=" + dir + "/tmp", "XDG_STATE_HOME=" + dir + "/state", "HOME=" + dir, "PS1=shell> "}, variables...)
	term.tmux(append(args, "sh", "-i")...)
	term.tmux("pipe-pane", "cat >> '"+filepath.Join(dir, "printed")+"'")
	return term.wait("shell>")
}

func (term *terminal) try(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience) // also for cleaning up
	defer cancel()
	c := exec.CommandContext(ctx, "tmux", append([]string{"-f", "/dev/null", "-S", filepath.Join(term.dir, "tmux")}, args...)...)
	c.Env = append(os.Environ(), "TMUX=", "NO_COLOR=", "LC_ALL=C.UTF-8")
	out, err := c.CombinedOutput()
	return string(out), err
}

func (term *terminal) tmux(args ...string) string {
	term.t.Helper()
	out, err := term.try(args...)
	if err != nil {
		term.t.Fatalf("tmux %q: %v\n%s", args, err, out)
	}
	return out
}

// screen is what the terminal shows, without blanks at the ends of lines.
func (term *terminal) screen() string {
	term.t.Helper()
	return term.tmux("capture-pane", "-p")
}

// is reports what tmux knows of the terminal: alternate_on, cursor_flag ...
func (term *terminal) is(what string) string {
	term.t.Helper()
	return strings.TrimSpace(term.tmux("display-message", "-p", "#{"+what+"}"))
}

// until waits for something to become true.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); !is(); <-tick.C {
		if time.Now().After(end) {
			t.Fatalf("waited for %s", what)
		}
	}
}

// wait waits until every text is on the screen.
func (term *terminal) wait(want ...string) *terminal {
	term.t.Helper()
	var screen string
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for end := time.Now().Add(patience); ; <-tick.C {
		screen = term.screen()
		missing := ""
		for _, w := range want {
			if !strings.Contains(screen, w) {
				missing = w
			}
		}
		if missing == "" {
			return term
		}
		if time.Now().After(end) {
			term.t.Fatalf("%q is not on the screen:\n%s", missing, screen)
		}
	}
}

// printed is all that has been printed, with what commands the terminal.
func (term *terminal) printed() string {
	term.t.Helper()
	b, err := os.ReadFile(filepath.Join(term.dir, "printed"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		term.t.Fatal(err)
	}
	return string(b)
}

// shows waits until every text is on the screen, or was printed after the last
// key: messages go away by themselves.
func (term *terminal) shows(want ...string) *terminal {
	term.t.Helper()
	for _, w := range want {
		var screen string
		until(term.t, fmt.Sprintf("%q", w), func() bool {
			if strings.Contains(term.printed()[term.typed:], w) {
				return true
			}
			if now := term.screen(); now != screen { // what it showed is in the log of a failure
				screen = now
				term.t.Log(screen)
			}
			return strings.Contains(screen, w)
		})
	}
	return term
}

// write types text, as it is.
func (term *terminal) write(text string) *terminal {
	term.t.Helper()
	term.typed = len(term.printed())
	term.tmux("send-keys", "-l", "--", text)
	return term
}

// keys presses keys by the names that tmux has for them.
func (term *terminal) keys(keys ...string) *terminal {
	term.t.Helper()
	term.typed = len(term.printed())
	term.tmux(append([]string{"send-keys"}, keys...)...)
	return term
}

// run has the shell run a command. What it ends with is then shown as "exit N".
func (term *terminal) run(command string) *terminal {
	term.t.Helper()
	return term.write("clear; " + command + "; echo exit $?").keys("Enter")
}

// restored checks that the terminal is as it was before the program.
func (term *terminal) restored() {
	term.t.Helper()
	for what, want := range map[string]string{"alternate_on": "0", "cursor_flag": "1", "mouse_any_flag": "0", "pane_current_command": "sh"} {
		if got := term.is(what); got != want {
			term.t.Errorf("%s: got %s, want %s", what, got, want)
		}
	}
	term.write("echo typed").keys("Enter").wait("shell> echo typed\ntyped\nshell>") // it echoes
}

// files are the names of what is in a directory of the terminal.
func (term *terminal) files(dir string) []string {
	term.t.Helper()
	names, err := filepath.Glob(filepath.Join(term.dir, dir, "*"))
	if err != nil {
		term.t.Fatal(err)
	}
	return names
}

// recording is the path that the last lines on the screen name.
func (term *terminal) recording() string {
	term.t.Helper()
	// A path may be wider than the terminal.
	screen := term.tmux("capture-pane", "-p", "-J")
	found := regexp.MustCompile(`(?m)^recording: (\S+)\s*\nexit \d+\s*$`).FindStringSubmatch(screen)
	if found == nil {
		term.t.Fatalf("the last line does not name the recording:\n%s", screen)
	}
	return found[1]
}

// body is a screen without what comes and goes below it: messages, counts.
func body(screen string) string {
	return strings.Join(strings.Split(screen, "\n")[:20], "\n")
}

// rows are the lines of the list of requests.
func rows(screen string) string {
	var b strings.Builder
	for line := range strings.SplitSeq(screen, "\n") {
		if regexp.MustCompile(`^\|[ >][ a-z][ !~|] +\d+ \d\d:`).MatchString(line) {
			b.WriteString(line + "\n")
		}
	}
	return b.String()
}

func TestTerminal(t *testing.T) {
	t.Parallel()
	needTmux(t)
	program := build(t, "indirtui")
	for name, test := range map[string]func(*testing.T, string){
		"a journey, a small terminal, a pause, the end": journeyInATerminal,
		"a recording":                 lookAtARecording,
		"colours":                     coloursInATerminal,
		"a situation":                 situationInATerminal,
		"a held manifest":             heldManifestInATerminal,
		"a note in an editor":         noteInAnEditor,
		"no terminal":                 withoutATerminal,
		"first contact":               firstContact,
		"a dumb terminal":             dumbTerminal,
		"nowhere to write":            nowhereToWrite,
		"killed while the demo plays": killedWhilePlaying,
		"asked to end":                askedToEnd,
		"the terminal is closed":      terminalIsClosed,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, program)
		})
	}
}

// A note is written in the editor of the user, which has the terminal meanwhile.
func noteInAnEditor(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	editor := filepath.Join(t.TempDir(), "editor")
	if err := child.WriteFile(editor, []byte("#!/bin/sh\ntest -t 0 && test -t 1 && printf 'by the editor\\n' >\"$1\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	term.run("VISUAL="+editor+" "+program+" --demo --ascii").wait("all 1 047", "8 stale")
	term.write(":note").wait(" : note_").keys("Enter").wait("note about #", "ctrl+o in your editor")
	term.keys("C-o").wait("by the editor_", "- Requests ").keys("C-d").wait("did :note #", " by the editor")
	term.write("q").wait("exit 0")
}

// A situation opens in the program, on what went wrong.
func situationInATerminal(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	term.run(program+" demo S-07 --ascii").wait("- Requests ", "all 1 ", "- #1 find node n1 ", "cannot connect to db")
	term.write("q").wait("exit 0", "recording: ")
	term.run(program+" demo S-07 --plain").wait("Puppet shows: ", "#1 find node n1  err", "exit 0")
}

// A compile is held in a manifest, shows the lines and variables there, and goes on
// statement by statement; without a screen, too.
func heldManifestInATerminal(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	for name, text := range map[string]string{
		"manifests/site.pp":             "include ntp\nnotify { 'end': }\n",
		"modules/ntp/manifests/init.pp": "class ntp {\n  $secret_password = 'hunter2'\n  $n = 2\n  [7, 8].each |$s| {\n    notify { \"${s} ${n}\": }\n  }\n  $key = '-----BEGIN RSA PRIVATE KEY-----\nMIIhunter3\nMIIhunter4\n-----END RSA PRIVATE KEY-----'\n}\n",
	} {
		path := filepath.Join(term.dir, "code/environments/production", name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	site := " --confdir conf --vardir var --set codedir=$PWD/code --set certname=n1 --application server --ascii"
	term.run("mkdir -p conf var; " + program + site).wait("no requests yet")
	term.write(":break ind=catalog at ntp/manifests/init.pp:5").keys("Enter").wait("5 Breaks 1")
	term.write(":find catalog web01").keys("Enter").wait("HELD 1")
	term.write("gg").keys("Enter").wait("HELD at init.pp:5 by b1", "modules/ntp/manifests/init.pp", ">   5      notify { \"${s} ${n}\": }", "each ", "$s               7 ", "(masked secret", "(masked lines)")
	if screen := term.screen(); strings.Contains(screen, "hunter") {
		t.Errorf("a secret is shown: %s", screen)
	}
	term.write("i").wait("d  delay", "e  error").keys("Escape").wait("HELD at init.pp:5")
	term.write("c").wait("HELD at init.pp:5 by b1", "$s               8 ")
	term.write("e").wait("VARIABLES   enter changes", "> $s ").keys("Enter").wait("in JSON, or a text")
	term.keys("C-u").write("9").keys("Enter").wait("8 -> 9")
	term.write("u").wait("$s               8 ").keys("Enter").wait("in JSON, or a text").keys("C-u").write("nine").keys("Enter").wait(`8 -> "nine"`)
	term.write("e").wait("VARIABLES   e")
	term.write("O").wait("HELD at init.pp:7 by step", ">   7  (masked lines)")
	term.write("O").wait("HELD at site.pp:2 by step", ">   2  notify { 'end': }")
	term.write("c").wait("STORY", "ANSWERED terminus compiler", `you changed $s: 8 -> "nine" at init.pp:5`)
	term.write("q").write("q").wait("exit 0", "recording: ")
	commands := "'break ind=catalog at ntp/manifests/init.pp:5 once' 'find catalog web01' 'wait held' step 'wait held' 'set $s = 10' continue wait"
	term.run("printf '%s\\n' "+commands+" | "+program+site+" --plain").wait("held by step", "sees $s=8 ", "$s: 8 -> 10", "did :set #1 $s=10", "did :continue #1", "you changed $s: 8 -> 10 at init.pp:5", "exit 0")
}

func journeyInATerminal(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	term.run(program+" --demo --ascii").wait("- Requests ", "all 1 047", "4 Cache", "8 stale")
	if got := term.is("alternate_on"); got != "1" {
		t.Errorf("alternate_on: got %s while the program runs", got)
	}
	term.write("/out=stale").keys("Enter").wait("  out=stale ", "8 of 1 047", "C json")
	term.keys("Enter").wait("STORY", "so the cached catalog (91 min old)", "ignore_terminus, by agent")
	before := body(term.screen())

	term.tmux("resize-window", "-x", "52", "-y", "14")
	term.wait("indirtui needs 60x16, this is 52x14")
	if n := strings.Count(strings.TrimSpace(term.screen()), "\n"); n > 0 {
		t.Errorf("a small terminal shows %d more lines:\n%s", n, term.screen())
	}
	term.tmux("resize-window", "-x", "80", "-y", "24")
	until(t, "the same screen after resizing", func() bool { return body(term.screen()) == before })

	term.keys("C-z")
	until(t, "the shell after ctrl+z", func() bool { return term.is("pane_current_command") == "sh" })
	if got := term.is("alternate_on") + term.is("cursor_flag"); got != "01" {
		t.Errorf("while it is suspended: alternate_on and cursor_flag are %s", got)
	}
	term.run("fg").wait("STORY", "ignore_terminus, by agent")

	term.keys("{").wait("GET /catalog", "500", "configurer")
	term.keys("Escape").wait("8 of 1 047").keys("Escape").wait("  all ")
	term.write("q").wait("exit 0", "recording: ")
	recording := term.recording()
	if all := term.files("state/indirtui"); len(all) != 1 || all[0] != recording {
		t.Errorf("the recording is %s, in the state directory there is %q", recording, all)
	}
	term.restored()
	if left := term.files("tmp"); len(left) > 0 {
		t.Errorf("the demo left %q behind", left)
	}
}

func lookAtARecording(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	// The demo goes on to what is wrong once it has been played.
	term.run(program+" --demo --ascii").wait("all 1 047", "#1045 save report")
	live := rows(term.screen())
	recording := term.write("q").wait("exit 0").recording()
	before, err := os.ReadFile(recording)
	if err != nil {
		t.Fatal(err)
	}
	term.run(program+" open --ascii "+recording).wait("- Requests ", "all 1 047", "#1047 find facts")
	if got := rows(term.screen()); got != live || strings.Count(got, "\n") < 10 {
		t.Errorf("got rows\n%swant\n%s", got, live)
	}
	const refused = "this is a recording: nothing can be asked or changed here"
	commands := []string{"find facts web01.example.com", "save facts x @x.json", "destroy facts web01.example.com", "route node terminus=yaml"}
	for _, command := range commands {
		term.write(":"+command).wait(" : "+command+"_").keys("Enter").wait(" : "+command+"_", refused).keys("Escape")
		until(t, "the end of the prompt", func() bool { return !strings.Contains(term.screen(), " : "+command) })
	}
	term.write(":log").wait(" : log_").keys("Enter").wait("event log")
	logged := regexp.MustCompile(`(?m)^\| +[0-9:]{8} ` + regexp.QuoteMeta(refused))
	if n := len(logged.FindAllString(term.screen(), -1)); n != len(commands) {
		t.Errorf("refused %d commands of %d:\n%s", n, len(commands), term.screen())
	}
	term.write("q").wait("all 1 047")
	term.write("q").wait("exit 0").restored()
	after, err := os.ReadFile(recording)
	if err != nil || !bytes.Equal(before, after) {
		t.Errorf("looking changed the recording: %v", err)
	}
	if all := term.files("state/indirtui"); len(all) != 1 {
		t.Errorf("looking at a recording recorded: %q", all)
	}
}

func coloursInATerminal(t *testing.T, program string) {
	t.Helper()
	for variable, want := range map[string]bool{"NO_COLOR=1": false, "A=1": true} {
		t.Run(variable, func(t *testing.T) {
			t.Parallel()
			term := open(t, variable, "TERM=screen")
			term.run(program+" --demo --ascii").wait("all 1 047", "stale", "err", "hit", "part")
			if got := coloured(term.tmux("capture-pane", "-p", "-e")); got != want {
				t.Errorf("got colours: %v, want %v\n%q", got, want, term.tmux("capture-pane", "-p", "-e"))
			}
			term.write("q").wait("exit 0")
		})
	}
}

func withoutATerminal(t *testing.T, program string) {
	t.Helper()
	dir := t.TempDir()
	for _, args := range [][]string{{}, {"--demo"}, {"open", "recording.jsonl"}} {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Env = append(os.Environ(), "XDG_STATE_HOME="+dir, "TMPDIR="+dir)
		var stdout, stderr strings.Builder
		c.Stdout, c.Stderr = &stdout, &stderr
		err := c.Run()
		if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Errorf("%q: got %v, want exit 2", args, err)
		}
		if got := stderr.String(); stdout.Len() > 0 || !strings.HasPrefix(got, "indirtui: standard output is not a terminal") || strings.Count(got, "\n") != 1 {
			t.Errorf("%q: got %q on stdout, %q on stderr", args, stdout.String(), got)
		}
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// Where no frame can be drawn the program is as with --plain.
func dumbTerminal(t *testing.T, program string) {
	t.Helper()
	term := open(t, "TERM=dumb")
	term.run(program + " --demo").wait("#1047 find facts")
	if got := term.is("alternate_on"); got != "0" {
		t.Errorf("alternate_on: got %s", got)
	}
	term.write("quit").keys("Enter").wait("exit 0")
}

// Without a directory for recordings the program starts, and reports that it keeps
// nothing.
func nowhereToWrite(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	if err := os.WriteFile(filepath.Join(term.dir, "file"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	term.run("XDG_STATE_HOME="+term.dir+"/file "+program+" --demo --ascii").wait("- Requests ", "all 1 047")
	term.write(":log").keys("Enter").wait("nothing of this session is kept: make a place for recordings")
	term.keys("Escape").write("q").wait("exit 0")
	if got := term.screen(); strings.Contains(got, "recording: ") {
		t.Errorf("it names a recording:\n%s", got)
	}
}

func firstContact(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	if err := os.Mkdir(filepath.Join(term.dir, "conf"), 0o700); err != nil {
		t.Fatal(err)
	}
	term.run(program+" --ascii --confdir conf --vardir var").wait("Nothing has asked the indirector anything yet.", "play the built-in demo", "d demo")
	term.write("d").wait("- Requests ", "all 1 047", "follow on", "#1047 find facts", "4 Cache")
	term.write("3").wait("- Routes ")
	term.write(":route node terminus=yaml").keys("Enter").wait("1 override", "*")
	term.write("q").wait("quit?", "1 changed route")
	term.write("y").wait("exit 0", "recording: ")
	if got := readable(t, term.recording()); got != 1047 {
		t.Errorf("the last line names a recording of %d requests, want the one of the demo", got)
	}
	term.restored()
	if left := term.files("tmp"); len(left) > 0 {
		t.Errorf("the demo left %q behind", left)
	}
}

func killedWhilePlaying(t *testing.T, program string) {
	t.Helper()
	for _, size := range []int64{1, 10_000, 100_000, 1_000_000} {
		t.Run(strconv.FormatInt(size, 10)+" bytes", func(t *testing.T) {
			t.Parallel()
			killed(t, program, size)
		})
	}
}

func askedToEnd(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	term.run("sh -c 'echo $$ > pid; exec " + program + " --demo --ascii'").wait("all 1 047")
	if err := syscall.Kill(term.pid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	term.wait("exit ", "recording: ")
	if got := readable(t, term.recording()); got != 1047 {
		t.Errorf("got %d requests in the recording", got)
	}
	term.restored()
	if left := term.files("tmp"); len(left) > 0 {
		t.Errorf("the demo left %q behind", left)
	}
}

func terminalIsClosed(t *testing.T, program string) {
	t.Helper()
	term := open(t)
	term.run(program + " --demo --ascii").wait("all 1 047")
	if len(term.files("tmp")) != 1 {
		t.Fatalf("got %q, want the files of the demo", term.files("tmp"))
	}
	term.tmux("kill-server")
	until(t, "the files of the demo to go", func() bool { return len(term.files("tmp")) == 0 })
}

// killed kills the program when its recording has the given size, and opens
// what there is of it.
func killed(t *testing.T, program string, size int64) {
	t.Helper()
	first := open(t)
	recording := filepath.Join(first.dir, "killed.jsonl")
	first.tmux("set-option", "-w", "remain-on-exit", "on")
	first.write("echo $$ > pid; exec " + program + " --demo --ascii --record " + recording).keys("Enter")
	until(t, "a recording", func() bool {
		info, err := os.Stat(recording)
		return err == nil && info.Size() >= size
	})
	if err := syscall.Kill(first.pid(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	until(t, "its end", func() bool { return first.is("pane_dead") == "1" })
	shown := readable(t, recording)
	if shown > 1047 || size > 1 && shown < 2 {
		t.Errorf("got %d requests", shown)
	}
	again := open(t)
	want := "all " + term.Grouped(int64(shown))
	if shown == 0 {
		want = "Nothing has asked"
	}
	again.run(program+" open --ascii "+recording).wait("1 Requests", "REPLAY", want)
	again.write("q").wait("exit 0")
}

// readable checks that every finished request of a recording can be read, and
// returns how many there are: of one that was in progress there may be nothing.
func readable(t *testing.T, path string) (shown uint64) {
	t.Helper()
	log, err := store.OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	until(t, "all of "+path, func() bool {
		done, total := log.Loading()
		return done == total
	})
	first, last := log.Range()
	if first != 1 && last > 0 {
		t.Errorf("the first request is %d", first)
	}
	for id := first; id <= last && id > 0; id++ {
		row, there := log.Row(id)
		if there {
			shown++
		}
		if row.Outcome == traces.Run {
			continue
		}
		if _, err := log.Trace(id); err != nil {
			t.Fatalf("request %d: %v", id, err)
		}
	}
	if err := log.Close(); err != nil {
		t.Error(err)
	}
	return shown
}

// pid is what a shell has written down before it became the program.
func (term *terminal) pid() int {
	term.t.Helper()
	text, err := os.ReadFile(filepath.Join(term.dir, "pid"))
	if err != nil {
		term.t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		term.t.Fatal(err)
	}
	return pid
}

// coloured reports whether a screen has a sequence that sets a colour.
func coloured(screen string) bool {
	for _, seq := range regexp.MustCompile(`\x1b\[([0-9;:]*)m`).FindAllStringSubmatch(screen, -1) {
		for _, code := range strings.FieldsFunc(seq[1], func(r rune) bool { return r == ';' || r == ':' }) {
			if n, _ := strconv.Atoi(code); n >= 30 && n != 39 && n != 49 && n <= 107 {
				return true
			}
		}
	}
	return false
}

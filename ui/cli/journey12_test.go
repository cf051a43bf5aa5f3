//go:build unix

package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// colour is what sets a colour on a terminal: foreground or background, of 16,
// of 256, or of all.
var colour = regexp.MustCompile(`\x1b\[[0-9;]*\b(3[0-8]|4[0-8]|9[0-7]|10[0-7])(;|m)`)

// Journey 12 of the UI design, in a real terminal: a recording becomes a check
// in CI. That a panic restores the terminal is TestPanic.
func TestJourney12ACheckInCI(t *testing.T) {
	t.Parallel()
	needTmux(t)
	program := build(t, "indirtui")
	for size, cells := range map[string][2]string{"80x24": {"80", "24"}, "140x40": {"140", "40"}} {
		t.Run(size, func(t *testing.T) {
			t.Parallel()
			term := open(t, "NO_COLOR=1")
			term.tmux("resize-window", "-x", cells[0], "-y", cells[1])
			dir := term.dir
			shell(t, dir, 0, "wait\nsave incident.ind\nquit\n", program, "--plain", "--demo", "--record", filepath.Join(dir, "live.jsonl"))

			// 1: without colours, outcomes are words.
			term.run(program+" open --ascii incident.ind").wait("- Requests ", "REPLAY", "incident.ind", "all 1 047", "8 stale")
			term.write("/hidden").keys("Enter").wait("12 of 1 047", " part", " nil!", " stale", " err~")
			until(t, "the end of the prompt", func() bool { return !strings.Contains(term.screen(), " / hidden") })
			if shown := term.tmux("capture-pane", "-p", "-e"); colour.MatchString(shown) {
				t.Errorf("there are colours:\n%q", shown)
			}
			if plain := term.screen(); !strings.Contains(plain, "stale") {
				t.Errorf("no outcome in words:\n%s", plain)
			}

			// 5: too small, and back: the cursor is where it was.
			before := cursorLine(term.screen())
			term.tmux("resize-window", "-x", "52", "-y", "14")
			term.wait("indirtui needs 60x16, this is 52x14")
			term.tmux("resize-window", "-x", cells[0], "-y", cells[1])
			until(t, "the same row under the cursor", func() bool { return cursorLine(term.screen()) == before })

			// 2: the run at the cursor as a recording of its own; then what is shown.
			term.write(":save base.ind @run").keys("Enter").shows("saved 8 requests to ", "base.ind, masked ")
			term.write(":save hidden.ind @shown").keys("Enter").shows("saved 12 requests to ", "hidden.ind, masked ")
			term.write(":export otlp trace.json #1044").keys("Enter").shows("saved 1 request to ", "trace.json, masked ")
			term.write(":save base.ind @run").keys("Enter").shows("there is a base.ind already; nothing was written")
			term.keys("Escape") // which, together with the next key, would be that key with alt
			until(t, "the message is gone", func() bool { return !strings.Contains(term.screen(), "nothing was written") })
			term.write("q").wait("exit 0")

			// 3: the check, which a script reads.
			out := shell(t, dir, 1, "", program, "check", "--recording", "base.ind", "--expect", "count(hidden) = 0")
			lines := strings.Split(strings.TrimSpace(out), "\n")
			if len(lines) != 3 || !regexp.MustCompile(`^NOT MET: count\(hidden\) = 0 \(2 requests\)$`).MatchString(lines[0]) ||
				!regexp.MustCompile(`^  #1044  stale  find catalog web01.example.com  the server had failed \(#1041\), so the cached catalog \([0-9]+ min old\) was used`).MatchString(lines[1]) ||
				!regexp.MustCompile(`^  #1045  part  save report web01.example.com  terminus processor stored it, but the cache \(yaml\) failed: `).MatchString(lines[2]) {
				t.Errorf("the check says:\n%s", out)
			}
			shell(t, dir, 0, "", program, "check", "--recording", "base.ind", "--expect", "count(out=stale) = 1")

			// 4: two recordings, as JSON.
			var report struct {
				Kind  string
				Equal bool
			}
			if err := json.Unmarshal([]byte(shell(t, dir, 1, "", program, "diff", "base.ind", "hidden.ind", "--format", "json")), &report); err != nil || report.Equal || report.Kind != "runs" {
				t.Errorf("got %+v, %v", report, err)
			}
			shell(t, dir, 0, "", program, "diff", "base.ind", "base.ind", "--format", "json")
		})
	}
}

// cursorLine is the row that the cursor is on.
func cursorLine(screen string) string {
	for _, sign := range []string{"|>", "│›"} {
		if _, row, found := strings.Cut(screen, "\n"+sign); found {
			return strings.Join(strings.Fields(sign + row)[:4], " ")
		}
	}
	return ""
}

// shell runs a program in a directory, with something to read; it must end with
// the code. It returns what was printed.
func shell(t *testing.T, dir string, code int, input, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c := exec.CommandContext(ctx, program, args...)
	c.Dir, c.Stdin = dir, strings.NewReader(input)
	c.Env = append(os.Environ(), "XDG_STATE_HOME="+dir+"/state", "TMPDIR="+dir+"/tmp")
	var stderr strings.Builder
	c.Stderr = &stderr
	out, err := c.Output()
	if failed := (*exec.ExitError)(nil); err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	if got := c.ProcessState.ExitCode(); got != code {
		t.Fatalf("%v ended with %d, want %d\n%s%s", args, got, code, out, stderr.String())
	}
	return string(out)
}

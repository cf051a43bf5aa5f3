//go:build unix

package cli_test

import (
	"strings"
	"testing"
)

// A bug of ours must not cost the user the terminal, or what was recorded. The
// program has a terminus that panics in a goroutine of its own: see
// testdata/crash.
func TestPanic(t *testing.T) {
	t.Parallel()
	needTmux(t)
	program := build(t, "./testdata/crash")
	for _, tt := range []struct {
		name, command, output string
		requests              uint64
	}{
		{"a goroutine of a terminus", "find status n1 terminus=crash", "in the background of n1", 1049},
		{"a command of the screen", "route status terminus=crash dry", "while looking at n1", 1048},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			term := open(t)
			term.run(program + " --demo --ascii").wait("all 1 047")
			term.write(":find status n1").keys("Enter").wait("all 1 048")
			term.write(":"+tt.command).keys("Enter").wait("exit 70", "recording: ")
			recording := term.recording()
			if all := term.tmux("capture-pane", "-p", "-J", "-S", "-"); !strings.Contains(all, "indirtui: a bug of ours: "+tt.output) || !strings.Contains(all, "goroutine ") {
				t.Errorf("it does not say what panicked, and where:\n%s", all)
			}
			term.restored()
			if got := readable(t, recording); got != tt.requests {
				t.Errorf("got %d requests in the recording, want %d", got, tt.requests)
			}
			if left := term.files("tmp"); len(left) > 0 {
				t.Errorf("the demo left %q behind", left)
			}
			term.run(program+" open --ascii "+recording).wait("- Requests ", "1 04").write("q").wait("exit 0")
		})
	}
}

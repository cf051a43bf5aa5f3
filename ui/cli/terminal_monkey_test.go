//go:build unix

package cli_test

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// randomKeys are what is pressed in a real terminal, by the names of tmux: all
// but what ends or suspends the program, and what opens the palette or the
// console, where anything may be chosen.
var randomKeys = strings.Fields(`j k G g h l H L Enter Enter Enter Escape Escape Escape Tab BTab 1 2 3 4 5 d D Space y f . t < > ] [ } {
	/ n N F m z Z ? C-u C-d PageUp PageDown Home End BSpace Up Down Left Right b B r R c C s o O e i a x X I = w v V W C-x C-t C-r C-o F1 F5 F10 M-x 3 5 0
	out=stale ind=facts web01 é 漢 :recordings :ignore :log :break :breaks`)

// TestMonkeyInATerminal presses keys at random, always the same ones, in a real
// terminal. Whatever is on the screen then, the program can be left, and the
// shell is as it was.
func TestMonkeyInATerminal(t *testing.T) {
	t.Parallel()
	needTmux(t)
	program := build(t, "indirtui")
	term := open(t)
	term.run(program+" --demo --ascii").wait("- Requests ", "all 1 047")
	dice := rand.New(rand.NewPCG(80, 24))
	var pressed []string
	alive := func() bool { return term.is("pane_current_command") != "sh" }
	for range 40 {
		var some []string
		for range 10 {
			some = append(some, randomKeys[dice.IntN(len(randomKeys))])
		}
		pressed = append(pressed, some...)
		term.keys(some...)
		if !alive() {
			t.Fatalf("the program ended after %q:\n%s", pressed, term.screen())
		}
		if dice.IntN(8) == 0 {
			size := [][2]string{{"80", "24"}, {"61", "17"}, {"140", "40"}, {"40", "10"}}[dice.IntN(4)]
			term.tmux("resize-window", "-x", size[0], "-y", size[1])
		}
	}
	term.tmux("resize-window", "-x", "80", "-y", "24")
	// Whatever lies on top is closed by escape; q leaves a screen or the program,
	// which may ask whether what is held is to go on.
	until(t, "the end of the program", func() bool {
		before := term.screen()
		switch {
		case !alive():
			return true
		case strings.Contains(before, " quit?  "):
			term.write("y")
		case strings.Contains(before, "esc back") || strings.Contains(before, "esc leaves") || strings.Contains(before, "esc close"):
			term.keys("Escape")
		default:
			term.write("q")
		}
		return !alive()
	})
	term.wait("exit 0", "recording: ")
	term.keys("C-c") // what was typed after the end
	until(t, "the prompt after it", func() bool { return strings.HasSuffix(strings.TrimRight(term.screen(), " \n"), "^C\nshell>") })
	term.restored()
	if left := term.files("tmp"); len(left) > 0 {
		t.Errorf("the demo left %q behind", left)
	}
}

package cli

import (
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"indirtui/ui/term"
)

// printed is what was written to the terminal so far.
func (p *pty) printed() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return string(p.out)
}

// answer waits for the question about the background and writes an answer.
func (p *pty) answer(text string) {
	for !strings.Contains(p.printed(), "\x1b[c") {
		time.Sleep(time.Millisecond)
	}
	if _, err := p.master.WriteString(text); err != nil {
		p.t.Error(err)
	}
}

// TestAsk: the terminal is asked for its background. What was typed meanwhile is
// typed afterwards; an answer that comes too late is not.
func TestAsk(t *testing.T) {
	t.Parallel()
	const attributes = "\x1b[?62;22c"
	for _, tt := range []struct {
		name, answer, later, typed string
		want                       color.Color
	}{
		{"white", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\" + attributes, "j", "j", color.White},
		{"black, and keys", "k\x1b]11;rgb:0000/0000/0000\a" + attributes + "/x", "", "k/x", color.Black},
		{"it knows no colours", attributes, "q", "q", nil},
		{"nothing, and too late", "", "\x1b]11;rgb:ffff/ffff/ffff\x1b\\q", "q", nil},
		{"no colour", "\x1b]11;nonsense\a" + attributes, "q", "q", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := openPTY(t)
			before := p.modes()
			if tt.answer != "" {
				go p.answer(tt.answer)
			}
			got, input := term.Ask(p.slave, p.slave)
			if p.modes() != before {
				t.Error("the modes of the terminal are others")
			}
			if same := got == nil && tt.want == nil || got != nil && tt.want != nil && bright(got) == bright(tt.want); !same {
				t.Errorf("got %v, want %v", got, tt.want)
			}
			if _, err := p.master.WriteString(tt.later + "\n"); err != nil { // whole lines are read here
				t.Fatal(err)
			}
			typed := ""
			for b := make([]byte, 64); len(typed) < len(tt.typed); {
				n, err := input.Read(b)
				if err != nil {
					t.Fatal(err)
				}
				typed += strings.TrimSuffix(string(b[:n]), "\n")
			}
			if typed != tt.typed {
				t.Errorf("typed is %q, want %q", typed, tt.typed)
			}
		})
	}
}

func bright(c color.Color) bool {
	r, _, _, _ := c.RGBA()
	return r > 0x7fff
}

// TestNothingElseAsks: a command that prints something asks the terminal nothing,
// not even before main.
func TestNothingElseAsks(t *testing.T) {
	t.Parallel()
	program := filepath.Join(t.TempDir(), "indirtui")
	if out, err := exec.CommandContext(t.Context(), "go", "build", "-o", program, "indirtui").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	p := openPTY(t)
	for _, args := range [][]string{{"--version"}, {"help"}, {"termini"}} {
		c := exec.CommandContext(t.Context(), program, args...)
		c.Stdin, c.Stdout, c.Stderr = p.slave, p.slave, p.slave
		c.Env = append(os.Environ(), "TERM=xterm-256color")
		if err := c.Run(); err != nil {
			t.Errorf("%v: %v", args, err)
		}
	}
	if printed := p.printed(); strings.Contains(printed, "\x1b") || !strings.Contains(printed, "indirtui") {
		t.Errorf("it printed %q", printed)
	}
}

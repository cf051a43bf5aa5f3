package ui

import (
	"bytes"
	"encoding/base64"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/ui/screen"
	"indirtui/ui/session"
)

// A copy is reported with the way it went, and not at all if tmux refused it.
func TestCopyNamesItsWay(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", maxClipboard+1)
	for _, tt := range []struct {
		name, text, tmux, term string
		load                   error
		begins, loaded         string
		toast                  string
		bad                    bool
	}{
		{name: "plain", text: "a", begins: "\x1b]52;c;", toast: "copied story, 1 B, by OSC 52, if the terminal allows it"},
		{name: "too long", text: long, begins: "\x1b]52;c;", toast: "copied story, 74 kB, by OSC 52, but only the first 74994 bytes, as terminals take no more"},
		{name: "screen", text: "a", term: "screen", begins: "\x1bP\x1b]52;c;", toast: "copied story, 1 B, by OSC 52, if the terminal allows it"},
		{name: "tmux", text: long, tmux: "/tmp/tmux,1,0", term: "screen-256color", begins: "\x1b]52;c;", loaded: long, toast: "copied story, 74 kB, by tmux load-buffer"},
		{name: "tmux refuses", text: "a", tmux: "/tmp/tmux,1,0", load: errors.New("tmux load-buffer: no server"), begins: "\x1b]52;c;", loaded: "a", toast: "copy story: tmux load-buffer: no server", bad: true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var out bytes.Buffer
			var loaded string
			c := &clipboard{out: &out, env: func(name string) string {
				return map[string]string{"TMUX": tt.tmux, "TERM": tt.term}[name]
			}, load: func(text string) error { loaded = text; return tt.load }}
			r := &Model{env: new(session.Env)}
			r.cfg.Hooks.Clipboard = c.copy
			toast, _ := r.copy(screen.Copy{What: "story", Text: tt.text})().(screen.Toast)
			if toast.Text != tt.toast || toast.Bad != tt.bad {
				t.Errorf("got %+v, want %q", toast, tt.toast)
			}
			if !strings.HasPrefix(out.String(), tt.begins) || loaded != tt.loaded {
				t.Errorf("wrote %.40q, loaded %.40q", out.String(), loaded)
			}
			if tt.begins == "\x1b]52;c;" && !strings.Contains(out.String(), base64.StdEncoding.EncodeToString([]byte(tt.text[:min(len(tt.text), maxClipboard)]))) {
				t.Error("the text was not written")
			}
		})
	}
}

// The buffer of a real tmux has what was copied. It changes the environment, so
// that it does not run beside others.
func TestCopyIntoTmux(t *testing.T) {
	if _, err := exec.LookPath("tmux"); err != nil {
		t.Skip("tmux is not installed")
	}
	dir, err := os.MkdirTemp("", "c") // a socket's path must be short
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	socket := filepath.Join(dir, "s")
	tmux := func(args ...string) string {
		out, err := exec.Command("tmux", append([]string{"-S", socket, "-f", os.DevNull}, args...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("tmux %s: %v: %s", args, err, out)
		}
		return string(out)
	}
	t.Setenv("TMUX", socket+",1,0")
	if err := loadBuffer("x"); err == nil || !strings.HasPrefix(err.Error(), "tmux load-buffer: ") {
		t.Errorf("without a server: got %v", err)
	}
	tmux("new-session", "-d", "cat")
	defer tmux("kill-server")
	if err := loadBuffer("a story\n"); err != nil {
		t.Fatal(err)
	}
	if got := tmux("show-buffer"); got != "a story\n" {
		t.Errorf("got %q", got)
	}
}

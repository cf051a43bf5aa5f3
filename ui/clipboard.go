package ui

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/aymanbagabas/go-osc52/v2"
)

// A clipboard is that of the terminal. It is reached by OSC 52, which no terminal
// acknowledges; tmux ignores it as it is set up at first, so that inside of tmux
// its buffer is loaded too, which reports whether it was.
type clipboard struct {
	out  io.Writer
	env  func(string) string
	load func(text string) error // into the buffer of tmux and the terminal around it
}

// maxClipboard is what terminals take; many drop a longer text without a word.
const maxClipboard = 74_994

// copy copies a text, and returns by which way.
func (c *clipboard) copy(text string) (way string, err error) {
	part := text
	if len(part) > maxClipboard {
		part = strings.ToValidUTF8(part[:maxClipboard], "")
	}
	tmux := c.env("TMUX") != ""
	seq := osc52.New(part)
	if !tmux && strings.HasPrefix(c.env("TERM"), "screen") {
		seq = seq.Screen()
	}
	if _, err := seq.WriteTo(c.out); err != nil {
		return "", err
	}
	switch {
	case tmux:
		return "by tmux load-buffer", c.load(text)
	case len(part) < len(text):
		return fmt.Sprintf("by OSC 52, but only the first %d bytes, as terminals take no more", len(part)), nil
	}
	return "by OSC 52, if the terminal allows it", nil
}

// loadFor is how long tmux may take.
const loadFor = 2 * time.Second

// loadBuffer loads a text into the buffer of tmux, and by -w into the clipboard of
// the terminal that tmux runs in.
func loadBuffer(text string) error {
	ctx, cancel := context.WithTimeout(context.Background(), loadFor)
	defer cancel()
	cmd := exec.CommandContext(ctx, "tmux", "load-buffer", "-w", "-")
	cmd.Stdin = strings.NewReader(text)
	cmd.WaitDelay = loadFor
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil:
		return nil
	case ctx.Err() != nil:
		return fmt.Errorf("tmux load-buffer: no answer in %s", loadFor)
	case len(bytes.TrimSpace(out)) > 0:
		return fmt.Errorf("tmux load-buffer: %s", bytes.TrimSpace(out))
	}
	return fmt.Errorf("tmux load-buffer: %w", err)
}

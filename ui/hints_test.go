package ui

import (
	"testing"

	"github.com/charmbracelet/bubbles/key"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// What help of Bubbles draws arrives with our own styles, whatever the keys of the
// configuration are called, and is drawn once for each theme.
func TestHintLines(t *testing.T) {
	t.Parallel()
	offered := []key.Binding{
		key.NewBinding(key.WithKeys("enter"), key.WithHelp("enter", "open")),
		key.NewBinding(key.WithKeys("x"), key.WithHelp("\x1b]x", "hostile")),
		key.NewBinding(key.WithKeys("?"), key.WithHelp("?", "help")),
	}
	for p := term.Sixteen; p <= term.NoStyle; p++ {
		th := &term.Theme{Palette: p}
		want := term.Of(term.Plain, " ")
		for i, b := range offered {
			if i > 0 {
				want.Put(term.Quiet, " · ")
			}
			want.Put(term.Accent|term.Bold, b.Help().Key)
			want.Put(term.Plain, " ")
			want.Put(term.Quiet, b.Help().Desc)
		}
		var h hintLines
		for range 3 {
			got := h.draw(th, offered)
			if got, want := th.Render(term.Lines{got}), th.Render(term.Lines{want}); got != want {
				t.Errorf("palette %d: got %q, want %q", p, got, want)
			}
		}
		if len(h) != 1 {
			t.Errorf("palette %d: drawn %d times", p, len(h))
		}
		for i := range 20 {
			h.draw(th, offered[:i%4])
			h.draw(&term.Theme{Palette: p, Bar: i%2 == 0}, offered[:i%3])
		}
		if len(h) > maxHintLines {
			t.Errorf("palette %d: %d lines are kept", p, len(h))
		}
	}
}

// Keys with the same word are one hint, and a click on each does what it does.
func TestHintOfSeveralKeys(t *testing.T) {
	t.Parallel()
	keys, _ := screen.NewKeys(nil)
	h := hint{keys.Of(screen.PrevInRun, screen.InSteps), keys.Of(screen.NextInRun, screen.InSteps)}
	if h.keys() != "{ }" || h.width() != len("{ } run") {
		t.Errorf("got %q, %d cells", h.keys(), h.width())
	}
	for x, want := range []screen.Action{
		screen.PrevInRun, screen.PrevInRun, screen.NextInRun, screen.NextInRun, screen.NextInRun, screen.NextInRun, screen.NextInRun,
	} {
		if got := h.at(x).Do; got != want {
			t.Errorf("cell %d: got %s, want %s", x, got, want)
		}
	}
}

package cli

import (
	"path/filepath"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
)

// A recording that cannot be read leaves the session as it is.
func TestMistypedOpenStays(t *testing.T) {
	t.Parallel()
	switched := false
	msg := openHere(filepath.Join(t.TempDir(), "incidnet.ind"), func(opener) tea.Cmd {
		switched = true
		return tea.Quit
	})()
	if toast, is := msg.(screen.Toast); !is || !toast.Bad || toast.Text == "" || switched {
		t.Errorf("got %#v, switched %v", msg, switched)
	}
}

// Commands of a session listen on the loopback address unless they name one.
func TestHereListensNearby(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		words []string
		want  string
	}{
		{nil, "127.0.0.1:8140"},
		{[]string{"--legacy"}, "127.0.0.1:8140"},
		{[]string{"--listen", ":8141"}, ":8141"},
		{[]string{"--listen=:8142"}, ":8142"},
	} {
		c := newServe(new(program))
		if _, err := c.here(tt.words, func(opener) tea.Cmd { return nil }); err != nil || c.listen != tt.want {
			t.Errorf("%q: listens on %q, %v; want %q", tt.words, c.listen, err, tt.want)
		}
	}
}

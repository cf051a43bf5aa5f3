package term_test

import (
	"strings"
	"testing"

	"indirtui/ui/term"
)

// TestDrawn: what was drawn with the styles of a theme comes in as it was, and
// looks the same when it goes out.
func TestDrawn(t *testing.T) {
	t.Parallel()
	for p := term.Sixteen; p <= term.NoStyle; p++ {
		th := &term.Theme{Glyphs: term.Unicode, Palette: p, Bar: true}
		var want term.Lines
		text := ""
		for _, s := range []term.Style{term.Plain, term.Failed, term.Accent | term.Bold, term.Quiet, term.Plain | term.Selected} {
			want = append(want, term.Of(s, "word"))
			text += "\n" + th.Lip(s).Render("word")
		}
		got := th.Drawn(text[1:])
		if a, b := th.Render(got), th.Render(want); a != b {
			t.Errorf("palette %d: got %q, want %q", p, a, b)
		}
	}
}

// FuzzDrawn: whatever a component draws, nothing of it is obeyed.
func FuzzDrawn(f *testing.F) {
	f.Add("\x1b[31mred\x1b[0m", byte(0))
	f.Add("\x1b[2J\x1b[H\x1b]0;title\a", byte(3))
	f.Add("\x1b[38;2;0;0;0mx\n\x1b[", byte(4))
	f.Fuzz(func(t *testing.T, text string, p byte) {
		th := &term.Theme{Glyphs: term.Unicode, Palette: term.Palette(p) % (term.NoStyle + 1), Bar: p&64 != 0}
		lines := th.Drawn(text)
		if n := strings.Count(text, "\n") + 1; len(lines) != n {
			t.Errorf("got %d lines, want %d", len(lines), n)
		}
		for _, l := range lines {
			if strings.ContainsFunc(l.String(), func(r rune) bool { return r < ' ' || 0x7f <= r && r < 0xa0 }) {
				t.Errorf("%q is obeyed", l.String())
			}
		}
	})
}

package cli

import (
	"strings"
	"testing"

	"github.com/charmbracelet/x/ansi"

	"indirtui/ui/term"
)

// TestBytesOfKeys: a key takes at most 8 kB of output at 140x40, in 24-bit
// colours, wherever it leads.
func TestBytesOfKeys(t *testing.T) {
	t.Parallel()
	const most = 8000
	theme := &term.Theme{Glyphs: term.Unicode, Palette: term.TrueDark, Bar: true}
	visit(t, [2]int{140, 40}, theme, nil, func(tr *trip) {
		var shown term.Screen
		last := bubble(&shown, tr.Raw(), nil)
		for _, key := range strings.Fields("k k k k G g G j k enter j j v esc esc 2 j j enter esc 3 j enter esc 4 5 1 / esc ? esc : esc 1 k k v 2 1") {
			tr.Keys(key)
			before := last.sent
			last = bubble(&shown, tr.Raw(), last)
			n := last.sent - before
			t.Logf("%s sends %d bytes", key, n)
			if n > most {
				t.Errorf("%s sends %d bytes, more than %d", key, n, most)
			}
		}
		if before := last.sent; bubble(&shown, tr.Raw(), last).sent > before+len("\x1b[40;H") {
			t.Error("a frame that has not changed is sent")
		}
	})
}

// A drawn is the frame that Bubble Tea wrote last, and how many bytes were sent.
type drawn struct {
	lines []string
	sent  int
}

// bubble draws a frame as Bubble Tea does.
func bubble(s *term.Screen, frame string, last *drawn) *drawn {
	next := &drawn{lines: strings.Split(frame, "\n")}
	var b strings.Builder
	b.WriteString(ansi.CursorHomePosition)
	for i, line := range next.lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		if last == nil || i >= len(last.lines) || last.lines[i] != line {
			b.WriteString(line + "\r")
		}
	}
	b.WriteString(ansi.CursorPosition(0, len(next.lines)))
	next.sent = len(s.Draw([]byte(b.String())))
	if last != nil {
		next.sent += last.sent
	}
	return next
}

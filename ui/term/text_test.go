package term_test

import (
	"image/color"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/charmbracelet/x/ansi"

	"indirtui/ui/term"
)

func TestClean(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, in, want string }{
		{"plain", "web01.example.com", "web01.example.com"},
		{"empty", "", ""},
		{"escape", "a\x1b[31mb", `a\x1b[31mb`},
		{"line ends", "a\r\n\tb", `a\r\n\tb`},
		{"DEL and C1", "\x7f\u009b", `\x7f\x9b`},
		{"bidi", "a\u202eb", `a\u202eb`},
		{"zero width", "a\u200bb\ufeff", `a\u200bb\ufeff`},
		{"no UTF-8", "a\xffb\xc3", `a\xffb\xc3`},
		{"letters", "größe 日本", "größe 日本"},
		{"combining", "e\u0301", `e\u0301`},
		{"tag", "\U000e0041", `\U000e0041`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := term.Clean(tt.in).String(); got != tt.want {
				t.Errorf("Clean(%q): got %q, want %q", tt.in, got, tt.want)
			}
		})
	}
}

// What a terminal, and the library that draws on it, take for the width of a
// rune must be what we take for it.
func TestEveryRuneHasTheWidthOfTheTerminal(t *testing.T) {
	t.Parallel()
	for r := rune(0); r <= utf8.MaxRune; r++ {
		text := term.Clean(string(r))
		if got, want := text.Width(), ansi.StringWidth(text.String()); got != want {
			t.Errorf("%U %q: got width %d, want %d", r, text, got, want)
		}
	}
}

var plain = &term.Theme{Palette: term.NoStyle}

func FuzzText(f *testing.F) {
	for _, s := range []string{"", "abc", "\x1b]52;c;!\a", "日本語テキスト", "a\u202eb", "\xff\xfe", "🇩🇪👍🏽", "각", strings.Repeat("x", 300)} {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, cells int) {
		cells &= 63
		whole := term.Clean(s)
		for _, text := range []term.Text{whole, whole.Cut(cells), whole.Skip(cells), whole.First(cells), term.CleanTo(s, cells)} {
			if got, want := text.Width(), ansi.StringWidth(text.String()); got != want {
				t.Errorf("%q: got width %d, want %d", text, got, want)
			}
			for _, r := range text.String() {
				if r < ' ' || 0x7f <= r && r < 0xa0 || r == 0x202e || r == utf8.RuneError && !strings.ContainsRune(s, utf8.RuneError) {
					t.Errorf("%q is not clean", text)
				}
			}
		}
		if got := whole.Cut(cells).Width(); got > cells {
			t.Errorf("%q cut to %d cells: got %d", whole, cells, got)
		}
		if whole.First(cells).String()+whole.Skip(cells).String() != whole.String() {
			t.Errorf("%q split at %d: parts are not the whole", whole, cells)
		}
		var l term.Line
		l.Add(term.Plain, whole)
		l.Put(term.Bold, "more")
		if cut := l.Cut(cells); cut.Width() > cells || cut.Width() != ansi.StringWidth(plain.Render(term.Lines{cut})) {
			t.Errorf("line %q cut to %d: got %q of %d", whole, cells, cut.String(), cut.Width())
		}
		for _, line := range whole.Wrap(cells, 5) {
			if line.Width() > cells || line.Width() != ansi.StringWidth(line.String()) {
				t.Errorf("%q wrapped at %d: got %q of %d", whole, cells, line, line.Width())
			}
		}
	})
}

func TestLineCut(t *testing.T) {
	t.Parallel()
	var l term.Line
	l.Put(term.Plain, "one ")
	l.Put(term.Failed, "two")
	for cells, want := range []string{"", "…", "o…", "on…", "one…", "one…", "one t…", "one two", "one two"} {
		if cells == 4 {
			want = "one…"
		}
		if cells == 5 {
			want = "one …"
		}
		got := l.Cut(cells)
		if got.Width() > cells || strings.TrimRight(got.String(), " ") != strings.TrimRight(want, " ") {
			t.Errorf("cut to %d: got %q, want %q", cells, got.String(), want)
		}
	}
}

func TestTheme(t *testing.T) {
	t.Parallel()
	lines := term.Lines{
		term.Of(term.Plain, "ok"), term.Of(term.Failed, "err"), term.Of(term.Cached|term.Bold, "hit"),
		term.Of(term.Plain|term.Selected, "row"),
	}
	tests := []struct {
		name       string
		env        map[string]string
		background color.Color
		want       string
	}{
		{"sixteen", nil, nil, "ok\n\x1b[31merr\x1b[0m\n\x1b[1;36mhit\x1b[0m\n\x1b[7mrow\x1b[0m"},
		{"NO_COLOR", map[string]string{"NO_COLOR": "1", "COLORTERM": "truecolor"}, nil, "ok\n\x1b[1;4;4merr\x1b[0m\n\x1b[1mhit\x1b[0m\nrow"},
		{"256", map[string]string{"TERM": "xterm-256color"}, nil, "ok\n\x1b[38;5;202merr\x1b[0m\n\x1b[1;38;5;74mhit\x1b[0m\n\x1b[7mrow\x1b[0m"},
		{"truecolor", map[string]string{"TERM": "xterm", "COLORTERM": "truecolor"}, nil, "ok\n\x1b[38;2;240;110;50merr\x1b[0m\n\x1b[1;38;2;86;179;233mhit\x1b[0m\n\x1b[7mrow\x1b[0m"},
		{"known to be dark", map[string]string{"TERM": "xterm", "COLORTERM": "truecolor", "COLORFGBG": "0;15"}, color.Black, "ok\n\x1b[38;2;240;110;50merr\x1b[0m\n\x1b[1;38;2;86;179;233mhit\x1b[0m\n\x1b[48;2;34;48;73mrow\x1b[0m"},
		{"light", map[string]string{"TERM": "xterm", "COLORTERM": "24bit", "COLORFGBG": "0;15"}, nil, "ok\n\x1b[38;2;176;70;0merr\x1b[0m\n\x1b[1;38;2;0;94;150mhit\x1b[0m\n\x1b[7mrow\x1b[0m"},
		{"known to be light", map[string]string{"TERM": "xterm", "COLORTERM": "24bit"}, color.White, "ok\n\x1b[38;2;176;70;0merr\x1b[0m\n\x1b[1;38;2;0;94;150mhit\x1b[0m\n\x1b[48;2;219;233;246mrow\x1b[0m"},
		{"dumb", map[string]string{"TERM": "dumb"}, nil, "ok\nerr\nhit\nrow"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			th := term.NewTheme(func(name string) string { return tt.env[name] }, tt.background)
			if got := th.Render(lines); got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// TestPanel draws a box around lines, rules and parts side by side.
func TestPanel(t *testing.T) {
	t.Parallel()
	th := &term.Theme{Glyphs: term.Unicode, Palette: term.NoStyle}
	title := func(left, right string) term.Title {
		return term.Title{Left: term.Of(term.Plain, left), Right: term.Of(term.Plain, right)}
	}
	word := func(s string) term.Lines { return term.Lines{term.Of(term.Plain, s)} }
	beside := func(left, right term.Lines) term.Lines { return term.Beside(left, right, 9, th, title("right", "")) }
	tests := []struct {
		name  string
		lines term.Lines
		want  string
	}{
		{"a line", word("one"), `
╭─ left ────── state ─╮
│one                  │
╰─ below ─────── end ─╯`},
		{"too many and too long", append(word("a line that is longer than the box"), word("two")...), `
╭─ left ────── state ─╮
│a line that is longe…│
╰─ below ─────── end ─╯`},
		{"a rule", term.Lines{th.Titled(21, title("part", "ms"))}, `
╭─ left ────── state ─╮
├─ part ───────── ms ─┤
╰─ below ─────── end ─╯`},
		{"side by side", beside(word("one"), word("two")), `
╭─ left ──┬─ right ───╮
│one      │ two       │
╰─ below ─┴───── end ─╯`},
		{"a rule at the right", beside(word("one"), term.Lines{th.Titled(10, title("who", ""))}), `
╭─ left ──┬─ right ───╮
│one      ├─ who ─────┤
╰─ below ─┴───── end ─╯`},
		{"a rule at the left", beside(term.Lines{th.HRule(9)}, word("two")), `
╭─ left ──┬─ right ───╮
├─────────┤ two       │
╰─ below ─┴───── end ─╯`},
		{"a rule above", append(term.Lines{th.HRule(21)}, beside(word("one"), word("two"))...), `
╭─ left ────── state ─╮
├─────────┬───────────┤
│one      │ two       │
╰─ below ─┴───── end ─╯`},
		{"a rule below", append(beside(word("one"), word("two")), th.HRule(21)), `
╭─ left ──┬─ right ───╮
│one      │ two       │
├─────────┴───────────┤
╰─ below ─────── end ─╯`},
		{"rules on both sides", beside(term.Lines{th.HRule(9)}, term.Lines{th.HRule(11)}), `
╭─ left ──┬─ right ───╮
├─────────┼───────────┤
╰─ below ─┴───── end ─╯`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			frame := term.Frame{Top: title("left", "state"), Bottom: title("below", "end")}
			if strings.Contains(tt.want, "right") {
				frame.Top = title("left", "") // there is no room for more
			}
			got := th.Panel(23, max(strings.Count(tt.want, "\n"), 3), frame, tt.lines)
			if want := strings.TrimPrefix(tt.want, "\n"); got.Text() != want {
				t.Errorf("got\n%s\nwant\n%s", got.Text(), want)
			}
			for _, l := range got {
				if l.Width() != 23 {
					t.Errorf("%q takes %d cells, want 23", l.String(), l.Width())
				}
			}
		})
	}
}

func TestSevenBits(t *testing.T) {
	t.Parallel()
	th := term.NewTheme(func(string) string { return "" }, nil)
	th.Palette = term.NoStyle
	if got, want := th.Render(term.Lines{term.Of(term.Plain, "a › größe 日本 · …")}), "a > gr??e ???? | ~"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestGlyphsAreOneCell(t *testing.T) {
	t.Parallel()
	for _, g := range []term.Glyphs{term.ASCII, term.Unicode} {
		for _, s := range append([]string{g.Border.Top, g.Border.Left, g.Border.Middle, g.Border.TopLeft, g.Border.TopRight, g.Border.BottomLeft, g.Border.BottomRight, g.Live, g.Happened, g.Not, g.Wrong, g.Cursor, g.Open, g.Closed, g.Leaf, g.Planned, g.Own, g.Outside, g.Instant, g.Caret}, g.Spark...) {
			if got := term.Clean(s).Width(); got != 1 {
				t.Errorf("%q: got %d cells, want 1", s, got)
			}
		}
	}
}

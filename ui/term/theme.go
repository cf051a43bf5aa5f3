package term

import "strings"

// A Palette is how many colours a terminal has for us.
type Palette uint8

// The palettes.
const (
	Sixteen   Palette = iota // the terminal's own colours, for light and dark
	TrueDark                 // 24 bits on a dark background
	TrueLight                // 24 bits on a light background
	NoColour                 // bold, underline and reverse only
	NoStyle                  // nothing at all
)

// Glyphs are the signs that are not text. Each takes one cell.
type Glyphs struct {
	Rule, Wall, Cross          string // between parts: horizontal, vertical, where they meet
	TopLeft, TopRight          string // corners of a box
	BottomLeft, BottomRight    string
	Cursor, Open, Closed, Leaf string // in front of rows
	Planned                    string // in front of what was not reached
	Own, Outside, Instant      string // bars: own time, time elsewhere, under a millisecond
	Caret                      string // where to write
	Spark                      []string
}

// ASCII and Unicode are the two sets of signs.
var (
	ASCII = Glyphs{
		Rule: "-", Wall: "|", Cross: "+",
		TopLeft: "+", TopRight: "+", BottomLeft: "+", BottomRight: "+",
		Cursor: ">", Open: "v", Closed: ">", Leaf: " ", Planned: ".",
		Own: "=", Outside: "#", Instant: "|", Caret: "_",
		Spark: []string{".", "_", "-", "=", "#"},
	}
	Unicode = Glyphs{
		Rule: "─", Wall: "│", Cross: "┼",
		TopLeft: "╭", TopRight: "╮", BottomLeft: "╰", BottomRight: "╯",
		Cursor: "›", Open: "▾", Closed: "▸", Leaf: " ", Planned: "·",
		Own: "━", Outside: "█", Instant: "▏", Caret: "▏",
		Spark: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
	}
)

// A Theme turns lines into what a terminal understands. It never paints a
// background.
type Theme struct {
	Glyphs  Glyphs
	Palette Palette
	// SevenBits is set for a terminal that shows ASCII only: all else is shown as
	// question marks.
	SevenBits bool
}

// NewTheme chooses a theme from the environment: NO_COLOR, COLORTERM, TERM, the
// locale, and whether the background is dark: COLORFGBG if it is set, else dark.
// Rule: UI design, section 8.
func NewTheme(env func(string) string, dark bool) *Theme {
	if fgbg := env("COLORFGBG"); fgbg != "" {
		bg := fgbg[strings.LastIndexByte(fgbg, ';')+1:]
		dark = bg != "7" && bg != "15"
	}
	th := &Theme{Glyphs: ASCII, Palette: Sixteen}
	th.SevenBits = !utf8Locale(env)
	if !th.SevenBits && env("TERM") != "dumb" {
		th.Glyphs = Unicode
	}
	switch ct := env("COLORTERM"); {
	case env("NO_COLOR") != "":
		th.Palette = NoColour
	case env("TERM") == "dumb":
		th.Palette = NoStyle
	case ct != "truecolor" && ct != "24bit":
	case dark:
		th.Palette = TrueDark
	default:
		th.Palette = TrueLight
	}
	return th
}

func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// colours are the codes of the roles, by palette. The true colours are the
// Okabe and Ito set, which colour-blind users distinguish, too; on light
// backgrounds they are darker.
var colours = [...][6]string{
	Sixteen:   {"", "36", "33", "31", "35", "90"},
	TrueDark:  {"", "38;2;86;180;233", "38;2;230;159;0", "38;2;240;110;50", "38;2;204;121;167", "38;2;138;138;138"},
	TrueLight: {"", "38;2;0;94;150", "38;2;148;92;0", "38;2;176;70;0", "38;2;150;60;115", "38;2;110;110;110"},
	// Without colours the roles are attributes.
	NoColour: {"", "", "1", "1;4", "7", "2"},
	NoStyle:  {},
}

// Render returns the lines as text for a terminal.
func (th *Theme) Render(lines Lines) string {
	var b strings.Builder
	b.Grow(len(lines) * 160)
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		th.render(&b, l)
	}
	return b.String()
}

func (th *Theme) render(b *strings.Builder, l Line) {
	last := Plain
	for _, s := range l.spans {
		if style := th.visible(s.style); style != last {
			if last != Plain {
				b.WriteString("\x1b[0m")
			}
			th.sgr(b, style)
			last = style
		}
		if th.SevenBits {
			writeASCII(b, s.Text)
		} else {
			b.WriteString(s.s)
		}
	}
	if last != Plain {
		b.WriteString("\x1b[0m")
	}
}

// writeASCII writes a text in as many cells as it takes.
func writeASCII(b *strings.Builder, t Text) {
	if len(t.s) == t.w {
		b.WriteString(t.s)
		return
	}
	for _, r := range t.s {
		switch {
		case r <= '~':
			b.WriteRune(r)
		case r == '›' || r == '→':
			b.WriteByte('>')
		case r == '…':
			b.WriteByte('~')
		default:
			for range cellsOf(r) {
				b.WriteByte('?')
			}
		}
	}
}

func (th *Theme) visible(s Style) Style {
	if th.Palette == NoStyle {
		return Plain
	}
	return s
}

func (th *Theme) sgr(b *strings.Builder, s Style) {
	if s == Plain {
		return
	}
	b.WriteString("\x1b[0")
	if c := colours[th.Palette][s.role()]; c != "" {
		b.WriteString(";" + c)
	}
	for i, code := range [...]string{"1", "4", "7"} {
		if s&(Bold<<i) != 0 {
			b.WriteString(";" + code)
		}
	}
	b.WriteByte('m')
}

// HRule returns a line across.
func (th *Theme) HRule(width int) Line {
	var l Line
	l.Put(Quiet, strings.Repeat(th.Glyphs.Rule, max(width, 0)))
	return l
}

// Text returns the lines as plain text, one below the other.
func (ls Lines) Text() string {
	var b strings.Builder
	for i, l := range ls {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(l.String())
	}
	return b.String()
}

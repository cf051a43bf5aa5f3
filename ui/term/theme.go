package term

import (
	"image/color"
	"io"
	"strings"
	"sync"

	"github.com/charmbracelet/bubbles/spinner"
	"github.com/charmbracelet/lipgloss"
	"github.com/muesli/termenv"
)

// A Palette is which colours a terminal has for us.
type Palette uint8

// The palettes.
const (
	Sixteen   Palette = iota // the terminal's own colours, for light and dark
	Dark256                  // 256 colours on a dark background
	Light256                 // 256 colours on a light background
	TrueDark                 // 24 bits on a dark background
	TrueLight                // 24 bits on a light background
	NoColour                 // bold, underline and reverse only
	NoStyle                  // nothing at all
)

// Glyphs are the signs that are not text. Each takes one cell.
type Glyphs struct {
	Border                     lipgloss.Border
	Cursor, Open, Closed, Leaf string // in front of rows
	Happened, Not, Wrong       string // in front of steps: it happened, it was not asked, it failed
	Planned                    string // in front of what was not reached
	Yes, No                    string // in a table of what can be done
	Warning                    string // in front of what is wrong, in a border
	Gutter                     string // in front of what went wrong; "" is a letter for each role
	Own, Outside, Instant      string // bars: own time, time elsewhere, under a millisecond
	Caret                      string // where to write
	Live                       string // in front of what the program is doing
	Corner                     string // in front of what belongs to the line above
	Spark                      []string
	Turning                    []string // one after the other: something goes on
}

// ASCII and Unicode are the two sets of signs.
var (
	ASCII = Glyphs{
		Border: lipgloss.ASCIIBorder(),
		Cursor: ">", Open: "v", Closed: "+", Leaf: " ", Planned: ".",
		Happened: "o", Not: "-", Wrong: "x", Yes: "x", No: ".", Warning: "!",
		Own: "=", Outside: "#", Instant: "|", Caret: "_", Live: "*", Corner: "`",
		Spark: []string{".", "_", "-", "=", "#"}, Turning: spinner.Line.Frames,
	}
	Unicode = Glyphs{
		Border: lipgloss.RoundedBorder(),
		Cursor: "›", Open: "▾", Closed: "▸", Leaf: " ", Planned: "·",
		Happened: "●", Not: "○", Wrong: "✗", Yes: "✓", No: "·", Warning: "▲", Gutter: "▌",
		Own: "━", Outside: "█", Instant: "▏", Caret: "▏", Live: "●", Corner: "└",
		Spark: []string{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"}, Turning: spinner.MiniDot.Frames,
	}
)

// A Theme turns lines into what a terminal understands. Lip Gloss decides what
// each style looks like, once: to have it decide for each piece of text takes
// thirty times as long.
type Theme struct {
	Glyphs  Glyphs
	Palette Palette
	// SevenBits is set for a terminal that shows ASCII only: all else is shown as
	// question marks.
	SevenBits bool
	// Bar is set if the background is known: the selected row has one of its own.
	Bar bool
}

// ends are what begins and what ends a piece of text in a style.
type ends struct {
	open, close string
	sets        attributes
}

// attributes are what a style sets.
type attributes uint8

const (
	foreground attributes = 1 << iota
	background
	bold
	faint
	underlined
	reversed

	// seen are those that blanks show, too.
	seen = background | underlined | reversed
)

// attributesOf returns what a style sets.
func attributesOf(s lipgloss.Style) (a attributes) {
	for i, set := range [...]bool{
		s.GetForeground() != lipgloss.TerminalColor(lipgloss.NoColor{}), s.GetBackground() != lipgloss.TerminalColor(lipgloss.NoColor{}),
		s.GetBold(), s.GetFaint(), s.GetUnderline(), s.GetReverse(),
	} {
		if set {
			a |= 1 << i
		}
	}
	return a
}

// NewTheme chooses a theme from the environment: NO_COLOR, COLORTERM, TERM, the
// locale, and from the background that the terminal has reported, which is
// nil if it did not; COLORFGBG comes next, then dark. Rule: UI design, section 8.
func NewTheme(env func(string) string, background color.Color) *Theme {
	th := &Theme{Glyphs: ASCII, Bar: background != nil}
	th.SevenBits = !utf8Locale(env)
	if !th.SevenBits && env("TERM") != "dumb" {
		th.Glyphs = Unicode
	}
	th.Palette = palette(env, dark(env, background))
	return th
}

// dark reports whether the background is.
func dark(env func(string) string, background color.Color) bool {
	if background != nil {
		r, g, b, _ := background.RGBA()
		return 299*r+587*g+114*b < 500*0xffff // how bright it looks, ITU-R BT.601
	}
	fgbg := env("COLORFGBG")
	bg := fgbg[strings.LastIndexByte(fgbg, ';')+1:]
	return bg != "7" && bg != "15"
}

func palette(env func(string) string, dark bool) Palette {
	if env("TERM") == "dumb" {
		return NoStyle
	}
	if env("NO_COLOR") != "" {
		return NoColour
	}
	light := Palette(1)
	if dark {
		light = 0
	}
	switch termenv.NewOutput(io.Discard, termenv.WithEnvironment(environ(env)), termenv.WithTTY(true)).EnvColorProfile() {
	case termenv.TrueColor:
		return TrueDark + light
	case termenv.ANSI256:
		return Dark256 + light
	}
	return Sixteen
}

// environ is the environment as termenv wants it.
type environ func(string) string

func (e environ) Getenv(name string) string { return e(name) }
func (e environ) Environ() []string         { return nil }

func utf8Locale(env func(string) string) bool {
	for _, name := range []string{"LC_ALL", "LC_CTYPE", "LANG"} {
		if v := strings.ToLower(env(name)); v != "" {
			return strings.Contains(v, "utf-8") || strings.Contains(v, "utf8")
		}
	}
	return false
}

// hue is a colour in all palettes.
func hue(dark, light, dark256, light256, sixteen string) lipgloss.CompleteAdaptiveColor {
	return lipgloss.CompleteAdaptiveColor{
		Dark:  lipgloss.CompleteColor{TrueColor: dark, ANSI256: dark256, ANSI: sixteen},
		Light: lipgloss.CompleteColor{TrueColor: light, ANSI256: light256, ANSI: sixteen},
	}
}

// hues are the colours of the roles. The true colours are the Okabe and Ito set,
// which colour-blind users distinguish, too; on light backgrounds they are
// darker.
var hues = [...]lipgloss.CompleteAdaptiveColor{
	Cached:    hue("#56b4e9", "#005e96", "74", "24", "6"),
	Attention: hue("#e69f00", "#945c00", "214", "94", "3"),
	Failed:    hue("#f06e32", "#b04600", "202", "130", "1"),
	Touched:   hue("#cc79a7", "#963c73", "175", "96", "5"),
	Quiet:     hue("245", "#6e6e6e", "245", "242", "8"),
	Edge:      hue("#4a566a", "#b4bac4", "240", "250", "8"),
}

// selection is the background of the selected row.
var selection = hue("#22314a", "#dbe9f6", "236", "254", "")

// renderer is Lip Gloss's for a palette. It never looks at the terminal.
func renderer(p Palette) *lipgloss.Renderer {
	profiles := [...]termenv.Profile{
		Sixteen: termenv.ANSI, Dark256: termenv.ANSI256, Light256: termenv.ANSI256,
		TrueDark: termenv.TrueColor, TrueLight: termenv.TrueColor,
		NoColour: termenv.ANSI, // without a profile there is no bold either
		NoStyle:  termenv.Ascii,
	}
	r := lipgloss.NewRenderer(io.Discard)
	r.SetColorProfile(profiles[p])
	r.SetHasDarkBackground(p != Light256 && p != TrueLight)
	return r
}

// looks are the styles of each palette, without and with a bar for the selected
// row, as Lip Gloss renders them.
var looks = func() (all [NoStyle + 1][2]func() *[styles]ends) {
	for p := range all {
		for bar := range all[p] {
			all[p][bar] = sync.OnceValue(func() *[styles]ends { return rendered(Palette(p), bar == 1) })
		}
	}
	return all
}()

// rendered has Lip Gloss render each style, and keeps what comes before and what
// comes behind a text.
func rendered(p Palette, bar bool) *[styles]ends {
	const text = "x"
	r, out := renderer(p), new([styles]ends)
	for s := range out {
		looks := style(r, p, Style(s), bar)
		out[s].open, out[s].close, _ = strings.Cut(looks.Render(text), text)
		if out[s].open != "" {
			out[s].sets = attributesOf(looks)
		}
	}
	return out
}

// style is what Lip Gloss makes of a Style.
func style(r *lipgloss.Renderer, p Palette, s Style, bar bool) lipgloss.Style {
	out := r.NewStyle().Bold(s&Bold != 0).Underline(s&Under != 0).Reverse(s&Reverse != 0)
	role := s.role()
	switch {
	case p != NoColour && role != Plain && int(role) < len(hues):
		out = out.Foreground(hues[role])
	case role == Attention: // without colours the roles are attributes
		out = out.Bold(true)
	case role == Failed:
		out = out.Bold(true).Underline(true)
	case role == Touched:
		out = out.Reverse(true)
	case role == Quiet || role == Edge:
		out = out.Faint(true)
	}
	switch {
	case s&Selected == 0 || p == NoColour: // there the sign in front of the row shows it
	case p == Sixteen || !bar:
		out = out.Reverse(true)
	default:
		out = out.Background(selection)
	}
	return out
}

// HasBar reports whether the selected row is seen by its background. Where it is
// not, a sign stands in front of it.
func (th *Theme) HasBar() bool { return th.Palette < NoColour }

func (th *Theme) ends() *[styles]ends {
	bar := 0
	if th.Bar {
		bar = 1
	}
	return looks[th.Palette][bar]()
}

// Render returns the lines as text for a terminal.
func (th *Theme) Render(lines Lines) string {
	looks := th.ends()
	var b strings.Builder
	b.Grow(len(lines) * 160)
	for i, l := range lines {
		if i > 0 {
			b.WriteByte('\n')
		}
		th.render(&b, l, looks)
	}
	return b.String()
}

// render writes what begins and ends styles as seldom as it can: a screen is sent
// again and again, perhaps over a slow line. Blanks look the same in most styles,
// and what a style sets the next one need not undo.
func (th *Theme) render(b *strings.Builder, l Line, looks *[styles]ends) {
	last := &looks[Plain]
	for i := range l.spans {
		s := &l.spans[i]
		if s.w == 0 {
			continue // reserved
		}
		e := &looks[s.style]
		if e.open != last.open && ((e.sets|last.sets)&seen != 0 || !s.blank()) {
			if last.sets&^e.sets != 0 {
				b.WriteString(last.close)
			}
			b.WriteString(e.open)
			last = e
		}
		if th.SevenBits {
			writeASCII(b, s.Text)
		} else {
			b.WriteString(s.s)
		}
	}
	b.WriteString(last.close)
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
		case r == '·':
			b.WriteByte('|')
		default:
			for range cellsOf(r) {
				b.WriteByte('?')
			}
		}
	}
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

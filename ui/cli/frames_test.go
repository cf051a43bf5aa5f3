package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

// A look is how a terminal shows the program.
type look struct {
	name   string
	golden bool // its frames are kept; those of others must be the same in other colours
	theme  term.Theme
}

var looks = []look{
	{"dark", true, term.Theme{Glyphs: term.Unicode, Palette: term.TrueDark, Bar: true}},
	{"no-colour", true, term.Theme{Glyphs: term.Unicode, Palette: term.NoColour, Bar: true}},
	{"ascii", true, term.Theme{Glyphs: term.ASCII, Palette: term.NoStyle, SevenBits: true}},
	{"light", false, term.Theme{Glyphs: term.Unicode, Palette: term.TrueLight, Bar: true}},
	{"256", false, term.Theme{Glyphs: term.Unicode, Palette: term.Dark256, Bar: true}},
	{"256-light", false, term.Theme{Glyphs: term.Unicode, Palette: term.Light256, Bar: true}},
	{"16", false, term.Theme{Glyphs: term.Unicode, Palette: term.Sixteen, Bar: true}},
}

// scenes are the places and overlays, and how each is reached from the one before
// it. Those that need another site are in TestFrames itself.
var scenes = []struct {
	name string
	keys []string
}{
	{"requests", []string{"1", "G", "[", "["}},
	{"steps", []string{"enter"}},
	{"value", []string{"v"}},
	{"failures", []string{"esc", "esc", "2", "G", "m", "g"}},
	{"routes", []string{"3"}},
	{"cache", []string{"4"}},
	{"breaks", []string{":", "break ind=facts key=app03* before cache-read", "enter", "5"}},
	{"held", []string{":", "find facts app03.example.com", "enter", "enter"}},
	{"compare", []string{"C", "esc", "1", ":", "diff find node web01.example.com terminus=exec,plain", "enter"}},
	{"console", []string{"esc", "~"}},
	{"recordings", []string{"esc", ":", "recordings", "enter"}},
	{"help", []string{"esc", "1", "?"}},
	{"palette", []string{"esc", "ctrl+p"}},
	{"tour", []string{"esc", "?", "t", "1"}},
}

// TestFrames keeps what every place looks like in every terminal: byte by byte
// in 24-bit colours, without colours, and in ASCII; in the other palettes
// each place differs by its colours alone.
func TestFrames(t *testing.T) {
	state := t.TempDir()
	state = filepath.Join(state, strings.Repeat("s", pathCells-len(state)-1))
	t.Setenv("XDG_STATE_HOME", state)
	if err := os.MkdirAll(filepath.Join(state, "indirtui"), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, cells := range [][2]int{{60, 16}, {80, 24}, {140, 40}, {200, 60}} {
		size := fmt.Sprintf("%dx%d", cells[0], cells[1])
		t.Run(size, func(t *testing.T) {
			dark := make(map[string]string)
			for _, l := range looks {
				frames := frames(t, cells, &l.theme, state)
				colours := make(map[string]string) // from those of dark
				for name, got := range frames {
					switch {
					case l.golden:
						uitest.Golden(t, filepath.Join("frames", name+"-"+size+"-"+l.name), got)
						if l.name == "dark" {
							dark[name] = got
						}
					default:
						recoloured(t, name+" "+l.name, dark[name], got, colours)
					}
				}
			}
		})
	}
}

// frames goes to every place, and returns what is seen there.
func frames(t *testing.T, cells [2]int, theme *term.Theme, state string) map[string]string {
	t.Helper()
	all := make(map[string]string)
	keep := func(name string, tr *trip) {
		tr.Exact()
		frame := random.ReplaceAllStringFunc(tr.cleanOf(tr.Raw(), tr.program.site.Dir, state), func(s string) string { return strings.Repeat("N", utf8.RuneCountInString(s)) })
		all[name] = frame + "\n"
	}
	visit(t, cells, theme, nil, func(tr *trip) {
		for _, s := range scenes {
			for _, key := range s.keys {
				tr.Keys(key)
				if err := tr.session.log.Flush(); err != nil {
					t.Fatal(err)
				}
				tr.Sync()
			}
			keep(s.name, tr)
		}
	})
	empty := func(p *program) {
		p.ui.demo, p.confDir = false, p.site.Dir
		if err := os.Mkdir(p.site.Dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	visit(t, cells, theme, empty, func(tr *trip) {
		keep("card", tr)
		if err := os.Remove(tr.program.confDir); err != nil {
			t.Fatal(err)
		}
	})
	return all
}

var escape = regexp.MustCompile(`\x1b\[[0-9;]*m`)

// A cell is a character, and how it is shown.
type cell struct{ text, style string }

// cellsOf reads a frame as a terminal does.
func cellsOf(frame string) (all []cell) {
	style := ""
	texts, styles := escape.Split(frame, -1), append([]string{""}, escape.FindAllString(frame, -1)...)
	for i, text := range texts {
		if style += styles[i]; styles[i] == "\x1b[0m" {
			style = ""
		}
		for _, r := range text {
			all = append(all, cell{string(r), style})
		}
	}
	return all
}

// recoloured compares two frames in different palettes. Each colour of the one
// stands for one of the other.
func recoloured(t *testing.T, name, dark, got string, colours map[string]string) {
	t.Helper()
	if diff := cmp.Diff(escape.ReplaceAllString(dark, ""), escape.ReplaceAllString(got, "")); diff != "" {
		t.Errorf("%s: the texts differ from those of dark (-dark +got):\n%s", name, diff)
		return
	}
	is := cellsOf(got)
	for i, was := range cellsOf(dark) {
		if other, ok := colours[was.style]; ok && other != is[i].style {
			t.Errorf("%s: %q is shown as %q and as %q", name, was.style, other, is[i].style)
			return
		}
		colours[was.style] = is[i].style
	}
}

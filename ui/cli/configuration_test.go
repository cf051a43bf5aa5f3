package cli

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"indirtui/ui/config"
	"indirtui/ui/term"
)

// configured gives the program a configuration file.
func configured(t *testing.T, text string) func(*program) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "config.yaml")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(p *program) { configure(t, p, path) }
}

// configure lets a file count, and the flags that a command line would have set.
// What is configured stays.
func configure(t *testing.T, p *program, path string) {
	t.Helper()
	if p.own != nil {
		return
	}
	o := config.Options{User: path}
	for _, f := range []struct {
		on   bool
		flag config.Flag
	}{
		{p.ui.ascii, config.Flag{Key: "glyphs", Value: "ascii", Text: "--ascii"}},
		{p.ui.functionKeys, config.Flag{Key: "function-keys", Value: "true", Text: "--function-keys"}},
		{p.ui.plain, config.Flag{Key: "plain", Value: "true", Text: "--plain"}},
	} {
		if f.on {
			o.Flags = append(o.Flags, f.flag)
		}
	}
	own, err := config.Load(o)
	if err != nil {
		t.Fatal(err)
	}
	p.own = own
}

// The file counts on the screen: keys, times, secrets, and what does not count in
// comparisons.
func TestConfigurationOnTheScreen(t *testing.T) {
	t.Parallel()
	file := "times: ago\nmotion: off\nmask: [datacentre]\nignore: [.parameters.role]\nkeys:\n  follow: [ctrl+g]\n  up: [w, up]\n"
	travel(t, configured(t, file), func(tr *trip) {
		tr.sees("0s ago")
		if !(viewer{tr.program}).config(tr.t.Context(), tr.session, nil).Still {
			tr.t.Error("signs turn")
		}
		tr.key("w", "follow off")
		tr.key("ctrl+g", "follow on")
		tr.key("w", "follow off")
		tr.key("F", "follow off") // it is no key any more
		tr.key("t", "14:02:1")
		tr.key("G", "follow on")
		tr.key("?", "ctrl+g", "follow what is new")
		tr.key("esc", "- Requests ")
		tr.command("log", "keys: up takes w up from write")
		tr.key("esc", "- Requests ")
		tr.command("diff find node web01.example.com terminus=exec,plain", "Compare  #1048 : #1050", "ignored 1 rule")
		tr.cursor("classes")
		for !strings.Contains(tr.Cursor(), "datacentre") {
			tr.key("]", "Compare  #1048 : #1050")
		}
		tr.cursor("(masked datacentre").Not("ams1")
		tr.key("esc", "- Requests ")
		tr.leave()
	})
}

// A theme is chosen by name, and flags are stronger than the file.
func TestTheme(t *testing.T) {
	t.Setenv("NO_COLOR", "")
	t.Setenv("TERM", "xterm")
	t.Setenv("COLORTERM", "truecolor")
	t.Setenv("COLORFGBG", "")
	t.Setenv("LC_ALL", "C.UTF-8")
	for _, tt := range []struct {
		file    string
		ui      interactive
		palette term.Palette
		rule    string
	}{
		{"", interactive{}, term.TrueDark, term.Unicode.Border.Top},
		{"", interactive{light: true}, term.TrueLight, term.Unicode.Border.Top},
		{"theme: terminal", interactive{}, term.Sixteen, term.Unicode.Border.Top},
		{"theme: dark\nglyphs: ascii", interactive{}, term.TrueDark, "-"},
		{"theme: light", interactive{ascii: true}, term.TrueLight, "-"},
		{"theme: mono", interactive{}, term.NoColour, term.Unicode.Border.Top},
		{"theme: none", interactive{}, term.NoStyle, term.Unicode.Border.Top},
	} {
		p := &program{configuration: configuration{ui: tt.ui}}
		configured(t, tt.file)(p)
		if th := p.theme(p.own); th.Palette != tt.palette || th.Glyphs.Border.Top != tt.rule {
			t.Errorf("%q %+v: got palette %d and %q, want %d and %q", tt.file, tt.ui, th.Palette, th.Glyphs.Border.Top, tt.palette, tt.rule)
		}
	}
}

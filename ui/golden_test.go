package ui_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"indirtui/ui"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

func TestGoldenFrames(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		keys string
	}{
		{"requests", ""},
		{"requests-error", "k k k k k k k k k k"},
		{"requests-filter-prompt", "/ out=st"},
		{"requests-filter-error", "/ took> "},
		{"requests-groups", ". o"},
		{"requests-none", "/ nobody enter"},
		{"filter-by-cell", "k f"},
		{"failures", "2"},
		{"steps-error", "7k k k k enter"},
		{"steps-stale", "9k enter"},
		{"steps-enc", "7k k k k k enter j"},
		{"steps-route", "9k enter g l"},
		{"steps-detail", "7k k k k k enter j enter"},
		{"copy-menu", "9k enter y"},
		{"value-tree", "9k v G k k l j j l G k k k k"},
		{"value-yaml", "9k v tab"},
		{"value-raw", "9k v j j tab tab"},
		{"value-meta", "9k v shift+tab"},
		{"compare", "9k D"},
		{"compare-steps", "9k D tab"},
		{"compare-headers", "9k D tab tab"},
		{"compare-timing", "9k D shift+tab"},
	}
	for _, tt := range tests {
		for _, size := range [][2]int{{80, 24}, {140, 40}} {
			name := fmt.Sprintf("%s-%dx%d", tt.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := uitest.New(t, ui.Config{Log: uitest.Site(t), Source: "in process"}, size[0], size[1])
				p.Keys(strings.Fields(tt.keys)...)
				p.Golden(name)
			})
		}
	}
}

func TestGoldenUnicode(t *testing.T) {
	t.Parallel()
	th := &term.Theme{Glyphs: term.Unicode, Palette: term.NoStyle}
	p := uitest.New(t, ui.Config{Log: uitest.Site(t), Theme: th}, 140, 40)
	p.Keys("7k", "k", "k", "k", "enter")
	p.Golden("unicode-140x40")
}

// No information by colour alone: without colours every outcome is a word.
func TestNoColour(t *testing.T) {
	t.Parallel()
	th := &term.Theme{Glyphs: term.ASCII, Palette: term.NoColour}
	p := uitest.New(t, ui.Config{Log: uitest.Site(t), Theme: th}, 80, 24)
	raw := p.Raw()
	for _, seq := range regexp.MustCompile("\x1b\\[[0-9;]*m").FindAllString(raw, -1) {
		for code := range strings.SplitSeq(strings.Trim(seq, "\x1b[m"), ";") {
			if len(code) > 1 {
				t.Fatalf("a colour without colours: %q", seq)
			}
		}
	}
	p.Want("err", "nil!", "stale", "part", "hit", "ok", "run")
}

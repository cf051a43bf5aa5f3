package ui_test

import (
	"fmt"
	"strings"
	"testing"

	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
)

// On a broad screen list, steps and value stand side by side; beside the steps
// stands what the one in focus holds.
func TestBroadFrames(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ name, keys string }{
		{"broad-requests", "9k"},
		{"broad-requests-error", "7k k k k k"},
		{"broad-requests-value", "9k tab tab ( ( ("},
		{"broad-requests-zoom", "9k tab tab |"},
		{"broad-steps", "9k enter"},
		{"broad-steps-enc", "7k k k k k enter j"},
		{"broad-steps-zoom", "9k enter tab | j j"},
	} {
		for _, size := range [][2]int{{160, 30}, {200, 60}} {
			name := fmt.Sprintf("%s-%dx%d", tt.name, size[0], size[1])
			t.Run(name, func(t *testing.T) {
				t.Parallel()
				p := uitest.New(t, ui.Config{Log: uitest.Site(t), Source: "in process"}, size[0], size[1])
				p.Keys(strings.Fields(tt.keys)...)
				p.Exact().Golden(name)
			})
		}
	}
}

// Links have the keys that go there in front, as they are now, and only those
// that exist are there.
func TestLinks(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, keys string
		remap      map[screen.Action][]string
		side, foot []string
		not        string
	}{
		{"all of them", "9k", nil, []string{"{ before #37 err  the same catalog", "} after  #39 ok   find file_con", "D good   #11 ok   1m before"}, []string{"{ #37 err  } #39 ok  D #11 ok 1m before"}, ""},
		{"one", "7k k k k k", nil, []string{"} after #41 err  find catalog"}, []string{"- } #41 err"}, "before #"},
		{"other keys", "9k", map[screen.Action][]string{screen.PrevInRun: {"P"}, screen.DiffGood: {"K"}}, []string{"P before #37 err  the same catalog", "K good   #11 ok"}, []string{"P #37 err  } #39 ok  K #11 ok"}, "D good"},
		{"none", "", nil, nil, nil, "links"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := uitest.New(t, ui.Config{Log: uitest.Site(t), Remap: tt.remap}, 140, 40).Keys(strings.Fields(tt.keys)...).Want(tt.side...)
			if tt.not != "" {
				p.Not(tt.not)
			}
			p.Keys("enter").Want(tt.foot...)
		})
	}
}

// What is made of the panes stays: on the next screen of the kind, in another
// place, and in a narrower terminal that becomes broad again.
func TestPanesAreKept(t *testing.T) {
	t.Parallel()
	p := uitest.New(t, ui.Config{Log: uitest.Site(t)}, 160, 30)
	wall := func() int {
		line := p.Line("TIME ")
		return strings.Index(line[1:], "|")
	}
	before := wall()
	p.Keys("(", "(")
	if got := wall(); got != before-8 {
		t.Fatalf("the wall is at %d, was at %d: want 8 less", got, before)
	}
	p.Keys("2", "1").Size(80, 24).Size(160, 30)
	if got := wall(); got != before-8 {
		t.Errorf("later the wall is at %d, want %d", got, before-8)
	}
	p.Keys(")", ")")
	if got := wall(); got != before {
		t.Errorf("back again the wall is at %d, want %d", got, before)
	}
	p.Keys("50(").Exact().Keys("99)").Exact()

	p.Keys("9k", "enter").Want("- request ")
	p.Keys("|").Not("- request ").Keys("esc", "k", "enter").Not("- request ")
	p.Keys("|").Want("- request ")
}

// The pane with the keys scrolls; esc gives them back to the list.
func TestPaneScrolls(t *testing.T) {
	t.Parallel()
	p := uitest.New(t, ui.Config{Log: uitest.Site(t)}, 160, 20)
	p.Keys("9k", "tab", "tab").Want("catalog_uuid", "- request ")
	number := func() string { return strings.Fields(p.Cursor())[2] }
	row := number()
	p.Keys("G").Not("catalog_uuid").Exact()
	if got := number(); got != row {
		t.Errorf("the list has moved to %q from %q", got, row)
	}
	p.Keys("esc", "j")
	if got := number(); got == row {
		t.Errorf("the list has not moved from %q", got)
	}
	p.Size(80, 24).Exact().Keys("|").Want("# TIME")
}

// The border in the colour of what has the keys is that of one pane.
func TestPaneFocus(t *testing.T) {
	t.Parallel()
	th := &term.Theme{Glyphs: term.Unicode, Palette: term.TrueDark}
	p := uitest.New(t, ui.Config{Log: uitest.Site(t), Theme: th}, 160, 20)
	accent := th.Render(term.Lines{term.Of(term.Accent, "╮")})
	p.Keys("9k")
	if strings.Contains(p.Raw(), accent) {
		t.Error("the value has the keys at first")
	}
	p.Keys("tab", "tab")
	if raw := p.Raw(); strings.Contains(raw, th.Render(term.Lines{term.Of(term.Accent, "╭")})) {
		t.Error("the list has the keys, too")
	} else if !strings.Contains(raw, "╮") {
		t.Error("there is no border")
	}
}

// Requests by terminus have the time of all together, of one, and of the longest.
// Pain P39.
func TestTimesByTerminus(t *testing.T) {
	t.Parallel()
	p := uitest.New(t, ui.Config{Log: uitest.Site(t)}, 80, 24)
	p.Keys(".", "t").Want("TERMINUS", "MEAN", "MOST")
	for terminus, want := range map[string]string{"compiler ": " 410     410     410 ", "exec ": " 1211     404     412 "} {
		if line := p.Line(terminus); !strings.Contains(line, want) {
			t.Errorf("got %q, want the times %q", line, want)
		}
	}
	p.Keys("enter").Want("terminus=")
}

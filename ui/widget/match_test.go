package widget_test

import (
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"
	"github.com/google/go-cmp/cmp"

	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
	"indirtui/ui/widget"
)

// marked shows the letters that were found in brackets.
func marked(th *term.Theme, m widget.Match, text string) string {
	l := m.Marked(term.Plain, text, 0)
	open, shut, _ := strings.Cut(th.Render(term.Lines{term.Of(term.Under|term.Bold, "x")}), "x")
	return strings.NewReplacer(shut+open, "", open, "[", shut, "]").Replace(th.Render(term.Lines{l}))
}

func TestFind(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name, want string
		texts      []string
		found      []string
	}{
		{"nothing typed finds all", " ", []string{"b", "a"}, []string{"b", "a"}},
		{"as it stands before letters in order", "stale", []string{"set all, end", "out=stale"}, []string{"out=[stale]", "[s]e[t] [al]l, [e]nd"}},
		{"at a word before inside", "json", []string{"pjson", "cache json"}, []string{"cache [json]", "p[json]"}},
		{"in the order of the list", "a", []string{"xa", "ya", "a"}, []string{"[a]", "x[a]", "y[a]"}},
		{"whatever the case", "YAML", []string{"Yaml"}, []string{"[Yaml]"}},
		{"not all letters", "yamls", []string{"yaml"}, nil},
		{"what controls a terminal is written out", "b", []string{"\x1b[31mb"}, []string{`\x1[b][31mb`}},
		{"other letters", "ü", []string{"für", "x"}, []string{"f[ü]r"}},
		{"an accent of its own is written out", "e", []string{"e\u0301"}, []string{`[e]\u0301`}},
		{"a null", "a\x00b", []string{"a\x00b"}, []string{`[a\x00b]`}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			th := &term.Theme{Glyphs: term.ASCII, Palette: term.NoColour}
			var found []string
			for _, m := range widget.Find(tt.want, tt.texts) {
				found = append(found, marked(th, m, tt.texts[m.Index]))
			}
			if diff := cmp.Diff(tt.found, found); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func FuzzFind(f *testing.F) {
	f.Add("ab", "a\x00b", "日a\u0301b")
	f.Add("\xff", "\xff", "")
	f.Fuzz(func(t *testing.T, want, a, b string) {
		texts := []string{a, b}
		for _, m := range widget.Find(want, texts) {
			l := m.Marked(term.Plain, texts[m.Index], 0)
			if text := term.Clean(texts[m.Index]); l.Width() != text.Width() {
				t.Errorf("%q is drawn in %d cells, want %d", texts[m.Index], l.Width(), text.Width())
			}
		}
	})
}

// A menu is narrowed by letters that are no keys of it.
func TestMenuNarrows(t *testing.T) {
	t.Parallel()
	names := []widget.Item{{Name: "facter"}, {Name: "json"}, {Name: "yaml"}, {Name: "store_configs"}}
	for _, tt := range []struct {
		name  string
		items []widget.Item
		keys  string
		want  []string // items that are seen
	}{
		{"all", names, "", []string{"facter", "json", "yaml", "store_configs"}},
		{"letters", names, "st", []string{"store_configs"}},
		{"letters that move elsewhere", names, "/j", []string{"json"}},
		{"j moves at first", names, "j", []string{"facter", "json", "yaml", "store_configs"}},
		{"nothing", names, "xx", nil},
		{"keys are keys", []widget.Item{{Key: 'r', Name: "row"}, {Key: 'k', Name: "key"}}, "x", []string{"row", "key"}},
		{"but behind a slash", []widget.Item{{Key: 'r', Name: "row"}, {Key: 'k', Name: "key"}}, "/k", []string{"key"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			env := uitest.NewClock().Shared()
			m := widget.NewMenu(&env, "choose", tt.items)
			m.Resize(80, 10)
			for _, r := range tt.keys {
				if m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}}) != nil {
					t.Fatal("the menu was left")
				}
			}
			seen := m.View().Text()
			for _, it := range tt.items {
				wanted := false
				for _, name := range tt.want {
					wanted = wanted || name == it.Name
				}
				if strings.Contains(seen, it.Name) != wanted {
					t.Errorf("%s is seen: %t, want %t\n%s", it.Name, !wanted, wanted, seen)
				}
			}
			if tt.keys != "" && strings.Trim(tt.keys, "jx") != "" {
				m.Update(tea.KeyMsg{Type: tea.KeyEsc})
				if seen := m.View().Text(); !strings.Contains(seen, tt.items[0].Name) || !strings.Contains(seen, tt.items[1].Name) {
					t.Errorf("esc does not show all again\n%s", seen)
				}
			}
		})
	}
}

func TestMenuCloses(t *testing.T) {
	t.Parallel()
	env := uitest.NewClock().Shared()
	m := widget.NewMenu(&env, "choose", []widget.Item{{Name: "a"}})
	m.Resize(80, 10)
	m.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{'/'}})
	if m.Update(tea.KeyMsg{Type: tea.KeyEsc}) != nil {
		t.Error("the first esc closes the menu, and not only the line")
	}
	if msg, ok := m.Update(tea.KeyMsg{Type: tea.KeyEsc})().(screen.Pop); !ok || msg.Screen != m {
		t.Error("the second does not close it")
	}
}

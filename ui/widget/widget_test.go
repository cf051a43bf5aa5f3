package widget_test

import (
	"io/fs"
	"slices"
	"strconv"
	"strings"
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

func TestWidths(t *testing.T) {
	t.Parallel()
	columns := []widget.Column{
		{Title: "#", Min: 5, Want: 7, Priority: 1},
		{Title: "KEY", Min: 10, Want: 20, Priority: 3, Grow: 1},
		{Title: "OUT", Min: 5, Want: 5, Priority: 4},
		{Title: "IND", Min: 8, Want: 12, Priority: 2},
	}
	tests := []struct {
		name  string
		width int
		want  []int
	}{
		{"everything has its least", 31, []int{5, 10, 5, 8}},
		{"the first of the rest goes to the key", 35, []int{5, 14, 5, 8}},
		{"everything has what it wants", 47, []int{7, 20, 5, 12}},
		{"what is left over grows", 60, []int{7, 33, 5, 12}},
		{"the number goes first", 30, []int{0, 15, 5, 8}},
		{"then the indirection", 20, []int{0, 14, 5, 0}},
		{"the outcome stays longest", 10, []int{0, 0, 5, 0}},
		{"no room at all", 3, []int{0, 0, 0, 0}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := widget.Widths(columns, tt.width); !slices.Equal(got, tt.want) {
				t.Errorf("%d cells: got %v, want %v", tt.width, got, tt.want)
			}
		})
	}
}

func TestList(t *testing.T) {
	t.Parallel()
	type state struct{ cursor, offset int }
	tests := []struct {
		name string
		do   func(*widget.List)
		want state
	}{
		{"down to the edge", func(l *widget.List) { l.Move(4) }, state{4, 0}},
		{"down beyond the edge", func(l *widget.List) { l.Move(5) }, state{5, 1}},
		{"last", func(l *widget.List) { l.To(99) }, state{9, 5}},
		{"before the first", func(l *widget.List) { l.Move(-3) }, state{0, 0}},
		{"fewer rows", func(l *widget.List) { l.To(9); l.SetLen(3) }, state{2, 0}},
		{"no rows", func(l *widget.List) { l.To(9); l.SetLen(0) }, state{0, 0}},
		{"a smaller screen keeps the cursor", func(l *widget.List) { l.To(4); l.SetHeight(2) }, state{4, 3}},
		{"the wheel takes the cursor along", func(l *widget.List) { l.Scroll(3) }, state{3, 3}},
		{"the wheel back", func(l *widget.List) { l.To(9); l.Scroll(-4) }, state{5, 1}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			l := widget.List{Height: 5}
			l.SetLen(10)
			tt.do(&l)
			if got := (state{l.Cursor, l.Offset}); got != tt.want {
				t.Errorf("got %+v, want %+v", got, tt.want)
			}
		})
	}
}

func TestInput(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		keys []tea.KeyMsg
		want string // with the caret as |
	}{
		{"typing", runes("abc"), "abc|"},
		{"in the middle", append(runes("ac"), key(tea.KeyLeft), letter('b')), "ab|c"},
		{"backspace", append(runes("abc"), key(tea.KeyBackspace)), "ab|"},
		{"delete", append(runes("abc"), key(tea.KeyHome), key(tea.KeyDelete)), "|bc"},
		{"a word back", append(runes("one two"), key(tea.KeyCtrlW)), "one |"},
		{"to the word before and behind it", append(runes("one two"), alt('b'), alt('b'), alt('f')), "one| two"},
		{"the word behind", append(runes("one two"), alt('b'), alt('d')), "one |"},
		{"everything before", append(runes("abc"), key(tea.KeyLeft), key(tea.KeyCtrlU)), "|c"},
		{"everything behind", append(runes("abc"), key(tea.KeyHome), key(tea.KeyCtrlK)), "|"},
		{"the last character as the word behind", append(runes("ab"), key(tea.KeyLeft), alt('d')), "a|"},
		{"a word of one letter", append(runes("a b c"), key(tea.KeyHome), alt('d')), "| b c"},
		{"the end has no word behind", append(runes("ab"), alt('d')), "ab|"},
		{"the clipboard of the machine is not read", append(runes("ab"), key(tea.KeyCtrlV)), "ab|"},
		{"a paste that is longer than a line", []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune(strings.Repeat("x", 4090)), Paste: true}, {Type: tea.KeyRunes, Runes: []rune("0123456789"), Paste: true}}, strings.Repeat("x", 4090) + "012345|"},
		{"a paste of lines is one line", []tea.KeyMsg{{Type: tea.KeyRunes, Runes: []rune("a\nb\tc"), Paste: true}}, "a b c|"},
		{"wide letters", append(runes("日本"), key(tea.KeyLeft)), "日|本"},
		{"not beyond the ends", append(runes("a"), key(tea.KeyRight), key(tea.KeyLeft), key(tea.KeyLeft), key(tea.KeyBackspace)), "|a"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var in widget.Input
			for _, k := range tt.keys {
				in.Key(k)
			}
			line, _ := in.Line(&term.Theme{Glyphs: term.ASCII}, 5000)
			before, after, _ := strings.Cut(tt.want, "|")
			want := before + after
			if after == "" {
				want += "_"
			}
			if got := line.String(); in.String() != before+after || got != want {
				t.Errorf("got %q shown as %q, want %q shown as %q", in.String(), got, before+after, want)
			}
		})
	}
}

// A key that is edited may have such characters, and stays as it is.
func TestInputKeepsWhatIsNoText(t *testing.T) {
	t.Parallel()
	const text = "a\n\x1b[31m\x00\u0085\uFFFDb"
	var set, pasted widget.Input
	set.Set(text)
	set.Key(letter('c'))
	if got := set.String(); got != text+"c" {
		t.Errorf("got %q, want %q", got, text+"c")
	}
	pasted.Key(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(text), Paste: true})
	if got, want := pasted.String(), "a \x1b[31m\x00\u0085\uFFFDb"; got != want {
		t.Errorf("pasted: got %q, want %q", got, want)
	}
	if line, _ := set.Line(&term.Theme{Glyphs: term.ASCII}, 80); line.String() != `a\n\x1b[31m\x00\x85`+"\uFFFDbc_" {
		t.Errorf("shown as %q", line.String())
	}
}

// What a key has no effect on is left to others.
func TestInputLeavesKeys(t *testing.T) {
	t.Parallel()
	var in widget.Input
	for _, k := range []tea.KeyMsg{key(tea.KeyTab), key(tea.KeyUp), key(tea.KeyDown), key(tea.KeyCtrlV), key(tea.KeyCtrlN), alt('x'), key(tea.KeyF1)} {
		if in.Key(k) {
			t.Errorf("%s has an effect", k)
		}
	}
}

func TestInputShowsWhereTheCaretIs(t *testing.T) {
	t.Parallel()
	var in widget.Input
	in.Set(strings.Repeat("x", 100) + "end")
	line, shift := in.Line(&term.Theme{Glyphs: term.ASCII}, 20)
	if got := line.String(); !strings.HasSuffix(got, "end_") || line.Width() > 20 || shift != 85 {
		t.Errorf("got %q, shifted by %d", got, shift)
	}
}

func key(k tea.KeyType) tea.KeyMsg { return tea.KeyMsg{Type: k} }
func letter(r rune) tea.KeyMsg     { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}} }

func alt(r rune) tea.KeyMsg {
	return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune{r}, Alt: true}
}

func runes(s string) []tea.KeyMsg {
	var keys []tea.KeyMsg
	for _, r := range s {
		keys = append(keys, letter(r))
	}
	return keys
}

func TestPromptSearchesTheHistory(t *testing.T) {
	t.Parallel()
	write := func(s string) tea.KeyMsg { return tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune(s)} }
	search := tea.KeyMsg{Type: tea.KeyCtrlR}
	for want, keys := range map[string][]tea.KeyMsg{
		"find node db07":  {write("node"), search},
		"find node web01": {write("node"), search, search},
		"find facts db07": {write("facts"), search},
		"nothing":         {write("nothing"), search},
	} {
		history := new(widget.History)
		ask := func(keys ...tea.KeyMsg) (got string) {
			p := widget.NewPrompt(&screen.Shared{Theme: &term.Theme{}}, widget.Prompt{
				History: history,
				Enter:   func(text string) (*widget.Problem, tea.Cmd) { got = text; return nil, nil },
			})
			for _, k := range append(keys, tea.KeyMsg{Type: tea.KeyEnter}) {
				p.Update(k)
			}
			return got
		}
		for _, line := range []string{"find node web01", "find facts db07", "find node db07"} {
			ask(write(line))
		}
		if got := ask(keys...); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestGrid(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		n, columns int
		want       string
	}{{0, 2, ""}, {3, 1, "0 1 2"}, {3, 2, "0    2|1"}, {5, 2, "0    3|1    4|2"}} {
		lines := widget.Grid(tt.n, tt.columns, 10, func(i int, l *term.Line, cells int) {
			if cells != 10/tt.columns {
				t.Errorf("%d in %d columns: got %d cells", tt.n, tt.columns, cells)
			}
			l.Put(term.Plain, strconv.Itoa(i))
		})
		texts := make([]string, len(lines))
		for i := range lines {
			texts[i] = lines[i].String()
		}
		sep := "|"
		if tt.columns == 1 {
			sep = " "
		}
		if got := strings.Join(texts, sep); got != tt.want {
			t.Errorf("%d in %d columns: got %q, want %q", tt.n, tt.columns, got, tt.want)
		}
	}
}

// What is typed is seen behind a long label, and a text that is refused can be
// edited.
func TestPromptWithALongLabel(t *testing.T) {
	t.Parallel()
	refuse := func(string) (*widget.Problem, tea.Cmd) { return &widget.Problem{Offset: -1, Text: "refused"}, nil }
	for _, label := range []string{"/", "type the key again to destroy 1 entry (terminus json, cache json of catalog): "} {
		env := &screen.Shared{Theme: &term.Theme{Glyphs: term.ASCII, Palette: term.NoStyle}}
		p := widget.NewPrompt(env, widget.Prompt{Label: label, Enter: refuse})
		p.Resize(80, 24)
		p.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("web01.example.com")})
		p.Update(tea.KeyMsg{Type: tea.KeyEnter})
		p.Update(tea.KeyMsg{Type: tea.KeyBackspace})
		p.Update(tea.KeyMsg{Type: tea.KeyEnter})
		text := p.View().Text()
		for _, want := range []string{strings.TrimRight(label, ": "), "web01.example.co", "refused"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s: %q is not shown:\n%s", label, want, text)
			}
		}
		if got := len(p.View()); got > p.Rows() {
			t.Errorf("%s: %d lines, %d rows", label, got, p.Rows())
		}
	}
}

// A file that cannot be written opens its prompt again, with what was typed.
func TestWriteAgain(t *testing.T) {
	t.Parallel()
	env := &screen.Shared{
		Theme: &term.Theme{Glyphs: term.ASCII, Palette: term.NoStyle},
		Save:  func(string, string) (string, int, error) { return "", 0, fs.ErrExist },
	}
	f := widget.File{
		Kinds: []string{"story"}, Name: func(string) string { return "story.txt" },
		Text: func(string) (string, int, error) { return "", 0, nil },
	}
	prompt, _ := widget.AskFile(env, f)().(screen.Push).Screen.(*widget.Prompt)
	prompt.Resize(80, 24)
	prompt.Update(tea.KeyMsg{Type: tea.KeyRunes, Runes: []rune("story story-1.txt")})
	closed, _ := prompt.Update(tea.KeyMsg{Type: tea.KeyEnter})().(screen.Pop)
	toast, _ := closed.Then().(screen.Toast)
	if !toast.Bad || toast.Again == nil {
		t.Fatalf("got %+v", toast)
	}
	again := toast.Again().(screen.Push).Screen.(*widget.Prompt)
	again.Resize(80, 24)
	if got := again.View().Text(); !strings.Contains(got, "story story-1.txt_") || !strings.Contains(got, "story-1.txt exists; write another name") {
		t.Errorf("got\n%s", got)
	}
}

package widget

import (
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// An Item is one line of a menu.
type Item struct {
	Key  rune   // does it at once; 0 if it has none
	Name string // what it does
	Note string // what it is about
	Do   tea.Cmd
}

// A Menu lets a person choose one of a few things. It covers the lower lines of
// another screen and closes itself.
type Menu struct {
	title string
	items []Item
	env   *screen.Shared
	list  List
	width int
}

// NewMenu returns a menu ready to be pushed.
func NewMenu(env *screen.Shared, title string, items []Item) *Menu {
	m := &Menu{title: title, items: items, env: env}
	m.list.SetLen(len(items))
	return m
}

var _ screen.Popup = (*Menu)(nil)

// Scope implements screen.Screen.
func (m *Menu) Scope() screen.Scope { return screen.InMenu }

// Resize implements screen.Screen.
func (m *Menu) Resize(width, height int) {
	m.width = width
	m.list.SetHeight(height - 2)
}

// Captures implements screen.Screen: the letters of the items go first.
func (m *Menu) Captures() bool { return true }

// Can implements screen.Screen.
func (m *Menu) Disabled(screen.Action) string { return screen.Unknown }

// Act implements screen.Screen.
func (m *Menu) Handle(screen.Command) tea.Cmd { return nil }

// Hints implements screen.Screen.
func (m *Menu) Hints() []screen.Action { return []screen.Action{screen.Enter, screen.Back} }

// Context implements screen.Screen.
func (m *Menu) Context() (left, right term.Line) { return left, right }

// Rows implements screen.Popup.
func (m *Menu) Rows() int { return len(m.items) + 2 }

// Update implements screen.Screen.
func (m *Menu) Update(msg tea.Msg) tea.Cmd {
	key, ok := msg.(tea.KeyMsg)
	if !ok {
		return nil
	}
	if key.Type == tea.KeyRunes && len(key.Runes) == 1 && !key.Alt {
		for i := range m.items {
			if m.items[i].Key == key.Runes[0] {
				return m.choose(i)
			}
		}
	}
	switch key.String() {
	case "esc", "q", "ctrl+c":
		return screen.Close(m, nil)
	case "enter":
		return m.choose(m.list.Cursor)
	case "down", "j", "tab":
		m.list.Move(1)
	case "up", "k", "shift+tab":
		m.list.Move(-1)
	}
	return nil
}

func (m *Menu) choose(i int) tea.Cmd {
	if i >= len(m.items) {
		return screen.Close(m, nil)
	}
	return screen.Close(m, m.items[i].Do)
}

// View implements screen.Screen.
func (m *Menu) View() term.Lines {
	th := m.env.Theme
	lines := term.Lines{th.HRule(m.width), term.Of(term.Bold, " "+m.title)}
	names := 0
	for _, it := range m.items {
		names = max(names, term.Clean(it.Name).Width())
	}
	from, to := m.list.Visible()
	for i := from; i < to; i++ {
		it := m.items[i]
		var l term.Line
		mark, style := " ", term.Plain
		if i == m.list.Cursor {
			mark, style = th.Glyphs.Cursor, term.Bold
		}
		l.Put(style, mark+" ")
		key := " "
		if it.Key != 0 {
			key = string(it.Key)
		}
		l.Put(term.Bold, key+"  ")
		l.Cell(style, term.Clean(it.Name), min(names, m.width/2))
		l.Space(2)
		l.Put(term.Quiet, it.Note)
		lines = append(lines, l)
	}
	return lines
}

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

// CopyItem is the item of a menu that copies a text, which it shows as its note.
func CopyItem(key rune, name, text string) Item {
	return Item{Key: key, Name: name, Note: text, Do: screen.Send(screen.Copy{What: name, Text: text})}
}

// A Menu offers a few things to choose from. It covers the lower lines of another
// screen and closes itself.
type Menu struct {
	Popup
	title string
	items []Item
	list  Table
}

// NewMenu returns a menu ready to be pushed.
func NewMenu(env *screen.Shared, title string, items []Item) *Menu {
	m := &Menu{Popup: Popup{Env: env}, title: title, items: items, list: Table{Gutter: 2}}
	m.list.SetLen(len(items))
	return m
}

// Resize takes the space.
func (m *Menu) Resize(width, height int) {
	m.Width = width
	m.list.SetHeight(height - 1)
}

func (m *Menu) Hints() []screen.Action { return []screen.Action{screen.Enter, screen.Back} }

func (m *Menu) Rows() int { return len(m.items) + 1 }

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

// View returns the title and the items.
func (m *Menu) View() term.Lines {
	names := 0
	for _, it := range m.items {
		names = max(names, term.Clean(it.Name).Width())
	}
	rows := m.list.Lines(m.Env.Theme, m.Width, func(i int, r *Row) {
		it, style := m.items[i], term.Plain
		if r.Focus {
			style = term.Bold
		}
		r.To(m.list.Gutter)
		key := " "
		if it.Key != 0 {
			key = string(it.Key)
		}
		r.Put(term.Bold, key+"  ")
		r.Cell(style, term.Clean(it.Name), min(names, m.Width/2))
		r.Space(2)
		r.Add(term.Quiet, term.CleanTo(it.Note, m.Width))
	})
	return append(term.Lines{m.Env.Theme.Titled(m.Width, term.Title{Left: term.Of(term.Bold, m.title)})}, rows...)
}

package widget

import (
	"slices"

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
// screen and closes itself. A slash, or a letter that is no key of it, begins a line
// that narrows it.
type Menu struct {
	Popup
	title   string
	items   []Item
	found   []Match // of the items
	list    Table
	narrows bool // letters are text
	input   Input
}

// NewMenu returns a menu ready to be pushed.
func NewMenu(env *screen.Shared, title string, items []Item) *Menu {
	m := &Menu{Popup: Popup{Env: env}, title: title, items: items, list: Table{Gutter: 2}}
	m.narrow()
	return m
}

// narrow leaves what has the letters that were typed.
func (m *Menu) narrow() {
	texts := make([]string, len(m.items))
	for i := range m.items {
		texts[i] = m.items[i].Name
	}
	m.found = Find(m.input.String(), texts)
	m.list.SetLen(len(m.found))
	m.list.To(0)
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
	if m.narrows {
		return m.typed(key)
	}
	if key.Type == tea.KeyRunes && len(key.Runes) == 1 && !key.Alt {
		for i := range m.items {
			if m.items[i].Key == key.Runes[0] {
				return m.choose(i)
			}
		}
	}
	switch key.String() {
	case "q":
		return screen.Close(m, nil)
	case "j":
		m.list.Move(1)
	case "k":
		m.list.Move(-1)
	case "/":
		m.narrows = true
	default:
		return m.typed(key)
	}
	return nil
}

// typed takes a key that is none of an item.
func (m *Menu) typed(key tea.KeyMsg) tea.Cmd {
	switch key.String() {
	case "esc", "ctrl+c":
		if !m.narrows {
			return screen.Close(m, nil)
		}
		m.narrows, m.input = false, Input{}
		m.narrow()
	case "enter":
		if m.list.Cursor < len(m.found) {
			return m.choose(m.found[m.list.Cursor].Index)
		}
	case "down", "tab":
		m.list.Move(1)
	case "up", "shift+tab":
		m.list.Move(-1)
	default:
		m.write(key)
	}
	return nil
}

// write narrows the menu by a letter more, or less.
func (m *Menu) write(key tea.KeyMsg) {
	if !m.narrows && !m.hasNames() {
		return
	}
	before := m.input.String()
	if m.input.Key(key) && m.input.String() != before {
		m.narrows = true
		m.narrow()
	}
}

// hasNames reports whether the items are chosen by their names: they have no keys.
func (m *Menu) hasNames() bool {
	return !slices.ContainsFunc(m.items, func(it Item) bool { return it.Key != 0 })
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
		it, style := m.items[m.found[i].Index], term.Plain
		if r.Focus {
			style = term.Bold
		}
		r.To(m.list.Gutter)
		key := " "
		if it.Key != 0 {
			key = string(it.Key)
		}
		r.Put(term.Bold, key+"  ")
		at := r.Width() + min(names, m.Width/2)
		r.Append(m.found[i].Marked(style, it.Name, 0).Cut(at - r.Width()))
		r.To(at + 2)
		r.Add(term.Quiet, term.CleanTo(it.Note, m.Width))
	})
	title := term.Title{Left: term.Of(term.Bold, m.title)}
	if m.narrows {
		title.Right.Put(term.Accent|term.Bold, "/ ")
		line, _ := m.input.Line(m.Env.Theme, m.Width/3)
		title.Right.Append(line)
	}
	if len(m.found) == 0 && len(rows) > 0 {
		rows[0] = term.Of(term.Quiet, "  nothing has these letters in this order")
	}
	return append(term.Lines{m.Env.Theme.Titled(m.Width, title)}, rows...)
}

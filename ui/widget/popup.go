package widget

import (
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
)

// A Popup is what screens have in common that read every key themselves: menus,
// prompts, forms.
type Popup struct {
	Env   *screen.Shared
	Width int
}

// Scope returns the scope of menus.
func (p *Popup) Scope() screen.Scope { return screen.InMenu }

// Resize takes the width.
func (p *Popup) Resize(width, _ int) { p.Width = width }

// Captures returns true.
func (p *Popup) Captures() bool { return true }

// Handle does nothing: every key is captured.
func (p *Popup) Handle(screen.Command) tea.Cmd { return nil }

var (
	_ screen.Screen = (*Menu)(nil)
	_ screen.Screen = (*Prompt)(nil)
	_ screen.Screen = (*Form)(nil)
)

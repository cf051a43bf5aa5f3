package ui_test

import (
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// place is a screen with one sentence.
type place struct{}

func (place) Scope() screen.Scope           { return screen.InList }
func (place) Resize(int, int)               {}
func (place) Handle(screen.Command) tea.Cmd { return nil }
func (place) Disabled(screen.Action) string { return screen.Unknown }
func (place) Update(tea.Msg) tea.Cmd        { return nil }
func (place) View() term.Lines              { return term.Lines{term.Of(term.Plain, "the routes")} }
func (place) Context() (l, r term.Line)     { return l, r }
func (place) Hints() []screen.Action        { return nil }
func (place) Captures() bool                { return false }

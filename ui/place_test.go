package ui_test

import (
	"testing"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/uitest"
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

// What is not to move is known to every screen.
func TestStill(t *testing.T) {
	t.Parallel()
	var still []bool
	for _, want := range []bool{false, true} {
		uitest.New(t, ui.Config{Log: uitest.Site(t), Still: want, Places: func(env *session.Env) []ui.Place {
			still = append(still, env.Still)
			return nil
		}}, 80, 24)
	}
	if still[0] || !still[1] {
		t.Errorf("got %v", still)
	}
}

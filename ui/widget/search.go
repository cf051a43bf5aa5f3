package widget

import (
	tea "github.com/charmbracelet/bubbletea"

	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Search finds a text in rows, in a page or in a value: it asks for the text,
// goes on from place to place and round at the ends.
type Search struct {
	Hint string // below the prompt
	None string // the message if the text is not found: "not on this page"
	// Find goes to the nearest place that has the text: from here, from the place
	// below (1) or from the one above (-1). It reports whether there is one.
	Find func(step int) bool

	text string
}

// Text returns what is searched; "" if nothing is.
func (s *Search) Text() string { return s.text }

// In reports whether a text has what is searched, without regard to case.
func (s *Search) In(text string) bool { return s.text != "" && term.IndexFold(text, s.text) >= 0 }

// Style is how a text looks that may have what is searched.
func (s *Search) Style(text string) term.Style {
	if s.In(text) {
		return term.Bold | term.Under
	}
	return term.Plain
}

// Disabled is Disabled of the screen for what the search does.
func (s *Search) Disabled(do screen.Action) string {
	switch do {
	case screen.Search:
		return ""
	case screen.SearchNext, screen.SearchPrev:
		return screen.ReasonIf(s.text == "", "nothing was searched")
	}
	return screen.Unknown
}

// Handle is Handle of the screen for what the search does.
func (s *Search) Handle(env *screen.Shared, a screen.Command) tea.Cmd {
	switch a.Action {
	case screen.Search:
		return screen.Show(NewPrompt(env, Prompt{Label: "/", Hint: s.Hint, Enter: s.enter}))
	case screen.SearchNext:
		s.Find(1)
	case screen.SearchPrev:
		s.Find(-1)
	}
	return nil
}

func (s *Search) enter(text string) (*Problem, tea.Cmd) {
	if s.text = text; text != "" && !s.Find(0) {
		return &Problem{Offset: -1, Text: s.None}, nil
	}
	return nil, nil
}

// Around returns the nearest of n rows for which has is true, beginning with the
// one that is step away from at and round at the ends; -1 if there is none.
func Around(n, at, step int, has func(row int) bool) int {
	dir := 1
	if step < 0 {
		dir = -1
	}
	for i := range n {
		if row := ((at+step+dir*i)%n + n) % n; has(row) {
			return row
		}
	}
	return -1
}

// Find puts the cursor on the nearest row for which has is true. See Search.Find.
func (l *List) Find(step int, has func(row int) bool) bool {
	at := Around(l.Len, l.Cursor, step, has)
	if at >= 0 {
		l.To(at)
	}
	return at >= 0
}

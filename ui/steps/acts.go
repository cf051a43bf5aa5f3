package steps

import (
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/widget"
)

// What can be done with a request is the same in the list and here.

// SetMark marks a request with a letter, and says so.
func SetMark(env *session.Env, id uint64, letter byte) tea.Cmd {
	if letter < 'a' || letter > 'z' {
		return screen.Warn("a mark is a letter from a to z", "")
	}
	row, _ := env.Log.Row(id)
	old := row.Mark
	set := func(to byte) tea.Cmd {
		return func() tea.Msg {
			if err := env.Log.SetMark(id, to); err != nil {
				return screen.Toast{Text: "mark: " + err.Error(), Bad: true}
			}
			return nil
		}
	}
	return tea.Batch(set(letter), screen.Changed(fmt.Sprintf(":mark #%d %c", id, letter), old, letter, set))
}

// Jump finds the newest request that is marked with a letter, and hands its
// number on.
func Jump(env *session.Env, letter rune, then func(uint64) tea.Cmd) tea.Cmd {
	return screen.Later(func() tea.Msg {
		e, err := query.Parse("mark=" + query.Quote(string(letter)))
		if err != nil {
			return screen.Toast{Text: "a mark is a letter from a to z", Bad: true}
		}
		v := env.Log.View(e)
		for !v.Extend(scanRows) {
		}
		if v.Len() == 0 {
			return screen.Toast{Text: fmt.Sprintf("nothing is marked %c", letter), Advice: fmt.Sprintf("m %c marks a request", letter)}
		}
		return then(v.At(v.Len() - 1))()
	})
}

// scanRows is how many rows are looked at between two looks at the clock.
const scanRows = 1 << 16

// NextFailure returns the nearest request after or before id that failed, seen
// or hidden; zero if there is none. It may look at every row.
func NextFailure(log session.Log, id uint64, forward bool) uint64 {
	first, last := log.Range()
	rows := make([]session.Row, 1024)
	if forward {
		for from := max(id+1, first); from <= last; {
			n := log.Rows(from, rows)
			for i := range n {
				if rows[i].Outcome.Failed() {
					return rows[i].ID
				}
			}
			if n == 0 {
				return 0
			}
			from = rows[n-1].ID + 1
		}
		return 0
	}
	for to := id; to > first; {
		from := first
		if to-first > uint64(len(rows)) {
			from = to - uint64(len(rows))
		}
		n := log.Rows(from, rows[:to-from])
		for i := n - 1; i >= 0; i-- {
			if rows[i].ID < to && rows[i].Outcome.Failed() {
				return rows[i].ID
			}
		}
		to = from
	}
	return 0
}

// AskReport asks what to write of a request, and writes it.
func AskReport(env *session.Env, t *traces.Trace) tea.Cmd {
	kinds := []screen.Completion{{Text: "story", Name: "story", Kind: "plain text", Note: "what happened and why, for a ticket"}}
	return screen.Show(widget.NewPrompt(&env.Shared, widget.Prompt{
		Label: "write", Hint: "story [FILE]",
		Complete: func(text string) ([]screen.Completion, []string) {
			if strings.HasPrefix("story", text) {
				return kinds, nil
			}
			return nil, nil
		},
		Enter: func(text string) (*widget.Problem, tea.Cmd) {
			what, name, _ := strings.Cut(strings.TrimSpace(text), " ")
			if what != "story" {
				return &widget.Problem{Offset: 0, Text: "want story, and perhaps the name of a file"}, nil
			}
			if name == "" {
				name = fmt.Sprintf("story-%d.txt", t.ID)
			}
			return nil, save(env, t, strings.TrimSpace(name))
		},
	}))
}

func save(env *session.Env, t *traces.Trace, name string) tea.Cmd {
	text := Report(t, env.Zone)
	return func() tea.Msg {
		path, masked, err := env.Save(name, text)
		if err != nil {
			return screen.Toast{Text: "write " + name + ": " + err.Error(), Advice: "give another name", Bad: true}
		}
		masked += t.Value.Redacted + t.Sent.Redacted
		return screen.Toast{Text: fmt.Sprintf("wrote %s, masked %d", path, masked)}
	}
}

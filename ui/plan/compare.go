package plan

import (
	"encoding/json"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector/data"
	"indirtui/indirector/format"
	"indirtui/indirector/resource/transaction"
	"indirtui/traces/diff"
	"indirtui/ui/compare"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/widget"
)

// Documents are a plan and an other as they are compared, with texts as hide returns them.
// Why resources would be skipped or fail is left out where a report is compared, which has
// none of that.
func Documents(name string, p *transaction.Plan, o *Other, hide func(name, text string) string) (a, b diff.Document) {
	return document(name, p.Redacted(hide).Document(!o.Report)), document(o.Name, o.Plan.Redacted(hide).Document(!o.Report))
}

func document(name string, v data.Value) diff.Document {
	b, err := format.AppendJSON(nil, v)
	if err != nil {
		panic(err) // it has texts and booleans alone
	}
	return diff.Document{Name: name, JSON: b}
}

// redacted is the plan without secrets.
func (s *Screen) redacted() *transaction.Plan { return s.result.Plan.Redacted(Hider(s.env)) }

// Hider redacts texts and the values of properties.
func Hider(env *session.Env) func(name, text string) string {
	return func(name, text string) string {
		if name == "" || text == "" {
			return env.Redacted(text)
		}
		return env.RedactedAs(name, text)
	}
}

func (s *Screen) compareWith(o *Other) tea.Cmd {
	a, b := Documents(s.title, s.result.Plan, o, Hider(s.env))
	return compare.Documents(s.env, a, b)
}

// compareSides compares what is with what should be.
func (s *Screen) compareSides() tea.Cmd {
	is, should := s.redacted().Sides()
	name := strings.TrimPrefix(s.title, "plan of ")
	return compare.Documents(s.env, document(name+": what is", is), document(name+": what should be", should))
}

// mark keeps the plan for comparisons with others.
func (s *Screen) mark() tea.Cmd {
	marked := document(s.title+", marked", s.redacted().Document(true))
	return tea.Batch(s.env.Set(func(st *session.State) { st.Marked = session.Marked(marked) }, nil), screen.Notify("marked: d on another plan compares that with this one"))
}

// compareMarked compares the plan with the marked one.
func (s *Screen) compareMarked() tea.Cmd {
	return compare.Documents(s.env, diff.Document(s.env.Marked), document(s.title, s.redacted().Document(true)))
}

// write writes the plan to a file. What is JSON can be opened again.
func (s *Screen) write() tea.Cmd {
	p, extensions := s.redacted(), map[string]string{"json": ".json", "text": ".txt", "diff": ".diff"}
	return widget.AskFile(&s.env.Shared, widget.File{
		Hint: "json [FILE]   text [FILE]   or   diff [FILE];   :plan FILE opens JSON again", Kinds: []string{"json", "text", "diff"},
		Name: func(kind string) string { return "plan-" + fileName(p.Catalog) + extensions[kind] },
		Text: func(kind string) (string, int, error) {
			switch kind {
			case "text":
				return p.Text(), 0, nil
			case "diff":
				return p.Diffs(), 0, nil
			}
			b, err := json.MarshalIndent(p, "", "  ")
			if err != nil {
				return "", 0, fmt.Errorf("write the plan: %w", err)
			}
			return string(b) + "\n", 0, nil
		},
	})
}

// fileName is the name of a host as a part of one of a file.
func fileName(host string) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r < ' ' {
			return '-'
		}
		return r
	}, host)
}

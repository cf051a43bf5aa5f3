package steps

import (
	"cmp"
	"fmt"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/traces/store"
	"indirtui/ui/compare"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/value"
	"indirtui/ui/widget"
)

// A Request is a request in focus: what can be done with it is the same in the
// list and in the steps.
type Request struct {
	Env   *session.Env
	Trace *traces.Trace
	Links store.Links
}

// Disabled is Disabled of the screen for what can be done with a request.
func (r *Request) Disabled(do screen.Action) string {
	switch do {
	case screen.NextInRun:
		return screen.ReasonIf(r.Next() == 0, "there is no later request in this run")
	case screen.PrevInRun:
		return screen.ReasonIf(r.Links.PrevInRun == 0, "there is no earlier request in this run")
	case screen.DiffGood:
		return screen.ReasonIf(r.Links.LastGood == 0, "this key was never answered well before")
	case screen.OpenValue:
		if valued(r.Trace) {
			return ""
		}
		return elsewhereDisabled(r.Env, r.Trace)
	case screen.CopyValue:
		return screen.ReasonIf(!valued(r.Trace), "there is no value")
	case screen.Break, screen.BreakIf:
		return screen.ReasonIf(r.Env.Debugger == nil || r.Trace.ID == 0, "nothing can be held here")
	case screen.PlanIt:
		return planDisabled(r.Env, r.Trace)
	case screen.Replay, screen.ReplayEdit:
		return replayDisabled(r.Env, r.Trace)
	}
	return screen.Unknown
}

// planDisabled is the reason why there is no plan for the answer of a request.
func planDisabled(env *session.Env, t *traces.Trace) string {
	if env.Asker == nil {
		return "nothing can be asked here"
	}
	return screen.ReasonIf(t.Value().Model != "catalog" && !strings.HasPrefix(t.Run, traces.PlanRun), "only a catalog has a plan")
}

// Next returns the next request of the run, or the one that asked this one.
func (r *Request) Next() uint64 { return cmp.Or(r.Links.NextInRun, r.Links.Parent) }

// Handle is Handle of the screen for what can be done with a request.
func (r *Request) Handle(do screen.Action) tea.Cmd {
	switch do {
	case screen.DiffGood:
		return compare.Two(r.Env, r.Trace.ID, r.Links.LastGood)
	case screen.OpenValue:
		if !valued(r.Trace) {
			return openElsewhere(r.Env, r.Trace)
		}
		return value.Open(r.Env, r.Trace)
	case screen.CopyValue:
		return value.CopyAll(r.Env, r.Trace)
	case screen.Break:
		return breakHere(r.Env, r.Trace, traces.Terminus)
	case screen.BreakIf:
		return AddBreak(r.Env, "", "")
	case screen.PlanIt:
		return screen.Send(screen.Run{Text: fmt.Sprintf("plan #%d", r.Trace.ID)})
	case screen.Replay:
		return askAgain(r.Env, r.Trace)
	case screen.ReplayEdit:
		return editAndReplay(r.Env, r.Trace)
	case screen.Write:
		return askReport(r.Env, r.Trace)
	}
	return nil
}

// SetMark marks a request with a letter.
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
		v, err := session.Find(env.Log, "mark="+query.Quote(string(letter)))
		if err != nil {
			return screen.Toast{Text: "a mark is a letter from a to z", Bad: true}
		}
		if v.Len() == 0 {
			return screen.Toast{Text: fmt.Sprintf("nothing is marked %c", letter), Advice: fmt.Sprintf("m %c marks a request", letter)}
		}
		return then(v.At(v.Len() - 1))()
	})
}

// NextFailure returns the nearest request after or before id that failed, seen
// or hidden; zero if there is none. It may look at every row.
func NextFailure(log session.Log, id uint64, forward bool) uint64 {
	rows := session.Backward(log, id)
	if forward {
		rows = session.Forward(log, id+1)
	}
	for row := range rows {
		if row.Outcome.Failed() {
			return row.ID
		}
	}
	return 0
}

// askReport asks what to write of a request, and writes it.
func askReport(env *session.Env, t *traces.Trace) tea.Cmd {
	kinds := []screen.Completion{{Text: "story", Name: "story", Kind: "plain text", Note: "what happened and why, for a ticket"}}
	return widget.AskFile(&env.Shared, widget.File{
		Hint: "story [FILE]", Kinds: []string{"story"},
		Name: func(string) string { return fmt.Sprintf("story-%d.txt", t.ID) },
		Text: func(string) (string, int, error) {
			return Report(t, env.Zone), t.Value().Redacted + t.Sent().Redacted, nil
		},
		Complete: func(text string) ([]screen.Completion, []string) {
			if strings.HasPrefix("story", text) {
				return kinds, nil
			}
			return nil, nil
		},
	})
}

package steps

import (
	"context"
	"fmt"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/ui/command"
	"indirtui/ui/replay"
	"indirtui/ui/screen"
	"indirtui/ui/session"
)

// replayDisabled returns why a request cannot be asked again; "" if it can.
func replayDisabled(env *session.Env, t *traces.Trace) string {
	switch {
	case env.Asker == nil:
		return "nothing can be asked here"
	case t == nil || t.ID == 0:
		return "there is no request in focus"
	case t.From != nil:
		return t.From.Name + " asked it, which is not asked from here; :find asks this program"
	case t.Verb == traces.Save:
		if _, ok := env.Log.Instance(t.ID); !ok {
			return "what was saved is not in memory any more"
		}
	case t.Verb == traces.NoVerb:
		return "nobody knows its verb"
	}
	return ""
}

// askAgain asks the same again, by the routes that there are now.
func askAgain(env *session.Env, t *traces.Trace) tea.Cmd {
	req, ask, log, ignored := replay.Request(env.Log, t), env.Asker.Do, env.Log, append(diff.Fresh(), env.Ignored...)
	return screen.Later(func() tea.Msg {
		resp, err := ask(context.Background(), req)
		id := command.TraceOf(resp, err)
		row, ok := log.Row(id)
		if !ok {
			text := "asked again"
			if err != nil {
				text = indirector.Message(err)
			}
			return screen.Toast{Text: text, Bad: err != nil}
		}
		was, _ := log.Row(t.ID)
		value := replay.Compare(log, t.ID, log, id, ignored)
		return screen.Toast{
			Text: fmt.Sprintf("#%d %s, replay of #%d %s: %s%s", id, row.Outcome, t.ID, was.Outcome, value.String(), replay.Without(t)),
			Bad:  row.Outcome.Failed() && !was.Outcome.Failed(),
		}
	})
}

// editAndReplay opens the prompt with the command that asks the same, to be
// changed.
func editAndReplay(env *session.Env, t *traces.Trace) tea.Cmd {
	req := replay.Written(env.Log, t)
	return screen.Send(screen.Ask{Text: command.Line(req) + fmt.Sprintf(" replay=%d", t.ID)})
}

// breakHere holds requests like one before a step.
func breakHere(env *session.Env, t *traces.Trace, s traces.Step) tea.Cmd {
	p, err := debugger.Parse("ind=" + command.Quote(t.Indirection) + " key=" + command.Quote(t.Key) + " before " + stepWord(s) + " do hold")
	if err != nil {
		return screen.Warn(err.Error(), "")
	}
	return setBreak(env, p)
}

func stepWord(s traces.Step) string { return (debugger.Where{Step: s}).String()[len("before "):] }

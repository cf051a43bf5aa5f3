package steps

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/ui/command"
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
	case t.Verb == traces.Save:
		if _, ok := env.Log.Instance(t.ID); !ok {
			return "what was saved is not in memory any more"
		}
	case t.Verb == traces.NoVerb:
		return "nobody knows its verb"
	}
	return ""
}

// RequestOf is the request that a trace was made of, to be asked again. Options
// are texts as they were recorded, and redacted ones stay redacted; those that were
// not kept in full are left out, and the story of the replay names them. The key
// is that of the trace, see AsAgent.
func RequestOf(log session.Log, t *traces.Trace) *indirector.Request {
	req := &indirector.Request{
		Indirection: t.Indirection, Verb: t.Verb, Key: t.Key, Flags: t.Flags, Environment: t.Environment, Caller: "you", Replay: t.ID,
	}
	for _, o := range t.Options {
		if partly(o.Value) {
			if req.Wants == nil {
				req.Wants = new(indirector.Wants)
			}
			req.Wants.Notes = append(req.Wants.Notes, "option "+o.Name+" was not recorded in full and is left out of the replay")
			continue
		}
		req.Options = append(req.Options, indirector.Option{Name: o.Name, Value: o.Value})
	}
	for _, slot := range []struct {
		choice traces.Choice
		to     *string
	}{{t.Primary.Winner(), &req.Terminus}, {t.Cache.Winner(), &req.Cache}} {
		if c := slot.choice; c.Kind == traces.FromRequest || c.Kind == traces.FromFace {
			*slot.to, req.By, req.Source = c.Terminus, c.Kind, c.Source
		}
	}
	if inst, ok := log.Instance(t.ID); ok && t.Verb == traces.Save {
		req.Instance, _ = inst.(indirector.Instance)
	}
	return req
}

// partly reports whether the value of an option is what a trace keeps of a long
// text or of an instance: a beginning, or a name.
func partly(value string) bool {
	return strings.HasSuffix(value, "…") && (len(value) >= 200 || strings.Contains(value, "(masked ")) || strings.HasPrefix(value, "(*model.")
}

// Without returns what a replay of t leaves out: ", without facts, …"; "" if nothing.
func Without(t *traces.Trace) string {
	var names []string
	for _, o := range t.Options {
		if partly(o.Value) {
			names = append(names, o.Name)
		}
	}
	if names == nil {
		return ""
	}
	return ", without " + strings.Join(names, " and ") + ", not recorded in full"
}

// AsAgent is RequestOf with the very key that was asked for, as long as that is
// in memory, asked as the agent that asked it over the network, if one did: a
// proxy shows its certificate, and rules about nodes hold as they did. Its
// address is not known any more.
func AsAgent(log session.Log, t *traces.Trace) *indirector.Request {
	req := RequestOf(log, t)
	if key, ok := log.Asked(t.ID); ok {
		req.Key = key
	}
	if node, is := strings.CutPrefix(t.Caller, "agent "); is && node != "" {
		req.Remote = &indirector.Remote{Node: node, Authenticated: true}
	}
	return req
}

// replay asks the same again, by the routes that there are now.
func replay(env *session.Env, t *traces.Trace) tea.Cmd {
	req, ask, log, ignored := AsAgent(env.Log, t), env.Asker.Do, env.Log, slices.Clone(env.Ignored)
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
		value := Again(log, t.ID, id, ignored)
		return screen.Toast{
			Text: fmt.Sprintf("#%d %s, replay of #%d %s: %s%s", id, row.Outcome, t.ID, was.Outcome, value.String(), Without(t)),
			Bad:  row.Outcome.Failed() && !was.Outcome.Failed(),
		}
	})
}

// Again compares the values of a request and of its replay, without what every
// answer has anew and what the rules leave out.
func Again(log session.Log, then, now uint64, rules []string) diff.Answer {
	a, errA := log.Trace(then)
	b, errB := log.Trace(now)
	if err := errors.Join(errA, errB); err != nil {
		return diff.Answer{Verdict: diff.Uncompared, Why: err.Error()}
	}
	return diff.Answers(log, a, log, b, diff.Options{Ignore: append(diff.Fresh(), rules...)})
}

// editAndReplay opens the prompt with the command that asks the same, to be
// changed.
func editAndReplay(env *session.Env, t *traces.Trace) tea.Cmd {
	req := RequestOf(env.Log, t)
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

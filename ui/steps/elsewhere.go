package steps

import (
	"context"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/value"
)

// elsewhere is the process of a request that is held in another one, and what waits
// for it there, in one or two lines; none if it runs here.
func (s *Steps) elsewhere() (lines term.Lines) {
	st := s.hold.stay
	process := st.State.Home.String()
	if process == "" {
		return nil
	}
	var l term.Line
	l.Put(term.Quiet, "   IN  ")
	l.Add(term.Plain, term.Clean(process))
	waits, counts := Waiting(&st.Held, s.hold.now)
	if waits != "" {
		l.Put(term.Quiet, "  stops ")
		l.Add(term.Attention, term.Clean(waits))
	}
	lines = append(lines, l.Cut(s.width))
	if len(counts) > 0 {
		var l term.Line
		l.Put(term.Quiet, "   gives up: ")
		l.Add(term.Touched, term.Clean(strings.Join(counts, ", ")))
		lines = append(lines, l.Cut(s.width))
	}
	return lines
}

// valued reports whether a request has a value that can be shown.
func valued(t *traces.Trace) bool { return t.Value().Model != "" || t.Sent().Model != "" }

// elsewhereDisabled is the reason why the process of a request cannot be asked for its
// value; "" if it can.
func elsewhereDisabled(env *session.Env, t *traces.Trace) string {
	switch {
	case t.From == nil || env.Values == nil || env.Values() == nil:
		return "there is no value"
	case t.Outcome == traces.Run || t.Outcome == traces.HeldOutcome:
		return "there is no value yet"
	case t.Served == traces.ByNone && t.Verb != traces.Save, t.Verb == traces.Head, t.Indirection == "http":
		return "there is no value"
	case !env.Values().There(t.From.Name):
		return "it was not rendered, and " + t.From.Name + " has gone"
	}
	return ""
}

// openWithin is how long a process may take to render a value.
const openWithin = 5 * time.Second

// openElsewhere shows a value that the process of its request still has.
func openElsewhere(env *session.Env, t *traces.Trace) tea.Cmd {
	from, all := *t.From, env.Values()
	return screen.Later(func() tea.Msg {
		ctx, cancel := context.WithTimeout(context.Background(), openWithin)
		defer cancel()
		values, err := all.Open(ctx, from.Name, from.Number)
		if err != nil {
			toast := screen.Toast{Text: "no value: " + err.Error(), Bad: true}
			if all.There(from.Name) {
				toast.Advice = ":values on has " + from.Name + " render those to come"
			}
			return toast
		}
		own := *t
		own.Values = values
		return value.Open(env, &own)()
	})
}

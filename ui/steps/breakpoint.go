package steps

import (
	"slices"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/widget"
)

// AddBreak opens the form for a new breakpoint, with some of it written.
func AddBreak(env *session.Env, when, where string) tea.Cmd {
	return breakForm(env, "new breakpoint", [3]string{when, where, "hold"}, func(text string) tea.Cmd {
		p, err := debugger.Parse(text)
		if err != nil {
			return screen.Warn(err.Error(), "")
		}
		return setBreak(env, p)
	})
}

// setBreak arms a breakpoint, so that it can be undone.
func setBreak(env *session.Env, p debugger.Breakpoint) tea.Cmd {
	d := env.Debugger
	info, err := d.Add(p)
	if err != nil && info.ID == "" {
		return screen.Warn(err.Error(), "")
	}
	id := info.ID
	undo := func() tea.Cmd { return warn(d.Remove(id)) }
	redo := func() tea.Cmd {
		again, err := d.Add(p)
		id = again.ID
		return warn(err)
	}
	return screen.Did(":break "+p.String(), undo, redo)
}

// warn is the command that shows an error, if there is one.
func warn(err error) tea.Cmd {
	if err == nil {
		return nil
	}
	return screen.Warn(err.Error(), "")
}

// EditBreak opens the form with a breakpoint in it.
func EditBreak(env *session.Env, info debugger.Info) tea.Cmd {
	when := ""
	if info.When != nil {
		when = info.When.String()
	}
	do := info.Action.String()
	if limit := info.Limit.String(); limit != "" {
		do += " " + limit
	}
	return breakForm(env, "breakpoint "+info.ID, [3]string{when, info.Where.String(), do}, func(text string) tea.Cmd {
		p, err := debugger.Parse(text)
		if err == nil {
			_, err = env.Debugger.Replace(info.ID, p)
		}
		if err != nil {
			return screen.Warn(err.Error(), "")
		}
		command, old := ":break "+info.ID+" "+text, info.Breakpoint
		set := func(to debugger.Breakpoint) tea.Cmd {
			_, err := env.Debugger.Replace(info.ID, to)
			return warn(err)
		}
		return screen.Changed(command, old, p, set)
	})
}

// wheres are the places that a breakpoint can be at, in the order of steps; those of
// resources in a run come last.
func wheres() []string {
	var out []string
	for s := range traces.Step(traces.StepCount) {
		out = append(out, debugger.Where{Step: s}.String())
		if s != traces.Caller {
			out = append(out, debugger.Where{Step: s, After: true}.String())
		}
	}
	for _, step := range debugger.ResourcePlaces() {
		out = append(out, "at "+step)
	}
	return out
}

var actions = []string{
	"hold", "hold once", "log key,out", `fail "connection refused"`, "fail 503", "fail 404", "delay 2s", "delay 2s jitter 1s 30%",
	"nil", "value @FILE", "truncate 50%", "corrupt 4", "set ignore_cache=true", "skip", "retry first 3",
}

func breakForm(env *session.Env, title string, values [3]string, enter func(text string) tea.Cmd) tea.Cmd {
	f := widget.Form{
		Title: title,
		Fields: []widget.Field{
			{Label: "WHEN", Hint: "an expression; empty is always", Choices: recentWhen(env)},
			{Label: "WHERE", Hint: "before or after a step, or at init.pp:12, at class ntp, at refresh", Choices: wheres()},
			{Label: "DO", Hint: "and how often: once, first 3, every 10, 30%", Choices: actions},
		},
		Check: func(v []string) (string, *widget.Problem, int) {
			if _, err := query.Parse(v[0]); err != nil {
				return "", &widget.Problem{Text: err.Error()}, 0
			}
			text := breakText(v)
			p, err := debugger.Parse(text)
			if err != nil {
				field := 2
				if _, err := debugger.Parse(strings.TrimSpace(v[0] + " " + place(v[1]))); err != nil {
					field = 1
				}
				return "", &widget.Problem{Text: err.Error()}, field
			}
			return "break " + p.String(), nil, 0
		},
		Enter: func(v []string) tea.Cmd { return enter(breakText(v)) },
	}
	for i := range f.Fields {
		f.Fields[i].Input.Set(values[i])
	}
	return screen.Show(widget.NewForm(&env.Shared, f))
}

// breakText is a breakpoint as it is written.
func breakText(v []string) string {
	do := strings.TrimSpace(v[2])
	if do != "" {
		do = "do " + do
	}
	return strings.Join(strings.Fields(strings.Join([]string{v[0], place(v[1]), do}, " ")), " ")
}

// place lets the user leave out the word before, and write the names of steps as
// they are on the screen.
func place(s string) string {
	s = strings.TrimSpace(s)
	if s == "" {
		return ""
	}
	word, rest, _ := strings.Cut(s, " ")
	switch word {
	case "at":
		return s
	case "before", "after":
	case "change", indirector.StepFailed:
		return "at " + s
	default:
		if written := strings.ReplaceAll(s, " ", "-"); slices.Contains(debugger.ResourcePlaces(), written) {
			return "at " + written
		}
		word, rest = "before", s
	}
	return word + " " + strings.ReplaceAll(strings.TrimSpace(rest), " ", "-")
}

// recentWhen returns the expressions of the breakpoints that there are.
func recentWhen(env *session.Env) []string {
	var out []string
	if env.Debugger == nil {
		return nil
	}
	for _, info := range env.Debugger.Breaks() {
		if info.When != nil {
			out = append(out, info.When.String())
		}
	}
	return out
}

package steps

import (
	"context"
	"slices"
	"strconv"
	"strings"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/indirector"
	"indirtui/indirector/resource/transaction"
	"indirtui/traces"
	"indirtui/ui/plan"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// A resourceStep is one of the steps of a resource that is applied, as far as it was taken.
type resourceStep struct {
	name, answer string
	style        term.Style
	here         bool // it is held before it, or behind it if it failed
}

// resourceSteps are the steps of the resource that a request is held in, those to come as
// well.
func resourceSteps(t *traces.Trace, at *indirector.Code) []resourceStep {
	var all []resourceStep
	here := strings.TrimSpace(at.Kind + " " + at.Name)
	if at.Kind == indirector.StepFailed {
		here = at.Name
	}
	for _, step := range indirector.ResourceSteps() {
		taken := false
		for i := range t.Spans {
			s := &t.Spans[i]
			if s.Step != traces.Terminus || s.Kind != traces.Note || s.Name != step && !strings.HasPrefix(s.Name, step+" ") {
				continue
			}
			taken = true
			row := resourceStep{name: s.Name, answer: s.Answer}
			if why := s.Because.Words(); why != "" {
				row.answer += ", " + why
			}
			if s.Err != "" {
				row.answer, row.style = s.Err, term.Failed
			}
			all = append(all, row)
		}
		switch {
		case here == step || strings.HasPrefix(here, step+" "):
			row := resourceStep{name: here, answer: "HELD", style: term.Touched, here: true}
			if at.Kind == indirector.StepFailed {
				row.answer = "FAILED, HELD"
			}
			all = append(all, row)
		case !taken:
			all = append(all, resourceStep{name: step, style: term.Quiet})
		}
	}
	return all
}

// restOf is what the run has still to do; nil if that is not known.
func (c *program) restOf() *transaction.Rest {
	rest, _ := c.Rest.(*transaction.Rest)
	return rest
}

// openRest shows the plan of what the run has still to do.
func (s *Steps) openRest() tea.Cmd {
	rest := s.hold.stay.program.restOf()
	if rest == nil {
		return screen.Notify("not now: what is still to come is not known")
	}
	return screen.Show(plan.New(context.Background(), s.env, "still to come", plan.Options{Make: func(context.Context, bool) (plan.Result, error) {
		view, err := rest.View()
		return plan.Result{Plan: rest.Plan, View: view}, err
	}}))
}

// restLines shows what the run has still to do: the totals, and what comes next.
func (c *program) restLines(env *session.Env, width, height int) term.Lines {
	rest := c.restOf()
	if rest == nil || height < 2 {
		return nil
	}
	lines := term.Lines{env.Theme.Titled(width, term.Title{Left: term.Of(term.Bold, "STILL TO COME   enter"), Right: term.Of(term.Quiet, rest.Plan.Totals.String())})}
	for i := range rest.Plan.Resources {
		n := &rest.Plan.Resources[i]
		if len(lines) == height {
			break
		}
		var l term.Line
		l.Space(3)
		l.Cell(term.Quiet, term.Clean(string(n.Outcome)), 8)
		l.Space(1)
		l.Add(term.Plain, term.CleanTo(env.Redacted(n.Resource), max(width-l.Width()-1, 1)))
		lines = append(lines, l)
	}
	return lines
}

// stepLines shows the steps of the resource.
func (c *program) stepLines(th *term.Theme, width, height int) term.Lines {
	place := shortPath(c.File)
	if c.Line > 0 {
		place += ":" + strconv.Itoa(c.Line)
	}
	lines := term.Lines{th.Titled(width, term.Title{Left: term.Of(term.Bold, term.CleanTo(c.Of, max(width/2, 1)).String()), Right: term.Of(term.Quiet, place)})}
	const name = 22
	here := slices.IndexFunc(c.steps, func(s resourceStep) bool { return s.here })
	from := max(min(here-height+3, len(c.steps)-height+1), 0) // the step behind it is seen as well
	for i := from; i < len(c.steps) && len(lines) < height; i++ {
		row := &c.steps[i]
		var l term.Line
		l.Space(1)
		style := row.style
		if row.here {
			l.Put(term.Touched|term.Bold, th.Glyphs.Cursor)
			style |= term.Bold
		} else {
			l.Space(1)
		}
		l.Space(1)
		l.Cell(style, term.CleanTo(row.name, name), name)
		l.Space(1)
		l.Add(style, term.CleanTo(row.answer, max(width-l.Width()-1, 1)))
		lines = append(lines, l)
	}
	return lines
}

// viewResource shows where in its steps a resource waits, its properties, what it is in,
// and what the run has still to do.
func (s *Steps) viewResource(room int) term.Lines {
	c, th := s.hold.stay.program, s.env.Theme
	within := min(len(c.Calls)+1, 4)
	if s.width < screen.Wide {
		lines := c.stepLines(th, s.width, min(len(c.steps)+1, max(room*3/5, 4)))
		seen := min(len(c.variables)+1, max((room-len(lines))*2/3, 3))
		lines = append(lines, c.seen(th, s.hold.at, s.hold.editing, s.width, seen)...)
		return append(lines, c.restLines(s.env, s.width, room-len(lines))...).Fill(s.width, room)
	}
	left := s.width / 2
	right := s.width - left - 1
	steps := c.stepLines(th, left, len(c.steps)+1)
	steps = append(steps, c.restLines(s.env, left, room-len(steps))...)
	aside := c.calls(th, right, within)
	aside = append(aside, c.seen(th, s.hold.at, s.hold.editing, right, room-len(aside))...)
	return term.Beside(steps.Fill(left, room), aside.Fill(right, room), left, th)
}

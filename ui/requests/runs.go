package requests

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// columns are those of the list by groups.
func (g *groups) columns() []widget.Column {
	if g.by == byRun {
		return []widget.Column{
			{Title: "NODE", Min: 10, Want: 18, Grow: 1, Priority: 3, Middle: true},
			{Title: "BEGAN", Min: 8, Priority: 2},
			{Title: "LENGTH", Min: 7, Right: true, Priority: 1},
			{Title: "N ", Min: 4, Right: true},
			{Title: "WORST", Min: 5, Priority: 1},
			{Title: "WHAT CAME OF IT", Min: 20, Want: 34, Grow: 2, Priority: 4},
		}
	}
	return []widget.Column{
		{Title: strings.ToUpper(g.by), Min: 10, Grow: 1, Priority: 1},
		{Title: "N ", Min: 8, Right: true},
		{Title: "WORST", Min: 5},
		{Title: "ms", Min: 9, Right: true},
		{Title: "MEAN", Min: 7, Right: true},
		{Title: "MOST", Min: 7, Right: true},
		{Title: "LAST", Min: 9, Right: true},
	}
}

func (r *Requests) groupRow(i int, out *widget.Row) {
	g := &r.groups.list[i]
	if r.groups.by == byRun {
		r.runRow(g, out)
		return
	}
	if g.name == "" {
		out.Next(term.Quiet, "(none)")
	} else {
		out.Next(term.Plain, g.name)
	}
	out.Next(term.Plain, term.Grouped(int64(g.count))+" ")
	out.Next(session.StyleOf(g.worst), g.worst.String())
	out.Next(term.Plain, term.Millis(g.took))
	out.Next(term.Plain, term.Millis(g.took/time.Duration(max(g.count, 1))))
	out.Next(term.Plain, term.Millis(g.most))
	out.Next(term.Quiet, fmt.Sprintf("#%d", g.last))
}

// runRow is a run in one line.
func (r *Requests) runRow(g *group, out *widget.Row) {
	if g.name == "" {
		out.Next(term.Quiet, "(no run)")
		out.Next(term.Quiet, "")
		out.Next(term.Quiet, "")
	} else {
		out.Next(term.Plain, cmp.Or(g.run.Node, "unknown"))
		out.Next(term.Plain, r.env.Clock(g.run.First))
		out.Next(term.Plain, g.run.Length())
	}
	out.Next(term.Plain, term.Grouped(int64(g.count))+" ")
	out.Next(session.StyleOf(g.worst), g.worst.String())
	if g.name != "" {
		out.Next(session.StyleOf(g.worst), g.run.Sentence())
	}
}

// runStory is the lines under the list by runs: what the line of the run in focus
// may have had no room for, and its number.
func (r *Requests) runStory(height int) term.Lines {
	run := r.inFocus()
	if run == nil {
		return term.Lines{r.env.Theme.HRule(r.width)}
	}
	var title term.Title
	title.Left.Put(term.Bold, cmp.Or(run.Node, "a run"))
	title.Right.Put(term.Quiet, term.Plural(run.Count, "request")+" in "+run.Length())
	lines := append(term.Lines{r.env.Theme.Titled(r.width, title)}, runFacts(run).Lines(1, 12, r.width, 2)...)
	return lines.Fill(r.width, height)
}

// inFocus is the run that the cursor is on; nil if it is on none.
func (r *Requests) inFocus() *session.Run {
	if r.groups.by != byRun || r.list.Cursor >= len(r.groups.list) || r.groups.list[r.list.Cursor].name == "" {
		return nil
	}
	return &r.groups.list[r.list.Cursor].run
}

// runSide is the same beside the list.
func (r *Requests) runSide(width int) (lines term.Lines, title term.Title) {
	run := r.inFocus()
	if run == nil {
		return nil, title
	}
	title.Left.Put(term.Bold, cmp.Or(run.Node, "a run"))
	title.Right.Put(term.Quiet, term.Plural(run.Count, "request")+" in "+run.Length())
	return runFacts(run).Lines(0, 6, width, 6), title
}

func runFacts(run *session.Run) (facts widget.Facts) {
	facts.Put(term.Plain, "what", run.Sentence())
	facts.Put(term.Quiet, "run", traces.RunName(run.Name, run.Transaction, run.Guessed))
	return facts
}

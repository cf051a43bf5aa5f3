package requests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/steps"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// columns are those of the list. When there is no room the number goes first,
// the outcome last. Rule: UI design, section 3.1.
var columns = []widget.Column{
	{Title: "#", Min: 5, Want: 7, Priority: 1, Right: true},
	{Title: "TIME", Min: 8, Want: 12, Priority: 3},
	{Title: "VERB", Min: 4, Want: 4, Priority: 4},
	{Title: "IND", Min: 10, Want: 13, Priority: 6},
	{Title: "KEY", Min: 14, Want: 20, Priority: 7, Grow: 3},
	{Title: "SERVED BY", Min: 14, Want: 16, Priority: 5, Grow: 1},
	{Title: "ms", Min: 5, Want: 6, Priority: 2, Right: true},
	{Title: "OUT", Min: 5, Want: 5, Priority: 8},
}

// gutter is the cursor, the letter of a mark or the sign of the selection, and
// the sign of what went wrong.
const gutter = 3

// The lines below the list, when there is no pane beside it.
const (
	storyLines = 4
	rateLines  = 3 // rule, rates, blank
)

func (r *Requests) wide() bool { return r.width >= screen.Wide }

// listWidth is the width of the list: what the pane beside it leaves.
func (r *Requests) listWidth() int {
	if !r.wide() {
		return r.width
	}
	return r.width - 2 - min(max(r.width/3, 44), 64)
}

// showsRates reports whether the line of rates is shown.
func (r *Requests) showsRates() bool { return r.wide() && r.height >= 28 }

func (r *Requests) below() int {
	switch {
	case r.showsRates():
		return rateLines
	case r.wide():
		return 0
	}
	return min(storyLines+1, max(r.height/3, 2))
}

func (r *Requests) rowsOnScreen() int { return r.height - 1 - r.below() }

func (r *Requests) Context() (left, right term.Line) {
	left.Put(term.Quiet, " filter: ")
	if r.filter == "" {
		left.Put(term.Quiet, "(none)")
	} else {
		left.Put(term.Bold, r.filter)
	}
	left.Put(term.Quiet, "   group: ")
	left.Put(term.Plain, r.groupName())
	if r.wide() || r.sorting.column != 0 || r.sorting.reverse {
		left.Put(term.Quiet, "   sort: ")
		left.Put(term.Plain, r.sorting.String())
	}
	if len(r.picked) > 0 {
		left.Put(term.Touched, fmt.Sprintf("   selected %d", len(r.picked)))
	}
	n, total := r.view.Checked()
	shown := term.Grouped(int64(r.view.Len())) + " shown"
	if r.filter != "" {
		shown += " of " + term.Grouped(int64(total))
	}
	if !r.done && n < total {
		shown = fmt.Sprintf("so far %s of %s/%s checked", term.Grouped(int64(r.view.Len())), term.Grouped(int64(n)), term.Grouped(int64(total)))
	}
	right.Put(term.Plain, shown+"   ")
	if r.follow {
		right.Put(term.Plain, "follow on ")
	} else {
		right.Put(term.Plain, "follow off")
		if fresh := r.fresh(); fresh > 0 {
			right.Put(term.Attention, fmt.Sprintf(", %s new", term.Grouped(int64(fresh))))
		}
		right.Space(1)
	}
	return left, right
}

func (r *Requests) View() term.Lines {
	if r.len() == 0 {
		return r.empty()
	}
	list := r.table()
	if !r.wide() {
		return append(list, r.story(r.below())...)
	}
	width := r.listWidth()
	height := r.height
	if r.showsRates() {
		height -= rateLines
	}
	lines := term.Beside(list.Fill(width, height), r.side(height, r.width-width-2), width, r.env.Theme)
	if r.showsRates() {
		lines = append(lines, r.env.Theme.HRule(r.width), r.rateLine(), term.Line{})
	}
	return lines
}

// empty is what is shown instead of a list: a sentence, and what to do.
func (r *Requests) empty() term.Lines {
	n, total := r.view.Checked()
	text := "No request yet."
	switch {
	case r.groups != nil && r.groups.list == nil:
		text = "gathering groups"
	case r.filter != "" && !r.done:
		text = fmt.Sprintf("so far 0 of %s/%s checked", term.Grouped(int64(n)), term.Grouped(int64(total)))
	case r.filter != "":
		text = fmt.Sprintf("No request matches. %s hidden.  esc clear filter   / edit", term.Grouped(int64(total)))
	}
	return term.Lines{{}, term.Of(term.Plain, "   "+text)}
}

func (r *Requests) table() term.Lines {
	row := r.row
	r.list.Columns, r.list.Gutter = columns, gutter
	if r.groups != nil {
		r.list.Columns, row = r.groups.columns(), r.groupRow
	} else if r.list.Fit(r.listWidth()); !r.list.Has(0) {
		r.list.Gutter++ // numbers are at the right of their column; others want a blank
	}
	return r.list.Lines(r.env.Theme, r.listWidth(), row)
}

func (r *Requests) row(i int, out *widget.Row) {
	id := r.at(i)
	row, ok := r.env.Log.Row(id)
	if !ok {
		out.Line, out.Focus = term.Of(term.Quiet, fmt.Sprintf("    #%d was dropped", id)), false
		return
	}
	r.gutter(out, &row)
	for i, w := range out.Widths {
		if w == 0 {
			out.Skip()
			continue
		}
		out.Next(r.cell(&row, i, w))
	}
}

func (r *Requests) gutter(l *widget.Row, row *session.Row) {
	l.To(1)
	switch {
	case r.isPicked(row.ID):
		l.Put(term.Touched, "+")
	case row.Marked && row.Mark >= 'a' && row.Mark <= 'z':
		l.Put(term.Touched, string(rune(row.Mark)))
	case row.Marked:
		l.Put(term.Touched, "*")
	default:
		l.Space(1)
	}
	switch {
	case row.Outcome == traces.HeldOutcome:
		l.Put(term.Touched, "|")
	case row.Outcome.Failed():
		l.Put(session.StyleOf(row.Outcome), "!")
	default:
		l.Space(1)
	}
}

func (r *Requests) isPicked(id uint64) bool { return slices.Contains(r.picked, id) }

// cell is what a row has in a column of the given width.
func (r *Requests) cell(row *session.Row, column, width int) (term.Style, string) {
	plain := term.Plain
	if row.Outcome == traces.Run {
		plain = term.Quiet
	}
	switch columns[column].Title {
	case "#":
		if row.Sent {
			plain = term.Touched
		}
		return plain, strconv.FormatUint(row.ID, 10)
	case "TIME":
		return term.Quiet, r.time(row, width)
	case "VERB":
		return plain, session.VerbCode(row.Verb)
	case "IND":
		return plain, row.Indirection
	case "KEY":
		return plain, row.Key
	case "SERVED BY":
		if row.Served == traces.ByCache {
			plain = term.Cached
		}
		return plain, session.ServedBy(row)
	case "ms":
		if row.Outcome == traces.Run || row.Outcome == traces.HeldOutcome {
			return plain, "-"
		}
		return plain, term.MillisIn(row.Took, width)
	}
	return session.StyleOf(row.Outcome), row.Outcome.String()
}

func (r *Requests) time(row *session.Row, width int) string {
	switch {
	case r.ages:
		return traces.Age(r.env.Now().Sub(row.Start)) + " ago"
	case width >= 12:
		return r.env.ClockMillis(row.Start)
	}
	return r.env.Clock(row.Start)
}

// columns are those of the list by groups.
func (g *groups) columns() []widget.Column {
	return []widget.Column{
		{Title: strings.ToUpper(g.by), Min: 10, Grow: 1, Priority: 1},
		{Title: "N ", Min: 8, Right: true},
		{Title: "WORST", Min: 5},
		{Title: "ms", Min: 9, Right: true},
		{Title: "LAST", Min: 9, Right: true},
	}
}

func (r *Requests) groupRow(i int, out *widget.Row) {
	g := r.groups.list[i]
	if g.name == "" {
		out.Next(term.Quiet, "(none)")
	} else {
		out.Next(term.Plain, g.name)
	}
	out.Next(term.Plain, term.Grouped(int64(g.count))+" ")
	out.Next(session.StyleOf(g.worst), g.worst.String())
	out.Next(term.Plain, term.Millis(g.took))
	out.Next(term.Quiet, fmt.Sprintf("#%d", g.last))
}

// story is the lines under the list: the request in focus in full, and what a
// matters most about it.
func (r *Requests) story(height int) term.Lines {
	lines := term.Lines{r.env.Theme.HRule(r.width)}
	row, ok := r.env.Log.Row(r.focus)
	if !ok || r.groups != nil {
		return lines
	}
	var head term.Line
	head.Space(1)
	head.Put(term.Bold, session.Name(&row))
	head.Space(3)
	head.Append(r.callerLine(&row))
	lines = append(lines, head)
	d := r.details[r.focus]
	if d == nil {
		return lines
	}
	var l term.Line
	l.Space(1)
	if d.trace == nil {
		l.Put(term.Attention, d.err.Error())
		return append(lines, l)
	}
	story := widget.Fact{Text: traces.Story(d.trace), Style: session.StyleOf(row.Outcome)}
	lines = append(lines, story.Lines(0, 1, r.width, max(height-3, 1))...)
	h := headline(d.trace)
	for _, who := range []struct{ label, text string }{{"asked ", h.Asked}, {"   not asked ", h.NotAsked}} {
		if who.text != "" {
			l.Put(term.Quiet, who.label)
			l.Put(term.Plain, who.text)
		}
	}
	return append(lines, l).Fill(r.width, height)
}

// callerLine is the caller of a request, its run and its environment.
func (r *Requests) callerLine(row *session.Row) term.Line {
	var l term.Line
	if row.Sent {
		l.Put(term.Touched, "sent by you  ")
	} else if row.Caller != "" {
		l.Put(term.Plain, row.Caller+"  ")
	}
	if row.Run != "" {
		l.Put(term.Plain, "run "+traces.GuessMark(row.RunGuessed))
		l.Add(term.Plain, term.Clean(row.Run).Cut(8))
		l.Space(2)
	}
	if row.Environment != "" {
		l.Put(term.Plain, "env "+row.Environment+"  ")
	}
	if row.Parent != 0 {
		l.Put(term.Plain, fmt.Sprintf("asked by #%d", row.Parent))
	}
	return l
}

// side is the pane beside the list: the same, and who answered, was asked, was
// not asked, and decided; the steps; and where to go from here.
func (r *Requests) side(height, width int) term.Lines {
	row, ok := r.env.Log.Row(r.focus)
	if !ok || r.groups != nil {
		return nil
	}
	lines := term.Lines{term.Of(term.Bold, session.Name(&row)), r.callerLine(&row), {}}
	d := r.details[r.focus]
	if d == nil {
		return lines
	}
	if d.trace == nil {
		return append(lines, term.Of(term.Attention, " "+d.err.Error()))
	}
	story := widget.Fact{Text: traces.Story(d.trace), Style: session.StyleOf(row.Outcome)}
	lines = append(lines, term.Of(term.Quiet, "STORY"))
	lines = append(append(lines, story.Lines(0, 1, width, 5)...), term.Line{})
	h := headline(d.trace)
	who := widget.Facts{
		{Label: "WHO ANSWERED", Text: h.Answered},
		{Label: "WHO WAS ASKED", Text: h.Asked},
		{Label: "WHO WAS NOT", Text: h.NotAsked},
		{Label: "WHO DECIDED", Text: h.Decided},
	}
	lines = append(append(lines, who.Lines(0, 15, width, 3)...), term.Line{})
	lines = append(lines, r.stepLines(d.trace, width)...)
	return append(append(lines, term.Line{}), r.linkLines(&d.links)...).Fill(width, height)
}

// headline is who answered, was asked, was not asked, and decided. Of a request
// that runs nothing of that is known.
func headline(t *traces.Trace) traces.Headline {
	if t.Outcome == traces.Run || t.Outcome == traces.HeldOutcome {
		return traces.Headline{Answered: "nobody yet"}
	}
	return traces.HeadlineOf(t)
}

// stepColumns are those of the steps beside the list.
var stepColumns = []widget.Column{{Title: "STEPS", Min: 17, Priority: 3}, {Min: 1, Priority: 2, Grow: 1}, {Title: "ms", Min: 6, Priority: 1, Right: true}}

func (r *Requests) stepLines(t *traces.Trace, width int) term.Lines {
	return widget.Block(stepColumns, 0, len(t.Steps)).Lines(r.env.Theme, width, func(i int, l *widget.Row) {
		s := traces.Step(i)
		style := steps.StyleOf(t, s)
		l.Put(style, steps.Mark(t, s, &r.env.Theme.Glyphs))
		l.Right(term.Quiet, term.Clean(steps.Number(s)), 2)
		l.Space(1)
		l.Cell(style, term.Clean(s.String()), 13)
		l.Space(1)
		l.Skip()
		l.Next(style, steps.Answer(t, s))
		l.Next(style, steps.Took(t.Steps[i]))
	})
}

func (r *Requests) linkLines(links *store.Links) term.Lines {
	lines := term.Lines{term.Of(term.Quiet, "LINKS")}
	for _, to := range []struct {
		label string
		id    uint64
	}{{"asked by", links.Parent}, {"previous in run", links.PrevInRun}, {"next in run", links.NextInRun}, {"last good", links.LastGood}, {"replay of", links.Replays}} {
		row, ok := r.env.Log.Row(to.id)
		if !ok {
			continue
		}
		var l term.Line
		l.Space(1)
		l.Cell(term.Quiet, term.Clean(to.label), 16)
		l.Put(term.Plain, fmt.Sprintf("#%d ", to.id))
		l.Put(session.StyleOf(row.Outcome), row.Outcome.String())
		l.Put(term.Plain, "  "+row.Indirection)
		lines = append(lines, l)
	}
	if n := len(links.Children); n > 0 {
		var l term.Line
		l.Space(1)
		l.Cell(term.Quiet, term.Clean("asked"), 16)
		l.Put(term.Plain, fmt.Sprintf("%s, #%d first", term.Plural(n, "request"), links.Children[0]))
		lines = append(lines, l)
	}
	if len(lines) == 1 {
		return nil
	}
	return lines
}

// rateLine is the last minute, and what the callers did not see.
func (r *Requests) rateLine() term.Line {
	var l term.Line
	l.Put(term.Quiet, " 60 s  ")
	most := uint32(0)
	for _, n := range r.rates {
		most = max(most, n)
	}
	spark := r.env.Theme.Glyphs.Spark
	for _, n := range r.rates {
		if n == 0 || most == 0 {
			l.Put(term.Quiet, spark[0])
			continue
		}
		l.Put(term.Plain, spark[int(n)*(len(spark)-1)/int(most)])
	}
	l.Put(term.Plain, fmt.Sprintf("  %.0f requests/s", r.stats.Rate))
	l.Put(term.Quiet, "   hidden:")
	for _, o := range []traces.Outcome{traces.ErrHidden, traces.NilHidden, traces.Part, traces.Stale} {
		style := term.Quiet
		if r.stats.By[o] > 0 {
			style = term.Attention
		}
		l.Put(style, fmt.Sprintf("  %s %s", term.Grouped(int64(r.stats.By[o])), o))
	}
	return l
}

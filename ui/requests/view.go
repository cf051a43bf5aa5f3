package requests

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/steps"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// columns are those of the list. When there is no room the number goes first,
// the outcome last. Rule: UI design, section 3.1.
var columns = []widget.Column{
	{Title: "#", Min: 5, Want: 6, Priority: 1, Right: true},
	{Title: "TIME", Min: 8, Want: 12, Priority: 3},
	{Title: "VERB", Min: 4, Want: 4, Priority: 4},
	{Title: "IND", Min: 10, Want: 13, Priority: 6},
	{Title: "KEY", Min: 16, Want: 17, Priority: 7, Grow: 3, Middle: true},
	{Title: "SERVED BY", Min: 13, Want: 14, Priority: 5, Grow: 1},
	{Title: "ms", Min: 5, Want: 6, Priority: 2, Right: true},
	{Title: "OUT", Min: 5, Want: 5, Priority: 8},
}

// byProcess are the columns while requests of several processes are listed.
var byProcess = slices.Insert(slices.Clone(columns), 2, widget.Column{Title: "PROC", Min: 10, Want: 18, Priority: 3, Middle: true})

// gutter is the cursor, the letter of a mark or the sign of the selection, and
// the sign of what went wrong.
const gutter = 3

// storyLines are those below the list, when there is no pane beside it.
const storyLines = 4

func (r *Requests) wide() bool { return r.width >= screen.Wide }

func (r *Requests) below() int {
	if r.wide() {
		return 0
	}
	return min(storyLines+1, max(r.height/3, 2))
}

func (r *Requests) rowsOnScreen() int { return r.height - 1 - r.below() }

// Context is which requests these are, and whether new ones are followed.
func (r *Requests) Context() (left, right term.Line) {
	if r.panes.Zoomed() && r.panes.Focus > 0 {
		_, title := r.pane(r.panes.Focus, r.width)
		if r.panes.Focus > 1 {
			left.Put(term.Plain, fmt.Sprintf("#%d > ", r.focus))
		}
		left.Append(title.Left)
		return left, title.Right
	}
	left.Put(term.Bold, "Requests")
	if r.filter != "" {
		left.Put(term.Accent|term.Bold, "  "+r.filter)
	}
	_, total := r.view.Checked()
	shown := term.Grouped(int64(r.view.Len()))
	words, done, of := r.work()
	switch {
	case words != "":
		left.Space(2)
		r.wait.PutPart(&left, term.Quiet, words, done, of)
	case r.filter != "":
		right.Put(term.Quiet, fmt.Sprintf("%s of %s · ", shown, term.Grouped(int64(total))))
	default:
		left.Put(term.Quiet, "  all "+shown)
	}
	if f, ok := r.env.Log.(session.Fleet); ok {
		if about := f.About(); about != "" {
			left.Put(term.Attention, " · "+term.Clean(about).String())
		}
	}
	if r.groups != nil {
		left.Put(term.Quiet, " · by "+r.groupName())
	} else if r.sorting.column != 0 || r.sorting.reverse {
		left.Put(term.Quiet, " · by "+r.sorting.String())
	}
	if len(r.picked) > 0 {
		left.Put(term.Touched, fmt.Sprintf(" · selected %d", len(r.picked)))
	}
	if fresh := r.fresh(); !r.follow && fresh > 0 {
		right.Put(term.Attention, term.Grouped(int64(fresh))+" new")
		right.Put(term.Quiet, " · ")
	}
	switch {
	case r.follow:
		right.Put(term.Quiet, "follow on")
	case r.wide():
		right.Put(term.Quiet, "follow off · F")
	default:
		right.Put(term.Quiet, "follow off")
	}
	return left, right
}

// Foot is the last minute.
func (r *Requests) Foot() term.Line {
	var l term.Line
	if r.wide() {
		l = r.rateLine()
	}
	return l
}

func (r *Requests) View() term.Lines {
	if r.len() == 0 {
		return r.empty()
	}
	if !r.wide() {
		return append(r.table(r.width), r.story(r.below())...)
	}
	return r.panes.Lines(r.env.Theme, r.height, func(pane, width int) (term.Lines, term.Title) {
		if pane == 0 {
			return r.table(width), term.Title{}
		}
		return r.pane(pane, width)
	})
}

// pane is one of the panes beside the list: the steps, or the value.
func (r *Requests) pane(pane, width int) (term.Lines, term.Title) {
	if pane == 1 {
		return r.side(width)
	}
	d := r.details[r.focus]
	if r.groups != nil || d == nil || d.trace == nil {
		return nil, term.Title{}
	}
	return steps.Content(r.env.Theme, d.trace, d.value, width)
}

// empty is what is shown instead of a list: a sentence, and what to do.
func (r *Requests) empty() term.Lines {
	_, total := r.view.Checked()
	words, done, of := r.work()
	text := "No request yet."
	switch {
	case r.groups != nil && r.groups.list == nil:
		return widget.Waiting(&r.groups.wait, "gathering groups")
	case words != "":
		l := term.Of(term.Plain, "   ")
		r.wait.PutPart(&l, term.Plain, words, done, of)
		return term.Lines{{}, l}
	case r.filter != "":
		text = fmt.Sprintf("No request matches. %s hidden.  esc clear filter   / edit", term.Grouped(int64(total)))
	}
	return term.Lines{{}, term.Of(term.Plain, "   "+text)}
}

func (r *Requests) table(width int) term.Lines {
	row := r.row
	r.list.Columns, r.list.Gutter = columns, gutter
	if r.env.Several != nil && r.env.Several() {
		r.list.Columns = byProcess
	}
	if r.groups != nil {
		r.list.Columns, row = r.groups.columns(), r.groupRow
	} else if r.list.Fit(width); !r.list.Has(0) {
		r.list.Gutter++ // numbers are at the right of their column; others want a blank
	}
	return r.list.Lines(r.env.Theme, width, row)
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
	style, letter := signOf(row.Outcome)
	bar := l.Sign(r.env.Theme, style)
	l.To(1)
	switch {
	case r.isPicked(row.ID):
		l.Put(term.Touched, "+")
	case row.Marked && row.Mark >= 'a' && row.Mark <= 'z':
		l.Put(term.Touched, string(rune(row.Mark)))
	case row.Marked:
		l.Put(term.Touched, "*")
	case row.Touched && row.Outcome != traces.HeldOutcome && row.Outcome != traces.Sim: // their sign is the same
		l.Put(term.Touched, touchedSign)
	default:
		l.Space(1)
	}
	if !bar {
		l.Put(style, letter)
	}
}

// touchedSign is in front of a request that was held or changed.
const touchedSign = "|"

// signOf is what stands in front of a request that wants to be looked at.
func signOf(o traces.Outcome) (style term.Style, letter string) {
	switch {
	case o == traces.HeldOutcome || o == traces.Sim:
		return term.Touched, touchedSign
	case o.Hidden():
		return term.Attention, "~"
	case o.Failed():
		return term.Failed, "!"
	}
	return term.Plain, " "
}

func (r *Requests) isPicked(id uint64) bool { return slices.Contains(r.picked, id) }

// cell is what a row has in a column of the given width.
func (r *Requests) cell(row *session.Row, column, width int) (term.Style, string) {
	plain := term.Plain
	if row.Outcome == traces.Run {
		plain = term.Quiet
	}
	switch r.list.Columns[column].Title {
	case "#":
		if row.Sent {
			plain = term.Touched
		}
		return plain, strconv.FormatUint(row.ID, 10)
	case "TIME":
		return term.Quiet, r.time(row, width)
	case "PROC":
		return term.Quiet, row.Instance
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

// story is the lines under the list: the request in focus in full, and what
// matters most about it.
func (r *Requests) story(height int) term.Lines {
	row, ok := r.env.Log.Row(r.focus)
	if r.groups != nil {
		return r.runStory(height)
	}
	if !ok {
		return term.Lines{r.env.Theme.HRule(r.width)}
	}
	var title term.Title
	title.Left.Put(term.Bold, session.Name(&row))
	title.Right = r.callerLine(&row)
	lines := term.Lines{r.env.Theme.Titled(r.width, title)}
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
	who := widget.Facts{}
	who.Put(term.Plain, "asked", h.Asked)
	who.Put(term.Plain, "not asked", h.NotAsked)
	who.Put(term.Plain, "decided by", h.Decided)
	return append(lines, who.Lines(1, 12, r.width, 1)...).Fill(r.width, height)
}

// callerLine is the caller of a request, its run and its environment.
func (r *Requests) callerLine(row *session.Row) term.Line {
	var l term.Line
	put := func(style term.Style, text string) {
		if l.Width() > 0 {
			l.Put(term.Quiet, " · ")
		}
		l.Put(style, text)
	}
	if row.Sent {
		put(term.Touched, "sent by you")
	} else if row.Caller != "" {
		put(term.Quiet, row.Caller)
	}
	if row.Instance != "" {
		put(term.Quiet, term.Clean(row.Instance).String())
	}
	if row.Run != "" {
		put(term.Quiet, "run "+traces.GuessMark(row.RunGuessed)+term.Clean(row.Run).First(8).String())
	}
	if row.Environment != "" {
		put(term.Quiet, row.Environment)
	}
	if row.Parent != 0 {
		put(term.Quiet, fmt.Sprintf("for #%d", row.Parent))
	}
	return l
}

// side is the pane beside the list and its title: the same, and who answered,
// was asked, was not asked, and decided; the steps; and where to go from here.
func (r *Requests) side(width int) (lines term.Lines, title term.Title) {
	row, ok := r.env.Log.Row(r.focus)
	if r.groups != nil {
		return r.runSide(width)
	}
	if !ok {
		return nil, title
	}
	title.Left.Put(term.Bold, fmt.Sprintf("#%d", row.ID))
	title.Left.Put(term.Plain, fmt.Sprintf(" %s %s", row.Verb, row.Indirection))
	title.Right.Put(session.StyleOf(row.Outcome), row.Outcome.String())
	if row.Took > 0 {
		title.Right.Put(term.Quiet, " · "+term.Millis(row.Took)+" ms")
	}
	for _, t := range term.Clean(row.Key).Wrap(width-1, 2) {
		var l term.Line
		l.Add(term.Plain, t)
		lines = append(lines, l)
	}
	lines = append(lines, r.callerLine(&row), term.Line{})
	d := r.details[r.focus]
	if d == nil {
		return lines, title
	}
	if d.trace == nil {
		return append(lines, term.Of(term.Attention, d.err.Error())), title
	}
	story := widget.Fact{Text: traces.Story(d.trace), Style: session.StyleOf(row.Outcome)}
	lines = append(append(lines, story.Lines(0, 0, width, 5)...), term.Line{})
	h := headline(d.trace)
	happened, not := r.env.Theme.Glyphs.Happened+" ", r.env.Theme.Glyphs.Not+" "
	var who widget.Facts
	who.Put(session.StyleOf(row.Outcome), "answered", marked(happened, h.Answered))
	who.Put(term.Plain, "asked", marked(happened, h.Asked))
	who.Put(term.Quiet, "not asked", marked(not, h.NotAsked))
	who.Put(term.Plain, "decided", h.Decided)
	lines = append(append(lines, r.part(width, "who", "")), who.Lines(0, 10, width, 3)...)
	lines = append(append(lines, r.part(width, "steps", "ms")), r.stepLines(d.trace, width)...)
	if links := r.request().LinkLines(r.Scope(), width); len(links) > 0 {
		lines = append(append(lines, r.part(width, "links", "")), links...)
	}
	return lines, title
}

// part is the border above a part of the pane.
func (r *Requests) part(width int, left, right string) term.Line {
	return r.env.Theme.Titled(width, term.Title{Left: term.Of(term.Quiet, left), Right: term.Of(term.Quiet, right)})
}

// marked puts the sign of what happened, or did not, in front of who it was, if it was
// any.
func marked(sign, who string) string {
	if who == "" || strings.HasPrefix(who, "nobody") {
		return who
	}
	return sign + who
}

// headline is who answered, was asked, was not asked, and decided. Of a request
// that runs nothing of that is known.
func headline(t *traces.Trace) traces.Headline {
	if t.Outcome == traces.Run || t.Outcome == traces.HeldOutcome {
		return traces.Headline{Answered: "nobody yet"}
	}
	return traces.HeadlineOf(t)
}

// stepColumns are those of the steps beside the list, whose border has their titles.
var stepColumns = []widget.Column{{Min: 17, Priority: 3}, {Min: 1, Priority: 2, Grow: 1}, {Min: 6, Priority: 1, Right: true}}

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
	})[1:]
}

// rateLine is the last minute.
func (r *Requests) rateLine() term.Line {
	var l term.Line
	l.Put(term.Quiet, "60 s ")
	most := uint32(0)
	rates := r.rates[len(r.rates)/2:]
	for _, n := range rates {
		most = max(most, n)
	}
	spark := r.env.Theme.Glyphs.Spark
	for _, n := range rates {
		if n == 0 || most == 0 {
			l.Put(term.Quiet, spark[0])
			continue
		}
		l.Put(term.Accent, spark[int(n)*(len(spark)-1)/int(most)])
	}
	l.Put(term.Quiet, fmt.Sprintf(" %.0f/s", r.stats.Rate))
	return l
}

package steps

import (
	"encoding/hex"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/store"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

func (s *Steps) Context() (left, right term.Line) {
	left.Put(term.Plain, " ")
	t := s.trace
	if t == nil {
		left.Put(term.Bold, fmt.Sprintf("#%d", s.id))
		return left, right
	}
	left.Put(term.Bold, fmt.Sprintf("#%d %s %s %s", t.ID, t.Verb, t.Indirection, t.Key))
	right.Put(session.StyleOf(t.Outcome)|term.Bold, t.Outcome.String())
	put := func(style term.Style, text string) {
		right.Put(term.Quiet, " · ")
		right.Put(style, text)
	}
	if t.Outcome != traces.Run {
		put(term.Quiet, session.Took(t.Took))
	}
	if t.Held > 0 {
		put(term.Touched, "held "+session.Took(t.Held))
	}
	if t.Caller != "" {
		put(styleOfCaller(t), term.Clean(sentBy(t.Caller)).Cut(20).String())
	}
	if t.Run != "" {
		put(term.Quiet, "run "+traces.GuessMark(t.RunGuessed)+term.Clean(t.Run).First(8).String())
	}
	if t.Traceparent != nil {
		put(term.Quiet, "trace "+hex.EncodeToString(t.Traceparent.Trace[:4]))
	}
	return left, right
}

func sentBy(caller string) string {
	if caller == "you" {
		return "sent by you"
	}
	return caller
}

func styleOfCaller(t *traces.Trace) term.Style {
	if t.Caller == "you" {
		return term.Touched
	}
	return term.Plain
}

// head is the number of lines above the rows.
func (s *Steps) head() int {
	if s.hold.stay != nil {
		if s.width >= screen.Wide {
			return 3 + len(s.elsewhere())
		}
		return 2 + len(s.elsewhere())
	}
	n := len(s.headline()) + 1
	if s.width >= screen.Wide {
		n++
	}
	return n
}

// layout gives the rows what they need, and the detail the rest; the detail
// keeps five lines if there is room for ten rows.
func (s *Steps) layout() {
	shown := 1
	if s.hold.stay == nil && s.width >= screen.Broad {
		shown = 2
	}
	s.panes.Resize(s.width, shown)
	room := s.height - s.head()
	s.list.SetHeight(min(max(len(s.lines), 1), max(room-6, min(room, 10)), max(room, 0)))
}

// columns are those of the table of steps.
var columns = []widget.Column{
	{Title: "STEP", Min: 16 + numberCells, Want: 22 + numberCells, Priority: 4}, // below it the number, too
	{Title: "ANSWER", Min: 17, Want: 26, Priority: 3, Grow: 1},
	{Title: "BECAUSE", Min: 18, Want: 40, Priority: 5, Grow: 2},
	{Title: "ms", Min: 6, Want: 6, Priority: 1, Right: true},
}

// fitted returns the columns with steps and answers as wide as they are, within
// limits; reasons are sentences, and take what is left.
func (s *Steps) fitted() []widget.Column {
	const widest = 44
	fit := slices.Clone(columns)
	want := func(column, cells int) { fit[column].Want = min(max(fit[column].Want, cells), widest) }
	for i := range s.lines {
		l := &s.lines[i]
		step, answer, _, _ := s.cells(l)
		want(0, numberCells+indent(l)+term.Clean(step).Width())
		if l.choice == nil && l.span == nil { // those go on across the columns
			want(1, term.Clean(answer).Width())
		}
	}
	return fit
}

// indent is how far the name of a row stands in.
func indent(l *line) int { return min(2*max(l.depth-1, 0), 8) }

// gutter is cursor, mark, fold and a blank; the number of a step and a blank
// take numberCells.
const (
	gutter      = 4
	numberCells = 5
)

func (s *Steps) View() term.Lines {
	if s.trace == nil {
		return s.absent()
	}
	if s.hold.stay != nil {
		return s.viewHeld()
	}
	lines := s.headline()
	room := s.height - len(lines)
	if s.width >= screen.Wide {
		room--
	}
	title := term.Title{Left: term.Of(term.Quiet, "steps")}
	panes := s.panes.Lines(s.env.Theme, room, func(pane, width int) (term.Lines, term.Title) {
		if pane == 0 {
			return s.stepsPane(width, room), title
		}
		lines, above := s.contentPane(width)
		if s.panes.Zoomed() {
			title = above
		}
		return lines, above
	})
	if s.width >= screen.Wide {
		lines = append(lines, s.env.Theme.Above(panes, s.width, title))
	}
	return append(lines, panes...)
}

// stepsPane is the steps, and the detail of the one in focus below them.
func (s *Steps) stepsPane(width, height int) term.Lines {
	bars := 0
	if s.width >= screen.Wide {
		// Bars are read at a glance: they take what the words leave.
		need := gutter + len(s.list.Columns) - 1
		for _, c := range s.list.Columns {
			need += c.Want
		}
		bars = min(max(width-need, width/6), width/4)
	}
	lines := s.table(width, bars)
	if room := height - len(lines); room > 1 {
		var title term.Title
		if l := s.focus(); l != nil {
			title.Left.Put(term.Bold, s.name(l))
		}
		lines = append(lines, s.env.Theme.Titled(width, title))
		lines = append(lines, s.detail(width, room-1)...)
	}
	return lines
}

// table is the rows, with bars in the last cells.
func (s *Steps) table(width, bars int) term.Lines {
	lines := s.list.Lines(s.env.Theme, width-bars, func(i int, r *widget.Row) { s.row(&s.lines[i], r, bars) })
	if bars > 0 {
		lines[0].Space(1)
		lines[0].Append(s.scale(bars - 2))
	}
	return lines
}

// absent is what is shown of a request without its detail.
func (s *Steps) absent() term.Lines {
	lines := term.Lines{{}}
	if s.err == nil {
		return lines
	}
	text := s.err.Error()
	if errors.Is(s.err, store.ErrDropped) {
		limit := s.env.Log.Stats().Limit
		text = fmt.Sprintf("#%d was dropped to keep memory under %dM; kept: verb, key, outcome, ms.", s.id, limit>>20)
	}
	lines = append(lines, term.Of(term.Attention, "   "+text))
	if r, ok := s.env.Log.Row(s.id); ok {
		lines = append(lines, term.Line{}, term.Of(term.Plain, fmt.Sprintf("   kept: %s  %s  %s  %s ms", session.Name(&r), r.Outcome, session.ServedBy(&r), term.Millis(r.Took))))
	}
	return lines
}

// headline is the story, and who answered, who was asked, and who decided.
func (s *Steps) headline() term.Lines {
	if s.trace == nil {
		return nil
	}
	// The story takes the lines that it needs; the steps give way.
	story := widget.Fact{Label: "STORY", Text: traces.Story(s.trace), Style: session.StyleOf(s.trace.Outcome)}
	lines := story.Lines(1, 9, s.width, max(s.height/5, 2))
	h := traces.HeadlineOf(s.trace)
	var l term.Line
	put := func(label, text string) {
		if text == "" {
			return
		}
		l.Space(1)
		l.Put(term.Quiet, label)
		l.Space(1)
		l.Put(term.Plain, text)
		l.Space(2)
	}
	put("ANSWERED", h.Answered)
	if s.width >= screen.Wide || h.NotAsked == "" {
		put("ASKED", h.Asked)
	}
	put("NOT ASKED", h.NotAsked)
	if s.width >= screen.Wide {
		put("DECIDED", h.Decided)
	}
	return append(lines, l)
}

// scale is the time above the bars: at the left the beginning, at the right
// the end.
func (s *Steps) scale(cells int) term.Line {
	var l term.Line
	l.Put(term.Quiet, "0")
	l.Right(term.Quiet, term.Clean(session.Took(s.trace.Elapsed())), cells-1)
	return l
}

// cells are the texts of a row.
func cells(t *traces.Trace, l *line) (step, answer, because, took string) {
	switch {
	case l.choice != nil:
		return l.status, sentence(l.slot, l.choice), "", ""
	case l.span != nil:
		because := l.span.Because.Words()
		answer := l.span.Answer
		if l.span.Err != "" {
			answer = strings.TrimSpace(answer + " " + l.span.Err)
		}
		if brief := brief(l.span); brief != "" {
			answer += ", " + brief
		}
		return l.span.Name, answer, because, term.Millis(l.span.Took)
	}
	return Label(t, l.step), Answer(t, l.step), Because(t, l.step), Took(t.Steps[l.step])
}

// brief returns how much a command printed, which its answer does not.
func brief(s *traces.Span) string {
	for _, a := range s.Attrs {
		if a.Key == "stdout" && !strings.Contains(s.Answer, "stdout") {
			return "stdout " + strings.Replace(a.Value, " bytes", " B", 1)
		}
	}
	return ""
}

// cells are the texts of a row; of a step that has not happened yet, what the
// plan has.
func (s *Steps) cells(l *line) (step, answer, because, took string) {
	if st := s.hold.stay; st != nil && l.span == nil && l.choice == nil && st.planned(l.step) {
		answer, because = st.foresee(l.step)
		return Label(s.trace, l.step), answer, because, "?"
	}
	return cells(s.trace, l)
}

// shortNumber is the number of a row, or its last part where there is no room for all: of
// a deep row the parts before that are those of the row above it.
func shortNumber(number string) string {
	if len(number) < numberCells {
		return number
	}
	return number[max(strings.LastIndexByte(number, '.'), len(number)-numberCells+1):]
}

func (s *Steps) row(l *line, r *widget.Row, bars int) {
	g, style := &s.env.Theme.Glyphs, s.style(l)
	r.To(1)
	r.Put(style, s.mark(l))
	switch {
	case !l.kids:
		r.Space(1)
	case l.open:
		r.Put(term.Plain, g.Open)
	default:
		r.Put(term.Plain, g.Closed)
	}
	r.Space(1)
	step, answer, because, took := s.cells(l)
	indent := indent(l)
	r.Cell(term.Quiet, term.Clean(shortNumber(l.number)), numberCells-1)
	r.Space(1 + indent)
	r.Cell(style, term.Clean(step), max(r.Widths[0]-numberCells-indent, 1))
	r.Space(1)
	r.Skip()
	switch { // a choice is a sentence; a span without a reason leaves room for its answer
	case l.choice != nil:
		r.Span(3, style, answer)
	case l.span != nil && because == "":
		r.Span(2, style, answer)
		r.Next(style, took)
	default:
		r.Next(style, answer)
		r.Next(style, because)
		r.Next(style, took)
	}
	if bars > 0 {
		r.Put(term.Edge, g.Border.Left)
		r.Append(s.bar(l, bars-2))
	}
}

func (s *Steps) style(l *line) term.Style {
	switch {
	case l.choice != nil && l.status == "wins":
		return term.Plain
	case l.choice != nil:
		return term.Quiet
	case l.span != nil && l.span.Err != "":
		return term.Failed
	case l.span != nil:
		return term.Plain
	}
	if st := s.hold.stay; st != nil && st.planned(l.step) {
		if l.step == st.State.Point.Step {
			return term.Touched
		}
		return term.Quiet
	}
	return StyleOf(s.trace, l.step)
}

func (s *Steps) mark(l *line) string {
	switch {
	case s.hold.stay != nil && l.span == nil && l.choice == nil && s.hold.stay.planned(l.step):
		if l.step == s.hold.stay.State.Point.Step {
			return "|"
		}
		return s.env.Theme.Glyphs.Planned
	case l.choice != nil:
		return " "
	case l.span != nil && (l.span.Err != "" || refused(l.span)):
		return s.env.Theme.Glyphs.Wrong
	case l.span != nil:
		return s.env.Theme.Glyphs.Happened
	}
	return Mark(s.trace, l.step, &s.env.Theme.Glyphs)
}

// refused reports whether a server answered that it failed, or would not do it. That it
// has not what was asked for is an answer.
func refused(span *traces.Span) bool {
	x, ok := span.HTTP()
	return ok && x.Status >= http.StatusBadRequest && x.Status != http.StatusNotFound
}

// bar shows when a row happened: own time, and time spent outside of this
// process.
func (s *Steps) bar(l *line, cells int) term.Line {
	var out term.Line
	at, took, outside := s.when(l)
	whole := s.trace.Elapsed()
	if whole <= 0 || took <= 0 || cells <= 0 {
		return out
	}
	g := &s.env.Theme.Glyphs
	begin := min(scaleTo(at, whole, cells), cells-1)
	n := min(max(scaleTo(took, whole, cells), 1), cells-begin)
	sign := g.Own
	switch {
	case took < time.Millisecond:
		sign, n = g.Instant, 1
	case outside:
		sign = g.Outside
	}
	out.Space(begin)
	out.Put(s.style(l), strings.Repeat(sign, n))
	return out
}

func (s *Steps) when(l *line) (at, took time.Duration, outside bool) {
	switch {
	case l.choice != nil:
		return 0, 0, false
	case l.span != nil:
		return l.span.At, l.span.Took, l.span.Kind == traces.Network || l.span.Kind == traces.Exec
	}
	q := s.trace.Steps[l.step]
	return q.At, q.Took, false
}

// scaleTo is how many cells a time takes. Recordings are written by others, too:
// a time may be negative.
func scaleTo(d, whole time.Duration, cells int) int {
	return max(int(float64(d)/float64(whole)*float64(cells)), 0)
}

// detail is what is known about the row in focus, then what might have been,
// then where to go from here.
func (s *Steps) detail(width, height int) term.Lines {
	l := s.focus()
	if l == nil {
		return nil
	}
	var ifs term.Lines
	if height >= 9 {
		for i, text := range whatIf(s.trace) {
			var line term.Line
			line.Space(1)
			if i == 0 {
				line.Put(term.Quiet, "WHAT IF")
			}
			line.To(10)
			line.Put(term.Plain, text)
			ifs = append(ifs, line)
		}
		ifs = ifs[:min(len(ifs), height-6)]
	}
	lines := render(s.facts(l), width, height-len(ifs))
	if len(lines) < height-len(ifs) && len(ifs) > 0 {
		lines = append(lines, term.Line{})
	}
	lines = append(lines, ifs...)
	return append(lines, s.below(height-len(lines))...)
}

// Foot is where to go from here.
func (s *Steps) Foot() term.Line {
	if s.trace == nil || s.hold.stay != nil {
		return term.Line{}
	}
	return s.request().LinkLine(s.Scope())
}

package compare

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/traces/tree"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

func (c *Comparison) Context() (left, right term.Line) {
	left.Put(term.Bold, fmt.Sprintf("Compare  %s : %s", c.report.A.Name, c.report.B.Name))
	return left, counts(c.report, c.env)
}

// counts are what a report has found, and how many rules it ignores.
func counts(r *diff.Report, env *session.Env) term.Line {
	var l term.Line
	l.Put(term.Plain, term.Plural(r.Differences, "difference"))
	if r.Unknown > 0 {
		l.Put(term.Attention, fmt.Sprintf(", %d masked on both sides", r.Unknown))
	}
	if len(env.Ignored) > 0 {
		l.Put(term.Attention, ", ignored "+term.Plural(len(env.Ignored), "rule"))
	}
	l.Space(1)
	return l
}

func (c *Comparison) View() term.Lines {
	lines := c.head()
	var body term.Lines
	switch {
	case c.tab == ofSteps:
		body = c.stepLines()
	case c.tab == ofHeaders:
		body = c.headerLines()
	case c.tab == ofTiming:
		body = c.timeLines()
	case c.report.Values == nil:
		body = term.Lines{{}, term.Of(term.Attention, "   "+c.report.Note), term.Of(term.Plain, "   tab shows the steps")}
	case c.report.Equal && c.report.Unknown == 0:
		body = c.equal()
	default:
		body = c.list.Lines(c.env.Theme, c.width, func(i int, r *widget.Row) {
			if c.shown[i] < 0 {
				c.fromRow(c.line(i), r)
				return
			}
			c.row(c.line(i), r)
		})
	}
	lines = append(lines, body.Fill(c.width, max(c.height-compareHead-c.foots(), 0))...)
	return append(lines, c.foot().Fill(c.width, c.foots())...)
}

// equal is shown when nothing differs.
func (c *Comparison) equal() term.Lines {
	text := "   Equal: 0 differences, " + term.Plural(c.report.Ignored, "place") + " ignored."
	if !c.asked() {
		return term.Lines{{}, term.Of(term.Plain, text)}
	}
	more := "   Equal answers may be equally wrong: who decided stands below, and tab shows the steps."
	if c.report.A.Decided != c.report.B.Decided {
		more = "   Provenance differs, see below; tab shows the steps."
	}
	return term.Lines{{}, term.Of(term.Plain, text), term.Of(term.Quiet, more)}
}

// head introduces the two sides, and the ways to look at them.
func (c *Comparison) head() term.Lines {
	a, b := c.sideLine("A", &c.report.A), c.sideLine("B", &c.report.B)
	return term.Lines{a, b, c.tabLine(), c.env.Theme.HRule(c.width)}
}

func (c *Comparison) sideLine(name string, s *diff.Side) term.Line {
	var l term.Line
	l.Put(term.Bold, " "+name+" ")
	if !c.asked() {
		l.Put(term.Plain, s.Name)
		return l
	}
	l.Put(term.Plain, fmt.Sprintf("%s %s %s %s  ", s.Name, s.Verb, s.Indirection, s.Key))
	switch s.Served {
	case traces.ByCache.String():
		l.Put(term.Cached, "C "+s.Cache+"  ")
	case traces.ByTerminus.String():
		l.Put(term.Plain, "T "+s.Terminus+"  ")
	}
	l.Put(outcomeOf(s), s.Outcome)
	l.Put(term.Plain, "  "+session.Took(s.Took)+"  env "+s.Environment)
	if s.Recording != "" && c.sides.apart() {
		l.Put(term.Quiet, "  "+s.Recording)
	}
	return l
}

func (c *Comparison) tabLine() term.Line {
	steps := 0
	for _, s := range c.report.Steps {
		if !s.Same {
			steps++
		}
	}
	headers := 0
	for i := range c.report.Headers {
		if !c.report.Headers[i].Same() {
			headers++
		}
	}
	text := "keys sorted, resources by name "
	switch {
	case c.tab == ofHeaders:
		text = "masked, in the order of exchanges "
	case c.tab != ofValue:
		text = ""
	case c.only:
		text = "only differences "
	}
	if v := c.report.Values; c.tab == ofValue && v != nil && v.Cut {
		text = fmt.Sprintf("the first %s lines ", term.Grouped(diff.MaxLines))
	}
	if !c.asked() {
		return widget.Tabs([]string{fmt.Sprintf("Value %d", len(c.report.Changes))}, 0, c.width, term.Of(term.Quiet, text))
	}
	names := []string{fmt.Sprintf("Value %d", len(c.report.Changes)), fmt.Sprintf("Steps %d", steps), fmt.Sprintf("Headers %d", headers), "Timing"}
	return widget.Tabs(names, c.tab, c.width, term.Of(term.Quiet, text))
}

// label puts what a line is called into its row.
func (c *Comparison) label(depth int, text string, l *widget.Row) {
	l.To(2 + 2*min(max(depth-1, 0), 12))
	label := max(c.width/4, 16)
	l.Cell(term.Plain, term.CleanTo(text, c.width), max(label-l.Width(), 8))
	l.Space(1)
}

// fromRow shows where both sides of the line below it are from. Of a place its end is
// shown, which has the file and the line.
func (c *Comparison) fromRow(ch *diff.Line, l *widget.Row) {
	c.label(ch.Depth, "", l)
	both := c.from[ch.Path]
	if c.unified {
		room := max(c.width-l.Width()-3, 1)
		l.Cell(term.Quiet, term.Clean(cmp.Or(both[0], "-")+" -> "+cmp.Or(both[1], "-")).CutMiddle(room), room)
		return
	}
	half := (c.width - l.Width() - 6) / 2
	l.Cell(term.Quiet, term.Clean(both[0]).CutMiddle(half-1), half)
	l.Put(term.Edge, c.env.Theme.Glyphs.Border.Left+" ")
	l.Cell(term.Quiet, term.Clean(both[1]).CutMiddle(half), half)
}

func (c *Comparison) row(ch *diff.Line, l *widget.Row) {
	c.label(ch.Depth, ch.Label, l)
	style := term.Plain
	if ch.Kind.Differs() {
		style = term.Attention
	}
	if c.unified {
		c.unite(l, ch, style)
	} else {
		half := (c.width - l.Width() - 6) / 2
		l.Cell(style, term.CleanTo(brief(ch.A), half), half)
		l.Put(term.Edge, c.env.Theme.Glyphs.Border.Left+" ")
		right := brief(ch.B)
		if ch.Kind == diff.Same {
			style, right = term.Quiet, "same"
		}
		l.Cell(style, term.CleanTo(right, half), half)
	}
	if ch.Kind.Differs() {
		l.To(c.width - 2)
		l.Put(style, string(rune(ch.Kind)))
	}
}

// unite puts both sides into one text.
func (c *Comparison) unite(l *widget.Row, ch *diff.Line, style term.Style) {
	room := max(c.width-l.Width()-3, 1)
	text := brief(ch.A)
	switch ch.Kind {
	case diff.Added:
		text = brief(ch.B)
	case diff.Changed, diff.Unknown:
		text += " -> " + brief(ch.B)
	case diff.Same:
		style = term.Quiet
	}
	l.Cell(style, term.CleanTo(text, room), room)
}

// brief is one side of a line.
func brief(n *tree.Node) string {
	if n == nil {
		return "-"
	}
	return n.Summary()
}

// stepColumns are those of the steps of both sides.
func stepColumns(width int) []widget.Column {
	half := max((width-14-16)/2, 8)
	return []widget.Column{{Title: "STEP", Min: 13}, {Title: "A", Min: half}, {Title: "B", Min: half}, {Title: "delta ms", Min: 11, Right: true}}
}

func (c *Comparison) stepLines() term.Lines {
	return c.below[ofSteps].Lines(c.env.Theme, c.width, func(i int, r *widget.Row) {
		s := &c.report.Steps[i]
		style, delta := term.Plain, ""
		if !s.Same {
			style = term.Attention
		}
		if s.A.Took > 0 || s.B.Took > 0 {
			delta = signed(s.B.Took - s.A.Took)
		}
		r.Next(term.Plain, s.Step)
		r.Next(style, s.A.String())
		r.Next(style, s.B.String())
		r.Next(term.Plain, delta)
	})
}

// headerCells are the width of a name and of each side.
func headerCells(width int) (label, half int) {
	label = max(width/4, 18)
	return label, max((width-label-6)/2, 8)
}

// headerColumns are the titles of what went over HTTP. A wall is between
// the sides, so the rows put their cells themselves.
func headerColumns(width int) []widget.Column {
	label, half := headerCells(width)
	return []widget.Column{{Title: "HEADER", Min: label - 1}, {Title: "A", Min: half + 1}, {Title: "B", Min: half}}
}

func (c *Comparison) headerLines() term.Lines {
	if len(c.report.Headers) == 0 {
		return term.Lines{{}, term.Of(term.Plain, "   Neither side went over HTTP, or nothing of that was recorded.")}
	}
	label, half := headerCells(c.width)
	return c.below[ofHeaders].Lines(c.env.Theme, c.width, func(i int, r *widget.Row) {
		h := &c.report.Headers[i]
		style, right, sign := term.Attention, h.B, "~"
		switch {
		case h.Same():
			style, right, sign = term.Plain, "same", ""
		case h.A == "":
			sign = "+"
		case h.B == "":
			sign = "-"
		}
		if h.Name == "request" {
			style |= term.Bold
		}
		r.Space(1)
		r.Cell(style, term.CleanTo(h.Name, label), label)
		r.Cell(style, term.CleanTo(cmp.Or(h.A, "-"), half), half)
		r.Put(term.Edge, c.env.Theme.Glyphs.Border.Left+" ")
		if h.Same() {
			style = term.Quiet
		}
		r.Cell(style, term.CleanTo(cmp.Or(right, "-"), half), half)
		r.To(c.width - 2)
		r.Put(style, sign)
	})
}

// timeColumns are those of how long it took.
func timeColumns(width int) []widget.Column {
	columns := []widget.Column{{Title: "WHAT", Min: max(width-39, 20)}}
	for _, title := range []string{"A ms", "B ms", "delta ms"} {
		columns = append(columns, widget.Column{Title: title, Min: 11, Right: true})
	}
	return columns
}

func (c *Comparison) timeLines() term.Lines {
	return c.below[ofTiming].Lines(c.env.Theme, c.width, func(i int, r *widget.Row) {
		t := &c.report.Timing[i]
		r.Next(term.Plain, strings.Repeat("  ", t.Depth)+t.Name)
		if t.A < 0 && t.B < 0 {
			return
		}
		delta := ""
		if t.A >= 0 && t.B >= 0 {
			delta = signed(t.B - t.A)
		}
		r.Next(term.Plain, millis(t.A))
		r.Next(term.Plain, millis(t.B))
		r.Next(term.Plain, delta)
	})
}

func millis(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	return term.Millis(d)
}

func signed(d time.Duration) string {
	if d < 0 {
		return "-" + term.Millis(-d)
	}
	return "+" + term.Millis(d)
}

// foot shows what the signs mean and who decided on each side: two equally wrong
// sides look equal.
func (c *Comparison) foot() term.Lines {
	lines := term.Lines{c.env.Theme.HRule(c.width)}
	var where term.Line
	if l := c.focus(); l != nil {
		where.Put(term.Quiet, " "+l.Path)
	}
	signs := term.Of(term.Quiet, "+ only B   - only A   ~ differs ")
	where = where.Cut(max(c.width-signs.Width()-1, 0))
	where.To(c.width - signs.Width())
	where.Append(signs)
	lines = append(lines, where)
	if !c.asked() {
		return lines
	}
	lines = append(lines,
		term.Of(term.Plain, " provenance A: "+c.report.A.Decided),
		term.Of(term.Plain, " provenance B: "+c.report.B.Decided),
	)
	if c.report.A.Redacted+c.report.B.Redacted > 0 {
		text := " The same masked tag means the same secret, but for one pair in 65 536."
		if c.sides.apart() {
			text = " The sides are of two recordings: their masked tags cannot be compared (?)."
		}
		lines = append(lines, term.Line{}, term.Of(term.Quiet, text))
	}
	return lines
}

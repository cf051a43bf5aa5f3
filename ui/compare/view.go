package compare

import (
	"fmt"
	"time"

	"indirtui/traces"
	"indirtui/traces/diff"
	"indirtui/traces/tree"
	"indirtui/ui/screen"
)

// Context implements screen.Screen.
func (c *Comparison) Context() (left, right screen.Line) {
	left.Put(screen.Bold, fmt.Sprintf(" compare %s : %s", c.report.A.Name, c.report.B.Name))
	return left, counts(c.report, c.env)
}

// counts is what a report has found, and what it was told not to see.
func counts(r *diff.Report, env *screen.Env) screen.Line {
	var l screen.Line
	l.Put(screen.Plain, screen.Plural(r.Differences, "difference"))
	if r.Unknown > 0 {
		l.Put(screen.Attention, fmt.Sprintf(", %d masked on both sides", r.Unknown))
	}
	if len(env.Ignored) > 0 {
		l.Put(screen.Attention, ", ignored "+screen.Plural(len(env.Ignored), "rule"))
	}
	l.Space(1)
	return l
}

// View implements screen.Screen.
func (c *Comparison) View() screen.Lines {
	lines := c.head()
	var body screen.Lines
	switch {
	case c.tab == ofSteps:
		body = c.stepLines()
	case c.tab == ofHeaders:
		body = c.headerLines()
	case c.tab == ofTiming:
		body = c.timeLines()
	case c.report.Values == nil:
		body = screen.Lines{{}, screen.Of(screen.Attention, "   "+c.report.Note), screen.Of(screen.Plain, "   tab shows the steps")}
	case c.report.Equal && c.report.Unknown == 0:
		body = c.equal()
	default:
		from, to := c.list.Visible()
		for i := from; i < to; i++ {
			body = append(body, c.row(i))
		}
	}
	lines = append(lines, body.Fill(c.width, max(c.height-compareHead-c.foots(), 0))...)
	return append(lines, c.foot().Fill(c.width, c.foots())...)
}

// equal is what is said when nothing differs.
func (c *Comparison) equal() screen.Lines {
	text := "   Equal: 0 differences, " + screen.Plural(c.report.Ignored, "place") + " ignored."
	more := "   Equal answers may be equally wrong: who decided stands below, and tab shows the steps."
	if c.report.A.Decided != c.report.B.Decided {
		more = "   Provenance differs, see below; tab shows the steps."
	}
	return screen.Lines{{}, screen.Of(screen.Plain, text), screen.Of(screen.Quiet, more)}
}

// head introduces the two sides, and the ways to look at them.
func (c *Comparison) head() screen.Lines {
	a, b := c.who("A", &c.report.A), c.who("B", &c.report.B)
	return screen.Lines{a, b, c.tabLine(), c.env.Theme.HRule(c.width)}
}

func (c *Comparison) who(name string, s *diff.Side) screen.Line {
	var l screen.Line
	l.Put(screen.Bold, " "+name+" ")
	l.Put(screen.Plain, fmt.Sprintf("%s %s %s %s  ", s.Name, s.Verb, s.Indirection, s.Key))
	switch s.Served {
	case traces.ByCache.String():
		l.Put(screen.Cached, "C "+s.Cache+"  ")
	case traces.ByTerminus.String():
		l.Put(screen.Plain, "T "+s.Terminus+"  ")
	}
	l.Put(outcomeOf(s), s.Outcome)
	l.Put(screen.Plain, "  "+screen.Took(s.Took)+"  env "+s.Environment)
	if s.Recording != "" && c.a.Log != c.b.Log {
		l.Put(screen.Quiet, "  "+s.Recording)
	}
	return l
}

func (c *Comparison) tabLine() screen.Line {
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
	var l screen.Line
	l.Space(1)
	for i, name := range []string{fmt.Sprintf("Value %d", len(c.report.Changes)), fmt.Sprintf("Steps %d", steps), fmt.Sprintf("Headers %d", headers), "Timing"} {
		if i == c.tab {
			l.Put(screen.Bold, "["+name+"]")
		} else {
			l.Put(screen.Quiet, " "+name+" ")
		}
		l.Space(1)
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
		text = fmt.Sprintf("the first %s lines ", screen.Grouped(diff.MaxLines))
	}
	right := screen.Of(screen.Quiet, text)
	l.To(c.width - right.Width())
	l.Append(right)
	return l
}

func (c *Comparison) row(i int) screen.Line {
	ch, g := &c.lines()[c.shown[i]], &c.env.Theme.Glyphs
	var l screen.Line
	cursor := i == c.list.Cursor
	if cursor {
		l.Put(screen.Bold, g.Cursor)
	}
	l.To(2 + 2*min(max(ch.Depth-1, 0), 12))
	label := max(c.width/4, 16)
	l.Cell(screen.Plain, screen.CleanTo(ch.Label, c.width), max(label-l.Width(), 8))
	l.Space(1)
	style := screen.Plain
	if ch.Kind.Differs() {
		style = screen.Attention
	}
	if c.unified {
		l = c.unite(l, ch, style)
	} else {
		half := (c.width - l.Width() - 6) / 2
		l.Cell(style, screen.CleanTo(brief(ch.A), half), half)
		l.Put(screen.Quiet, g.Wall+" ")
		right := brief(ch.B)
		if ch.Kind == diff.Same {
			style, right = screen.Quiet, "same"
		}
		l.Cell(style, screen.CleanTo(right, half), half)
	}
	if ch.Kind.Differs() {
		l.To(c.width - 2)
		l.Put(style, string(rune(ch.Kind)))
	}
	if cursor {
		l = l.With(screen.Bold)
	}
	return l
}

// unite puts both sides into one text.
func (c *Comparison) unite(l screen.Line, ch *diff.Line, style screen.Style) screen.Line {
	room := max(c.width-l.Width()-3, 1)
	text := brief(ch.A)
	switch ch.Kind {
	case diff.Added:
		text = brief(ch.B)
	case diff.Changed, diff.Unknown:
		text += " -> " + brief(ch.B)
	case diff.Same:
		style = screen.Quiet
	}
	l.Cell(style, screen.CleanTo(text, room), room)
	return l
}

// brief is one side of a line.
func brief(n *tree.Node) string {
	if n == nil {
		return "-"
	}
	return n.Summary()
}

// stepLines is the steps of both side by side.
func (c *Comparison) stepLines() screen.Lines {
	label, half := 14, max((c.width-14-16)/2, 8)
	var l screen.Line
	l.Space(1)
	l.Cell(screen.Quiet, screen.Clean("STEP"), label)
	l.Cell(screen.Quiet, screen.Clean("A"), half)
	l.Space(1)
	l.Cell(screen.Quiet, screen.Clean("B"), half)
	l.Right(screen.Quiet, screen.Clean("delta ms"), 12)
	lines := screen.Lines{l}
	from, to := c.below[ofSteps].Visible()
	for _, s := range c.report.Steps[from:to] {
		style := screen.Plain
		if !s.Same {
			style = screen.Attention
		}
		var l screen.Line
		l.Space(1)
		l.Cell(screen.Plain, screen.Clean(s.Step), label)
		l.Cell(style, screen.CleanTo(s.A.String(), half), half)
		l.Space(1)
		l.Cell(style, screen.CleanTo(s.B.String(), half), half)
		delta := ""
		if s.A.Took > 0 || s.B.Took > 0 {
			delta = signed(s.B.Took - s.A.Took)
		}
		l.Right(screen.Plain, screen.Clean(delta), 12)
		lines = append(lines, l)
	}
	return lines
}

// headerLines is what was said over HTTP, side by side.
func (c *Comparison) headerLines() screen.Lines {
	if len(c.report.Headers) == 0 {
		return screen.Lines{{}, screen.Of(screen.Plain, "   Neither side went over HTTP, or nothing of that was recorded.")}
	}
	label := max(c.width/4, 18)
	half := max((c.width-label-6)/2, 8)
	lines := screen.Lines{c.columns("HEADER", label, half)}
	from, to := c.below[ofHeaders].Visible()
	for i := from; i < to; i++ {
		h := &c.report.Headers[i]
		style, sign := screen.Plain, ""
		if !h.Same() {
			style, sign = screen.Attention, "~"
		}
		right := h.B
		switch {
		case h.Same():
			right = "same"
		case h.A == "":
			sign = "+"
		case h.B == "":
			sign = "-"
		}
		var l screen.Line
		l.Space(1)
		if h.Name == "request" {
			style |= screen.Bold
		}
		l.Cell(style, screen.CleanTo(h.Name, label), label)
		l.Cell(style, screen.CleanTo(orDash(h.A), half), half)
		l.Put(screen.Quiet, c.env.Theme.Glyphs.Wall+" ")
		if h.Same() {
			style = screen.Quiet
		}
		l.Cell(style, screen.CleanTo(orDash(right), half), half)
		l.To(c.width - 2)
		l.Put(style, sign)
		lines = append(lines, l)
	}
	return lines
}

func (c *Comparison) columns(name string, label, half int) screen.Line {
	var l screen.Line
	l.Space(1)
	l.Cell(screen.Quiet, screen.Clean(name), label)
	l.Cell(screen.Quiet, screen.Clean("A"), half)
	l.Space(2)
	l.Cell(screen.Quiet, screen.Clean("B"), half)
	return l
}

func orDash(s string) string {
	if s == "" {
		return "-"
	}
	return s
}

// timeLines is how long it took, side by side.
func (c *Comparison) timeLines() screen.Lines {
	const cell = 12
	label := max(c.width-3*cell-3, 20)
	var l screen.Line
	l.Space(1)
	l.Cell(screen.Quiet, screen.Clean("WHAT"), label)
	for _, title := range []string{"A ms", "B ms", "delta ms"} {
		l.Right(screen.Quiet, screen.Clean(title), cell)
	}
	lines := screen.Lines{l}
	from, to := c.below[ofTiming].Visible()
	for _, t := range c.report.Timing[from:to] {
		var l screen.Line
		l.Space(1 + 2*t.Depth)
		l.Cell(screen.Plain, screen.CleanTo(t.Name, label-2*t.Depth), label-2*t.Depth)
		if t.A >= 0 || t.B >= 0 {
			delta := ""
			if t.A >= 0 && t.B >= 0 {
				delta = signed(t.B - t.A)
			}
			for _, text := range []string{millis(t.A), millis(t.B), delta} {
				l.Right(screen.Plain, screen.Clean(text), cell)
			}
		}
		lines = append(lines, l)
	}
	return lines
}

func millis(d time.Duration) string {
	if d < 0 {
		return "-"
	}
	return screen.Millis(d)
}

func signed(d time.Duration) string {
	if d < 0 {
		return "-" + screen.Millis(-d)
	}
	return "+" + screen.Millis(d)
}

// foot says what the signs mean and who decided on each side: two equally wrong
// sides look equal.
func (c *Comparison) foot() screen.Lines {
	lines := screen.Lines{c.env.Theme.HRule(c.width)}
	var where screen.Line
	if l := c.focus(); l != nil {
		where.Put(screen.Quiet, " "+l.Path)
	}
	signs := screen.Of(screen.Quiet, "+ only B   - only A   ~ differs ")
	where = where.Cut(max(c.width-signs.Width()-1, 0))
	where.To(c.width - signs.Width())
	where.Append(signs)
	lines = append(lines, where)
	lines = append(lines,
		screen.Of(screen.Plain, " provenance A: "+c.report.A.Decided),
		screen.Of(screen.Plain, " provenance B: "+c.report.B.Decided),
	)
	if c.report.A.Masked+c.report.B.Masked > 0 {
		text := " The same masked tag means the same secret, but for one pair in 65 536."
		if c.a.Log != c.b.Log {
			text = " The sides are of two recordings: their masked tags cannot be compared (?)."
		}
		lines = append(lines, screen.Line{}, screen.Of(screen.Quiet, text))
	}
	return lines
}

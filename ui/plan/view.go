package plan

import (
	"regexp"
	"strconv"
	"strings"

	"indirtui/indirector/resource/transaction"
	"indirtui/ui/session"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// head is the lines above the table: the totals.
const head = 2

var columns = []widget.Column{
	{Title: "OUTCOME", Min: 8, Priority: 9},
	{Title: "RESOURCE", Min: 16, Priority: 8},
	{Title: "WHAT AND WHY", Min: 20, Priority: 7, Grow: 1},
	{Title: "DECLARED", Min: 8, Priority: 3},
}

// words are outcomes as they are shown, and how.
var words = map[transaction.Outcome]struct {
	text, sentence string
	style          term.Style
}{
	transaction.Same:          {"same", "is in sync", term.Quiet},
	transaction.WouldChange:   {"change", "would be changed", term.Touched},
	transaction.WouldRefresh:  {"refresh", "would be refreshed", term.Touched},
	transaction.WouldSkip:     {"skip", "would be skipped", term.Quiet},
	transaction.WouldFail:     {"fail", "would fail", term.Failed},
	transaction.CannotBeKnown: {"unknown", "cannot be known", term.Attention},
}

func (s *Screen) Context() (left, right term.Line) {
	left.Put(term.Bold, s.title)
	if s.filter != "" {
		left.Space(2)
		left.Add(term.Accent|term.Bold, term.Clean(s.filter).Cut(max(s.width/3, 8)))
	}
	switch {
	case s.makes():
		s.wait.Put(&right, term.Touched, "planning")
		right.Put(term.Quiet, "  esc cancels ")
	case s.applying:
		s.wait.Put(&right, term.Touched, "applying")
		right.Put(term.Quiet, map[bool]string{false: "  esc stops it before the next resource ", true: "  ends after this resource "}[s.stop.Load()])
	case s.err == nil:
		right.Put(term.Quiet, term.Grouped(int64(len(s.shown)))+" of "+term.Plural(len(s.result.Plan.Resources), "resource")+" ")
	}
	return left, right
}

func (s *Screen) View() term.Lines {
	switch {
	case s.makes():
		return widget.Waiting(&s.wait, "looking at this machine; nothing is changed")
	case s.err != nil:
		lines := term.Lines{{}}
		for _, t := range term.Clean(s.env.Redacted(s.err.Error())).Wrap(max(s.width-6, 8), s.height) {
			l := term.Of(term.Plain, "   ")
			l.Add(term.Failed, t)
			lines = append(lines, l)
		}
		return lines
	}
	lines := s.totals()
	if len(s.shown) == 0 {
		text := "   This catalog has no resources that are applied."
		if s.filter != "" {
			text = "   No resource matches.  esc clears the filter"
		}
		return append(lines, term.Of(term.Plain, text))
	}
	lines = append(lines, s.list.Lines(s.env.Theme, s.width, s.row)...)
	return append(lines.Fill(s.width, s.height-s.below()), s.detail()...)
}

// totals is the plan in one sentence, and what Puppet would log of problems.
func (s *Screen) totals() term.Lines {
	p := s.result.Plan
	l := term.Of(term.Bold, " "+p.Totals.String())
	if len(p.Logs) > 0 {
		l.Put(term.Quiet, "   "+term.Plural(len(p.Logs), "line")+" of log")
	}
	return term.Lines{l, s.env.Theme.HRule(s.width)}
}

func (s *Screen) row(i int, r *widget.Row) {
	n := s.shown[i]
	w := words[n.Outcome]
	r.Next(w.style, w.text)
	r.Next(term.Plain, n.Resource)
	r.Next(w.style&^term.Failed, s.env.Redacted(brief(n)))
	r.Next(term.Quiet, end(place(n.File, n.Line), r.Widths[3]))
}

// brief is the row of a resource in a few words.
func brief(n *transaction.Planned) string {
	var names []string
	for _, c := range n.Changes {
		names = append(names, c.Property)
	}
	text := strings.Join(names, ", ")
	if len(names) > 0 {
		text += map[bool]string{true: " differs", false: " differ"}[len(names) == 1]
	}
	if len(n.Changes) == 1 && n.Changes[0].Property != "content" {
		text = n.Changes[0].Property + " " + shortSums(n.Changes[0].String())
	}
	if len(n.RefreshedBy) > 0 {
		if text != "" {
			text += "; "
		}
		text += "refreshed by " + strings.Join(n.RefreshedBy, ", ")
	}
	if text == "" {
		text = n.Why()
	}
	return text
}

var sums = regexp.MustCompile(`(\{\w+\}[0-9a-f]{8})[0-9a-f]{24,}`)

// shortSums is a text with the beginnings of checksums.
func shortSums(text string) string { return sums.ReplaceAllString(text, "$1…") }

// place is where a resource is declared: "web.pp:4".
func place(file string, line int64) string {
	if file == "" || line == 0 {
		return file
	}
	return file + ":" + strconv.FormatInt(line, 10)
}

// end is the end of a place, which has the file and the line.
func end(text string, cells int) string {
	t := term.Clean(text)
	if t.Width() <= cells || cells < 2 {
		return text
	}
	return "…" + t.Skip(t.Width()-cells+1).String()
}

// below is the lines of the detail.
func (s *Screen) below() int {
	return max(min(12, s.height-head-1-len(s.shown)), min(7, s.height/3), 3)
}

// detail is all that there is to read of the resource under the cursor.
func (s *Screen) detail() term.Lines {
	lines := term.Lines{s.env.Theme.HRule(s.width)}
	if n := s.focus(); n != nil {
		at := term.Clean(place(n.File, n.Line))
		title := term.Title{Left: term.Of(term.Bold, term.CleanTo(n.Resource, max(s.width-at.Width()-8, 8)).String())}
		title.Right.Add(term.Quiet, at)
		lines = term.Lines{s.env.Theme.Titled(s.width, title)}
		for _, r := range rowsOf(s.env, n) {
			lines = append(lines, r.lines(s.width)...)
		}
	}
	return lines.Fill(s.width, s.below())
}

// rowsOf are what is known of a resource without its relations.
func rowsOf(env *session.Env, n *transaction.Planned) []row {
	w := words[n.Outcome]
	rows := []row{{style: w.style, label: "outcome", text: env.Redacted(sentence(n))}}
	for _, c := range n.Changes {
		rows = append(rows, row{label: c.Property, text: shortSums(env.RedactedAs(c.Property, c.String()))})
	}
	if len(n.Chain) > 0 {
		rows = append(rows, row{label: "first cause", text: n.Chain[len(n.Chain)-1], to: n.Chain[len(n.Chain)-1]})
	}
	for _, by := range n.RefreshedBy {
		rows = append(rows, row{label: "refreshed by", text: by, to: by})
	}
	if n.Class != "" {
		rows = append(rows, row{style: term.Quiet, label: "class", text: n.Class})
	}
	return rows
}

// sentence is what would become of a resource, and why.
func sentence(n *transaction.Planned) string {
	text := words[n.Outcome].sentence
	if n.Outcome == transaction.WouldChange && len(n.RefreshedBy) > 0 {
		text += " and refreshed"
	}
	if why := n.Why(); why != "" {
		text += ": " + why
	}
	if n.Because != "" {
		text += "  (" + string(n.Because) + ")"
	}
	return text
}

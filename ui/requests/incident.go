package requests

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	tea "github.com/charmbracelet/bubbletea"

	"indirtui/traces"
	"indirtui/traces/query"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/steps"
	"indirtui/ui/term"
	"indirtui/ui/widget"
)

// failureGroupings are what failures can be grouped by.
var failureGroupings = []struct {
	key      rune
	by, note string
}{
	{'s', "", "origin and message: what failed in the same way"},
	{'o', "origin", "where it began"},
	{'m', "message", "what was said, wherever it began"},
	{'k', "key", "the key: for facts, nodes and catalogs that is the node"},
	{'i', "indirection", "what was asked for"},
}

func (f *Failures) askGroup() tea.Cmd {
	var items []widget.Item
	for _, g := range failureGroupings {
		name := cmp.Or(g.by, "origin and message")
		items = append(items, widget.Item{Key: g.key, Name: name, Note: g.note, Do: func() tea.Msg {
			return screen.For{Screen: f, Msg: groupingChosen(g.by)}
		}})
	}
	return screen.Show(widget.NewMenu(&f.env.Shared, "group failures by", items))
}

type groupingChosen string

// mute takes a group off the list, so that it can be undone.
func (f *Failures) mute(shape string) tea.Cmd {
	set := func(on bool) tea.Cmd {
		f.muted[shape], f.done = on, false
		return f.gather()
	}
	command := "mute " + f.focus().wrong
	return tea.Batch(set(true), screen.Changed(command, false, true, set))
}

// like is an expression that means requests which may fail as these did, before
// it is known how they end.
func (f *failure) like() string {
	parts := []string{"verb=" + f.verb.String(), "ind=" + query.Quote(f.ind)}
	if len(f.keys) == 1 {
		parts = append(parts, "key="+query.Quote(f.key))
	}
	return strings.Join(parts, " ")
}

// follow finds what came of the failures: requests that failed because of them,
// and those that were answered with something old after them.
func (f *failure) follow(log session.Log) {
	var stale, broke []uint64
	keys := make(map[string]bool)
	for _, id := range f.members {
		links := log.Links(id)
		if row, ok := log.Row(links.Parent); ok && row.Outcome.Failed() && !slices.Contains(broke, row.ID) {
			broke = append(broke, row.ID)
		}
		for next, n := links.NextInRun, 0; next != 0 && n < 4; n++ {
			row, ok := log.Row(next)
			if !ok {
				break
			}
			if row.Outcome == traces.Stale && row.Indirection == f.ind {
				if !slices.Contains(stale, row.ID) {
					stale = append(stale, row.ID)
					keys[row.Key] = true
				}
				break
			}
			next = log.Links(next).NextInRun
		}
	}
	switch {
	case len(stale) > 0:
		f.after = stale
		runs := " runs"
		if len(keys) > 1 {
			runs = " run"
		}
		f.consequence = term.Plural(len(keys), "node") + runs + " on an old " + f.ind + ": " + ids(stale)
	case len(broke) > 0:
		f.after = broke
		f.consequence = term.Plural(len(broke), "request") + " failed by it: " + ids(broke)
	default:
		f.consequence = f.alone()
	}
}

// alone is what a failure means that no other request shows.
func (f *failure) alone() string {
	switch f.outcome {
	case traces.Stale:
		return "the run looks fine"
	case traces.Part:
		return "one of two copies is missing"
	case traces.NilHidden:
		return "taken for: there is nothing"
	case traces.ErrHidden:
		if f.verb == traces.Save {
			is := " is"
			if f.ind == "facts" {
				is = " are"
			}
			return "the " + f.ind + is + " not stored, and no caller knows"
		}
		if f.instead != "" {
			return f.instead + " was asked instead"
		}
		return "went on without it"
	}
	return "its caller failed"
}

// ids are the newest of some requests: "#1043 #1031".
func ids(list []uint64) string { return listed(list, 3, len(list)) }

// listed are the newest n of some requests, and how many of all there are before
// them.
func listed(list []uint64, n, all int) string {
	var parts []string
	for _, id := range list[max(len(list)-n, 0):] {
		parts = append(parts, fmt.Sprintf("#%d", id))
	}
	text := strings.Join(parts, " ")
	if n := all - len(parts); n > 0 {
		text += fmt.Sprintf(" and %d before", n)
	}
	return text
}

// whereOf is the step, and the work below it, that failed.
func whereOf(t *traces.Trace, fault *traces.Fault) string {
	if len(t.Faults) == 0 {
		return ""
	}
	text := strings.TrimSpace("step " + steps.Number(fault.Step) + " " + steps.Label(t, fault.Step))
	path := fault.Path
	for i := range t.Spans {
		s := &t.Spans[i]
		if s.Step != fault.Step || s.Err == "" {
			continue
		}
		work := s.Name
		if did, to, ok := strings.Cut(work, " "); ok && strings.Contains(to, "/") && strings.HasSuffix(path, to) || strings.HasSuffix(path, "/"+to) {
			work, path = did+" "+path, "" // it is named in full
		}
		text += ", " + work
		if took := term.Millis(s.Took); s.Kind == traces.Network && took != "0" {
			text += " after " + took + " ms"
		}
		break
	}
	if path != "" {
		text += ", " + path
	}
	return text
}

// insteadOf returns the terminus that was asked because a cache could not be read;
// "" if none was.
func insteadOf(t *traces.Trace, fault *traces.Fault) string {
	switch t.Steps[traces.Terminus].Answer {
	case traces.OK, traces.False, traces.Nothing:
		if fault.Step == traces.CacheRead {
			return t.Primary.Winner().Terminus
		}
	}
	return ""
}

// shown returns who saw the failures, and how often.
func (f *failure) shown(t *traces.Trace) string {
	q := t.Steps[traces.Caller]
	who := cmp.Or(t.Caller, "its caller")
	seen := who + often(cmp.Or(f.count-f.hidden, f.count))
	switch {
	case q.Because.Reason == traces.Rescued:
		return seen + "; it catches the error in " + q.Because.About + " and goes on"
	case t.Error != "":
		return seen + ", as an error"
	case t.Outcome.Hidden() && !t.Outcome.HiddenFrom(t.Caller):
		return seen + ", as 404 Not Found"
	case t.Outcome.Hidden():
		return "nobody: " + who + " got an answer as if nothing had happened" + often(f.hidden)
	}
	return ""
}

// often is ", 8 times"; "" for once.
func often(n int) string {
	if n < 2 {
		return ""
	}
	return ", " + term.Plural(n, "time")
}

// facts are what is known of a group. Of its requests only the newest are named, as
// far as the width goes.
func (f *Failures) facts(g *failure, width int) widget.Facts {
	out := widget.Facts{{Label: "what", Text: g.what(), Style: session.StyleOf(g.outcome)}}
	out.Put(term.Attention, "so", g.consequence)
	out.Put(term.Plain, "where", cmp.Or(g.where, g.origin))
	out.Put(term.Plain, "shown to", g.shownTo)
	out.Put(term.Plain, "decided", g.decided)
	out.Put(term.Plain, lastGood, f.before(g))
	out.Put(term.Plain, "requests", g.newest(width))
	return out
}

const lastGood = "last good"

// before is the last good answer, and how long before the newest failure it was.
func (f *Failures) before(g *failure) string {
	if g.good == 0 {
		return ""
	}
	text := fmt.Sprintf("#%d", g.good)
	good, ok := f.env.Log.Row(g.good)
	bad, known := f.env.Log.Row(g.id)
	if ok && known {
		text += ", " + apart(bad.Start.Sub(good.Start)) + " before"
	}
	return text
}

// apart is the time between two requests.
func apart(d time.Duration) string {
	if d = d.Abs(); d >= time.Second {
		return traces.Age(d)
	}
	return "less than a second"
}

// newest are the newest requests of a group that there is room for, and how many
// there are before them.
func (f *failure) newest(width int) string {
	n, used := 1, 0
	for i := 1; i <= len(f.members) && used <= width; i++ {
		used += len("# ") + digits(f.members[len(f.members)-i])
		before := 0
		if i < f.count {
			before = len(" and  before") + digits(uint64(f.count-i))
		}
		if used-1+before <= width {
			n = i
		}
	}
	return listed(f.members, n, f.count)
}

// digits is how many digits a number has.
func digits(n uint64) int { return len(strconv.FormatUint(n, 10)) }

// known are the lines of what is known of a group. Each fact has a line, and those
// that are longer have more while there is room.
func (f *Failures) known(g *failure, height int) term.Lines {
	const indent, at = 2, 12
	facts := f.facts(g, f.width-at-1)
	spare := height - len(facts)
	var lines term.Lines
	for _, fact := range facts {
		one := fact.Lines(indent, at, f.width, 3)
		if more := len(one) - 1; more > max(spare, 0) {
			fact.Text = term.CleanTo(fact.Text, 1000).CutMiddle((f.width - at - 1) * (1 + max(spare, 0))).String()
			one = fact.Lines(indent, at, f.width, 1+max(spare, 0))
		}
		spare -= len(one) - 1
		if b := f.env.Keys.Of(screen.DiffGood, f.Scope()); fact.Label == lastGood && b != nil {
			last := &one[len(one)-1]
			last.Space(3)
			last.Put(term.Accent, b.Key())
			last.Put(term.Quiet, " compares with it")
		}
		lines = append(lines, one...)
	}
	return lines[:min(len(lines), height)]
}

// actions are what can be done about a group, with their keys, as far as there is
// room.
func (f *Failures) actions() term.Line {
	var l term.Line
	for _, a := range []struct {
		do   screen.Action
		text string
	}{{screen.Break, " holds the next request like this one before it fails"}, {screen.Write, " writes an incident report"}} {
		b := f.env.Keys.Of(a.do, f.Scope())
		if b == nil || f.Disabled(a.do) != "" || l.Width()+3+len(b.Key())+len(a.text) > f.width {
			continue
		}
		l.Space(2)
		if l.Width() > 2 {
			l.Space(1)
		}
		l.Put(term.Accent, b.Key())
		l.Put(term.Quiet, a.text)
	}
	return l
}

// timeline shows how many members were when, from the earliest to the latest: a
// clock may have been set back between two of them. It is empty if all were at
// once.
func (f *failure) timeline(spark []string, cells int) string {
	if len(f.at) < 2 {
		return ""
	}
	first := slices.MinFunc(f.at, time.Time.Compare)
	whole := slices.MaxFunc(f.at, time.Time.Compare).Sub(first)
	if whole == 0 {
		return ""
	}
	counts := make([]int, cells)
	for _, at := range f.at {
		counts[int(float64(at.Sub(first))/float64(whole)*float64(cells-1))]++
	}
	var b strings.Builder
	for most, i := slices.Max(counts), 0; i < cells; i++ {
		b.WriteString(spark[(counts[i]*(len(spark)-1)+most-1)/most])
	}
	return b.String()
}

// reportWidth is how much of an incident report lists requests, in cells.
const reportWidth = 100

// report is all groups as plain text, for a ticket. Secrets were redacted when
// it was recorded.
func (f *Failures) report() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Incident report, %s\n", f.env.Now().In(f.env.Zone).Format(time.DateTime))
	fmt.Fprintf(&b, "%s since %s: %s failed, of which their callers did not see %s\n",
		term.Plural(int(f.stats.Total), "request"), f.since.In(f.env.Zone).Format(time.DateTime),
		term.Grouped(int64(f.stats.Failed)), term.Grouped(int64(f.stats.Hidden)))
	if path := f.env.Log.Path(); path != "" {
		fmt.Fprintf(&b, "recording %s\n", path)
	}
	if f.quiet > 0 || f.hiddenOnly {
		fmt.Fprintf(&b, "left out: %s muted%s\n", term.Plural(f.quiet, "group"), map[bool]string{true: ", and all that callers saw"}[f.hiddenOnly])
	}
	for i := range f.groups {
		g := &f.groups[i]
		fmt.Fprintf(&b, "\n%d. %s, %s, %s\n", i+1, term.Plural(g.count, "request"), g.seen(), g.origin)
		fmt.Fprintf(&b, "    first %s, last %s\n", g.first.In(f.env.Zone).Format(time.DateTime), g.last.In(f.env.Zone).Format(time.DateTime))
		for _, fact := range f.facts(g, reportWidth) {
			fmt.Fprintf(&b, "    %-12s %s\n", fact.Label, strings.ReplaceAll(fact.Text, "\n", "\n                 "))
		}
		fmt.Fprintf(&b, "    %-12s %s\n", "find them", g.filter())
		if t, err := f.env.Log.Trace(g.id); err == nil {
			fmt.Fprintf(&b, "    %-12s %s\n    %-12s %s\n", "story", traces.Story(t), "decided by", traces.HeadlineOf(t).Decided)
		}
	}
	return b.String()
}

// askReport writes the incident report to a file.
func (f *Failures) askReport() tea.Cmd {
	name, report := "incident-"+f.env.Now().In(f.env.Zone).Format("20060102-150405")+".txt", f.report()
	return widget.AskFile(&f.env.Shared, widget.File{
		Hint: "incident [FILE]: what failed, who saw it and what came of it, as text", Kinds: []string{"incident"},
		Name: func(string) string { return name },
		Text: func(string) (string, int, error) { return report, 0, nil },
	})
}

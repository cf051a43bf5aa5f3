package requests

import (
	"cmp"
	"fmt"
	"slices"
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
	command := "mute " + f.focus().what()
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
		f.consequence = fmt.Sprintf("%s on an old %s: %s", term.Plural(len(keys), "node"), f.ind, ids(stale))
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
			return f.ind + " not stored, and no caller knows"
		}
		return "went on without it"
	}
	return "its caller failed"
}

// ids are the newest of some requests: "#1043 #1031".
func ids(list []uint64) string {
	var parts []string
	for _, id := range list[max(len(list)-3, 0):] {
		parts = append(parts, fmt.Sprintf("#%d", id))
	}
	text := strings.Join(parts, " ")
	if n := len(list) - len(parts); n > 0 {
		text += fmt.Sprintf(" and %d before", n)
	}
	return text
}

// whereOf is the step, and the work below it, that failed.
func whereOf(t *traces.Trace) string {
	if len(t.Faults) == 0 {
		return ""
	}
	fault := &t.Faults[0]
	text := fmt.Sprintf("step %s of %s %s", strings.TrimSpace(steps.Number(fault.Step)+" "+steps.Label(t, fault.Step)), t.Verb, t.Indirection)
	for i := range t.Spans {
		if s := &t.Spans[i]; s.Step == fault.Step && s.Err != "" {
			text += ", in " + s.Name
			break
		}
	}
	if fault.Path != "" {
		text += ", " + fault.Path
	}
	return text
}

// shownTo returns who saw the failure.
func shownTo(t *traces.Trace) string {
	q := t.Steps[traces.Caller]
	who := cmp.Or(t.Caller, "its caller")
	switch {
	case q.Because.Reason == traces.Rescued:
		return fmt.Sprintf("%s, which catches it in %s and goes on", who, q.Because.About)
	case t.Outcome.Hidden() && !t.Outcome.HiddenFrom(t.Caller):
		return who + ", as 404 Not Found"
	case t.Outcome.Hidden():
		return "nobody: " + who + " got an answer as if nothing had happened"
	case t.Error != "":
		return who + ", as an error"
	}
	return ""
}

// facts are what is known of a group.
func (f *Failures) facts(g *failure) widget.Facts {
	out := widget.Facts{{Label: "what", Text: g.what(), Style: session.StyleOf(g.outcome)}}
	out.Put(term.Plain, "consequence", g.consequence)
	out.Put(term.Plain, "where", cmp.Or(g.where, g.origin))
	out.Put(term.Plain, "shown to", g.shownTo)
	newest := fmt.Sprintf("#%d", g.id)
	if g.good != 0 {
		newest += fmt.Sprintf("; the same key was answered well in #%d, D compares", g.good)
		if row, ok := f.env.Log.Row(g.good); ok {
			newest = fmt.Sprintf("#%d; the same key was answered well in #%d, %s before; D compares", g.id, g.good, traces.Age(g.last.Sub(row.Start)))
		}
	}
	out.Put(term.Plain, "newest", newest)
	return out
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
		for _, fact := range f.facts(g) {
			fmt.Fprintf(&b, "    %-12s %s\n", fact.Label, strings.ReplaceAll(fact.Text, "\n", "\n                 "))
		}
		fmt.Fprintf(&b, "    %-12s %s\n", "find them", g.filter())
		if t, err := f.env.Log.Trace(g.id); err == nil {
			fmt.Fprintf(&b, "    %-12s %s\n    %-12s %s\n", "story", traces.Story(t), "decided", traces.HeadlineOf(t).Decided)
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

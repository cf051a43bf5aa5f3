package steps

import (
	"fmt"

	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/session"
	"indirtui/ui/term"
)

// A link is a request that another one leads to, and the key that goes there; ""
// if there is none.
type link struct {
	key, label string
	row        session.Row
	note       string
	ago        bool // the note is how long ago it was
}

// links returns where a request leads, what has a key first. Keys are those of a
// scope.
func (r *Request) links(where screen.Scope) []link {
	var out []link
	add := func(do screen.Action, label string, id uint64, note func(*session.Row) string) {
		row, ok := r.Env.Log.Row(id)
		if !ok {
			return
		}
		l := link{label: label, row: row, note: note(&row)}
		if b := r.Env.Keys.Of(do, where); b != nil {
			l.key = b.Key()
		}
		l.ago = do == screen.DiffGood
		out = append(out, l)
	}
	const noKey = screen.Action("")
	add(screen.PrevInRun, "before", r.Links.PrevInRun, r.what)
	add(screen.NextInRun, "after", r.Links.NextInRun, r.what)
	if r.Links.NextInRun == 0 {
		add(screen.NextInRun, "for", r.Links.Parent, r.what)
	}
	add(screen.DiffGood, "good", r.Links.LastGood, func(row *session.Row) string { return traces.Age(r.Trace.Start.Sub(row.Start)) + " before" })
	if r.Links.NextInRun != 0 {
		add(noKey, "for", r.Links.Parent, r.what)
	}
	add(noKey, "replay of", r.Links.Replays, func(*session.Row) string { return "" })
	if n := len(r.Links.Children); n > 0 {
		add(noKey, "asked", r.Links.Children[0], func(row *session.Row) string {
			if n > 1 {
				return fmt.Sprintf("%s and %d more", r.what(row), n-1)
			}
			return r.what(row)
		})
	}
	return out
}

// what returns what another request asked, as far as it is not what this one asked.
func (r *Request) what(row *session.Row) string {
	switch t := r.Trace; {
	case row.Verb == t.Verb && row.Indirection == t.Indirection && row.Key == t.Key:
		return "the same " + row.Indirection
	case row.Key == t.Key:
		return row.Verb.String() + " " + row.Indirection
	}
	return row.Verb.String() + " " + row.Indirection + " " + row.Key
}

// LinkLines returns a line for each request that this one leads to: the key that
// goes there, what it is to this one, its number and outcome, and what it asked.
func (r *Request) LinkLines(where screen.Scope, width int) term.Lines {
	all := r.links(where)
	var keys, labels, numbers, outcomes int
	for i := range all {
		keys = max(keys, term.Clean(all[i].key).Width())
		labels = max(labels, len(all[i].label))
		numbers = max(numbers, len(all[i].number()))
		outcomes = max(outcomes, len(all[i].row.Outcome.String()))
	}
	lines := make(term.Lines, len(all))
	for i := range all {
		t, l := &all[i], &lines[i]
		l.Cell(term.Accent|term.Bold, term.Clean(t.key), keys)
		l.Space(min(keys, 1))
		l.Cell(term.Quiet, term.Clean(t.label), labels)
		l.Space(1)
		l.Cell(term.Plain, term.Clean(t.number()), numbers)
		l.Space(1)
		l.Cell(session.StyleOf(t.row.Outcome), term.Clean(t.row.Outcome.String()), outcomes)
		l.Space(2)
		l.Add(term.Quiet, term.Clean(t.note).CutMiddle(max(width-l.Width(), 0)))
	}
	return lines
}

func (l *link) number() string { return fmt.Sprintf("#%d", l.row.ID) }

// LinkLine returns the same in short, for a border: the key, or what it is to this
// one, its number and outcome, and how old the last good answer is.
func (r *Request) LinkLine(where screen.Scope) term.Line {
	var out term.Line
	all := r.links(where)
	for i := range all {
		l := &all[i]
		if i > 0 {
			out.Space(2)
		}
		if l.key != "" {
			out.Put(term.Accent|term.Bold, l.key)
		} else {
			out.Put(term.Quiet, l.label)
		}
		out.Put(term.Plain, " "+l.number()+" ")
		out.Put(session.StyleOf(l.row.Outcome), l.row.Outcome.String())
		if l.ago {
			out.Put(term.Quiet, " "+l.note)
		}
	}
	return out
}

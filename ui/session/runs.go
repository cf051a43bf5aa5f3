package session

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"indirtui/traces"
	"indirtui/ui/screen"
	"indirtui/ui/term"
)

// A Run is what is known of a run by its rows, so that it is shown by more than its
// number. The zero Run is empty.
type Run struct {
	Name        string // as in run=
	Transaction string
	Node        string // "" while it is unknown
	Guessed     bool   // some rows were joined to it by connection and time
	First, Last time.Time
	Count       int

	catalog, report final
	served          string // what answered with the catalog: "cache json"
	failed, hidden  int
	first           string // what was asked first

	changed, planned, skipped int // resources
}

// A final is what became of the last request of a kind: rows come in any order.
type final struct {
	id      uint64 // zero if there was none
	outcome traces.Outcome
}

func (f *final) take(row *Row) (taken bool) {
	if row.ID < f.id {
		return false
	}
	*f = final{row.ID, row.Outcome}
	return true
}

// Add takes in a row.
func (r *Run) Add(row *Row) {
	r.Name, r.Transaction = row.Run, cmp.Or(r.Transaction, row.Transaction)
	r.Guessed = r.Guessed || row.RunGuessed
	if r.Count++; r.First.IsZero() || row.Start.Before(r.First) {
		r.First, r.first = row.Start, row.Verb.String()+" "+row.Indirection
	}
	if end := row.Start.Add(row.Took); end.After(r.Last) {
		r.Last = end
	}
	if row.Nested {
		return // what a terminus asked counts with the request that it asked for
	}
	if node := NodeOf(row); node != "" {
		r.Node = cmp.Or(r.Node, node)
	} else if name, ok := strings.CutPrefix(row.Caller, "agent "); ok {
		r.Node = cmp.Or(r.Node, name)
	}
	switch {
	case row.Indirection == "catalog" && row.Verb == traces.Find:
		switch {
		case !r.catalog.take(row):
		case row.Served == traces.ByCache:
			r.served = "cache " + row.Cache
		default:
			r.served = "terminus " + row.Terminus
		}
	case row.Indirection == "report" && row.Verb == traces.Save:
		r.report.take(row)
	case row.Outcome == traces.Err:
		r.failed++
	case row.Outcome.Hidden():
		r.hidden++
	case row.Outcome == traces.Changed:
		r.changed++
	case row.Outcome == traces.Planned:
		r.planned++
	case row.Outcome == traces.Skipped:
		r.skipped++
	}
}

// NodeOf is the node that a request is about: its key, for what is kept by
// node.
func NodeOf(r *Row) string {
	switch r.Indirection {
	case "catalog", "facts", "node", "report":
		return r.Key
	}
	return ""
}

// Sentence is what came of the run, in a few words: "catalog failed, report saved".
func (r *Run) Sentence() string {
	var parts []string
	add := func(is bool, text string) {
		if is {
			parts = append(parts, text)
		}
	}
	add(strings.HasPrefix(r.Name, traces.PlanRun), "a plan")
	if r.catalog.id > 0 {
		parts = append(parts, r.catalogWords())
	}
	for _, n := range []struct {
		resources int
		what      string
	}{{r.changed, " changed"}, {r.planned, " to change"}, {r.skipped, " skipped"}} {
		add(n.resources > 0, strconv.Itoa(n.resources)+n.what)
	}
	if r.report.id > 0 {
		parts = append(parts, r.reportWords())
	}
	add(r.failed > 0, term.Plural(r.failed, "failure"))
	add(r.hidden > 0, term.Plural(r.hidden, "hidden failure"))
	add(len(parts) == 0, cmp.Or(r.first, "nothing")+", nothing failed")
	return strings.Join(parts, ", ")
}

func (r *Run) catalogWords() string {
	switch o := r.catalog.outcome; {
	case o == traces.Err:
		return "catalog failed"
	case o == traces.Stale:
		return "old catalog from " + r.served
	case o == traces.Nil, o == traces.NilHidden:
		return "no catalog"
	case o == traces.Run, o == traces.HeldOutcome:
		return "waits for its catalog"
	}
	return "catalog from " + r.served
}

func (r *Run) reportWords() string {
	switch o := r.report.outcome; {
	case o == traces.Err:
		return "report not saved"
	case o == traces.Run, o == traces.HeldOutcome:
		return "report is being saved"
	case o.Hidden():
		return "report saved, with a hidden failure"
	}
	return "report saved"
}

// Length is how long the run took: "3.2 s".
func (r *Run) Length() string { return Took(r.Last.Sub(r.First)) }

// How far the search for runs goes back, and how many are offered.
const (
	maxRunRows = 5000
	maxRuns    = 8
)

// Runs are the newest runs of a log, the newest first. It looks at the newest rows
// only.
func Runs(log Log) []*Run {
	_, last := log.Range()
	byName := make(map[string]*Run)
	var all []*Run
	seen := 0
	for row := range Backward(log, last+1) {
		if seen++; seen > maxRunRows {
			break
		}
		run := byName[row.Run]
		switch {
		case row.Run == "":
			continue
		case run == nil && len(all) == maxRuns:
			continue
		case run == nil:
			run = new(Run)
			byName[row.Run] = run
			all = append(all, run)
		}
		run.Add(row)
	}
	slices.SortStableFunc(all, func(a, b *Run) int { return b.First.Compare(a.First) })
	return all
}

// CompleteRun returns how a line may go on whose last word begins with run=: by the
// newest runs, each with its node, time, length and what came of it.
func (e *Env) CompleteRun(line string) (next []screen.Completion) {
	if e.Log == nil {
		return nil
	}
	at := strings.LastIndexAny(line, " (") + 1
	typed, is := strings.CutPrefix(line[at:], "run=")
	if !is {
		return nil
	}
	for _, r := range Runs(e.Log) {
		if strings.HasPrefix(r.Name, typed) && r.Name != typed {
			next = append(next, screen.Completion{
				Text: line[:at] + "run=" + r.Name, Name: e.Clock(r.First) + " " + cmp.Or(r.Node, "unknown"), Kind: r.Length(), Note: r.Sentence(),
			})
		}
	}
	return next
}

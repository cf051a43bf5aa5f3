package session_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/ui/session"
)

// A run is summed up from its rows, in whichever order they come.
func TestRunSentence(t *testing.T) {
	t.Parallel()
	row := func(verb traces.Verb, ind, key string, o traces.Outcome) session.Row {
		return session.Row{Verb: verb, Indirection: ind, Key: key, Outcome: o, Terminus: "rest", Cache: "json"}
	}
	stale := row(traces.Find, "catalog", "web01", traces.Stale)
	stale.Served = traces.ByCache
	nested := row(traces.Find, "node", "other", traces.Err)
	nested.Nested = true
	plugin := row(traces.Find, "file_metadata", "plugins", traces.NilHidden)
	plugin.Caller = "agent web02"
	for _, tt := range []struct {
		node, want string
		rows       []session.Row
	}{
		{"web01", "old catalog from cache json, report saved", []session.Row{
			row(traces.Find, "catalog", "web01", traces.Err), stale, row(traces.Save, "report", "web01", traces.Good),
		}},
		{"web01", "catalog from terminus rest, report not saved, 1 failure", []session.Row{
			row(traces.Find, "facts", "web01", traces.Err), row(traces.Find, "catalog", "web01", traces.Good), row(traces.Save, "report", "web01", traces.Err),
		}},
		{"web02", "1 hidden failure", []session.Row{plugin}},
		{"web01", "no catalog", []session.Row{row(traces.Find, "catalog", "web01", traces.Nil), nested}},
		{"web01", "waits for its catalog", []session.Row{row(traces.Find, "catalog", "web01", traces.Run)}},
		{"web01", "catalog failed, report saved, with a hidden failure", []session.Row{
			row(traces.Find, "catalog", "web01", traces.Err), row(traces.Save, "report", "web01", traces.Part),
		}},
		{"web01", "1 changed, 2 skipped, report saved, 1 failure", []session.Row{
			row(traces.Save, "resource", "File//a", traces.Changed), row(traces.Save, "resource", "File//b", traces.Err), row(traces.Save, "resource", "File//c", traces.Skipped),
			row(traces.Save, "resource", "File//d", traces.Skipped), row(traces.Save, "report", "web01", traces.Good), row(traces.Save, "resource", "File//e", traces.Same),
		}},
		{"web01", "find facts, nothing failed", []session.Row{row(traces.Find, "facts", "web01", traces.Good)}},
	} {
		began := time.Date(2025, 11, 20, 14, 0, 0, 0, time.UTC)
		for i := range tt.rows {
			tt.rows[i].ID, tt.rows[i].Start, tt.rows[i].Took = uint64(i+1), began.Add(time.Duration(i)*time.Second), 500*time.Millisecond
			tt.rows[i].Run = "8f3c"
		}
		plan := session.Run{}
		planned := tt.rows[0]
		planned.Run = traces.PlanRun + "8f3c"
		if plan.Add(&planned); !strings.HasPrefix(plan.Sentence(), "a plan") {
			t.Errorf("a plan is %q", plan.Sentence())
		}
		for range 2 {
			var r session.Run
			for i := range tt.rows {
				r.Add(&tt.rows[i])
			}
			if got := r.Sentence(); got != tt.want || r.Node != tt.node || r.Name != "8f3c" || r.Count != len(tt.rows) {
				t.Errorf("got %q of %s, want %q of %s", got, r.Node, tt.want, tt.node)
			}
			if got := r.Last.Sub(r.First); got != time.Duration(len(tt.rows))*time.Second-500*time.Millisecond {
				t.Errorf("%s: it took %s", tt.want, got)
			}
			slices.Reverse(tt.rows)
		}
	}
}

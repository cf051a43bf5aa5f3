package cli

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"indirtui/traces"
)

// A run that is silent for long is over, but for one whose agent was busy: its
// report comes later, and the story with it.
func TestRunThatIsSilent(t *testing.T) {
	t.Parallel()
	began := time.Date(2025, 11, 20, 14, 0, 0, 0, time.UTC)
	var out bytes.Buffer
	w := &lines{out: &out, runs: make(map[string]*runStory)}
	asks := func(verb traces.Verb, indirection string, after time.Duration) {
		w.run(&traces.Trace{Verb: verb, Indirection: indirection, Key: "web01", Run: "8f3c", Outcome: traces.Good, Start: began.Add(after)}, nil)
	}
	printed := func(when, want string) {
		t.Helper()
		got := out.String()
		out.Reset()
		if want == "" && got != "" || strings.Count(got, "\n") > 1 || !strings.Contains(got, want) {
			t.Errorf("%s: got %q, want %q", when, got, want)
		}
	}
	asks(traces.Find, "node", 0)
	asks(traces.Find, "catalog", time.Second)
	w.look(began.Add(time.Minute))
	printed("within a minute", "")
	w.look(began.Add(2 * time.Minute))
	printed("after a minute", "no report")
	w.look(began.Add(3 * time.Minute))
	printed("later", "")
	asks(traces.Save, "report", 10*time.Minute)
	printed("when the report comes", "3 requests in 600.0 s")
	w.look(began.Add(20 * time.Minute))
	w.printRuns(func(*runStory) bool { return true })
	printed("at the end", "")

	asks(traces.Find, "node", 0)
	asks(traces.Find, "catalog", time.Second)
	w.look(began.Add(2 * time.Hour))
	printed("after hours", "no report")
	if len(w.runs) > 0 {
		t.Errorf("%d runs are kept for ever", len(w.runs))
	}
}

package transaction_test

import (
	"os"
	"testing"
	"time"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/probetest"
	"indirtui/indirector/resource/systemtest"
	"indirtui/indirector/resource/transaction"
)

// A clocked system has a time of its own.
type clocked struct {
	*systemtest.System
	at time.Time
}

func (c clocked) Now() time.Time { return c.at }

// TestSchedules applies a resource at a time, when it was looked at some time before. Rule
// RES-SKIP-03. 2026-03-04 is a Wednesday.
func TestSchedules(t *testing.T) {
	t.Parallel()
	at := func(text string) time.Time {
		v, err := time.Parse("2006-01-02 15:04:05", text)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	p := func(name string, v any) data.Pair { return data.P(name, data.OfAny(v)) }
	for _, tt := range []struct {
		name        string
		schedule    []data.Pair
		before, now string // before "" is never
		due         bool
	}{
		{"an hour later", []data.Pair{p("period", "hourly")}, "2026-03-04 10:00:00", "2026-03-04 11:00:00", true},
		{"not an hour later", []data.Pair{p("period", "hourly")}, "2026-03-04 10:00:00", "2026-03-04 10:59:59", false},
		{"twice an hour", []data.Pair{p("period", "hourly"), p("repeat", 2)}, "2026-03-04 10:00:00", "2026-03-04 10:30:00", true},
		{"never before", []data.Pair{p("period", "monthly")}, "", "2026-03-04 10:00:00", true},
		{"never", []data.Pair{p("period", "never")}, "", "2026-03-04 10:00:00", false},
		{"another hour by number", []data.Pair{p("period", "hourly"), p("periodmatch", "number")}, "2026-03-04 10:59:59", "2026-03-04 11:00:00", true},
		{"the same hour of another day by number", []data.Pair{p("period", "hourly"), p("periodmatch", "number")}, "2026-03-03 10:00:00", "2026-03-04 10:00:00", false},
		{"another day by number", []data.Pair{p("period", "daily"), p("periodmatch", "number")}, "2026-03-03 23:59:00", "2026-03-04 00:00:00", true},
		{"another week by number", []data.Pair{p("period", "weekly"), p("periodmatch", "number")}, "2026-03-07 10:00:00", "2026-03-08 10:00:00", true},
		{"the same week by number", []data.Pair{p("period", "weekly"), p("periodmatch", "number")}, "2026-03-03 10:00:00", "2026-03-04 10:00:00", false},
		{"within a range", []data.Pair{p("range", "10 - 12")}, "", "2026-03-04 12:00:00", true},
		{"outside of a range", []data.Pair{p("range", "10 - 12")}, "", "2026-03-04 12:00:01", false},
		{"within the second range", []data.Pair{p("range", []any{"1 - 2", "10:30 - 12"})}, "", "2026-03-04 10:30:00", true},
		{"before midnight", []data.Pair{p("range", "22 - 4"), p("weekday", "Wednesday")}, "", "2026-03-04 23:00:00", true},
		{"after midnight of the day on which it began", []data.Pair{p("range", "22 - 4"), p("weekday", "Wednesday")}, "", "2026-03-05 02:00:00", true},
		{"after midnight of the day before", []data.Pair{p("range", "22 - 4"), p("weekday", "Wednesday")}, "", "2026-03-04 02:00:00", false},
		{"a weekday", []data.Pair{p("weekday", []any{"Mon", "3"})}, "", "2026-03-04 02:00:00", true},
		{"another weekday", []data.Pair{p("weekday", "Mon")}, "", "2026-03-04 02:00:00", false},
		{"nothing is set", nil, "", "2026-03-04 02:00:00", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			p := newPlace(t)
			if tt.before != "" {
				text := "---\nProbe[a]:\n  :checked: " + tt.before + ".000000000 +00:00\n"
				if err := os.WriteFile(p.dir+"/var/state/state.yaml", []byte(text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			m := clocked{p.system(systemtest.Case{}, p.settings()), at(tt.now)}
			c := with(probes("a"), 0, "schedule", "s")
			c.Resources = append(c.Resources, model.Resource{Type: "Schedule", Title: "s", Kind: "compilable_type", Parameters: data.OfHash(tt.schedule)})
			world := &probetest.World{Root: p.dir + "/root"}
			got := transaction.Run(t.Context(), c, transaction.Options{Settings: agent(m), System: m, Types: allTypes(), Provider: world.Provider})
			if got.Err != nil {
				t.Fatal(got.Err)
			}
			for _, s := range got.Report.Statuses {
				if s.Ref == "Probe[a]" && s.Skipped == tt.due {
					t.Errorf("skipped is %t", s.Skipped)
				}
			}
		})
	}
}

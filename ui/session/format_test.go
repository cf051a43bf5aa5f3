package session_test

import (
	"testing"
	"time"

	"indirtui/traces"
	"indirtui/ui/session"
)

func TestFormats(t *testing.T) {
	t.Parallel()
	const ms, s = time.Millisecond, time.Second
	tests := []struct{ what, got, want string }{
		{"took microseconds", session.Took(38 * time.Microsecond), "38 us"},
		{"took milliseconds", session.Took(412 * ms), "412 ms"},
		{"took seconds", session.Took(8153 * ms), "8.15 s"},
		{"took minutes", session.Took(125 * s), "2m"},
		{"took nothing", session.Took(0), "0 ms"},
		{"age in seconds", traces.Age(31 * s), "31s"},
		{"age in hours", traces.Age(91 * time.Minute), "1h 31m"},
		{"age in days", traces.Age(41 * 24 * time.Hour), "41d"},
		{"age in the future", traces.Age(-s), "0s"},
		{"terminus and cache", session.ServedBy(&session.Row{Terminus: "rest", Cache: "json", CacheWritten: true, Outcome: traces.Good, Served: traces.ByTerminus}), "T rest +C"},
		{"cache", session.ServedBy(&session.Row{Terminus: "rest", Cache: "json", Outcome: traces.Hit, Served: traces.ByCache}), "C json"},
		{"running", session.ServedBy(&session.Row{}), "..."},
		{"injected", session.ServedBy(&session.Row{Outcome: traces.Sim, Served: traces.ByInjection}), "sim"},
		{"not routed", session.ServedBy(&session.Row{Outcome: traces.Err}), "-"},
		{"verb", session.VerbCode(traces.Destroy), "dstr"},
	}
	for _, tt := range tests {
		if tt.got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.what, tt.got, tt.want)
		}
	}
}

package traces_test

import (
	"encoding/hex"
	"testing"
	"time"

	"indirtui/traces"
)

// A traceparent has the ids that an export of the same requests has: those of
// the run, or of the first request of a chain, also when that has ended.
func TestParent(t *testing.T) {
	t.Parallel()
	start := time.Date(2025, 11, 20, 14, 3, 11, 123456789, time.UTC)
	const run = "0123abcd-89ab-4cde-8f01-23456789abcd"
	header := func(trunk [16]byte, span [8]byte) string {
		return "00-" + hex.EncodeToString(trunk[:]) + "-" + hex.EncodeToString(span[:]) + "-01"
	}
	uuid, _ := traces.TraceID(run)
	later := start.Add(time.Second)
	for _, tt := range []struct {
		name        string
		asker, mine traces.Trace
		ended       bool // the asker
		want        string
	}{
		{"a run", traces.Trace{}, traces.Trace{ID: 7, Run: run, Start: start}, false, header(uuid, traces.WorkID(7, start, 1))},
		{"no run", traces.Trace{}, traces.Trace{ID: 7, Start: start}, false, header(traces.RootID(7, start), traces.WorkID(7, start, 1))},
		{"a name that is no UUID", traces.Trace{}, traces.Trace{ID: 7, Run: "8f3c", Start: start}, false, header(traces.RootID(7, start), traces.WorkID(7, start, 1))},
		{"asked by another", traces.Trace{ID: 3, Start: start}, traces.Trace{ID: 7, Start: later}, false, header(traces.RootID(3, start), traces.WorkID(7, later, 1))},
		{"asked by another that has ended", traces.Trace{ID: 3, Start: start}, traces.Trace{ID: 7, Start: later}, true, header(traces.RootID(3, start), traces.WorkID(7, later, 1))},
		{"not recorded", traces.Trace{}, traces.Trace{Run: run, Start: start}, false, ""},
	} {
		up := &traces.Live{Context: t.Context(), Trace: &tt.asker}
		if tt.ended {
			up.Close()
		}
		live := &traces.Live{Context: up, Trace: &tt.mine}
		_, span := traces.Start(live, traces.Network, "GET x")
		if got := span.Parent(); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
		live.Close()
		if got := span.Parent(); got != tt.want {
			t.Errorf("%s, ended: got %q, want %q", tt.name, got, tt.want)
		}
	}
	var none *traces.Active
	if got := none.Parent(); got != "" {
		t.Errorf("no span: got %q", got)
	}
}

package traces_test

import (
	"testing"
	"time"

	"indirtui/traces"
)

// A span that was measured elsewhere lies within the one above it.
func TestMeasured(t *testing.T) {
	t.Parallel()
	now := time.Unix(1000, 0)
	live := &traces.Live{Context: t.Context(), Trace: &traces.Trace{Start: now}, Now: func() time.Time { return now }}
	now = now.Add(time.Second)
	ctx, above := traces.Start(live, traces.Exec, "above")
	now = now.Add(10 * time.Second)
	_, span := traces.Start(ctx, traces.Code, "measured")
	span.Measured(2*time.Second, 3*time.Second)
	span.End("", traces.Because{}, nil)
	above.End("", traces.Because{}, nil)
	got := live.Trace.Spans
	if got[0].At != 3*time.Second || got[0].Took != 3*time.Second || got[1].At != time.Second || got[1].Took != 10*time.Second {
		t.Errorf("got %+v", got)
	}
}

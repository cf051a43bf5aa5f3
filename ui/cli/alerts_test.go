package cli

import (
	"slices"
	"testing"
	"time"

	"indirtui/traces/store"
)

// TestAlerts: a recording that stopped is in the status of the server, without
// its path.
func TestAlerts(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		stopped time.Time
		want    []string
	}{
		{time.Time{}, nil},
		{time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), []string{"the recording cannot be written since 2026-01-02T03:04:05Z"}},
	} {
		if got := alertsOf(func() store.Stats { return store.Stats{Stopped: tt.stopped} })(); !slices.Equal(got, tt.want) {
			t.Errorf("stopped %v: got %q, want %q", tt.stopped, got, tt.want)
		}
	}
}

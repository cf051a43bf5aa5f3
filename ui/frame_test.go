package ui

import (
	"strings"
	"testing"
	"time"

	"indirtui/ui/session"
	"indirtui/ui/term"
)

// TestStatusOfRecording: the bar shows since when nothing can be recorded, even
// where it has little room.
func TestStatusOfRecording(t *testing.T) {
	t.Parallel()
	r := &Model{env: new(session.Env), width: 60}
	r.snapshot.Stats.FileSize = 1 << 20
	r.snapshot.Stats.Stopped = time.Date(2026, 1, 2, 3, 4, 5, 0, time.Local)
	if got := r.status(term.Line{}).Right.String(); !strings.Contains(got, "recording stopped 03:04:05") {
		t.Errorf("got %q", got)
	}
}

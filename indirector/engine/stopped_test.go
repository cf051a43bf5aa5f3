package engine

import (
	"errors"
	"log/slog"
	"strings"
	"testing"
)

// TestStopped: a recording that stops, and goes on, is logged.
func TestStopped(t *testing.T) {
	t.Parallel()
	var out strings.Builder
	report := stopped(slog.New(slog.NewTextHandler(&out, nil)))
	report(errors.New("no space left"))
	report(nil)
	for _, want := range []string{`level=ERROR msg="the recording stopped`, `err="no space left"`, `level=WARN msg="the recording goes on"`} {
		if !strings.Contains(out.String(), want) {
			t.Errorf("got %s, want %s", &out, want)
		}
	}
	if stopped(nil) != nil {
		t.Error("without a log there is something to call")
	}
}

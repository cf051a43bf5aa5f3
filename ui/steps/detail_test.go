package steps_test

import (
	"strings"
	"testing"
	"time"

	"indirtui/indirector/debugger"
	"indirtui/traces"
	"indirtui/ui/steps"
	"indirtui/ui/term"
)

// A run that is a guess is marked.
func TestReportRun(t *testing.T) {
	t.Parallel()
	for _, guessed := range []bool{false, true} {
		got := steps.Report(&traces.Trace{ID: 7, Run: "8f3c", RunGuessed: guessed}, time.UTC)
		if strings.Contains(got, "  run ~8f3c") != guessed || strings.Contains(got, "  run 8f3c") == guessed {
			t.Errorf("a guess: %v, got\n%s", guessed, got)
		}
	}
}

// The report of a request names the trace of another program that it belongs to.
func TestReportJoined(t *testing.T) {
	t.Parallel()
	p, _ := traces.ParseTraceparent("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	for _, tt := range []struct {
		name  string
		trace traces.Trace
		want  string // "" is nothing of it
	}{
		{"alone", traces.Trace{ID: 7}, ""},
		{"asked by another program", traces.Trace{ID: 7, Traceparent: &p}, "\ntrace 4bf92f3577b34da6a3ce929d0e0e4736, below the span 00f067aa0ba902b7\n"},
		{"asked on the way", traces.Trace{ID: 8, Parent: 7, Traceparent: &p}, "\ntrace 4bf92f3577b34da6a3ce929d0e0e4736, below what was asked by the span 00f067aa0ba902b7\n"},
	} {
		got := steps.Report(&tt.trace, time.UTC)
		if tt.want == "" && strings.Contains(got, "\ntrace ") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got\n%s", tt.name, got)
		}
	}
}

// The report of a request is in sentences.
func TestReportWords(t *testing.T) {
	t.Parallel()
	tr := &traces.Trace{ID: 7, Verb: traces.Find}
	tr.Steps[traces.Terminus] = traces.Question{Answer: traces.NotAsked, Because: traces.Because{Reason: traces.SkippedCacheHit}}
	got := steps.Report(tr, time.UTC)
	if !strings.Contains(got, " not asked                the cache answered ") || strings.Contains(got, "skipped(") {
		t.Errorf("got\n%s", got)
	}
}

// Options are shown as people read them.
func TestOptions(t *testing.T) {
	t.Parallel()
	tr := find("web01")
	tr.Options = []traces.Option{
		{Name: "checksum_type", Value: "sha256.sha384"},
		{Name: "static_catalog", Value: "true"},
		{Name: "facts", Value: "(2 facts, 130 B of json, URL-encoded: kernel, os)"},
		{Name: "version", Value: "1.2"},
	}
	lines, _ := steps.Content(new(term.Theme), &tr, nil, 80)
	for _, want := range []string{"checksum_type=sha256, sha384\n", "static_catalog=true\n", "facts=(2 facts, 130 B of json, URL-encoded: kernel, os)\n", "version=1.2"} {
		if got := lines.Text(); !strings.Contains(got, want) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

// A held request has a clock of its own, and of when that ends.
func TestClocks(t *testing.T) {
	t.Parallel()
	since := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, tt := range []struct {
		until, caller time.Duration
		want          string
	}{
		{0, 0, "held 0:01"},
		{2 * time.Minute, 0, "held 0:01, released by itself in 1:59"},
		{2 * time.Minute, 30 * time.Second, "held 0:01, released by itself in 1:59, caller gives up in 0:29"},
	} {
		h := debugger.Held{Since: since}
		if tt.until > 0 {
			h.Until = since.Add(tt.until)
		}
		if tt.caller > 0 {
			h.Caller = since.Add(tt.caller)
		}
		if got := steps.Clocks(&h, since.Add(time.Second)); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

package traces_test

import (
	"testing"

	"indirtui/traces"
)

// TestJudgeApplied: what became of a resource is in the reason of its terminus step, and
// counts for resources that are saved only.
func TestJudgeApplied(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		because traces.Reason
		answer  traces.Answer
		want    traces.Outcome
	}{
		{traces.InSync, traces.OK, traces.Same},
		{traces.CheckRefused, traces.OK, traces.Same},
		{traces.NotDeclared, traces.OK, traces.Same},
		{traces.NotDeclared, traces.Nothing, traces.Skipped},
		{traces.OutOfSync, traces.Written, traces.Changed},
		{traces.RefreshedBy, traces.Written, traces.Changed},
		{traces.ByNoop, traces.OK, traces.Planned},
		{traces.ByTags, traces.Nothing, traces.Skipped},
		{traces.BySchedule, traces.Nothing, traces.Skipped},
		{traces.DependencyFailed, traces.Nothing, traces.Skipped},
		{traces.PrefetchFailed, traces.Nothing, traces.Skipped},
		{traces.ByYou, traces.NotAsked, traces.Skipped},
		{traces.ByYou, traces.Nothing, traces.Skipped},
		{traces.StoreWritten, traces.Written, traces.Good},
	} {
		tr := &traces.Trace{Indirection: "resource", Verb: traces.Save, Served: traces.ByTerminus}
		tr.Steps[traces.Terminus] = traces.Question{Answer: tt.answer, Because: traces.Because{Reason: tt.because}}
		if got := traces.Judge(tr); got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.answer, tt.because, got, tt.want)
		}
		tr.Indirection = "report"
		if got := traces.Judge(tr); got != traces.Good {
			t.Errorf("a report, %s: got %s", tt.because, got)
		}
		tr.Indirection, tr.Error = "resource", "no space left"
		if got := traces.Judge(tr); got != traces.Err {
			t.Errorf("failed, %s: got %s", tt.because, got)
		}
		tr.Error, tr.Faults = "", []traces.Fault{{Origin: "refresh", Message: "exit 1"}}
		if got := traces.Judge(tr); got != traces.ErrHidden {
			t.Errorf("hidden, %s: got %s", tt.because, got)
		}
	}
}

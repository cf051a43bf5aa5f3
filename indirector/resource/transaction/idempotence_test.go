package transaction_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/model"
)

// TestGoldenRalIdempotence applies each recorded catalog twice: the second time changes
// only what the second of two recorded runs changed as well. Where none was recorded, only
// resources that are never in sync may change: messages, and commands without checks.
func TestGoldenRalIdempotence(t *testing.T) {
	t.Parallel()
	for _, file := range []string{"apply.jsonl", "providers.jsonl"} {
		for _, row := range rows(t, file) {
			var id string
			decode(t, row["id"], &id)
			var steps []stepRow
			decode(t, row["steps"], &steps)
			if slices.ContainsFunc(steps, func(s stepRow) bool { return s.Step["command"] != nil }) {
				continue // TestGoldenRalCommands
			}
			t.Run(id, func(t *testing.T) {
				t.Parallel()
				appliedTwice(t, row)
			})
		}
	}
}

func appliedTwice(t *testing.T, row map[string]json.RawMessage) {
	t.Helper()
	c := planted(t, row)
	step, recorded := c.again()
	switch {
	case recorded:
	case c.kase.Commands != nil:
		t.Skip("commands are scripted, and the recording has no second run")
	default:
		step = &c.Steps[0]
		step.Step = map[string]any{}
	}
	var refs []string
	for range 2 {
		report := *step.Report
		refs = changed(c.run(t, &stepRow{Step: step.Step, Report: &report}).Report)
	}
	var want []string
	for _, s := range step.Report.Statuses {
		if s["changed"] == true {
			want = append(want, s["resource"].(string))
		}
	}
	for _, ref := range refs {
		ref = c.place.norm(ref)
		if recorded && !slices.Contains(want, ref) || !recorded && !neverInSync(ref) {
			t.Errorf("%s changed again; recorded are %q", ref, want)
		}
	}
}

// again is the second of two equal runs that a recording begins with, after runs in noop.
func (c *caseRow) again() (*stepRow, bool) {
	steps := c.Steps
	for len(steps) > 0 && steps[0].Step["noop"] == true {
		steps = steps[1:]
	}
	if len(steps) < 2 || !slices.EqualFunc(steps[:1], steps[1:2], equalSteps) {
		return nil, false
	}
	return &steps[1], true
}

func equalSteps(a, b stepRow) bool {
	x, _ := json.Marshal(a.Step)
	y, _ := json.Marshal(b.Step)
	return string(x) == string(y) && a.Step["shell"] == nil && a.Step["noop"] == nil
}

// changed are the resources that a run has changed.
func changed(r *model.Report) []string {
	var refs []string
	for _, s := range r.Statuses {
		if s.Changed {
			refs = append(refs, s.Resource)
		}
	}
	return refs
}

// neverInSync reports whether a resource may change in every run.
func neverInSync(ref string) bool {
	return strings.HasPrefix(ref, "Notify[") || strings.HasPrefix(ref, "Exec[")
}

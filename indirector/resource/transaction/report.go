package transaction

import (
	"slices"
	"strings"

	"indirtui/indirector/data"
	"indirtui/indirector/model"
)

// finishReport counts what became of the resources. Rules RES-REP-02 to RES-REP-04.
func (t *transaction) finishReport() {
	var all []*status
	for _, key := range t.order {
		if s := t.statuses[key]; s.of.Kind != Whit {
			all = append(all, s)
		}
	}
	r := t.report
	resources, changes, events := countAll(all)
	r.Metrics = []model.Metric{
		metric("resources", resources), metric("time", t.timings(all)),
		metric("changes", []data.Pair{data.P("total", data.OfInt(changes))}), metric("events", events),
	}
	r.Status = "unchanged"
	if changes > 0 {
		r.Status = "changed"
	}
	for _, s := range all {
		if s.hasFailed() {
			r.Status = "failed"
		}
		r.CorrectiveChange = r.CorrectiveChange || s.CorrectiveChange
		for _, e := range s.events {
			s.Events = append(s.Events, e.Event)
			r.NoopPending = r.NoopPending || e.Status == "noop"
		}
		r.Statuses = append(r.Statuses, s.ResourceStatus)
	}
	if t.failedToGenerate || !r.TransactionCompleted {
		r.Status = "failed"
	}
}

// countAll counts statuses. Those that are scheduled are none, as in Puppet. Rule
// RES-REP-04.
func countAll(all []*status) (resources []data.Pair, changes int64, events []data.Pair) {
	names := []string{"skipped", "failed", "failed_to_restart", "restarted", "changed", "out_of_sync", "scheduled", "corrective_change"}
	counts := map[string]int64{"total": int64(len(all))}
	byStatus, statuses := map[string]int64{}, []string{"total", "failure", "success"}
	for _, s := range all {
		for i, is := range []bool{s.Skipped, s.Failed, s.FailedToRestart, s.restarted, s.Changed, s.OutOfSync, false, s.CorrectiveChange} {
			if is {
				counts[names[i]]++
			}
		}
		changes += s.ChangeCount
		for _, e := range s.events {
			byStatus["total"]++
			if byStatus[e.Status]++; !slices.Contains(statuses, e.Status) {
				statuses = append(statuses, e.Status)
			}
		}
	}
	for _, name := range append([]string{"total"}, names...) {
		resources = append(resources, data.P(name, data.OfInt(counts[name])))
	}
	for _, name := range statuses {
		events = append(events, data.P(name, data.OfInt(byStatus[name])))
	}
	return resources, changes, events
}

// timings are seconds by type of resource and by part of the run.
func (t *transaction) timings(all []*status) []data.Pair {
	var names []string
	sums := map[string]float64{}
	for _, s := range all {
		name := strings.ToLower(s.Type)
		if s.EvaluationTime.IsNil() {
			continue
		}
		if _, ok := sums[name]; !ok {
			names = append(names, name)
		}
		sums[name] += s.EvaluationTime.Float()
	}
	var pairs []data.Pair
	for _, name := range names {
		pairs = append(pairs, data.P(name, data.OfFloat(sums[name])))
	}
	return append(pairs, t.times...)
}

func metric(name string, values []data.Pair) model.Metric {
	rows := make([]data.Value, len(values))
	for i, v := range values {
		rows[i] = data.OfList([]data.Value{v.Key, data.OfString(label(v.Key.Str())), v.Value})
	}
	return model.Metric{Key: name, Name: name, Label: label(name), Values: data.OfList(rows)}
}

// label is "Failed to restart" for "failed_to_restart".
func label(name string) string {
	return strings.ToUpper(name[:1]) + strings.ReplaceAll(name[1:], "_", " ")
}

// exit is 2 if there were changes, plus 4 if something failed. Rule RES-REP-06.
func (t *transaction) exit() int {
	code := 0
	for _, key := range t.order {
		s := t.statuses[key]
		if s.of.Kind == Whit {
			continue
		}
		if s.ChangeCount > 0 {
			code |= 2
		}
		if s.hasFailed() {
			code |= 4
		}
	}
	return code
}

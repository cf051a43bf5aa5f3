package transaction_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"indirtui/indirector/format"
	"indirtui/indirector/model"
	"indirtui/indirector/resource/transaction"
)

// A reportRow is a report as recordings have it: what is usual is left out.
type reportRow struct {
	Status               string                       `json:"status"`
	Noop                 bool                         `json:"noop"`
	NoopPending          bool                         `json:"noop_pending"`
	CorrectiveChange     bool                         `json:"corrective_change"`
	TransactionCompleted *bool                        `json:"transaction_completed"`
	CachedCatalogStatus  string                       `json:"cached_catalog_status"`
	Environment          string                       `json:"environment"`
	ConfigurationVersion any                          `json:"configuration_version"`
	ReportFormat         int                          `json:"report_format"`
	FailedToGenerate     bool                         `json:"resources_failed_to_generate"`
	Metrics              map[string]map[string]int64  `json:"metrics"`
	MetricLabels         map[string]map[string]string `json:"metric_labels"`
	Timings              []string                     `json:"timings"`
	Logs                 []logRow                     `json:"logs"`
	Defaults             int                          `json:"defaults"`
	Statuses             []map[string]any             `json:"statuses"`
}

var (
	framing  = regexp.MustCompile(`^(Using cached catalog from environment|Using environment '|Caching catalog for |Applying configuration version '|Creating state file |Applied catalog in )`)
	duration = regexp.MustCompile(`in \d+\.\d\d seconds`)
	usual    = regexp.MustCompile(`^(Schedule\[(puppet|hourly|daily|weekly|monthly|never)\]|Filebucket\[puppet\])$`)
)

func reportRowOf(t *testing.T, p place, result *transaction.Result, full bool) *reportRow {
	t.Helper()
	r := result.Report
	row := &reportRow{
		Status: r.Status, Noop: r.Noop, NoopPending: r.NoopPending, CorrectiveChange: r.CorrectiveChange,
		FailedToGenerate: result.FailedToGenerate, Metrics: map[string]map[string]int64{},
		Logs: []logRow{}, Statuses: []map[string]any{},
	}
	if full || !r.TransactionCompleted {
		row.TransactionCompleted = &r.TransactionCompleted
	}
	if full {
		row.CachedCatalogStatus, row.Environment, row.ReportFormat = r.CachedCatalogStatus, r.Environment, int(r.Format)
		if v := r.ConfigurationVersion; !v.IsNil() {
			row.ConfigurationVersion = float64(v.Int())
		}
		row.MetricLabels = map[string]map[string]string{}
	}
	for _, m := range r.Metrics {
		row.metric(m, full)
	}
	for _, l := range r.Logs {
		if !full && l.Source == "Puppet" && framing.MatchString(l.Message) {
			continue
		}
		l.Message = duration.ReplaceAllString(l.Message, "in <N> seconds")
		l.Tags = slices.Sorted(slices.Values(l.Tags))
		row.Logs = append(row.Logs, logRowOf(p, l, full))
	}
	for _, s := range r.Statuses {
		x := statusRow(t, p, s, full)
		if !full && usual.MatchString(s.Resource) && onlyUsual(x) {
			row.Defaults++
			continue
		}
		row.Statuses = append(row.Statuses, x)
	}
	return row
}

func (row *reportRow) metric(m model.Metric, full bool) {
	values, labels := map[string]int64{}, map[string]string{}
	for _, v := range m.Values.List() {
		name := v.List()[0].Str()
		labels[name] = v.List()[1].Str()
		if n := v.List()[2]; full || n.Int() != 0 {
			values[name] = n.Int()
		}
	}
	if full {
		row.MetricLabels[m.Name] = labels
	}
	if m.Name != "time" {
		row.Metrics[m.Name] = values
		return
	}
	if full {
		for name := range labels {
			row.Timings = append(row.Timings, name)
		}
		slices.Sort(row.Timings)
	}
}

func onlyUsual(row map[string]any) bool {
	for k := range row {
		if !slices.Contains([]string{"resource", "containment_path", "tags", "timed"}, k) {
			return false
		}
	}
	return true
}

// statusRow is a status without what is usual.
func statusRow(t *testing.T, p place, s model.ResourceStatus, full bool) map[string]any {
	t.Helper()
	report := &model.Report{Statuses: []model.ResourceStatus{s}}
	b, err := format.AppendJSON(nil, report.Data().Get("resource_statuses").Get(s.Ref))
	if err != nil {
		t.Fatal(err)
	}
	var h map[string]any
	decode(t, []byte(p.norm(string(b))), &h)
	timed := h["evaluation_time"] != nil
	for _, k := range []string{"time", "evaluation_time"} {
		delete(h, k)
	}
	ref := h["resource"].(string)
	drop := func(k string, usual any) {
		if fmt.Sprint(h[k]) == fmt.Sprint(usual) {
			delete(h, k)
		}
	}
	typ, _, _ := strings.Cut(ref, "[")
	drop("resource_type", typ)
	drop("title", strings.TrimSuffix(strings.TrimPrefix(ref, typ+"["), "]"))
	drop("containment_path", []string{"Stage[main]", "Main", ref})
	if timed == s.Skipped {
		h["timed"] = timed
	}
	for k, v := range map[string]any{
		"failed": false, "failed_to_restart": false, "changed": false, "out_of_sync": false, "skipped": false,
		"change_count": 0, "out_of_sync_count": 0, "corrective_change": false, "provider_used": nil, "file": nil, "line": nil,
	} {
		drop(k, v)
	}
	drop("file", "@SITE@")
	if full {
		tags := h["tags"].([]any)
		slices.SortFunc(tags, func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
	} else {
		delete(h, "tags")
	}
	h["events"] = eventRows(h["events"].([]any))
	if len(h["events"].([]any)) == 0 {
		delete(h, "events")
	}
	return h
}

func eventRows(events []any) []any {
	for _, e := range events {
		h := e.(map[string]any)
		delete(h, "time")
		for k, v := range map[string]any{
			"audited": false, "historical_value": nil, "redacted": false, "corrective_change": false,
			"previous_value": nil, "desired_value": nil, "property": nil,
		} {
			if h[k] == v {
				delete(h, k)
			}
		}
	}
	return events
}
